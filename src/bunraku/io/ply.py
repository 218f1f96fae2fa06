"""PLY: polygons with whatever numbers their points and faces carry, text or binary; written binary."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Integers, Points, input_error
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Surface

from .files import read_bytes
from .ply_body import TYPES, Column, Columns, mask_between, read_elements, read_header
from .tokens import REEXPORT, whole
from .winding import outward

_log = logging.getLogger(__name__)

_GROUPS = (
    (NORMALS, ("nx", "ny", "nz")), (COLOUR, ("red", "green", "blue", "alpha")), (COLOUR, ("red", "green", "blue")),
    (UV, ("s", "t")), (UV, ("u", "v")), (UV, ("texture_u", "texture_v")),
)  # fmt: skip
"""properties that together mean one thing; the first of a name that is there is taken"""
_CORNERS = ("vertex_indices", "vertex_index")
_CORNER_UV = "texcoord"
_SPECIAL = {
    "x",
    "y",
    "z",
    UV,
    NORMALS,
    COLOUR,
    _CORNER_UV,
    *_CORNERS,
    *(word for _, group in _GROUPS for word in group),
}
_WORDS = {code: word for word, code in reversed(TYPES.items())}
"""NumPy's code: PLY's older word, which every reader knows"""


def read_ply(path: str | Path) -> Surface:
    """The surface of a PLY file, in the file's unit; a cloud of points is a surface without polygons.

    What is neither point nor face is passed over with a note; strips of triangles become triangles.
    """
    where = str(path)
    data = read_bytes(Path(path))
    header = read_header(data, where)
    tables = read_elements(data, header, where)
    vertex, face = tables.pop("vertex", {}), tables.pop("face", {})
    points = _points(vertex, where)
    polygons, strips = _corner_lists(face), _corner_lists(tables.pop("tristrips", {}))
    counts, corners = _polygons(polygons, len(points), f"{where}, face")
    passed = [*tables, *(one for one in header.comments if one.startswith("comment TextureFile"))]
    attributes, lost = _attributes(vertex, Scope.POINT, ("x", "y", "z"))
    passed += lost
    if polygons is not None and strips is None:
        own, lost = _attributes(face, Scope.POLYGON, (*_CORNERS, _CORNER_UV))
        attributes += own + _corner_uv(face.get(_CORNER_UV), counts, passed)
        passed += lost
    elif face:
        passed.append("face")
    if strips is not None:
        more = _from_strips(strips, len(points), where)
        counts, corners = np.concatenate([counts, np.full(len(more), 3)]), np.concatenate([corners, more.reshape(-1)])
    if passed:
        _log.warning("%s: what is not part of a surface is passed over: %s", where, ", ".join(passed)[:200])
    return Surface(points, counts, corners, tuple(attributes))


def _points(vertex: Columns, where: str) -> Points:
    """(n, 3); text keeps all its digits whatever type it declares."""
    columns = [vertex.get(axis) for axis in "xyz"]
    rows = [one.raw for one in columns if one is not None and one.lengths is None]
    if len(rows) < 3:
        raise input_error("has no element 'vertex' with x, y and z", where=where, got=", ".join(vertex)[:80])
    with np.errstate(invalid="ignore"):
        return np.stack([row.astype(np.float64) for row in rows], axis=1)


def _corner_lists(columns: Columns) -> Column | None:
    found = (columns[name] for name in _CORNERS if name in columns)
    return next((one for one in found if one.lengths is not None), None)


def _indices(column: Column) -> Integers:
    """(c,) as whole numbers."""
    if column.raw.dtype.kind != "f":
        return column.raw.astype(np.int64)
    with np.errstate(invalid="ignore"):
        return whole(column.raw.astype(np.float64))


def _polygons(column: Column | None, point_count: int, where: str) -> tuple[Integers, Integers]:
    """Counts (p,) and corners of the faces; corners that are no points are refused by face."""
    if column is None or column.lengths is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    corners = _indices(column)
    outside = np.flatnonzero((corners < 0) | (corners >= point_count))
    if len(outside):
        polygon = int(np.searchsorted(np.cumsum(column.lengths), outside[0], side="right"))
        raise input_error(
            "names a point that is not there", where=f"{where} {polygon}", got=str(column.raw[outside[0]]),
            allowed=f"0 to {point_count - 1}" if point_count else "none, no points", remedy=REEXPORT,
        )  # fmt: skip
    return column.lengths, corners


def _from_strips(column: Column, point_count: int, where: str) -> Integers:
    """(f, 3) triangles of strips, in which −1 begins a new one; every second triangle is turned around."""
    assert column.lengths is not None
    given = _indices(column)
    strip = np.insert(given, np.cumsum(column.lengths), -1)  # the lists of several rows are as many strips
    bad = np.flatnonzero((strip < -1) | (strip >= point_count))
    if len(bad):
        raise input_error(
            "a strip names a point that is not there", where=f"{where}, tristrips", got=int(strip[bad[0]]),
            allowed=f"-1 to {point_count - 1}", remedy=REEXPORT,
        )  # fmt: skip
    place = np.arange(len(strip))
    begin = np.maximum.accumulate(np.where(strip < 0, place + 1, 0))
    faces = np.stack([strip[:-2], strip[1:-1], strip[2:]], axis=1) if len(strip) > 2 else np.zeros((0, 3), np.int64)
    odd = ((place - begin)[: len(faces)] % 2).astype(bool)
    faces[odd] = faces[odd][:, [1, 0, 2]]
    # Strips are joined by triangles that name a point twice.
    proper = (faces >= 0).all(axis=1) & (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    return faces[proper]


def _attributes(columns: Columns, scope: Scope, known: tuple[str, ...]) -> tuple[list[Attribute], list[str]]:
    """What the columns of an element give beside its shape, and the names of those that cannot be kept."""
    out, lost, taken = [], [], set(known)
    for name, group in _GROUPS:
        own = [columns[word] for word in group if word in columns and word not in taken]
        if len(own) == len(group) and (name != UV or scope is Scope.POINT) and not any(one.name == name for one in out):
            if all(one.lengths is None and one.dtype == own[0].dtype for one in own):
                out.append(Attribute(name, scope, np.stack([one.typed() for one in own], axis=1)))
                taken |= {*group}
    for name, column in columns.items():
        if name in taken:
            continue
        lengths = column.lengths
        if name in (UV, NORMALS, COLOUR) or (lengths is not None and not _all_alike(lengths)):
            lost.append(name)
        else:
            shape = (-1,) if lengths is None else (len(lengths), int(lengths.max(initial=0)))
            out.append(Attribute(name, scope, column.typed().reshape(shape)))
    return out, lost


def _all_alike(lengths: Integers) -> bool:
    return bool(len(lengths) and lengths[0] > 0 and (lengths == lengths[0]).all())


def _corner_uv(column: Column | None, counts: Integers, passed: list[str]) -> list[Attribute]:
    """Texture coordinates of corners: two numbers a corner in a list a face."""
    if column is None:
        return []
    if column.lengths is None or (column.lengths != 2 * counts).any():
        passed.append(_CORNER_UV)
        return []
    return [Attribute(UV, Scope.CORNER, column.typed().reshape(-1, 2))]


# Writing


@dataclass(frozen=True, eq=False)
class _Field:
    """A property to write."""

    name: str
    values: NDArray[np.generic]
    """(rows,), or the lists one after the other"""
    lengths: Integers | None = None

    @property
    def head(self) -> str:
        """Code of the lists' lengths, "" for numbers."""
        if self.lengths is None:
            return ""
        return "u1" if self.lengths.max(initial=0) < 256 else "u4"

    @property
    def declaration(self) -> str:
        """The header's line."""
        word = _WORDS[self.values.dtype.str[1:]]
        return f"property {f'list {_WORDS[self.head]} ' if self.head else ''}{word} {self.name}\n"


