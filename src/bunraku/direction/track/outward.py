"""Surfaces that know which of their sides is outside, and how high above them points are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Faces, Flags, Integers, Points, Sparse, Vector
from bunraku.geometry import TriMesh, closest_points, edges, unit_rows, vertex_normals
from bunraku.geometry.connectivity import face_pieces
from bunraku.geometry.trimesh import face_normals

_ON = 1e-6  # weight of a corner below which a place is on the other side of a face
_OVER = 0.8  # cosine: what is nearest to a rim is over it along both normals, or else beside it


@dataclass(frozen=True, eq=False)
class Look:
    """Where points stand to a surface."""

    faces: Faces
    """(m, 3) corners of the faces they are nearest to"""
    weights: Array
    """(m, 3) of those"""
    heights: Vector
    """(m,) [m] above it, negative behind"""
    normals: Points
    """(m, 3) outwards, there"""
    counts: Flags
    """(m,) whether they are near, over it, and face the way it does"""


@dataclass(frozen=True, eq=False)
class Outward:
    """A surface at a moment, its faces wound so that their normals point outwards."""

    mesh: TriMesh

    @cached_property
    def normals(self) -> Points:
        """(n, 3) of vertices"""
        return vertex_normals(self.mesh.rest, self.mesh.faces)

    @cached_property
    def _rim(self) -> Flags:
        """(n,) vertices of edges with one face"""
        found = edges(self.mesh.faces)
        out = np.zeros(self.mesh.point_count, dtype=bool)
        out[found.vertices[found.face_count == 1]] = True
        return out

    @property
    def samples(self) -> Sparse:
        """(m, n) weights of vertices, middles of edges and of faces."""
        return samples(self.mesh.faces, self.mesh.point_count)

    def look(self, query: Points, facing: Points, within: float, along: Points | None = None) -> Look:
        """How points (m, 3) stand to it, whose own outside is along unit vectors `facing` (m, 3).

        Heights are measured along its normals or, if given, along directions (m, 3).
        """
        found, mesh = closest_points(query, self.mesh), self.mesh
        corners, on = mesh.faces[found.faces], found.weights > _ON
        flat = unit_rows(face_normals(mesh.rest, corners))
        normals = np.where(np.all(on, axis=1, keepdims=True), flat, unit_rows(found.carry(mesh, self.normals)))
        away = query - found.points
        height = np.sum(away * (normals if along is None else along), axis=1)
        over = np.minimum(np.abs(np.sum(away * normals, axis=1)), np.abs(np.sum(away * facing, axis=1)))
        beside = (self._rim[corners] | ~on).all(axis=1) & (over < _OVER * found.distances)
        counts = (found.distances < within) & ~beside & (np.sum(normals * facing, axis=1) > 0.0)
        return Look(corners, found.weights, height, normals, counts)


def samples(faces: Faces, count: int) -> Sparse:
    """(m, n) weights of `count` vertices, the middles of edges and the middles of faces."""
    rows = [sparse.eye_array(count)]
    for corners in (edges(faces).vertices, faces):
        many, size = corners.shape
        at = (np.repeat(np.arange(many), size), corners.reshape(-1))
        rows.append(sparse.csr_array((np.full(many * size, 1.0 / size), at), shape=(many, count)))
    return sparse.csr_array(sparse.vstack(rows))


def wound_outwards(x: Points, faces: Faces, inside: Sequence[Outward]) -> Faces:
    """The faces (f, 3), pieces turned around whose winding says the wrong side.

    Outside is where the surfaces `inside` look, seen from their nearest places; without any a closed piece is wound
    around its volume, and an open one is taken as it is.
    """
    piece, out = face_pieces(faces, len(x)), np.array(faces)
    closed = edges(faces).face_count[edges(faces).of_face].min(axis=1) > 1
    vote = np.zeros(len(faces))
    middle, normal = x[faces].mean(axis=1), face_normals(x, faces)
    for one in inside:
        found = closest_points(middle, one.mesh)
        near = 1.0 / (found.distances + 1e-3 * one.mesh.size) ** 2
        vote += near * np.sum(normal * found.carry(one.mesh, one.normals), axis=1)
    for k in range(int(piece.max(initial=-1)) + 1):
        own = piece == k
        said = float(vote[own].sum())
        if not inside and closed[own].all():
            said = float(np.sum((middle[own] - middle[own].mean(axis=0)) * normal[own]))
        if said < 0.0:
            out[own] = out[own][:, ::-1]
    return out


def is_closed(faces: Faces) -> bool:
    """Whether every edge has two faces, so that there is an inside."""
    return bool((edges(faces).face_count == 2).all())


def part_of(x: Points, faces: Faces, vertices: Integers) -> tuple[Points, Faces]:
    """(v, 3) points and (g, 3) faces of some vertices (v,), sorted, that are whole pieces."""
    number = np.full(len(x), -1)
    number[vertices] = np.arange(len(vertices))
    own = number[faces]
    return x[vertices], own[(own >= 0).all(axis=1)]
