"""Which points of a fine grid are inside a closed surface: rays along x, and how often each winds about the surface.

Compiled, so imported by those who call it when they do. Lengths are in units of the grid, whose samples are at
(i + ½, j + ½, k + ½). Whether a ray passes left or right of an edge is decided once for both its faces, so that a ray
through an edge meets exactly one of them.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(inline="always", error_model="numpy")
def _left(p, a, b, y, z):
    """Twice the area of the edge a, b and the ray, the same to the last bit from either side; and on which it is."""
    if a < b:
        area = (p[a, 1] - y) * (p[b, 2] - z) - (p[b, 1] - y) * (p[a, 2] - z)
        return area, area >= 0.0
    area = (p[b, 1] - y) * (p[a, 2] - z) - (p[a, 1] - y) * (p[b, 2] - z)
    return -area, not area >= 0.0


@njit(error_model="numpy")
def _meet(p, a, b, c, y, z):
    """Where along x a ray meets a face, and +1 where it enters, −1 where it leaves, 0 where it misses."""
    first, left_first = _left(p, b, c, y, z)
    second, left_second = _left(p, c, a, y, z)
    third, left_third = _left(p, a, b, y, z)
    if left_first != left_second or left_second != left_third:
        return 0.0, 0
    total = first + second + third
    x = (first * p[a, 0] + second * p[b, 0] + third * p[c, 0]) / total if total != 0.0 else p[a, 0]
    return x, -1 if left_first else 1


@njit(cache=True, error_model="numpy")
def crossings(p, faces, shift, rows, columns):
    """All places where rays meet faces (f, 3) of points p (n, 3): starts (rows × columns + 1,), x, signs.

    Ray (j, k) is at y = j + ½ + shift[0], z = k + ½ + shift[1].
    """
    starts = np.zeros(rows * columns + 1, np.int64)
    x, sign, place = np.empty(0), np.empty(0, np.int64), starts
    for filling in range(2):
        if filling == 1:
            for line in range(rows * columns):
                starts[line + 1] += starts[line]
            x, sign = np.empty(starts[-1]), np.empty(starts[-1], np.int64)
            place = starts[:-1].copy()
        for face in range(len(faces)):
            a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
            y0, y1 = min(p[a, 1], p[b, 1], p[c, 1]) - shift[0], max(p[a, 1], p[b, 1], p[c, 1]) - shift[0]
            z0, z1 = min(p[a, 2], p[b, 2], p[c, 2]) - shift[1], max(p[a, 2], p[b, 2], p[c, 2]) - shift[1]
            # one more on each side: rounding may put a ray on an edge that it is not between
            for j in range(max(0, int(np.floor(y0 - 0.5))), min(rows, int(np.floor(y1 - 0.5)) + 2)):
                for k in range(max(0, int(np.floor(z0 - 0.5))), min(columns, int(np.floor(z1 - 0.5)) + 2)):
                    found, turn = _meet(p, a, b, c, j + 0.5 + shift[0], k + 0.5 + shift[1])
                    if turn == 0:
                        continue
                    line = j * columns + k
                    if filling == 0:
                        starts[line + 1] += 1
                    else:
                        x[place[line]], sign[place[line]] = found, turn
                        place[line] += 1
    return starts, x, sign


@njit(error_model="numpy")
def _sort(x, sign, begin, end):
    """The meetings of one ray in the order they come; there are few."""
    for one in range(begin + 1, end):
        here, turn, at = x[one], sign[one], one
        while at > begin and x[at - 1] > here:
            x[at], sign[at] = x[at - 1], sign[at - 1]
            at -= 1
        x[at], sign[at] = here, turn


@njit(parallel=True, cache=True, error_model="numpy")
def fill_inside(starts, x, sign, inside):
    """Fill (l, m, n) samples about which the surface winds; on how many rays it does not come to zero in the end."""
    open_rays = 0
    count, rows, columns = inside.shape
    for line in prange(rows * columns):
        begin, end = starts[line], starts[line + 1]
        _sort(x, sign, begin, end)
        turns, at = 0, begin
        for i in range(count):
            while at < end and x[at] < i + 0.5:
                turns += sign[at]
                at += 1
            inside[i, line // columns, line % columns] = turns != 0
        while at < end:
            turns += sign[at]
            at += 1
        open_rays += 1 if turns != 0 else 0
    return open_rays
