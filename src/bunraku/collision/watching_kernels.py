"""Loops of `watching`: boxes about faces on their ways, and pairs of elements that are not far apart."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from bunraku.contracts import Flags, Integers, Points
from bunraku.geometry.bvh import DEEPEST, Tree
from bunraku.geometry.hulls import nearest_of

_THIRD = 1.0 / 3.0
_AT_ONCE = 1024  # elements that one thread looks at


def refit(
    tree: Tree, low: Points, high: Points, bits: Integers, meets: Integers, box_low: Points, box_high: Points,
    held: Integers, met: Integers,
) -> None:  # fmt: skip
    """Boxes of a tree about boxes (f, 3) of its faces, and which kinds each holds and which these may meet, by bits."""
    _refit(tree.second, tree.first, tree.held, tree.order, low, high, bits, meets, box_low, box_high, held, met)


def near_elements(
    tree: Tree, low_high: tuple[Points, Points], boxes: tuple[Points, Points], kinds_of: tuple[Integers, Integers],
    elements: tuple[Integers, Flags, Integers], edges: Integers, real: int, kinds: Integers, may_meet: Flags,
    ways: Sequence[Points], distance: float, keep: float,
) -> tuple[Integers, Integers]:  # fmt: skip
    """As `Watch.within`; `real` is how many of the faces have an extent."""
    shape = (tree.second, tree.first, tree.held, tree.order)
    pairs = _face_pairs(*shape, elements[0], *low_high, *boxes, *kinds_of, kinds, may_meet, distance)
    return _elements(pairs, *elements, edges, real, ways[0], ways[1], ways[0] is not ways[1], distance, keep)


def elements_beside(
    faces: Integers, vertices_of: Flags, edges_of: Integers, edges: Integers, real: int, some: Flags
) -> tuple[Integers, Integers]:
    """(m, 2) face and vertex, and (k, 2) two edges, of faces that have a vertex in common, of `some` (f,)."""
    order = np.argsort(faces.reshape(-1), kind="stable")
    starts = np.searchsorted(faces.reshape(-1)[order], np.arange(1 + faces.max(initial=-1) + 1))
    pairs = _pairs_beside(faces, starts, order // 3, some)
    nowhere = np.zeros((1 + int(faces.max(initial=-1)), 3))  # all at one place: none is apart
    return _elements(pairs, faces, vertices_of, edges_of, edges, real, nowhere, nowhere, False, 0.0, 0.0)


@numba.njit(cache=True, error_model="numpy")
def _pairs_beside(faces, starts, faces_of, some):
    out, found = np.empty((1024, 2), np.int64), 0
    for f in range(len(faces)):
        for k in range(3 if some[f] else 0):
            for n in range(starts[faces[f, k]], starts[faces[f, k] + 1]):
                g = faces_of[n]
                seen = g <= f or not some[g]
                for earlier in range(k):  # a pair with two vertices in common counts at the first of them
                    v = faces[f, earlier]
                    seen |= v == faces[g, 0] or v == faces[g, 1] or v == faces[g, 2]
                if not seen:
                    out = _with_room(out, found)
                    out[found, 0], out[found, 1] = f, g
                    found += 1
    return out[:found]


@numba.njit(cache=True, error_model="numpy", parallel=True)
def may_be_near(corners, faced, begin, end, moves, distance, keep, out):
    """Of elements with corners (m, 4), first the `faced` vertices and faces, then edges: whether they may come near."""
    for part in numba.prange((len(corners) + _AT_ONCE - 1) // _AT_ONCE):
        room = np.empty((4, 3))
        for n in range(part * _AT_ONCE, min((part + 1) * _AT_ONCE, len(corners))):
            i, j, k, m = corners[n, 0], corners[n, 1], corners[n, 2], corners[n, 3]
            out[n] = not _apart(begin, end, i, j, k, m, n >= faced, moves, distance, keep, room)


@numba.njit(cache=True, error_model="numpy", parallel=True)
def swept_boxes(begin, end, faces, low, high):
    """Low and high corners (f, 3) of boxes about faces on their ways."""
    for f in numba.prange(len(faces)):
        for a in range(3):
            least, most = np.inf, -np.inf
            for k in range(3):
                v = faces[f, k]
                least, most = min(least, begin[v, a], end[v, a]), max(most, begin[v, a], end[v, a])
            low[f, a], high[f, a] = least, most


@numba.njit(cache=True, error_model="numpy")
def _refit(second, first, count, order, low, high, bits, meets, box_low, box_high, held, met):
    for box in range(len(second) - 1, -1, -1):  # children stand behind
        if second[box] < 0:
            box_low[box], box_high[box] = np.inf, -np.inf
            for k in range(first[box], first[box] + count[box]):
                f = order[k]
                for a in range(3):
                    box_low[box, a] = min(box_low[box, a], low[f, a])
                    box_high[box, a] = max(box_high[box, a], high[f, a])
                held[box] |= bits[f]
                met[box] |= meets[f]
            continue
        one, other = box + 1, second[box]
        for a in range(3):
            box_low[box, a] = min(box_low[one, a], box_low[other, a])
            box_high[box, a] = max(box_high[one, a], box_high[other, a])
        held[box], met[box] = held[one] | held[other], met[one] | met[other]


@numba.njit(cache=True, error_model="numpy")
def _far(low, high, i, j, square):
    """Whether two boxes are farther apart than the root of `square`."""
    total = 0.0
    for a in range(3):
        gap = max(low[i, a] - high[j, a], low[j, a] - high[i, a])
        if gap > 0.0:
            total += gap * gap
    return total > square


@numba.njit(cache=True, error_model="numpy")
def _neighbours(faces, f, g):
    """Whether two faces have a vertex in common."""
    for k in range(3):
        v = faces[f, k]
        if v == faces[g, 0] or v == faces[g, 1] or v == faces[g, 2]:
            return True
    return False


@numba.njit(cache=True, error_model="numpy")
def _with_room(out, count):
    """Twice as long where it is full."""
    if count < len(out):
        return out
    longer = np.empty((2 * len(out), 2), np.int64)
    longer[:count] = out
    return longer


@numba.njit(cache=True, error_model="numpy")
def _face_pairs(second, first, count, order, faces, low, high, box_low, box_high, held, met, kinds, may_meet, distance):
    """(p, 2) faces without a common vertex whose boxes are within the distance and that may meet."""
    square, found = distance * distance, 0
    out, stack = np.empty((1024, 2), np.int64), np.empty((8 * DEEPEST, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, 0
    depth = 1 if len(order) else 0
    while depth > 0:
        depth -= 1
        i, j = stack[depth, 0], stack[depth, 1]
        if met[i] & held[j] == 0 or (i != j and _far(box_low, box_high, i, j, square)):
            continue
        if second[i] < 0 and second[j] < 0:
            for k in range(first[i], first[i] + count[i]):
                for m in range(k + 1 if i == j else first[j], first[j] + count[j]):
                    f, g = order[k], order[m]
                    if not may_meet[kinds[f], kinds[g]] or _far(low, high, f, g, square):
                        continue
                    if not _neighbours(faces, f, g):
                        out = _with_room(out, found)
                        out[found, 0], out[found, 1] = f, g
                        found += 1
            continue
        if i == j:
            stack[depth, 0], stack[depth, 1] = i + 1, i + 1
            stack[depth + 1, 0], stack[depth + 1, 1] = second[i], second[i]
            stack[depth + 2, 0], stack[depth + 2, 1] = i + 1, second[i]
            depth += 3
            continue
        for a in range(1 if second[i] < 0 else 2):
            for b in range(1 if second[j] < 0 else 2):
                stack[depth, 0] = i if second[i] < 0 else (i + 1 if a == 0 else second[i])
                stack[depth, 1] = j if second[j] < 0 else (j + 1 if b == 0 else second[j])
                depth += 1
    return out[:found]


@numba.njit(cache=True, error_model="numpy")
def _elements(pairs, faces, vertices_of, edges_of, edges, real, begin, end, moves, distance, keep):
    """Of pairs of faces, the pairs of their own vertices and edges that may come within the distance."""
    faced, lined, some, others = np.empty((1024, 2), np.int64), np.empty((1024, 2), np.int64), 0, 0
    room = np.empty((4, 3))
    for p in range(len(pairs)):
        for side in range(2):
            f, g = pairs[p, side], pairs[p, 1 - side]
            i, j, k = faces[g, 0], faces[g, 1], faces[g, 2]
            for corner in range(3 if g < real else 0):
                v = faces[f, corner]
                if not vertices_of[f, corner] or v == i or v == j or v == k:
                    continue
                if not _apart(begin, end, v, i, j, k, False, moves, distance, keep, room):
                    faced = _with_room(faced, some)
                    faced[some, 0], faced[some, 1] = g, v
                    some += 1
        for first in range(3):
            e = edges_of[pairs[p, 0], first]
            for second in range(3 if e >= 0 else 0):
                d = edges_of[pairs[p, 1], second]
                if d < 0:
                    continue
                i, j, k, m = edges[e, 0], edges[e, 1], edges[d, 0], edges[d, 1]
                if i == k or i == m or j == k or j == m:
                    continue
                if not _apart(begin, end, i, j, k, m, True, moves, distance, keep, room):
                    lined = _with_room(lined, others)
                    lined[others, 0], lined[others, 1] = min(e, d), max(e, d)
                    others += 1
    return faced[:some], lined[:others]


@numba.njit(cache=True, error_model="numpy")
def _apart(begin, end, i, j, k, m, ring, moves, distance, keep, room):
    """Whether a direction, that of the middles or that in which they are nearest, keeps two elements apart."""
    if ring:
        n0 = 0.5 * (begin[i, 0] + begin[j, 0] - begin[k, 0] - begin[m, 0])
        n1 = 0.5 * (begin[i, 1] + begin[j, 1] - begin[k, 1] - begin[m, 1])
        n2 = 0.5 * (begin[i, 2] + begin[j, 2] - begin[k, 2] - begin[m, 2])
    else:
        n0 = begin[i, 0] - _THIRD * (begin[j, 0] + begin[k, 0] + begin[m, 0])
        n1 = begin[i, 1] - _THIRD * (begin[j, 1] + begin[k, 1] + begin[m, 1])
        n2 = begin[i, 2] - _THIRD * (begin[j, 2] + begin[k, 2] + begin[m, 2])
    if _shown(begin, end, i, j, k, m, ring, n0, n1, n2, moves, distance, keep):
        return True
    _vectors(begin, i, j, k, m, ring, room)
    n0, n1, n2 = nearest_of(room, ring)
    return _shown(begin, end, i, j, k, m, ring, n0, n1, n2, moves, distance, keep)


@numba.njit(cache=True, error_model="numpy")
def _shown(begin, end, i, j, k, m, ring, n0, n1, n2, moves, distance, keep):
    """Whether both sides, and where they end, are farther apart along n than they may come: their extents along a
    fixed direction change linearly. No distance is longer than n."""
    square = n0 * n0 + n1 * n1 + n2 * n2
    if not square > distance * distance:
        return False
    size = np.sqrt(square)
    if not _between(begin, i, j, k, m, ring, n0, n1, n2) > distance * size:
        return False
    if not moves:
        return True
    return _between(end, i, j, k, m, ring, n0, n1, n2) > (distance + keep * (size - distance)) * size


@numba.njit(cache=True, error_model="numpy")
def _between(x, i, j, k, m, ring, n0, n1, n2):
    """How far the least of a vertex i, or edge i j, is along n beyond the most of the other side."""
    a = x[i, 0] * n0 + x[i, 1] * n1 + x[i, 2] * n2
    b = x[j, 0] * n0 + x[j, 1] * n1 + x[j, 2] * n2
    c = x[k, 0] * n0 + x[k, 1] * n1 + x[k, 2] * n2
    d = x[m, 0] * n0 + x[m, 1] * n1 + x[m, 2] * n2
    return min(a, b) - max(c, d) if ring else a - max(b, max(c, d))


@numba.njit(cache=True, error_model="numpy")
def _vectors(x, i, j, k, m, ring, out):
    """Between the two sides' corners: of a vertex i and a face, or of edges i j and k m in a ring."""
    for a in range(3):
        if ring:
            out[0, a], out[1, a] = x[i, a] - x[k, a], x[j, a] - x[k, a]
            out[2, a], out[3, a] = x[j, a] - x[m, a], x[i, a] - x[m, a]
        else:
            out[0, a], out[1, a], out[2, a] = x[i, a] - x[j, a], x[i, a] - x[k, a], x[i, a] - x[m, a]
