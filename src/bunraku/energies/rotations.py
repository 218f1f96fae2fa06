"""How a body's elements are turned, and the body as a whole."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector
from bunraku.geometry import tet_gradients
from bunraku.numerics import signed_svds


def deformation_gradients(x: Points, rest: Points, tets: Integers) -> Array:
    """(m, 3, 3) F of each tetrahedron with its vertices at x (n, 3), from their places at rest (n, 3)."""
    gradients, _ = tet_gradients(rest, tets)
    edges = x[tets[:, 1:]] - x[tets[:, :1]]
    return np.einsum("mai,mak->mik", edges, gradients)


def element_rotations(x: Points, rest: Points, tets: Integers) -> Array:
    """(m, 3, 3) R of the polar decomposition F = R S of each tetrahedron; never mirrored, whatever is inside out."""
    u, _, v = signed_svds(deformation_gradients(x, rest, tets))
    return u @ np.swapaxes(v, 1, 2)


def mean_rotation(x: Points, rest: Points, tets: Integers, masses: Vector) -> Array:
    """(3, 3) the rotation nearest to Σ mᵢ Rᵢ / Σ mᵢ over the elements [Kondo 2005, §5]; `masses` (m,) [kg].

    Where elements are turned so differently that their mean has no nearest rotation, one of the nearest is returned.
    """
    mean = np.einsum("m,mij->ij", masses / np.sum(masses), element_rotations(x, rest, tets))
    u, _, v = signed_svds(mean[None])
    return u[0] @ v[0].T
