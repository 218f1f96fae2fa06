"""Bodies and skeletons made by code."""

from __future__ import annotations

import numpy as np

from bunraku.geometry import TriMesh
from bunraku.rigs import Motion, Skeleton


def tube(length: float = 1.0, radius: float = 0.1, along: int = 40, around: int = 16) -> TriMesh:
    """A closed tube about the y axis from 0 to `length`, its ends closed by fans; wound outwards."""
    angle = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([radius * np.cos(angle), np.zeros(around), radius * np.sin(angle)], axis=1)
    heights = np.linspace(0.0, length, along + 1)
    points = np.concatenate([ring + [0.0, y, 0.0] for y in heights] + [[[0.0, 0.0, 0.0], [0.0, length, 0.0]]])
    k, j = np.meshgrid(np.arange(along), np.arange(around), indexing="ij")
    a, b = (k * around + j).ravel(), (k * around + (j + 1) % around).ravel()
    c, d = a + around, b + around
    even = ((k + j) % 2 == 0).ravel()[:, None]  # diagonals both ways: mirrored in x and z, the mesh is itself
    first = np.where(even, np.stack([a, c, b], 1), np.stack([a, c, d], 1))
    second = np.where(even, np.stack([b, c, d], 1), np.stack([a, d, b], 1))
    low, high = len(points) - 2, len(points) - 1
    j, top = np.arange(around), along * around
    caps = [np.stack([np.full(around, low), j, (j + 1) % around], 1),
            np.stack([np.full(around, high), top + (j + 1) % around, top + j], 1)]  # fmt: skip
    return TriMesh(points, np.concatenate([first, second, *caps]))


def chain(heights: list[float], tip: float, samples: int = 1) -> Skeleton:
    """Joints one above the other on the y axis, the last with a tip; at rest at `samples` times 0.1 s apart."""
    count = len(heights)
    local = np.tile(np.eye(4), (samples, count, 1, 1))
    local[:, :, 1, 3] = np.diff(heights, prepend=0.0)
    bind = np.tile(np.eye(4), (count, 1, 1))
    bind[:, 1, 3] = heights
    return Skeleton(
        tuple(f"j{k}" for k in range(count)), np.arange(-1, count - 1), bind,
        Motion.of(np.arange(samples) / 10.0, local), np.array([count - 1]), np.array([[0.0, tip, 0.0]]), 10.0,
    )  # fmt: skip
