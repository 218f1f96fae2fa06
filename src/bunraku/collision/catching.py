"""Loops over vertices that are caught between obstacles."""

from __future__ import annotations

import numba
import numpy as np

from bunraku.contracts import Array, Faces, Integers, Points, Vector

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
        np.ascontiguousarray(corners[0]), np.ascontiguousarray(corners[1]), normals[0], normals[1], begin, faces_of,
        faces, np.ascontiguousarray(x), found, side,
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
    _walk(np.ascontiguousarray(points), begin, faces_of, faces, np.ascontiguousarray(x), steps, found, weights)
    return found, weights


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _tightest(begin, pairs, weights, normals, distances, places, moves, room, opposed, first, second):
    for v in numba.prange(len(first)):
        least = room
        for a in range(begin[v], begin[v + 1]):
            for b in range(a + 1, begin[v + 1]):
                i, j = pairs[a], pairs[b]
                # Of every element its heaviest corner counts, so that none is left out.
                if max(weights[a], weights[b]) < 0.33 or np.dot(normals[i], normals[j]) > opposed:
                    continue
                axis = normals[i] - normals[j]
                axis /= np.sqrt(np.dot(axis, axis))
                closing = np.dot(moves[i] - moves[j], axis)
                if closing <= 0.0 or np.dot(places[j] - places[i], axis) <= 0.0:
                    continue  # they part, or the obstacle is between and not the shell
                left = distances[i] + distances[j] - closing
                if left < least:
                    least, first[v], second[v] = left, i, j


@numba.njit(cache=True, error_model="numpy")
def _normal(x, f):
    u, v = x[f[1]] - x[f[0]], x[f[2]] - x[f[0]]
    n = np.cross(u, v)
    size = np.sqrt(np.dot(n, n))
    return n / size if size > 0.0 else n


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
            return np.zeros(3), 1
    n = _normal(x, f)
    return (n, 1) if np.dot(n, along) >= 0.0 else (-n, -1)


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _opposing(first, second, along, against, begin, faces_of, faces, x, found, side):
    for k in numba.prange(len(found)):
        a, b, least = _lead(first[k]), _lead(second[k]), np.inf
        # A plane has no corners: it looks along its pair's normal.
        for i in range(1 if a < 0 else begin[a + 1] - begin[a]):
            one = -1 if a < 0 else faces_of[begin[a] + i]
            n, n_side = (along[k], 1) if a < 0 else _looks(one, first[k], faces, x, along[k])
            if not np.dot(n, n) > 0.0:
                continue
            for j in range(1 if b < 0 else begin[b + 1] - begin[b]):
                other = -1 if b < 0 else faces_of[begin[b] + j]
                m, m_side = (against[k], 1) if b < 0 else _looks(other, second[k], faces, x, against[k])
                off = np.dot(n, m) - np.dot(n, along[k]) - np.dot(m, against[k])
                if np.dot(m, m) > 0.0 and off < least:
                    least = off
                    found[k, 0], found[k, 1], side[k, 0], side[k, 1] = one, other, n_side, m_side


@numba.njit(cache=True, error_model="numpy")
def _along(r, e):
    square = np.dot(e, e)
    return min(max(np.dot(r, e) / square, 0.0), 1.0) if square > 0.0 else 0.0


@numba.njit(cache=True, error_model="numpy")
def _on_face(p, a, b, c):
    """Weights of the nearest place of a triangle, and its squared distance: inside by projection, else on a side."""
    u, v, r = b - a, c - a, p - a
    uu, uv, vv, ru, rv = np.dot(u, u), np.dot(u, v), np.dot(v, v), np.dot(r, u), np.dot(r, v)
    whole = uu * vv - uv * uv
    s, t = vv * ru - uv * rv, uu * rv - uv * ru
    if s >= 0.0 and t >= 0.0 and s + t <= whole and whole > 1e-24 * uu * vv:
        s, t = s / whole, t / whole
        rest = r - s * u - t * v
        return 1.0 - s - t, s, t, np.dot(rest, rest)
    on_u, on_v, on_w = _along(r, u), _along(r, v), _along(p - b, c - b)
    from_u, from_v, from_w = r - on_u * u, r - on_v * v, p - b - on_w * (c - b)
    to_u, to_v, to_w = np.dot(from_u, from_u), np.dot(from_v, from_v), np.dot(from_w, from_w)
    if to_u <= to_v and to_u <= to_w:
        return 1.0 - on_u, on_u, 0.0, to_u
    if to_v <= to_w:
        return 1.0 - on_v, 0.0, on_v, to_v
    return 0.0, 1.0 - on_w, on_w, to_w


@numba.njit(cache=True, parallel=True, error_model="numpy")
def _walk(points, begin, faces_of, faces, x, steps, found, weights):
    for k in numba.prange(len(found)):
        f = faces[found[k]]
        s, t, u, least = _on_face(points[k], x[f[0]], x[f[1]], x[f[2]])
        weights[k, 0], weights[k, 1], weights[k, 2] = s, t, u
        for _ in range(steps):
            start = found[k]
            looks = _normal(x, faces[start])
            for c in faces[start]:
                for m in range(begin[c], begin[c + 1]):
                    g = faces[faces_of[m]]
                    if np.dot(_normal(x, g), looks) < _SAME:
                        continue
                    s, t, u, to = _on_face(points[k], x[g[0]], x[g[1]], x[g[2]])
                    if to < least:
                        least, found[k] = to, faces_of[m]
                        weights[k, 0], weights[k, 1], weights[k, 2] = s, t, u
            if found[k] == start:
                break
