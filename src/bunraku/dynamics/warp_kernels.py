"""Kernels of the rotation-strain warp: of every tetrahedron the deformation that its displacement *means*.

The gradient D of a displacement is split into a rotation vector ω, with [ω]× = ½ (D − Dᵀ), and a stretch
S = I + ½ (D + Dᵀ). What is meant is G = exp([ω]×) S [Schulz 2014, §6]. With ι = |ω|, which is ‖[ω]×‖/√2 in Frobenius's
norm (the paper's appendix has ½ where it needs 1/√2),

    exp([ω]×) = R = I + a [ω]× + b [ω]×²,    dR = [J dω]× R,    J = I + b [ω]× + c [ω]×²,
    a = sin ι/ι,   b = (1 − cos ι)/ι²,   c = (ι − sin ι)/ι³,

so that both derivatives of G are linear in the nine numbers (ω, S) of a direction:

    DG[v]     = [J ωᵥ]× G + R Sᵥ,
    D²G[v, w] = [(DJ[w]) ωᵥ]× G + [J ωᵥ]× [J ω]× G + [J ωᵥ]× R S + [J ω]× R Sᵥ    with (ω, S) of w,

each a 9 × 9 matrix a tetrahedron. Nine numbers stand as (ωx, ωy, ωz, Sxx, Syy, Szz, Syz, Sxz, Sxy), less I.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numba
import numpy as np

from bunraku.contracts import Array

CHUNK = 32
"""tetrahedra that one thread takes at once"""
TERMS = 11  # of the series: the next is below rounding
_SERIES = 1.0  # ι² below which the functions are summed as series: above it no digit is lost by their formulas


def _coefficients(first: int, scale: Callable[[int], int]) -> Array:
    """(12,) of Σ (−s)ᵏ scale(k)/(2k + first)!, the last first."""
    terms = [(-1) ** k * scale(k) / math.factorial(2 * k + first) for k in range(TERMS)]
    return np.array(terms[::-1])


SERIES_B, SERIES_C = _coefficients(2, lambda k: 1), _coefficients(3, lambda k: 1)
_DB, _DC = _coefficients(4, lambda k: -(k + 1)), _coefficients(5, lambda k: -(k + 1))


@numba.njit(cache=True, error_model="numpy")
def rotation_functions(s):
    """a, b, c and the derivatives of b and c by s = ι²."""
    if s < _SERIES:
        b = c = db = dc = 0.0
        for k in range(TERMS):
            b, c, db, dc = s * b + SERIES_B[k], s * c + SERIES_C[k], s * db + _DB[k], s * dc + _DC[k]
        return 1.0 - s * c, b, c, db, dc
    angle = math.sqrt(s)
    half, other = math.sin(0.5 * angle), math.cos(0.5 * angle)
    a, b = 2.0 * half * other / angle, 2.0 * half * half / s
    c = (1.0 - a) / s
    return a, b, c, (a - 2.0 * b) / (2.0 * s), (b - 3.0 * c) / (2.0 * s)


@numba.njit(cache=True, error_model="numpy")
def stretch_matrix(own, out):
    """The stretch less I of nine numbers as (3, 3)."""
    out[0, 0], out[1, 1], out[2, 2] = own[3], own[4], own[5]
    out[1, 2] = out[2, 1] = own[6]
    out[0, 2] = out[2, 0] = own[7]
    out[0, 1] = out[1, 0] = own[8]


@numba.njit(cache=True, error_model="numpy")
def product(a, b, out):
    for i in range(3):
        for k in range(3):
            out[i, k] = a[i, 0] * b[0, k] + a[i, 1] * b[1, k] + a[i, 2] * b[2, k]


@numba.njit(cache=True, error_model="numpy")
def left_cross(a, m, out):
    """[a]× M."""
    for k in range(3):
        out[0, k] = a[1] * m[2, k] - a[2] * m[1, k]
        out[1, k] = a[2] * m[0, k] - a[0] * m[2, k]
        out[2, k] = a[0] * m[1, k] - a[1] * m[0, k]


@numba.njit(cache=True, error_model="numpy", fastmath={"contract"})
def meant(own, functions, r, change, g):
    """Fill R, G − I (which has no rounding of I in it) and G, all (3, 3), of nine numbers."""
    a, b = functions[0], functions[1]
    x, y, z = own[0], own[1], own[2]
    xx, yy, zz, yz, xz, xy = own[3], own[4], own[5], own[6], own[7], own[8]
    # Scalars, not entries of arrays: the compiler cannot know that arrays are apart, and would read them again.
    for i in range(3):
        if i == 0:
            first, second, third = -b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
        elif i == 1:
            first, second, third = b * x * y + a * z, -b * (x * x + z * z), b * y * z - a * x
        else:
            first, second, third = b * x * z - a * y, b * y * z + a * x, -b * (x * x + y * y)
        r[i, 0], r[i, 1], r[i, 2] = first, second, third
        change[i, 0] = first * xx + second * xy + third * xz + first
        change[i, 1] = first * xy + second * yy + third * yz + second
        change[i, 2] = first * xz + second * yz + third * zz + third
        r[i, i] += 1.0
    change[0, 0], change[1, 1], change[2, 2] = change[0, 0] + xx, change[1, 1] + yy, change[2, 2] + zz
    change[0, 1], change[1, 0] = change[0, 1] + xy, change[1, 0] + xy
    change[0, 2], change[2, 0] = change[0, 2] + xz, change[2, 0] + xz
    change[1, 2], change[2, 1] = change[1, 2] + yz, change[2, 1] + yz
    for i in range(3):
        g[i, 0], g[i, 1], g[i, 2] = change[i, 0], change[i, 1], change[i, 2]
        g[i, i] += 1.0


@numba.njit(cache=True, error_model="numpy")
def left_jacobian(own, functions, j):
    """J (3, 3)."""
    b, c = functions[1], functions[2]
    x, y, z = own[0], own[1], own[2]
    s = x * x + y * y + z * z
    for i in range(3):
        for k in range(3):
            j[i, k] = c * own[i] * own[k]
        j[i, i] += 1.0 - c * s
    j[0, 1] -= b * z
    j[1, 0] += b * z
    j[0, 2] += b * y
    j[2, 0] -= b * y
    j[1, 2] -= b * x
    j[2, 1] += b * x


@numba.njit(cache=True, error_model="numpy")
def _stretch_columns(m, out):
    """Columns 3 … 8 of a tangent: M times each symmetric unit matrix; row 3 k + i is entry (i, k)."""
    for i in range(3):
        for k in range(3):
            for column in range(3, 9):
                out[3 * k + i, column] = 0.0
        for k in range(3):
            out[3 * k + i, 3 + k] = m[i, k]
        out[6 + i, 6], out[3 + i, 6] = m[i, 1], m[i, 2]
        out[6 + i, 7], out[i, 7] = m[i, 0], m[i, 2]
        out[3 + i, 8], out[i, 8] = m[i, 0], m[i, 1]


@numba.njit(cache=True, error_model="numpy")
def first_tangent(j, r, g, out):
    """(9, 9) DG: row 3 k + i is entry (i, k), columns are the nine numbers of a direction."""
    for m in range(3):
        for k in range(3):
            out[3 * k, m] = j[1, m] * g[2, k] - j[2, m] * g[1, k]
            out[3 * k + 1, m] = j[2, m] * g[0, k] - j[0, m] * g[2, k]
            out[3 * k + 2, m] = j[0, m] * g[1, k] - j[1, m] * g[0, k]
    _stretch_columns(r, out)


@numba.njit(cache=True, error_model="numpy")
def jacobian_change(own, along, functions, out):
    """(3, 3) whose columns are (DJ[e]) ωᵥ for the unit vectors e; `along` holds ωᵥ."""
    b, c, db, dc = functions[1], functions[2], functions[3], functions[4]
    x, y, z, p, q, r = own[0], own[1], own[2], along[0], along[1], along[2]
    o0, o1, o2 = y * r - z * q, z * p - x * r, x * q - y * p  # ω × ωᵥ
    dot = x * p + y * q + z * r
    s0 = 2.0 * (db * o0 + dc * (y * o2 - z * o1)) - c * p
    s1 = 2.0 * (db * o1 + dc * (z * o0 - x * o2)) - c * q
    s2 = 2.0 * (db * o2 + dc * (x * o1 - y * o0)) - c * r
    # e × (b ωᵥ + c ω × ωᵥ), and c ω × (e × ωᵥ) = c ((ω · ωᵥ) e − (ω · e) ωᵥ), of which the last is in s.
    t0, t1, t2 = b * p + c * o0, b * q + c * o1, b * r + c * o2
    out[0, 0], out[0, 1], out[0, 2] = s0 * x + c * dot, s0 * y + t2, s0 * z - t1
    out[1, 0], out[1, 1], out[1, 2] = s1 * x - t2, s1 * y + c * dot, s1 * z + t0
    out[2, 0], out[2, 1], out[2, 2] = s2 * x + t1, s2 * y - t0, s2 * z + c * dot


@numba.njit(cache=True, error_model="numpy")
def second_tangent(own, along, functions, j, r, g, out):
    """(9, 9) D²G[v, ·] for the nine numbers `along` of v, laid out as `first_tangent`."""
    bent, turn, turned, pulled, mixed = (
        np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    )  # fmt: skip
    jacobian_change(own, along, functions, bent)
    for i in range(3):
        turn[i] = j[i, 0] * along[0] + j[i, 1] * along[1] + j[i, 2] * along[2]
    stretch_matrix(along, mixed)
    product(r, mixed, pulled)
    left_cross(turn, r, turned)
    column, once, again = np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    for m in range(3):
        for i in range(3):
            column[i] = j[i, m]
        left_cross(column, g, once)
        left_cross(turn, once, mixed)
        left_cross(column, pulled, again)
        for i in range(3):
            column[i] = bent[i, m]
        left_cross(column, g, once)
        for i in range(3):
            for k in range(3):
                out[3 * k + i, m] = once[i, k] + mixed[i, k] + again[i, k]
    _stretch_columns(turned, out)


@numba.njit(cache=True, error_model="numpy")
def gradient(u, corners, gradients, out):
    """(3, 3) of a field u (n, 3) in one tetrahedron: row i, column k is ∂uᵢ/∂xₖ."""
    for i in range(3):
        origin = u[corners[0], i]
        a, b, c = u[corners[1], i] - origin, u[corners[2], i] - origin, u[corners[3], i] - origin
        for k in range(3):
            out[i, k] = a * gradients[0, k] + b * gradients[1, k] + c * gradients[2, k]


@numba.njit(cache=True, error_model="numpy")
def measure(u, tet, gradients, d, out):
    """The nine numbers of the displacement u (n, 3) in one tetrahedron; d (3, 3) is scratch."""
    gradient(u, tet, gradients, d)
    out[0], out[1], out[2] = 0.5 * (d[2, 1] - d[1, 2]), 0.5 * (d[0, 2] - d[2, 0]), 0.5 * (d[1, 0] - d[0, 1])
    out[3], out[4], out[5] = d[0, 0], d[1, 1], d[2, 2]
    out[6], out[7], out[8] = 0.5 * (d[1, 2] + d[2, 1]), 0.5 * (d[0, 2] + d[2, 0]), 0.5 * (d[0, 1] + d[1, 0])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_numbers(u, tets, gradients, out):
    """(m, 9) the nine numbers of a displacement (n, 3) in every tetrahedron."""
    for t in numba.prange(len(tets)):
        d = np.empty((3, 3))
        measure(u, tets[t], gradients[t], d, out[t])


@numba.njit(cache=True, inline="always", error_model="numpy")
def push(change, gradients, volume, out):
    """What a matrix (entry (i, k) at 3 k + i) asks of the corners (4, 3), times the volume."""
    for i in range(3):
        out[0, i] = 0.0
        for a in range(3):
            part = volume * (
                change[i] * gradients[a, 0] + change[3 + i] * gradients[a, 1] + change[6 + i] * gradients[a, 2]
            )
            out[a + 1, i] = part
            out[0, i] -= part


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_pushes(order, own, first, second, gradients, volumes, out):
    """(m, 4, 3) volume × (G − I, DG[first] or D²G[first, second], by the order) times the corners' gradients.

    `own`, `first`, `second` (m, 9) are nine numbers of each tetrahedron.
    """
    for chunk in numba.prange((len(own) + CHUNK - 1) // CHUNK):
        r, change, g, j = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        tangent, flat = np.empty((9, 9)), np.empty(9)
        for t in range(chunk * CHUNK, min(len(own), (chunk + 1) * CHUNK)):
            w = own[t]
            functions = rotation_functions(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
            meant(w, functions, r, change, g)
            if order == 0:
                for i in range(3):
                    for k in range(3):
                        flat[3 * k + i] = change[i, k]
            else:
                left_jacobian(w, functions, j)
                if order == 1:
                    first_tangent(j, r, g, tangent)
                else:
                    second_tangent(w, first[t], functions, j, r, g, tangent)
                along = first[t] if order == 1 else second[t]
                for i in range(9):
                    flat[i] = 0.0
                    for k in range(9):
                        flat[i] += tangent[i, k] * along[k]
            push(flat, gradients[t], volumes[t], out[t])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_rows(order, u, v, tets, gradients, volumes, out):
    """(r, n, 3) as `fill_pushes` of order 0 or 1, summed at the vertices: a thread takes whole rows.

    `u` (1 or r, n, 3) are displacements, `v` (r, n, 3) how they change.
    """
    for row in numba.prange(len(out)):
        r, change, g, j, d = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
        own, along, flat, turn, pushed = np.empty(9), np.empty(9), np.empty(9), np.empty(3), np.empty((4, 3))
        still, moves, sums = u[0], v[row], out[row]
        if len(u) > 1:
            still = u[row]
        sums[:] = 0.0
        for t in range(len(tets)):
            measure(still, tets[t], gradients[t], d, own)
            functions = rotation_functions(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
            meant(own, functions, r, change, g)
            if order == 1:
                measure(moves, tets[t], gradients[t], d, along)
                left_jacobian(own, functions, j)
                for i in range(3):
                    turn[i] = j[i, 0] * along[0] + j[i, 1] * along[1] + j[i, 2] * along[2]
                stretch_matrix(along, d)
                product(r, d, change)
                left_cross(turn, g, d)
                for i in range(3):
                    for k in range(3):
                        change[i, k] += d[i, k]
            for i in range(3):
                for k in range(3):
                    flat[3 * k + i] = change[i, k]
            push(flat, gradients[t], volumes[t], pushed)
            for a in range(4):
                for i in range(3):
                    sums[tets[t, a], i] += pushed[a, i]
