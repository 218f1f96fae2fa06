"""A tree of boxes over triangles: which triangles can be near a place, without asking each.

The kernels are compiled, so this file is imported by those who call them when they do, never with the package.
Coordinates must be finite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from bunraku.contracts import Faces, Integers, Points

LEAF = 4
"""triangles in a leaf, at most"""
DEEPEST = 64
"""places on the stack of a traversal: halving reaches a leaf of 2⁶⁴ triangles before it is full"""


class Tree(NamedTuple):
    """Boxes in depth-first order: the first child of an inner box is the next one."""

    low: Points
    """(k, 3) corner of each box with the smallest coordinates"""
    high: Points
    """(k, 3) the opposite corner"""
    second: Integers
    """(k,) second child; −1: the box is a leaf"""
    first: Integers
    """(k,) place in `order` of a leaf's first triangle"""
    held: Integers
    """(k,) triangles of a leaf"""
    order: Integers
    """(f,) triangles, those of one leaf together"""


def build_tree(x: Points, faces: Faces) -> Tree:
    """The tree over triangles (f, 3) of points (n, 3)."""
    corners = x[faces]
    return box_tree(corners.min(axis=1), corners.max(axis=1))


def box_tree(low: Points, high: Points) -> Tree:
    """The tree over things (f, …) given by two corners (f, 3) of the box about each."""
    most = max(1, 2 * len(low))
    boxes = np.full((most, 3), np.inf), np.full((most, 3), -np.inf)
    second, first, held = np.full(most, -1), np.zeros(most, np.int64), np.zeros(most, np.int64)
    order = np.arange(len(low))
    count = _build(low, high, low + high, *boxes, second, first, held, order)
    return Tree(boxes[0][:count], boxes[1][:count], second[:count], first[:count], held[:count], order)


@njit(error_model="numpy")
def boxes_meet(low, high, other_low, other_high):
    """Whether two boxes, given by two corners (3,) each, have a point in common."""
    for axis in range(3):
        if low[axis] > other_high[axis] or other_low[axis] > high[axis]:
            return False
    return True


@njit(cache=True, error_model="numpy")
def _build(low, high, centre, box_low, box_high, second, first, held, order):
    """Boxes (f, 3) halved at the median of their centres along the longest side until LEAF are left; how many."""
    stack = np.empty((DEEPEST, 3), np.int64)  # begin, end, box whose second child this is
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, len(low), -1
    depth, boxes = 1, 0
    while depth > 0:
        depth -= 1
        begin, end, parent = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        box, boxes = boxes, boxes + 1
        if parent >= 0:
            second[parent] = box
        for k in range(begin, end):
            for axis in range(3):
                box_low[box, axis] = min(box_low[box, axis], low[order[k], axis])
                box_high[box, axis] = max(box_high[box, axis], high[order[k], axis])
        if end - begin <= LEAF:
            first[box], held[box] = begin, end - begin
            continue
        middle = (begin + end) // 2
        _select(order, centre, _longest_side(centre, order, begin, end), begin, end, middle)
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = middle, end, box
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = begin, middle, -1
        depth += 2
    return boxes


@njit(error_model="numpy")
def _longest_side(centre, order, begin, end):
    """Axis along which the centres of order[begin:end] spread most."""
    best, side = -1.0, 0
    for axis in range(3):
        low, high = np.inf, -np.inf
        for k in range(begin, end):
            low, high = min(low, centre[order[k], axis]), max(high, centre[order[k], axis])
        if high - low > best:
            best, side = high - low, axis
    return side


