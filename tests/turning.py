"""A guide for tests that need any motion at all."""

from __future__ import annotations

import numpy as np

from bunraku import Animation
from bunraku.scenes import box_mesh


def turning(frame_count: int, turn: float = 0.08) -> Animation:
    """Eight vertices; the top turns by `turn` [rad] a frame."""
    mesh = box_mesh()
    points = np.repeat(mesh.rest[None], frame_count, axis=0)
    c, s = np.cos(turn * np.arange(frame_count)), np.sin(turn * np.arange(frame_count))
    x, z = mesh.rest[4:, 0], mesh.rest[4:, 2]
    points[:, 4:, 0] = c[:, None] * x + s[:, None] * z
    points[:, 4:, 2] = c[:, None] * z - s[:, None] * x
    return Animation(mesh, np.arange(1, frame_count + 1) / 24.0, points)
