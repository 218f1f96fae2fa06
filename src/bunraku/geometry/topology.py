"""Edges and hinges of a triangle mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Vector, input_error

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
    unique, inverse, counts = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True, return_counts=True)
    return Edges(unique, inverse.reshape(-1, 3), counts)


def hinges(mesh: TriMesh) -> Hinges:
    """The hinges of a mesh whose edges have at most two faces; others are refused by name."""
    faces = mesh.faces
    found = edges(faces)
    crowded = np.flatnonzero(found.face_count > 2)
    if len(crowded):
        pair = found.vertices[crowded[0]].tolist()
        raise input_error(
            f"{len(crowded)} edges have three or more faces",
            where=f"edge {pair[0]}–{pair[1]}",
            got=int(found.face_count[crowded[0]]),
            allowed="one or two faces on an edge",
            remedy="split the mesh along these edges",
        )
    flat = found.of_face.reshape(-1)
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.flatnonzero(found.face_count == 2))
    first, second = order[starts], order[starts + 1]
    face = np.stack([first // 3, second // 3], axis=1)
    corner = np.stack([first % 3, second % 3], axis=1)
    start = faces[face[:, 0], (corner[:, 0] + 1) % 3]
    end = faces[face[:, 0], (corner[:, 0] + 2) % 3]
    opposite = np.stack([faces[face[:, k], corner[:, k]] for k in (0, 1)], axis=1)
    agrees = faces[face[:, 1], (corner[:, 1] + 1) % 3] == end
    signs = np.ones((len(face), 2))
    signs[~agrees, 1] = -1.0
    return Hinges(np.column_stack([start, end, opposite]), face, corner, signs)


def check_physical(mesh: TriMesh, name: str = "mesh") -> None:
    """Refuse, with indices, what physics cannot mean: no faces, NaN, absurd sizes, zero areas, crowded edges."""
    if mesh.point_count == 0 or len(mesh.faces) == 0:
        raise input_error(
            "has no faces", where=name, got=f"{mesh.point_count} vertices, {len(mesh.faces)} faces",
            remedy="give a triangle mesh with at least one face",
        )  # fmt: skip
    check_coordinates(mesh.rest, name)
    if mesh.size <= 0:
        raise input_error("all vertices lie on one point", where=name, remedy="check the file's scale")
    thin = face_areas(mesh.rest, mesh.faces) / _longest_edges(mesh) ** 2
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
    hinges(mesh)


THINNEST_FACE = 1e-5  # area over longest edge²; a plate's compliance grows as its fourth power
SMALLEST_SIZE, LARGEST_COORDINATE = 1e-6, 1e7  # [m]: a thousandth of a millimetre; the Earth's radius


def _longest_edges(mesh: TriMesh) -> Vector:
    """(f,) [m]; at least the smallest number above zero."""
    x = mesh.rest[mesh.faces]
    lengths = np.linalg.norm(x - np.roll(x, 1, axis=1), axis=2)
    return np.maximum(lengths.max(axis=1), np.finfo(np.float64).tiny)


def check_coordinates(x: Array, name: str) -> None:
    """Refuse coordinates (…, 3) that are not finite, or whose scale can only be a unit mistake."""
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
    if spread < SMALLEST_SIZE:
        raise input_error(
            "the shape is too small", where=name, got=f"{spread:.3g} m",
            allowed=f"at least {SMALLEST_SIZE:g} m", remedy="check the file's unit (metersPerUnit)",
        )  # fmt: skip
