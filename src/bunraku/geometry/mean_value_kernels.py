"""What values at the vertices of a closed surface are inside it, by mean value coordinates [Ju 2005]; winding numbers.

Compiled, so imported by those who call it when they do. Seen from a point, a face is a triangle on the unit sphere. The
mean m of its unit normals is half the sum, over its edges, of the angle an edge is seen under times the normal of the
plane through the edge and the point; over a closed surface these means cancel. In the directions u to the corners, d
away, it is m = Σ w d u, so that the w of all faces are weights with which the vertices' places give the point.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

_ON = 1e-9
"""[rad] by which a face is seen under less than half the sphere, or off edge-on, and counts as such"""


@njit(inline="always", error_model="numpy")
def _cross(a, b, out):
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(inline="always", error_model="numpy")
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(error_model="numpy")
def _directions(point, x, face, u, d):
    """Unit vectors u (3, 3) to the corners of a face and their distances d (3,)."""
    for i in range(3):
        for axis in range(3):
            u[i, axis] = x[face[i], axis] - point[axis]
        d[i] = math.sqrt(_dot(u[i], u[i]))
        for axis in range(3):
            u[i, axis] /= d[i] if d[i] > 0.0 else 1.0


@njit(error_model="numpy")
def _face_weights(u, d, angle, cross, mean, w):
    """Weights w (3,) of a face's corners; True where the point is on the face, so that no others count."""
    half = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        apart = 0.0
        for axis in range(3):
            apart += (u[j, axis] - u[k, axis]) ** 2
        angle[i] = 2.0 * math.asin(min(0.5 * math.sqrt(apart), 1.0))
        half += 0.5 * angle[i]
        _cross(u[j], u[k], cross[i])
    if math.pi - half < _ON:  # areas of the three parts in which the point divides the face
        for i in range(3):
            w[i] = math.sin(angle[i]) * d[(i + 1) % 3] * d[(i + 2) % 3]
        return True
    w[:] = 0.0
    volume = _dot(u[0], cross[0])
    if abs(volume) < _ON:  # seen edge-on
        return False
    mean[:] = 0.0
    for i in range(3):
        for axis in range(3):
            mean[axis] += 0.5 * angle[i] / math.sin(angle[i]) * cross[i, axis]
    for i in range(3):
        w[i] = _dot(cross[i], mean) / (d[i] * volume)
    return False


@njit(error_model="numpy")
def _corner_weights(d, w):
    """Weights of a face one of whose corners the point may be; whether it is."""
    for i in range(3):
        w[i] = 1.0 if d[i] == 0.0 else 0.0
    return w.max() > 0.0


@njit(parallel=True, cache=True, error_model="numpy")
def fill_mean_values(points, x, faces, values, out):
    """Values (k, c) at points (k, 3) inside closed faces (f, 3) of x (n, 3), from values (n, c) at the vertices.

    The faces all look the same way. Linear values come out exact.
    """
    for at in prange(len(points)):
        u, cross, mean = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
        d, angle, w = np.empty(3), np.empty(3), np.empty(3)
        total, alone, f = 0.0, False, 0
        out[at] = 0.0
        while f < len(faces) and not alone:
            _directions(points[at], x, faces[f], u, d)
            alone = _corner_weights(d, w) or _face_weights(u, d, angle, cross, mean, w)
            if alone:
                total, out[at] = 0.0, 0.0
            for i in range(3):
                total += w[i]
                for c in range(values.shape[1]):
                    out[at, c] += w[i] * values[faces[f, i], c]
            f += 1
        out[at] /= total


@njit(parallel=True, cache=True, error_model="numpy")
def fill_windings(points, x, faces, out):
    """How often closed faces (f, 3) of x (n, 3) wind about each of points (k, 3), by the solid angles they are seen
    under."""
    for at in prange(len(points)):
        u, cross, d = np.empty((3, 3)), np.empty(3), np.empty(3)
        total = 0.0
        for f in range(len(faces)):
            _directions(points[at], x, faces[f], u, d)
            _cross(u[1], u[2], cross)
            below = 1.0 + _dot(u[0], u[1]) + _dot(u[1], u[2]) + _dot(u[2], u[0])
            total += 2.0 * math.atan2(_dot(u[0], cross), below)
        out[at] = total / (4.0 * math.pi)
