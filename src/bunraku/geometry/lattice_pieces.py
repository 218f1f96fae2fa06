"""The pieces of a solid in the cells of a lattice, and which of their nodes are one [Remillard 2013, §5.3].

A cell has an element for every piece of the solid in it that hangs together there, each with nodes of its own: two
fingers in one cell know nothing of each other. Where pieces of two cells meet at the face between them, the nodes that
both cells share are one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Faces, Flags, Integers, Points, Vector, input_error

from .connectivity import components
from .splines import GAUSS_WEIGHTS

SAMPLES = 8
"""along a cell: what is thinner than an eighth of one may be missed, and what is nearer may be taken for one"""
MOST_PIECES = 20_000
"""elements: their blocks take 52 kB each"""
_LEAST_PIECE = 8
"""samples of what hangs together, over all cells; less is no part of a body"""
_SHIFTS = ((0.0137, 0.0291), (-0.0231, 0.0173), (0.0419, -0.0367))
"""by how much of a sample rays pass beside the samples: surfaces are often where samples are"""
_REACH = 3
"""samples within which a vertex finds what it is on"""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces, what they are made of and which hang together."""

    labels: NDArray[np.int32]
    """(l, m, n) piece of each sample, −1 outside"""
    cells: Integers
    """(p, 3) cell of each piece"""
    links: Integers
    """(k, 3) a piece, one in the next cell that it meets, and the axis along which that is the next"""
    dropped: int
    """samples of what was too small to be a part of a body"""

    def boxes(self) -> tuple[Array, Array]:
        """Boxes (p, 2, 3) about pieces, as shares of their cells, and volumes (p, 27) of their parts over that of a
        cell; a part is what one of the box's 27 places of integration stands for."""
        from .lattice_kernels import fill_boxes

        boxes, shares = np.empty((len(self.cells), 2, 3)), np.empty((len(self.cells), 27))
        fill_boxes(self.labels, SAMPLES, self.cells, _overlaps(), boxes, shares)
        boxes /= SAMPLES
        return boxes, shares * np.prod(boxes[:, 1] - boxes[:, 0], axis=1)[:, None]

    def of_points(self, p: Points, normals: Points) -> Integers:
        """(n,) the piece that points p (n, 3) of the surface, in samples, are on; normals (n, 3) look outwards."""
        from .lattice_kernels import nearest_pieces

        out = np.empty(len(p), np.int64)
        nearest_pieces(p, normals, self.labels, SAMPLES, _REACH, out)
        far = np.flatnonzero(out < 0)
        if len(far):  # on a part too thin for any sample
            from scipy.spatial import KDTree

            there = np.argwhere(self.labels >= 0)
            out[far] = self.labels[tuple(there[KDTree(there + 0.5).query(p[far])[1]].T)]
        return out

    def holding(self, p: Points) -> Integers:
        """(n,) the piece of the sample that each of points p (n, 3), in samples, is in; −1 where that is outside."""
        place, ends = np.floor(p).astype(np.int64), np.array(self.labels.shape)
        beyond = ((place < 0) | (place >= ends)).any(axis=1)
        found = self.labels[tuple(np.clip(place, 0, ends - 1).T)].astype(np.int64)
        return np.where(beyond, -1, found)

    def outward(self, p: Points, normals: Points, faces: Faces) -> Points:
        """Normals (n, 3), those of a connected part of the surface turned where most of them look into the body."""
        ends = np.array(self.labels.shape) - 1

        def inside(q: Points) -> Integers:
            return (self.labels[tuple(np.clip(np.floor(q).astype(np.int64), 0, ends).T)] >= 0).astype(np.int64)

        part = components(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]]]), len(p))
        wrong = np.bincount(part, inside(p + 0.7 * normals) - inside(p - 0.7 * normals)) > 0
        return np.where(wrong[part][:, None], -normals, normals)

    def nodes(self, degree: int) -> tuple[Integers, Integers]:
        """Nodes (p, (degree + 1)³) of pieces, and the place (n, 3) of each node in the lattice."""
        side = degree + 1
        local = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), axis=-1).reshape(-1, 3)
        strides = np.array([side * side, side, 1])
        pairs = []
        for axis in range(3):
            link = self.links[self.links[:, 2] == axis]
            upper = np.flatnonzero(local[:, axis] > 0)
            first = link[:, :1] * side**3 + upper
            pairs.append(np.stack([first, link[:, 1:2] * side**3 + upper - strides[axis]], axis=-1).reshape(-1, 2))
        of = components(np.concatenate(pairs), len(self.cells) * side**3).reshape(len(self.cells), -1)
        places = np.empty((int(of.max()) + 1, 3), np.int64)
        places[of] = self.cells[:, None] + local
        return of, places


