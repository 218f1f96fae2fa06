"""Which frames a shot makes: its own range, its guide's, or a little while from the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bunraku.contracts import Vector
from bunraku.io import Clip

from .findings import Place
from .shot import Shot

_SECONDS = 2.0  # that a body moves where its shot says no frames
_MOST = 100_000


def of_body(shot: Shot, rate: float) -> Vector:
    """(t,) of a body that begins at rest: the shot's range, or two seconds from 1 at a rate [frames/s]."""
    first, last = shot.shot.frames or (1, 1 + round(_SECONDS * rate))
    return np.arange(first, last + 1, dtype=np.float64)


def refuse_single(shot: Shot, root: Place) -> None:
    """A body that begins at rest moves between frames."""
    if len(range(*(shot.shot.frames or (0, 1)))) == 0:
        root.at("shot").at("frames").refuse("a body needs two frames at least", got=list(shot.shot.frames or ()))


def of_guide(shot: Shot, clip: Clip, place: Place, *, resampled: bool = False) -> Vector:
    """(t,) the shot's range or the guide's, one by one; refused where the guide has no such frames. `resampled`: the
    guide's rate is the shot's and not its file's."""
    low, high = float(clip.frames[0]), float(clip.frames[-1])
    first, last = shot.shot.frames or (low, high)
    if last - first + shot.shot.preroll >= _MOST:
        place.at("frames").refuse(
            "too many frames", got=f"{first:.10g} to {last:.10g}", allowed=f"up to {_MOST}, preroll included",
            remedy="fewer frames, or a guide without stray samples",
        )  # fmt: skip
        place.raise_all()
    if shot.shot.frames is None:
        return low + np.arange(int(np.floor(high - low + 1e-6)) + 1, dtype=np.float64)
    first, last = shot.shot.frames
    if first < low - 1e-6 or last > high + 1e-6:
        place.at("frames").refuse(
            "the guide has no such frames", got=f"{first} to {last}",
            allowed=f"{low:g} to {high:g} at {clip.rate:g} frames/s",
            remedy="count frames at shot.rate, not at the skeleton's own rate" if resampled else "",
        )  # fmt: skip
    return np.arange(first, last + 1, dtype=np.float64)


def resolved(shot: Shot, numbers: Vector, objects: Mapping[str, Any] | None = None) -> Shot:
    """The shot with the frames (t,) that are made, where they are whole, and tables in which all is filled in."""
    whole = bool((numbers == np.round(numbers)).all())
    frames = (round(numbers[0]), round(numbers[-1])) if whole else None
    return replace(shot, shot=replace(shot.shot, frames=frames), object={**shot.object, **(objects or {})})
