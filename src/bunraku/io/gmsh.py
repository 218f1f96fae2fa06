"""Gmsh `.msh` files, 4.1 and 2.2, text and binary: their tetrahedra.

A file is a row of sections `$Name … $EndName`. Of those `$Nodes` and `$Elements` are read.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import InputError, Integers, Points, Vector, input_error, many
from bunraku.geometry import TetMesh

from .files import read_bytes
from .tets import tet_mesh
from .tokens import REEXPORT, Text, cut_short, whole

_log = logging.getLogger(__name__)

_NODES = {
    1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 6: 6, 7: 5, 8: 3, 9: 6, 10: 9, 11: 10, 12: 27, 13: 18, 14: 14, 15: 1, 16: 8, 17: 20,
    18: 15, 19: 13, 20: 9, 21: 10, 22: 12, 23: 15, 24: 15, 25: 21, 26: 4, 27: 5, 28: 6, 29: 20, 30: 35, 31: 56,
    92: 64, 93: 125,
}  # fmt: skip
"""element type: number of nodes"""
_TET = 4
_CURVED = (11, 29, 30, 31)
"""tetrahedra of higher order, whose first four nodes are the corners"""
_NAMES = {15: "points", 1: "lines", 2: "triangles", 3: "quadrangles", 5: "hexahedra", 6: "prisms", 7: "pyramids"}


@dataclass(eq=False)
class _Cursor:
    """Walks through a section's numbers; whoever asks for more than there are is refused."""

    path: str
    section: str
    data: bytes
    order: Literal["<", ">", ""]
    """'<' or '>' in a binary file, '' in text"""
    text: Text
    at: int = 0
    """byte, or word in text"""
    words: Vector = field(default_factory=lambda: np.zeros(0))
    integers: Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        if not self.order:
            self.words = self.text.numbers()
            self.integers = whole(self.words)

    def ints(self, count: int) -> Integers:
        """(count,) 32-bit whole numbers."""
        return self._take("i4", count).astype(np.int64)

    def sizes(self, count: int) -> Integers:
        """(count,) 64-bit whole numbers."""
        return self._take("i8", count).astype(np.int64)

    def doubles(self, count: int) -> Vector:
        """(count,) numbers."""
        return self._take("f8", count).astype(np.float64)

    def rows(self, kind: np.dtype, count: int) -> NDArray[np.void]:
        """(count,) records of a binary file."""
        return self._take(kind, count)

    def count_line(self) -> int:
        """The number that stands on a line of its own, in text also in binary files."""
        if not self.order:
            return self.count(int(self.sizes(1)[0]))
        match = re.match(rb"[ \t]*(\d{1,18})[ \t]*\r?\n", self.data[:40])
        if match is None:
            raise self.refusal("must begin with a number")
        self.at = match.end()
        return int(match.group(1))

    def count(self, given: int) -> int:
        """A number that says how many of something follow."""
        if given < 0:
            raise self.refusal("how many follow must be a whole number")
        return given

    def refusal(self, what: str) -> InputError:
        """An error where the cursor stands."""
        if not self.order:
            return self.text.refusal(f"${self.section} {what}", max(self.at - 1, 0))
        where = f"{self.path}, ${self.section}, byte {self.at}"
        return input_error(what, where=where, remedy=REEXPORT)

    def _take(self, kind: str | np.dtype, count: int) -> NDArray:
        if not self.order:
            self._need(count, len(self.words), "numbers")
            source = self.words if kind == "f8" else self.integers
            out = source[self.at : self.at + count]
            self.at += count
            return out
        dtype = np.dtype(kind).newbyteorder(self.order)
        self._need(dtype.itemsize * count, len(self.data), "bytes")
        out = np.frombuffer(self.data, dtype, count, self.at)
        self.at += dtype.itemsize * count
        return out

    def _need(self, more: int, there: int, unit: str) -> None:
        if self.at + more > there:
            raise cut_short(self.path, f"${self.section} declares more than it holds", there, self.at + more, unit)


