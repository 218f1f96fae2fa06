"""How a planned motion met its keys, in sentences: each of them, or by how much not and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.contracts import Outcome

from .report import Measured, Sentence
from .wording import share

if TYPE_CHECKING:
    from bunraku.direction.plan import Motion

    from .read_plan import ReadPlan

_UNFINISHED = "the search for it was given up before it had converged; other weights or more frames may help"
_SEEN = 1e-5  # [m] below the ground that is worth a word
_ITS_OWN = 0.1  # share of a miss from which on it is one of the modes


def key_facts(one: ReadPlan) -> Iterator[dict[str, Any]]:
    """What every key asked for and by how much it was missed, as report.json holds it."""
    for motion, told in zip(one.motions, one.told, strict=True):
        size = motion.mesh.size
        for met in motion.report["keys"]:
            key = told[met.key]
            yield {
                "object": one.name, "where": key.where, "frame": round(key.frame, 6), "region": key.region,
                "landing": key.landing, "velocity": met.velocity, "unit": "m/s" if met.velocity else "m",
                "missed": float(met.missed), "unreachable": float(met.unreachable), "allowed": float(met.limit),
                "met": bool(met.missed <= met.limit), "exact": bool(motion.keys[met.key].exact),
                "whole": motion.keys[met.key].vertices is not None and key.region is None,
                "share": None if met.velocity else float(met.missed / size), "helps": _helps(motion),
            }  # fmt: skip


def _helps(motion: Motion) -> str:
    """What lets the modes of a motion do more."""
    if motion.body.whole:
        return "these are all there are: ask for less, or for smaller tets"
    return "try more modes" if motion.body.attached else "try attach = true, or more modes"


def ground_facts(one: ReadPlan) -> dict[str, Any]:
    """How deep a motion goes below its ground at most, and on which frame."""
    assert one.table.begin is not None
    begins = np.concatenate([[0.0], np.cumsum([motion.duration for motion in one.motions])])
    deepest = int(np.argmax([motion.report["below_ground"] for motion in one.motions]))
    report = one.motions[deepest].report
    return {
        "object": one.name, "below": float(report["below_ground"]), "allowed": float(report["allowed_below"]),
        "frame": float(one.table.begin + (begins[deepest] + report["lowest_at"]) * one.rate),
        "met": all(bool(motion.report["above_ground"]) for motion in one.motions),
    }  # fmt: skip


def warnings_of(one: ReadPlan) -> Iterator[str]:
    """Plans that are not the best there are."""
    for k, motion in enumerate(one.motions):
        outcome = motion.report["outcome"]
        if outcome not in (Outcome.CONVERGED, Outcome.CONDITIONS_CONFLICT):
            which = f"phase {k + 1} of the plan" if len(one.motions) > 1 else "the plan"
            why = _UNFINISHED if outcome in (Outcome.NOT_CONVERGED, Outcome.ITERATION_LIMIT) else outcome.value
            yield f"{which} of {one.name} is not the best there is: {why}"


def plan_sentences(m: Measured) -> Iterator[Sentence]:
    """One a key, missed ones first."""
    told = sorted(m.keys, key=lambda one: one["met"])
    several = len({one["object"] for one in told}) > 1
    for one in told:
        near = float(m.frames[int(np.argmin(np.abs(m.frames - one["frame"])))])
        yield Sentence("met" if one["met"] else "missed", _text(one, several), near)
    for one in m.grounds:
        yield _of_ground(one, m)


def _of_ground(one: Mapping[str, Any], m: Measured) -> Sentence:
    deep = f"{1e3 * one['below']:.2g} mm"
    if one["met"]:
        but = f", but for {deep}" if one["below"] > _SEEN else ""
        return Sentence("met", f"Nothing of {one['object']} goes below the ground{but}.")
    near = float(m.frames[int(np.argmin(np.abs(m.frames - one["frame"])))])
    where = f"{one['object']} goes {deep} below the ground at frame {one['frame']:.4g}"
    why = "keys, or how a phase begins or ends, ask for it, or more modes are needed"
    return Sentence("missed", f"{where}: {why}.", near)


def _text(one: Mapping[str, Any], several: bool) -> str:
    what = f"region {one['region']}" if one["region"] else "the whole body" if one["whole"] else "the centre of mass"
    whose = f" of {one['object']}" if several else ""
    which = f"The landing at frame {one['frame']:.4g}" if one["landing"] else f"The key of frame {one['frame']:.6g}"
    goes = "goes" if one["velocity"] else "is"
    by = f"{one['missed']:.2g} {one['unit']}"
    by += "" if one["share"] is None else f" ({share(one['share'])} of the size)"
    if one["met"]:
        asked = "as fast as asked" if one["velocity"] else "where it was asked to be"
        return f"{which}{whose} is met: {what} {goes} {asked}, but for {by}."
    asked = "otherwise than asked, by" if one["velocity"] else "away from where it was asked to be, by"
    return f"{which}{whose} is missed: {what} {goes} {asked} {by}{_why(one)}."


def _why(one: Mapping[str, Any]) -> str:
    if one["unreachable"] > _ITS_OWN * one["missed"]:
        lacking = f"{one['unreachable']:.2g} {one['unit']}"
        return f", of which the modes cannot do {lacking}: {one['helps']}"
    if one["exact"]:
        return "; what else is asked for, or that the motion begins or ends at rest, stands against it"
    return ": try a larger weight, or more frames for it"
