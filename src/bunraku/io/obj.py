"""Wavefront OBJ: polygons, texture coordinates, normals, vertex colours, groups, objects and materials, and back.

Records that are none of these are passed over with a note.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from itertools import chain, islice
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, InputError, Integers, Points, input_error
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Subset, Surface, unit_colours

from .files import read_bytes
from .tokens import is_number

_log = logging.getLogger(__name__)

_RECORDS = {kind: re.compile(rb"^[ \t]*" + kind.encode() + rb"(?!\w)([^#\r\n]*)", re.MULTILINE) for kind in
            ("v", "vt", "vn", "f", "o", "g", "usemtl", "mtllib")}  # fmt: skip
_FAMILIES = {"o": "object", "g": "group", "usemtl": "material"}
_WORD = re.compile(rb"^[ \t]*([A-Za-z]\w*)", re.MULTILINE)
_KNOWN = {*_RECORDS, "s"}  # smoothing groups: the normals say the same
_LONGEST = 18  # digits of a number that still fits in 64 bits


def read_obj(path: Path) -> Surface:
    """The surface of an OBJ file, in the file's unit."""
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.replace(b"\\\n", b" ")
    points, colours = _positions(data, path)
    counts, corners = _corners(data, path)
    indices = _absolute(corners[:, 0], counts, "v", data)
    bad = np.flatnonzero((indices < 0) | (indices >= len(points)))
    if len(bad):
        face = int(np.searchsorted(np.cumsum(counts), bad[0], side="right"))
        raise _refusal(f"a face names vertex {corners[bad[0], 0]} of {len(points)}", data, "f", face, path)
    attributes = [*colours]
    for column, kind, name, width in ((1, "vt", UV, 2), (2, "vn", NORMALS, 3)):
        if corners.shape[1] > column and corners[:, column].any():
            attributes += _corner_attribute(name, kind, width, corners[:, column], counts, data, path)
    _note_unknown(data, path)
    libraries = tuple(_text(line) for line in _RECORDS["mtllib"].findall(data))
    return Surface(points, counts, indices, tuple(attributes), _subsets(data, len(counts)), False, libraries)


def _positions(data: bytes, path: Path) -> tuple[Points, list[Attribute]]:
    """Positions (n, 3), and the colours some programs put behind them."""
    rows = [row.split() for row in _RECORDS["v"].findall(data)]
    if not rows:
        raise input_error(
            "holds no vertices", where=str(path), got=f"{len(data)} bytes", remedy="export a mesh as OBJ text"
        )
    x = _numbers(rows, 3, "v", data, path)
    widths = np.fromiter(map(len, rows), np.int64, len(rows))
    if not (widths >= 6).all():
        return x, []
    try:
        colours = np.array([[float(one) for one in row[3:6]] for row in rows])
    except ValueError:
        return x, []
    return x, [Attribute(COLOUR, Scope.POINT, colours)]


def _numbers(rows: list[list[bytes]], width: int, kind: str, data: bytes, path: Path) -> Array:
    """(m, width) the first numbers of each row."""
    what = {"v": "a vertex", "vt": "a texture coordinate", "vn": "a normal"}[kind]
    how_many = {2: "two", 3: "three"}[width]
    widths = np.fromiter(map(len, rows), np.int64, len(rows))
    short = np.flatnonzero(widths < width)
    if len(short):
        raise _refusal(f"{what} needs {how_many} coordinates", data, kind, int(short[0]), path)
    try:
        if b"_" in data and any(b"_" in token for row in rows for token in row[:width]):
            raise ValueError  # Python would read 1_0 as ten
        flat = chain.from_iterable(row[:width] for row in rows)
        return np.fromiter(map(float, flat), np.float64, width * len(rows)).reshape(-1, width)
    except ValueError:
        bad = next(k for k, row in enumerate(rows) if not all(map(is_number, row[:width])))
        raise _refusal(f"{what} must be {how_many} numbers", data, kind, bad, path) from None


