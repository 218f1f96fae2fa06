"""Kernel of `Warp.along`: what every tetrahedron means in one direction e only, at many moments at once.

Of G − I = R S − I the row eᵀ(G − I) = (Rᵀe − e) + S' Rᵀe is enough, with S' the stretch less I: a rotated vector
instead of a rotation, a third of the sums, and a third of the solves behind them (letters as in `warp_kernels.py`).
Moments stand beside each other in memory, so that the processor takes several at once; turns up to 4 rad are summed
without a branch, as series of a quarter of the angle, doubled twice: a(2θ) = a(θ) cos θ, b(2θ) = ½ a(θ)².
"""

from __future__ import annotations

import numba
import numpy as np

from .warp_kernels import SERIES_B, SERIES_C, TERMS, rotation_functions

MOMENTS = 16
"""that are summed at once"""
_QUARTER = 1.0 / 16.0  # of ι², that of a quarter of the angle


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def _fill_gradient(u, begin, width, tet, gradients, d):
    """(9, MOMENTS) the gradient of displacements, entry (i, k) at 3 i + k, from moment `begin` on."""
    zero, one, two, three = tet[0], tet[1], tet[2], tet[3]
    for i in range(3):
        for k in range(3):
            c1, c2, c3 = gradients[0, k], gradients[1, k], gradients[2, k]
            c0 = -(c1 + c2 + c3)
            for m in range(width):
                at = begin + m
                d[3 * i + k, m] = c0 * u[zero, i, at] + c1 * u[one, i, at] + c2 * u[two, i, at] + c3 * u[three, i, at]


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def _fill_turns(width, d, numbers, functions):
    """Rotation vectors and, of them, a and b into `functions` (2, MOMENTS)."""
    largest = 0.0
    for m in range(width):
        x, y, z = 0.5 * (d[7, m] - d[5, m]), 0.5 * (d[2, m] - d[6, m]), 0.5 * (d[3, m] - d[1, m])
        numbers[0, m], numbers[1, m], numbers[2, m] = x, y, z
        numbers[3, m] = x * x + y * y + z * z
    for m in range(width):
        largest = max(largest, numbers[3, m])
    if not largest < 16.0:
        for m in range(width):
            found = rotation_functions(numbers[3, m])
            functions[0, m], functions[1, m] = found[0], found[1]
        return
    for m in range(width):
        s, b, c = _QUARTER * numbers[3, m], 0.0, 0.0
        for k in range(TERMS):
            b, c = s * b + SERIES_B[k], s * c + SERIES_C[k]
        a = 1.0 - s * c
        # Half of the angle, then the whole.
        a, b, s = a * (1.0 - s * b), 0.5 * a * a, 4.0 * s
        functions[0, m], functions[1, m] = a * (1.0 - s * b), 0.5 * a * a


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def _fill_row(begin, width, directions, d, numbers, functions, row):
    """(3, MOMENTS) eᵀ(G − I)."""
    for m in range(width):
        e0, e1, e2 = directions[0, begin + m], directions[1, begin + m], directions[2, begin + m]
        x, y, z, a, b = numbers[0, m], numbers[1, m], numbers[2, m], functions[0, m], functions[1, m]
        yz, xz, xy = 0.5 * (d[5, m] + d[7, m]), 0.5 * (d[2, m] + d[6, m]), 0.5 * (d[1, m] + d[3, m])
        # c = ω × e; Rᵀe − e = −a c + b ω × c.
        c0, c1, c2 = y * e2 - z * e1, z * e0 - x * e2, x * e1 - y * e0
        p0 = b * (y * c2 - z * c1) - a * c0
        p1 = b * (z * c0 - x * c2) - a * c1
        p2 = b * (x * c1 - y * c0) - a * c2
        q0, q1, q2 = p0 + e0, p1 + e1, p2 + e2
        row[0, m] = p0 + d[0, m] * q0 + xy * q1 + xz * q2
        row[1, m] = p1 + xy * q0 + d[4, m] * q1 + yz * q2
        row[2, m] = p2 + xz * q0 + yz * q1 + d[8, m] * q2


@numba.njit(parallel=True, cache=True, error_model="numpy", fastmath={"contract"})
def fill_along(u, directions, tets, gradients, volumes, out):
    """(n, r) Γᵀ of eᵀ(G − I), summed at the vertices, of displacements u (n, 3, r) and directions e (3, r)."""
    count = out.shape[1]
    for part in numba.prange((count + MOMENTS - 1) // MOMENTS):
        d, numbers, functions, row = (
            np.empty((9, MOMENTS)), np.empty((4, MOMENTS)), np.empty((2, MOMENTS)), np.empty((3, MOMENTS))
        )  # fmt: skip
        begin = part * MOMENTS
        width = min(MOMENTS, count - begin)
        out[:, begin : begin + width] = 0.0
        for t in range(len(tets)):
            _fill_gradient(u, begin, width, tets[t], gradients[t], d)
            _fill_turns(width, d, numbers, functions)
            _fill_row(begin, width, directions, d, numbers, functions, row)
            for k in range(3):
                corner, zero = tets[t, k + 1], tets[t, 0]
                c0, c1, c2 = (
                    volumes[t] * gradients[t, k, 0], volumes[t] * gradients[t, k, 1], volumes[t] * gradients[t, k, 2]
                )  # fmt: skip
                for m in range(width):
                    numbers[0, m] = c0 * row[0, m] + c1 * row[1, m] + c2 * row[2, m]
                for m in range(width):
                    out[corner, begin + m] += numbers[0, m]
                for m in range(width):
                    out[zero, begin + m] -= numbers[0, m]
