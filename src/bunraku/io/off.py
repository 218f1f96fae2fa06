"""OFF: points and polygons as text, with colours (COFF), normals (NOFF) and texture coordinates (STOFF)."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Integers, Vector, input_error
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Surface

from .files import read_bytes
from .tokens import Text, cut_short, whole
from .winding import outward

_log = logging.getLogger(__name__)

_HEADER = re.compile(rb"\s*(ST)?(C)?(N)?(4)?(n)?OFF(?![A-Za-z])[ \t]*(BINARY\b)?")
# Normals stand before colours in a row, colours before texture coordinates [Geomview, OFF file format].


@dataclass(frozen=True)
class _Header:
    """The first words of an OFF file."""

    normals: bool
    colours: bool
    texture: bool
    points: int
    polygons: int


def read_off(path: str | Path) -> Surface:
    """The surface of an OFF file, in the file's unit. Colours of faces are passed over with a note."""
    where = str(path)
    header, text = _header(Text.of(read_bytes(Path(path)), where))
    numbers = text.numbers()
    first, widths = text.rows()
    width = _vertex_width(header, widths, text)
    start = min(int(widths[0]), 3)
    end = start + header.points * width
    if end > len(numbers):
        raise cut_short(where, f"it declares {header.points} points", len(numbers) - start, end - start, "numbers")
    table = numbers[start:end].reshape(header.points, width)
    counts, corners = _polygons(header, text, first, widths, numbers, end)
    return Surface(table[:, :3], counts, corners, _attributes(header, table, text, start))


def format_off(surface: Surface) -> bytes:
    """The OFF text of a surface with what belongs to its points; float64 comes back exactly, colours with an alpha.

    What OFF cannot hold is left out with a note.
    """
    given = outward(surface)
    columns, prefix = [given.points.tolist()], ""
    held: list[Attribute] = []
    for name, letter, widths in ((NORMALS, "N", (3,)), (COLOUR, "C", (3, 4)), (UV, "ST", (2,))):
        for one in given.attributes:
            values = one.flat()
            if one.name != name or one.scope is not Scope.POINT or values.ndim != 2 or values.shape[1] not in widths:
                continue
            if _can_hold(values, name == COLOUR) and not any(other.name == name for other in held):
                held.append(one)
                columns.append((_with_alpha(values) if name == COLOUR else values.astype(np.float64)).tolist())
                prefix = letter + prefix
    _note_losses(given, held)
    rows = [" ".join(map(repr, chain.from_iterable(row))) + "\n" for row in zip(*columns, strict=True)]
    words = list(map(str, given.corners.tolist()))
    polygons = [
        " ".join([str(count), *words[start : start + count]]) + "\n"
        for start, count in zip(given.starts.tolist(), given.counts.tolist(), strict=True)
    ]
    head = f"{prefix}OFF\n{given.point_count} {given.polygon_count} 0\n"
    return (head + "".join(rows) + "".join(polygons)).encode("ascii")


def _header(text: Text) -> tuple[_Header, Text]:
    """The header, and the text from the counts on."""
    bare = text.without_comments()
    match = _HEADER.match(bare.data)
    if match is None:
        got = text.data[:20].decode("utf-8", "replace")
        raise input_error("is not an OFF file", where=text.path, got=got, allowed="OFF, COFF, NOFF, STOFF")
    if match.group(6):
        raise input_error("binary OFF cannot be read", where=text.path, remedy="export OFF text or PLY")
    if match.group(4) or match.group(5):
        got = match.group(0).strip().decode("ascii")
        raise input_error("OFF files of other than three dimensions cannot be read", where=text.path, got=got)
    body = bare.part(match.end())
    blank = len(body.data) - len(body.data.lstrip())
    counts = whole(body.part(blank, body.data.find(b"\n", blank) + 1 or None).numbers()[:2])
    if len(counts) < 2 or (counts < 0).any():
        raise body.refusal("OFF must begin with how many points and polygons it has", 0)
    texture, colours, normals = (match.group(k) is not None for k in (1, 2, 3))
    return _Header(normals, colours, texture, *counts.tolist()), body


