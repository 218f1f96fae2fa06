"""Compiled edits of triangles: edges collapsed and flipped, many at a time, none next to another.

A pass goes through its candidates in the order given and takes each that does no harm and whose neighbourhood no
earlier one has changed; the caller rebuilds the wiring and calls again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.contracts import Faces, Integers

DIRECTED = 1e-4
"""area over longest edge²: a thinner face looks nowhere in particular, rounding turns it"""
SLIVER = 5e-3
"""a face less thin looks where the surface looks"""


def faces_around(faces: Faces, count: int) -> tuple[Integers, Integers]:
    """Faces of each of `count` vertices: those of v are around[starts[v]:starts[v + 1]]."""
    flat = faces.reshape(-1)
    starts = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=count))])
    return starts, np.argsort(flat, kind="stable") // 3


@njit(error_model="numpy")
def _shape(a, b, c):
    """Normal (twice the area long), longest edge²."""
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    w0, w1, w2 = v0 - u0, v1 - u1, v2 - u2
    longest = max(u0 * u0 + u1 * u1 + u2 * u2, max(v0 * v0 + v1 * v1 + v2 * v2, w0 * w0 + w1 * w1 + w2 * w2))
    return u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0, longest


@njit(error_model="numpy")
def _thin(n0, n1, n2, longest):
    """Area over longest edge²."""
    return 0.5 * np.sqrt(n0 * n0 + n1 * n1 + n2 * n2) / max(longest, 1e-300)


@njit(error_model="numpy")
def _turned(m0, m1, m2, n0, n1, n2, cosine):
    """Whether two normals differ by more than the angle of the cosine."""
    dot = m0 * n0 + m1 * n1 + m2 * n2
    return dot < cosine * np.sqrt((m0 * m0 + m1 * m1 + m2 * m2) * (n0 * n0 + n1 * n1 + n2 * n2))


@njit(cache=True, error_model="numpy")
def collapse(x, faces, starts, around, pairs, edge_faces, border, thinnest, longest, cosine):
    """Collapse edges: of each pair (k, 2) the first vertex goes onto the second. Returns onto (n,).

    edge_faces (k,): faces of the edge; border (n,): vertices on a border. A collapse is left where it would pinch the
    surface, turn a face that has a direction by more than the angle of `cosine`, make a face thinner than `thinnest`
    that was not, or an edge longer than `longest`.
    """
    onto = np.arange(len(x))
    touched = np.zeros(len(x), np.bool_)
    stamp = np.full(len(x), -1)
    for k in range(len(pairs)):
        gone, kept = pairs[k, 0], pairs[k, 1]
        if touched[gone] or touched[kept]:
            continue
        if border[gone] and border[kept] and edge_faces[k] != 1:
            continue
        if not _link_allows(faces, starts, around, gone, kept, stamp, k):
            continue
        if not _ring_allows(x, faces, starts, around, gone, kept, thinnest, longest, cosine):
            continue
        onto[gone] = kept
        for vertex in (gone, kept):
            for i in range(starts[vertex], starts[vertex + 1]):
                for c in range(3):
                    touched[faces[around[i], c]] = True
    return onto


@njit(error_model="numpy")
def _link_allows(faces, starts, around, gone, kept, stamp, mark):
    """Whether the ends of an edge have no common neighbours but the apexes of its faces."""
    shared_faces, common = 0, 0
    for i in range(starts[gone], starts[gone + 1]):
        for c in range(3):
            v = faces[around[i], c]
            shared_faces += v == kept
            stamp[v] = 2 * mark
    for i in range(starts[kept], starts[kept + 1]):
        for c in range(3):
            v = faces[around[i], c]
            if v != gone and v != kept and stamp[v] == 2 * mark:
                common += 1
                stamp[v] = 2 * mark + 1
    return common == shared_faces


@njit(error_model="numpy")
def _ring_allows(x, faces, starts, around, gone, kept, thinnest, longest, cosine):
    """Whether the faces around `gone` stay sound when it moves onto `kept`."""
    stays = 0
    for i in range(starts[gone], starts[gone + 1]):
        f = around[i]
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if a == kept or b == kept or c == kept:
            continue
        stays += 1
        m0, m1, m2, before = _shape(x[a], x[b], x[c])
        a, b, c = kept if a == gone else a, kept if b == gone else b, kept if c == gone else c
        n0, n1, n2, after = _shape(x[a], x[b], x[c])
        was, now = _thin(m0, m1, m2, before), _thin(n0, n1, n2, after)
        if now < thinnest and now < was:
            return False
        if was > DIRECTED and _turned(m0, m1, m2, n0, n1, n2, cosine):
            return False
        if after > longest * longest and after > before:
            return False
    return stays > 0


@njit(cache=True, error_model="numpy")
def flip(x, faces, sources, starts, around, sides, low, cosine):
    """Flip edges, in place in faces (f, 3) and sources (f, 3); returns changed (f,).

    sides (k, 2): the two sides 3 f + k of each edge. An edge is flipped where the thinner of its faces gets less thin
    and no face turns by more than the angle of `cosine`; a sliver lower than `low` [m] may, beside one that is none.
    """
    changed = np.zeros(len(faces), np.bool_)
    touched = np.zeros(len(x), np.bool_)
    for k in range(len(sides)):
        f, i = sides[k, 0] // 3, sides[k, 0] % 3
        g, j = sides[k, 1] // 3, sides[k, 1] % 3
        a, b, c, d = faces[f, i], faces[f, (i + 1) % 3], faces[f, (i + 2) % 3], faces[g, (j + 2) % 3]
        if changed[f] or changed[g] or touched[c] or touched[d] or c == d or faces[g, j] != b:
            continue
        if not _flip_allowed(x, a, b, c, d, low, cosine) or _joined(faces, starts, around, c, d):
            continue
        at_a, at_b, at_c, at_d = (
            sources[f, i],
            sources[f, (i + 1) % 3],
            sources[f, (i + 2) % 3],
            sources[g, (j + 2) % 3],
        )
        faces[f, 0], faces[f, 1], faces[f, 2] = a, d, c
        faces[g, 0], faces[g, 1], faces[g, 2] = d, b, c
        sources[f, 0], sources[f, 1], sources[f, 2] = at_a, at_d, at_c
        sources[g, 0], sources[g, 1], sources[g, 2] = at_d, at_b, at_c
        changed[f], changed[g] = True, True
        # c and d have a new neighbour each, which their lists of faces do not know yet.
        touched[c], touched[d] = True, True
    return changed


@njit(error_model="numpy")
def _flip_allowed(x, a, b, c, d, low, cosine):
    p0, p1, p2, p = _shape(x[a], x[b], x[c])
    q0, q1, q2, q = _shape(x[b], x[a], x[d])
    r0, r1, r2, r = _shape(x[a], x[d], x[c])
    s0, s1, s2, s = _shape(x[d], x[b], x[c])
    first, second = _thin(p0, p1, p2, p), _thin(q0, q1, q2, q)
    if not min(_thin(r0, r1, r2, r), _thin(s0, s1, s2, s)) > 1.001 * min(first, second):
        return False
    if first <= DIRECTED and second <= DIRECTED:
        return False
    # Taking a sliver off its neighbour moves the surface by the sliver's height only, wherever it looks.
    height = 2.0 * min(first * np.sqrt(p), second * np.sqrt(q))
    free = height < low and max(first, second) > SLIVER
    if (
        first > DIRECTED
        and not (free and first < second)
        and (_turned(p0, p1, p2, r0, r1, r2, cosine) or _turned(p0, p1, p2, s0, s1, s2, cosine))
    ):
        return False
    if (
        second > DIRECTED
        and not (free and second < first)
        and (_turned(q0, q1, q2, r0, r1, r2, cosine) or _turned(q0, q1, q2, s0, s1, s2, cosine))
    ):
        return False
    return True


@njit(error_model="numpy")
def _joined(faces, starts, around, c, d):
    """Whether two vertices already have a common edge."""
    for i in range(starts[c], starts[c + 1]):
        for k in range(3):
            if faces[around[i], k] == d:
                return True
    return False
