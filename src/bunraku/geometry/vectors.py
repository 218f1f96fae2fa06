"""Vectors of three numbers in compiled kernels, as tuples.

Differences, products and sums of small arrays each take an allocation to run and most of a second to compile; of tuples
they are a few instructions. Sums go from the first to the last, as those of arrays do: not a bit differs.
"""

from __future__ import annotations

import numba


@numba.njit(cache=True, error_model="numpy")
def at(x, i):
    """Row i of x (n, 3)."""
    return x[i, 0], x[i, 1], x[i, 2]


@numba.njit(cache=True, error_model="numpy")
def between(x, i, j):
    """Row i less row j of x (n, 3)."""
    return x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]


@numba.njit(cache=True, error_model="numpy")
def less(a, b):
    """a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@numba.njit(cache=True, error_model="numpy")
def dot(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@numba.njit(cache=True, error_model="numpy")
def cross(a, b):
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@numba.njit(cache=True, error_model="numpy")
def over(a, size):
    """a / size."""
    return a[0] / size, a[1] / size, a[2] / size
