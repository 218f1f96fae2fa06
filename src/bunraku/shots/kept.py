"""Frames in the cache: the whole state and the report of each, so that the last one carries the run on.

How long a frame took is no part of it: equal runs must leave equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import Array, State
from bunraku.direction import Frame
from bunraku.io import FrameCache

_TIMING = "seconds"


def keep(cache: FrameCache, frame: Frame, number: float) -> None:
    """Store a frame under its index."""
    arrays = {"q": frame.state.q, "velocity": frame.state.velocity}
    arrays |= {f"memory/{name}": np.asarray(value) for name, value in frame.state.memory.items()}
    arrays |= {f"report/{name}": np.asarray(value) for name, value in frame.report.items() if name != _TIMING}
    cache.store(frame.index, arrays, {"time": float(frame.time), "frame": float(number)})


def kept(cache: FrameCache, index: int) -> Frame:
    """The frame as it was stored, bit for bit."""
    arrays, meta = cache.load(index)
    state = State(meta["time"], arrays["q"], arrays["velocity"], _part(arrays, "memory/"))
    return Frame(index, state, _part(arrays, "report/"))


def last_good(cache: FrameCache) -> int:
    """The last index up to which every frame is there; −1 where there is none."""
    found = cache.indices()
    whole = [index for place, index in enumerate(found) if place == index]
    return whole[-1] if whole else -1


def frames_kept(folder: Path) -> int:
    """How many frames of a take are safe on disk, from the first on."""
    return last_good(FrameCache(folder / "frames")) + 1 if (folder / "frames").is_dir() else 0


def each(cache: FrameCache, first: int, count: int) -> Iterator[Frame]:
    """The frames of indices first … count − 1, one at a time."""
    for index in range(first, count):
        yield kept(cache, index)


def seconds(frame: Frame) -> float:
    """How long a fresh frame took [s]."""
    return float(frame.report.get(_TIMING, np.zeros(())))


def _part(arrays: Mapping[str, Any], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
