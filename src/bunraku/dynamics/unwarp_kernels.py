"""Kernels of `unwarp.py`: the derivative of what every tetrahedron means, inverted in closed form.

DG[v] = [J ω]× G + R S' with G = R S, of nine numbers (ω, S') of v (letters as in `warp_kernels.py`). For a matrix D,
with E = Rᵀ D and p the axis of E − Eᵀ, DG[v] = D means

    (tr S I − S) a = p,    ω = J⁻¹ R a,    S' = the symmetric part of E − [a]× S,

since [a]× S + S [a]× = [(tr S I − S) a]×.
"""

from __future__ import annotations

import numba
import numpy as np

from bunraku.geometry.gradients import invert

from .warp_kernels import (
    CHUNK,
    gradient,
    left_cross,
    left_jacobian,
    meant,
    measure,
    product,
    push,
    rotation_functions,
    stretch_matrix,
)

_HAIR = 1e-12
"""added to what is inverted: a tetrahedron turned by 2π, or two of whose stretches cancel each other, has no inverse; a
hair beside it there is one, which is large"""


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_inverses(own, out):
    """(m, 4, 3, 3) R, S, (tr S I − S)⁻¹ and J⁻¹ R times that, at nine numbers (m, 9)."""
    for chunk in numba.prange((len(own) + CHUNK - 1) // CHUNK):
        change, g, j, m = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        for t in range(chunk * CHUNK, min(len(own), (chunk + 1) * CHUNK)):
            w = own[t]
            functions = rotation_functions(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
            meant(w, functions, out[t, 0], change, g)
            stretch_matrix(w, out[t, 1])
            for i in range(3):
                out[t, 1, i, i] += 1.0
            trace = out[t, 1, 0, 0] + out[t, 1, 1, 1] + out[t, 1, 2, 2]
            for i in range(3):
                for k in range(3):
                    m[i, k] = (trace + _HAIR if i == k else 0.0) - out[t, 1, i, k]
            invert(m, out[t, 2])
            left_jacobian(w, functions, j)
            for i in range(3):
                j[i, i] += _HAIR
            invert(j, m)
            for i in range(3):
                for k in range(3):
                    g[i, k] = m[i, 0] * out[t, 0, 0, k] + m[i, 1] * out[t, 0, 1, k] + m[i, 2] * out[t, 0, 2, k]
            for i in range(3):
                for k in range(3):
                    out[t, 3, i, k] = g[i, 0] * out[t, 2, 0, k] + g[i, 1] * out[t, 2, 1, k] + g[i, 2] * out[t, 2, 2, k]


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_tangents(own, out):
    """(m, 3, 3, 3) R, G and J at nine numbers (m, 9): all that DG needs of a place."""
    for chunk in numba.prange((len(own) + CHUNK - 1) // CHUNK):
        change = np.empty((3, 3))
        for t in range(chunk * CHUNK, min(len(own), (chunk + 1) * CHUNK)):
            w = own[t]
            functions = rotation_functions(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
            meant(w, functions, out[t, 0], change, out[t, 1])
            left_jacobian(w, functions, out[t, 2])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_meant(v, tets, gradients, volumes, tangents, out):
    """(m, 4, 3) what corners are asked by DG[v], times the volume, of v (n, 3); `tangents` as `fill_tangents`."""
    for chunk in numba.prange((len(tets) + CHUNK - 1) // CHUNK):
        d, change, turn, along, flat = np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty(9), np.empty(9)
        for t in range(chunk * CHUNK, min(len(tets), (chunk + 1) * CHUNK)):
            r, g, j = tangents[t, 0], tangents[t, 1], tangents[t, 2]
            measure(v, tets[t], gradients[t], d, along)
            for i in range(3):
                turn[i] = j[i, 0] * along[0] + j[i, 1] * along[1] + j[i, 2] * along[2]
            stretch_matrix(along, d)
            product(r, d, change)
            left_cross(turn, g, d)
            for i in range(3):
                for k in range(3):
                    flat[3 * k + i] = change[i, k] + d[i, k]
            push(flat, gradients[t], volumes[t], out[t])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_unmeant(y, tets, gradients, volumes, inverses, out):
    """(m, 4, 3) what corners are asked by [ω]× + S', times the volume, of the nine numbers that mean the gradient of
    y (n, 3) in every tetrahedron; `inverses` as `fill_inverses`."""
    for chunk in numba.prange((len(tets) + CHUNK - 1) // CHUNK):
        d, e, p, a, w, flat = (
            np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3), np.empty(9)
        )  # fmt: skip
        for t in range(chunk * CHUNK, min(len(tets), (chunk + 1) * CHUNK)):
            r, s, near, turn = inverses[t, 0], inverses[t, 1], inverses[t, 2], inverses[t, 3]
            gradient(y, tets[t], gradients[t], d)
            for i in range(3):
                for k in range(3):
                    e[i, k] = r[0, i] * d[0, k] + r[1, i] * d[1, k] + r[2, i] * d[2, k]
            p[0], p[1], p[2] = e[2, 1] - e[1, 2], e[0, 2] - e[2, 0], e[1, 0] - e[0, 1]
            for i in range(3):
                a[i] = near[i, 0] * p[0] + near[i, 1] * p[1] + near[i, 2] * p[2]
                w[i] = turn[i, 0] * p[0] + turn[i, 1] * p[1] + turn[i, 2] * p[2]
            for k in range(3):
                e[0, k] -= a[1] * s[2, k] - a[2] * s[1, k]
                e[1, k] -= a[2] * s[0, k] - a[0] * s[2, k]
                e[2, k] -= a[0] * s[1, k] - a[1] * s[0, k]
            for i in range(3):
                for k in range(3):
                    flat[3 * k + i] = 0.5 * (e[i, k] + e[k, i])
            flat[3] -= w[2]
            flat[1] += w[2]
            flat[6] += w[1]
            flat[2] -= w[1]
            flat[7] -= w[0]
            flat[5] += w[0]
            push(flat, gradients[t], volumes[t], out[t])
