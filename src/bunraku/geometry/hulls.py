"""The point nearest to zero of a triangle, or of a parallelogram: of all vectors between a pair of elements."""

from __future__ import annotations

from numba import njit


@njit(error_model="numpy")
def nearest_of(r, ring):
    """The point nearest to zero of a triangle, or of a parallelogram that is cut into two."""
    n0, n1, n2 = _nearest_on_triangle(r[0], r[1], r[2])
    if ring:
        m0, m1, m2 = _nearest_on_triangle(r[0], r[2], r[3])
        if m0 * m0 + m1 * m1 + m2 * m2 < n0 * n0 + n1 * n1 + n2 * n2:
            return m0, m1, m2
    return n0, n1, n2


@njit(error_model="numpy")
def _nearest_on_triangle(a, b, c):
    """By projection where zero's foot is inside, else on the nearest side; triangles may be segments or points."""
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    square = n0 * n0 + n1 * n1 + n2 * n2
    uu, vv = u0 * u0 + u1 * u1 + u2 * u2, v0 * v0 + v1 * v1 + v2 * v2
    if square > 1e-24 * uu * vv:
        # Weights of b and c: of (−a) in the basis u, v.
        s = -((a[1] * v2 - a[2] * v1) * n0 + (a[2] * v0 - a[0] * v2) * n1 + (a[0] * v1 - a[1] * v0) * n2) / square
        t = -((u1 * a[2] - u2 * a[1]) * n0 + (u2 * a[0] - u0 * a[2]) * n1 + (u0 * a[1] - u1 * a[0]) * n2) / square
        if s >= 0.0 and t >= 0.0 and s + t <= 1.0:
            level = (a[0] * n0 + a[1] * n1 + a[2] * n2) / square
            return level * n0, level * n1, level * n2
    p0, p1, p2 = _nearest_on_segment(a, b)
    q0, q1, q2 = _nearest_on_segment(b, c)
    r0, r1, r2 = _nearest_on_segment(c, a)
    to_p, to_q, to_r = p0 * p0 + p1 * p1 + p2 * p2, q0 * q0 + q1 * q1 + q2 * q2, r0 * r0 + r1 * r1 + r2 * r2
    if to_p <= to_q and to_p <= to_r:
        return p0, p1, p2
    return (q0, q1, q2) if to_q <= to_r else (r0, r1, r2)


@njit(error_model="numpy")
def _nearest_on_segment(a, b):
    e0, e1, e2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    square = e0 * e0 + e1 * e1 + e2 * e2
    along = 0.0
    if square > 0.0:
        along = min(max(-(a[0] * e0 + a[1] * e1 + a[2] * e2) / square, 0.0), 1.0)
    return a[0] + along * e0, a[1] + along * e1, a[2] + along * e2
