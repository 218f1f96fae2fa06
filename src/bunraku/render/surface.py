"""What the lights need to know of a surface: normals, cavities, where its occlusion is measured."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bunraku.contracts import Array, Faces, Flags, Integers, Points, Vector
from bunraku.geometry import face_normals, vertex_normals

LATTICE_POINTS = 12_000
"""occlusion is measured at about this many points or at every vertex, whichever is more"""
LARGEST_COORDINATE = 1e12
"""[m] beyond this products of coordinates stop meaning anything; such triangles are not drawn"""


class Surface(NamedTuple):
    """A mesh ready to be lit; coordinates relative to the eye."""

    x: Points
    """(n, 3) [m]"""
    faces: Faces
    """(f, 3), only faces that can be drawn"""
    normals: Points
    """(n, 3) unit, or zero"""
    cavity: Vector
    """(n,) mean curvature [1/m], positive on ridges seen from outside"""


def drawable(x: Points, faces: Faces) -> Faces:
    """The faces whose three points are finite and of a size one can compute with."""
    shown = drawn(x, faces)
    return faces if shown.all() else np.ascontiguousarray(faces[shown])


def drawn(x: Points, faces: Faces) -> Flags:
    """(f,) whether a face's three points are finite and of a size one can compute with."""
    usable = np.all(np.abs(x) <= LARGEST_COORDINATE, axis=1)  # false for NaN
    return np.asarray(usable[faces].all(axis=1))


def surface(x: Points, faces: Faces) -> Surface:
    """Normals and cavities of the mesh x (n, 3), faces (f, 3) all drawable; loose points are dropped."""
    # Points of no drawn face may be anything, NaN too: nothing may be computed from them.
    used = np.zeros(len(x), dtype=bool)
    used[faces.reshape(-1)] = True
    if not used.all():
        x, faces = x[used], (np.cumsum(used) - 1)[faces]
    normals = vertex_normals(x, faces)
    return Surface(x, faces, normals, _curvature(x, faces, normals))


def _curvature(x: Points, faces: Faces, normals: Points) -> Vector:
    """(n,) how fast the normal turns along the edges at each vertex [1/m], the mean over its edges."""
    i, j = faces.reshape(-1), faces[:, [1, 2, 0]].reshape(-1)
    along = x[j] - x[i]
    length = np.einsum("ij,ij->i", along, along)
    turn = np.einsum("ij,ij->i", normals[j] - normals[i], along)
    rate = np.divide(turn, length, out=np.zeros_like(turn), where=length > 0)
    ends = np.concatenate([i, j])
    total = np.bincount(ends, weights=np.concatenate([rate, rate]), minlength=len(x))
    return total / np.maximum(np.bincount(ends, minlength=len(x)), 1)


class Lattice(NamedTuple):
    """Points on the faces: corners only (order 1), or `order` steps along the edges of large faces."""

    order: int
    table: Integers
    """(f, k) which point is where on a face, k = (order + 1)(order + 2)/2, row by row along the first edge"""
    x: Points
    """(p, 3) [m]"""
    normals: Points
    """(p, 3) unit, or zero"""


@lru_cache(maxsize=32)
def _weights(order: int) -> Array:
    """(k, 3) barycentric weights of a triangle's lattice: rows j along the edge 0–2, i along 0–1."""
    i, j = np.meshgrid(np.arange(order + 1), np.arange(order + 1))
    inside = (i + j <= order).reshape(-1)
    i, j = i.reshape(-1)[inside], j.reshape(-1)[inside]
    return np.stack([order - i - j, i, j], axis=1) / order


def lattice(mesh: Surface, smooth: bool) -> Lattice:
    """Where to measure occlusion: at the vertices of a fine smooth mesh, else on a lattice of each face.

    Interpolating over the large faces of a coarse guide would smear contact shadows into stripes.
    """
    count = len(mesh.faces)
    order = int(np.clip(np.sqrt(2.0 * LATTICE_POINTS / max(count, 1)) - 1.0, 1, 40))
    if order == 1 and smooth:
        return Lattice(1, mesh.faces, mesh.x, mesh.normals)
    weights = _weights(order)
    x = np.matmul(weights, mesh.x[mesh.faces]).reshape(-1, 3)
    if smooth:
        normals = np.matmul(weights, mesh.normals[mesh.faces]).reshape(-1, 3)
    else:  # flat faces have a crease at every edge, so neighbours do not share their corners
        normals = np.repeat(face_normals(mesh.x, mesh.faces), len(weights), axis=0)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
    table = np.arange(count * len(weights)).reshape(count, len(weights))
    return Lattice(order, table, x, normals)
