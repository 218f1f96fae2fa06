"""Kernels of `bend.py`: of every tetrahedron the second derivative of Λ : G(ω, S), and what it makes of the modes.

With G = R S, R = exp([ω]×), the columns m of its left Jacobian J, Q = G Λᵀ and ax Q = (Q₁₂ − Q₂₁, Q₂₀ − Q₀₂, Q₀₁ − Q₁₀)
(see `warp_kernels.py` for the rest of the letters)

    ∂²/∂ωₐ∂ω_b = ax Q · (DJ[e_b] eₐ) + mₐ · Q m_b − (mₐ · m_b) tr Q,
    ∂²/∂ωₐ∂S_jk = mₐ · (R e_j × Λ e_k), and with j, k changed for j ≠ k,    ∂²/∂S∂S = 0.

So the Hessian is 3 × 9 numbers: Σ Nᵀ h N of the modes' nine numbers N is Tᵀ Y + Yᵀ T with their three turns T and
Y = ½ h_ωω T + h_ωS N_S. Sums over some tetrahedra at once are then products of matrices.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from .warp_kernels import CHUNK, gradient, left_jacobian, meant, measure, rotation_functions

SLOTS = 16
"""sums that are kept apart and added at the end, in order: the same bytes for any number of threads"""
AT_ONCE = 64
"""tetrahedra whose products with the modes stay in the core's own cache"""
_NEAR = 6e-6  # by which nine numbers are changed for a difference: the cube root of the rounding


