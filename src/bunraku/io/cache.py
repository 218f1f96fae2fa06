"""Finished frames on disk, each in its own file, exact to the last bit.

A file is: 8 bytes "BKFRAME1", the length of the header as 8 bytes little-endian, the header (JSON, sorted
keys: the arrays' names, types and shapes, and the meta data), the arrays' bytes little-endian in the
header's order, and the SHA-256 of all before it. No dates, so equal frames are equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import input_error

from .atomic import atomic_write, output_error, remove_leftovers
from .files import read_bytes

_log = logging.getLogger(__name__)

_MAGIC = b"BKFRAME1"
_DIGEST = 32
_KINDS = "fiub"
_NAME = re.compile(r"frame_(-?\d+)\.bkframe")


class FrameCache:
    """A folder of finished frames. A frame is there whole or not at all, whenever the process dies."""

    def __init__(self, folder: str | Path) -> None:
        """Open the folder, made if it is missing; leftovers of writers that were killed are removed."""
        self.folder = Path(folder)
        self._checked: dict[Path, tuple[int, int, bool]] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise output_error(self.folder, error) from error
        remove_leftovers(self.folder)

    def store(self, index: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any] | None = None) -> None:
        """Keep frame `index`: arrays of numbers or booleans and JSON-able meta data. Replaces an old one."""
        data = _pack(arrays, dict(meta or {}), f"frame {index}")
        with atomic_write(self._path(index)) as temporary:
            temporary.write_bytes(data)

    def load(self, index: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The arrays and meta data of frame `index`, bit for bit as stored."""
        path = self._path(index)
        if not path.exists():
            raise input_error("has no such frame", where=str(self.folder), got=index, allowed=self._listing())
        data = read_bytes(path)
        if not _whole(data):
            raise input_error(
                "the cached frame is damaged", where=str(path), got=f"{len(data)} bytes",
                remedy="delete it and resume, so that it is computed again",
            )  # fmt: skip
        return _unpack(data)

    def indices(self) -> list[int]:
        """Sorted indices of the finished frames. Damaged files are left out and named in a warning."""
        return sorted(index for index, path in self._files() if self._is_whole(path))

    def discard_after(self, index: int) -> None:
        """Delete every frame above `index`, the last one first, so that a kill leaves no gap."""
        for found, path in sorted(self._files(), reverse=True):
            if found > index:
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:
                    raise output_error(path, error) from error

    def _path(self, index: int) -> Path:
        return self.folder / f"frame_{index:06d}.bkframe"

    def _files(self) -> list[tuple[int, Path]]:
        names = [(match, match.string) for name in os.listdir(self.folder) if (match := _NAME.fullmatch(name))]
        return [(int(match.group(1)), self.folder / name) for match, name in names]

    def _is_whole(self, path: Path) -> bool:
        """Whether a file's checksum holds; asked once for each version of the file."""
        facts = path.stat()
        known = self._checked.get(path)
        if known is None or known[:2] != (facts.st_size, facts.st_mtime_ns):
            known = (facts.st_size, facts.st_mtime_ns, _whole(path.read_bytes()))
            self._checked[path] = known
            if not known[2]:
                _log.warning("%s is damaged (%d bytes) and is left out", path, facts.st_size)
        return known[2]

    def _listing(self) -> str:
        found = self.indices()
        return f"{found[0]} to {found[-1]} ({len(found)} frames)" if found else "none, the cache is empty"


def _pack(arrays: Mapping[str, NDArray[Any]], meta: dict[str, Any], where: str) -> bytes:
    entries: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype.kind not in _KINDS:
            raise input_error(f"array {name!r} cannot be kept", where=where, got=str(array.dtype), allowed="numbers")
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        entries.append({"name": name, "type": little.dtype.str, "shape": list(array.shape)})
        chunks.append(little.tobytes())
    try:
        header = json.dumps({"arrays": entries, "meta": meta}, sort_keys=True).encode()
    except TypeError as error:
        raise input_error("meta data cannot be kept", where=where, got=str(error), allowed="JSON") from None
    body = b"".join([_MAGIC, len(header).to_bytes(8, "little"), header, *chunks])
    return body + hashlib.sha256(body).digest()


def _whole(data: bytes) -> bool:
    body = memoryview(data)[:-_DIGEST]
    return data[: len(_MAGIC)] == _MAGIC and hashlib.sha256(body).digest() == data[-_DIGEST:]


def _unpack(data: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    start = len(_MAGIC) + 8
    offset = start + int.from_bytes(data[len(_MAGIC) : start], "little")
    header = json.loads(data[start:offset])
    arrays: dict[str, NDArray[Any]] = {}
    for entry in header["arrays"]:
        kind, shape = np.dtype(entry["type"]), tuple(entry["shape"])
        count = math.prod(shape)
        flat = np.frombuffer(data, kind, count, offset) if count else np.empty(0, kind)
        arrays[entry["name"]] = flat.reshape(shape).astype(kind.newbyteorder("="))
        offset += count * kind.itemsize
    return arrays, header["meta"]
