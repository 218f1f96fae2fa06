"""Kernels of `linear_solid.py`: blocks of tetrahedra summed row by row of the body's vertices."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, error_model="numpy")
def find_neighbours(tets, corners, starts, indptr, columns):
    """Of every vertex those of its tetrahedra, itself among them, increasing; how many pairs there are.

    `corners` (4 m,) are the places of each vertex among the corners of all tetrahedra, its own from `starts` on.
    """
    last, filled = np.full(len(starts) - 1, -1, dtype=np.int64), 0
    for vertex in range(len(starts) - 1):
        first = filled
        for place in range(starts[vertex], starts[vertex + 1]):
            for b in range(4):
                other = tets[corners[place] // 4, b]
                if last[other] != vertex:
                    last[other] = vertex
                    columns[filled] = other
                    filled += 1
        columns[first:filled].sort()
        indptr[vertex + 1] = filled
    return filled


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_stiffness(tets, corners, starts, indptr, columns, blocks, values, indices):
    """Values and column numbers of three rows a vertex, from blocks (m, 12, 12)."""
    for vertex in numba.prange(len(indptr) - 1):
        begin, count = indptr[vertex], indptr[vertex + 1] - indptr[vertex]
        for i in range(3):
            for k in range(3 * count):
                indices[9 * begin + 3 * count * i + k] = 3 * columns[begin + k // 3] + k % 3
        for place in range(starts[vertex], starts[vertex + 1]):
            t, a = corners[place] // 4, corners[place] % 4
            for b in range(4):
                at = np.searchsorted(columns[begin : begin + count], tets[t, b])
                for i in range(3):
                    row = 9 * begin + 3 * count * i + 3 * at
                    for k in range(3):
                        values[row + k] += 0.5 * (blocks[t, 3 * a + i, 3 * b + k] + blocks[t, 3 * b + k, 3 * a + i])
