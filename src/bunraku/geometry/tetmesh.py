"""Tetrahedral meshes: a rest shape, its tetrahedra, and the surface around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakSet

import numpy as np
from scipy import sparse

from bunraku.contracts import Faces, Flags, Integers, Points, Sparse, Vector, input_error

from .connectivity import components, numbered
from .topology import check_coordinates
from .trimesh import TriMesh, first_few, float_rows, index_rows

_OUTER = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])
"""the face opposite each corner, counter-clockwise seen from outside a tetrahedron of positive volume"""

THINNEST_TET = 1e-7  # volume over longest edge³, 0.118 for a regular one; thinner, float64 loses half its digits


@dataclass(frozen=True, eq=False)
class TetMesh:
    """A tetrahedral mesh. Holds whatever can be represented; `check_tets` says what physics cannot mean."""

    rest: Points
    """(n, 3) rest positions [m]"""
    tets: Integers
    """(m, 4) vertex indices; seen from the first, the other three run clockwise (volume above 0)"""

    def __post_init__(self) -> None:
        rest = float_rows(self.rest, "rest positions", 3)
        object.__setattr__(self, "rest", rest)
        object.__setattr__(self, "tets", index_rows(self.tets, "tets", 4, len(rest)))

    @classmethod
    def oriented(cls, rest: Points, tets: Integers) -> TetMesh:
        """The mesh with the last two corners of tetrahedra of negative volume swapped."""
        given = cls(rest, tets)
        turned = given.tets.copy()
        negative = given.volumes < 0
        turned[negative] = turned[negative][:, [0, 1, 3, 2]]
        return cls(given.rest, turned)

    @property
    def point_count(self) -> int:
        """Number of vertices n."""
        return len(self.rest)

    @property
    def size(self) -> float:
        """Length of the diagonal of the rest shape's bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.rest, axis=0))) if len(self.rest) else 0.0

    @property
    def volumes(self) -> Vector:
        """(m,) signed rest volumes [m³]."""
        return tet_volumes(self.rest, self.tets)

    @property
    def quality(self) -> Vector:
        """(m,) 12 (3 V)^⅔ / Σ l² over the six edges: 1 for a regular tetrahedron, 0 for a flat one."""
        return shape_quality(self.rest, self.tets)

    @cached_property
    def parts(self) -> Integers:
        """(m,) number of the part each tetrahedron is in: those with a common vertex are in one."""
        label = components(np.concatenate([self.tets[:, [0, k]] for k in (1, 2, 3)]), self.point_count)
        return numbered(label[self.tets[:, 0]])

    @property
    def part_count(self) -> int:
        """How many parts hang together."""
        return int(self.parts.max(initial=-1)) + 1

    @cached_property
    def across(self) -> Sparse:
        """(m, m) CSR: an entry for each two tetrahedra that have a face in common, and for each and itself."""
        count = len(self.tets)
        places = np.repeat(np.arange(count), 4), self.tets.reshape(-1)
        corner = sparse.csr_array((np.ones(4 * count), places), shape=(count, self.point_count))
        shared = sparse.coo_array(corner @ corner.T)
        near = shared.data > 2.5
        return sparse.csr_array((shared.data[near], (shared.row[near], shared.col[near])), shape=(count, count))

    def with_rest(self, rest: Points) -> TetMesh:
        """The same tetrahedra with other rest positions (n, 3)."""
        return TetMesh(rest, self.tets)

    @cached_property
    def surface_faces(self) -> Faces:
        """(f, 3) vertices of the faces of one tetrahedron only, outward where its volume is positive."""
        return self.tets[:, _OUTER].reshape(-1, 3)[self._outer]

    @property
    def surface_tets(self) -> Integers:
        """(f,) the tetrahedron behind each face of the surface."""
        return self._outer // 4

    @cached_property
    def _outer(self) -> Integers:
        """(f,) places of the surface's faces among the 4 m of all tetrahedra."""
        return np.flatnonzero(_face_counts(self.tets[:, _OUTER].reshape(-1, 3)) == 1)

    @cached_property
    def surface_vertices(self) -> Integers:
        """(k,) the vertices on the surface, increasing: vertex j of `surface()` is vertex surface_vertices[j] here."""
        return np.unique(self.surface_faces)

    def surface(self) -> TriMesh:
        """The surface around the tetrahedra with its own numbering, wound outward."""
        own = self.surface_vertices
        return TriMesh(self.rest[own], np.searchsorted(own, self.surface_faces))


