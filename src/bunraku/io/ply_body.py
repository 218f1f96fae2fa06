"""The elements of a PLY file: its header, and the columns of numbers that the header declares, text or binary."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Flags, InputError, Integers, Vector, input_error

from .tokens import NOT_WHOLE, REEXPORT, Text, cut_short, whole

TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
"""PLY's word: NumPy's"""
_LONGEST_ROW = 1 << 30  # [bytes] NumPy's records end at two gigabytes
_ORDERS: dict[str, Literal["<", ">", ""]] = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}


@dataclass(frozen=True)
class Property:
    """One declared number, or list of numbers, of an element."""

    name: str
    dtype: str
    """NumPy's code"""
    count: str = ""
    """code of a list's length; "" for a number"""


@dataclass(frozen=True)
class Element:
    """A table of the file."""

    name: str
    rows: int
    properties: tuple[Property, ...]


@dataclass(frozen=True)
class Header:
    """What a PLY file declares."""

    order: Literal["<", ">", ""]
    """'' for text"""
    elements: tuple[Element, ...]
    comments: tuple[str, ...]
    size: int
    """[bytes]"""


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one property."""

    dtype: np.dtype
    raw: NDArray
    """(rows,), or the lists one after the other; float64 in a text file whatever the type"""
    lengths: Integers | None = None
    """(rows,) of lists"""

    def typed(self) -> NDArray[np.generic]:
        """The values in the declared type."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.raw.astype(self.dtype)


Columns = dict[str, Column]


def read_header(data: bytes, path: str) -> Header:
    """The header of a PLY file, refused by line."""
    begin = re.match(rb"ply[ \t]*(\r\n|\n|\r)", data[:20])
    if begin is None:
        raise input_error("is not a PLY file", where=path, got=repr(data[:12]), allowed="it begins with 'ply'")
    newline = begin.group(1)
    end = data.find(newline + b"end_header", begin.end() - len(newline))
    if end < 0:
        raise input_error("is cut short: its header has no 'end_header'", where=path, remedy=REEXPORT)
    size = data.find(newline, end + len(newline)) + len(newline)
    if size < len(newline):
        size = len(data)
    lines = data[begin.end() : end].decode("utf-8", "replace").split(newline.decode())
    order, comments, tables = None, [], dict[str, tuple[int, dict[str, Property]]]()
    for number, line in enumerate(lines, start=2):
        match line.split():
            case []:
                continue
            case ["comment" | "obj_info", *_]:
                comments.append(line.strip())
            case ["format", kind, _] if kind in _ORDERS:
                order = _ORDERS[kind]
            case ["element", name, count] if re.fullmatch(r"[0-9]{1,18}", count) and name not in tables:
                tables[name] = (int(count), {})
            case ["property", *words] if tables and (declared := _property(words)):
                properties = tables[next(reversed(tables))][1]
                if declared.name in properties:
                    raise _refusal(path, number, f"the property {declared.name[:40]!r} is declared twice", line)
                properties[declared.name] = declared
            case _:
                raise _refusal(path, number, "a line of the header makes no sense", line)
    if order is None:
        raise input_error("its header has no format", where=path, allowed=", ".join(_ORDERS))
    elements = tuple(Element(name, rows, tuple(own.values())) for name, (rows, own) in tables.items())
    return Header(order, elements, tuple(comments), size)


def _property(words: list[str]) -> Property | None:
    match words:
        case ["list", count, kind, name] if TYPES.get(count, "f")[0] in "iu" and kind in TYPES:
            return Property(name, TYPES[kind], TYPES[count])
        case [kind, name] if kind in TYPES:
            return Property(name, TYPES[kind])
    return None


def _refusal(path: str, line: int, what: str, got: str) -> InputError:
    return input_error(what, where=f"{path}, line {line}", got=got.strip()[:60], remedy=REEXPORT)


def read_elements(data: bytes, header: Header, path: str) -> dict[str, Columns]:
    """Every element's columns by the names of its properties; the whole body is accounted for."""
    out: dict[str, Columns] = {}
    if header.order:
        at = header.size
        for element in header.elements:
            out[element.name], at = _Rows(data, header.order, element, path).read(at)
        return out
    text = Text(data, path).part(header.size)
    words, at = text.numbers(), 0
    for element in header.elements:
        out[element.name], at = _Lines(text, words, element).read(at)
    return out