def format_ply(surface: Surface) -> bytes:
    """The binary PLY of a surface; float64 comes back exactly. What PLY cannot hold is left out with a note."""
    given = outward(surface)
    points = [_Field(axis, given.points[:, k]) for k, axis in enumerate("xyz")]
    faces = [_Field(_CORNERS[0], given.corners.astype(np.int32), given.counts)]
    lost = [one.name for one in given.subsets] + list(given.libraries)
    for one in given.attributes:
        fields = _fields(one, given)
        own = points if one.scope is Scope.POINT else faces
        if not fields or {field.name for field in fields} & {field.name for field in own}:
            lost.append(one.name)
        else:
            own += fields
    if lost:
        _log.warning("PLY cannot hold, so left out: %s", ", ".join(lost)[:200])
    head = "ply\nformat binary_little_endian 1.0\ncomment bunraku\n"
    for name, fields, rows in (("vertex", points, given.point_count), ("face", faces, given.polygon_count)):
        head += f"element {name} {rows}\n" + "".join(one.declaration for one in fields)
    body = _packed(points, given.point_count) + _packed(faces, given.polygon_count)
    return (head + "end_header\n").encode("ascii") + body


def _fields(one: Attribute, surface: Surface) -> list[_Field]:
    """The properties of an attribute, none where PLY has none for it."""
    values = _held(one.flat())
    if values is None or values.ndim > 2:
        return []
    if one.scope is Scope.CORNER:
        fits = one.name == UV and values.shape[1:] == (2,)
        return [_Field(_CORNER_UV, values.reshape(-1), 2 * surface.counts)] if fits else []
    if one.scope is Scope.WHOLE:
        return []
    if one.name in (UV, NORMALS, COLOUR):
        groups = (group for name, group in _GROUPS if name == one.name and values.shape[1:] == (len(group),))
        group = next(groups, ()) if one.name != UV or one.scope is Scope.POINT else ()
        return [_Field(word, values[:, k]) for k, word in enumerate(group)]
    if one.name in _SPECIAL or not re.fullmatch(r"[!-~]+", one.name):
        return []
    if values.ndim == 1:
        return [_Field(one.name, values)]
    width = values.shape[1]
    return [_Field(one.name, values.reshape(-1), np.full(len(values), width))] if width else []


