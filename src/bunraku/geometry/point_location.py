"""In which tetrahedron points lie. Compiled, so imported by those who call it when they do."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from .bvh import DEEPEST

_INSIDE = -1e-10
"""the smallest weight of a point that counts as inside"""


@njit(parallel=True, cache=True, error_model="numpy")
def locate(query, origin, inverse, low, high, second, first, count, order, tet, weight):
    """The tetrahedron (n,) each point (n, 3) is in, and its weights (n, 4), filled; left alone where it is in none.

    A tetrahedron is its first corner (m, 3) and the matrix (m, 3, 3) from there to the weights of the others. Of
    several the one in which the point is deepest, so that the answer does not hang on the tree.
    """
    for q in prange(len(query)):
        stack = np.empty(DEEPEST, np.int64)
        stack[0], depth = 0, 1
        best, found = _INSIDE, -1
        while depth > 0:
            depth -= 1
            box = stack[depth]
            p0, p1, p2 = query[q, 0], query[q, 1], query[q, 2]
            if p0 < low[box, 0] or p1 < low[box, 1] or p2 < low[box, 2]:
                continue
            if p0 > high[box, 0] or p1 > high[box, 1] or p2 > high[box, 2]:
                continue
            if second[box] >= 0:
                stack[depth], stack[depth + 1] = second[box], box + 1
                depth += 2
                continue
            for k in range(first[box], first[box] + count[box]):
                t = order[k]
                w0, w1, w2, w3 = _weights(query[q], origin[t], inverse[t])
                least = min(min(w0, w1), min(w2, w3))
                if least > best or (least == best and t < found):
                    best, found = least, t
                    weight[q, 0], weight[q, 1], weight[q, 2], weight[q, 3] = w0, w1, w2, w3
        tet[q] = found


@njit(inline="always", error_model="numpy")
def _weights(p, origin, inverse):
    """The four barycentric weights of a point."""
    r0, r1, r2 = p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]
    w1 = inverse[0, 0] * r0 + inverse[0, 1] * r1 + inverse[0, 2] * r2
    w2 = inverse[1, 0] * r0 + inverse[1, 1] * r1 + inverse[1, 2] * r2
    w3 = inverse[2, 0] * r0 + inverse[2, 1] * r1 + inverse[2, 2] * r2
    return 1.0 - w1 - w2 - w3, w1, w2, w3
