"""What contact did to a take, in plain sentences: what it kept from the guide, how near surfaces came, what crosses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bunraku.contracts import many
from bunraku.geometry import first_few

from .prepared import Prepared
from .report import Measured, Sentence
from .wording import millimetres, on, peak

_MOST_TOLD = 5  # regions by name; report.json has all


def kept_off_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """Which regions contact kept from the guide, when and how far: direction that was missed."""
    off = m.kept_off
    if not off.any():
        return
    told = kept_off_regions(prepared, m)
    most, frames = max(one["max_m"] for one in told), on(m.frames[off.any(axis=1)])
    frame, region = peak(np.where(off, m.arrays["residual"], -1.0))
    if len(told) > 1:
        yield Sentence(
            "missed",
            f"Contact kept {len(told)} of {many(m.regions, 'region')} from {prepared.goal} on {frames}, "
            f"at most {millimetres(most)}.", float(m.frames[frame]), region,
        )  # fmt: skip
    numbers = np.flatnonzero(off.any(axis=0))
    worst = sorted(zip(numbers, told, strict=True), key=lambda one: -one[1]["max_m"])
    for number, one in worst[:_MOST_TOLD]:
        around = one["region"].startswith("guide vertex")
        where = f"the region around {one['region']}" if around else one["region"]
        yield Sentence(
            "missed",
            f"{where[0].upper()}{where[1:]} was kept from {prepared.goal} by contact on "
            f"{on(one['frames'])}, at most {millimetres(one['max_m'])}.", _farthest(m, int(number)), int(number),
        )  # fmt: skip
    if len(worst) > _MOST_TOLD:
        yield Sentence("note", f"The other {len(worst) - _MOST_TOLD} of these regions are named in report.json.")


def _farthest(m: Measured, region: int) -> float:
    """The frame number on which contact kept a region farthest from the guide."""
    return float(m.frames[int(np.argmax(np.where(m.kept_off[:, region], m.arrays["residual"][:, region], -1.0)))])


def kept_off_regions(prepared: Prepared, m: Measured) -> list[dict[str, Any]]:
    """Each region that contact kept from the guide: its name, the frames, and the largest distance [m]."""
    off = m.kept_off
    return [
        {
            "region": prepared.regions[int(k)],
            "frames": m.frames[off[:, k]],
            "max_m": float(m.arrays["residual"][off[:, k], k].max()),
        }
        for k in np.flatnonzero(off.any(axis=0))
    ]


def near_sentences(m: Measured) -> Iterator[Sentence]:
    """How near surfaces came to each other."""
    if "pairs" not in m.arrays:
        return
    pairs = np.asarray(m.arrays["pairs"])
    near = pairs > 0
    if not near.any():
        yield Sentence("note", "Nothing came near anything: contact had nothing to do.")
        return
    most = int(np.argmax(pairs))
    closest = np.where(near, m.arrays["closest"], np.inf)
    least = int(np.argmin(closest))
    yield Sentence(
        "note",
        f"Surfaces were near each other on {on(m.frames[near])}: at most {pairs[most]} near pairs at frame "
        f"{m.frames[most]:g}, and no two nearer than {millimetres(float(closest[least]))} (frame {m.frames[least]:g}).",
        float(m.frames[least]),
    )  # fmt: skip


def layer_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """Which layers were moved before the first frame, and what is not where it must be."""
    points = prepared.point_names
    for one in m.facts.get("layers", ()):
        if one["moved"]:
            yield Sentence(
                "note",
                f"Before the first frame {many(one['moved'], 'vertex', 'vertices')} of {one['outer']} were moved out "
                f"of {one['inner']}, by at most {millimetres(one['most_m'])}.", float(m.frames[0]),
            )  # fmt: skip
        if one["wrong"]:
            named = first_few(np.array([points[v] for v in one["wrong"]]))
            yield Sentence(
                "missed",
                f"{many(len(one['wrong']), 'vertex', 'vertices')} of {one['outer']} were still behind {one['inner']} "
                f"when the shot began: points {named}.", float(m.frames[0]),
            )  # fmt: skip


def pinched_sentences(m: Measured) -> Iterator[Sentence]:
    """Where obstacles left no room for the shell between them."""
    pinched = np.asarray(m.arrays.get("pinched", np.zeros(0)))
    if not pinched.any():
        return
    worst = int(np.argmax(pinched))
    yield Sentence(
        "note",
        f"Obstacles left no room on {on(m.frames[pinched > 0])}: at most "
        f"{many(int(pinched[worst]), 'vertex', 'vertices')} at frame {m.frames[worst]:g}, which follow the "
        "surfaces and may pass through them.", float(m.frames[worst]),
    )  # fmt: skip


def intersection_sentences(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """Whether anything passes through anything, where that was looked for."""
    found, contact = m.intersections, prepared.contact.table
    if found is None:
        return
    if not found.total:
        if contact is not None:
            frames = many(len(m.frames), "frame")
            yield Sentence("met", f"No {prepared.outside} passes through anything on any of {frames}.")
        return
    parts = []
    itself = "itself" if len(prepared.written) == 1 else "themselves or each other"
    for what, counts in ((itself, found.with_itself), ("an obstacle", found.with_obstacles)):
        if counts.any():
            worst = int(np.argmax(counts))
            most = f"at most {many(int(counts[worst]), 'triangle')} at frame {m.frames[worst]:g}"
            parts.append(f"through {what} on {on(m.frames[counts > 0])} ({most})")
    advice = f"; {prepared.apart}" if contact is None and prepared.apart else ""
    passes = "passes" if len(prepared.written) == 1 else "pass"
    text, worst = f"The {prepared.noun} {passes} {' and '.join(parts)}{advice}.", int(np.argmax(found.either))
    yield Sentence("note" if contact is None else "missed", text, float(m.frames[worst]))
