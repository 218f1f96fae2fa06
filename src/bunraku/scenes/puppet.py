"""A jelly puppet of the theatre, and its cape: a round head with a topknot, sleeves, a bell of a robe, two stub feet.

It stands on y = 0 and looks along +x; lengths in metres.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bunraku.contracts import Array, Points, Vector
from bunraku.geometry import TriMesh

from .level_set import even_surface
from .soft_shapes import Part, ball, both_sides, cut, melted

NECK, TALL = 0.275, 0.53
"""[m] where the cape is tied, and up to where the puppet reaches"""
_EDGE = 0.0105
CAPE_GRID = (25, 35)
"""rows of the cape from the collar down, and columns"""
_HEM, _CLEAR, _FLARE = 0.085, 0.010, 0.045
"""[m] height of the cape's hem, how far it is from the puppet at the neck, and by how much farther at the hem"""
_TIED, _BESIDE = 105.0, 68.0
"""[°] from behind to its borders: at the neck, and below the shoulders"""
_SMOOTHED = 12


def _puppet(x: Points) -> Vector:
    """(n,) [m] outside of the puppet, looking along +z."""
    robe = [
        ball((0.0, 0.138, 0.006), 0.122, (1.0, 0.94, 0.95)),
        Part((0.0, 0.160, 0.0), (0.0, 0.232, -0.004), (0.094, 0.062), (1.0, 1.0, 0.9)),
    ]
    head = [ball((0.0, 0.368, 0.012), 0.108, (1.0, 0.93, 0.97)), ball((0.0, 0.290, 0.000), 0.046)]
    limbs = both_sides(
        Part((0.050, 0.236, 0.0), (0.164, 0.204, 0.044), (0.028, 0.042)),
        Part((0.060, 0.060, 0.0), (0.066, 0.034, 0.008), (0.048, 0.046)),
        Part((0.066, 0.026, 0.004), (0.078, 0.026, 0.080), (0.046, 0.044)),
    )
    knot = [
        Part((0.0, 0.450, -0.010), (0.0, 0.480, -0.020), (0.020, 0.016)),
        ball((0.0, 0.500, -0.026), 0.032, (1.0, 0.85, 1.0)),
    ]
    face = [ball((0.0, 0.352, 0.116), 0.022)]
    body = melted([*(one.distance(x) for one in robe), melted([one.distance(x) for one in head], 0.03)], 0.03)
    body = melted([body, *(one.distance(x) for one in limbs)], 0.034)
    body = melted([body, *(one.distance(x) for one in knot)], 0.018)
    return cut(melted([body, *(one.distance(x) for one in face)], 0.014), -x[:, 1], 0.014)


def _ahead(x: Points) -> Points:
    """What looks along +z, looking along +x."""
    return np.stack([x[:, 2], x[:, 1], -x[:, 0]], axis=1)


@lru_cache(maxsize=4)
def puppet(edge: float = _EDGE) -> TriMesh:
    """The puppet's closed surface, about 0.52 m tall."""
    made = even_surface(_puppet, np.array([-0.22, 0.0, -0.13]), np.array([0.22, 0.53, 0.14]), edge)
    return TriMesh(_ahead(made.rest), made.faces)


def _evened(away: Array) -> Array:
    """(r, c) distances, each half-way to the mean of those beside it."""
    padded = np.pad(away, 1, mode="edge")
    mean = 0.25 * (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:])
    return 0.5 * (away + mean)


@lru_cache(maxsize=4)
def cape(rows: int = CAPE_GRID[0], columns: int = CAPE_GRID[1]) -> TriMesh:
    """The cape of the puppet, laid around it: tied around the neck, wide at the hem."""
    down = np.linspace(0.0, 1.0, rows)[:, None]
    across = np.linspace(-1.0, 1.0, columns)[None]
    half = np.radians(_BESIDE + (_TIED - _BESIDE) * np.exp(-((down / 0.16) ** 2)))
    turn = half * across  # 0: behind
    y = NECK - (NECK - _HEM) * down + 0.0 * across
    ray = np.stack([np.sin(turn), np.zeros_like(y), -np.cos(turn)], axis=-1)
    away = np.full(y.shape, 0.30)
    clear = _CLEAR + _FLARE * down**1.5
    for _ in range(60):  # from outside towards the middle line, until it is so far from the puppet
        x = away[..., None] * ray
        x[..., 1] = y
        away -= 0.7 * (_puppet(x.reshape(-1, 3)).reshape(y.shape) - clear)
    for _ in range(_SMOOTHED):
        away = _evened(away)
    x = away[..., None] * ray
    x[..., 1] = y
    number = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = number[:-1, :-1].ravel(), number[:-1, 1:].ravel(), number[1:, 1:].ravel(), number[1:, :-1].ravel()
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return TriMesh(_ahead(x.reshape(-1, 3)), faces)
