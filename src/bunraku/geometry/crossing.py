"""Compiled kernels of `intersections`: does a triangle meet another, and does it only touch?

Everything rests on the sign of the volume of four points; volumes within a rounding error are zero, and a zero is a
touch.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from bunraku.contracts import Faces, Integers, Points

from .bvh import DEEPEST, boxes_meet, build_tree

APART, TOUCHES, CROSSES = 0, 1, 2
ROUNDING = 1e-15
"""relative error of a product of differences; coordinates are of size one"""
INSIDE = 1e-6
"""share of a triangle's height that still counts as its side, where two triangles have a common vertex"""
FLAT = 1e-10
"""twice the area over the longest edge²: thinner triangles have no plane to cross"""


def meeting_faces(x: Points, faces: Faces, own: int | None = None, sewn: Integers | None = None) -> Integers:
    """(f,) APART, TOUCHES or CROSSES: the most a triangle does to any other. Points (n, 3) finite, of size one.

    With `own`: (own,) the most one of the first `own` triangles does to any of those after them. Triangles with
    vertices that are `sewn` (s, 2) to each other are not asked.
    """
    out = np.zeros(len(faces) if own is None else own, dtype=np.int64)
    pairs = np.zeros((0, 2), np.int64) if sewn is None else np.asarray(sewn, dtype=np.int64)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    starts = np.searchsorted(both[:, 0], np.arange(len(x) + 1))
    partners = np.ascontiguousarray(both[:, 1])
    _meeting(x, faces, 0 if own is None else own, *build_tree(x, faces), starts, partners, out)
    return out


@njit(parallel=True, cache=True, error_model="numpy")
def _meeting(x, faces, since, low, high, second, first, count, order, starts, partners, out):
    for f in prange(len(out)):
        out[f] = _meets_any(
            x, faces, np.int64(f), since, low, high, second, first, count, order, starts, partners
        )  # fmt: skip


@njit(error_model="numpy")
def _meets_any(x, faces, f, since, low, high, second, first, count, order, starts, partners):
    """The most triangle f does to any other from `since` on; stops at the first it crosses."""
    own_low, own_high = np.empty(3), np.empty(3)
    for axis in range(3):
        a, b, c = x[faces[f, 0], axis], x[faces[f, 1], axis], x[faces[f, 2], axis]
        own_low[axis], own_high[axis] = min(min(a, b), c), max(max(a, b), c)
    stack = np.empty(DEEPEST, np.int64)
    stack[0], depth, most = 0, 1, APART
    while depth > 0 and most < CROSSES:
        depth -= 1
        box = stack[depth]
        if not boxes_meet(own_low, own_high, low[box], high[box]):
            continue
        if second[box] >= 0:
            stack[depth], stack[depth + 1] = second[box], box + 1
            depth += 2
            continue
        for k in range(first[box], first[box] + count[box]):
            g = order[k]
            # Always asked in the same order, so that both triangles of a pair get the same answer.
            if g != f and g >= since and most < CROSSES and not _sewn(faces[f], faces[g], starts, partners):
                most = max(most, _pair(x, faces, min(f, g), max(f, g)))
    return most


@njit(error_model="numpy")
def _sewn(f, g, starts, partners):
    """Whether a corner of f is sewn to one of g."""
    for i in range(3):
        for k in range(starts[f[i]], starts[f[i] + 1]):
            if partners[k] == g[0] or partners[k] == g[1] or partners[k] == g[2]:
                return True
    return False


