"""A block of tetrahedra of one kind, for tests, benches and figures that need no body of a shape of its own."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from .tetmesh import TetMesh


def tet_bar(cells: tuple[int, int, int] = (2, 1, 1), size: tuple[float, float, float] = (2.0, 1.0, 1.0)) -> TetMesh:
    """A block from the origin along the axes, six tetrahedra a cell around its diagonal; vertices z fastest.

    Neighbouring cells are mirrored, so that the block as a whole has no handedness.
    """
    counts = np.array(cells)
    grid = np.stack(np.meshgrid(*(np.arange(n + 1) for n in cells), indexing="ij"), axis=-1).reshape(-1, 3)
    rest = grid * (np.array(size) / counts)
    corner = np.stack(np.meshgrid(*(np.arange(n) for n in cells), indexing="ij"), axis=-1).reshape(-1, 3)
    odd = corner % 2
    strides = np.array([(cells[1] + 1) * (cells[2] + 1), cells[2] + 1, 1])
    tets = []
    for axes in permutations(range(3)):
        steps = np.zeros((4, 3), dtype=np.int64)
        for k, axis in enumerate(axes):
            steps[k + 1] = steps[k]
            steps[k + 1, axis] = 1
        mirrored = np.abs(steps[None] - odd[:, None])  # (cells, 4, 3): the path runs from the other end of an odd axis
        tets.append((corner[:, None] + mirrored) @ strides)
    return TetMesh.oriented(rest, np.concatenate(tets))