def _corners(data: bytes, path: Path) -> tuple[Integers, Integers]:
    """Corner counts (p,) of the polygons, and (c, 1 to 3) the numbers of each corner as written, 0 for none."""
    lines = _RECORDS["f"].findall(data)
    if not lines:
        raise input_error(
            "holds no faces", where=str(path), got="vertices only", remedy="export the mesh with its faces"
        )
    rows = [line.split() for line in lines]
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    short = np.flatnonzero(counts < 3)
    if len(short):
        raise _refusal("a face needs three corners", data, "f", int(short[0]), path)
    tokens = list(chain.from_iterable(rows))
    slashes = np.fromiter((token.count(b"/") for token in tokens), np.int64, len(tokens))
    width = int(slashes.max()) + 1
    try:
        if width > 3:
            raise ValueError
        if (slashes == width - 1).all():
            joined = b" ".join(tokens).replace(b"//", b"/0/").replace(b"/ ", b"/0 ").replace(b"/", b" ")
            values = np.fromiter(map(int, (joined + b"0" * joined.endswith(b" ")).split()), np.int64)
            return counts, values.reshape(len(tokens), width)
        split = [[int(part or 0) for part in token.split(b"/")] for token in tokens]
        return counts, np.array([[*row, *[0] * (width - len(row))] for row in split], dtype=np.int64)
    except (ValueError, OverflowError):
        bad = next((k for k, row in enumerate(rows) if not all(map(_is_corner, row))), 0)
        raise _refusal("a face must be vertex numbers", data, "f", bad, path) from None


def _absolute(given: Integers, counts: Integers, kind: str, data: bytes) -> Integers:
    """Indices from 0 (−1 where 0 was given); negative numbers count back from the last record above their line."""
    if not (given < 0).any():
        return given - 1
    starts = np.array([match.start() for match in _RECORDS[kind].finditer(data)])
    faces = np.array([match.start() for match in _RECORDS["f"].finditer(data)])
    above = np.repeat(np.searchsorted(starts, faces), counts)
    return np.where(given < 0, given + above, given - 1)


def _corner_attribute(
    name: str, kind: str, width: int, given: Integers, counts: Integers, data: bytes, path: Path
) -> list[Attribute]:
    """Texture coordinates or normals; corners without any share a row that is not a number.

    None where the faces name some that are not there: the shape does not need them.
    """
    rows = [row.split() for row in _RECORDS[kind].findall(data)]
    if kind == "vt":  # the second number may be left out
        rows = [[*row, b"0"] if len(row) == 1 else row for row in rows]
    values = _numbers(rows, width, kind, data, path)
    indices = _absolute(given, counts, kind, data)
    if ((indices < 0) & (given != 0)).any() or (indices >= len(values)).any():
        what = {"vt": "texture coordinates", "vn": "normals"}[kind]
        _log.warning("%s: faces name %s that are not there; they are left out", path, what)
        return []
    if (indices < 0).any():
        values = np.vstack([values, np.full((1, width), np.nan)])
        indices = np.where(indices < 0, len(values) - 1, indices)
    return [Attribute(name, Scope.CORNER, values, indices)]


def _subsets(data: bytes, polygon_count: int) -> tuple[Subset, ...]:
    """Groups, objects and materials: each record names the faces up to the next of its kind."""
    faces = np.array([match.start() for match in _RECORDS["f"].finditer(data)])
    out: list[Subset] = []
    for kind, family in _FAMILIES.items():
        found = [(match.start(), _text(match.group(1))) for match in _RECORDS[kind].finditer(data)]
        bounds = [*np.searchsorted(faces, [start for start, _ in found]), polygon_count]
        named: dict[str, list[Integers]] = {}
        for (_, text), first, last in zip(found, bounds[:-1], bounds[1:], strict=True):
            for name in text.split() if kind == "g" else [text] if text else []:
                if last > first:
                    named.setdefault(name, []).append(np.arange(first, last))
        out += [Subset(name, np.concatenate(ranges), family) for name, ranges in named.items()]
    return tuple(out)


def _note_unknown(data: bytes, path: Path) -> None:
    unknown = Counter(word.decode("ascii") for word in _WORD.findall(data) if word.decode("ascii") not in _KNOWN)
    if unknown:
        listing = ", ".join(f"{count} '{word[:20]}'" for word, count in unknown.most_common(5))
        _log.warning("%s: records that are not part of a surface are passed over: %s", path, listing)


def _text(line: bytes) -> str:
    return line.strip().decode("utf-8", "replace")


def _refusal(what: str, data: bytes, kind: str, number: int, path: Path) -> InputError:
    """An error at the line of record number `number` of a kind."""
    match = next(islice(_RECORDS[kind].finditer(data), number, None))
    line = data.count(b"\n", 0, match.start()) + 1
    return input_error(
        what, where=f"{path}, line {line}", got=_text(match.group(0))[:80], remedy="repair or re-export the file"
    )


def _is_corner(token: bytes) -> bool:
    parts = token.split(b"/")
    return len(parts) <= 3 and all(re.fullmatch(rb"-?\d{1,%d}" % _LONGEST, part) or not part for part in parts)


# Writing


