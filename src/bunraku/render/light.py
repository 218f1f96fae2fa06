"""What light reaches: depth maps from many directions, and what they say of points on the mesh.

A soft key light is a handful of directions in a cone, the sky a ball of directions. Each gets an orthographic
depth map fitted to the mesh. Nothing is random: a picture is the same twice, an animation does not flicker.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bunraku.contracts import Array, Faces, Points, Vector

from .raster import SPAN_FROM, row_span
from .threads import share_out

GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
CHUNK = 1024
"""points lit by one thread at a time"""


class DepthMaps(NamedTuple):
    """Depth maps of one mesh from m directions, r × r texels each."""

    directions: Array
    """(m, 3) unit vectors towards the light"""
    frames: Array
    """(m, 3, 4) affine map from a point to texel column, texel row and height along the direction [m]"""
    heights: NDArray[np.float32]
    """(m, r, r) greatest height along the direction that covers the texel; −inf where there is nothing"""
    texel: float
    """largest width of a texel [m]"""


@lru_cache(maxsize=8)
def cone_directions(axis: tuple[float, float, float], angle: float, count: int) -> Array:
    """(count, 3) unit vectors spread evenly over a cone of half-angle `angle` [degrees] around `axis`."""
    w = np.asarray(axis) / np.linalg.norm(axis)
    u = np.cross(w, np.eye(3)[int(np.argmin(np.abs(w)))])
    u /= np.linalg.norm(u)
    v = np.cross(w, u)
    k = np.arange(count)
    radius = np.tan(np.radians(angle)) * np.sqrt((k + 0.5) / count)
    turn = k * GOLDEN_ANGLE
    spread = w + np.outer(radius * np.cos(turn), u) + np.outer(radius * np.sin(turn), v)
    return spread / np.linalg.norm(spread, axis=1, keepdims=True)


@lru_cache(maxsize=8)
def ball_directions(count: int) -> Array:
    """(count, 3) unit vectors spread evenly over the whole ball (a Fibonacci lattice)."""
    k = np.arange(count)
    y = 1.0 - (2.0 * k + 1.0) / count
    radius = np.sqrt(1.0 - y * y)
    return np.stack([radius * np.cos(k * GOLDEN_ANGLE), y, radius * np.sin(k * GOLDEN_ANGLE)], axis=1)


@njit(nogil=True, error_model="numpy")
def _map_points(x, axes, resolution, frame):
    """The points (n, 3) in texels and height for one light; fills its frame (3, 4) so that they just fit."""
    mapped = np.empty_like(x)
    for i in range(3):
        a0, a1, a2 = axes[i, 0], axes[i, 1], axes[i, 2]
        low, high = np.inf, -np.inf
        for p in range(len(x)):
            value = x[p, 0] * a0 + x[p, 1] * a1 + x[p, 2] * a2
            mapped[p, i] = value
            low, high = min(low, value), max(high, value)
        scale, shift = 1.0, 0.0
        if i < 2:
            # Two texels stay free all round, so that rounding cannot leave the map.
            scale = (resolution - 4.0) / max(high - low, 1e-9)
            shift = 0.5 * resolution - 0.5 * (low + high) * scale
            for p in range(len(x)):
                mapped[p, i] = mapped[p, i] * scale + shift
        frame[i, 0], frame[i, 1], frame[i, 2], frame[i, 3] = a0 * scale, a1 * scale, a2 * scale, shift
    return mapped


@njit(nogil=True, cache=True, error_model="numpy")
def _draw_map(x, faces, axes, frame, heights):
    """Draw the triangles into one map (r, r), keeping the greatest height; fill its frame (3, 4)."""
    mapped = _map_points(x, axes, len(heights), frame)
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = mapped[i, 0], mapped[i, 1], mapped[i, 2]
        bx, by, bz = mapped[j, 0], mapped[j, 1], mapped[j, 2]
        cx, cy, cz = mapped[k, 0], mapped[k, 1], mapped[k, 2]
        # Texels whose middle may be inside; most triangles of a fine mesh have none.
        x0, x1 = int(min(ax, bx, cx) + 0.5), int(max(ax, bx, cx) + 0.5)
        y0, y1 = int(min(ay, by, cy) + 0.5), int(max(ay, by, cy) + 0.5)
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if x0 >= x1 or y0 >= y1 or area == 0.0:
            continue
        inverse = 1.0 / area
        a0, b0, c0 = (by - cy) * inverse, (cx - bx) * inverse, (bx * cy - by * cx) * inverse
        a1, b1, c1 = (cy - ay) * inverse, (ax - cx) * inverse, (cx * ay - cy * ax) * inverse
        a2, b2, c2 = (ay - by) * inverse, (bx - ax) * inverse, (ax * by - ay * bx) * inverse
        for row in range(y0, y1):
            y = row + 0.5
            r0, r1, r2 = b0 * y + c0, b1 * y + c1, b2 * y + c2
            start, stop = x0, x1
            if x1 - x0 > SPAN_FROM:
                start, stop = row_span(x0, x1, 0.5, a0, r0, a1, r1, a2, r2)
            for column in range(start, stop):
                e0 = a0 * (column + 0.5) + r0
                e1 = a1 * (column + 0.5) + r1
                e2 = a2 * (column + 0.5) + r2
                # Without a branch, so that the compiler can take several texels at once.
                height = np.float32(e0 * az + e1 * bz + e2 * cz)
                before = heights[row, column]
                inside = (min(e0, e1, e2) >= 0.0) & (height > before)
                heights[row, column] = height if inside else before


def depth_maps(x: Points, faces: Faces, directions: Array, resolution: int) -> DepthMaps:
    """Depth maps of the mesh x (n, 3), faces (f, 3), from the directions (m, 3)."""
    count = len(directions)
    side = np.cross(directions, np.eye(3)[np.argmin(np.abs(directions), axis=1)])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    axes = np.stack([side, np.cross(directions, side), directions], axis=1)
    frames = np.zeros((count, 3, 4))
    heights = np.full((count, resolution, resolution), -np.inf, dtype=np.float32)
    share_out(lambda m: _draw_map(x, faces, axes[m], frames[m], heights[m]), count)
    finest = np.linalg.norm(frames[:, :2, :3], axis=2).min(initial=np.inf)
    return DepthMaps(directions, frames, heights, float(1.0 / finest))


@njit(nogil=True, error_model="numpy")
def height_over(frame, heights, x, y, z):
    """How far [m] a point lies below what is nearest to the light with frame (3, 4) and map (r, r)."""
    resolution = len(heights)
    column = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z + frame[0, 3]
    row = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z + frame[1, 3]
    if not (column >= 0.0 and row >= 0.0 and column < resolution and row < resolution):
        return -np.inf
    return heights[int(row), int(column)] - (frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z)


@njit(nogil=True, cache=True, error_model="numpy")
def _sky_visibility(x, normals, weights, directions, frames, heights, lift, result):
    everything, reached = np.zeros((len(x), 2)), np.zeros((len(x), 2))
    for m in range(len(weights)):  # light by light: one map at a time stays in the cache
        d0, d1, d2 = directions[m, 0], directions[m, 1], directions[m, 2]
        for p in range(len(x)):
            n0, n1, n2 = normals[p, 0], normals[p, 1], normals[p, 2]
            cosine = n0 * d0 + n1 * d1 + n2 * d2
            side = 0 if cosine > 0.0 else 1
            rise = lift if cosine > 0.0 else -lift  # off the surface, to the side the light comes from
            y0, y1, y2 = x[p, 0] + rise * n0, x[p, 1] + rise * n1, x[p, 2] + rise * n2
            everything[p, side] += weights[m] * abs(cosine)
            if height_over(frames[m], heights[m], y0, y1, y2) <= 0.5 * lift:
                reached[p, side] += weights[m] * abs(cosine)
    for p in range(len(x)):
        for side in range(2):  # a point without a normal, or without sky on one side, is not occluded
            if everything[p, side] > 0.0:
                result[p, side] = reached[p, side] / everything[p, side]


def sky_visibility(x: Points, normals: Points, weights: Vector, maps: DepthMaps) -> Array:
    """(n, 2) share of the sky, in [0, 1], that lights each point from its outer and its inner side.

    x (n, 3), normals (n, 3) unit; weights (m,) brightness of the sky in each direction of the maps.
    """
    result = np.ones((len(x), 2))
    lift = 1.5 * maps.texel

    def light_chunk(k: int) -> None:
        part = slice(CHUNK * k, CHUNK * (k + 1))
        _sky_visibility(x[part], normals[part], weights, maps.directions, maps.frames, maps.heights, lift, result[part])

    share_out(light_chunk, -(-len(x) // CHUNK))
    return result


@njit(nogil=True, cache=True, error_model="numpy")
def key_share(x, normals, direction, frames, heights, lift, result):
    """Add to result (n,) the share of the key light that reaches points x (n, 3) with unit normals (n, 3)."""
    for m in range(len(frames)):
        for p in range(len(x)):
            n0, n1, n2 = normals[p, 0], normals[p, 1], normals[p, 2]
            if n0 * direction[0] + n1 * direction[1] + n2 * direction[2] > 0.0:
                y0, y1, y2 = x[p, 0] + lift * n0, x[p, 1] + lift * n1, x[p, 2] + lift * n2
                if height_over(frames[m], heights[m], y0, y1, y2) <= 0.5 * lift:
                    result[p] += 1.0 / len(frames)