def _held(values: NDArray[np.generic]) -> NDArray[np.generic] | None:
    """The values in a type PLY has, None where it has none that is as exact."""
    code = values.dtype.str[1:]
    if code in _WORDS:
        return values
    if code in ("b1", "f2"):
        return values.astype("u1" if code == "b1" else "f4")
    if code in ("i8", "u8"):
        small = values.astype(np.int32)
        return small if np.array_equal(small, values) else None
    return None


def _packed(fields: list[_Field], rows: int) -> bytes:
    """The bytes of an element, row by row."""
    sizes, heads = np.zeros((rows, len(fields)), np.int64), np.zeros(len(fields), np.int64)
    for k, one in enumerate(fields):
        sizes[:, k] = one.values.dtype.itemsize * (1 if one.lengths is None else one.lengths)
        heads[k] = np.dtype(one.head).itemsize if one.head else 0
    ends = np.cumsum((sizes + heads).reshape(-1)).reshape(sizes.shape)
    out = np.zeros(int(ends[-1, -1]) if rows else 0, np.uint8)
    for k, one in enumerate(fields):
        begin = ends[:, k] - sizes[:, k]
        out[mask_between(len(out), begin, ends[:, k])] = _bytes_of(one.values)
        if one.lengths is not None:
            out[mask_between(len(out), begin - heads[k], begin)] = _bytes_of(one.lengths.astype(one.head))
    return out.tobytes()


def _bytes_of(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return np.frombuffer(little.tobytes(), np.uint8)
