"""Meshes the render tests look at."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Points


def grid(n: int, size: float = 1.0) -> tuple[Points, Faces]:
    """A square of (n + 1)² points in the plane y = 0, seen from above outside, centred."""
    s = np.linspace(-0.5 * size, 0.5 * size, n + 1)
    x, z = np.meshgrid(s, s, indexing="ij")
    index = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = (part.reshape(-1) for part in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    points = np.stack([x, np.zeros_like(x), z], axis=-1).reshape(-1, 3)
    return points, np.concatenate([np.stack([a, d, c], axis=1), np.stack([a, c, b], axis=1)])


def sphere(n: int, radius: float = 1.0) -> tuple[Points, Faces]:
    """A closed sphere of six grids of n² squares; corners are not shared between grids."""
    flat, faces = grid(n, 2.0)
    top = flat + [0.0, 1.0, 0.0]
    sides = [top[:, axes] * signs for axes, signs in _CUBE]
    points = np.concatenate(sides)
    offsets = np.arange(6)[:, None, None] * len(flat)
    return radius * points / np.linalg.norm(points, axis=1, keepdims=True), (faces + offsets).reshape(-1, 3)


# Proper rotations of the top of a cube to its six sides: axis order, signs.
_CUBE = [
    ([0, 1, 2], [1, 1, 1]),
    ([0, 1, 2], [1, -1, -1]),
    ([1, 0, 2], [1, -1, 1]),
    ([1, 0, 2], [-1, 1, 1]),
    ([0, 2, 1], [1, -1, 1]),
    ([0, 2, 1], [1, 1, -1]),
]
