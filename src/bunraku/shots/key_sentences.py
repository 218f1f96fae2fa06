"""How near and how late a body passed its key shapes, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.direction.steer import Approach, approaches_of

from .prepared import Prepared
from .report import Measured, Sentence
from .wording import length

_ON_IT = 0.05  # frames: nearer than this is on the frame


def key_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """One a key, in order; keys are loose, so none is missed."""
    if "key_distance" not in m.arrays or not m.facts.get("key_times"):
        return
    rate, first = prepared.clip.rate, float(prepared.numbers[0])
    times = (m.frames - first) / rate
    for one in approaches_of(m.facts, times, m.arrays["key_distance"]):
        if one.key > times[-1] + 0.5 / rate:
            continue  # the run stopped before
        yield Sentence("note", _text(one, first, rate), float(m.frames[int(np.argmin(np.abs(times - one.time)))]))


def _text(one: Approach, first: float, rate: float) -> str:
    frame = round(one.key * rate + first, 6)
    which = f"The key shape of frame {frame:g}" + (f" of {one.body}" if one.body else "")
    if not one.reached:
        return (
            f"{which} was not reached: the nearest the body came is {length(one.distance)}, "
            f"where the shape is {length(one.way)} from the one before."
        )
    when = f"{abs(one.frames):.1f} frames {'late' if one.frames > 0 else 'early'}"
    when = "on its frame" if abs(one.frames) < _ON_IT else when
    left = f", with {100 * one.distance / one.way:.0f} % of the way to it left" if one.way > 0 else ""
    return f"{which} was passed {when}, {length(one.distance)} away in the mean{left}."
