"""Arrays as bytes: the parcels of messages.py."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .gate import Refusal
from .messages import ArrayPlace, Entry, Parcel

MAGIC = b"BKP1"
_ALIGNED = 8  # [bytes] so that a page can lay typed arrays over the parcel without copying
_FULL = 65535
_TYPES: dict[str, Any] = {"u2": "u2", "u4": "u4", "i4": "i4", "f4": "f4"}


@dataclass(frozen=True, eq=False)
class Piece:
    """An array ready to be sent."""

    array: NDArray[Any]
    """of one of the types of messages.py"""
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None


def can_be_sent(array: NDArray[Any]) -> bool:
    """Whether it is of one of the types of messages.py."""
    return array.dtype.newbyteorder("<").str[1:] in _TYPES


def shares(values: NDArray[Any], shift: NDArray[Any] | None = None) -> Piece:
    """Values (n,) or (n, c) as 16-bit shares of the range of each column; `shift` (c,) is added to all."""
    table = np.asarray(values, dtype=np.float64)
    table = np.nan_to_num(table if table.ndim == 2 else table[:, None], posinf=0.0, neginf=0.0)
    low, high = table.min(axis=0, initial=np.inf), table.max(axis=0, initial=-np.inf)
    if not len(table):
        low, high = np.zeros_like(low), np.zeros_like(high)
    width = np.where(high > low, high - low, 1.0)
    found = np.rint((table - low) / width * _FULL).astype(np.uint16)
    moved = 0.0 if shift is None else shift
    return Piece(found.reshape(np.shape(values)), tuple((low + moved).tolist()), tuple((high + moved).tolist()))


def parcel(entries: Sequence[tuple[int | None, Mapping[str, Piece]]]) -> bytes:
    """The bytes of entries, each a frame (or None) and its arrays by name."""
    told, chunks, offset = [], [], 0
    for frame, pieces in entries:
        places = []
        for name, piece in pieces.items():
            kind = piece.array.dtype.newbyteorder("<")
            data = np.ascontiguousarray(piece.array, kind).tobytes()
            places.append(ArrayPlace(name, _TYPES[kind.str[1:]], piece.array.shape, offset, piece.low, piece.high))
            chunks.append(_padded(data))
            offset += len(chunks[-1])
        told.append(Entry(frame, tuple(places)))
    header = json.dumps(asdict(Parcel(tuple(told))), separators=(",", ":"), allow_nan=False).encode()
    begin = MAGIC + len(header).to_bytes(4, "little") + header
    return b"".join([_padded(begin), *chunks])


def unpacked(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of a parcel with one entry, none of them shares; refused where it is none."""
    try:
        if data[:4] != MAGIC:
            raise ValueError("another beginning")
        length = int.from_bytes(data[4:8], "little")
        header, begin = json.loads(data[8 : 8 + length]), -(-(8 + length) // _ALIGNED) * _ALIGNED
        (entry,) = header["entries"]
        return {str(one["name"]): _array(data, begin, one) for one in entry["arrays"]}
    except (ValueError, LookupError, TypeError, RecursionError, OverflowError) as error:
        raise Refusal(400, f"the arrays cannot be read: {str(error)[:120] or type(error).__name__}") from None


def _array(data: bytes, begin: int, place: Mapping[str, Any]) -> NDArray[Any]:
    kind, shape, offset = _TYPES[place["type"]], place["shape"], place["offset"]
    whole = [one for one in (*shape, offset) if isinstance(one, int) and not isinstance(one, bool) and one >= 0]
    if len(whole) != len(shape) + 1 or place.get("low") is not None:
        raise ValueError("a place that is none")
    count = math.prod(shape)
    array = np.frombuffer(data, f"<{kind}", count, begin + offset).reshape(shape)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("numbers that are none")
    return array.astype(kind)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNED)
