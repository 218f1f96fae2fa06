"""A surface as a file has it, cut into triangles and subdivided, with everything painted on it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bunraku.contracts import Integers, Sparse

from .subdivision import split
from .surface import COLOUR, NORMALS, Attribute, Scope, Subset, Surface
from .trimesh import unit_rows
from .welding import Welded

_CHILDREN = 0.5 * np.array([
    [2, 0, 0], [1, 1, 0], [1, 0, 1],
    [1, 1, 0], [0, 2, 0], [0, 1, 1],
    [1, 0, 1], [0, 1, 1], [0, 0, 2],
    [0, 1, 1], [1, 0, 1], [1, 1, 0],
])  # fmt: skip
"""corners of the four children of a triangle, from its corners; the order of `subdivision.split`"""


@dataclass(frozen=True, eq=False)
class Refinement:
    """A finer surface and how its elements come from those of the surface it refines."""

    surface: Surface
    points: Sparse
    """(n_fine, n)"""
    corners: Sparse
    """(c_fine, c)"""
    polygons: Integers
    """(p_fine,) polygon each came from"""
    vertex_of_point: Integers
    """(n_fine,) vertex of the welded mesh subdivided as often"""

    def carried(self, attribute: Attribute) -> Attribute:
        """An attribute on the finer surface: numbers blended, labels (whole numbers) from the nearest element."""
        flat = attribute.flat()
        if attribute.scope is Scope.WHOLE:
            return attribute
        if attribute.scope is Scope.POLYGON:
            return replace(attribute, values=flat[self.polygons], indices=None)
        matrix = self.points if attribute.scope is Scope.POINT else self.corners
        values = _blended(matrix, flat, labels=attribute.name != COLOUR)
        if attribute.name == NORMALS:
            values = unit_rows(np.asarray(values, dtype=np.float64))
        if attribute.indices is None:
            return replace(attribute, values=values)
        rows, indices = np.unique(values, axis=0, return_inverse=True)
        return replace(attribute, values=rows, indices=indices.reshape(-1))


def refine(surface: Surface, welded: Welded, levels: int) -> Refinement:
    """The triangles of `welded` as the file has them (seams open), split `levels` times; loose points are gone."""
    places = welded.corners
    used, faces = np.unique(surface.corners[places], return_inverse=True)
    faces, count = faces.reshape(-1, 3), len(used)
    points = sparse.csr_array((np.ones(count), (np.arange(count), used)), shape=(count, surface.point_count))
    corners = sparse.csr_array(
        (np.ones(places.size), (np.arange(places.size), places.reshape(-1))),
        shape=(places.size, len(surface.corners)),
    )
    sewn, sewn_count, polygons = welded.mesh.faces, welded.mesh.point_count, welded.polygons
    for _ in range(levels):
        step, faces_next = split(faces, count)
        _, sewn = split(sewn, sewn_count)
        corners = sparse.kron(sparse.eye_array(len(faces)), sparse.csr_array(_CHILDREN), format="csr") @ corners
        faces, count, points = faces_next, step.shape[0], step @ points
        sewn_count, polygons = int(sewn.max(initial=-1)) + 1, np.repeat(polygons, 4)
    vertex_of_point = np.full(count, -1)
    vertex_of_point[faces.reshape(-1)] = sewn.reshape(-1)
    if surface.left_handed:  # the triangles were turned for physics; the file keeps its own sense
        turn = (3 * np.arange(len(faces))[:, None] + np.array([0, 2, 1])).reshape(-1)
        faces, corners = faces[:, [0, 2, 1]], corners[turn]
    bare = Surface(
        points @ surface.points, np.full(len(faces), 3), faces.reshape(-1), (),
        _carried_subsets(surface, polygons), surface.left_handed, surface.libraries,
    )  # fmt: skip
    found = Refinement(bare, sparse.csr_array(points), sparse.csr_array(corners), polygons, vertex_of_point)
    return replace(found, surface=replace(bare, attributes=tuple(map(found.carried, surface.attributes))))


def _carried_subsets(surface: Surface, polygons: Integers) -> tuple[Subset, ...]:
    out = []
    for subset in surface.subsets:
        member = np.zeros(surface.polygon_count, dtype=bool)
        member[subset.polygons] = True
        out.append(replace(subset, polygons=np.flatnonzero(member[polygons])))
    return tuple(out)


def _blended(matrix: Sparse, values: NDArray[np.generic], *, labels: bool) -> NDArray[np.generic]:
    """Rows of the finer elements; whole numbers that are labels are not averaged."""
    csr = sparse.csr_array(matrix)
    floating = np.issubdtype(values.dtype, np.floating)
    if floating or (not labels and np.issubdtype(values.dtype, np.integer)):
        rows = (csr @ np.asarray(values, dtype=np.float64).reshape(len(values), -1)).reshape(-1, *values.shape[1:])
        return (rows if floating else np.round(rows)).astype(values.dtype)
    # The heaviest parent, the first of equals.
    rows, indices = int(matrix.shape[0]), np.asarray(csr.indices)
    owner = np.repeat(np.arange(rows), np.diff(csr.indptr))
    order = np.lexsort((indices, -np.asarray(csr.data, dtype=np.float64), owner))
    first = order[np.searchsorted(owner[order], np.arange(rows))]
    return values[indices[first]]
