"""Mass matrices of piecewise linear functions on a triangle mesh."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bunraku.contracts import Sparse, Vector

from .trimesh import TriMesh, face_areas


def area_mass_matrix(mesh: TriMesh, density: Vector | float = 1.0) -> Sparse:
    """(n, n) Petrov–Galerkin mass matrix ∫ψⱼψₗ: A_j/6 on the diagonal, A_jl/12 off it [Bergou 2007, eq. 7].

    `density` (f,) or a number weights each face.
    """
    areas = face_areas(mesh.rest, mesh.faces) * density
    local = (np.ones((3, 3)) + np.eye(3)) / 12.0
    rows = np.repeat(mesh.faces, 3, axis=1).reshape(-1)
    columns = np.tile(mesh.faces, (1, 3)).reshape(-1)
    values = (areas[:, None] * local.reshape(1, 9)).reshape(-1)
    shape = (mesh.point_count, mesh.point_count)
    return sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()


def lumped_mass(mesh: TriMesh, density: Vector | float = 1.0) -> Vector:
    """(n,) a third of each face's density × area at each of its corners; row sums of `area_mass_matrix`."""
    share = np.repeat(face_areas(mesh.rest, mesh.faces) * density / 3.0, 3)
    return np.bincount(mesh.faces.reshape(-1), weights=share, minlength=mesh.point_count).astype(np.float64)
