"""Loops over vertices that are caught between obstacles."""

from __future__ import annotations

import numba
import numpy as np

from bunraku.contracts import Array, Faces, Integers, Points, Vector, alike
from bunraku.geometry.vectors import at, between, cross, dot, less, over

_MOST_STEPS = 8  # rings of faces a place may go in one step
_SAME = 0.5  # cosine of normals of faces that look the same way: a place does not go around a rim


def tightest(
    vertices: Integers, begin: Integers, pairs: Integers, weights: Vector, normals: Points, distances: Vector,
    places: Points, moves: Points, room: float, opposed: float,
) -> tuple[Integers, Integers, Integers]:  # fmt: skip
    """Vertices with less than `room` [m] between two pairs that oppose each other, and those pairs."""
    first, second = np.full(len(vertices), -1), np.full(len(vertices), -1)
    _tightest(begin, pairs, weights, normals, distances, places, moves, room, opposed, first, second)
    found = first >= 0
    return vertices[found], first[found], second[found]


def opposing(
    corners: tuple[Integers, Integers], normals: tuple[Points, Points], begin: Integers, faces_of: Integers,
    faces: Faces, x: Points,
) -> tuple[Integers, Integers]:  # fmt: skip
    """(p, 2) faces and (p, 2) their sides, 1 or −1: of those that have all corners (p, 4) of a pair, negative for none,
    the two that look most along the pairs' normals (p, 3) and against each other. Face −1 where there is none.
    """
    found, side = np.full((len(corners[0]), 2), -1), np.ones((len(corners[0]), 2), np.int64)
    _opposing(
        alike(corners[0]), alike(corners[1]), normals[0], normals[1], begin, faces_of,
        alike(faces), alike(x), found, side,
    )  # fmt: skip
    return found, side


def nearest_around(
    points: Points, face: Integers, begin: Integers, faces_of: Integers, faces: Faces, x: Points, *, walk: bool = True
) -> tuple[Integers, Array]:
    """(p,) the face nearest to each point (p, 3) that can be reached from a given one over faces that look the same
    way, and (p, 3) the weights of its corners there; without `walk` the given one.
    """
    found, weights = np.array(face), np.empty((len(face), 3))
    steps = _MOST_STEPS if walk else 0
    _walk(alike(points), begin, faces_of, alike(faces), alike(x), steps, found, weights)
    return found, weights


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _tightest(begin, pairs, weights, normals, distances, places, moves, room, opposed, first, second):
    # Calls alone, here and below: what stands in a parallel loop itself takes several times as long to compile.
    for v in numba.prange(len(first)):
        first[v], second[v] = _tightest_pairs(
            begin[v], begin[v + 1], pairs, weights, normals, distances, places, moves, room, opposed
        )


@numba.njit(cache=True, error_model="numpy")
def _tightest_pairs(begin, end, pairs, weights, normals, distances, places, moves, room, opposed):
    """The two pairs of a vertex, among those from begin to end, that leave it the least room; −1: enough."""
    least, first, second = room, -1, -1
    for a in range(begin, end):
        for b in range(a + 1, end):
            i, j = pairs[a], pairs[b]
            # Of every element its heaviest corner counts, so that none is left out.
            if max(weights[a], weights[b]) < 0.33 or dot(normals[i], normals[j]) > opposed:
                continue
            axis = between(normals, i, j)
            axis = over(axis, np.sqrt(dot(axis, axis)))
            closing = dot(between(moves, i, j), axis)
            if closing <= 0.0 or dot(between(places, j, i), axis) <= 0.0:
                continue  # they part, or the obstacle is between and not the shell
            left = distances[i] + distances[j] - closing
            if left < least:
                least, first, second = left, i, j
    return first, second


@numba.njit(cache=True, error_model="numpy")
def _normal(x, f):
    n = cross(between(x, f[1], f[0]), between(x, f[2], f[0]))
    size = np.sqrt(dot(n, n))
    return over(n, size) if size > 0.0 else n


@numba.njit(cache=True, error_model="numpy")
def _lead(corners):
    lead = -1
    for c in corners:
        lead = max(lead, c)
    return lead


