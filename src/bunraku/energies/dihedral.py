"""Signed dihedral angles of hinges with their first and second derivatives.

A hinge is (start, end, corner of the first face, corner of the second). The angle turns the first
normal into the second about the edge; it is zero when flat and independent of scale.
"""

from __future__ import annotations

import numba
import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector


def angles(x: Points, hinges: Integers, near: Vector) -> Vector:
    """(m,) dihedral angles [rad], taken on the branch closest to `near` (m,) so that they never wrap."""
    out = np.empty(len(hinges))
    _angles(x, hinges, near, out)
    return out


def angle_gradients(x: Points, hinges: Integers) -> Array:
    """(m, 12) derivative of each angle by its four points [rad/m]."""
    out = np.empty((len(hinges), 12))
    _gradients(x, hinges, out)
    return out


def angle_hessians(x: Points, hinges: Integers) -> Array:
    """(m, 12, 12) second derivative of each angle [rad/m²]."""
    out = np.empty((len(hinges), 12, 12))
    _hessians(x, hinges, out)
    return out


_FLOOR, _TINY = 1e-24, 1e-300  # a face flattened to a line feels no bending, instead of an infinite one


@numba.njit(cache=True, inline="always", error_model="numpy")
def _cross(a, b, out):
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@numba.njit(cache=True, inline="always", error_model="numpy")
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _angles(x, hinges, near, out):
    for h in numba.prange(len(hinges)):
        p, r = x[hinges[h, 0]], np.empty((3, 3))
        for k in range(3):
            for axis in range(3):
                r[k, axis] = x[hinges[h, k + 1], axis] - p[axis]
        first, second, turn = np.empty(3), np.empty(3), np.empty(3)
        _cross(r[0], r[1], first)
        _cross(r[2], r[0], second)
        _cross(first, second, turn)
        length = np.sqrt(_dot(r[0], r[0]))
        angle = np.arctan2(_dot(turn, r[0]), length * _dot(first, second))
        out[h] = angle + 2.0 * np.pi * np.rint((near[h] - angle) / (2.0 * np.pi))


@numba.njit(cache=True, error_model="numpy")
def _gradient(x0, x1, x2, x3, out):
    """Derivative of one angle (12,): −|e| n/|n|² at the two corners, balanced on the edge."""
    e, r2, r3 = x1 - x0, x2 - x0, x3 - x0
    first, second = np.empty(3), np.empty(3)
    _cross(e, r2, first)
    _cross(r3, e, second)
    length = np.sqrt(_dot(e, e))
    floor = _FLOOR * length**4 + _TINY
    scale2, scale3 = -length / (_dot(first, first) + floor), -length / (_dot(second, second) + floor)
    square = length * length + _TINY
    t2, t3 = _dot(r2, e) / square, _dot(r3, e) / square
    for axis in range(3):
        g2, g3 = scale2 * first[axis], scale3 * second[axis]
        out[axis] = -(1.0 - t2) * g2 - (1.0 - t3) * g3
        out[3 + axis] = -t2 * g2 - t3 * g3
        out[6 + axis] = g2
        out[9 + axis] = g3


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _gradients(x, hinges, out):
    for h in numba.prange(len(hinges)):
        _gradient(x[hinges[h, 0]], x[hinges[h, 1]], x[hinges[h, 2]], x[hinges[h, 3]], out[h])


@numba.njit(cache=True, error_model="numpy")
def _corner_rate(e, de, r, dr, sign, g, dg):
    """Corner gradient g = −|e| n/|n|² with n = ±e×r, and its change dg under (de, dr); returns t and dt."""
    n, n1, n2 = np.empty(3), np.empty(3), np.empty(3)
    _cross(e, r, n)
    _cross(de, r, n1)
    _cross(e, dr, n2)
    square, length = _dot(n, n), np.sqrt(_dot(e, e))
    stretch = _dot(e, de) / length
    slope = 0.0
    for axis in range(3):
        slope += n[axis] * (n1[axis] + n2[axis])
    for axis in range(3):
        dn = n1[axis] + n2[axis]
        g[axis] = -sign * length * n[axis] / square
        dg[axis] = -sign * (
            stretch * n[axis] / square + length * dn / square - 2.0 * length * n[axis] * slope / (square * square)
        )
    t = _dot(r, e) / (length * length)
    return t, (_dot(dr, e) + _dot(r, de) - 2.0 * t * _dot(e, de)) / (length * length)


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _hessians(x, hinges, out):
    for h in numba.prange(len(hinges)):
        x0, e = x[hinges[h, 0]], x[hinges[h, 1]] - x[hinges[h, 0]]
        r2, r3 = x[hinges[h, 2]] - x0, x[hinges[h, 3]] - x0
        g2, dg2, g3, dg3 = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
        for column in range(12):  # derivative along each coordinate in turn
            move = np.zeros((4, 3))
            move[column // 3, column % 3] = 1.0
            de, dr2, dr3 = move[1] - move[0], move[2] - move[0], move[3] - move[0]
            t2, dt2 = _corner_rate(e, de, r2, dr2, 1.0, g2, dg2)
            t3, dt3 = _corner_rate(e, de, r3, dr3, -1.0, g3, dg3)
            for axis in range(3):
                out[h, axis, column] = dt2 * g2[axis] - (1.0 - t2) * dg2[axis] + dt3 * g3[axis] - (1.0 - t3) * dg3[axis]
                out[h, 3 + axis, column] = -dt2 * g2[axis] - t2 * dg2[axis] - dt3 * g3[axis] - t3 * dg3[axis]
                out[h, 6 + axis, column] = dg2[axis]
                out[h, 9 + axis, column] = dg3[axis]