@dataclass(frozen=True, eq=False)
class _Rows:
    """An element of a binary file."""

    data: bytes
    order: Literal["<", ">"]
    element: Element
    path: str

    def read(self, at: int) -> tuple[Columns, int]:
        """The columns from byte `at` on, and the byte behind them."""
        element = self.element
        least = sum(np.dtype(one.count or one.dtype).itemsize for one in element.properties)
        self._need(at, least * element.rows)
        if not element.properties or not element.rows:
            return {one.name: self._column(one, np.zeros(0, one.dtype), 0) for one in element.properties}, at
        even = self._even(at)
        if even is None:
            return self._uneven(at)
        rows = np.frombuffer(self.data, even, element.rows, at)
        columns = {}
        for k, one in enumerate(element.properties):
            values = rows[f"v{k}"]
            width = values.shape[1] if one.count else 0
            columns[one.name] = self._column(one, values.reshape(-1), width)
        return columns, at + rows.nbytes

    def _column(self, one: Property, values: NDArray, width: int) -> Column:
        lengths = np.full(self.element.rows, width) if one.count else None
        return Column(np.dtype(one.dtype), values, lengths)

    def _need(self, at: int, more: int) -> None:
        if at + more > len(self.data):
            what = f"it declares {self.element.rows} of the element {self.element.name[:40]!r}"
            raise cut_short(self.path, what, len(self.data), at + more, "bytes")

    def _even(self, at: int) -> np.dtype | None:
        """The record of a row if all lists are as long as the first row's."""
        lengths, sizes = self._first(at)
        if sum(sizes) * self.element.rows > len(self.data) - at or sum(sizes) > _LONGEST_ROW:
            return None
        fields = []
        for k, (one, length) in enumerate(zip(self.element.properties, lengths, strict=True)):
            if one.count:
                fields += [(f"n{k}", self.order + one.count), (f"v{k}", self.order + one.dtype, (length,))]
            else:
                fields.append((f"v{k}", self.order + one.dtype))
        kind = np.dtype(fields)
        rows = np.frombuffer(self.data, kind, self.element.rows, at)
        same = all((rows[f"n{k}"] == n).all() for k, n in enumerate(lengths) if self.element.properties[k].count)
        return kind if same else None

    def _first(self, at: int) -> tuple[list[int], list[int]]:
        """Length and bytes of each property in the first row."""
        lengths, sizes = [], []
        for one in self.element.properties:
            item, head = np.dtype(one.dtype).itemsize, np.dtype(one.count).itemsize if one.count else 0
            length = 1
            if one.count:
                self._need(at, head)
                length = int(np.frombuffer(self.data, self.order + one.count, 1, at)[0])
                if length < 0:
                    raise self._negative(0, length)
            lengths.append(length)
            sizes.append(head + item * length)
            at += sizes[-1]
            self._need(at, 0)
        return lengths, sizes

    def _uneven(self, at: int) -> tuple[Columns, int]:
        """Lists of several lengths: where each begins depends on all before it, so their lengths are walked."""
        element, steps, skip = self.element, [], 0
        for one in element.properties:
            item = np.dtype(one.dtype).itemsize
            if one.count:
                reader = struct.Struct(self.order + _STRUCT[one.count])
                steps.append((skip, reader.unpack_from, reader.size, item))
                skip = 0
            else:
                skip += item
        found, end = self._walk(at, steps, skip)
        lengths = np.array(found, dtype=np.int64).reshape(element.rows, len(steps))
        sizes, listed = np.zeros((element.rows, len(element.properties)), np.int64), 0
        heads = np.array([np.dtype(one.count).itemsize if one.count else 0 for one in element.properties])
        for k, one in enumerate(element.properties):
            sizes[:, k] = np.dtype(one.dtype).itemsize * (lengths[:, listed] if one.count else 1)
            listed += bool(one.count)
        ends = np.cumsum((sizes + heads).reshape(-1)).reshape(sizes.shape)
        body = np.frombuffer(self.data, np.uint8, end - at, at)
        columns, listed = {}, 0
        for k, one in enumerate(element.properties):
            values = body[mask_between(len(body), ends[:, k] - sizes[:, k], ends[:, k])].view(self.order + one.dtype)
            columns[one.name] = Column(np.dtype(one.dtype), values, lengths[:, listed] if one.count else None)
            listed += bool(one.count)
        return columns, end

    def _walk(self, at: int, steps: list, tail: int) -> tuple[list[int], int]:
        """The length of every list, row by row, and the byte behind the last row; a fifth of a microsecond a list."""
        data, size, found = self.data, len(self.data), []
        add = found.append
        for row in range(self.element.rows):
            for skip, unpack, head, item in steps:
                at += skip
                if at + head > size:
                    self._need(at, head)
                length = unpack(data, at)[0]
                if length < 0:
                    raise self._negative(row, length)
                add(length)
                at += head + item * length
            at += tail
        self._need(at, 0)
        return found, at

    def _negative(self, row: int, length: int) -> InputError:
        where = f"{self.path}, {self.element.name[:40]} {row}"
        return input_error("a list cannot have a negative length", where=where, got=length, remedy=REEXPORT)