@numba.njit(cache=True, error_model="numpy")
def _looks(face, corners, faces, x, along):
    """The face's normal on the side that looks along a direction; zero where the face has not all corners."""
    f = faces[face]
    for c in corners:
        if c >= 0 and c != f[0] and c != f[1] and c != f[2]:
            return (0.0, 0.0, 0.0), 1
    n = _normal(x, f)
    return (n, 1) if dot(n, along) >= 0.0 else ((-n[0], -n[1], -n[2]), -1)


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _opposing(first, second, along, against, begin, faces_of, faces, x, found, side):
    for k in numba.prange(len(found)):
        _opposing_faces(first[k], second[k], along[k], against[k], begin, faces_of, faces, x, found[k], side[k])


@numba.njit(cache=True, error_model="numpy")
def _opposing_faces(first, second, along, against, begin, faces_of, faces, x, found, side):
    a, b, least = _lead(first), _lead(second), np.inf
    ahead, back = (along[0], along[1], along[2]), (against[0], against[1], against[2])
    # A plane has no corners: it looks along its pair's normal.
    for i in range(1 if a < 0 else begin[a + 1] - begin[a]):
        one = -1 if a < 0 else faces_of[begin[a] + i]
        n, n_side = (ahead, 1) if a < 0 else _looks(one, first, faces, x, ahead)
        if not dot(n, n) > 0.0:
            continue
        for j in range(1 if b < 0 else begin[b + 1] - begin[b]):
            other = -1 if b < 0 else faces_of[begin[b] + j]
            m, m_side = (back, 1) if b < 0 else _looks(other, second, faces, x, back)
            off = dot(n, m) - dot(n, ahead) - dot(m, back)
            if dot(m, m) > 0.0 and off < least:
                least = off
                found[0], found[1], side[0], side[1] = one, other, n_side, m_side


@numba.njit(cache=True, error_model="numpy")
def _along(r, e):
    square = dot(e, e)
    return min(max(dot(r, e) / square, 0.0), 1.0) if square > 0.0 else 0.0


@numba.njit(cache=True, error_model="numpy")
def _beyond(r, along, e):
    """r less a share of e."""
    return r[0] - along * e[0], r[1] - along * e[1], r[2] - along * e[2]


@numba.njit(cache=True, error_model="numpy")
def _on_face(p, a, b, c):
    """Weights of the nearest place of a triangle, and its squared distance: inside by projection, else on a side."""
    u, v, r = less(b, a), less(c, a), less(p, a)
    uu, uv, vv, ru, rv = dot(u, u), dot(u, v), dot(v, v), dot(r, u), dot(r, v)
    whole = uu * vv - uv * uv
    s, t = vv * ru - uv * rv, uu * rv - uv * ru
    if s >= 0.0 and t >= 0.0 and s + t <= whole and whole > 1e-24 * uu * vv:
        s, t = s / whole, t / whole
        rest = _beyond(_beyond(r, s, u), t, v)
        return 1.0 - s - t, s, t, dot(rest, rest)
    q, w = less(p, b), less(c, b)
    on_u, on_v, on_w = _along(r, u), _along(r, v), _along(q, w)
    from_u, from_v, from_w = _beyond(r, on_u, u), _beyond(r, on_v, v), _beyond(q, on_w, w)
    to_u, to_v, to_w = dot(from_u, from_u), dot(from_v, from_v), dot(from_w, from_w)
    if to_u <= to_v and to_u <= to_w:
        return 1.0 - on_u, on_u, 0.0, to_u
    if to_v <= to_w:
        return 1.0 - on_v, 0.0, on_v, to_v
    return 0.0, 1.0 - on_w, on_w, to_w


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _walk(points, begin, faces_of, faces, x, steps, found, weights):
    for k in numba.prange(len(found)):
        found[k] = _walk_from(found[k], points[k], begin, faces_of, faces, x, steps, weights[k])


@numba.njit(cache=True, error_model="numpy")
def _walk_from(face, point, begin, faces_of, faces, x, steps, weights):
    """The face at which the way from a given one to the point ends, and the weights of the place there."""
    f, p = faces[face], (point[0], point[1], point[2])
    s, t, u, least = _on_face(p, at(x, f[0]), at(x, f[1]), at(x, f[2]))
    weights[0], weights[1], weights[2] = s, t, u
    for _ in range(steps):
        start = face
        looks = _normal(x, faces[start])
        for c in faces[start]:
            for m in range(begin[c], begin[c + 1]):
                g = faces[faces_of[m]]
                if dot(_normal(x, g), looks) < _SAME:
                    continue
                s, t, u, to = _on_face(p, at(x, g[0]), at(x, g[1]), at(x, g[2]))
                if to < least:
                    least, face = to, faces_of[m]
                    weights[0], weights[1], weights[2] = s, t, u
        if face == start:
            break
    return face