def pieces_inside(p: Points, faces: Faces, shape: Integers) -> Pieces:
    """The pieces of what faces (f, 3) of points p (n, 3), in samples, enclose in `shape` (3,) cells."""
    from .lattice_kernels import label_pieces

    inside = samples_inside(p, faces, shape * SAMPLES)
    labels = np.empty(tuple(inside.shape), np.int32)
    cells, sizes = np.empty((MOST_PIECES, 3), np.int64), np.empty(MOST_PIECES, np.int64)
    count = label_pieces(inside, SAMPLES, labels, cells, sizes)
    if count < 0:
        raise input_error(
            "the body takes too many cells", where="cell", got=f"more than {MOST_PIECES:,}",
            allowed=f"up to {MOST_PIECES:,}", remedy="larger cells",
        )  # fmt: skip
    links = _links(labels)
    whole = components(links[:, :2], count) if count else np.zeros(0, np.int64)
    kept = np.bincount(whole, sizes[:count]).astype(np.int64)[whole] >= _LEAST_PIECE
    if not kept.any():
        raise input_error(
            "the body is so thin that no part of it is seen in a cell", where="cell", allowed="up to eight times as "
            "large as the body is thick", remedy="smaller cells, or a closed surface with more inside",
        )  # fmt: skip
    return _only(Pieces(labels, cells[:count], links, int(sizes[:count][~kept].sum())), kept)


def _only(pieces: Pieces, kept: Flags) -> Pieces:
    """Without some; what is linked is kept together or not at all."""
    if kept.all():
        return pieces
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)  # −1, outside, is the last
    links = pieces.links[kept[pieces.links[:, 0]]]
    links = np.column_stack([number[links[:, :2]], links[:, 2]])
    return Pieces(number[pieces.labels].astype(np.int32), pieces.cells[kept], links, pieces.dropped)


def samples_inside(p: Points, faces: Faces, shape: Integers, name: str = "mesh") -> Flags:
    """Which of samples (l, m, n) of a grid are inside faces (f, 3) of points p (n, 3), in samples."""
    from .lattice_inside import crossings, fill_inside

    inside, open_rays = np.empty(tuple(shape), np.bool_), 0
    for shift in _SHIFTS:
        found = crossings(p, faces, np.array(shift), int(shape[1]), int(shape[2]))
        open_rays = fill_inside(*found, inside)
        if not open_rays:
            return inside
    raise input_error(
        "which side of the surface is inside could not be told", where=name, got=f"{open_rays} rays that enter and "
        "do not leave", remedy="bunraku check FILE --repair OUT",
    )  # fmt: skip


def _links(labels: NDArray[np.int32]) -> Integers:
    """(k, 3) pieces that have neighbouring samples on both sides of a face, and the axis across it; each once."""
    out = [np.zeros((0, 3), np.int64)]
    for axis in range(3):
        turned = np.moveaxis(labels, axis, 0)
        first, second = turned[SAMPLES - 1 : -1 : SAMPLES].ravel(), turned[SAMPLES::SAMPLES].ravel()
        both = (first >= 0) & (second >= 0)
        count = int(labels.max()) + 1
        pairs = np.unique(first[both].astype(np.int64) * count + second[both])
        out.append(np.stack([pairs // count, pairs % count, np.full_like(pairs, axis)], axis=1))
    return np.concatenate(out)


def _overlaps() -> Array:
    """(s + 1, 3, s) of n samples in a row, the share of the whole that is each one's in each of the three parts."""
    borders: Vector = np.concatenate([[0.0], np.cumsum(GAUSS_WEIGHTS)])
    out = np.zeros((SAMPLES + 1, 3, SAMPLES))
    for n in range(1, SAMPLES + 1):
        ends = np.arange(n + 1) / n
        low = np.maximum(borders[:-1, None], ends[None, :-1])
        out[n, :, :n] = np.maximum(np.minimum(borders[1:, None], ends[None, 1:]) - low, 0.0)
    return out
