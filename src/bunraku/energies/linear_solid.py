"""The linear elastic body: the stiffness of a solid at rest, of one material or of one a tetrahedron.

Both laws of `solid.py` are, at rest, ∫ 2µ ε(u):ε(w) + λ div u div w, which is constant in a tetrahedron: of corners
with gradients g_a, g_b it is volume × (λ g_a g_bᵀ + µ g_b g_aᵀ + µ g_a·g_b I). It is added where it belongs at once:
nothing of the size of all blocks is written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Sparse, Vector, alike, input_error
from bunraku.geometry import TetMesh, check_tets, tet_gradients, tet_lumped_mass
from bunraku.materials import SolidMaterial

from .linear_solid_kernels import fill_stiffness, find_corners, find_neighbours


def linear_stiffness(
    mesh: TetMesh, materials: SolidMaterial | Sequence[SolidMaterial], of_tet: Integers | None = None,
    times: Sequence[float] | None = None,
) -> Sparse:  # fmt: skip
    """(3n, 3n) CSR, symmetric [N/m]: the Hessian at rest; rigid motion, linearised, is free.

    Args:
        mesh: the body.
        materials: one for all, or several.
        of_tet: (m,) which of several each tetrahedron is of.
        times: what the stiffness of each material is multiplied by: times of retardation [s] make a viscosity.
    """
    check_tets(mesh)
    several, which = _chosen(mesh, materials, of_tet)
    factor = np.ones(len(several)) if times is None else np.asarray(times, dtype=np.float64)
    mu, lam = (np.array(part)[which] for part in zip(*(one.lame for one in several), strict=True))
    mu, lam = mu * factor[which], lam * factor[which]
    gradients, volumes = tet_gradients(mesh.rest, mesh.tets)
    return _summed(mesh.tets, gradients, volumes * lam, volumes * mu, mesh.point_count)


def solid_mass(
    mesh: TetMesh, materials: SolidMaterial | Sequence[SolidMaterial], of_tet: Integers | None = None,
    times: Sequence[float] | None = None,
) -> Vector:  # fmt: skip
    """(n,) a quarter of each tetrahedron's mass at each of its corners [kg]; arguments as of `linear_stiffness`: rates
    [1/s] make a drag."""
    several, which = _chosen(mesh, materials, of_tet)
    factor = np.ones(len(several)) if times is None else np.asarray(times, dtype=np.float64)
    return tet_lumped_mass(mesh, (np.array([one.density for one in several]) * factor)[which])


def _chosen(
    mesh: TetMesh, materials: SolidMaterial | Sequence[SolidMaterial], of_tet: Integers | None
) -> tuple[Sequence[SolidMaterial], Integers]:
    """The materials, and (m,) which of them each tetrahedron is of."""
    several = (materials,) if isinstance(materials, SolidMaterial) else tuple(materials)
    if of_tet is None:
        if len(several) != 1:
            raise input_error("several materials need to know their tetrahedra", where="of_tet", got=None)
        return several, np.zeros(len(mesh.tets), dtype=np.int64)
    which = np.asarray(of_tet)
    inside = which.shape == (len(mesh.tets),) and which.dtype.kind in "iu"
    if not inside or (len(which) and not 0 <= which.min() <= which.max() < len(several)):
        raise input_error(
            "must name a material of every tetrahedron", where="of_tet", got=f"{which.dtype} {which.shape}",
            allowed=f"({len(mesh.tets)},) whole numbers from 0 to {len(several) - 1}",
        )  # fmt: skip
    return several, which.astype(np.int64)


def _summed(tets: Integers, gradients: Array, first: Vector, second: Vector, count: int) -> Sparse:
    """(3 count, 3 count) CSR: what tetrahedra add with volume × λ and µ (m,), 3 × 3 by 3 × 3, always in the same order:
    symmetric to the last bit."""
    tets = alike(tets)
    starts = np.concatenate([[0], np.cumsum(np.bincount(tets.reshape(-1), minlength=count))])
    corners, indptr = np.empty(4 * len(tets), dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
    find_corners(tets, starts, corners)
    columns = np.empty(16 * len(tets), dtype=np.int64)
    pairs = find_neighbours(tets, corners, starts, indptr, columns)
    values, indices = np.empty(9 * pairs), np.empty(9 * pairs, dtype=np.int32)
    fill_stiffness(tets, corners, starts, indptr, columns, gradients, first, second, values, indices)
    rows = (9 * indptr[:-1, None] + 3 * np.diff(indptr)[:, None] * np.arange(3)).reshape(-1)
    whole = np.append(rows, 9 * pairs).astype(np.int32 if 9 * pairs < 2**31 else np.int64)
    return sparse.csr_array((values, indices, whole), shape=(3 * count, 3 * count))
