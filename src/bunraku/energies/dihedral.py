"""Signed dihedral angles of hinges with their first and second derivatives.

A hinge is (start, end, corner of the first face, corner of the second). The angle turns the first
normal into the second about the edge; it is zero when flat and independent of scale.
"""

from __future__ import annotations

import numba
import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector, alike
from bunraku.geometry.vectors import between, cross, dot


def angles(x: Points, hinges: Integers, near: Vector) -> Vector:
    """(m,) dihedral angles [rad], taken on the branch closest to `near` (m,) so that they never wrap."""
    out = np.empty(len(hinges))
    _angles(alike(x), alike(hinges), alike(near), out)
    return out


def angle_gradients(x: Points, hinges: Integers) -> Array:
    """(m, 12) derivative of each angle by its four points [rad/m]."""
    out = np.empty((len(hinges), 12))
    _gradients(alike(x), alike(hinges), out)
    return out


def angle_hessians(x: Points, hinges: Integers) -> Array:
    """(m, 12, 12) second derivative of each angle [rad/m²]."""
    out = np.empty((len(hinges), 12, 12))
    _hessians(alike(x), alike(hinges), out)
    return out


_FLOOR, _TINY = 1e-24, 1e-300  # a face flattened to a line feels no bending, instead of an infinite one


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _angles(x, hinges, near, out):
    for h in numba.prange(len(hinges)):
        out[h] = _angle(x, hinges[h], near[h])


@numba.njit(cache=True, error_model="numpy")
def _angle(x, hinge, near):
    e, r2, r3 = between(x, hinge[1], hinge[0]), between(x, hinge[2], hinge[0]), between(x, hinge[3], hinge[0])
    first, second = cross(e, r2), cross(r3, e)
    angle = np.arctan2(dot(cross(first, second), e), np.sqrt(dot(e, e)) * dot(first, second))
    return angle + 2.0 * np.pi * np.rint((near - angle) / (2.0 * np.pi))


@numba.njit(cache=True, error_model="numpy")
def _gradient(x, hinge, out):
    """Derivative of one angle (12,): −|e| n/|n|² at the two corners, balanced on the edge."""
    e, r2, r3 = between(x, hinge[1], hinge[0]), between(x, hinge[2], hinge[0]), between(x, hinge[3], hinge[0])
    first, second = cross(e, r2), cross(r3, e)
    length = np.sqrt(dot(e, e))
    floor = _FLOOR * length**4 + _TINY
    scale2, scale3 = -length / (dot(first, first) + floor), -length / (dot(second, second) + floor)
    square = length * length + _TINY
    t2, t3 = dot(r2, e) / square, dot(r3, e) / square
    for axis in range(3):
        g2, g3 = scale2 * first[axis], scale3 * second[axis]
        out[axis] = -(1.0 - t2) * g2 - (1.0 - t3) * g3
        out[3 + axis] = -t2 * g2 - t3 * g3
        out[6 + axis] = g2
        out[9 + axis] = g3


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _gradients(x, hinges, out):
    for h in numba.prange(len(hinges)):
        _gradient(x, hinges[h], out[h])


@numba.njit(cache=True, error_model="numpy")
def _corner_rate(e, de, r, dr, sign, g, dg):
    """Corner gradient g = −|e| n/|n|² with n = ±e×r, and its change dg under (de, dr); returns t and dt."""
    n, n1, n2 = cross(e, r), cross(de, r), cross(e, dr)
    square, length = dot(n, n), np.sqrt(dot(e, e))
    stretch = dot(e, de) / length
    slope = 0.0
    for axis in range(3):
        slope += n[axis] * (n1[axis] + n2[axis])
    for axis in range(3):
        dn = n1[axis] + n2[axis]
        g[axis] = -sign * length * n[axis] / square
        dg[axis] = -sign * (
            stretch * n[axis] / square + length * dn / square - 2.0 * length * n[axis] * slope / (square * square)
        )
    t = dot(r, e) / (length * length)
    return t, (dot(dr, e) + dot(r, de) - 2.0 * t * dot(e, de)) / (length * length)


@numba.njit(cache=True, error_model="numpy")
def _along(axis, size):
    """A vector along an axis."""
    return size if axis == 0 else 0.0, size if axis == 1 else 0.0, size if axis == 2 else 0.0


@numba.njit(cache=True, error_model="numpy")
def _hessian(x, hinge, out):
    e, r2, r3 = between(x, hinge[1], hinge[0]), between(x, hinge[2], hinge[0]), between(x, hinge[3], hinge[0])
    g2, dg2, g3, dg3 = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for column in range(12):  # derivative along each coordinate in turn
        corner, axis = column // 3, column % 3
        back = -1.0 if corner == 0 else 0.0
        de = _along(axis, 1.0 if corner == 1 else back)
        dr2, dr3 = _along(axis, 1.0 if corner == 2 else back), _along(axis, 1.0 if corner == 3 else back)
        t2, dt2 = _corner_rate(e, de, r2, dr2, 1.0, g2, dg2)
        t3, dt3 = _corner_rate(e, de, r3, dr3, -1.0, g3, dg3)
        for axis in range(3):
            out[axis, column] = dt2 * g2[axis] - (1.0 - t2) * dg2[axis] + dt3 * g3[axis] - (1.0 - t3) * dg3[axis]
            out[3 + axis, column] = -dt2 * g2[axis] - t2 * dg2[axis] - dt3 * g3[axis] - t3 * dg3[axis]
            out[6 + axis, column] = dg2[axis]
            out[9 + axis, column] = dg3[axis]


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _hessians(x, hinges, out):
    for h in numba.prange(len(hinges)):
        _hessian(x, hinges[h], out[h])
