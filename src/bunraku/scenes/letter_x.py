"""The letter X as a character: a rounded slab with two legs and two arms, flat soles and flat palms.

It stands on y = 0 with its legs beside each other along x, faces z and is one metre tall. Lengths in metres.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.geometry import TriMesh

from .level_set import even_surface
from .soft_letters import away_from, slab
from .soft_shapes import cut, melted

TALL = 1.0
_WIDE, _DEEP, _ROUND = 0.095, 0.085, 0.06
"""half width and half depth of a limb, and the rounding of its edges"""
_OUT = 0.275  # of a sole's middle from the letter's
_BEYOND = 0.1  # by which limbs are drawn longer than they are, for their ends to be cut flat
_CROTCH = 0.05  # over which limbs melt into each other
_SOLE = 0.04  # over which the edges of soles and palms are rounded


def _limbs() -> list[Points]:
    """(2, 2) each: from the middle to beyond sole or palm."""
    middle, slope = np.array([0.0, 0.5 * TALL]), 2.0 * _OUT / TALL
    reach = 0.5 * TALL + _BEYOND
    return [np.stack([middle, middle + [x * slope * reach, y * reach]]) for x in (-1, 1) for y in (-1, 1)]


def _distance(x: Points) -> Vector:
    away = melted([away_from(one, x[:, :2]) for one in _limbs()], _CROTCH)
    letter = slab(away, x, _WIDE, _DEEP, _ROUND)
    return cut(cut(letter, -x[:, 1], _SOLE), x[:, 1] - TALL, _SOLE)


@lru_cache(maxsize=4)
def letter_x(edge: float = 0.03) -> TriMesh:
    """The letter, standing on its two feet."""
    wide = _OUT + 2.0 * _WIDE
    return even_surface(_distance, np.array([-wide, 0.0, -_DEEP]), np.array([wide, TALL, _DEEP]), edge)
