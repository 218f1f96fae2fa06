"""Signed SVD and symmetric eigenpairs of 3 × 3 matrices by Jacobi rotations, made for the inside of element kernels.

One-sided rotations [Hestenes 1958] never square the matrix: small singular values are as accurate, relative to
themselves, as large ones, and nearly flat or repeated ones cost nothing. `LANES` matrices are turned at once, entries
of one beside those of the next and without a branch, so that the compiler makes vectors of them: seven times as fast as
one by one. A matrix in lanes is a flat array: entry (i, k) of lane l is at (3 k + i) LANES + l. No library is called.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from bunraku.contracts import Array

LANES = 32
"""matrices that are decomposed at once"""
_ORTHOGONAL = 1e-30  # squared cosine of two columns that count as orthogonal: a few roundings of a dot product
_SWEEPS = 24  # four or five are needed
_NOTHING = 1e-150  # length of a column, the longest being of the order of one, that has no direction


@numba.njit(cache=True, error_model="numpy")
def signed_svd(f, u, s, v):
    """F = U diag(s) Vᵀ in each lane, with U and V rotations and s₁ ≥ s₂ ≥ |s₃|: s₃ < 0 where F turns space inside out.

    `f` (9 LANES,) is read; `u` (9 LANES,), `s` (3 LANES,), `v` (9 LANES,) are filled.
    """
    for lane in range(LANES):
        scale = 0.0
        for k in range(9):
            scale = max(scale, abs(f[k * LANES + lane]))
        scale = 1.0 if scale < 1e-300 else scale
        s[lane] = scale
        for k in range(9):
            u[k * LANES + lane] = f[k * LANES + lane] / scale
            v[k * LANES + lane] = 1.0 if k % 4 == 0 else 0.0
    # Columns as arrays of their own: one compiled body serves all three pairs of them.
    a, b, c = u[: 3 * LANES], u[3 * LANES : 6 * LANES], u[6 * LANES :]
    d, e, g = v[: 3 * LANES], v[3 * LANES : 6 * LANES], v[6 * LANES :]
    for _ in range(_SWEEPS):
        turned = _turn(a, b, d, e)
        turned += _turn(a, c, d, g)
        turned += _turn(b, c, e, g)
        if turned == 0:
            break
    _order(a, b, d, e)
    _order(a, c, d, g)
    _order(b, c, e, g)
    for lane in range(LANES):
        _normalise(u, s, lane)


@numba.njit(cache=True, error_model="numpy")
def _turn(p, q, v, w):
    """Turn columns p and q, and with them v and w, until p and q stand on each other; in how many lanes it did."""
    turned = 0
    for lane in range(LANES):
        p0, p1, p2 = p[lane], p[LANES + lane], p[2 * LANES + lane]
        q0, q1, q2 = q[lane], q[LANES + lane], q[2 * LANES + lane]
        first, second = p0 * p0 + p1 * p1 + p2 * p2, q0 * q0 + q1 * q1 + q2 * q2
        mixed = p0 * q0 + p1 * q1 + p2 * q2
        crooked = mixed * mixed > _ORTHOGONAL * first * second
        c, s = _rotation((second - first) / (2.0 * (mixed if crooked else 1.0)))
        c, s = c if crooked else 1.0, s if crooked else 0.0
        p[lane], q[lane] = c * p0 - s * q0, s * p0 + c * q0
        p[LANES + lane], q[LANES + lane] = c * p1 - s * q1, s * p1 + c * q1
        p[2 * LANES + lane], q[2 * LANES + lane] = c * p2 - s * q2, s * p2 + c * q2
        p0, p1, p2 = v[lane], v[LANES + lane], v[2 * LANES + lane]
        q0, q1, q2 = w[lane], w[LANES + lane], w[2 * LANES + lane]
        v[lane], w[lane] = c * p0 - s * q0, s * p0 + c * q0
        v[LANES + lane], w[LANES + lane] = c * p1 - s * q1, s * p1 + c * q1
        v[2 * LANES + lane], w[2 * LANES + lane] = c * p2 - s * q2, s * p2 + c * q2
        turned += 1 if crooked else 0
    return turned


@numba.njit(cache=True, inline="always", error_model="numpy")
def _rotation(cotangent):
    """Cosine and sine of the smaller angle whose double has that cotangent."""
    t = math.copysign(1.0 / (abs(cotangent) + math.sqrt(1.0 + cotangent * cotangent)), cotangent)
    c = 1.0 / math.sqrt(1.0 + t * t)
    return c, c * t


@numba.njit(cache=True, error_model="numpy")
def _order(p, q, v, w):
    """Swap columns where q is longer than p, and v and w with them; one changes its sign: v, w stay of a rotation."""
    for lane in range(LANES):
        first = second = 0.0
        for i in range(3):
            first += p[i * LANES + lane] ** 2
            second += q[i * LANES + lane] ** 2
        swap = first < second
        for i in range(3):
            a, b = p[i * LANES + lane], q[i * LANES + lane]
            p[i * LANES + lane], q[i * LANES + lane] = b if swap else a, -a if swap else b
            a, b = v[i * LANES + lane], w[i * LANES + lane]
            v[i * LANES + lane], w[i * LANES + lane] = b if swap else a, -a if swap else b


@numba.njit(cache=True, error_model="numpy")
def _normalise(u, s, lane):
    """Orthogonal columns into a rotation and their lengths; where one has no length, any direction that fits.

    s holds the scale of the matrix in its first entry.
    """
    scale = s[lane]
    a, b, c = u[lane], u[LANES + lane], u[2 * LANES + lane]
    x, y, z = u[3 * LANES + lane], u[4 * LANES + lane], u[5 * LANES + lane]
    long, middle = math.sqrt(a * a + b * b + c * c), math.sqrt(x * x + y * y + z * z)
    if long < _NOTHING:
        a, b, c = 1.0, 0.0, 0.0
    else:
        a, b, c = a / long, b / long, c / long
    along = a * x + b * y + c * z
    if middle < _NOTHING or abs(along) > 0.5 * middle:  # lost below rounding
        x, y, z = _across(a, b, c)
    else:
        x, y, z = x - along * a, y - along * b, z - along * c
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
    d, e, f = b * z - c * y, c * x - a * z, a * y - b * x
    short = d * u[6 * LANES + lane] + e * u[7 * LANES + lane] + f * u[8 * LANES + lane]
    u[lane], u[LANES + lane], u[2 * LANES + lane] = a, b, c
    u[3 * LANES + lane], u[4 * LANES + lane], u[5 * LANES + lane] = x, y, z
    u[6 * LANES + lane], u[7 * LANES + lane], u[8 * LANES + lane] = d, e, f
    s[lane], s[LANES + lane], s[2 * LANES + lane] = long * scale, middle * scale, short * scale


@numba.njit(cache=True, error_model="numpy")
def _across(a, b, c):
    """A unit vector that stands on the unit vector (a, b, c)."""
    if abs(a) <= abs(b) and abs(a) <= abs(c):
        length = math.sqrt(b * b + c * c)
        return 0.0, -c / length, b / length
    if abs(b) <= abs(c):
        length = math.sqrt(a * a + c * c)
        return c / length, 0.0, -a / length
    length = math.sqrt(a * a + b * b)
    return -b / length, a / length, 0.0


@numba.njit(cache=True, error_model="numpy")
def take_lane(lanes, lane, out):
    """The matrix of one lane as (3, 3)."""
    for i in range(3):
        for k in range(3):
            out[i, k] = lanes[(3 * k + i) * LANES + lane]


@numba.njit(cache=True, error_model="numpy")
def put_lane(given, lane, lanes):
    """A matrix (3, 3) into one lane."""
    for i in range(3):
        for k in range(3):
            lanes[(3 * k + i) * LANES + lane] = given[i, k]


@numba.njit(cache=True, error_model="numpy")
def symmetric_eigen(a, values, vectors):
    """Eigenpairs of a symmetric matrix (3, 3), in no order; `a` is destroyed, columns of `vectors` go with `values`."""
    for i in range(3):
        for k in range(3):
            vectors[i, k] = 1.0 if i == k else 0.0
    for _ in range(_SWEEPS):
        done = True
        for p in range(2):
            for q in range(p + 1, 3):
                if abs(a[p, q]) <= 1e-17 * (abs(a[p, p]) + abs(a[q, q])):
                    continue
                done = False
                c, w = _rotation((a[q, q] - a[p, p]) / (2.0 * a[p, q]))
                _turn_columns(a, p, q, c, w)
                for k in range(3):
                    first, second = a[p, k], a[q, k]
                    a[p, k], a[q, k] = c * first - w * second, w * first + c * second
                a[p, q] = a[q, p] = 0.0
                _turn_columns(vectors, p, q, c, w)
        if done:
            break
    for i in range(3):
        values[i] = a[i, i]


@numba.njit(cache=True, inline="always", error_model="numpy")
def _turn_columns(m, p, q, c, w):
    for i in range(3):
        first, second = m[i, p], m[i, q]
        m[i, p], m[i, q] = c * first - w * second, w * first + c * second


@numba.njit(cache=True, error_model="numpy")
def clamp_symmetric(a, values, vectors):
    """Leave of a symmetric matrix (3, 3), in place, the part without negative eigenvalues; the others are scratch."""
    # By Sylvester's minors: most matrices of elements near rest need no eigenpairs.
    minor = a[0, 0] * a[1, 1] - a[0, 1] * a[0, 1]
    det = (
        a[2, 2] * minor + a[0, 1] * a[1, 2] * a[0, 2] * 2.0 - a[0, 0] * a[1, 2] * a[1, 2] - a[1, 1] * a[0, 2] * a[0, 2]
    )
    if minor > 0.0 and a[0, 0] > 0.0 and det > 0.0:
        return
    if minor > 0.0 and a[0, 0] < 0.0 and det < 0.0:
        a[:, :] = 0.0
        return
    symmetric_eigen(a, values, vectors)
    for i in range(3):
        for k in range(i, 3):
            total = 0.0
            for j in range(3):
                total += max(values[j], 0.0) * vectors[i, j] * vectors[k, j]
            a[i, k] = a[k, i] = total


def signed_svds(matrices: Array) -> tuple[Array, Array, Array]:
    """U (m, 3, 3), s (m, 3), V (m, 3, 3) of matrices (m, 3, 3): U diag(s) Vᵀ, U and V rotations, s₁ ≥ s₂ ≥ |s₃|."""
    given = np.ascontiguousarray(matrices, dtype=np.float64)
    u, s, v = np.empty_like(given), np.empty(given.shape[:2]), np.empty_like(given)
    _all(given, u, s, v)
    return u, s, v


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _all(given, u, s, v):
    for chunk in numba.prange((len(given) + LANES - 1) // LANES):
        f, left, right, values = np.zeros(9 * LANES), np.empty(9 * LANES), np.empty(9 * LANES), np.empty(3 * LANES)
        first, count = chunk * LANES, min(LANES, len(given) - chunk * LANES)
        for lane in range(count):
            put_lane(given[first + lane], lane, f)
        signed_svd(f, left, values, right)
        for lane in range(count):
            take_lane(left, lane, u[first + lane])
            take_lane(right, lane, v[first + lane])
            for k in range(3):
                s[first + lane, k] = values[k * LANES + lane]
