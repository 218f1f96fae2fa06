"""Keys and turns the scenes' guides are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from bunraku.contracts import Array, Points, Vector


def keyed(times: Vector, keys: Sequence[tuple[float, float]]) -> Vector:
    """(t,) a channel through keys (time [s], value) whose acceleration has no jumps; at rest before and after them."""
    at, values = np.array(keys, dtype=np.float64).T
    return np.asarray(CubicSpline(at, values, bc_type="clamped")(np.clip(times, at[0], at[-1])))


def about_x(angle: ArrayLike) -> Array:
    """(…, 3, 3) rotations by angles [rad] about the x axis: y turns to z."""
    c, s = np.cos(angle), np.sin(angle)
    zero, one = np.zeros_like(c), np.ones_like(c)
    return np.stack([np.stack(row, -1) for row in ((one, zero, zero), (zero, c, -s), (zero, s, c))], -2)


def turned(points: Points, pivot: Sequence[float] | Array, angles: Vector) -> Points:
    """(n, 3) each point turned by its own angle (n,) [rad] about the line through the pivot along x."""
    away = points - np.asarray(pivot)
    return np.asarray(pivot) + np.einsum("nij,nj->ni", about_x(angles), away)


def eased(share: ArrayLike) -> Array:
    """From 0 to 1 over shares from 0 to 1, beginning and ending without speed or acceleration."""
    u = np.clip(share, 0.0, 1.0)
    return np.asarray(u * u * u * (10.0 - 15.0 * u + 6.0 * u * u))
