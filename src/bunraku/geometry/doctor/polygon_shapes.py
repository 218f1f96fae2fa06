"""How flat and how convex polygons are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bunraku.contracts import Flags, Integers, Points, Vector
from bunraku.geometry.surface import Surface


@dataclass(frozen=True, eq=False)
class PolygonShapes:
    """A number a polygon; triangles and less are flat and convex."""

    BENT: ClassVar[float] = 0.02
    """corners out of the plane by more than this share of the polygon's size make it bent"""
    bend: Vector
    """(p,) largest distance of a corner from the polygon's mean plane, over the polygon's size"""
    concave: Flags
    """(p,) a corner turns the other way by more than a degree or so"""


def polygon_shapes(surface: Surface) -> PolygonShapes:
    """Flatness and convexity of the polygons of a surface."""
    counts, count = surface.counts, surface.polygon_count
    polygon = np.repeat(np.arange(count), counts)
    starts = surface.starts[polygon]
    step = np.arange(len(surface.corners)) - starts
    corner = surface.points[surface.corners]
    ahead = corner[starts + (step + 1) % counts[polygon]]
    behind = corner[starts + (step - 1) % counts[polygon]]
    middle = _sums(polygon, corner, count) / np.maximum(counts, 1)[:, None]
    arm, next_arm = corner - middle[polygon], ahead - middle[polygon]
    normal = _sums(polygon, np.cross(arm, next_arm), count)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    size = np.zeros(count)
    np.maximum.at(size, polygon, np.linalg.norm(arm, axis=1))
    off = np.zeros(count)
    np.maximum.at(off, polygon, np.abs(np.sum(arm * normal[polygon], axis=1)))
    turn = np.cross(corner - behind, ahead - corner)
    sine = np.sum(turn * normal[polygon], axis=1)
    lengths = np.linalg.norm(corner - behind, axis=1) * np.linalg.norm(ahead - corner, axis=1)
    backwards = sine < -0.02 * lengths
    large = counts > 3
    bend = np.where(large & (size > 0), off / np.maximum(2 * size, 1e-300), 0.0)
    return PolygonShapes(bend, large & (np.bincount(polygon[backwards], minlength=count) > 0))


def _sums(group: Integers, values: Points, count: int) -> Points:
    """(count, 3) sums of values (k, 3) by group (k,)."""
    sums = [np.bincount(group, values[:, k], minlength=count) for k in range(3)]
    return np.stack(sums, axis=1).astype(np.float64)
