"""Surfaces that pass through each other on straight ways between two sets of points.

Two surfaces that are apart can meet only where a corner of one meets a face of the other, or an edge an edge. While
all their corners go straight from time t₀ to t₁, every vector between such a pair lies in the convex hull of the
vectors between their corners at t₀ and at t₁. If some direction has all of those on one side, beyond the gap, the pair
keeps it. If not, the time is halved, until the pair is found within the gap or so often that it is taken to be: the
answer errs on the side of finding too much.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from bunraku.contracts import Faces, Integers, Points, alike

from .bvh import DEEPEST, Tree, box_tree, boxes_meet
from .hulls import nearest_of
from .topology import edges

_MOST = 20_000  # intervals of time looked at for one pair
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


def passing_pairs(
    begin: Points, end: Points, faces: Faces, *, gap: float = 0.0, movable: int | None = None
) -> tuple[Integers, Integers]:
    """(v, 2) vertices and faces, (e, 4) corners of two edges, that come within `gap` [m] on the way.

    Of each vertex and each edge the first one found. Points (n, 3) must be finite; pairs with a common vertex, and
    pairs without a vertex below `movable`, do not count.
    """
    begin, end = np.ascontiguousarray(begin, np.float64), np.ascontiguousarray(end, np.float64)
    faces = alike(np.asarray(faces, np.int64))
    movable = len(begin) if movable is None else movable
    sides = edges(faces).vertices
    met_face, met_edge = np.full(len(begin), -1), np.full(len(sides), -1)
    if not len(faces):
        return np.zeros((0, 2), np.int64), np.zeros((0, 4), np.int64)
    middle = 0.5 * (begin[faces].min(axis=(0, 1)) + begin[faces].max(axis=(0, 1)))
    begin, end = begin - middle, end - middle
    blur = _ROUNDING * float(max(np.abs(begin[faces]).max(), np.abs(end[faces]).max()))
    used = np.zeros(len(begin), dtype=bool)
    used[faces] = True
    _meet_faces(begin, end, faces, used, movable, gap + blur, *_swept(begin, end, faces), met_face)
    _meet_edges(begin, end, sides, movable, gap + blur, *_swept(begin, end, sides), met_edge)
    vertices, first = np.flatnonzero(met_face >= 0), np.flatnonzero(met_edge >= 0)
    return np.stack([vertices, met_face[vertices]], axis=1), np.hstack([sides[first], sides[met_edge[first]]])


def _swept(begin: Points, end: Points, corners: Integers) -> Tree:
    """A tree of the boxes that contain things from begin to end."""
    both = np.concatenate([begin[corners], end[corners]], axis=1)
    return box_tree(both.min(axis=1), both.max(axis=1))


@njit(parallel=True, cache=True, error_model="numpy")
def _meet_faces(begin, end, faces, used, movable, gap, low, high, second, first, count, order, met):
    # Calls alone, with a signed index: what stands in a parallel loop itself takes several times as long to compile.
    for v in prange(len(begin)):
        if used[v]:
            met[v] = _face_met(
                begin, end, np.int64(v), faces, movable, gap, low, high, second, first, count, order
            )  # fmt: skip


@njit(error_model="numpy")
def _face_met(begin, end, v, faces, movable, gap, low, high, second, first, count, order):
    """The first face found that a vertex meets, or −1."""
    own_low, own_high = np.empty(3), np.empty(3)
    for axis in range(3):
        own_low[axis] = min(begin[v, axis], end[v, axis]) - gap
        own_high[axis] = max(begin[v, axis], end[v, axis]) + gap
    stack = np.empty(DEEPEST, np.int64)
    stack[0], depth = 0, 1
    while depth > 0:
        depth -= 1
        box = stack[depth]
        if not boxes_meet(own_low, own_high, low[box], high[box]):
            continue
        if second[box] >= 0:
            stack[depth], stack[depth + 1] = second[box], box + 1
            depth += 2
            continue
        for k in range(first[box], first[box] + count[box]):
            f = faces[order[k]]
            if v == f[0] or v == f[1] or v == f[2] or (v >= movable and min(f[0], min(f[1], f[2])) >= movable):
                continue
            if _vertex_meets(begin, end, v, f, gap):
                return order[k]
    return -1


@njit(parallel=True, cache=True, error_model="numpy")
def _meet_edges(begin, end, sides, movable, gap, low, high, second, first, count, order, met):
    for e in prange(len(sides)):
        met[e] = _edge_met(begin, end, np.int64(e), sides, movable, gap, low, high, second, first, count, order)


@njit(error_model="numpy")
def _edge_met(begin, end, e, sides, movable, gap, low, high, second, first, count, order):
    """The first edge after it found that an edge meets, or −1."""
    a, b = sides[e, 0], sides[e, 1]
    own_low, own_high = np.empty(3), np.empty(3)
    for axis in range(3):
        early, late = min(begin[a, axis], begin[b, axis]), min(end[a, axis], end[b, axis])
        own_low[axis] = min(early, late) - gap
        early, late = max(begin[a, axis], begin[b, axis]), max(end[a, axis], end[b, axis])
        own_high[axis] = max(early, late) + gap
    stack = np.empty(DEEPEST, np.int64)
    stack[0], depth = 0, 1
    while depth > 0:
        depth -= 1
        box = stack[depth]
        if not boxes_meet(own_low, own_high, low[box], high[box]):
            continue
        if second[box] >= 0:
            stack[depth], stack[depth + 1] = second[box], box + 1
            depth += 2
            continue
        for k in range(first[box], first[box] + count[box]):
            c, d = sides[order[k], 0], sides[order[k], 1]
            if order[k] <= e or a == c or a == d or b == c or b == d or min(min(a, b), min(c, d)) >= movable:
                continue
            if _edges_meet(begin, end, a, b, c, d, gap):
                return order[k]
    return -1


@njit(error_model="numpy")
def _vertex_meets(begin, end, v, f, gap):
    """Vectors from the corners of a face to a vertex."""
    start, stop = np.empty((3, 3)), np.empty((3, 3))
    for k in range(3):
        for axis in range(3):
            start[k, axis] = begin[v, axis] - begin[f[k], axis]
            stop[k, axis] = end[v, axis] - end[f[k], axis]
    return _meets(start, stop, False, gap)


@njit(error_model="numpy")
def _edges_meet(begin, end, a, b, c, d, gap):
    """Vectors from the ends of one edge to those of the other: a − c, b − c, b − d, a − d, in a ring."""
    start, stop = np.empty((4, 3)), np.empty((4, 3))
    for axis in range(3):
        for x, out in ((begin, start), (end, stop)):
            out[0, axis], out[1, axis] = x[a, axis] - x[c, axis], x[b, axis] - x[c, axis]
            out[2, axis], out[3, axis] = x[b, axis] - x[d, axis], x[a, axis] - x[d, axis]
    return _meets(start, stop, True, gap)


@njit(error_model="numpy")
def _meets(start, stop, ring, gap):
    """Whether the hull of vectors (m, 3) that go straight from start to stop comes within the gap of zero.

    Three vectors span a triangle, four in a ring a parallelogram: all differences of two segments.
    """
    begin, length = np.empty(128), np.empty(128)
    begin[0], length[0], depth, looked = 0.0, 1.0, 1, 0
    early, late, middle = np.empty_like(start), np.empty_like(start), np.empty_like(start)
    while depth > 0:
        depth -= 1
        t, span = begin[depth], length[depth]
        looked += 1
        for k in range(len(start)):
            for axis in range(3):
                way = stop[k, axis] - start[k, axis]
                early[k, axis] = start[k, axis] + t * way
                late[k, axis] = start[k, axis] + (t + span) * way
                middle[k, axis] = 0.5 * (early[k, axis] + late[k, axis])
        n0, n1, n2 = nearest_of(middle, ring)
        size = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if size <= gap or looked >= _MOST:
            return True
        if _least(early, late, n0 / size, n1 / size, n2 / size) > gap:
            continue
        if depth + 2 > len(begin):
            return True
        # The earlier half is looked at first.
        begin[depth], length[depth] = t + 0.5 * span, 0.5 * span
        begin[depth + 1], length[depth + 1] = t, 0.5 * span
        depth += 2
    return False


@njit(error_model="numpy")
def _least(early, late, n0, n1, n2):
    """The least extent of vectors along a direction."""
    least = np.inf
    for k in range(len(early)):
        least = min(least, early[k, 0] * n0 + early[k, 1] * n1 + early[k, 2] * n2)
        least = min(least, late[k, 0] * n0 + late[k, 1] * n1 + late[k, 2] * n2)
    return least
