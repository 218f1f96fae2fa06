"""A shirt and a coat around a capsule, for the tests of layers."""

from __future__ import annotations

import numpy as np

from bunraku import Animation, Obstacle, TriMesh, capsule
from bunraku.contracts import Faces, Points, Vector

AROUND, RINGS = 16, 8
SHIRT = 0.12
"""[m] its radius"""


def tube(radius: float, low: float, high: float) -> tuple[Points, Faces]:
    """An open tube around the y axis, wound outwards."""
    angle, y = 2.0 * np.pi * np.arange(AROUND) / AROUND, np.repeat(np.linspace(low, high, RINGS), AROUND)
    x = np.stack([radius * np.tile(np.cos(angle), RINGS), y, radius * np.tile(np.sin(angle), RINGS)], axis=1)
    index = np.arange(RINGS * AROUND).reshape(RINGS, AROUND)
    a, b = index[:-1], index[1:]
    c, d = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    faces = [np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([c, b, d], axis=-1).reshape(-1, 3)]
    return x, np.concatenate(faces)


def dressed(radius: float, aside: float, *, turned: bool = False) -> TriMesh:
    """A shirt, then a coat of a radius [m] that is `aside` [m]; `turned`: with its faces wound the other way."""
    shirt, faces = tube(SHIRT, -0.15, 0.15)
    coat, _ = tube(radius, -0.17, 0.1)
    coat[:, 0] += aside
    other = faces[:, ::-1] if turned else faces
    return TriMesh(np.concatenate([shirt, coat]), np.concatenate([faces, other + len(shirt)]))


COAT = AROUND * RINGS
"""where the coat's vertices begin"""


def swaying() -> Obstacle:
    """A capsule that goes to and fro."""
    body = capsule((0, -0.2, 0), (0, 0.2, 0), 0.1, 0.06)
    return Obstacle(body, lambda t: np.array(body.rest) + [0.05 * np.sin(6.0 * t), 0.0, 0.0], "hero")


def standing(shell: TriMesh, count: int) -> Animation:
    return Animation(shell, np.arange(count) / 24.0, np.repeat(shell.rest[None], count, axis=0))


def turns_around(points: Points, garment: Points) -> Vector:
    """(m,) how often a tube (RINGS · AROUND, 3), closed by a fan at each end, winds around points (m, 3): 1 inside, 0
    outside. The sum of the solid angles of its triangles."""
    _, faces = tube(1.0, 0.0, 1.0)
    index = np.arange(len(garment)).reshape(RINGS, AROUND)
    low, high = index[0], index[-1]
    whole = np.concatenate([garment, [garment[low].mean(axis=0), garment[high].mean(axis=0)]])
    fans = [
        np.stack([low, np.roll(low, -1), np.full(AROUND, len(garment))], axis=1),
        np.stack([np.roll(high, -1), high, np.full(AROUND, len(garment) + 1)], axis=1),
    ]
    corners = whole[np.concatenate([faces, *fans])][None] - points[:, None, None]
    a, b, c = np.moveaxis(corners, 2, 0)
    lengths = [np.linalg.norm(one, axis=2) for one in (a, b, c)]
    top = np.sum(a * np.cross(b, c), axis=2)
    bottom = lengths[0] * lengths[1] * lengths[2] + sum(
        np.sum(one * other, axis=2) * length
        for one, other, length in ((a, b, lengths[2]), (b, c, lengths[0]), (c, a, lengths[1]))
    )
    return np.abs(2.0 * np.arctan2(top, bottom).sum(axis=1) / (4.0 * np.pi))