@numba.njit(cache=True, error_model="numpy")
def _turned_jacobian(own, functions, c, out):
    """(3, 3) whose entry (a, b) is c · (DJ[e_b] eₐ), with J = I + b [ω]× + c [ω]×²."""
    b, cc, db, dc = functions[1], functions[2], functions[3], functions[4]
    x, y, z = own[0], own[1], own[2]
    s, along = x * x + y * y + z * z, c[0] * x + c[1] * y + c[2] * z
    # c · (ω × e) = (c × ω) · e, and c · [ω]×² e = (c·ω) ω·e − ω·ω c·e.
    across0, across1, across2 = c[1] * z - c[2] * y, c[2] * x - c[0] * z, c[0] * y - c[1] * x
    across = (across0, across1, across2)
    for i in range(3):
        slope = 2.0 * (db * across[i] + dc * (along * own[i] - s * c[i]))
        for k in range(3):
            out[i, k] = slope * own[k] + cc * (c[k] * own[i] - 2.0 * own[k] * c[i])
        out[i, i] += cc * along
    # b times c · (e_b × e_a)
    out[0, 1] -= b * c[2]
    out[1, 0] += b * c[2]
    out[0, 2] += b * c[1]
    out[2, 0] -= b * c[1]
    out[1, 2] -= b * c[0]
    out[2, 1] += b * c[0]


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def element_bend(own, pull, r, change, g, j, bent, out):
    """(3, 9) rows ω, columns (ω, S), of the second derivative of Λ : G at nine numbers; `pull` is Λ (3, 3)."""
    functions = rotation_functions(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
    meant(own, functions, r, change, g)
    left_jacobian(own, functions, j)
    q = change  # of no use any more
    for i in range(3):
        for k in range(3):
            q[i, k] = g[i, 0] * pull[k, 0] + g[i, 1] * pull[k, 1] + g[i, 2] * pull[k, 2]
    trace = q[0, 0] + q[1, 1] + q[2, 2]
    _turned_jacobian(own, functions, (q[1, 2] - q[2, 1], q[2, 0] - q[0, 2], q[0, 1] - q[1, 0]), bent)
    for b in range(3):
        v0 = q[0, 0] * j[0, b] + q[0, 1] * j[1, b] + q[0, 2] * j[2, b] - trace * j[0, b]
        v1 = q[1, 0] * j[0, b] + q[1, 1] * j[1, b] + q[1, 2] * j[2, b] - trace * j[1, b]
        v2 = q[2, 0] * j[0, b] + q[2, 1] * j[1, b] + q[2, 2] * j[2, b] - trace * j[2, b]
        for a in range(3):
            bent[a, b] += j[0, a] * v0 + j[1, a] * v1 + j[2, a] * v2
    for a in range(3):
        for b in range(3):
            out[a, b] = 0.5 * (bent[a, b] + bent[b, a])
        for column in range(3, 9):
            out[a, column] = 0.0
    for i in range(3):
        for k in range(3):
            c0 = r[1, i] * pull[2, k] - r[2, i] * pull[1, k]
            c1 = r[2, i] * pull[0, k] - r[0, i] * pull[2, k]
            c2 = r[0, i] * pull[1, k] - r[1, i] * pull[0, k]
            column = 3 + i if i == k else 9 - i - k
            for a in range(3):
                out[a, column] += j[0, a] * c0 + j[1, a] * c1 + j[2, a] * c2


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def _times_modes(bend, volume, turns, stretches, out):
    """Y (3, d) = volume × (½ h_ωω T + h_ωS N_S)."""
    half = 0.5 * volume
    for a in range(3):
        c0, c1, c2 = half * bend[a, 0], half * bend[a, 1], half * bend[a, 2]
        c3, c4, c5 = volume * bend[a, 3], volume * bend[a, 4], volume * bend[a, 5]
        c6, c7, c8 = volume * bend[a, 6], volume * bend[a, 7], volume * bend[a, 8]
        row = out[a]
        for m in range(turns.shape[1]):
            row[m] = (
                c0 * turns[0, m] + c1 * turns[1, m] + c2 * turns[2, m] + c3 * stretches[0, m] + c4 * stretches[1, m]
                + c5 * stretches[2, m] + c6 * stretches[3, m] + c7 * stretches[4, m] + c8 * stretches[5, m]
            )  # fmt: skip


@numba.njit(parallel=True, cache=True, error_model="numpy", fastmath={"contract"})
def fill_mode_numbers(basis, tets, gradients, turns, stretches):
    """(m, 3, d) and (m, 6, d) rotation vectors and stretches of modes (n, 3, d) in every tetrahedron."""
    count = basis.shape[2]
    for chunk in numba.prange((len(tets) + CHUNK - 1) // CHUNK):
        d = np.empty((3, 3, count))
        for t in range(chunk * CHUNK, min(len(tets), (chunk + 1) * CHUNK)):
            zero, one, two, three = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
            for i in range(3):
                for k in range(3):
                    c1, c2, c3 = gradients[t, 0, k], gradients[t, 1, k], gradients[t, 2, k]
                    c0 = -(c1 + c2 + c3)
                    for m in range(count):
                        d[i, k, m] = (
                            c0 * basis[zero, i, m] + c1 * basis[one, i, m] + c2 * basis[two, i, m]
                            + c3 * basis[three, i, m]
                        )  # fmt: skip
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                for m in range(count):
                    turns[t, i, m] = 0.5 * (d[k, j, m] - d[j, k, m])
                    stretches[t, i, m] = d[i, i, m]
                    stretches[t, 3 + i, m] = 0.5 * (d[j, k, m] + d[k, j, m])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_bends(u, v, tets, gradients, volumes, places, still, moving, turns, stretches, own_out, mixed_out):
    """(SLOTS, d, d) sums of Tᵀ Y over the tetrahedra at the displacement u (n, 3), of a field `still` (k, 3) of which Λ
    is the gradient, and how that of a field `moving` changes where u changes at v (n, 3), to ten digits: a difference
    of the closed form. `mixed_out`, unless it is empty, is that of `moving` itself, to as many. Either field may be
    empty; `places` (m, 4) says where in them the corners are.
    """
    slots, count, modes = len(own_out), len(tets), turns.shape[2]
    for slot in numba.prange(slots):
        r, change, g, j, bent, d, pull = (
            np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)),
            np.empty((3, 3)),
        )  # fmt: skip
        own, along, near, bend, other = np.empty(9), np.empty(9), np.empty(9), np.empty((3, 9)), np.empty((3, 9))
        total, half = np.empty((3, 9)), np.empty((3 * AT_ONCE, modes))
        mixed = np.empty((3 * AT_ONCE if len(mixed_out) else 0, modes))
        own_out[slot] = 0.0
        if len(mixed_out):
            mixed_out[slot] = 0.0
        last = (slot + 1) * count // slots
        for begin in range(slot * count // slots, last, AT_ONCE):
            end = min(begin + AT_ONCE, last)
            for t in range(begin, end):
                at = 3 * (t - begin)
                measure(u, tets[t], gradients[t], d, own)
                total[:] = 0.0
                if len(still):
                    gradient(still, places[t], gradients[t], pull)
                    element_bend(own, pull, r, change, g, j, bent, total)
                if len(moving):
                    gradient(moving, places[t], gradients[t], pull)
                    measure(v, tets[t], gradients[t], d, along)
                    size = 0.0
                    for i in range(9):
                        size += along[i] * along[i]
                    size = max(math.sqrt(size), 1e-300)
                    for i in range(9):
                        near[i] = own[i] + _NEAR * along[i] / size
                        own[i] -= _NEAR * along[i] / size
                    element_bend(near, pull, r, change, g, j, bent, bend)
                    element_bend(own, pull, r, change, g, j, bent, other)
                    for a in range(3):
                        for i in range(9):
                            total[a, i] += (bend[a, i] - other[a, i]) * size / (2.0 * _NEAR)
                            bend[a, i] = 0.5 * (bend[a, i] + other[a, i])
                    if len(mixed_out):
                        _times_modes(bend, volumes[t], turns[t], stretches[t], mixed[at : at + 3])
                _times_modes(total, volumes[t], turns[t], stretches[t], half[at : at + 3])
            known = turns[begin:end].reshape(-1, modes).T
            own_out[slot] += np.dot(known, half[: 3 * (end - begin)])
            if len(mixed_out):
                mixed_out[slot] += np.dot(known, mixed[: 3 * (end - begin)])