@njit(error_model="numpy")
def _pair(x, faces, f, g):
    """What triangles f and g do to each other, by how many vertices they have in common."""
    for axis in range(3):
        f0, f1, f2 = x[faces[f, 0], axis], x[faces[f, 1], axis], x[faces[f, 2], axis]
        g0, g1, g2 = x[faces[g, 0], axis], x[faces[g, 1], axis], x[faces[g, 2], axis]
        if max(max(f0, f1), f2) < min(min(g0, g1), g2) or max(max(g0, g1), g2) < min(min(f0, f1), f2):
            return APART
    shared, at_f, at_g, last_f, last_g = 0, 0, 0, 0, 0
    for i in range(3):
        for j in range(3):
            if faces[f, i] == faces[g, j]:
                if shared == 0:
                    at_f, at_g = i, j
                last_f, last_g = i, j
                shared += 1
    if _flat(x[faces[f, 0]], x[faces[f, 1]], x[faces[f, 2]]) or _flat(x[faces[g, 0]], x[faces[g, 1]], x[faces[g, 2]]):
        return APART
    if shared == 0:
        return _triangles_meet(x, faces[f], faces[g])
    if shared == 1:
        return CROSSES if _meet_beyond_vertex(x, faces[f], at_f, faces[g], at_g) else APART
    if shared == 2:
        return CROSSES if _folded_flat(x, faces[f], 3 - at_f - last_f, faces[g], 3 - at_g - last_g) else APART
    return CROSSES


@njit(error_model="numpy")
def _normal(a, b, c):
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0


@njit(error_model="numpy")
def _squared(a, b):
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2


@njit(error_model="numpy")
def _flat(a, b, c):
    """Whether a triangle has no area, to rounding."""
    n0, n1, n2 = _normal(a, b, c)
    longest = max(max(_squared(a, b), _squared(b, c)), _squared(c, a))
    return not np.sqrt(n0 * n0 + n1 * n1 + n2 * n2) > FLAT * longest


@njit(error_model="numpy")
def _volume(a, b, c, d):
    """Six times the signed volume of four points; exactly 0 where it is within rounding."""
    u0, u1, u2 = a[0] - d[0], a[1] - d[1], a[2] - d[2]
    v0, v1, v2 = b[0] - d[0], b[1] - d[1], b[2] - d[2]
    w0, w1, w2 = c[0] - d[0], c[1] - d[1], c[2] - d[2]
    total = u0 * (v1 * w2 - v2 * w1) + u1 * (v2 * w0 - v0 * w2) + u2 * (v0 * w1 - v1 * w0)
    size = abs(u0) * (abs(v1 * w2) + abs(v2 * w1)) + abs(u1) * (abs(v2 * w0) + abs(v0 * w2))
    size += abs(u2) * (abs(v0 * w1) + abs(v1 * w0))
    # Differences of coordinates of size one are wrong by about 1e-16 themselves.
    spread = max(abs(u0) + abs(u1) + abs(u2), max(abs(v0) + abs(v1) + abs(v2), abs(w0) + abs(w1) + abs(w2)))
    return 0.0 if abs(total) <= 8.0 * ROUNDING * size + ROUNDING * spread * spread else total


@njit(error_model="numpy")
def _one_side(a, b):
    """Whether two signed numbers lie strictly on one side of zero."""
    return (a > 0.0 and b > 0.0) or (a < 0.0 and b < 0.0)


@njit(error_model="numpy")
def _triangles_meet(x, f, g):
    """Of two triangles without a common vertex: an edge of one meets the other, or one lies in the other."""
    most = APART
    for turn in range(2):
        s, t = (f, g) if turn == 0 else (g, f)
        a, b, c = x[t[0]], x[t[1]], x[t[2]]
        above = (_volume(a, b, c, x[s[0]]), _volume(a, b, c, x[s[1]]), _volume(a, b, c, x[s[2]]))
        if _one_side(above[0], above[1]) and _one_side(above[1], above[2]):
            return APART
        if above[0] == 0.0 and above[1] == 0.0 and above[2] == 0.0:
            return max(most, _flat_triangles_meet(x, s, t))
        for k in range(3):
            p, q = above[k], above[(k + 1) % 3]
            if not _one_side(p, q) and not (p == 0.0 and q == 0.0):
                most = max(most, _segment_meets(x[s[k]], x[s[(k + 1) % 3]], a, b, c, p != 0.0 and q != 0.0))
            elif p == 0.0 and q == 0.0:
                most = max(most, min(_flat_segment_meets(x[s[k]], x[s[(k + 1) % 3]], a, b, c), TOUCHES))
        if most == CROSSES:
            return most
    return most