class ObjText:
    """The text of a surface's OBJ files: what does not move is made once."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        uv = surface.attribute(UV)
        self._texture, self._uv = _indexed(surface, uv) if uv is not None else (None, b"")
        self._colours = surface.attribute(COLOUR)
        self._faces: tuple[Integers | None, bytes] | None = None

    def at(self, points: Points, normals: Attribute | None = None) -> bytes:
        """The text with the points (n, 3) at a moment and their normals; float64 comes back exactly."""
        rows, lines = (None, b"") if normals is None else _indexed(self._surface, normals)
        head = "".join(f"mtllib {name}\n" for name in self._surface.libraries).encode()
        return head + self._vertices(points) + self._uv + lines + self._polygons(rows)

    def _vertices(self, points: Points) -> bytes:
        colours = self._colours
        if colours is not None and colours.scope is Scope.POINT and colours.flat().ndim == 2:
            shades = unit_colours(colours.flat())[:, :3]
            points = np.hstack([points, shades])
        return "".join(["v " + " ".join(map(repr, row)) + "\n" for row in points.tolist()]).encode("ascii")

    def _polygons(self, normals: Integers | None) -> bytes:
        if self._faces is None or not _equal(self._faces[0], normals):
            self._faces = normals, _face_lines(self._surface, self._texture, normals)
        return self._faces[1]


def format_obj(surface: Surface) -> bytes:
    """The OBJ text of a surface with all it carries."""
    return ObjText(surface).at(surface.points, surface.attribute(NORMALS))


def _indexed(surface: Surface, attribute: Attribute) -> tuple[Integers, bytes]:
    """(c,) record of each corner (from 1, 0 for none), and the records of an attribute."""
    values = np.asarray(attribute.values, dtype=np.float64)
    rows = np.arange(len(values)) if attribute.indices is None else attribute.indices
    spread = {
        Scope.POINT: lambda: rows[surface.corners],
        Scope.CORNER: lambda: rows,
        Scope.POLYGON: lambda: np.repeat(rows, surface.counts),
        Scope.WHOLE: lambda: np.repeat(rows, len(surface.corners)),
    }
    there = np.isfinite(values).all(axis=1)
    number = np.where(there, np.cumsum(there), 0)
    kind = "vt" if attribute.name == UV else "vn"
    lines = [f"{kind} " + " ".join(map(repr, row)) + "\n" for row in values[there].tolist()]
    return number[spread[attribute.scope]()], "".join(lines).encode("ascii")


def _face_lines(surface: Surface, texture: Integers | None, normals: Integers | None) -> bytes:
    names = (surface.corners + 1).astype("U")
    if texture is not None or normals is not None:
        none = np.zeros(len(names), dtype=np.int64)
        vt, vn = (none if one is None else one for one in (texture, normals))
        vt_text = np.where(vt > 0, vt.astype("U"), "")
        tail = np.where(vn > 0, np.char.add(np.char.add("/", vt_text), np.char.add("/", vn.astype("U"))),
                        np.where(vt > 0, np.char.add("/", vt_text), ""))  # fmt: skip
        names = np.char.add(names, tail)
    words = names.tolist()
    headings = _headings(surface)
    starts = surface.starts.tolist()
    lines = []
    for p, (start, count) in enumerate(zip(starts, surface.counts.tolist(), strict=True)):
        if p in headings:
            lines.append(headings[p])
        lines.append("f " + " ".join(words[start : start + count]) + "\n")
    return "".join(lines).encode("utf-8")


def _headings(surface: Surface) -> dict[int, str]:
    """Polygon → the records to write before it, wherever its objects, groups or materials change."""
    out: dict[int, str] = {}
    for kind in _FAMILIES:
        own = [subset for subset in surface.subsets if _record_of(subset) == kind]
        label = np.zeros(surface.polygon_count, dtype=np.int64)
        names: dict[frozenset[int], int] = {frozenset(): 0}
        members: list[set[int]] = [set() for _ in range(surface.polygon_count)] if own else []
        for k, subset in enumerate(own):
            for polygon in subset.polygons.tolist():
                members[polygon].add(k)
        for polygon, sets in enumerate(members):
            label[polygon] = names.setdefault(frozenset(sets), len(names))
        texts = {number: " ".join(_word(own[k].name, kind) for k in sorted(sets)) for sets, number in names.items()}
        for polygon in np.flatnonzero(np.diff(label, prepend=0)).tolist() if own else []:
            out[polygon] = out.get(polygon, "") + f"{kind} {texts[int(label[polygon])]}".rstrip() + "\n"
    return out


def _record_of(subset: Subset) -> str:
    """The OBJ record that names a subset; families OBJ does not have become groups."""
    return next((kind for kind, family in _FAMILIES.items() if family == subset.family), "g")


def _word(name: str, kind: str) -> str:
    """A name on one line; a group's in one word, for OBJ lists groups by blanks."""
    return ("_" if kind == "g" else " ").join(name.split())


def _equal(a: Integers | None, b: Integers | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))
