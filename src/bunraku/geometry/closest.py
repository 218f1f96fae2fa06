"""The nearest place of a mesh to each of many points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Points, Vector, alike, input_error

from .trimesh import TriMesh, first_few


@dataclass(frozen=True, eq=False)
class Closest:
    """Where on a mesh m points are nearest."""

    points: Points
    """(m, 3) the nearest places [m]"""
    faces: Integers
    """(m,) a face each lies on: of several the first"""
    weights: Array
    """(m, 3) barycentric weights in that face: ≥ 0, sum 1"""
    distances: Vector
    """(m,) how far away they are [m]"""

    def carry(self, mesh: TriMesh, values: Array) -> Array:
        """(m, …) values of the mesh's vertices (n, …), interpolated at the nearest places."""
        return np.einsum("mk,mk...->m...", self.weights, values[mesh.faces[self.faces]])


def closest_points(query: Points, mesh: TriMesh) -> Closest:
    """The place of the mesh nearest to each query point (m, 3) [m]; exact, also on faces without area."""
    query = np.ascontiguousarray(query, dtype=np.float64)
    for name, array in (("query", query), ("rest", mesh.rest)):
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            raise input_error("closest points need finite coordinates", where=f"{name} {first_few(bad)}")
    if not len(mesh.faces):
        raise input_error("closest points need a mesh with faces", got=f"{mesh.point_count} vertices, 0 faces")
    return _closest(query, np.full(len(query), -1), mesh.rest, mesh.faces)


def closest_others(vertices: Integers, x: Points, faces: Faces) -> Closest:
    """The nearest place to each vertex (m,) on the faces (f, 3) that do not have it; face −1 where all have."""
    return _closest(x[vertices], vertices, x, faces)


def _closest(query: Points, own: Integers, x: Points, faces: Faces) -> Closest:
    from .bvh import build_tree, nearest  # compiled kernels: only for those who need them

    # About the mesh's own middle: far from the origin the digits would go into the offset.
    middle = 0.5 * (x.min(axis=0) + x.max(axis=0))
    count = len(query)
    point, face = np.zeros((count, 3)), np.empty(count, np.int64)
    weight, distance = np.empty((count, 3)), np.empty(count)
    near, faces = x - middle, alike(faces)
    nearest(query - middle, own, near, faces, *build_tree(near, faces), point, face, weight, distance)
    return Closest(point + middle, face, weight, distance)
