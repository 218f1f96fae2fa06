"""A scale of colours for numbers: dark is nothing, light is much."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Vector

from .lettering import Image, burn_in

# Evenly lighter from one to the next, so that the order is told without hue, too.
_STEPS = np.array([
    [0.13, 0.16, 0.33], [0.33, 0.24, 0.47], [0.62, 0.31, 0.47],
    [0.86, 0.45, 0.36], [0.95, 0.68, 0.35], [0.99, 0.92, 0.66],
])  # fmt: skip


def heat(shares: Vector) -> Array:
    """(n, 3) sRGB colours from 0 to 1 of numbers (n,) from 0 (dark) to 1 (light); what is not finite is dark."""
    place = np.clip(np.nan_to_num(np.asarray(shares, dtype=np.float64)), 0.0, 1.0) * (len(_STEPS) - 1)
    low = np.minimum(place.astype(np.int64), len(_STEPS) - 2)
    rest = (place - low)[:, None]
    return (1.0 - rest) * _STEPS[low] + rest * _STEPS[low + 1]


def legend(width: int, height: int, low: str, high: str) -> Image:
    """(h, w, 3) the scale as a strip, its ends named."""
    row = np.round(255 * heat(np.linspace(0.0, 1.0, width))).astype(np.uint8)
    strip = np.broadcast_to(row, (height, width, 3)).copy()
    return burn_in(strip, low, bottom_right=high, letters=0.55)
