"""Letters as rounded slabs: strokes of lines and arcs in the plane, thickened and given depth.

They stand on y = 0 and face z; x runs as they are read. Lengths in metres.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from bunraku.contracts import Array, Points, Vector, input_error
from bunraku.geometry import TriMesh

from .level_set import even_surface

X_HEIGHT, ASCENDER = 0.24, 0.38
STROKE, DEPTH = 0.038, 0.055
"""half width and half depth of a stroke"""
_ROUND = 0.030  # of the slab's edges
_R = 0.5 * X_HEIGHT - STROKE  # of a bowl's middle line
_ARC = 14  # segments of half a circle


def _line(*points: tuple[float, float]) -> Array:
    return np.array(points)


def _arc(x: float, y: float, begin: float, end: float, wide: float = _R, high: float = _R) -> Array:
    """Part of an ellipse about (x, y), angles in degrees."""
    count = max(2, round(_ARC * abs(end - begin) / 180.0) + 1)
    angle = np.radians(np.linspace(begin, end, count))
    return np.stack([x + wide * np.cos(angle), y + high * np.sin(angle)], axis=1)


_LOW, _HIGH, _MID = STROKE, X_HEIGHT - STROKE, 0.5 * X_HEIGHT
_TALL = ASCENDER - STROKE
_STROKES: dict[str, list[Array]] = {
    "b": [_line((-_R, _LOW), (-_R, _TALL)), _arc(0.0, _MID, 0.0, 360.0)],
    "u": [_line((-_R, _HIGH), (-_R, _MID)), _arc(0.0, _MID, 180.0, 360.0), _line((_R, _LOW), (_R, _HIGH))],
    "n": [_line((-_R, _LOW), (-_R, _HIGH)), _arc(0.0, _MID, 180.0, 0.0), _line((_R, _MID), (_R, _LOW))],
    "r": [_line((-_R, _LOW), (-_R, _HIGH)), _arc(0.0, _MID, 180.0, 50.0)],
    "a": [_arc(0.0, _MID, 0.0, 360.0), _line((_R, _LOW), (_R, _HIGH))],
    "k": [
        _line((-_R, _LOW), (-_R, _TALL)), _line((0.95 * _R, _HIGH), (-_R, 0.9 * _MID)),
        _line((-0.25 * _R, 1.2 * _MID), (_R, _LOW)),
    ],
}  # fmt: skip


def away_from(stroke: Array, flat: Array) -> Vector:
    """(n,) [m] of points (n, 2) of the plane from a line through corners (c, 2)."""
    away = np.full(len(flat), np.inf)
    for a, b in pairwise(stroke):
        axis = b - a
        along = np.clip((flat - a) @ axis / (axis @ axis), 0.0, 1.0)
        away = np.minimum(away, np.sum((flat - a - along[:, None] * axis) ** 2, axis=1))
    return np.sqrt(away)


def slab(away: Vector, x: Points, wide: float, deep: float, soft: float) -> Vector:
    """(n,) [m] of points x outside of strokes that they are `away` (n,) from in the plane, thickened by half a width
    and half a depth, with edges rounded by `soft` [m]."""
    out = np.stack([away - wide, np.abs(x[:, 2]) - deep], axis=1) + soft
    return np.linalg.norm(np.maximum(out, 0.0), axis=1) + np.minimum(out.max(axis=1), 0.0) - soft


def _distance(strokes: list[Array], x: Points) -> Vector:
    """(n,) [m] outside of the slab around strokes."""
    away = np.min([away_from(stroke, x[:, :2]) for stroke in strokes], axis=0)
    return slab(away, x, STROKE, DEPTH, _ROUND)


@lru_cache(maxsize=16)
def letter(name: str, edge: float = 0.0085) -> TriMesh:
    """One of the letters b, u, n, r, a, k, standing on y = 0."""
    if name not in _STROKES:
        raise input_error("no such letter is drawn", got=name, allowed=", ".join(_STROKES))
    strokes = _STROKES[name]
    every = np.concatenate(strokes)
    low, high = every.min(axis=0) - STROKE, every.max(axis=0) + STROKE
    return even_surface(lambda x: _distance(strokes, x), np.array([*low, -DEPTH]), np.array([*high, DEPTH]), edge)
