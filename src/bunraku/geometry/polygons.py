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
    failed = _fan_fails(points, corners[cut], polygon, len(counts))
    first_cut = np.cumsum(each) - each
    quads = np.flatnonzero(failed & (counts == 4))  # the other diagonal, where one of a quad's two is right
    cut[first_cut[quads]] = starts[quads, None] + np.array([1, 2, 3])
    cut[first_cut[quads] + 1] = starts[quads, None] + np.array([1, 3, 0])
    for p in np.flatnonzero(failed & (counts > 4) & (counts <= MOST_CORNERS)):
        place = starts[p]
        ring = points[corners[place : place + counts[p]]]
        cut[first_cut[p] : first_cut[p] + each[p]] = place + _clip_ears(ring)
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


MOST_CORNERS = 4000
"""of a polygon that is cut with care, for the care grows as their square; larger ones are fans"""


def _clip_ears(ring: Points) -> Faces:
    """(n − 2, 3) places in the ring (n, 3); the ear with the largest area over longest edge² goes first."""
    from .ears import clip_ears  # compiled on first use

    return clip_ears(_in_plane(ring))


def _in_plane(ring: Points) -> Array:
    """(n, 2) the ring seen along its normal, counter-clockwise."""
    ahead = np.roll(ring, -1, axis=0)
    normal = np.cross(ring - ring[0], ahead - ring[0]).sum(axis=0)
    normal = normal / max(float(np.linalg.norm(normal)), 1e-300)
    side = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    side = side / np.linalg.norm(side)
    return np.stack([ring @ side, ring @ np.cross(normal, side)], axis=1)
