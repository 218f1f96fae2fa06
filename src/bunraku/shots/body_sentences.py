"""What became of a body's turn, how paths took hold of it and what it ran into, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.contracts import Array, many
from bunraku.direction.steer import fetched, hard_collisions, turn_remedy

from .prepared import Prepared
from .report import Measured, Sentence
from .wording import length, on, peak, ranges

CHANGED_VOLUME = 0.15
"""share of the volume from which on it is told that a body shrinks or swells"""


def turn_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """On which frames the turn of a path was missed, by how many degrees, and what helps."""
    missed = m.misturned
    if not missed.any():
        return
    worst, path = peak(m.arrays["rotation_residual"])
    which = f"{int(missed.sum())} of {many(len(m.frames), 'frame')} ({ranges(m.frames[missed])})"
    yield Sentence(
        "missed",
        f"Turn missed on {which}: {prepared.regions[path]} is turned otherwise than its path says by up to "
        f"{np.degrees(m.turned_off[worst]):.2g}°, at frame {m.frames[worst]:g}; {turn_remedy(worst == 0)}.",
        float(m.frames[worst]), path,
    )  # fmt: skip


def fetched_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """Paths that took hold of the body elsewhere than where it would have been."""
    for one in fetched((m.frames - m.frames[0]) / prepared.clip.rate, m.arrays, m.size):
        frame = float(m.frames[one.frame])
        yield Sentence(
            "note",
            f"The path of {prepared.regions[one.path]} takes hold at frame {frame:g}, {length(one.away)} from where "
            "the body would have been: it was fetched within a step. Begin the path where the body is, or hold it from "
            "the first frame on.", frame, one.path,
        )  # fmt: skip


def shape_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """Where tetrahedra are inside out, and by how much the bodies shrink or swell, which nobody would see in a key."""
    inverted, volume = m.arrays.get("inverted"), m.arrays.get("volume")
    if inverted is None or volume is None:
        return
    planned = bool(m.keys or m.grounds)
    if inverted.any():
        worst = int(np.argmax(inverted))
        most = f"{int(inverted[worst])} of {m.facts['tets']} tetrahedra, at frame {m.frames[worst]:g}"
        advice = "try keys that ask for less, or more frames between them" if planned else "try more substeps"
        yield Sentence(
            "note", f"The {prepared.noun} {_is(prepared)} inside out in places on "
            f"{on(m.frames[inverted > 0])}: at most {most}; {advice}.", float(m.frames[worst]),
        )  # fmt: skip
    if planned:  # a steered body's keys may ask for it
        yield from _volume_sentences(m, volume)


def _volume_sentences(m: Measured, volume: Array) -> Iterator[Sentence]:
    """One for each body that shrinks or swells far: what one gains the other may lose, so they are not summed."""
    each, names = m.arrays.get("volumes"), m.facts.get("objects", ())
    if each is None or len(names) != each.shape[1]:
        each, names = volume[:, None] / m.facts["volume"], ("The body",)
    else:
        each = each / np.array(m.facts["volumes"])
    for name, share in zip(names, each.T, strict=True):
        change = share - 1.0
        worst = int(np.argmax(np.abs(change)))
        if abs(change[worst]) > CHANGED_VOLUME:
            how = "shrinks" if change[worst] < 0.0 else "swells"
            yield Sentence(
                "note", f"{name} {how} by up to {100 * abs(change[worst]):.0f} % of the volume at rest, at "
                f"frame {m.frames[worst]:g}: linear modes that are bent far do.", float(m.frames[worst]),
            )  # fmt: skip


def _is(prepared: Prepared) -> str:
    return "is" if len(prepared.written) == 1 else "are"


def blow_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """When the body ran into something hard."""
    times = (m.frames - m.frames[0]) / prepared.clip.rate
    blows = np.round(np.array(hard_collisions(times, m.arrays)) * prepared.clip.rate + m.frames[0], 6)
    if not len(blows):
        return
    keyed = any(one["keys"][0] < one["keys"][1] and not one["brace"] for one in m.facts.get("bodies", ()))
    advice = "; brace = true keeps the shape it is told as it is meanwhile" if keyed else ""
    yield Sentence(
        "note", f"The body collided hard at {on(blows)}{advice}.",
        float(blows[0]),
    )  # fmt: skip
