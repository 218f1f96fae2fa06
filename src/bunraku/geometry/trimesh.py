"""Triangle meshes: a rest shape and its faces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Faces, Integers, Points, Vector, input_error, numbers


@dataclass(frozen=True, eq=False)
class TriMesh:
    """A triangle mesh. Holds whatever can be represented; `check_physical` says what physics cannot mean."""

    rest: Points
    """(n, 3) rest positions [m]"""
    faces: Faces
    """(f, 3) vertex indices, counter-clockwise seen from outside"""

    def __post_init__(self) -> None:
        rest = float_rows(self.rest, "rest positions", 3)
        faces = index_rows(self.faces, "faces", 3, len(rest))
        object.__setattr__(self, "rest", rest)
        object.__setattr__(self, "faces", faces)

    @property
    def point_count(self) -> int:
        """Number of vertices n."""
        return len(self.rest)

    @property
    def size(self) -> float:
        """Length of the diagonal of the rest shape's bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.rest, axis=0))) if len(self.rest) else 0.0

    def with_rest(self, rest: Points) -> TriMesh:
        """The same faces with other rest positions (n, 3)."""
        return TriMesh(rest, self.faces)


def float_rows(values: Points, name: str, width: int) -> Points:
    array = numbers(name, values)
    if array.ndim != 2 or array.shape[1] != width:
        raise input_error(f"{name} must have shape (n, {width})", got=array.shape)
    array.flags.writeable = False
    return array


def index_rows(values: Integers, name: str, width: int, point_count: int) -> Integers:
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise input_error(f"{name} must have shape (m, {width})", got=values) from None
    if given.size == 0:
        given = np.zeros((0, width), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != width:
        raise input_error(f"{name} must have shape (m, {width})", got=given.shape)
    if not np.issubdtype(given.dtype, np.integer):
        raise input_error(f"{name} must be whole numbers", got=str(given.dtype))
    array = given.astype(np.int64)
    bad = np.flatnonzero(((array < 0) | (array >= point_count)).any(axis=1))
    if len(bad):
        raise input_error(
            f"{name} point outside the {point_count} vertices",
            where=f"{name} {first_few(bad)}",
            got=array[bad[0]].tolist(),
            allowed=f"0 to {point_count - 1}" if point_count else "none, no vertices",
        )
    array.flags.writeable = False
    return array


def first_few(indices: Integers | Sequence[str], limit: int = 5) -> str:
    """'3, 7, 9 and 12 more' — indices or names in an error without flooding it."""
    shown = ", ".join(str(i) for i in indices[:limit])
    rest = len(indices) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown


def face_normals(x: Points, faces: Faces) -> Points:
    """(f, 3) normals whose length is twice the face's area [m²]."""
    a, b, c = x[faces[:, 0]], x[faces[:, 1]], x[faces[:, 2]]
    return np.cross(b - a, c - a)


def face_areas(x: Points, faces: Faces) -> Vector:
    """(f,) areas [m²]."""
    return 0.5 * np.linalg.norm(face_normals(x, faces), axis=1)


def vertex_normals(x: Points, faces: Faces) -> Points:
    """(n, 3) unit normals, area-weighted; zero where a vertex has no face or its faces cancel."""
    weighted = face_normals(x, faces)
    total = np.zeros_like(x)
    for axis in range(3):
        total[:, axis] = np.bincount(faces.reshape(-1), weights=np.repeat(weighted[:, axis], 3), minlength=len(x))
    return unit_rows(total)


def unit_rows(x: Points) -> Points:
    """(n, 3) rows of length one; zero rows stay zero."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.divide(x, length, out=np.zeros_like(x), where=length > 0)


def vertex_areas(x: Points, faces: Faces) -> Vector:
    """(n,) a third of the area of the faces around each vertex [m²]."""
    areas = face_areas(x, faces) / 3.0
    return np.bincount(faces.reshape(-1), weights=np.repeat(areas, 3), minlength=len(x)).astype(np.float64)
