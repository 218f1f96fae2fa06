"""Directions in the faces of a mesh: from texture coordinates, from painted vectors, from one axis for all.

A direction is a line: its sense does not matter to what is woven along it.
"""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Points, Vector, input_error

from .trimesh import TriMesh, face_normals, first_few, unit_rows

_STEEP = 0.05  # of a vector's length: what lies flatter on a face than this does not say a direction there
_FLAT = 1e-9  # of the product of its edges: a triangle of texture coordinates without area


def texture_directions(mesh: TriMesh, uv: Array) -> Points:
    """(f, 3) unit direction in which u grows and v stays, from texture coordinates (f, 3, 2) of the corners.

    Zero where a face's texture coordinates have no area or are not finite.
    """
    x = mesh.rest[mesh.faces]
    first, second = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]
    a, b = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    with np.errstate(invalid="ignore", over="ignore"):
        area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        usable = np.abs(area) > _FLAT * np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    usable &= np.isfinite(uv).all(axis=(1, 2))
    along = np.sign(np.where(usable, area, 0.0))[:, None] * (b[:, 1:] * first - a[:, 1:] * second)
    return unit_rows(np.where(usable[:, None], along, 0.0))


def laid_on_faces(mesh: TriMesh, vectors: Points) -> Points:
    """(f, 3) unit directions: vectors (f, 3) let down on the rest faces; zero where they stand on them, or are zero."""
    normals = unit_rows(face_normals(mesh.rest, mesh.faces))
    given = unit_rows(np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0.0))
    flat = given - np.sum(given * normals, axis=1)[:, None] * normals
    return unit_rows(np.where((np.linalg.norm(flat, axis=1) > _STEEP)[:, None], flat, 0.0))


def axis_directions(mesh: TriMesh, axis: Vector) -> Points:
    """(f, 3) an axis (3,) let down on every face; where it stands on a face, the next axis (x, y, z, x) takes over."""
    given = np.asarray(axis, dtype=np.float64)
    if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
        raise input_error("a direction must be three numbers, not all zero", got=axis, allowed="[x, y, z]")
    out = laid_on_faces(mesh, np.broadcast_to(given, mesh.faces.shape))
    for _ in range(2):  # of two axes that are not parallel, one at least lies on any face
        given = np.roll(given, 1)
        missing = ~out.any(axis=1)
        out[missing] = laid_on_faces(mesh, np.broadcast_to(given, mesh.faces.shape))[missing]
    missing = ~out.any(axis=1)
    out[missing] = unit_rows(mesh.rest[mesh.faces[missing, 1]] - mesh.rest[mesh.faces[missing, 0]])
    return out


def direction_angles(mesh: TriMesh, directions: Array) -> Vector:
    """(f,) angles [rad] from each rest face's first edge to a direction (f, 3), counter-clockwise from outside."""
    lying = laid_on_faces(mesh, directions)
    bad = np.flatnonzero(~lying.any(axis=1))
    if len(bad):
        raise input_error(
            "the warp is zero or stands on the face", where=f"faces {first_few(bad)}", got=f"{len(bad)} such faces",
            allowed="a direction along each face",
        )  # fmt: skip
    first = unit_rows(mesh.rest[mesh.faces[:, 1]] - mesh.rest[mesh.faces[:, 0]])
    across = np.cross(unit_rows(face_normals(mesh.rest, mesh.faces)), first)
    return np.arctan2(np.sum(lying * across, axis=1), np.sum(lying * first, axis=1))
