"""Shadows on the ground: how much of the key light and of the sky reaches it, smooth with few lights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from bunraku.contracts import Array, Points, Vector

from .light import DepthMaps, height_over
from .threads import share_out

ROWS = 16
"""texel rows lit by one thread at a time"""


class GroundLight(NamedTuple):
    """Share of light that reaches a rectangle of the ground; all of it outside."""

    corner: Vector
    """(2,) smallest x and z [m]"""
    step: Vector
    """(2,) width of a texel [m]"""
    share: Array
    """(r, r) in [0, 1], rows along z"""


UNSHADED = GroundLight(np.zeros(2), np.ones(2), np.ones((1, 1)))


@njit(nogil=True, cache=True, error_model="numpy")
def _light_rows(corner, step, height, first, weights, frames, heights, share, gap):
    """Add up, on texel rows from `first` on, the light and the height of what is in its way [m]."""
    for m in range(len(weights)):
        weight = weights[m]
        if weight == 0.0:
            continue
        for i in range(share.shape[0]):
            z = corner[1] + (first + i + 0.5) * step[1]
            for j in range(share.shape[1]):
                x = corner[0] + (j + 0.5) * step[0]
                over = height_over(frames[m], heights[m], x, height, z)
                if over > 0.0:
                    gap[i, j] += weight * over
                else:
                    share[i, j] += weight


def ground_light(
    x: Points, height: float, maps: DepthMaps, *, spacing: float, reach: float, resolution: int
) -> GroundLight:
    """Light on the ground at `height`, where the mesh x (n, 3) may darken it.

    `spacing` is the angle between neighbouring lights of the maps [rad]: their shadows are blurred into one.
    `reach` limits how far from the mesh a shadow is followed, in multiples of its height over the ground.
    """
    d = maps.directions
    weights = np.maximum(d[:, 1], 0.0) * (d[:, 1] > 1e-3)  # what comes from below the ground counts for nothing
    if not weights.any():
        return UNSHADED
    low, high = _rectangle(x, height, d[weights > 0.0], reach)
    step = (high - low) / resolution
    weights /= weights.sum()
    share, gap = np.zeros((resolution, resolution)), np.zeros((resolution, resolution))

    def light_rows(k: int) -> None:
        rows = slice(ROWS * k, ROWS * (k + 1))
        _light_rows(low, step, height, ROWS * k, weights, maps.frames, maps.heights, share[rows], gap[rows])

    share_out(light_rows, -(-resolution // ROWS))
    return GroundLight(low, step, _one_shadow(share, gap, spacing / float(step.min())))


def _rectangle(x: Points, height: float, directions: Array, reach: float) -> tuple[Vector, Vector]:
    """Two corners (2,) in x and z that hold every shadow."""
    above = max(float(x[:, 1].max()) - height, 0.0)
    low, high = x[:, [0, 2]].min(axis=0), x[:, [0, 2]].max(axis=0)
    # A point at height h drops its shadow h d_xz / d_y away.
    drift = np.clip(-above * directions[:, [0, 2]] / directions[:, 1:2], -reach * above, reach * above)
    low, high = low + np.minimum(drift.min(axis=0), 0.0), high + np.maximum(drift.max(axis=0), 0.0)
    edge = 0.06 * np.maximum(high - low, 1e-6)
    return low - edge, high + edge


def _one_shadow(share: Array, gap: Array, texels_per_gap: float) -> Array:
    """Blur the separate shadows of separate lights into one: as wide as they are apart.

    Two lights an angle apart throw shadows of a thing at distance g that are angle · g apart: nothing at the
    contact, much under what floats. So the result is mixed from blurs of growing width.
    """
    dark, weighted = 1.0 - share, gap
    for stride in (1, 2, 4):
        dark, weighted = _blurred(dark, stride), _blurred(weighted, stride)
    distance = np.divide(weighted, dark, out=np.zeros_like(dark), where=dark > 1e-6)
    width = distance * texels_per_gap
    result, level, below = share, share, 0.0
    for stride in (1, 2, 4, 8, 16):
        level = _blurred(level, stride)
        sigma = np.sqrt(below**2 + 0.5 * stride**2)  # variances add up; that of 1, 2, 1 is a half
        result = result + np.clip((width - below) / (sigma - below), 0.0, 1.0) * (level - result)
        below = sigma
    return np.ascontiguousarray(result)  # one memory layout, so that kernels compile once


def _blurred(image: Array, stride: int) -> Array:
    """Blur by 1, 2, 1 at neighbours `stride` texels away, along both axes; the border stays."""
    for _ in range(2):
        out = image.copy()
        out[stride:-stride] = 0.5 * image[stride:-stride]
        out[stride:-stride] += 0.25 * image[: -2 * stride]
        out[stride:-stride] += 0.25 * image[2 * stride :]
        image = out.T
    return image
