"""Polygons become triangles: fans, except where a polygon is not convex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Faces, Flags, Integers, Points


@dataclass(frozen=True, eq=False)
class Triangles:
    """Triangles cut from polygons, and where each came from."""

    corners: Integers
    """(f, 3) places in the list of all polygons' corners"""
    polygons: Integers
    """(f,) the polygon of each"""


def triangulate(points: Points, counts: Integers, corners: Integers) -> Triangles:
    """Triangles of polygons with `counts` (p,) corners each, listed in `corners`; fewer than three give none.

    Convex polygons are fanned from their first corner, so triangles stay as they are; others are cut so that no
    triangle lies outside the polygon.
    """
    each = np.maximum(counts - 2, 0)
    polygon = np.repeat(np.arange(len(counts)), each)
    step = np.arange(len(polygon)) - (np.cumsum(each) - each)[polygon]
    starts = np.cumsum(counts) - counts
    first = starts[polygon]
    cut = np.stack([first, first + step + 1, first + step + 2], axis=1)
    for p in np.flatnonzero(_fan_fails(points, corners[cut], polygon, len(counts)) & (counts > 3)):
        place = starts[p]
        own = polygon == p
        cut[own] = place + _clip_ears(points[corners[place : place + counts[p]]])
    return Triangles(cut, polygon)


def _fan_fails(points: Points, fan: Faces, polygon: Integers, count: int) -> Flags:
    """(p,) whether a triangle of the polygon's fan lies outside it (turns against its normal) or has no area."""
    a, b, c = (points[fan[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    whole = np.zeros((count, 3))
    for axis in range(3):
        whole[:, axis] = np.bincount(polygon, weights=normal[:, axis], minlength=count)
    along = np.sum(normal * whole[polygon], axis=1)
    none = _FLAT * np.sum(whole[polygon] ** 2, axis=1)
    return np.bincount(polygon[(along < none) & (none > 0)], minlength=count) > 0


_FLAT = 1e-9  # of the polygon's area: a triangle between corners on one line


def _clip_ears(ring: Points) -> Faces:
    """(n − 2, 3) places in the ring (n, 3); the ear with the largest smallest angle goes first."""
    flat = _in_plane(ring)
    left, out = list(range(len(ring))), []
    while len(left) > 3:
        ears = [_ear_quality(flat, left, k) for k in range(len(left))]
        k = int(np.argmax(ears))
        out.append([left[k - 1], left[k], left[(k + 1) % len(left)]])
        del left[k]
    # Fan order puts the polygon's first corner first; any order means the same triangles.
    return np.array([*out, left], dtype=np.int64)


def _in_plane(ring: Points) -> Array:
    """(n, 2) the ring seen along its normal, counter-clockwise."""
    ahead = np.roll(ring, -1, axis=0)
    normal = np.cross(ring - ring[0], ahead - ring[0]).sum(axis=0)
    normal = normal / np.linalg.norm(normal)
    side = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    side = side / np.linalg.norm(side)
    return np.stack([ring @ side, ring @ np.cross(normal, side)], axis=1)


def _ear_quality(flat: Array, left: list[int], k: int) -> float:
    """How well a corner can be cut off: area over longest edge², negative where it cannot."""
    i, j, m = left[k - 1], left[k], left[(k + 1) % len(left)]
    a, b, c = flat[i], flat[j], flat[m]
    area = _turn(a, b, c)
    longest = max(float(np.sum((q - p) ** 2)) for p, q in ((a, b), (b, c), (c, a)))
    quality = area / longest if longest > 0 else 0.0
    others = flat[[n for n in left if n not in (i, j, m)]]
    inside = (_turn(a, b, others) > 0) & (_turn(b, c, others) > 0) & (_turn(c, a, others) > 0)
    return float(quality) if area > 0 and not inside.any() else float(quality) - 2.0


def _turn(a: Array, b: Array, c: Array) -> Array:
    """Twice the signed area of a, b and each of c."""
    u, v = b - a, c - a
    return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
