"""Straight lines through the inside of a mesh: which bones a vertex sees, where a line meets the surface.

The kernels are compiled, so this file is imported by those who call them when they do, never with the package.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from bunraku.contracts import Array, Flags, Points, Vector
from bunraku.geometry import TriMesh, vertex_normals
from bunraku.geometry.bvh import DEEPEST, build_tree

_SKIN = 1e-5  # [mesh sizes] below the surface from where vertices look
_END = 1e-6  # [line lengths] a place on the surface is still seen
_EDGE = 1e-9  # [faces] by which a line may miss one: none slips through between two


def nearest_seen(mesh: TriMesh, targets: Array, distances: Array, tie: float) -> Flags:
    """(n, b) whether a bone is the nearest of those each vertex sees, or as near as that up to a factor 1 + tie.

    `targets` (n, b, 3): the place of each bone nearest to each vertex, `distances` (n, b) how far it is. A bone is seen
    where the straight line to it, from just below the vertex, meets no face.
    """
    middle = 0.5 * (mesh.rest.min(axis=0) + mesh.rest.max(axis=0))
    x = mesh.rest - middle
    inside = x - _SKIN * mesh.size * vertex_normals(mesh.rest, mesh.faces)
    seen = np.zeros(distances.shape, np.bool_)
    order = np.argsort(distances, axis=1, kind="stable")
    _look(inside, x, mesh.faces, targets - middle, distances, order, tie, *build_tree(x, mesh.faces), seen)
    return seen


@njit(parallel=True, cache=True, error_model="numpy")
def _look(inside, x, faces, targets, distances, order, tie, low, high, second, first, held, faces_of, seen):
    for v in prange(len(inside)):
        best = np.inf
        stack = np.empty(DEEPEST, np.int64)
        for k in range(order.shape[1]):
            bone = order[v, k]
            if distances[v, bone] > best * (1.0 + tie):
                break
            p, target = inside[v], targets[v, bone]
            d0, d1, d2 = target[0] - p[0], target[1] - p[1], target[2] - p[2]
            if _first(p, d0, d1, d2, x, faces, low, high, second, first, held, faces_of, stack, True) == np.inf:
                seen[v, bone] = True
                best = min(best, distances[v, bone])


@njit(error_model="numpy")
def _first(p, d0, d1, d2, x, faces, low, high, second, first, held, faces_of, stack, any_will_do):
    """Where the line from p to p + d meets a face first, or meets one; inf: nowhere."""
    best = np.inf
    stack[0], depth = 0, 1
    while depth > 0:
        depth -= 1
        box = stack[depth]
        if not _crosses_box(p, d0, d1, d2, low[box], high[box]):
            continue
        if second[box] >= 0:
            stack[depth], stack[depth + 1] = second[box], box + 1
            depth += 2
            continue
        for k in range(first[box], first[box] + held[box]):
            a, b, c = faces[faces_of[k], 0], faces[faces_of[k], 1], faces[faces_of[k], 2]
            best = min(best, _crosses_face(p, d0, d1, d2, x[a], x[b], x[c]))
            if any_will_do and best < np.inf:
                return best
    return best


@njit(error_model="numpy")
def _crosses_box(p, d0, d1, d2, low, high):
    """Whether the line from p to p + d passes through a box."""
    begin, end = 0.0, 1.0
    for axis in range(3):
        d = d0 if axis == 0 else d1 if axis == 1 else d2
        if d == 0.0:
            if p[axis] < low[axis] or p[axis] > high[axis]:
                return False
            continue
        a, b = (low[axis] - p[axis]) / d, (high[axis] - p[axis]) / d
        begin, end = max(begin, min(a, b)), min(end, max(a, b))
    return begin <= end


@njit(error_model="numpy")
def _crosses_face(p, d0, d1, d2, a, b, c):
    """Where between p (0) and p + d (1) the line passes through a triangle; inf: nowhere [Möller 1997]."""
    u0, u1, u2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    v0, v1, v2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    n0, n1, n2 = d1 * v2 - d2 * v1, d2 * v0 - d0 * v2, d0 * v1 - d1 * v0
    volume = u0 * n0 + u1 * n1 + u2 * n2
    if volume == 0.0:
        return np.inf
    r0, r1, r2 = p[0] - a[0], p[1] - a[1], p[2] - a[2]
    s = (r0 * n0 + r1 * n1 + r2 * n2) / volume
    q0, q1, q2 = r1 * u2 - r2 * u1, r2 * u0 - r0 * u2, r0 * u1 - r1 * u0
    t = (d0 * q0 + d1 * q1 + d2 * q2) / volume
    along = (v0 * q0 + v1 * q1 + v2 * q2) / volume
    hit = s >= -_EDGE and t >= -_EDGE and s + t <= 1.0 + _EDGE and 0.0 < along < 1.0 - _END
    return along if hit else np.inf


def first_hits(mesh: TriMesh, origins: Points, lines: Points) -> Vector:
    """(m,) where along lines (m, 3) from origins (m, 3), from 0 to 1, the mesh is met first; inf: nowhere."""
    out = np.full(len(origins), np.inf)
    tree = build_tree(mesh.rest, mesh.faces)
    _hit(origins, np.ascontiguousarray(lines), mesh.rest, mesh.faces, *tree, out)
    return out


@njit(parallel=True, cache=True, error_model="numpy")
def _hit(origins, lines, x, faces, low, high, second, first, held, faces_of, out):
    for k in prange(len(origins)):
        stack = np.empty(DEEPEST, np.int64)
        d0, d1, d2 = lines[k, 0], lines[k, 1], lines[k, 2]
        out[k] = _first(origins[k], d0, d1, d2, x, faces, low, high, second, first, held, faces_of, stack, False)


def on_bones(x: Points, heads: Points, tails: Points) -> tuple[Array, Array]:
    """The places (n, b, 3) of bones (b, 3) nearest to points (n, 3), and how far (n, b) they are."""
    span = tails - heads
    square = np.einsum("bi,bi->b", span, span)
    along = (x @ span.T - np.einsum("bi,bi->b", heads, span)) / np.where(square > 0, square, 1.0)
    places = heads + np.clip(along, 0.0, 1.0)[:, :, None] * span
    return places, np.linalg.norm(places - x[:, None], axis=2)