_STRUCT = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I"}


def mask_between(size: int, starts: Integers, ends: Integers) -> Flags:
    """(size,) whether a byte lies between one of the starts and its end; no two stretches begin or end together."""
    change = np.zeros(size + 1, dtype=np.int8)
    change[starts] += 1
    change[ends] -= 1
    return np.cumsum(change[:-1], dtype=np.int8).view(np.bool_)


@dataclass(frozen=True, eq=False)
class _Lines:
    """An element of a text file."""

    text: Text
    words: Vector
    element: Element

    def read(self, at: int) -> tuple[Columns, int]:
        """The columns from word `at` on, and the word behind them."""
        element = self.element
        self._need(at, len(element.properties) * element.rows)
        if not element.properties:
            return {}, at
        lengths = np.ones((element.rows, len(element.properties)), dtype=np.int64)
        heads = np.array([bool(one.count) for one in element.properties])
        if heads.any() and element.rows:
            lengths[:, heads] = self._lengths(at)
        ends = at + np.cumsum((lengths + heads).reshape(-1)).reshape(lengths.shape)
        end = int(ends[-1, -1]) if element.rows else at
        columns = {}
        for k, one in enumerate(element.properties):
            count = lengths[:, k]
            skipped = np.cumsum(count) - count
            place = np.repeat(ends[:, k] - count - skipped, count) + np.arange(int(count.sum()))
            columns[one.name] = Column(np.dtype(one.dtype), self._checked(one, place), count if one.count else None)
        return columns, end

    def _need(self, at: int, more: int) -> None:
        if at + more > len(self.words):
            what = f"it declares {self.element.rows} of the element {self.element.name[:40]!r}"
            raise cut_short(self.text.path, what, len(self.words), at + more, "numbers")

    def _lengths(self, at: int) -> Integers:
        """(rows, lists) lengths: as the first row's where all are alike, else walked row by row."""
        properties, rows = self.element.properties, self.element.rows
        first, end = self._walk(at, 1)
        width = end - at
        if at + width * rows <= len(self.words):
            table = self.words[at : at + width * rows].reshape(rows, width)
            before = np.cumsum([0] + [n + 1 for n in first])
            scalars = np.cumsum([not one.count for one in properties])[[bool(one.count) for one in properties]]
            if (table[:, before[:-1] + scalars] == first).all():
                return np.tile(first, (rows, 1))
        found, _ = self._walk(at, rows)
        return np.array(found, dtype=np.int64).reshape(rows, len(first))

    def _walk(self, at: int, rows: int) -> tuple[list[int], int]:
        """The length of every list of the first rows, and the word behind them."""
        words, size, found = self.words.data, len(self.words), []
        listed = [bool(one.count) for one in self.element.properties]
        for _ in range(rows):
            for is_list in listed:
                if at >= size:
                    self._need(at, 1)
                if is_list:
                    length = words[at]
                    if not (0 <= length <= size) or length % 1:
                        raise self.text.refusal("the length of a list must be a whole number from 0", at)
                    found.append(int(length))
                    at += int(length)
                at += 1
        self._need(at, 0)
        return found, at

    def _checked(self, one: Property, place: Integers) -> Array:
        """The words at places; refused where the declared type cannot hold them."""
        values = self.words[place]
        if one.dtype[0] == "f":
            return values
        limits = np.iinfo(one.dtype)
        numbers = whole(values)
        bad = np.flatnonzero((numbers == NOT_WHOLE) | (numbers < limits.min) | (numbers > limits.max))
        if len(bad):
            allowed = f"whole numbers from {limits.min} to {limits.max}"
            raise self.text.refusal(f"{one.name[:40]!r} cannot hold this", int(place[bad[0]]), allowed)
        return values
