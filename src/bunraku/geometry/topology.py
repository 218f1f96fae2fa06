"""Edges and hinges of a triangle mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Faces, Flags, Integers, Points, Vector, input_error

from .trimesh import TriMesh, face_areas, first_few


@dataclass(frozen=True, eq=False)
class Hinges:
    """The inner edges of a mesh, each with its two triangles."""

    vertices: Integers
    """(m, 4) edge start, edge end, corner opposite in the first face, corner opposite in the second"""
    faces: Integers
    """(m, 2) the two faces"""
    corners: Integers
    """(m, 2) which corner (0, 1, 2) of each face is opposite the edge"""
    signs: Array
    """(m, 2) +1, or −1 in the second place where the two faces are wound against each other"""


@dataclass(frozen=True, eq=False)
class Edges:
    """All edges of a mesh."""

    vertices: Integers
    """(e, 2) vertex indices, smaller first"""
    of_face: Integers
    """(f, 3) edge opposite each corner"""
    face_count: Integers
    """(e,) number of faces on the edge"""


def edges(faces: Faces) -> Edges:
    """Edges of the faces (f, 3), numbered in lexicographic order of their vertices."""
    pairs = np.stack([faces[:, [1, 2]], faces[:, [2, 0]], faces[:, [0, 1]]], axis=1).reshape(-1, 2)
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    span = int(faces.max(initial=-1)) + 1  # one number an edge sorts ten times faster than rows of two
    keys, inverse, counts = np.unique(low * span + high, return_inverse=True, return_counts=True)
    vertices = np.stack([keys // max(span, 1), keys % max(span, 1)], axis=1)
    return Edges(vertices, inverse.reshape(-1, 3), counts)


def hinges(mesh: TriMesh, *, every_pair: bool = False) -> Hinges:
    """The hinges of a mesh: one an edge of two faces, more where an edge has three or more (a pocket, a collar).

    Such an edge's k faces are paired one after the other, k − 1 hinges from which every other angle follows; with
    `every_pair` each two of them share a hinge, k (k − 1)/2.
    """
    faces = mesh.faces
    first, second = _paired(edges(faces), every_pair)
    face = np.stack([first // 3, second // 3], axis=1)
    corner = np.stack([first % 3, second % 3], axis=1)
    start = faces[face[:, 0], (corner[:, 0] + 1) % 3]
    end = faces[face[:, 0], (corner[:, 0] + 2) % 3]
    opposite = np.stack([faces[face[:, k], corner[:, k]] for k in (0, 1)], axis=1)
    agrees = faces[face[:, 1], (corner[:, 1] + 1) % 3] == end
    signs = np.ones((len(face), 2))
    signs[~agrees, 1] = -1.0
    return Hinges(np.column_stack([start, end, opposite]), face, corner, signs)


def _paired(found: Edges, every_pair: bool) -> tuple[Integers, Integers]:
    """Corners (3 × face + corner) of the two sides of each hinge, in the order of the edges."""
    flat = found.of_face.reshape(-1)
    order = np.argsort(flat, kind="stable")
    counts, starts = found.face_count, np.cumsum(found.face_count) - found.face_count
    firsts, seconds, owners = [], [], []
    for gap in range(1, int(counts.max(initial=1)) if every_pair else 2):
        for step in range(int(counts.max(initial=1)) - gap):
            own = np.flatnonzero(counts > step + gap)
            firsts.append(order[starts[own] + step])
            seconds.append(order[starts[own] + step + gap])
            owners.append(own)
    if not owners:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    by_edge = np.argsort(np.concatenate(owners), kind="stable")
    return np.concatenate(firsts)[by_edge], np.concatenate(seconds)[by_edge]


def check_physical(mesh: TriMesh, name: str = "mesh") -> None:
    """Refuse, with indices, what physics cannot mean: no faces, NaN, absurd sizes, zero areas, repeated faces."""
    if mesh.point_count == 0 or len(mesh.faces) == 0:
        raise input_error(
            "has no faces", where=name, got=f"{mesh.point_count} vertices, {len(mesh.faces)} faces",
            remedy="give a triangle mesh with at least one face",
        )  # fmt: skip
    check_coordinates(mesh.rest, name)
    if mesh.size <= 0:
        raise input_error("all vertices lie on one point", where=name, remedy="check the file's scale")
    thin = thinness(mesh.rest, mesh.faces)
    flat = np.flatnonzero(~(thin > THINNEST_FACE))
    if len(flat):
        raise input_error(
            "faces without area, or so thin that their stiffness is noise",
            where=f"{name}, faces {first_few(flat)}",
            got=f"area / longest edge² = {thin[flat[0]]:.3g}",
            allowed=f"above {THINNEST_FACE:g}",
            remedy="remove or merge these faces",
        )
    used = np.zeros(mesh.point_count, dtype=bool)
    used[mesh.faces] = True
    loose = np.flatnonzero(~used)
    if len(loose):
        raise input_error(
            "vertices belong to no face, so they have no mass", where=f"{name}, vertices {first_few(loose)}",
            got=f"{len(loose)} of {mesh.point_count}", remedy="delete loose vertices",
        )  # fmt: skip
    again = np.flatnonzero(repeated_faces(mesh.faces))
    if len(again):
        raise input_error(
            "faces have the same three vertices as another", where=f"{name}, faces {first_few(again)}",
            got=mesh.faces[again[0]].tolist(), remedy="remove the repeated faces",
        )  # fmt: skip


THINNEST_FACE = 1e-5  # area over longest edge²; a plate's compliance grows as its fourth power
DRAWN_OUT, MOST_DRAWN_OUT = 0.1, 0.05
"""area over longest edge² of a triangle five times as long as high, which bends too hard or sidewise; the share of such
from which on they are spoken of"""
SMALLEST_SIZE, LARGEST_COORDINATE = 1e-6, 1e7  # [m]: a thousandth of a millimetre; the Earth's radius


def thinness(x: Points, faces: Faces) -> Vector:
    """(f,) area over longest edge²: 0.43 for an equilateral triangle, 0 for one without area."""
    corners = x[faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0.0)
    return face_areas(x, faces) / np.maximum(longest, 1e-150) ** 2


def repeated_faces(faces: Faces) -> Flags:
    """(f,) whether an earlier face has the same three vertices."""
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    again = np.ones(len(faces), dtype=bool)
    again[first] = False
    return again


def check_coordinates(x: Array, name: str, *, smallest: float = SMALLEST_SIZE) -> None:
    """Refuse coordinates (…, 3) that are not finite, or whose scale can only be a unit mistake; `smallest` is in m."""
    flat = x.reshape(-1, 3)
    bad = np.flatnonzero(~np.isfinite(flat).all(axis=1)) % x.shape[-2]
    if len(bad):
        value = flat[~np.isfinite(flat).all(axis=1)][0].tolist()
        raise input_error(
            "coordinates are not finite", where=f"{name}, vertices {first_few(np.unique(bad))}",
            got=value, allowed="finite numbers", remedy="repair the file",
        )  # fmt: skip
    largest = float(np.abs(flat).max(initial=0.0))
    if largest > LARGEST_COORDINATE:
        raise input_error(
            "coordinates are too large", where=name, got=f"{largest:.3g} m",
            allowed=f"up to {LARGEST_COORDINATE:g} m", remedy="check the file's unit (metersPerUnit)",
        )  # fmt: skip
    spread = float(np.ptp(flat, axis=0).max(initial=0.0))
    if spread < smallest:
        raise input_error(
            "the shape is too small", where=name, got=f"{spread:.3g} m",
            allowed=f"at least {smallest:g} m", remedy="check the file's unit (metersPerUnit)",
        )  # fmt: skip