def read_msh(path: str | Path) -> TetMesh:
    """The tetrahedra of a gmsh file; of curved ones the four corners, other elements are passed over with a note."""
    where = str(path)
    data = read_bytes(Path(path))
    version, order = _format(data, where)
    nodes = _section(data, "Nodes", order, where)
    elements = _section(data, "Elements", order, where)
    if version == "4.1":
        tags, points = _nodes_4(nodes)
        found = _elements_4(elements)
    else:
        tags, points = _nodes_2(nodes)
        found = _elements_2(elements) if order else _element_lines(elements)
    kinds = Counter()
    for kind, rows in found:
        kinds[kind] += len(rows)
    _note(kinds, where)
    taken = [rows[:, :4] for kind, rows in found if kind == _TET or kind in _CURVED]
    return tet_mesh(tags, points, np.concatenate([np.zeros((0, 4), np.int64), *taken]), where)


def format_msh(mesh: TetMesh) -> bytes:
    """The gmsh 4.1 text of a mesh; float64 comes back exactly."""
    nodes, tets = mesh.point_count, len(mesh.tets)
    tags = "".join([f"{k}\n" for k in range(1, nodes + 1)])
    points = "".join([f"{a!r} {b!r} {c!r}\n" for a, b, c in mesh.rest.tolist()])
    rows = "".join([f"{k} {a} {b} {c} {d}\n" for k, (a, b, c, d) in enumerate((mesh.tets + 1).tolist(), start=1)])
    text = (
        f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        f"$Nodes\n1 {nodes} {min(nodes, 1)} {nodes}\n3 1 0 {nodes}\n{tags}{points}$EndNodes\n"
        f"$Elements\n1 {tets} {min(tets, 1)} {tets}\n3 1 {_TET} {tets}\n{rows}$EndElements\n"
    )
    return text.encode("ascii")


def _format(data: bytes, where: str) -> tuple[str, Literal["<", ">", ""]]:
    """'4.1' or '2.2', and the byte order of a binary file ('' for text)."""
    match = re.match(rb"\s*\$MeshFormat\s+(\S{1,20})[ \t]+(\S{1,20})[ \t]+(\S{1,20})[ \t]*\r?\n", data[:200])
    if match is None:
        raise input_error("is not a gmsh file", where=where, got=repr(data[:20]), allowed="it begins with $MeshFormat")
    version, mode, size = (part.decode("latin-1") for part in match.groups())
    if version not in ("4.1", "2.2", "2.1", "2", "2.0"):
        raise input_error(
            "gmsh files of this version cannot be read", where=where, got=version, allowed="4.1, 2.2",
            remedy="gmsh FILE -save -format msh41",
        )  # fmt: skip
    if mode not in ("0", "1") or size != "8":
        raise input_error("has a broken format line", where=where, got=f"{version} {mode} {size}", allowed="4.1 0 8")
    if mode == "0":
        return version, ""
    one = data[match.end() : match.end() + 4]
    if one not in (b"\1\0\0\0", b"\0\0\0\1"):
        raise input_error("the number one of a binary gmsh file is missing", where=where, got=repr(one))
    return version, "<" if one[0] else ">"


def _section(data: bytes, name: str, order: Literal["<", ">", ""], where: str) -> _Cursor:
    """The numbers between `$name` and `$Endname`."""
    begin = re.search(rb"^\$" + name.encode() + rb"[ \t]*\r?\n", data, re.MULTILINE)
    if begin is None:
        raise input_error(f"has no ${name}", where=where, remedy="copy or export the file again")
    end = data.find(b"$End" + name.encode(), begin.end())
    if end < 0:
        raise input_error(f"is cut short: ${name} does not end", where=where, remedy="copy or export the file again")
    body = data[begin.end() : end]
    line = 1 if order else data.count(b"\n", 0, begin.end()) + 1
    return _Cursor(where, name, body, order, Text(b"" if order else body, where, line))


