"""Kernel of `Warp.along`: what every tetrahedron means in one direction e only.

Of G − I = R S − I the row eᵀ(G − I) = (Rᵀe − e) + S' Rᵀe is enough, with S' the stretch less I: a rotated vector instead
of a rotation, a third of the sums, and a third of the solves behind them (letters as in `warp_kernels.py`).
"""

from __future__ import annotations

import numba
import numpy as np

from .warp_kernels import measure, rotation_functions


@numba.njit(parallel=True, cache=True, error_model="numpy", fastmath={"contract"})
def fill_along(u, directions, tets, gradients, volumes, out):
    """(r, n) Γᵀ of eᵀ(G − I), summed at the vertices, of displacements u (r, n, 3) and directions e (r, 3)."""
    for row in numba.prange(len(out)):
        own, d = np.empty(9), np.empty((3, 3))
        moved, sums = u[row], out[row]
        e0, e1, e2 = directions[row, 0], directions[row, 1], directions[row, 2]
        sums[:] = 0.0
        for t in range(len(tets)):
            measure(moved, tets[t], gradients[t], d, own)
            x, y, z = own[0], own[1], own[2]
            a, b, _, _, _ = rotation_functions(x * x + y * y + z * z)
            # c = ω × e; Rᵀe − e = −a c + b ω × c.
            c0, c1, c2 = y * e2 - z * e1, z * e0 - x * e2, x * e1 - y * e0
            p0 = b * (y * c2 - z * c1) - a * c0
            p1 = b * (z * c0 - x * c2) - a * c1
            p2 = b * (x * c1 - y * c0) - a * c2
            q0, q1, q2 = p0 + e0, p1 + e1, p2 + e2
            p0 += own[3] * q0 + own[8] * q1 + own[7] * q2
            p1 += own[8] * q0 + own[4] * q1 + own[6] * q2
            p2 += own[7] * q0 + own[6] * q1 + own[5] * q2
            whole = 0.0
            for k in range(3):
                part = volumes[t] * (p0 * gradients[t, k, 0] + p1 * gradients[t, k, 1] + p2 * gradients[t, k, 2])
                sums[tets[t, k + 1]] += part
                whole += part
            sums[tets[t, 0]] -= whole