@njit(error_model="numpy")
def _select(order, centre, axis, begin, end, middle):
    """Reorder order[begin:end] so that no centre before `middle` is larger along an axis than one after it (Hoare)."""
    left, right = begin, end - 1
    while left < right:
        pivot = centre[order[(left + right) // 2], axis]
        i, j = left, right
        while i <= j:
            while centre[order[i], axis] < pivot:
                i += 1
            while centre[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit(parallel=True, cache=True, error_model="numpy")
def nearest(query, own, x, faces, low, high, second, first, count, order, point, face, weight, distance):
    """Nearest triangle of each query (m, 3) that does not have the vertex own (m,); −1: any.

    Filled: point (m, 3), face (m,) or −1 where there is none, weight (m, 3), distance (m,).
    """
    for q in prange(len(query)):
        best, found, w0, w1, w2 = np.inf, -1, 0.0, 0.0, 0.0
        stack, reach = np.empty(DEEPEST, np.int64), np.empty(DEEPEST)
        stack[0], reach[0], depth = 0, 0.0, 1
        while depth > 0:
            depth -= 1
            box = stack[depth]
            if reach[depth] > best:
                continue
            if second[box] < 0:
                for k in range(first[box], first[box] + count[box]):
                    f = order[k]
                    if faces[f, 0] == own[q] or faces[f, 1] == own[q] or faces[f, 2] == own[q]:
                        continue
                    a0, a1, a2, squared = _on_triangle(query[q], x[faces[f, 0]], x[faces[f, 1]], x[faces[f, 2]])
                    # Of equally near triangles the first one, whatever the tree looks like.
                    if squared < best or (squared == best and f < found):
                        best, found, w0, w1, w2 = squared, f, a0, a1, a2
                continue
            near, far = box + 1, second[box]
            to_near, to_far = _to_box(query[q], low[near], high[near]), _to_box(query[q], low[far], high[far])
            if to_far < to_near:
                near, far, to_near, to_far = far, near, to_far, to_near
            stack[depth], reach[depth] = far, to_far
            stack[depth + 1], reach[depth + 1] = near, to_near
            depth += 2
        face[q], distance[q] = found, np.sqrt(best)
        weight[q, 0], weight[q, 1], weight[q, 2] = w0, w1, w2
        for axis in range(3 if found >= 0 else 0):
            a, b, c = x[faces[found, 0], axis], x[faces[found, 1], axis], x[faces[found, 2], axis]
            point[q, axis] = w0 * a + w1 * b + w2 * c


@njit(parallel=True, cache=True, error_model="numpy")
def any_hit(origin, along, own, x, faces, low, high, second, first, count, order, hit):
    """Whether the ray from each origin (m, 3) along (m, 3) meets a triangle without the vertices own (m, 3); −1: none.

    Filled: hit (m,) bool. Nothing behind the origin counts.
    """
    for q in prange(len(origin)):
        stack = np.empty(DEEPEST, np.int64)
        stack[0], depth = 0, 1
        hit[q] = False
        while depth > 0 and not hit[q]:
            depth -= 1
            box = stack[depth]
            if not _meets_box(origin[q], along[q], low[box], high[box]):
                continue
            if second[box] >= 0:
                stack[depth], stack[depth + 1] = second[box], box + 1
                depth += 2
                continue
            for k in range(first[box], first[box] + count[box]):
                f = faces[order[k]]
                if not _shares(f, own[q]) and _meets(origin[q], along[q], x[f[0]], x[f[1]], x[f[2]]):
                    hit[q] = True
                    break


@njit(inline="always", error_model="numpy")
def _shares(face, own):
    for a in range(3):
        for b in range(3):
            if face[a] == own[b]:
                return True
    return False


@njit(inline="always", error_model="numpy")
def _meets_box(p, along, low, high):
    """Whether a ray meets a box; slabs, with a ray that lies in a slab's plane decided by its origin."""
    near, far = 0.0, np.inf
    for axis in range(3):
        if along[axis] == 0.0:
            if p[axis] < low[axis] or p[axis] > high[axis]:
                return False
            continue
        a, b = (low[axis] - p[axis]) / along[axis], (high[axis] - p[axis]) / along[axis]
        near, far = max(near, min(a, b)), min(far, max(a, b))
    return near <= far * (1.0 + 1e-12)


@njit(inline="always", error_model="numpy")
def _meets(p, along, a, b, c):
    """Whether a ray meets triangle a, b, c from either side; one in its plane does not."""
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    h0, h1, h2 = along[1] * v2 - along[2] * v1, along[2] * v0 - along[0] * v2, along[0] * v1 - along[1] * v0
    volume = u0 * h0 + u1 * h1 + u2 * h2
    if volume == 0.0:
        return False
    r0, r1, r2 = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    s = (r0 * h0 + r1 * h1 + r2 * h2) / volume
    g0, g1, g2 = r1 * u2 - r2 * u1, r2 * u0 - r0 * u2, r0 * u1 - r1 * u0
    t = (along[0] * g0 + along[1] * g1 + along[2] * g2) / volume
    return s >= 0.0 and t >= 0.0 and s + t <= 1.0 and (v0 * g0 + v1 * g1 + v2 * g2) / volume > 0.0


@njit(inline="always", error_model="numpy")
def _to_box(p, low, high):
    """Squared distance of a point to a box, 0 inside."""
    total = 0.0
    for axis in range(3):
        gap = max(max(low[axis] - p[axis], p[axis] - high[axis]), 0.0)
        total += gap * gap
    return total


@njit(error_model="numpy")
def _on_triangle(p, a, b, c):
    """Weights of the point of triangle a, b, c nearest to p, and the squared distance.

    Inside the triangle by projection, else the best of its three sides: so triangles without area are segments.
    """
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    r0, r1, r2 = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    uu, uv, vv = u0 * u0 + u1 * u1 + u2 * u2, u0 * v0 + u1 * v1 + u2 * v2, v0 * v0 + v1 * v1 + v2 * v2
    ru, rv = r0 * u0 + r1 * u1 + r2 * u2, r0 * v0 + r1 * v1 + r2 * v2
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    square = n0 * n0 + n1 * n1 + n2 * n2
    s, t = vv * ru - uv * rv, uu * rv - uv * ru
    if s >= 0.0 and t >= 0.0 and s + t <= square and square > 1e-24 * uu * vv:
        s, t = s / square, t / square
        d0, d1, d2 = r0 - s * u0 - t * v0, r1 - s * u1 - t * v1, r2 - s * u2 - t * v2
        return max(1.0 - s - t, 0.0), s, t, d0 * d0 + d1 * d1 + d2 * d2
    along_u, to_u = _on_side(r0, r1, r2, u0, u1, u2)
    along_v, to_v = _on_side(r0, r1, r2, v0, v1, v2)
    along_w, to_w = _on_side(r0 - u0, r1 - u1, r2 - u2, v0 - u0, v1 - u1, v2 - u2)
    if to_u <= to_v and to_u <= to_w:
        return 1.0 - along_u, along_u, 0.0, to_u
    if to_v <= to_w:
        return 1.0 - along_v, 0.0, along_v, to_v
    return 0.0, 1.0 - along_w, along_w, to_w


@njit(error_model="numpy")
def _on_side(r0, r1, r2, e0, e1, e2):
    """Where along e (0 to 1) the point nearest to r lies, and its squared distance."""
    square = e0 * e0 + e1 * e1 + e2 * e2
    along = 0.0
    if square > 0.0:
        along = min(max((r0 * e0 + r1 * e1 + r2 * e2) / square, 0.0), 1.0)
    d0, d1, d2 = r0 - along * e0, r1 - along * e1, r2 - along * e2
    return along, d0 * d0 + d1 * d1 + d2 * d2
