"""The linear elastic body: the stiffness of a solid at rest, of one material or of one a tetrahedron.

Both laws of `solid.py` are, at rest, ∫ 2µ ε(u):ε(w) + λ div u div w: the blocks are theirs, only summed here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Sparse, Vector, input_error
from bunraku.geometry import TetMesh, check_tets, tet_gradients, tet_lumped_mass
from bunraku.materials import SolidMaterial
from bunraku.numerics import Scatter

from .solid import SolidEnergy


def linear_stiffness(
    mesh: TetMesh, materials: SolidMaterial | Sequence[SolidMaterial], of_tet: Integers | None = None
) -> Sparse:
    """(3n, 3n) CSR, symmetric [N/m]: the Hessian at rest; rigid motion, linearised, is free.

    Args:
        mesh: the body.
        materials: one for all, or several.
        of_tet: (m,) which of several each tetrahedron is of.
    """
    check_tets(mesh)
    several, which = _chosen(mesh, materials, of_tet)
    mu, lam = (np.array(part)[which] for part in zip(*(one.lame for one in several), strict=True))
    gradients, volumes = tet_gradients(mesh.rest, mesh.tets)
    count = len(mesh.tets)
    energy = SolidEnergy(
        mesh.tets, gradients, volumes, mu, lam, False, np.zeros(count), np.zeros((count, 6)),
        Scatter.of(mesh.tets, mesh.point_count),
    )  # fmt: skip
    (blocks,) = energy.blocks(mesh.rest, psd=False)
    return _summed(mesh.tets, blocks, mesh.point_count)


def solid_mass(
    mesh: TetMesh, materials: SolidMaterial | Sequence[SolidMaterial], of_tet: Integers | None = None
) -> Vector:
    """(n,) a quarter of each tetrahedron's mass at each of its corners [kg]; arguments as of `linear_stiffness`."""
    several, which = _chosen(mesh, materials, of_tet)
    return tet_lumped_mass(mesh, np.array([one.density for one in several])[which])


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


def _summed(tets: Integers, blocks: Array, count: int) -> Sparse:
    """(3 count, 3 count) CSR: blocks (m, 12, 12) summed, 3 × 3 by 3 × 3, always in the same order."""
    corners = tets.shape[1]
    parts = blocks.reshape(-1, corners, 3, corners, 3).transpose(0, 1, 3, 2, 4).reshape(-1, 9)
    key = (tets[:, :, None] * count + tets[:, None, :]).reshape(-1)
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    gathered = sparse.csr_array(
        (np.ones(len(order)), order, np.append(first, len(order))), shape=(len(first), len(order))
    )
    summed = (gathered @ parts).reshape(-1, 3, 3)
    indptr = np.searchsorted(key[first], np.arange(count + 1) * count)
    matrix = sparse.bsr_array((summed, key[first] % count, indptr), shape=(3 * count, 3 * count)).tocsr()
    return 0.5 * (matrix + matrix.T)
