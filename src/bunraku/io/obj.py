"""Wavefront OBJ: the vertices and faces of a file, and back. All else in it is passed over."""

from __future__ import annotations

import re
from itertools import chain, islice
from pathlib import Path

import numpy as np

from bunraku.contracts import Faces, InputError, Integers, Points, input_error

from .files import read_bytes
from .polygons import triangulate

_VERTEX = re.compile(rb"^[ \t]*v(?!\w)([^#\r\n]*)", re.MULTILINE)
_FACE = re.compile(rb"^[ \t]*f(?!\w)([^#\r\n]*)", re.MULTILINE)
_TEXTURE_AND_NORMAL = re.compile(rb"/[^ \t\n]*")


def read_obj(path: Path) -> tuple[Points, Faces]:
    """Positions (n, 3) and triangles (f, 3) of an OBJ file; polygons are fanned, other records ignored."""
    data = read_bytes(path).replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    rest = _positions(data, path)
    counts, corners = _corners(data, path)
    corners = _absolute(corners, counts, len(rest), data, path)
    return rest, triangulate(counts, corners)


def format_obj(x: Points, faces: Faces) -> bytes:
    """The OBJ text of points (n, 3) and faces (f, 3); float64 comes back exactly."""
    vertices = "".join([f"v {a!r} {b!r} {c!r}\n" for a, b, c in x.tolist()])
    polygons = "".join([f"f {a} {b} {c}\n" for a, b, c in (faces + 1).tolist()])
    return (vertices + polygons).encode("ascii")


def _positions(data: bytes, path: Path) -> Points:
    rows = [row.split() for row in _VERTEX.findall(data)]
    if not rows:
        raise input_error(
            "holds no vertices", where=str(path), got=f"{len(data)} bytes", remedy="export a mesh as OBJ text"
        )
    widths = np.fromiter(map(len, rows), np.int64, len(rows))
    short = np.flatnonzero(widths < 3)
    if len(short):
        raise _refusal("a vertex needs three coordinates", data, _VERTEX, int(short[0]), path)
    try:
        numbers = chain.from_iterable(row[:3] for row in rows)
        x = np.fromiter(map(float, numbers), np.float64, 3 * len(rows)).reshape(-1, 3)
    except ValueError:
        bad = next(k for k, row in enumerate(rows) if not all(map(_is_number, row[:3])))
        raise _refusal("a vertex must be three numbers", data, _VERTEX, bad, path) from None
    wild = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(wild):
        raise _refusal("a vertex is not finite", data, _VERTEX, int(wild[0]), path)
    return x


def _corners(data: bytes, path: Path) -> tuple[Integers, Integers]:
    """Corner counts (p,) of the polygons and their vertex numbers as written, all in one row."""
    lines = _FACE.findall(data)
    if not lines:
        raise input_error(
            "holds no faces", where=str(path), got="vertices only", remedy="export the mesh with its faces"
        )
    text = _TEXTURE_AND_NORMAL.sub(b"", b"\n".join(lines))
    rows = [row.split() for row in text.split(b"\n")]
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    short = np.flatnonzero(counts < 3)
    if len(short):
        raise _refusal("a face needs three corners", data, _FACE, int(short[0]), path)
    try:
        corners = np.fromiter(map(int, chain.from_iterable(rows)), np.int64, int(counts.sum()))
    except (ValueError, OverflowError):
        bad = next(k for k, row in enumerate(rows) if not all(map(_is_index, row)))
        raise _refusal("a face must be vertex numbers", data, _FACE, bad, path) from None
    return counts, corners


def _absolute(corners: Integers, counts: Integers, point_count: int, data: bytes, path: Path) -> Integers:
    """Vertex indices from 0; negative numbers count back from the last vertex above their line."""
    result = corners - 1
    if (corners < 0).any():
        vertex_starts = np.array([match.start() for match in _VERTEX.finditer(data)])
        face_starts = np.array([match.start() for match in _FACE.finditer(data)])
        above = np.repeat(np.searchsorted(vertex_starts, face_starts), counts)
        result = np.where(corners < 0, corners + above, result)
    bad = np.flatnonzero((result < 0) | (result >= point_count) | (corners == 0))
    if len(bad):
        face = int(np.searchsorted(np.cumsum(counts), bad[0], side="right"))
        what = f"a face names vertex {corners[bad[0]]} of {point_count}"
        raise _refusal(what, data, _FACE, face, path)
    return result


def _refusal(what: str, data: bytes, pattern: re.Pattern[bytes], number: int, path: Path) -> InputError:
    """An error at the line of the pattern's match number `number`."""
    match = next(islice(pattern.finditer(data), number, None))
    line = data.count(b"\n", 0, match.start()) + 1
    text = match.group(0).strip().decode("utf-8", "replace")
    return input_error(what, where=f"{path}, line {line}", got=text[:80], remedy="repair or re-export the file")


def _is_number(token: bytes) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def _is_index(token: bytes) -> bool:
    try:
        return abs(int(token)) < 2**63
    except ValueError:
        return False
