"""Pieces of a solid in the cells of a lattice, what of a cell they fill, and the piece each surface vertex is on.

Compiled, so imported by those who call it when they do. Lengths are in units of the samples' grid, `s` of which are
along a cell; sample (i, j, k) is at (i + ½, j + ½, k + ½).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True, error_model="numpy")
def label_pieces(inside, s, labels, cells, sizes):
    """Number the connected pieces of each cell: labels (l, m, n) of samples, −1 outside; cells (p, 3), sizes (p,).

    Samples are neighbours where they share a face. Returns how many pieces there are, −1 if more than there is room.
    """
    stack = np.empty((s * s * s, 3), np.int64)
    count = 0
    shape = (inside.shape[0] // s, inside.shape[1] // s, inside.shape[2] // s)
    labels[:] = -1
    for cell in range(shape[0] * shape[1] * shape[2]):
        low = np.array((cell // (shape[1] * shape[2]), cell // shape[2] % shape[1], cell % shape[2])) * s
        for i in range(low[0], low[0] + s):
            for j in range(low[1], low[1] + s):
                for k in range(low[2], low[2] + s):
                    if not inside[i, j, k] or labels[i, j, k] >= 0:
                        continue
                    if count == len(cells):
                        return -1
                    cells[count], sizes[count] = low // s, _flood(inside, low, s, (i, j, k), count, labels, stack)
                    count += 1
    return count


@njit(error_model="numpy")
def _flood(inside, low, s, seed, label, labels, stack):
    """Label what hangs together with a sample in its cell; how many samples that are."""
    stack[0] = seed
    labels[seed] = label
    depth, size = 1, 0
    while depth > 0:
        depth -= 1
        i, j, k = stack[depth]
        size += 1
        for axis in range(3):
            for way in (-1, 1):
                a, b, c = i + way * (axis == 0), j + way * (axis == 1), k + way * (axis == 2)
                if a < low[0] or b < low[1] or c < low[2] or a >= low[0] + s or b >= low[1] + s or c >= low[2] + s:
                    continue
                if inside[a, b, c] and labels[a, b, c] < 0:
                    labels[a, b, c] = label
                    stack[depth] = a, b, c
                    depth += 1
    return size


@njit(parallel=True, cache=True, error_model="numpy")
def fill_boxes(labels, s, cells, overlap, boxes, shares):
    """Of each piece the box about its samples, (p, 2, 3) in samples from the cell's corner, and the shares (p, 27) of
    that box's volume that are filled in each of its 27 parts, whose sides go as 5 : 8 : 5.

    `overlap` (s + 1, 3, s): of n samples in a row, the share of the whole that lies in each of the three parts.
    """
    # A call alone, with a signed index: what stands in a parallel loop itself takes several times as long to compile.
    for piece in prange(len(cells)):
        _fill_box(np.int64(piece), labels, s, cells[piece], overlap, boxes[piece], shares[piece])


@njit(cache=True, error_model="numpy")
def _fill_box(piece, labels, s, cell, overlap, box, share):
    a, b, c = cell[0] * s, cell[1] * s, cell[2] * s
    x, y, z, far_x, far_y, far_z = s, s, s, 0, 0, 0
    for i in range(s):
        for j in range(s):
            for k in range(s):
                if labels[a + i, b + j, c + k] == piece:
                    x, y, z = min(x, i), min(y, j), min(z, k)
                    far_x, far_y, far_z = max(far_x, i + 1), max(far_y, j + 1), max(far_z, k + 1)
    box[0, 0], box[0, 1], box[0, 2] = x, y, z
    box[1, 0], box[1, 1], box[1, 2] = far_x, far_y, far_z
    for part in range(27):
        share[part] = 0.0
    one, two, three = overlap[far_x - x], overlap[far_y - y], overlap[far_z - z]
    for i in range(x, far_x):
        for j in range(y, far_y):
            for k in range(z, far_z):
                if labels[a + i, b + j, c + k] == piece:
                    for part in range(27):
                        share[part] += one[part // 9, i - x] * two[part // 3 % 3, j - y] * three[part % 3, k - z]


@njit(parallel=True, cache=True, error_model="numpy")
def nearest_pieces(p, normals, labels, s, reach, out):
    """The piece (n,) that points p (n, 3) of the surface are on, −1 where no sample is within `reach`.

    That of the nearest sample to a place half a sample below the point. Samples of the point's own cell are taken
    before others as near, and samples outside the surface, which are across a gap, last of all.
    """
    shape = labels.shape
    for v in prange(len(p)):
        below = p[v] - 0.5 * normals[v]
        out[v], best = -1, np.inf
        low = np.floor(below).astype(np.int64)
        for i in range(max(0, low[0] - reach), min(shape[0], low[0] + reach + 1)):
            for j in range(max(0, low[1] - reach), min(shape[1], low[1] + reach + 1)):
                for k in range(max(0, low[2] - reach), min(shape[2], low[2] + reach + 1)):
                    if labels[i, j, k] < 0:
                        continue
                    x, y, z = i + 0.5, j + 0.5, k + 0.5
                    far = np.sqrt((x - below[0]) ** 2 + (y - below[1]) ** 2 + (z - below[2]) ** 2)
                    side = (x - p[v, 0]) * normals[v, 0] + (y - p[v, 1]) * normals[v, 1] + (z - p[v, 2]) * normals[v, 2]
                    own = i // s == p[v, 0] // s and j // s == p[v, 1] // s and k // s == p[v, 2] // s
                    far += (0.0 if own else 0.75) + (2.0 * reach if side > 0.0 else 0.0)
                    if far < best:
                        best, out[v] = far, labels[i, j, k]
