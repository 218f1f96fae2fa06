"""Whether surfaces have kept their distance: a proof from how their points move, without looking for who is near whom.

Points x that go to x + d in a block of space do so nearly as one affine map, d = a + G (x − c) + e, and of two of them

    |p(t) − q(t)| ≥ s |p − q| − 2 max|e|,     s = 1 + min(0, least eigenvalue of the symmetric part of G),

on all of the straight way, and at its end with the least singular value of I + G for s, which turns do not lessen.
Every two elements that could come near are in one block, if blocks overlap and are as large as the largest elements and
the way that points go against the one map that fits all of them best. So what was apart by a distance is still apart by
nearly as much, however fast a surface swings, and by less where it folds: a sheet to which nothing is near is left
alone for the price of a few sums over its points.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from bunraku.contracts import Faces, Integers, Points, alike

_MOST_CELLS = 100_000
_ROUNDING = 1e-12  # share of the size of all
_LITTLE = 1e-6  # of the spread of points: weight of what all points do together where these do not tell
_TINY = 1e-90  # [m²] of that: its cube is a number, so that a point alone has a map too
_LEAST = 0.25  # of s, below which blocks tell nothing of what is farther apart
_LEVELS = 3  # of blocks: all, and smaller ones
_SMALLER = 0.7  # share of their size that is worth another look
_TENTH = 0.1  # of any distance is left: the toolkit does not cut such ways short either
_SUMS = 28  # of a cell: how many points, where they are, where they go, both products, normals before and after


def kept(
    begin: Points, end: Points, faces: Faces, own: int, *, distance: float, least: float, on_the_way: bool
) -> float:
    """[m] how far apart elements of a surface, faces (f, 3) of points (n, 3), certainly are at `end`, and on all of the
    straight way if `on_the_way`, that are farther apart than `distance` [m] at `begin`; 0 if not even `least` is
    certain. Of what is farther apart than that at `begin`, a tenth is left at least. Elements without one of the first
    `own` points do not count.
    """
    if not distance > least or not len(faces):
        return 0.0
    begin, end, faces = alike(begin), alike(end), alike(faces)
    size = float(np.abs(begin).max() + np.abs(end).max())
    if not math.isfinite(size):
        return 0.0
    together, rounding, large = np.eye(3), _ROUNDING * size, 2.0 * _largest(begin, faces)
    cells, dims, before = np.zeros(len(begin), np.int64), np.ones(3, np.int64), np.inf
    for _ in range(_LEVELS):
        found, shrinks, off = _bounds(begin, end, faces, cells, dims, own, on_the_way, distance, together)
        found = min(found - rounding, distance)
        if found > least:
            return float(found)
        # What is farther apart than this is told apart by blocks as large as these: the next may be smaller.
        cell = (distance + 2.0 * off) / (shrinks - _TENTH) + large + rounding if shrinks > _LEAST else np.inf
        if not cell < _SMALLER * before:
            return 0.0
        cells, dims, before = *_cells(begin, cell), cell
    return 0.0


def _cells(x: Points, size: float) -> tuple[Integers, Integers]:
    """(n,) the cell, of a size [m] or more, that each point is in, and (3,) how many there are along each axis."""
    low, extent = x.min(axis=0), np.ptp(x, axis=0)
    while np.prod(np.floor(extent / size) + 1.0) > _MOST_CELLS:
        size *= 2.0
    dims = np.floor(extent / size).astype(np.int64) + 1
    at = np.minimum(((x - low) / size).astype(np.int64), dims - 1)
    return (at[:, 0] * dims[1] + at[:, 1]) * dims[2] + at[:, 2], dims


@njit(cache=True, error_model="numpy")
def _largest(x, faces):
    """The longest side of faces."""
    most = 0.0
    for f in range(len(faces)):
        for k in range(3):
            a, b = faces[f, k], faces[f, (k + 1) % 3]
            away = (x[a, 0] - x[b, 0]) ** 2 + (x[a, 1] - x[b, 1]) ** 2 + (x[a, 2] - x[b, 2]) ** 2
            most = max(most, away)
    return math.sqrt(most)


@njit(cache=True, error_model="numpy")
def _bounds(begin, end, faces, cells, dims, own, on_the_way, distance, together):
    """The least of s·distance − 2 max|e| of all blocks of eight cells, of s, and the most of |e|.

    Where the points of a block do not tell, its map is the one of all `together` (3, 3), which one block of all sets.
    """
    nx, ny, nz = dims
    count = nx * ny * nz
    starts, order = _sorted(cells, count)
    sums = _sums(begin, end, faces, cells, count)
    has_own = np.zeros(count, np.bool_)
    for p in range(own):
        has_own[cells[p]] = True
    total, matrix, worst, least, most = np.empty(_SUMS), np.empty((3, 3)), np.inf, 1.0, 0.0
    for i in range(max(nx - 1, 1)):
        for j in range(max(ny - 1, 1)):
            for k in range(max(nz - 1, 1)):
                if not _gather(sums, has_own, i, j, k, dims, total):
                    continue
                shrinks, off = _fit(total, on_the_way, together, matrix), 0.0
                for a in range(i, min(i + 2, nx)):
                    for b in range(j, min(j + 2, ny)):
                        for c in range(k, min(k + 2, nz)):
                            cell = (a * ny + b) * nz + c
                            off = max(off, _off(begin, end, order, starts[cell], starts[cell + 1], total, matrix))
                off = math.sqrt(off)
                if not shrinks * distance - 2.0 * off > -np.inf:
                    return -np.inf, 0.0, np.inf  # not a number
                worst, least, most = min(worst, shrinks * distance - 2.0 * off), min(least, shrinks), max(most, off)
    if count == 1:
        together[:] = matrix
    return worst, least, most


@njit(cache=True, error_model="numpy")
def _sorted(cells, count):
    """Where each cell's points begin in an order of all, and that order."""
    starts = np.zeros(count + 1, np.int64)
    for p in range(len(cells)):
        starts[cells[p] + 1] += 1
    for c in range(count):
        starts[c + 1] += starts[c]
    order, next_ = np.empty(len(cells), np.int64), starts[:-1].copy()
    for p in range(len(cells)):
        order[next_[cells[p]]] = p
        next_[cells[p]] += 1
    return starts, order


