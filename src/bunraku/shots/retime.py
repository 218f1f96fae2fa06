"""Retiming: which frame of an animation is seen at each frame of the shot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.contracts import Vector, input_error
from bunraku.io import Clip
from bunraku.motion import Animation, Curve
from bunraku.motion import Path as Way

from .kinds import Keys

_MOST_FRAMES = 100_000


def retimed(clip: Clip, keys: Keys | None) -> Clip:
    """The clip with a sample on every whole frame of the shot from the first key to the last.

    `keys` are (shot frame, its frame, ease), read as any keyed number is: held outside, eased between.
    """
    if keys is None:
        return clip
    frames, seen = _seen(keys, float(clip.frames[0]), float(clip.frames[-1]))
    points = np.stack([clip.animation.at(clip.time(frame)) for frame in seen])
    loose = np.stack([clip.loose_at(float(frame)) for frame in seen])
    animation = Animation(clip.mesh, frames / clip.rate, points, clip.animation.interpolation)
    return replace(clip, animation=animation, frames=frames, loose=loose)


def retimed_way(way: Way, keys: Keys | None, rate: float) -> Way:
    """The same of a path whose frame 0 is at 0 s: a sample, and a turn where it has them, on every whole frame."""
    if keys is None:
        return way
    frames, seen = _seen(keys, rate * float(way.times[0]), rate * float(way.times[-1]))
    times = np.clip(seen / rate, way.times[0], way.times[-1])
    turns = None if way.rotations is None else np.stack([way.rotation(float(time)) for time in times])
    return Way(frames / rate, np.stack([way.at(float(time)) for time in times]), rotations=turns)


def _seen(keys: Keys, low: float, high: float) -> tuple[Vector, Vector]:
    """Whole frames of the shot from the first key to the last, and which of an animation's from `low` to `high` are
    seen on them."""
    if not isinstance(keys, tuple) or len(keys) < 2:
        raise input_error(
            "retiming needs at least two keys", where="retime", got=keys, allowed="[[shot frame, its frame], …]"
        )
    curve = Curve.of(keys)
    outside = curve.values[(curve.values < low - 1e-6) | (curve.values > high + 1e-6)]
    if len(outside):
        raise input_error(
            "the animation has no such frame", where="retime", got=float(outside[0]), allowed=f"{low:g} to {high:g}"
        )
    first, last = int(np.ceil(curve.times[0] - 1e-6)), int(np.floor(curve.times[-1] + 1e-6))
    if not 1 <= last - first < _MOST_FRAMES:
        raise input_error(
            "retiming must span at least two whole frames", where="retime", got=f"{first:g} to {last:g}",
            allowed=f"2 to {_MOST_FRAMES} frames",
        )  # fmt: skip
    frames = np.arange(first, last + 1, dtype=np.float64)
    return frames, np.array([curve.at(frame) for frame in frames])
