"""Arrays and what belongs to them in one file, exact to the last bit.

A file is: 8 bytes "BKFRAME1", the length of the header as 8 bytes little-endian, the header (JSON, sorted
keys: the arrays' names, types and shapes, and the meta data), the arrays' bytes little-endian in the
header's order, and the SHA-256 of all before it. No dates, so equal arrays are equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Collection, Mapping
from operator import index
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import InputError, input_error

from .files import missing, read_bytes, unreadable

Arrays = dict[str, NDArray[Any]]
_MAGIC = b"BKFRAME1"
_DIGEST = 32
_KINDS = "fiub"
_LONGEST_HEADER = 1 << 26  # [bytes] that anyone would believe
_NONSENSE = (ValueError, LookupError, TypeError, RecursionError, OverflowError)
"""what comes of a header that `packed` does not make; counts beyond all machines overflow"""


def packed(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], where: str) -> bytes:
    """The bytes of such a file; `where` is for refusals."""
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
        header = json.dumps({"arrays": entries, "meta": dict(meta)}, sort_keys=True).encode()
    except TypeError as error:
        raise input_error("meta data cannot be kept", where=where, got=str(error), allowed="JSON") from None
    body = b"".join([_MAGIC, len(header).to_bytes(8, "little"), header, *chunks])
    return body + hashlib.sha256(body).digest()


def whole(data: bytes) -> bool:
    """Whether these are the bytes of such a file, and all of them."""
    body = memoryview(data)[:-_DIGEST]
    return data[: len(_MAGIC)] == _MAGIC and hashlib.sha256(body).digest() == data[-_DIGEST:]


def read_arrays(path: Path, what: str = "the file", remedy: str = "") -> tuple[Arrays, dict[str, Any]]:
    """The arrays and meta data of a file, bit for bit as written; refused where a single bit is not."""
    data = read_bytes(path)
    if not whole(data):
        raise _damaged(what, path, f"{len(data)} bytes", remedy)
    try:
        return _unpacked(data)
    except _NONSENSE as error:  # whole, and not what `packed` makes
        raise _damaged(what, path, str(error), remedy) from None


def _unpacked(data: bytes) -> tuple[Arrays, dict[str, Any]]:
    start = len(_MAGIC) + 8
    offset = start + int.from_bytes(data[len(_MAGIC) : start], "little")
    header = json.loads(data[start:offset])
    arrays: Arrays = {}
    for name, kind, shape in _listed(header):
        count = math.prod(shape)
        flat = np.frombuffer(data, kind, count, offset) if count else np.empty(0, kind)
        arrays[name] = flat.reshape(shape).astype(kind.newbyteorder("="))
        offset += count * kind.itemsize
    return arrays, dict(header["meta"])


def read_some_arrays(path: Path, wanted: Collection[str], what: str = "the file", remedy: str = "") -> Arrays:
    """Of a file only the arrays whose names, up to a '/' if they have one, are wanted.

    The checksum, which would take all of the file, is not looked at: for looking, not for carrying on.
    """
    try:
        with path.open("rb") as stream:
            return _some(stream, wanted)
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as error:
        raise unreadable(path, error) from error
    except _NONSENSE as error:
        raise _damaged(what, path, str(error), remedy) from None


def is_complete(path: Path) -> bool:
    """Whether a file is of this kind and as long as it says it is; a look at its beginning, not at its checksum."""
    try:
        with path.open("rb") as stream:
            entries = _entries(stream)
            size = stream.tell() + sum(math.prod(shape) * kind.itemsize for _, kind, shape in entries) + _DIGEST
        return path.stat().st_size == size
    except (OSError, *_NONSENSE):
        return False


def _entries(stream: BinaryIO) -> list[tuple[str, np.dtype[Any], tuple[int, ...]]]:
    """Name, type and shape of the arrays of a file, which is read up to the first of them."""
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("another kind of file")
    length = int.from_bytes(stream.read(8), "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"a header of {length} bytes")
    return _listed(json.loads(stream.read(length)))


def _listed(header: Mapping[str, Any]) -> list[tuple[str, np.dtype[Any], tuple[int, ...]]]:
    """Name, type and shape of the arrays of which a header tells."""
    found = [(str(one["name"]), np.dtype(one["type"]), tuple(map(index, one["shape"]))) for one in header["arrays"]]
    for name, kind, shape in found:
        if kind.kind not in _KINDS or min(shape, default=0) < 0:
            raise ValueError(f"{name}: {kind} of shape {shape}")
    return found


def _some(stream: BinaryIO, wanted: Collection[str]) -> Arrays:
    arrays: Arrays = {}
    for name, kind, shape in _entries(stream):
        size = math.prod(shape) * kind.itemsize
        if size > os.fstat(stream.fileno()).st_size:  # so much room would be made for it
            raise ValueError(f"{name}: of shape {shape} in a file that is too short for it")
        if name.split("/")[0] in wanted:
            data = stream.read(size)
            arrays[name] = np.frombuffer(data, kind).reshape(shape).astype(kind.newbyteorder("="))
        else:
            stream.seek(size, 1)
    return arrays


def _damaged(what: str, path: Path, got: str, remedy: str) -> InputError:
    return input_error(f"{what} is damaged", where=str(path), got=got, remedy=remedy)