def _vertex_width(header: _Header, widths: Integers, text: Text) -> int:
    """How many numbers a point has: as the header says, more where every line has more."""
    least = 3 + 3 * header.normals + 2 * header.texture + 3 * header.colours
    own = widths[1 : header.points + 1]
    if not len(own) or (own != own[0]).any() or own[0] < least:
        return least + header.colours  # colours have an alpha
    extra = int(own[0]) - least
    if header.colours and extra > 1:
        raise input_error("the colours of points must be 3 or 4 numbers", where=text.path, got=extra + 3)
    if extra and not header.colours:
        _log.warning("%s: %d more numbers a point than its header names are passed over", text.path, extra)
    return int(own[0])


def _polygons(
    header: _Header, text: Text, first: Integers, widths: Integers, numbers: Vector, begin: int
) -> tuple[Integers, Integers]:
    """Counts (p,) and corners of the polygons, a line each, from word number `begin`."""
    row = int(np.searchsorted(first, begin))
    if header.polygons > len(first) - row:
        raise cut_short(
            text.path, f"it declares {header.polygons} polygons", len(first) - row, header.polygons, "lines"
        )
    first, widths = first[row : row + header.polygons], widths[row : row + header.polygons]
    if len(first) and first[0] != begin:
        raise text.refusal("the first polygon must begin a line", begin)
    counts = whole(numbers[first])
    bad = np.flatnonzero((counts < 0) | (widths - 1 < counts))
    if len(bad):
        raise text.refusal("a polygon needs as many corners as it says", int(first[bad[0]]))
    if (widths - 1 > counts).any():
        _log.warning("%s: the colours of polygons are passed over", text.path)
    before = np.cumsum(counts) - counts
    words = np.repeat(first + 1 - before, counts) + np.arange(int(counts.sum()))
    corners = whole(numbers[words])
    outside = np.flatnonzero((corners < 0) | (corners >= header.points))
    if len(outside):
        allowed = f"0 to {header.points - 1}" if header.points else "none, no points"
        raise text.refusal("a polygon names a point that is not there", int(words[outside[0]]), allowed)
    return counts, corners


def _attributes(header: _Header, table: Array, text: Text, start: int) -> tuple[Attribute, ...]:
    """What the rows of points (n, w) hold behind the coordinates."""
    out, at = [], 3
    if header.normals:
        out.append(Attribute(NORMALS, Scope.POINT, table[:, at : at + 3]))
        at += 3
    if header.colours:
        end = table.shape[1] - 2 * header.texture
        out.append(Attribute(COLOUR, Scope.POINT, _colours(table, text, start, at, end)))
        at = end
    if header.texture:
        out.append(Attribute(UV, Scope.POINT, table[:, at : at + 2]))
    return tuple(out)


def _colours(table: Array, text: Text, start: int, first: int, end: int) -> NDArray[np.generic]:
    """Columns of the table as uint8 where all are written as whole numbers up to 255, else float64."""
    words, (rows, width) = text.data.split(), table.shape
    values = table[:, first:end]
    columns = (words[start + k : start + rows * width : width] for k in range(first, end))
    if all(word.isdigit() for column in columns for word in column) and (values <= 255).all():
        return values.astype(np.uint8)
    return values


def _can_hold(values: NDArray[np.generic], colour: bool) -> bool:
    return values.dtype == np.uint8 if colour and values.dtype.kind != "f" else values.dtype.kind in "fiu"


def _with_alpha(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """(n, 4) colours; strict readers count on the alpha."""
    if values.shape[1] == 4:
        return values
    opaque = np.full((len(values), 1), 255 if values.dtype == np.uint8 else 1, dtype=values.dtype)
    return np.hstack([values, opaque])


def _note_losses(surface: Surface, held: list[Attribute]) -> None:
    lost = [one.name for one in surface.attributes if not any(one is other for other in held)]
    lost += [one.name for one in surface.subsets]
    if lost:
        _log.warning("OFF cannot hold, so left out: %s", ", ".join(lost))
