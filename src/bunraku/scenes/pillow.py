"""A pillow squeezed between two hands: its middle bulges, and the cover wrinkles across [Remillard 2013, table 7–1]."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Integers
from bunraku.geometry import TriMesh

from .soft_shapes import pillow_shape

_HALF = (0.30, 0.14, 0.22)
"""[m] half of the pillow's sides"""
_GRIP = 0.06  # [m] of each side that is held


def pillow(edge: float = 0.0175) -> TriMesh:
    """A pillow about the origin, 0.6 m along x."""
    return pillow_shape(_HALF, edge)


def hand(mesh: TriMesh, side: int) -> Integers:
    """(v,) vertices that the hand on a side, −1 or 1, has hold of."""
    return np.flatnonzero(side * mesh.rest[:, 0] > _HALF[0] - _GRIP)