@njit(cache=True, error_model="numpy")
def _sums(begin, end, faces, cells, count):
    """(count, 28) of each cell; normals are those of faces whose first corner is in it."""
    sums = np.zeros((count, _SUMS))
    for p in range(len(cells)):
        row = sums[cells[p]]
        row[0] += 1.0
        for a in range(3):
            row[1 + a] += begin[p, a]
            row[4 + a] += end[p, a]
            for b in range(3):
                row[10 + 3 * a + b] += end[p, a] * begin[p, b]
        row[7] += begin[p, 0] * begin[p, 0]
        row[8] += begin[p, 1] * begin[p, 1]
        row[9] += begin[p, 2] * begin[p, 2]
        row[19] += begin[p, 0] * begin[p, 1]
        row[20] += begin[p, 1] * begin[p, 2]
        row[21] += begin[p, 2] * begin[p, 0]
    for f in range(len(faces)):
        row = sums[cells[faces[f, 0]]]
        _add_normal(begin, faces, f, row, 22)
        _add_normal(end, faces, f, row, 25)
    return sums


@njit(cache=True, error_model="numpy")
def _add_normal(x, faces, f, row, at):
    p, q, r = faces[f, 0], faces[f, 1], faces[f, 2]
    u0, u1, u2 = x[q, 0] - x[p, 0], x[q, 1] - x[p, 1], x[q, 2] - x[p, 2]
    v0, v1, v2 = x[r, 0] - x[p, 0], x[r, 1] - x[p, 1], x[r, 2] - x[p, 2]
    row[at] += u1 * v2 - u2 * v1
    row[at + 1] += u2 * v0 - u0 * v2
    row[at + 2] += u0 * v1 - u1 * v0


@njit(cache=True, error_model="numpy")
def _gather(sums, has_own, i, j, k, dims, total):
    """The sums of eight cells; whether they have a point, and one that counts."""
    total[:] = 0.0
    counts = False
    for a in range(i, min(i + 2, dims[0])):
        for b in range(j, min(j + 2, dims[1])):
            for c in range(k, min(k + 2, dims[2])):
                cell = (a * dims[1] + b) * dims[2] + c
                if sums[cell, 0] > 0.0:
                    counts = counts or has_own[cell]
                    for t in range(_SUMS):
                        total[t] += sums[cell, t]
    return counts


