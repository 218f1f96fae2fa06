"""STL: a soup of triangles, text or binary. A soup stays one: three points a triangle.

Binary: 80 bytes of anything, uint32 triangles, then 50 bytes each: normal and three points as float32, uint16.
"""

from __future__ import annotations

import logging
from itertools import accumulate
from pathlib import Path

import numpy as np

from bunraku.contracts import InputError, Integers, Points, input_error
from bunraku.geometry import Subset, Surface, face_normals, triangulate

from .files import read_bytes
from .tokens import REEXPORT, Text, cut_short, is_number
from .winding import outward

_log = logging.getLogger(__name__)

_HEAD = 84  # [bytes] before the first triangle
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("points", "<f4", (3, 3)), ("extra", "<u2")])
_FACET = (b"facet", b"outer", b"vertex", b"vertex", b"vertex", b"endloop", b"endfacet")


def read_stl(path: str | Path) -> Surface:
    """The triangles of an STL file, in the file's unit. A binary file is known by its size: many begin with 'solid'."""
    where = str(path)
    data = read_bytes(Path(path))
    declared = int.from_bytes(data[80:_HEAD], "little")
    size = _HEAD + _TRIANGLE.itemsize * declared
    if len(data) == size or not _is_text(data[:4096].lower()):
        if len(data) < size or len(data) < _HEAD:
            raise cut_short(where, f"it declares {declared} triangles", len(data), max(size, _HEAD), "bytes")
        return _binary(data, declared, where)
    return _text(Text.of(data, where))


def format_stl(surface: Surface) -> bytes:
    """The binary STL of a surface: its polygons as triangles, float32. All but the shape is left out with a note."""
    _note_losses(surface)
    given = outward(surface)
    most = float(np.finfo(np.float32).max)
    largest = float(np.abs(given.points[np.isfinite(given.points)]).max(initial=0.0))
    if largest > most:
        raise input_error("too large for STL's single precision", got=f"{largest:.3g}", allowed=f"up to {most:.3g}")
    with np.errstate(invalid="ignore", over="ignore", divide="ignore", under="ignore"):
        faces = given.corners[triangulate(given.points, given.counts, given.corners).corners]
        normals = face_normals(given.points, faces)
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        out = np.zeros(len(faces), _TRIANGLE)
        out["normal"] = np.where(lengths > 0, np.nan_to_num(normals / lengths), 0.0)
        out["points"] = given.points[faces]
    return b"bunraku".ljust(80, b"\0") + len(faces).to_bytes(4, "little") + out.tobytes()


def _is_text(head: bytes) -> bool:
    return head.lstrip().startswith(b"solid") and (b"facet" in head or b"endsolid" in head)


def _binary(data: bytes, count: int, where: str) -> Surface:
    rows = np.frombuffer(data, _TRIANGLE, count, _HEAD)
    if rows["extra"].any():
        _log.warning("%s: colours or attributes of triangles are passed over", where)
    if len(data) > _HEAD + rows.nbytes:
        _log.warning("%s: %d bytes after the last triangle are passed over", where, len(data) - _HEAD - rows.nbytes)
    with np.errstate(invalid="ignore"):
        return _soup(rows["points"].astype(np.float64).reshape(-1, 3))


def _text(text: Text) -> Surface:
    """The triangles of a text file: `facet`, `outer loop`, three times `vertex x y z`, `endloop`, `endfacet`."""
    lines = [(k, words) for k, line in enumerate(text.data.lower().split(b"\n")) if (words := line.split())]
    facets = [(k, words) for k, words in lines if words[0] not in (b"solid", b"endsolid")]
    words = [row[0] for _, row in facets]
    expected = (_FACET * (len(words) // 7 + 1))[: len(words)]
    bad = next((k for k, (got, right) in enumerate(zip(words, expected, strict=True)) if got != right), None)
    if bad is not None:
        raise _refusal(text, facets[bad], f"{expected[bad].decode()!r} is expected here")
    if len(words) % 7 or lines[-1][1][0] != b"endsolid":
        raise input_error("is cut short: it ends before 'endsolid'", where=text.path, remedy="copy or export it again")
    vertices = [row for row in facets if row[1][0] == b"vertex"]
    short = next((row for row in vertices if len(row[1]) != 4), None)
    if short is not None:
        raise _refusal(text, short, "a vertex needs three coordinates")
    points = _coordinates(text, vertices)
    subsets = _solids(text, lines, len(points) // 3)
    return _soup(points, subsets)


def _coordinates(text: Text, vertices: list[tuple[int, list[bytes]]]) -> Points:
    """(n, 3) of the `vertex` lines."""
    try:
        return np.array([[float(word) for word in row[1:]] for _, row in vertices]).reshape(-1, 3)
    except ValueError:
        bad = next(row for row in vertices if not all(map(is_number, row[1][1:])))
        raise _refusal(text, bad, "a vertex must be three numbers") from None


def _solids(text: Text, lines: list[tuple[int, list[bytes]]], count: int) -> tuple[Subset, ...]:
    """The solids of a file that holds several, under their names."""
    originals = text.data.split(b"\n")
    named: dict[str, list[Integers]] = {}
    first, name = 0, "solid"
    for after, (k, words) in zip(_facets_above(lines), lines, strict=True):
        if words[0] in (b"solid", b"endsolid"):
            if after > first:
                named.setdefault(name, []).append(np.arange(first, after))
            first = after
            if words[0] == b"solid":
                name = b" ".join(originals[k].split()[1:]).decode("utf-8", "replace") or "solid"
    if len(named) < 2 or first < count:
        return ()
    return tuple(Subset(name, np.concatenate(ranges), "object") for name, ranges in named.items())


def _facets_above(lines: list[tuple[int, list[bytes]]]) -> list[int]:
    """How many facets begin above each line."""
    return list(accumulate((words[0] == b"facet" for _, words in lines), initial=0))[:-1]


def _soup(points: Points, subsets: tuple[Subset, ...] = ()) -> Surface:
    return Surface(points, np.full(len(points) // 3, 3), np.arange(len(points)), subsets=subsets)


def _refusal(text: Text, line: tuple[int, list[bytes]], what: str) -> InputError:
    number, words = line
    got = b" ".join(words)[:60].decode("utf-8", "replace")
    return input_error(what, where=f"{text.path}, line {number + 1}", got=got, remedy=REEXPORT)


def _note_losses(surface: Surface) -> None:
    lost = [one.name for one in surface.attributes] + [one.name for one in surface.subsets]
    if lost:
        _log.warning("STL holds triangles only; left out: %s", ", ".join(lost))
