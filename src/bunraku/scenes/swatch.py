"""A swatch: a square of cloth laid over a round stand, as the drape test of textile laboratories has it."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Integers, Points
from bunraku.geometry import TriMesh

SWATCH_SIDE = 0.36
"""[m] of the square"""
STAND = 0.09
"""[m] radius of the stand's plate: the 18 cm of the drape test"""
HEIGHT = 0.24
"""[m] of the stand"""
_SHAKE = 0.06  # of a cell: folds must not fall along the mesh's own lines


def swatch_mesh(cells: int = 34) -> TriMesh:
    """A square in y = HEIGHT of cells × cells, their inner vertices moved a little; diagonals alternate."""
    line = np.linspace(-0.5 * SWATCH_SIDE, 0.5 * SWATCH_SIDE, cells + 1)
    x, z = (grid.reshape(-1) for grid in np.meshgrid(line, line))
    shift = _SHAKE * SWATCH_SIDE / cells * np.random.default_rng(0).uniform(-1.0, 1.0, (2, len(x)))
    inside = np.maximum(np.abs(x), np.abs(z)) < 0.5 * SWATCH_SIDE * (1.0 - 0.5 / cells)
    rest = np.column_stack([x + inside * shift[0], np.full(len(x), HEIGHT), z + inside * shift[1]])
    i, j = (grid.reshape(-1) for grid in np.meshgrid(np.arange(cells), np.arange(cells)))
    a = j * (cells + 1) + i
    b, c, d = a + 1, a + cells + 2, a + cells + 1
    rising = ((i + j) % 2 == 0)[:, None]
    first = np.where(rising, np.column_stack([a, c, b]), np.column_stack([a, d, b]))
    second = np.where(rising, np.column_stack([a, d, c]), np.column_stack([b, d, c]))
    return TriMesh(rest, np.vstack([first, second]))


def on_the_stand(mesh: TriMesh) -> Integers:
    """(v,) vertices of a swatch that lie on the plate."""
    return np.flatnonzero(np.hypot(mesh.rest[:, 0], mesh.rest[:, 2]) <= STAND)


def stand_mesh(sides: int = 48) -> TriMesh:
    """The stand, to look at: a plate just below the cloth on a thin pole on y = 0."""
    rings = [(0.0, 0.0), (0.045, 0.0), (0.045, 0.006), (0.007, 0.012), (0.007, HEIGHT - 0.016)]
    rings += [(STAND - 0.012, HEIGHT - 0.008), (STAND - 0.012, HEIGHT - 0.004), (0.0, HEIGHT - 0.004)]
    turn = 2.0 * np.pi * np.arange(sides) / sides
    points = np.concatenate([_ring(radius, height, turn) for radius, height in rings])
    k = np.arange(sides)
    after = (k + 1) % sides
    faces = []
    for low in range(0, (len(rings) - 1) * sides, sides):
        up = low + sides
        faces += [np.column_stack([low + k, up + k, low + after]), np.column_stack([low + after, up + k, up + after])]
    return TriMesh(points, np.vstack(faces))


def _ring(radius: float, height: float, turn: Points) -> Points:
    return np.column_stack([radius * np.cos(turn), np.full(len(turn), height), radius * np.sin(turn)])
