"""A mesh that hangs on another one: every vertex goes with the nearest place, and keeps its distance from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Points, Sparse, Vector, need

from .closest import closest_points
from .trimesh import TriMesh, face_areas, face_normals, unit_rows

_TOUCHING = 1e-9  # share of the carrier's size below which a vertex lies on it


@dataclass(frozen=True, eq=False)
class Embedding:
    """Where the vertices of a mesh go when the mesh that carries them is posed."""

    carrier: TriMesh
    matrix: Sparse
    """(n, n_carrier) CSR, rows sum to one: the place of the carrier each vertex goes with"""
    offsets: Points
    """(n, 3) from that place to the vertex, at rest [m]"""

    @property
    def distances(self) -> Vector:
        """(n,) how far each vertex is from the carrier at rest [m]."""
        return np.linalg.norm(self.offsets, axis=1)

    def points(self, x: Points) -> Points:
        """(n, 3) the vertices with the carrier at x (n_carrier, 3): moved rigidly where it moves rigidly [m]."""
        places = np.asarray(self.matrix @ x)
        if not self._apart:
            return places
        turned = (self.matrix @ self._turns(x).reshape(-1, 9)).reshape(-1, 3, 3)
        return places + np.einsum("nij,nj->ni", nearest_rotations(turned), self.offsets)

    def velocity(self, x: Points, v: Points, dt: float = 1e-5) -> Points:
        """(n, 3) rate of `points` with the carrier at x, moving with v (n_carrier, 3) [m/s]; central difference."""
        if not self._apart:
            return np.asarray(self.matrix @ v)
        return (self.points(x + dt * v) - self.points(x - dt * v)) / (2.0 * dt)

    @cached_property
    def _apart(self) -> bool:
        return bool(self.distances.max(initial=0.0) > _TOUCHING * self.carrier.size)

    @cached_property
    def _rest_frames(self) -> Array:
        return _frames(self.carrier.rest, self.carrier)

    @cached_property
    def _shares(self) -> Sparse:
        """(n_carrier, f) the share of each face in what its vertices see, by area."""
        faces = self.carrier.faces
        areas = np.repeat(face_areas(self.carrier.rest, faces), 3)
        columns = np.repeat(np.arange(len(faces)), 3)
        shape = (self.carrier.point_count, len(faces))
        matrix: Sparse = sparse.csr_array((areas, (faces.reshape(-1), columns)), shape=shape)
        total = np.asarray(matrix.sum(axis=1)).reshape(-1)
        return sparse.csr_array(sparse.diags_array(1.0 / np.where(total > 0, total, 1.0)) @ matrix)

    def _turns(self, x: Points) -> Array:
        """(n_carrier, 3, 3) mean rotation of the faces around each carrier vertex; smooth over the mesh."""
        turns = np.einsum("fij,fkj->fik", _frames(x, self.carrier), self._rest_frames)
        return (self._shares @ turns.reshape(-1, 9)).reshape(-1, 3, 3)


def embed(mesh: TriMesh, carrier: TriMesh) -> Embedding:
    """Hang `mesh` on `carrier`, both in their rest shapes: each vertex goes with the carrier's nearest place."""
    need(TriMesh, "mesh", mesh)
    need(TriMesh, "carrier", carrier)
    found = closest_points(mesh.rest, carrier)
    rows = np.repeat(np.arange(mesh.point_count), 3)
    columns = carrier.faces[found.faces].reshape(-1)
    shape = (mesh.point_count, carrier.point_count)
    matrix: Sparse = sparse.csr_array((found.weights.reshape(-1), (rows, columns)), shape=shape)
    matrix.eliminate_zeros()
    return Embedding(carrier, matrix, mesh.rest - found.points)


def along(matrix: Sparse, carrier: TriMesh) -> Embedding:
    """Vertices that lie on the carrier: a subdivision's prolongation (n, n_carrier)."""
    return Embedding(carrier, sparse.csr_array(matrix), np.zeros((matrix.shape[0], 3)))


def _frames(x: Points, mesh: TriMesh) -> Array:
    """(f, 3, 3) columns: first edge, in the plane across it, normal; all unit."""
    first = unit_rows(x[mesh.faces[:, 1]] - x[mesh.faces[:, 0]])
    normal = unit_rows(face_normals(x, mesh.faces))
    return np.stack([first, np.cross(normal, first), normal], axis=2)


def nearest_rotations(matrices: Array) -> Array:
    """(m, 3, 3) polar factors, never mirrored."""
    u, _, vt = np.linalg.svd(matrices)
    sign = np.sign(np.linalg.det(u @ vt))
    u[:, :, 2] *= np.where(sign == 0, 1.0, sign)[:, None]
    return u @ vt
