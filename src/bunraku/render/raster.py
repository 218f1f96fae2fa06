"""Which triangle a sample of the picture sees: a z-buffer by edge functions.

Seen from the eye at the origin along d, the triangle a, b, c is hit at depth t with barycentric weights w
where t d = w₀ a + w₁ b + w₂ c. By Cramer's rule w₀/t = d·(b × c) / a·(b × c), and so on: *linear* in the
pixel, also for triangles that reach behind the eye, so nothing is ever clipped. The sample is inside where
all three are ≥ 0, and their sum is 1/t. The numerators of a shared edge are exactly opposite in its two
triangles: no cracks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bunraku.contracts import Array, Faces, Integers, Points

SPAN_FROM = 8
"""[pixels] wider triangles solve for the ends of each row; for narrower ones testing every pixel is faster"""


class Triangles(NamedTuple):
    """What drawing needs of each of f triangles."""

    planes: Array
    """(f, 3, 3): planes[f, i] · (u, v, 1) · scale[f] is weight i over depth at pixel (u, v) [1/m]"""
    scale: Array
    """(f,) ≥ 0"""
    bounds: Integers
    """(f, 4) first column, last + 1, first row, last + 1; empty for what cannot be seen"""
    front: NDArray[np.bool_]
    """(f,) whether the outside is seen"""


@njit(nogil=True, error_model="numpy")
def row_span(x0, x1, shift, a0, r0, a1, r1, a2, r2):
    """First and last + 1 pixel of a row where all aᵢ x + rᵢ may be ≥ 0: generous by a pixel."""
    low, high = float(x0), float(x1)
    for slope, rest in ((a0, r0), (a1, r1), (a2, r2)):
        if slope > 0.0:
            low = max(low, -rest / slope - shift - 1.0)
        elif slope < 0.0:
            high = min(high, -rest / slope - shift + 2.0)
        elif rest < 0.0:
            return x0, x0
    if not low < high:
        return x0, x0
    return int(low), int(high)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_rows(planes, scales, bounds, offsets, first, nearness, seen):
    """Draw all triangles into the rows from `first` on.

    planes, scales, bounds of `Triangles`; offsets (s, 2) sample positions in a pixel. Updated: nearness
    (s, rows, width) = 1/depth and seen (s, rows, width) = triangle.
    """
    samples, rows, _ = seen.shape
    for f in range(len(scales)):
        top, bottom = max(bounds[f, 2], first), min(bounds[f, 3], first + rows)
        if top >= bottom:
            continue
        x0, x1, scale = bounds[f, 0], bounds[f, 1], scales[f]
        a0, b0, c0 = planes[f, 0, 0], planes[f, 0, 1], planes[f, 0, 2]
        a1, b1, c1 = planes[f, 1, 0], planes[f, 1, 1], planes[f, 1, 2]
        a2, b2, c2 = planes[f, 2, 0], planes[f, 2, 1], planes[f, 2, 2]
        for s in range(samples):
            dx, dy = offsets[s, 0], offsets[s, 1]
            for row in range(top, bottom):
                y = row + dy
                r0, r1, r2 = b0 * y + c0, b1 * y + c1, b2 * y + c2
                start, stop = x0, x1
                if x1 - x0 > SPAN_FROM:
                    start, stop = row_span(x0, x1, dx, a0, r0, a1, r1, a2, r2)
                for column in range(start, stop):
                    x = column + dx
                    e0, e1, e2 = a0 * x + r0, a1 * x + r1, a2 * x + r2
                    if e0 >= 0.0 and e1 >= 0.0 and e2 >= 0.0:
                        near = np.float32((e0 + e1 + e2) * scale)
                        # Strictly nearer: of equals the first triangle wins, always.
                        if near > nearness[s, row - first, column]:
                            nearness[s, row - first, column] = near
                            seen[s, row - first, column] = f


@njit(nogil=True, error_model="numpy")
def _pixel_bounds(x, faces, f, projection, width, height, bounds):
    """Columns and rows triangle f may touch; all of them where it reaches behind the eye."""
    low_u, low_v, high_u, high_v = np.inf, np.inf, -np.inf, -np.inf
    behind = 0
    for k in range(3):
        p0, p1, p2 = x[faces[f, k], 0], x[faces[f, k], 1], x[faces[f, k], 2]
        depth = projection[2, 0] * p0 + projection[2, 1] * p1 + projection[2, 2] * p2
        if depth <= 1e-9 * (abs(p0) + abs(p1) + abs(p2)):
            behind += 1
            continue
        u = (projection[0, 0] * p0 + projection[0, 1] * p1 + projection[0, 2] * p2) / depth
        v = (projection[1, 0] * p0 + projection[1, 1] * p1 + projection[1, 2] * p2) / depth
        low_u, high_u = min(low_u, u), max(high_u, u)
        low_v, high_v = min(low_v, v), max(high_v, v)
    if behind == 3:
        return
    if behind > 0:
        bounds[f, 1], bounds[f, 3] = width, height
        return
    # Clamped while still real: a huge number does not fit an integer.
    bounds[f, 0] = int(min(max(np.floor(low_u), 0.0), float(width)))
    bounds[f, 1] = int(min(max(np.floor(high_u) + 1.0, 0.0), float(width)))
    bounds[f, 2] = int(min(max(np.floor(low_v), 0.0), float(height)))
    bounds[f, 3] = int(min(max(np.floor(high_v) + 1.0, 0.0), float(height)))


@njit(nogil=True, cache=True, error_model="numpy")
def _set_up(x, faces, projection, unprojection, width, height, planes, scales, bounds, front):
    for f in range(len(faces)):
        volume = 0.0
        for i in range(3):
            a, b, c = faces[f, i], faces[f, (i + 1) % 3], faces[f, (i + 2) % 3]
            n0 = x[b, 1] * x[c, 2] - x[b, 2] * x[c, 1]
            n1 = x[b, 2] * x[c, 0] - x[b, 0] * x[c, 2]
            n2 = x[b, 0] * x[c, 1] - x[b, 1] * x[c, 0]
            if i == 0:
                volume = x[a, 0] * n0 + x[a, 1] * n1 + x[a, 2] * n2
            sign = 1.0 if volume > 0.0 else -1.0
            for k in range(3):
                planes[f, i, k] = sign * (n0 * unprojection[0, k] + n1 * unprojection[1, k] + n2 * unprojection[2, k])
        scale = 1.0 / abs(volume)
        if np.isfinite(scale) and scale > 0.0:  # else edge-on or without area: bounds stay empty
            scales[f] = scale
            front[f] = volume < 0.0
            _pixel_bounds(x, faces, f, projection, width, height, bounds)


def screen_triangles(x: Points, faces: Faces, projection: Array, size: tuple[int, int]) -> Triangles:
    """Triangles as a picture sees them; x (n, 3) relative to the eye, projection of `Camera.projection`."""
    width, height = size
    count = len(faces)
    triangles = Triangles(
        np.zeros((count, 3, 3)),
        np.zeros(count),
        np.zeros((count, 4), dtype=np.int64),
        np.zeros(count, dtype=np.bool_),
    )
    _set_up(x, faces, projection, np.linalg.inv(projection), width, height, *triangles)
    return triangles