def shape_quality(x: Points, tets: Integers) -> Vector:
    """(m,) 12 (3 V)^⅔ / Σ l² of tetrahedra (m, 4) with their vertices at x (n, 3); 0 where inside out."""
    corners = x[tets]
    squares = sum(np.sum((corners[:, i] - corners[:, j]) ** 2, axis=1) for i in range(4) for j in range(i))
    return 12.0 * np.cbrt(3.0 * np.maximum(tet_volumes(x, tets), 0.0)) ** 2 / np.maximum(squares, 1e-300)


def thinness(x: Points, tets: Integers) -> Vector:
    """(m,) volume over longest edge³ of tetrahedra (m, 4) with their vertices at x (n, 3); signed."""
    corners = x[tets]
    pairs = corners[:, [0, 0, 0, 1, 1, 2]] - corners[:, [1, 2, 3, 2, 3, 3]]
    longest = np.linalg.norm(pairs, axis=2).max(axis=1)
    return tet_volumes(x, tets) / np.maximum(longest, 1e-100) ** 3


def tet_volumes(x: Points, tets: Integers) -> Vector:
    """(m,) signed volumes [m³] of tetrahedra (m, 4) with their vertices at x (n, 3)."""
    with np.errstate(invalid="ignore", over="ignore"):
        a, b, c = (x[tets[:, 1:]] - x[tets[:, :1]]).transpose(1, 2, 0)
        across = b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]
        return (a[0] * across[0] + a[1] * across[1] + a[2] * across[2]) / 6.0


def check_tets(mesh: TetMesh, name: str = "mesh") -> None:
    """Refuse, with indices, what physics cannot mean: no tetrahedra, NaN, absurd sizes, flat, inverted, overlapping.

    A mesh does not change, so one that was found sound is not looked at again.
    """
    if mesh in _SOUND:
        return
    if len(mesh.tets) == 0:
        raise input_error("has no tetrahedra", where=name, got=f"{mesh.point_count} vertices")
    check_coordinates(mesh.rest, name)
    thin = thinness(mesh.rest, mesh.tets)
    flat = np.flatnonzero(np.abs(thin) <= THINNEST_TET)
    if len(flat):
        raise input_error(
            "tetrahedra without volume, or so thin that their stiffness is noise",
            where=f"{name}, tets {first_few(flat)}", got=f"volume / longest edge³ = {thin[flat[0]]:.3g}",
            allowed=f"above {THINNEST_TET:g}", remedy="remesh the solid",
        )  # fmt: skip
    inverted = np.flatnonzero(thin < 0)
    if len(inverted):
        raise input_error(
            "tetrahedra are inside out", where=f"{name}, tets {first_few(inverted)}",
            got=f"volume {mesh.volumes[inverted[0]]:.3g} m³", remedy="TetMesh.oriented, which swaps two corners",
        )  # fmt: skip
    _check_neighbours(mesh, name)
    loose = np.setdiff1d(np.arange(mesh.point_count), mesh.tets)
    if len(loose):
        raise input_error(
            "vertices belong to no tetrahedron, so they have no mass", where=f"{name}, vertices {first_few(loose)}",
            got=f"{len(loose)} of {mesh.point_count}", remedy="delete loose vertices",
        )  # fmt: skip
    _SOUND.add(mesh)


_SOUND: WeakSet[TetMesh] = WeakSet()


def _check_neighbours(mesh: TetMesh, name: str) -> None:
    """Refuse tetrahedra on the same side of a face they share: they lie inside each other."""
    faces = mesh.tets[:, _OUTER].reshape(-1, 3)
    count = _face_counts(faces)
    overlapping = (count > 2) | ((count == 2) & (_face_counts(faces, sided=True) == 2))
    bad = np.unique(np.flatnonzero(overlapping) // 4)
    if len(bad):
        raise input_error(
            "tetrahedra lie inside a neighbour, or three share a face", where=f"{name}, tets {first_few(bad)}",
            got=f"{len(bad)} of {len(mesh.tets)}", remedy="remesh the solid",
        )  # fmt: skip


def _face_counts(faces: Faces, *, sided: bool = False) -> Integers:
    """(f,) how many of the faces have the same three vertices; `sided`: and are wound the same way."""
    ordered = np.sort(faces, axis=1)
    keys = [ordered[:, k] for k in range(3)]
    if sided:
        keys.append(_turns(faces).astype(np.int64))
    order = np.lexsort(keys)
    ranked = np.stack(keys, axis=1)[order]
    new = np.ones(len(faces), dtype=bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    group = np.cumsum(new) - 1
    out = np.empty(len(faces), dtype=np.int64)
    out[order] = np.bincount(group)[group] if len(faces) else 0
    return out


def _turns(faces: Faces) -> Flags:
    """(f,) whether the vertices are an even permutation of their increasing order."""
    a, b, c = faces[:, 0], faces[:, 1], faces[:, 2]
    return ((a < b).astype(np.int64) + (b < c) + (c < a)) == 2
