"""Accessors: arrays in a file's buffers, checked against the bytes really there before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Integers

from .document import Document
from .fields import Entry

_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_INDEX_TYPES = (5121, 5123, 5125)
_FREE_VALUES, _VALUES_PER_BYTE = 1 << 23, 32  # numbers that may be unpacked from a file: so many, and so many a byte

VECTORS = ("SCALAR", "VEC2", "VEC3", "VEC4")


@dataclass(frozen=True, eq=False)
class Accessors:
    """The arrays of a document. Plain ones are views of the file's bytes; others are unpacked once, within a budget."""

    document: Document
    _known: dict[int, NDArray[Any]] = field(default_factory=dict)
    _floats: dict[int, Array] = field(default_factory=dict)
    _unpacked: list[int] = field(default_factory=lambda: [0])
    """how many numbers have been unpacked so far, in a list of one"""

    def array(self, index: int, by: Entry, kinds: Sequence[str], count: int | None = None) -> NDArray[Any]:
        """(count, width) numbers as stored; normalised integers as floats. `by` names the accessor."""
        entry = self.document.entry("accessors", index, by)
        kind, rows = entry.text("type"), entry.integer("count")
        if kind not in kinds:
            entry.refuse("has another type than its use needs", kind, ", ".join(kinds))
        if count is not None and rows != count:
            entry.refuse(f"has another length than {by.where.split(', ', 1)[-1]} needs", rows, str(count))
        if rows == 0:
            entry.refuse("'count' must be 1 at least", rows)
        if index not in self._known:
            self._known[index] = self._read(entry, rows, _WIDTHS[kind])
        return self._known[index]

    def floats(self, index: int, by: Entry, kinds: Sequence[str], count: int | None = None) -> Array:
        """(count, width) float64, not to be written to."""
        values = self.array(index, by, kinds, count)
        if index not in self._floats:
            self.spend(by, values.size)
            self._floats[index] = values.astype(np.float64)
            self._floats[index].flags.writeable = False
        return self._floats[index]

    def indices(self, index: int, by: Entry, below: int) -> Integers:
        """(count,) whole numbers, each less than `below`."""
        values = self.array(index, by, ("SCALAR",))[:, 0]
        if values.dtype.kind != "u":
            by.refuse("the indices are not whole numbers without a sign", str(values.dtype))
        _check_below(values, below, by)
        return values.astype(np.int64)

    def has_bytes(self, index: int, by: Entry) -> bool:
        """Whether an accessor names stored bytes; one without is all zero."""
        return self.document.entry("accessors", index, by).has("bufferView")

    def kind(self, index: int, by: Entry) -> str:
        """'SCALAR', 'VEC3', …"""
        return self.document.entry("accessors", index, by).text("type")

    def _read(self, entry: Entry, rows: int, width: int) -> NDArray[Any]:
        dtype = _component(entry)
        overlay = self._overlay(entry.entry("sparse"), rows, width, dtype) if entry.has("sparse") else None
        if entry.has("bufferView"):
            values = self._view(entry, rows, width, dtype)
        else:
            if rows > self.document.byte_count():
                entry.refuse("declares more elements than the file has bytes", rows)
            self.spend(entry, rows * width)
            values = np.zeros((rows, width), dtype=dtype)
        if overlay is not None:
            if entry.has("bufferView"):
                self.spend(entry, rows * width)
                values = values.copy()
            values[overlay[0]] = overlay[1]
        if entry.flag("normalized") and dtype.kind in "iu":
            self.spend(entry, rows * width)
            values = np.maximum(values / float(np.iinfo(dtype).max), -1.0)
        return values

    def _overlay(self, sparse: Entry, rows: int, width: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows that a sparse accessor replaces, and what with."""
        count = sparse.integer("count")
        if not 1 <= count <= rows:
            sparse.refuse("replaces more elements than its accessor has, or none", count, f"1 to {rows}")
        places, values = sparse.entry("indices"), sparse.entry("values")
        where = self._view(places, count, 1, _component(places, _INDEX_TYPES))[:, 0]
        _check_below(where, rows, places)
        return where, self._view(values, count, width, dtype)

    def _view(self, entry: Entry, rows: int, width: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """(rows, width) of the bytes a buffer view holds."""
        view = self.document.entry("bufferViews", entry.integer("bufferView"), entry)
        if any(name.endswith("_meshopt_compression") for name in view.entry("extensions").values):
            view.refuse("the mesh is compressed with meshopt", remedy="export it without meshopt compression")
        data = self.document.buffer(view.integer("buffer"), view)
        start, length = view.integer("byteOffset", 0), view.integer("byteLength")
        if start + length > len(data):
            view.refuse("the buffer view reaches beyond its buffer", start + length, f"up to {len(data)} bytes")
        size = width * dtype.itemsize
        stride = view.integer("byteStride", 0) or size
        if stride < size:
            view.refuse("'byteStride' is less than an element", stride, f"{size} or more")
        offset = entry.integer("byteOffset", 0)
        needed = offset + stride * (rows - 1) + size
        if needed > length:
            entry.refuse(
                f"{rows} elements reach beyond the buffer view", f"{needed} bytes", f"up to {length}",
                "copy the file again, it may be truncated",
            )  # fmt: skip
        return np.ndarray((rows, width), dtype, data, start + offset, (stride, dtype.itemsize))

    def spend(self, entry: Entry, values: int) -> None:
        """Count numbers that are unpacked, and refuse a small file that becomes a huge one."""
        self._unpacked[0] += values
        budget = _FREE_VALUES + _VALUES_PER_BYTE * self.document.byte_count()
        if self._unpacked[0] > budget:
            entry.refuse("the file unpacks to more numbers than its size explains", self._unpacked[0], f"{budget}")


def _component(entry: Entry, allowed: Sequence[int] = tuple(_COMPONENTS)) -> np.dtype[Any]:
    code = entry.integer("componentType")
    if code not in allowed:
        entry.refuse("unknown 'componentType'", code, ", ".join(map(str, allowed)))
    return np.dtype(_COMPONENTS[code])


def _check_below(values: NDArray[Any], below: int, by: Entry) -> None:
    largest = int(values.max(initial=0))
    if largest >= below:
        by.refuse("indices reach beyond what they count", largest, f"0 to {below - 1}")
