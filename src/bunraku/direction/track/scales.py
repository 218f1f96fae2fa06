"""A dial for scale: regions of a size in metres, finer on some parts, and finer or coarser over time.

Where a scale is keyed, the part is divided again and again, each region into about four, from the coarsest size to
the finest. A region of a level is held exactly where the scale has come down to its size, and is a spring (as
any strength below one) on the way there; the region it is part of is held exactly until then and implied
after. So nothing is ever let go that is larger than the scale, and nothing pops.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bunraku.constraints import HARD
from bunraku.contracts import Array, Faces, Flags, Integers, Sparse, Vector, input_error, need
from bunraku.geometry import TriMesh, cluster_faces, face_areas, region_limits
from bunraku.motion import Animation, Curve, CurveLike

from .regions import sampled_poses, vertex_labels, warn_of_edges
from .test_functions import TestFunctions

_log = logging.getLogger(__name__)
_SMALLEST, _LARGEST = 1e-9, 1e6  # [m]: what is beyond is a unit mistake
Parts = Mapping[str, tuple[Integers | Flags, CurveLike]]


@dataclass(frozen=True, eq=False)
class _Ladder:
    """The regions of one part at all its levels."""

    name: str
    faces: Integers
    """(m,) of the guide"""
    sizes: Vector
    """(l,) from coarse to fine [m]"""
    labels: Integers
    """(l, m) region of each face at each level; those of a level lie in those of the level before"""
    scale: Curve

    def held(self, time: float) -> Vector:
        """(l,) how firmly each level is held: the finest that is exact is hard, those above are implied by it."""
        reached = np.zeros(len(self.sizes))
        reached[0] = 1.0
        now = self.scale.at(time)
        if len(self.sizes) > 1:
            share = np.clip(np.log(self.sizes[:-1] / now) / np.log(self.sizes[:-1] / self.sizes[1:]), 0.0, 1.0)
            reached[1:] = np.sqrt(share)  # the stiffness of the springs then grows in proportion
        exact = np.flatnonzero(reached >= HARD)[-1]
        reached[:exact] = 0.0
        return reached


def scales(
    guide: Animation, scale: CurveLike, *, parts: Parts | None = None, compactness: float = 0.5, seed: int = 0,
    samples: int = 12, shell: TriMesh | None = None,
) -> TestFunctions:  # fmt: skip
    """Regions about `scale` [m] across that follow the animation; `shell` as in `clusters`.

    `scale` may be keyed. `parts` gives parts of the guide a scale of their own: name → (faces as numbers or
    as (f,) flags, scale); the rest has `scale`.
    """
    need(Animation, "guide", guide)
    guide.check("guide")
    poses = sampled_poses(guide, samples, seed)
    ladders = [
        _ladder(name, faces, Curve.of(own), guide.mesh, poses, compactness, seed)
        for name, faces, own in _divided(guide.mesh, scale, {} if parts is None else parts)
        if len(faces)
    ]
    return _functions(guide.mesh, ladders).carried(guide.mesh, shell)


def _divided(mesh: TriMesh, scale: CurveLike, parts: Parts) -> list[tuple[str, Integers, CurveLike]]:
    """The parts and the rest, as faces without overlap."""
    need(Mapping, "parts", parts, remedy="{name: (faces, scale)}")
    owner = np.full(len(mesh.faces), -1)
    names = list(parts)
    for k, name in enumerate(names):
        chosen = _faces_of(name, parts[name], len(mesh.faces))
        outside = chosen[(chosen < 0) | (chosen >= len(mesh.faces))]
        if len(outside) or not len(chosen):
            raise input_error(
                "a part must name faces of the guide", where=name, got=int(outside[0]) if len(outside) else "none",
                allowed=f"0 to {len(mesh.faces) - 1}",
            )  # fmt: skip
        taken = owner[chosen][owner[chosen] >= 0]
        if len(taken):
            raise input_error("parts must not overlap", where=f"{names[taken[0]]} and {name}")
        owner[chosen] = k
    rest = [("", np.flatnonzero(owner < 0), scale)]
    return rest + [(name, np.flatnonzero(owner == k), parts[name][1]) for k, name in enumerate(names)]


def _faces_of(name: str, part: object, count: int) -> Integers:
    """The faces of a part (faces, scale), from numbers or from `count` flags."""
    if not isinstance(part, Sequence) or isinstance(part, str) or len(part) != 2:
        raise input_error("a part must be a pair", where=name, got=repr(part)[:60], allowed="(faces, scale)")
    chosen = np.asarray(part[0])
    if chosen.dtype == bool and chosen.shape == (count,):
        return np.flatnonzero(chosen)
    if chosen.ndim != 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
        raise input_error(
            "a part's faces must be whole numbers, or one flag a face", where=name,
            got=f"{chosen.dtype} {chosen.shape}", allowed=f"({count},) flags",
        )  # fmt: skip
    return chosen.astype(np.int64)


def _ladder(
    name: str, faces: Integers, scale: Curve, mesh: TriMesh, poses: Array, compactness: float, seed: int
) -> _Ladder:
    where = name or "scale"
    outside = scale.values[(scale.values < _SMALLEST) | (scale.values > _LARGEST)]
    if len(outside):
        allowed = f"{_SMALLEST:g} to {_LARGEST:g} m"
        raise input_error("a scale must be a length above zero", where=where, got=float(outside[0]), allowed=allowed)
    coarse, fine = float(scale.values.max()), float(scale.values.min())
    warn_of_edges(where, fine, mesh, faces)
    count = max(int(np.ceil(np.log2(coarse / fine) - 1e-9)), 0)
    sizes = coarse * (fine / coarse) ** (np.arange(count + 1) / max(count, 1))
    areas = face_areas(mesh.rest, mesh.faces)[faces]
    labels = np.zeros((count + 1, len(faces)), dtype=np.int64)
    for level, size in enumerate(sizes):
        before = labels[level - 1] if level else np.zeros(len(faces), dtype=np.int64)
        labels[level] = _split(before, mesh.faces[faces], areas, poses, float(size), compactness, seed)
        if labels[level].max() + 1 == len(faces):  # a face each: what is finer would say the same again
            sizes, labels = sizes[: level + 1], labels[: level + 1]
            break
    return _Ladder(name, faces, sizes, labels, scale)


def _split(
    regions: Integers, faces: Faces, areas: Vector, poses: Array, size: float, compactness: float, seed: int
) -> Integers:
    """(m,) each region divided into pieces about `size` across."""
    out = np.empty_like(regions)
    used = 0
    for region in range(int(regions.max()) + 1):
        own = np.flatnonzero(regions == region)
        few, many = region_limits(faces[own])
        count = int(np.clip(round(float(areas[own].sum()) / size**2), few, many))
        found = cluster_faces(poses, faces[own], count, compactness=compactness, seed=seed)
        out[own] = used + found.labels
        used += found.count
    return out


def _functions(mesh: TriMesh, ladders: Sequence[_Ladder]) -> TestFunctions:
    finest = np.empty(len(mesh.faces), dtype=np.int64)
    used = 0
    for ladder in ladders:
        finest[ladder.faces] = used + ladder.labels[-1]
        used += int(ladder.labels[-1].max()) + 1
    of_vertex = vertex_labels(mesh, finest, "guide")
    rows: list[Sparse] = []
    names: list[str] = []
    level_of_row: list[Integers] = []
    used = levels = 0
    for ladder in ladders:
        mine = np.arange(used, used + int(ladder.labels[-1].max()) + 1)
        for level, labels in enumerate(ladder.labels):
            parent = np.zeros(len(mine), dtype=np.int64)
            parent[ladder.labels[-1]] = labels
            matrix = _regions(of_vertex, mine, parent)
            kept = np.flatnonzero(np.diff(matrix.indptr) > 0)
            if len(kept) < matrix.shape[0]:
                lost, part = matrix.shape[0] - len(kept), ladder.name or "the guide"
                _log.warning("%d regions of %s are so small that they have no vertex and are left out", lost, part)
            rows.append(matrix[kept])
            names.extend(_name(ladder, level, int(k)) for k in kept)
            level_of_row.append(np.full(len(kept), levels + level))
        used, levels = used + len(mine), levels + len(ladder.sizes)
    values: Sparse = sparse.vstack(rows, format="csr")
    nested = any(len(ladder.sizes) > 1 for ladder in ladders)
    row = np.concatenate(level_of_row)
    held = (lambda time: np.concatenate([one.held(time) for one in ladders])[row]) if nested else None
    identity = sparse.eye_array(mesh.point_count, format="csr")
    return TestFunctions(values, values, identity, names=tuple(names), held=held, nested=nested)


def _regions(of_vertex: Integers, mine: Integers, parent: Integers) -> Sparse:
    """(k, n) one where a vertex lies in a region: the finest regions `mine`, gathered by `parent`."""
    inside = np.flatnonzero((of_vertex >= mine[0]) & (of_vertex <= mine[-1]))
    shape = (int(parent.max()) + 1, len(of_vertex))
    return sparse.csr_array((np.ones(len(inside)), (parent[of_vertex[inside] - mine[0]], inside)), shape=shape)


def _name(ladder: _Ladder, level: int, region: int) -> str:
    part = f"{ladder.name} " if ladder.name else ""
    size = f" ({ladder.sizes[level]:.3g} m)" if len(ladder.sizes) > 1 else ""
    return f"{part}{region}{size}"