@njit(error_model="numpy")
def _segment_meets(p, q, a, b, c, through):
    """What a segment with ends on both sides of a triangle's plane does to it; `through`: neither end in the plane."""
    s, t, u = _volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a)
    if through and ((s > 0.0 and t > 0.0 and u > 0.0) or (s < 0.0 and t < 0.0 and u < 0.0)):
        return CROSSES
    if (s > 0.0 and t > 0.0 and u > 0.0) or (s < 0.0 and t < 0.0 and u < 0.0):
        return TOUCHES
    if (s >= 0.0 and t >= 0.0 and u >= 0.0) or (s <= 0.0 and t <= 0.0 and u <= 0.0):
        # On a side of the triangle; or so nearly in its plane that the volumes tell nothing, wherever it is.
        beside = _flat_segment_meets(p, q, a, b, c) == APART
        return APART if beside and not _place_within(p, a, b, c) and not _place_within(q, a, b, c) else TOUCHES
    return APART


@njit(error_model="numpy")
def _axes_of(a, b, c):
    """The two axes along which the triangle is seen largest."""
    n0, n1, n2 = _normal(a, b, c)
    if abs(n0) >= abs(n1) and abs(n0) >= abs(n2):
        return 1, 2
    return (2, 0) if abs(n1) >= abs(n2) else (0, 1)


@njit(error_model="numpy")
def _turn(p, q, r, i, j):
    """Twice the signed area of p, q, r seen along an axis; 0 within rounding."""
    left, right = (q[i] - p[i]) * (r[j] - p[j]), (q[j] - p[j]) * (r[i] - p[i])
    spread = abs(q[i] - p[i]) + abs(q[j] - p[j]) + abs(r[i] - p[i]) + abs(r[j] - p[j])
    total = left - right
    return 0.0 if abs(total) <= ROUNDING * (8.0 * (abs(left) + abs(right)) + spread) else total


@njit(error_model="numpy")
def _flat_triangles_meet(x, f, g):
    """Two triangles in one plane: sides that cross, a corner or the middle of one inside the other."""
    most = APART
    for turn in range(2):
        s, t = (f, g) if turn == 0 else (g, f)
        a, b, c = x[t[0]], x[t[1]], x[t[2]]
        for k in range(3):
            most = max(most, _flat_segment_meets(x[s[k]], x[s[(k + 1) % 3]], a, b, c))
            most = max(most, CROSSES if _place_within(x[s[k]], a, b, c) else APART)
        middle = np.empty(3)
        for axis in range(3):
            middle[axis] = (x[s[0], axis] + x[s[1], axis] + x[s[2], axis]) / 3.0
        most = max(most, CROSSES if _place_within(middle, a, b, c) else APART)
    return most


@njit(error_model="numpy")
def _flat_segment_meets(p, q, a, b, c):
    """What a segment in a triangle's plane does to its sides."""
    i, j = _axes_of(a, b, c)
    most = APART
    for k in range(3):
        u, v = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        s, t = _turn(p, q, u, i, j), _turn(p, q, v, i, j)
        e, h = _turn(u, v, p, i, j), _turn(u, v, q, i, j)
        if _one_side(s, t) or _one_side(e, h):
            continue
        if s != 0.0 and t != 0.0 and e != 0.0 and h != 0.0:
            return CROSSES
        if (s != 0.0 or t != 0.0) or _ranges_meet(p, q, u, v):
            most = TOUCHES
    return most


