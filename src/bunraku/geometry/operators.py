"""Mass matrices and Laplacians of piecewise linear functions on triangle and tetrahedral meshes."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Sparse, Vector

from .gradients import tet_gradients
from .tetmesh import TetMesh
from .trimesh import TriMesh, face_areas


def area_mass_matrix(mesh: TriMesh, density: Vector | float = 1.0) -> Sparse:
    """(n, n) Petrov–Galerkin mass matrix ∫ψⱼψₗ: A_j/6 on the diagonal, A_jl/12 off it [Bergou 2007, eq. 7].

    `density` (f,) or a number weights each face.
    """
    areas = face_areas(mesh.rest, mesh.faces) * density
    local = (np.ones((3, 3)) + np.eye(3)) / 12.0
    return _summed(mesh.faces, areas, local, mesh.point_count)


def lumped_mass(mesh: TriMesh, density: Vector | float = 1.0) -> Vector:
    """(n,) a third of each face's density × area at each of its corners; row sums of `area_mass_matrix`."""
    share = np.repeat(face_areas(mesh.rest, mesh.faces) * density / 3.0, 3)
    return np.bincount(mesh.faces.reshape(-1), weights=share, minlength=mesh.point_count).astype(np.float64)


def tet_masses(mesh: TetMesh, density: Vector | float = 1.0) -> Vector:
    """(m,) density × rest volume of each tetrahedron [kg]; `density` (m,) or a number [kg/m³]."""
    return mesh.volumes * density


def tet_lumped_mass(mesh: TetMesh, density: Vector | float = 1.0) -> Vector:
    """(n,) a quarter of each tetrahedron's mass at each of its corners [kg]; row sums of `tet_mass_matrix`."""
    share = np.repeat(tet_masses(mesh, density) / 4.0, 4)
    return np.bincount(mesh.tets.reshape(-1), weights=share, minlength=mesh.point_count).astype(np.float64)


def tet_mass_matrix(mesh: TetMesh, density: Vector | float = 1.0) -> Sparse:
    """(n, n) consistent mass matrix ∫ρ ψⱼψₗ [kg]: a tetrahedron of mass m gives m/10 on the diagonal, m/20 off it."""
    local = (np.ones((4, 4)) + np.eye(4)) / 20.0
    return _summed(mesh.tets, tet_masses(mesh, density), local, mesh.point_count)


def _summed(elements: Integers, weights: Vector, local: Array, count: int) -> Sparse:
    """(count, count) CSR: Σ over elements (m, k) of weight × the same local matrix (k, k)."""
    corners = elements.shape[1]
    rows = np.repeat(elements, corners, axis=1).reshape(-1)
    columns = np.tile(elements, (1, corners)).reshape(-1)
    values = (weights[:, None] * local.reshape(1, -1)).reshape(-1)
    return sparse.coo_array((values, (rows, columns)), shape=(count, count)).tocsr()


def cotangent_laplacian(mesh: TriMesh, weight: Vector | float = 1.0) -> Sparse:
    """(n, n) stiffness matrix ∫ weight ∇ψⱼ·∇ψₗ of the rest shape: rows add up to 0, no eigenvalue below 0.

    The `weight` is a number, or (f,) a face, not negative.
    Off the diagonal −(cot α + cot β) / 2 of the angles that face an edge. Faces without area count nothing.
    """
    x, faces = mesh.rest, mesh.faces
    double = 2.0 * face_areas(x, faces)
    values = []
    for corner in range(3):  # the angle at a corner faces the edge of the other two
        a, b, c = (x[faces[:, (corner + k) % 3]] for k in range(3))
        dot = np.einsum("fi,fi->f", b - a, c - a)
        values.append(0.5 * weight * np.divide(dot, double, out=np.zeros_like(dot), where=double > 0))
    rows, columns = faces[:, [1, 2, 0]].T.reshape(-1), faces[:, [2, 0, 1]].T.reshape(-1)
    shape = (mesh.point_count, mesh.point_count)
    half = sparse.coo_array((np.concatenate(values), (rows, columns)), shape=shape).tocsr()
    weights = half + half.T
    return sparse.csr_array(sparse.diags_array(np.asarray(weights.sum(axis=1)).reshape(-1)) - weights)


def tet_laplacian(mesh: TetMesh, weight: Vector | float = 1.0) -> Sparse:
    """(n, n) stiffness matrix ∫ weight ∇ψⱼ·∇ψₗ of the rest shape [m]: rows add up to 0, no eigenvalue below 0.

    The `weight` is a number, or (m,) a tetrahedron, not negative.
    """
    own, volumes = tet_gradients(mesh.rest, mesh.tets)
    gradients = np.concatenate([-own.sum(axis=1, keepdims=True), own], axis=1)
    local = (gradients @ gradients.transpose(0, 2, 1)) * (volumes * weight)[:, None, None]
    rows, columns = np.repeat(mesh.tets, 4, axis=1).reshape(-1), np.tile(mesh.tets, (1, 4)).reshape(-1)
    shape = (mesh.point_count, mesh.point_count)
    return sparse.coo_array((local.reshape(-1), (rows, columns)), shape=shape).tocsr()
