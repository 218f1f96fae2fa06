"""Regions of a moving mesh by Lloyd's algorithm, each connected, grown from a proxy [Bergou 2007, §4.1].

The distance of a triangle j from a proxy k is the largest, over sampled poses, of

    A_j ( µ/A |x_j − x_k|² + (1 − µ) |n_j − n_k|² )

with x centroids, n unit normals, A_j the triangle's area and A that of the whole mesh, all at that pose; µ is the
compactness. A partition that is reasonable at every moment has its seams where the surface bends: at the joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Vector, input_error, is_between, whole_number

from .connectivity import components
from .topology import edges
from .trimesh import face_areas, face_normals, unit_rows

MOST_ITERATIONS = 100
_SETTLED = 1e-4  # relative gain below which another iteration is not worth it


@dataclass(frozen=True, eq=False)
class Clustering:
    """A partition of faces into connected regions."""

    labels: Integers
    """(f,) region of each face, 0 to count − 1"""
    iterations: int
    errors: Vector
    """(iterations,) the sum of all distances [m²], falling"""

    @property
    def count(self) -> int:
        """Number of regions."""
        return int(self.labels.max(initial=-1)) + 1


def cluster_faces(poses: Array, faces: Faces, count: int, *, compactness: float = 0.5, seed: int = 0) -> Clustering:
    """Partition the faces into `count` connected regions that fit all `poses` (t, n, 3).

    The same seed gives the same regions. Every piece of the mesh has at least one region, so there cannot be fewer
    than pieces, nor more than faces.
    """
    across = _neighbours(faces)
    pieces = _pieces(across)
    _check(count, compactness, len(faces), int(pieces.max(initial=-1)) + 1)
    whole_number("seed", seed)
    shape = _Shape.of(poses, faces, compactness)
    seeds = _first_seeds(pieces, face_areas(poses[0], faces), count, np.random.default_rng(seed))
    # In C order, as they are from the second round on: the kernel is compiled once.
    centre, normal = np.ascontiguousarray(shape.centre[:, seeds]), np.ascontiguousarray(shape.normal[:, seeds])
    errors: list[float] = []
    labels = np.full(len(faces), -1)
    from .flooding import flood  # compiled on first use

    while len(errors) < MOST_ITERATIONS:
        now, error = flood(
            across, seeds, shape.centre, shape.normal, shape.area, shape.pull, shape.bend, centre, normal
        )
        errors.append(float(error))
        if np.array_equal(now, labels):
            break
        labels = now
        if len(errors) > 1 and errors[-2] - errors[-1] < _SETTLED * errors[-2]:
            break
        centre, normal = shape.proxies(labels, count)
        seeds = shape.nearest(labels, count, centre, normal)
    return Clustering(labels, len(errors), np.array(errors))


def region_limits(faces: Faces) -> tuple[int, int]:
    """The fewest and the most regions a mesh can have: its pieces, its faces."""
    return max(int(_pieces(_neighbours(faces)).max(initial=-1)) + 1, 1), len(faces)


@dataclass(frozen=True, eq=False)
class _Shape:
    """The triangles of every pose."""

    centre: Array
    """(t, f, 3)"""
    normal: Array
    """(t, f, 3) unit"""
    area: Array
    """(t, f)"""
    pull: Vector
    """(t,) µ/A"""
    bend: float
    """1 − µ"""

    @staticmethod
    def of(poses: Array, faces: Faces, compactness: float) -> _Shape:
        normals = [face_normals(x, faces) for x in poses]
        area = np.stack([0.5 * np.linalg.norm(one, axis=1) for one in normals])
        whole = np.maximum(area.sum(axis=1), 1e-300)
        return _Shape(
            np.stack([x[faces].mean(axis=1) for x in poses]), np.stack([unit_rows(one) for one in normals]), area,
            compactness / whole, 1.0 - compactness,
        )  # fmt: skip

    def proxies(self, labels: Integers, count: int) -> tuple[Array, Array]:
        """(t, count, 3) area-weighted mean centroid and normal of each region at every pose."""
        centre = np.empty((len(self.area), count, 3))
        normal = np.empty_like(centre)
        for t, area in enumerate(self.area):
            weight = np.maximum(np.bincount(labels, area, count), 1e-300)
            for axis in range(3):
                centre[t, :, axis] = np.bincount(labels, area * self.centre[t, :, axis], count) / weight
                normal[t, :, axis] = np.bincount(labels, area * self.normal[t, :, axis], count)
            normal[t] = unit_rows(normal[t])
        return centre, normal

    def nearest(self, labels: Integers, count: int, centre: Array, normal: Array) -> Integers:
        """(count,) the face of each region that is nearest to its proxy, the first of equals."""
        apart = np.zeros(len(labels))
        for t, area in enumerate(self.area):
            far = np.sum((self.centre[t] - centre[t, labels]) ** 2, axis=1)
            bent = np.sum((self.normal[t] - normal[t, labels]) ** 2, axis=1)
            apart = np.maximum(apart, area * (self.pull[t] * far + self.bend * bent))
        order = np.lexsort((np.arange(len(labels)), apart, labels))
        return order[np.searchsorted(labels[order], np.arange(count))]


def _neighbours(faces: Faces) -> Integers:
    """(f, 3) face across the edge opposite each corner, −1 at borders; where many meet, the next one in turn."""
    found = edges(faces)
    flat = found.of_face.reshape(-1)
    order = np.argsort(flat, kind="stable")
    starts = np.cumsum(found.face_count) - found.face_count
    place = np.arange(len(order)) - starts[flat[order]]
    after = starts[flat[order]] + (place + 1) % found.face_count[flat[order]]
    across = np.full(flat.shape, -1)
    across[order] = np.where(found.face_count[flat[order]] > 1, order[after] // 3, -1)
    return across.reshape(-1, 3)


def _pieces(across: Integers) -> Integers:
    """(f,) piece of each face: what a region can grow over."""
    face = np.repeat(np.arange(len(across)), 3)
    linked = across.reshape(-1) >= 0
    return components(np.stack([face[linked], across.reshape(-1)[linked]], axis=1), len(across))


def _first_seeds(pieces: Integers, areas: Vector, count: int, random: np.random.Generator) -> Integers:
    """(count,) different faces: one in every piece, the rest by area."""
    shuffled = random.permutation(len(pieces))
    _, first = np.unique(pieces[shuffled], return_index=True)
    chosen = shuffled[first]
    others = np.setdiff1d(np.arange(len(pieces)), chosen)
    more = count - len(chosen)
    if more > 0:
        share = np.maximum(areas[others], areas.max(initial=0.0) * 1e-12 + 1e-300)
        chosen = np.concatenate([chosen, random.choice(others, more, replace=False, p=share / share.sum())])
    return np.sort(chosen)


def _check(count: int, compactness: float, face_count: int, piece_count: int) -> None:
    if not is_between(compactness, 0.0, 1.0):
        raise input_error("compactness must lie between 0 and 1", got=compactness, allowed="0 (flat) to 1 (round)")
    if not is_between(count, max(piece_count, 1), face_count) or int(count) != count:
        raise input_error(
            "the number of regions does not fit the mesh", got=count,
            allowed=f"{max(piece_count, 1)} (its pieces) to {face_count} (its faces)",
        )  # fmt: skip