def _nodes_4(cursor: _Cursor) -> tuple[Integers, Points]:
    """Tags (n,) and points (n, 3) of a 4.1 file, entity by entity."""
    blocks = cursor.count(int(cursor.sizes(4)[0]))
    tags, points = [np.zeros(0, np.int64)], [np.zeros((0, 3))]
    for _ in range(blocks):
        dimension, _, parametric = cursor.ints(3).tolist()
        count = cursor.count(int(cursor.sizes(1)[0]))
        if dimension not in range(4) or parametric not in (0, 1):
            raise cursor.refusal("has a broken block of nodes")
        width = 3 + parametric * dimension
        tags.append(cursor.sizes(count))
        points.append(cursor.doubles(count * width).reshape(count, width)[:, :3])
    return np.concatenate(tags), np.concatenate(points)


def _elements_4(cursor: _Cursor) -> list[tuple[int, Integers]]:
    """Type and node tags (m, k) of each block of a 4.1 file."""
    blocks = cursor.count(int(cursor.sizes(4)[0]))
    out = []
    for _ in range(blocks):
        kind = int(cursor.ints(3)[2])
        count = cursor.count(int(cursor.sizes(1)[0]))
        width = 1 + _node_count(kind, cursor)
        out.append((kind, cursor.sizes(count * width).reshape(count, width)[:, 1:]))
    return out


def _nodes_2(cursor: _Cursor) -> tuple[Integers, Points]:
    """Tags (n,) and points (n, 3) of a 2.2 file."""
    count = cursor.count_line()
    if cursor.order:
        rows = cursor.rows(np.dtype([("tag", "i4"), ("x", "f8", 3)]), count)
        return rows["tag"].astype(np.int64), rows["x"].astype(np.float64)
    at = cursor.at
    values = cursor.doubles(4 * count).reshape(count, 4)
    return cursor.integers[at : cursor.at : 4], values[:, 1:]


def _elements_2(cursor: _Cursor) -> list[tuple[int, Integers]]:
    """Type and node tags (m, k) of each block of a binary 2.2 file."""
    left, out = cursor.count_line(), []
    while left > 0:
        kind, count, tags = cursor.ints(3).tolist()
        if count < 1 or tags < 0:
            raise cursor.refusal("has a broken block of elements")
        width = 1 + tags + _node_count(kind, cursor)
        out.append((kind, cursor.ints(count * width).reshape(count, width)[:, 1 + tags :]))
        left -= count
    return out


def _element_lines(cursor: _Cursor) -> list[tuple[int, Integers]]:
    """Type and node tags (m, k) of the elements of a 2.2 text file, a line each, by type."""
    count = cursor.count_line()
    first, widths = cursor.text.rows()
    if count > len(first) - 1:
        raise cut_short(cursor.path, f"it declares {count} elements", len(first) - 1, count, "lines")
    first, widths, values = first[1 : count + 1], widths[1 : count + 1], cursor.integers
    short = np.flatnonzero(widths < 3)
    if len(short):
        raise cursor.text.refusal("an element needs a number, a type and its tags", int(first[short[0]]))
    kinds, tags = values[first + 1], values[first + 2]
    out = []
    for kind in np.unique(kinds).tolist():
        own = kinds == kind
        cursor.at = int(first[own][0]) + 2
        nodes = _node_count(kind, cursor)
        broken = np.flatnonzero((tags[own] < 0) | (widths[own] - tags[own] != 3 + nodes))
        if len(broken):
            raise cursor.text.refusal(f"an element needs its tags and {nodes} nodes", int(first[own][broken[0]]))
        out.append((kind, values[(first + 3 + tags)[own, None] + np.arange(nodes)]))
    return out


def _node_count(kind: int, cursor: _Cursor) -> int:
    if kind not in _NODES:
        raise cursor.refusal(f"has elements of an unknown type {kind}")
    return _NODES[kind]


def _note(kinds: Counter[int], where: str) -> None:
    curved = sum(kinds[kind] for kind in _CURVED)
    if curved:
        _log.warning("%s: %s curved; middle nodes are left out", where,
                     many(curved, "tetrahedron is", "tetrahedra are"))  # fmt: skip
    others = [
        f"{count} {_NAMES.get(kind, f'of type {kind}')}"
        for kind, count in kinds.items()
        if kind != _TET and kind not in _CURVED
    ]
    if others:
        _log.info("%s: elements that are no tetrahedra are passed over: %s", where, ", ".join(others))