@njit(cache=True, error_model="numpy")
def _fit(total, on_the_way, together, matrix):
    """The map I + G that fits best, with normals taken along; what distances shrink by at least."""
    n = total[0]
    a0, a1, a2 = total[1] / n, total[2] / n, total[3] / n
    before, after = _unit(total, 22), _unit(total, 25)
    p00, p11, p22 = total[7] - n * a0 * a0, total[8] - n * a1 * a1, total[9] - n * a2 * a2
    p01, p12, p20 = total[19] - n * a0 * a1, total[20] - n * a1 * a2, total[21] - n * a2 * a0
    spread = p00 + p11 + p22
    heavy, little = 0.5 * spread, _LITTLE * spread + _ROUNDING * (total[7] + total[8] + total[9]) + _TINY
    p00 += heavy * before[0] * before[0] + little
    p11 += heavy * before[1] * before[1] + little
    p22 += heavy * before[2] * before[2] + little
    p01 += heavy * before[0] * before[1]
    p12 += heavy * before[1] * before[2]
    p20 += heavy * before[2] * before[0]
    c00, c01, c02 = p11 * p22 - p12 * p12, p12 * p20 - p01 * p22, p01 * p12 - p11 * p20
    c11, c12, c22 = p00 * p22 - p20 * p20, p01 * p20 - p00 * p12, p00 * p11 - p01 * p01
    whole = p00 * c00 + p01 * c01 + p20 * c02
    for a in range(3):
        b = total[4 + a] / n
        r0 = total[10 + 3 * a] - n * b * a0 + heavy * after[a] * before[0] + little * together[a, 0]
        r1 = total[11 + 3 * a] - n * b * a1 + heavy * after[a] * before[1] + little * together[a, 1]
        r2 = total[12 + 3 * a] - n * b * a2 + heavy * after[a] * before[2] + little * together[a, 2]
        matrix[a, 0] = (r0 * c00 + r1 * c01 + r2 * c02) / whole
        matrix[a, 1] = (r0 * c01 + r1 * c11 + r2 * c12) / whole
        matrix[a, 2] = (r0 * c02 + r1 * c12 + r2 * c22) / whole
    return _least_of_way(matrix) if on_the_way else _least_of_end(matrix)


@njit(cache=True, error_model="numpy")
def _unit(total, at):
    """A vector of the sums of length one, or zero."""
    size = math.sqrt(total[at] ** 2 + total[at + 1] ** 2 + total[at + 2] ** 2)
    if not size > 0.0:
        return 0.0, 0.0, 0.0
    return total[at] / size, total[at + 1] / size, total[at + 2] / size


@njit(cache=True, error_model="numpy")
def _least_of_way(m):
    """At most the least length that I + t G makes of a unit vector, t from 0 to 1; circles [Gershgorin] bound it."""
    u, v, w = 0.5 * (m[0, 1] + m[1, 0]), 0.5 * (m[1, 2] + m[2, 1]), 0.5 * (m[2, 0] + m[0, 2])
    least = min(m[0, 0] - abs(u) - abs(w), m[1, 1] - abs(u) - abs(v), m[2, 2] - abs(v) - abs(w))
    return min(least, 1.0)


@njit(cache=True, error_model="numpy")
def _least_of_end(m):
    """At most the least length that I + G makes of a unit vector."""
    least = np.inf
    for a in range(3):
        row = 0.0
        for b in range(3):
            product = m[0, a] * m[0, b] + m[1, a] * m[1, b] + m[2, a] * m[2, b]
            row += product if a == b else -abs(product)
        least = min(least, row)
    return math.sqrt(least) if least > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def _off(begin, end, order, first, last, total, m):
    """max|e|² of some points."""
    n, most = total[0], 0.0
    for t in range(first, last):
        p = order[t]
        x, y, z = begin[p, 0] - total[1] / n, begin[p, 1] - total[2] / n, begin[p, 2] - total[3] / n
        e0 = end[p, 0] - total[4] / n - (m[0, 0] * x + m[0, 1] * y + m[0, 2] * z)
        e1 = end[p, 1] - total[5] / n - (m[1, 0] * x + m[1, 1] * y + m[1, 2] * z)
        e2 = end[p, 2] - total[6] / n - (m[2, 0] * x + m[2, 1] * y + m[2, 2] * z)
        away = e0 * e0 + e1 * e1 + e2 * e2
        if not away <= most:  # not a number stays one
            most = away
    return most
