"""Compiled kernels of `holes`: the order of a rim, and the best triangles over it."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def rim_order(following, first, count):
    """(count,) places met when one follows from `first`."""
    out = np.empty(count, np.int64)
    for k in range(count):
        out[k] = first
        first = following[first]
    return out


@njit(cache=True, error_model="numpy")
def simple_rings(ring):
    """(n,) number of the simple ring each place of a ring of vertices (n,) belongs to: where it meets itself it is cut.

    Holes that touch in a vertex have one border, which runs around both.
    """
    label, stack = np.full(len(ring), -1), np.empty(len(ring), np.int64)
    depth, rings = 0, 0
    for k in range(len(ring)):
        for s in range(depth):
            if ring[stack[s]] == ring[k]:
                for inner in range(s, depth):
                    label[stack[inner]] = rings
                rings += 1
                depth = s
                break
        stack[depth] = k
        depth += 1
    for s in range(depth):
        label[stack[s]] = rings
    return label


@njit(cache=True, error_model="numpy")
def best_triangles(ring, barred):
    """(n − 2, 3) places in a ring (n, 3) of triangles over it, and their cost: inf where there are none.

    Every way to cut the ring is weighed (dynamic programming): short edges, no slivers, no triangle that looks away.
    barred (n, n): pairs that must not be joined.
    """
    n = len(ring)
    normal = np.zeros(3)
    for k in range(n):
        a, b = ring[k] - ring[0], ring[(k + 1) % n] - ring[0]
        normal[0] += a[1] * b[2] - a[2] * b[1]
        normal[1] += a[2] * b[0] - a[0] * b[2]
        normal[2] += a[0] * b[1] - a[1] * b[0]
    cost, split = np.zeros((n, n)), np.full((n, n), -1)
    for gap in range(2, n):
        for i in range(n - gap):
            j = i + gap
            cost[i, j] = np.inf
            if barred[i, j]:
                continue
            for m in range(i + 1, j):
                if cost[i, m] + cost[m, j] >= cost[i, j]:
                    continue
                total = cost[i, m] + cost[m, j] + _cost(ring[i], ring[m], ring[j], normal)
                if total < cost[i, j]:
                    cost[i, j], split[i, j] = total, m
    out = np.zeros((max(n - 2, 0), 3), np.int64)
    if not cost[0, n - 1] < np.inf:
        return out, np.inf
    stack = np.empty((n, 2), np.int64)
    stack[0] = 0, n - 1
    depth, made = 1, 0
    while depth > 0:
        depth -= 1
        i, j = stack[depth]
        if j - i < 2:
            continue
        m = split[i, j]
        out[made] = i, m, j
        made += 1
        stack[depth] = i, m
        stack[depth + 1] = m, j
        depth += 2
    return out, cost[0, n - 1]


@njit(error_model="numpy")
def _cost(a, b, c, normal):
    """Squares of the edges, more for a sliver, much more for a triangle that looks away from the rim's normal."""
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    w0, w1, w2 = v0 - u0, v1 - u1, v2 - u2
    squares = u0 * u0 + u1 * u1 + u2 * u2 + v0 * v0 + v1 * v1 + v2 * v2 + w0 * w0 + w1 * w1 + w2 * w2
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    area = 0.5 * np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    # A triangle without area would close the hole on paper only.
    if not area > 1e-3 * squares:
        return np.inf
    sliver = squares / (7.0 * area)
    away = n0 * normal[0] + n1 * normal[1] + n2 * normal[2] < 0.0
    return squares * (1.0 + 0.1 * sliver) * (10.0 if away else 1.0)