@njit(error_model="numpy")
def _ranges_meet(p, q, u, v):
    """Whether two segments on one line overlap, axis by axis."""
    for axis in range(3):
        if max(p[axis], q[axis]) < min(u[axis], v[axis]) or max(u[axis], v[axis]) < min(p[axis], q[axis]):
            return False
    return True


@njit(error_model="numpy")
def _place_within(p, a, b, c):
    """Whether a place in the plane of a triangle lies inside it."""
    i, j = _axes_of(a, b, c)
    s, t, u = _turn(a, b, p, i, j), _turn(b, c, p, i, j), _turn(c, a, p, i, j)
    return _one_side(s, t) and _one_side(t, u)


@njit(error_model="numpy")
def _meet_beyond_vertex(x, f, at_f, g, at_g):
    """Whether two triangles with one common vertex also meet elsewhere.

    What they have in common is seen whole from that vertex, so halving one about it keeps a crossing a crossing, and
    takes the ends of it off the other's far side.
    """
    o = x[f[at_f]]
    f1, f2, g1, g2 = x[f[(at_f + 1) % 3]], x[f[(at_f + 2) % 3]], x[g[(at_g + 1) % 3]], x[g[(at_g + 2) % 3]]
    return _pierces(_middle(f1, o), _middle(f2, o), o, g1, g2) or _pierces(_middle(g1, o), _middle(g2, o), o, f1, f2)


@njit(error_model="numpy")
def _middle(a, b):
    out = np.empty(3)
    for axis in range(3):
        out[axis] = 0.5 * (a[axis] + b[axis])
    return out


@njit(error_model="numpy")
def _pierces(p, q, o, b, c):
    """Whether the segment p q goes through the inside of the triangle o b c, or lies in its plane and overlaps it."""
    above, below = _volume(o, b, c, p), _volume(o, b, c, q)
    if _one_side(above, below):
        return False
    if above == 0.0 and below == 0.0:
        return _sectors_overlap(p, q, o, b, c)
    s, t, u = _volume(p, q, o, b), _volume(p, q, b, c), _volume(p, q, c, o)
    whole = s + t + u
    return whole != 0.0 and s / whole > INSIDE and t / whole > INSIDE and u / whole > INSIDE


@njit(error_model="numpy")
def _sectors_overlap(p, q, o, b, c):
    """Whether two triangles in one plane, o p q and o b c, overlap: their angles at o do."""
    i, j = _axes_of(o, b, c)
    way = 1.0 if _turn(o, b, c, i, j) > 0.0 else -1.0
    own = 1.0 if _turn(o, p, q, i, j) > 0.0 else -1.0
    for r in (p, q):
        if way * _turn(o, b, r, i, j) > 0.0 and way * _turn(o, r, c, i, j) > 0.0:
            return True
    for r in (b, c):
        if own * _turn(o, p, r, i, j) > 0.0 and own * _turn(o, r, q, i, j) > 0.0:
            return True
    # The same two rays.
    same = _turn(o, b, p, i, j) == 0.0 and _turn(o, c, q, i, j) == 0.0
    crossed = _turn(o, b, q, i, j) == 0.0 and _turn(o, c, p, i, j) == 0.0
    facing = 0.0
    for axis in range(3):
        facing += (p[axis] + q[axis] - 2.0 * o[axis]) * (b[axis] + c[axis] - 2.0 * o[axis])
    return facing > 0.0 and (same or crossed)


@njit(error_model="numpy")
def _folded_flat(x, f, apex_f, g, apex_g):
    """Whether two triangles with a common edge lie on the same side of it in one plane."""
    start, end = x[f[(apex_f + 1) % 3]], x[f[(apex_f + 2) % 3]]
    own, other = x[f[apex_f]], x[g[apex_g]]
    if _volume(start, end, own, other) != 0.0:
        return False
    i, j = _axes_of(start, end, own)
    return _one_side(_turn(start, end, own, i, j), _turn(start, end, other, i, j))
