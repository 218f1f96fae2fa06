"""Kernels of `linear_solid.py`: what tetrahedra add to the stiffness, summed row by row of the body's vertices."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, error_model="numpy")
def find_corners(tets, starts, corners):
    """(4 m,) the places of each vertex among the corners of all tetrahedra, its own from `starts` (n + 1,) on."""
    following = starts[:-1].copy()
    for t in range(len(tets)):
        for a in range(4):
            vertex = tets[t, a]
            corners[following[vertex]] = 4 * t + a
            following[vertex] += 1


@numba.njit(cache=True, error_model="numpy")
def find_neighbours(tets, corners, starts, indptr, columns):
    """Of every vertex those of its tetrahedra, itself among them, increasing; how many pairs there are."""
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


@numba.njit(cache=True, error_model="numpy")
def _find(columns, begin, end, wanted):
    """The place of a number that is among columns begin … end, which increase."""
    while end - begin > 1:
        middle = (begin + end) // 2
        if columns[middle] > wanted:
            end = middle
        else:
            begin = middle
    return begin


@numba.njit(cache=True, error_model="numpy")
def _corner(gradients, t, a):
    """The gradient of a corner's function; the first's is minus the sum of the others'."""
    x, y, z = gradients[t, 0, 0], gradients[t, 0, 1], gradients[t, 0, 2]
    if a == 1:
        return x, y, z
    if a == 2:
        return gradients[t, 1, 0], gradients[t, 1, 1], gradients[t, 1, 2]
    if a == 3:
        return gradients[t, 2, 0], gradients[t, 2, 1], gradients[t, 2, 2]
    x, y, z = x + gradients[t, 1, 0], y + gradients[t, 1, 1], z + gradients[t, 1, 2]
    return -(x + gradients[t, 2, 0]), -(y + gradients[t, 2, 1]), -(z + gradients[t, 2, 2])


@numba.njit(cache=True, error_model="numpy")
def _add_block(values, row, width, first, second, one, other):
    """Adds first g_a g_bᵀ + second (g_b g_aᵀ + g_a·g_b I) at three rows that are so wide, the same for b and a."""
    # Scalars, not entries of arrays: the compiler cannot know that arrays are apart, and would read them again.
    x, y, z = one
    u, v, w = other
    xu, xv, xw, yu, yv, yw, zu, zv, zw = x * u, x * v, x * w, y * u, y * v, y * w, z * u, z * v, z * w
    along, both = second * (xu + yv + zw), first + second
    values[row] += both * xu + along
    values[row + 1] += first * xv + second * yu
    values[row + 2] += first * xw + second * zu
    row += width
    values[row] += first * yu + second * xv
    values[row + 1] += both * yv + along
    values[row + 2] += first * yw + second * zv
    row += width
    values[row] += first * zu + second * xw
    values[row + 1] += first * zv + second * yw
    values[row + 2] += both * zw + along


@numba.njit(parallel=True, cache=True, error_model="numpy")
def fill_stiffness(tets, corners, starts, indptr, columns, gradients, first, second, values, indices):
    """Values and column numbers of three rows a vertex; `gradients` (m, 3, 3) are of the functions of corners 1, 2, 3,
    `first` and `second` (m,) the volume times λ and µ."""
    for vertex in numba.prange(len(indptr) - 1):
        begin, end = indptr[vertex], indptr[vertex + 1]
        width = 3 * (end - begin)
        for i in range(3):
            at = 9 * begin + i * width
            for pair in range(begin, end):
                for k in range(3):
                    indices[at] = 3 * columns[pair] + k
                    values[at] = 0.0
                    at += 1
        for place in range(starts[vertex], starts[vertex + 1]):
            t, a = corners[place] // 4, corners[place] % 4
            own = _corner(gradients, t, a)
            for b in range(4):
                row = 9 * begin + 3 * (_find(columns, begin, end, tets[t, b]) - begin)
                _add_block(values, row, width, first[t], second[t], own, _corner(gradients, t, b))
