"""Gradients of piecewise linear functions on tetrahedra, and the small kernels they are made with."""

from __future__ import annotations

import numba
import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector


def tet_gradients(rest: Points, tets: Integers) -> tuple[Array, Vector]:
    """Gradients (m, 3, 3) [1/m] of the functions of corners 1, 2, 3 of each tetrahedron, and volumes (m,) [m³].

    F = Σ (xₐ − x₀) gₐᵀ; the gradient of the first corner's function is minus the sum of the others.
    """
    gradients, volumes = np.empty((len(tets), 3, 3)), np.empty(len(tets))
    _gradients(own_points(rest), np.require(tets, np.int64, ["C", "W"]), gradients, volumes)
    return gradients, volumes


def own_points(x: Points) -> Points:
    """x as the kernels take it: those of meshes are read-only, which is another type and would be compiled again."""
    return np.require(x, np.float64, ["C", "W"])


@numba.njit(cache=True, inline="always", error_model="numpy")
def tet_edges(x, tet, out):
    """Columns: edges from the first corner to the others."""
    for a in range(3):
        for i in range(3):
            out[i, a] = x[tet[a + 1], i] - x[tet[0], i]


@numba.njit(cache=True, error_model="numpy")
def invert(m, out):
    """The inverse of m (3, 3); returns its determinant."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            out[a, i] = m[j, b] * m[k, c] - m[j, c] * m[k, b]
    det = m[0, 0] * out[0, 0] + m[0, 1] * out[1, 0] + m[0, 2] * out[2, 0]
    for i in range(3):
        for a in range(3):
            out[i, a] /= det
    return det


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _gradients(rest, tets, gradients, volumes):
    for e in numba.prange(len(tets)):
        edges = np.empty((3, 3))
        tet_edges(rest, tets[e], edges)
        volumes[e] = invert(edges, gradients[e]) / 6.0
