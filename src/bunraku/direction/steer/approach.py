"""How near and how late keys were reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bunraku.contracts import Array, Vector

_REACHED = 0.7
"""share of the way to a key beyond which a body that is still as far off has not come to it"""


@dataclass(frozen=True)
class Approach:
    """One key, and the moment the body looked most like it."""

    key: float
    """[s] the key's own time"""
    distance: float
    """[m] root mean square by mass, once place and turn are taken out, on the nearest frame"""
    share: float
    """of the body's size"""
    time: float
    """[s] when it was nearest, read between frames"""
    delay: float
    """[s] after the key's time; negative before it"""
    frames: float
    """the same in frames"""
    way: float
    """[m] how far the shape is from the one before it: what there was to do"""
    body: str = ""
    """whose key it is, where there are several"""

    @property
    def reached(self) -> bool:
        """Whether the body came nearer to it by a good part of the way: else there is no moment it was passed at."""
        return self.distance <= _REACHED * self.way or self.way == 0.0

    def __str__(self) -> str:
        """In one sentence."""
        which = f"{self.body}: the key" if self.body else "the key"
        if not self.reached:
            return (
                f"{which} at {self.key:g} s was not reached: the nearest the body came is {self.distance:.3g} m "
                f"({100.0 * self.share:.1f} % of its size), where the shape is {self.way:.3g} m from the one before"
            )
        when = f"{abs(self.frames):.1f} frames {'late' if self.frames > 0 else 'early'}"
        if abs(self.frames) < 0.05:
            when = "on its frame"
        of_way = f", {100.0 * self.distance / self.way:.0f} % of the way to it left" if self.way > 0.0 else ""
        return (
            f"{which} at {self.key:g} s was passed {when}, {self.distance:.3g} m away "
            f"({100.0 * self.share:.1f} % of the body's size{of_way})"
        )


_NO_WAY = 1e-9
"""share of the body's size: a key that is no farther from the shape before is that shape"""
_AS_NEAR = 0.1
"""share of the way to a key: what is nearer by less than this later is no reason to wait for it"""
_STILL_COMING = 0.01
"""share of the way that a body must come nearer in a frame to be on its way still"""


def approaches(
    times: Vector, distance: Array, keys: Sequence[float], ways: Sequence[float], size: float, rate: float
) -> list[Approach]:
    """Of frames at `times` (t,) with `distance` (t, k) from each key: the moment each was passed.

    It is looked for from the key before to the key after it, where there are such. A body that stays near a key comes
    ever nearer; what counts is when it first is about as near as it gets.
    """
    out = []
    for k, key in enumerate(keys):
        first = keys[k - 1] if k else -np.inf
        last = keys[k + 1] if k + 1 < len(keys) else np.inf
        inside = np.flatnonzero((times > first) & (times < last))
        if not len(inside):
            inside = np.array([int(np.argmin(np.abs(times - key)))])
        way = float(ways[k]) if ways[k] > _NO_WAY * size else 0.0
        if way:
            best = int(inside[_passed(distance[inside, k], way)])
            when = _lowest(times, distance[:, k], best)
        else:  # the shape before once more: there is no moment at which it is passed but its own
            best, when = int(np.argmin(np.abs(times - key))), float(key)
        nearest = float(distance[best, k])
        delay = when - key
        out.append(Approach(float(key), nearest, nearest / size, when, delay, delay * rate, way))
    return out


def approaches_of(facts: Mapping[str, Any], times: Vector, distance: Array) -> list[Approach]:
    """The same of all bodies of a steered job with these facts, each with its own keys and size."""
    out = []
    for one in facts["bodies"]:
        own = slice(*one["keys"])
        keys, ways = facts["key_times"][own], facts["key_ways"][own]
        found = approaches(times, distance[:, own], keys, ways, one["size"], facts["rate"])
        out += [replace(near, body=one["name"]) for near in found]
    return out


def _passed(distance: Vector, way: float) -> int:
    """The frame at which a body first is about as near as it gets, and comes no nearer for now."""
    k = int(np.flatnonzero(distance <= distance.min() + _AS_NEAR * way)[0])
    while k + 1 < len(distance) and distance[k + 1] < distance[k] - _STILL_COMING * way:
        k += 1
    return k


def _lowest(times: Vector, values: Vector, best: int) -> float:
    """[s] the bottom of the parabola of squares around a frame that is lower than its neighbours."""
    if not 0 < best < len(times) - 1:
        return float(times[best])
    low, middle, high = (float(v) ** 2 for v in values[best - 1 : best + 2])
    bend = low - 2.0 * middle + high
    shift = 0.5 * (low - high) / bend if bend > 0.0 else 0.0
    return float(times[best] + np.clip(shift, -0.5, 0.5) * (times[best + 1] - times[best]))
