"""Bodies whose motion is planned: a block, a statue on its plinth, a cactus on a broad foot.

All stand on y = 0, look along +z and are made by code; lengths in metres.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.geometry import TriMesh

from .level_set import even_surface
from .soft_shapes import Part, ball, both_sides, cut, melted, rounded_bar

_RIBS = 9


def block(edge: float = 0.035) -> TriMesh:
    """A block of one metre, 0.30 m wide."""
    bar = rounded_bar((0.15, 0.5, 0.15), 0.03, edge)
    return TriMesh(bar.rest + [0.0, 0.5, 0.0], bar.faces)


def _plinth(x: Points) -> Vector:
    """(n,) [m] outside of a round plinth with a waist, 0.16 m high."""
    away, y = np.hypot(x[:, 0], x[:, 2]), x[:, 1]
    side = (away - (0.235 - 0.026 * np.sin(np.pi * np.clip(y / 0.16, 0.0, 1.0)))) * 0.95
    return cut(cut(side, y - 0.16, 0.036), -y, 0.036)


def _robe(x: Points) -> Vector:
    """(n,) [m] outside of a robe that falls in folds from the hips to the plinth."""
    away, y = np.hypot(x[:, 0], 1.10 * x[:, 2]), x[:, 1]
    high = np.clip((y - 0.14) / 0.38, 0.0, 1.0)
    folds = 0.008 * np.cos(12.0 * np.arctan2(x[:, 2], x[:, 0])) * (1.0 - high) ** 0.7
    side = (away - (0.190 - 0.045 * high**0.8 + folds * np.clip(away / 0.08, 0.0, 1.0))) * 0.9
    return cut(cut(side, y - 0.55, 0.10), 0.12 - y, 0.02)


def _statue(x: Points) -> Vector:
    """A round figure in a robe, its hands folded over its belly; 1.02 m tall."""
    trunk = [
        ball((0.0, 0.485, 0.030), 0.172, (1.0, 0.92, 0.92)),
        Part((0.0, 0.560, 0.000), (0.0, 0.680, -0.008), (0.145, 0.118), (1.0, 1.0, 0.82)),
        Part((-0.105, 0.712, -0.010), (0.105, 0.712, -0.010), (0.062, 0.062)),
    ]
    limbs = both_sides(
        Part((0.135, 0.700, -0.010), (0.200, 0.560, 0.010), (0.060, 0.066)),
        Part((0.200, 0.560, 0.010), (0.060, 0.540, 0.175), (0.064, 0.052)),
        ball((0.030, 0.535, 0.196), 0.042, (1.0, 0.85, 0.75)),
    )
    neck = Part((0.0, 0.730, -0.006), (0.0, 0.830, 0.000), (0.088, 0.078))
    head = [ball((0.0, 0.876, 0.006), 0.106, (0.94, 1.0, 0.98)), ball((0.0, 0.980, -0.008), 0.042)]
    face = [
        Part((0.0, 0.888, 0.100), (0.0, 0.866, 0.110), (0.010, 0.015)),
        *both_sides(Part((0.094, 0.890, -0.002), (0.092, 0.822, 0.004), (0.016, 0.018), (0.75, 1.0, 1.0))),
    ]
    body = melted([_robe(x), *(one.distance(x) for one in trunk)], 0.06)
    body = melted([body, *(one.distance(x) for one in limbs)], 0.030)
    body = melted([body, neck.distance(x), *(one.distance(x) for one in head)], 0.024)
    return melted([_plinth(x), melted([body, *(one.distance(x) for one in face)], 0.016)], 0.016)


def _ribbed(part: Part, ribs: int, deep: float, x: Points) -> Vector:
    """(n,) [m] outside of an upright part whose side has ribs."""
    around = np.arctan2(x[:, 2] - part.a[2], x[:, 0] - part.a[0])
    away = np.hypot(x[:, 2] - part.a[2], x[:, 0] - part.a[0])
    return part.distance(x) - deep * np.cos(ribs * around) * np.clip(away / part.thick[1], 0.0, 1.0) ** 2


def _cactus(x: Points) -> Vector:
    """A ribbed column with two bent arms, the one at −x higher, on a broad foot; 0.87 m tall."""
    column = _ribbed(Part((0.0, 0.10, 0.0), (0.0, 0.735, 0.0), (0.136, 0.128)), _RIBS, 0.009, x)
    right = [
        Part((0.05, 0.330, 0.0), (0.280, 0.355, 0.0), (0.080, 0.072)),
        Part((0.280, 0.355, 0.0), (0.360, 0.490, 0.0), (0.070, 0.070)),
    ]
    left = [
        Part((-0.05, 0.440, 0.0), (-0.268, 0.465, 0.0), (0.078, 0.070)),
        Part((-0.268, 0.465, 0.0), (-0.345, 0.595, 0.0), (0.068, 0.068)),
    ]
    foot = ball((0.0, 0.030, 0.0), 0.235, (1.0, 0.42, 1.0))
    arms = [one.distance(x) for one in (*right, *left)]
    return cut(melted([column, foot.distance(x), *arms], 0.050), -x[:, 1], 0.020)


@lru_cache(maxsize=4)
def statue(edge: float = 0.016) -> TriMesh:
    """A standing figure in a robe, hands folded, on a round plinth 0.16 m high; 1.02 m tall."""
    return even_surface(_statue, np.array([-0.29, 0.0, -0.26]), np.array([0.29, 1.03, 0.28]), edge)


@lru_cache(maxsize=4)
def cactus(edge: float = 0.018) -> TriMesh:
    """A cactus with two bent arms on a broad foot, 0.87 m tall; its arms lie in z = 0."""
    return even_surface(_cactus, np.array([-0.43, 0.0, -0.25]), np.array([0.44, 0.88, 0.25]), edge)
