"""A take's numbers in plain sentences: what was met, what was missed and where, by how much."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.constraints import HARD
from bunraku.contracts import many

from .body_sentences import blow_sentences, fetched_sentences, shape_sentences, turn_sentences
from .contact_sentences import (
    intersection_sentences,
    kept_off_sentences,
    layer_sentences,
    near_sentences,
    pinched_sentences,
)
from .contact_spec import ContactTable
from .key_sentences import key_sentences
from .plan_sentences import plan_sentences
from .prepared import Prepared
from .report import FORCE, MET, Measured, Rows, Sentence
from .wording import digits, length, on, peak, ranges, share
from .wrinkle_sentences import skin_sentences


def sentences(prepared: Prepared, m: Measured, story: str) -> tuple[Sentence, ...]:
    """Everything worth knowing, the most important first."""
    told = [_stopped(prepared, m, story)] if story else []
    if len(m.frames):
        told += [
            *_yielded(prepared, m),
            *turn_sentences(prepared, m),
            *_direction(prepared, m),
            *kept_off_sentences(prepared, m),
            *plan_sentences(m),
            *skin_sentences(prepared, m),
            *key_sentences(prepared, m),
            *fetched_sentences(prepared, m),
            *blow_sentences(prepared, m),
            *shape_sentences(prepared, m),
            *_loosened(m),
            *_freer(m),
            *_pins(prepared, m),
            *_seams(prepared, m),
            *intersection_sentences(prepared, m),
            *pinched_sentences(m),
            *layer_sentences(prepared, m),
            *near_sentences(m),
            *_newton(prepared, m),
            *_force(prepared, m),
            *_set(prepared, m),
        ]
        told += _energies(m)
        told += [Sentence("note", f"{text[0].upper()}{text[1:]}.") for text in m.facts.get("warnings", ())]
    return (*told, *_preroll(prepared))


def _stopped(prepared: Prepared, m: Measured, story: str) -> Sentence:
    whole = len(prepared.numbers) - prepared.preroll
    last = float(m.frames[-1]) if len(m.frames) else None
    return Sentence("missed", f"Stopped by physics at {story}. {len(m.frames)} of {whole} frames are kept.", last)


def _direction(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    if m.keys or (not m.regions and m.facts.get("key_times")):
        return  # key shapes have sentences of their own
    if not m.regions and m.facts.get("interior") == "animated":
        return  # skins have, too
    if not m.regions:
        yield Sentence("note", f"No direction was asked for: the {prepared.noun} moved by physics alone.")
        return
    directed, missed = int(m.directed.sum()), int(m.astray.sum())
    but = " by every region that contact left free" if m.kept_off.any() else ""
    if not directed and m.yielded.any():
        return  # told already
    if not directed:
        yield Sentence("note", "On no frame had the guide to be met exactly." if not but else "No region was free.")
    elif not missed:
        gap = f"the largest {prepared.gap} is {_largest(m, m.directed)}"
        frame, region = peak(np.where(m.directed[:, None], m.residual_exact, -1.0))
        yield Sentence("met", f"{_met_on(m)}{but}: {gap}.", float(m.frames[frame]), region)
    else:
        frame, region = peak(np.where(m.astray[:, None], m.residual_exact, -1.0))
        which = f"{missed} of {many(directed, 'frame')} ({ranges(m.frames[m.astray])})"
        where = f"at frame {m.frames[frame]:g} around {prepared.regions[region]}"
        yield Sentence(
            "missed", f"Direction missed on {which}: the largest distance is {_largest(m, m.astray)}, {where}.",
            float(m.frames[frame]), region,
        )  # fmt: skip
    if m.exempt:
        away = length(float(m.residual[0]))
        yield Sentence("note", f"The shot starts in the rest shape, as asked: there the guide is up to {away} away.",
                       float(m.frames[0]))  # fmt: skip


def _met_on(m: Measured) -> str:
    """Where direction was met: on which frames, and whether by all regions that had to."""
    if m.yielded.any():
        return f"Direction met by the regions that did not yield, on {many(int(m.directed.sum()), 'frame')}"
    directed = int(m.directed.sum())
    which = "the one frame" if directed == 1 else f"all {directed} frames"
    asks = " that asks for it" if directed == 1 else " that ask for it"
    turn = " but for the turn" if m.misturned.any() else ""
    return f"Direction{turn} met on {which}{'' if directed == len(m.frames) else asks}"


def _largest(m: Measured, rows: Rows) -> str:
    in_memory = float(m.residual_exact[rows].max())
    text = f"{length(in_memory)} ({share(in_memory / m.size)} of the size) in memory"
    if m.residual_exact_in_file is not None:
        text += f", {length(float(m.residual_exact_in_file[rows].max()))} in {m.worst_file}"
    return text


def _loosened(m: Measured) -> Iterator[Sentence]:
    loose = m.strength < 1.0
    if m.regions and loose.any():
        when, away = on(m.frames[loose]), length(float(m.residual[loose].max()))
        frame, region = peak(np.where(loose[:, None], m.arrays["residual"], -1.0))
        yield Sentence(
            "note",
            f"The guide was loosened (strength below 1) on {when}: the shell was up to {away} away, as asked.",
            float(m.frames[frame]), region,
        )  # fmt: skip


def _yielded(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """Regions whose cap was reached: away from the guide, as asked, and so not met."""
    away = np.where(m.yielding, m.arrays["residual"], 0.0)
    if not m.regions or not away.any():
        return
    frame, region = peak(away)
    regions, frames = int(m.yielding.any(axis=0).sum()), m.frames[m.yielding.any(axis=1)]
    where = f"around {prepared.regions[region]} at frame {m.frames[frame]:g}"
    yield Sentence(
        "yielded",
        f"Direction yielded on {len(frames)} of {many(len(m.frames), 'frame')} ({ranges(frames)}): {regions} of "
        f"{many(m.regions, 'region')} gave way, as asked, where the guide would have pulled harder than the cap; the "
        f"farthest is {length(float(away[frame, region]))} away, {where}.", float(m.frames[frame]), region,
    )  # fmt: skip


def _freer(m: Measured) -> Iterator[Sentence]:
    """Regions that were held less than others, by a keyed scale or for the outline."""
    firm: Rows = np.asarray(m.arrays["held"] >= HARD, dtype=bool)
    some = np.any(firm, axis=1) & ~np.all(firm, axis=1)
    if m.regions and some.any():
        loose = np.where(~firm & some[:, None], m.arrays["residual"], -1.0)
        frame, region = peak(loose)
        if loose[frame, region] <= 0.0 and not m.arrays["held"][~firm & some[:, None]].any():
            return  # paths that are over, or yet to begin, are away from nothing
        yield Sentence(
            "note",
            f"On {on(m.frames[some])} between {firm[some].sum(axis=1).min()} and "
            f"{firm[some].sum(axis=1).max()} of {m.regions} regions were held exactly and the others less, as asked: "
            f"those were up to {length(float(loose.max()))} away.", float(m.frames[frame]), region,
        )  # fmt: skip


def _pins(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    held = {int(vertex) for pin in prepared.pins for vertex in np.asarray(pin.vertices)}
    if not held:
        return
    if not m.held.any():
        what = many(len(held), "pinned vertex was", "pinned vertices were")
        yield Sentence("note", f"{what} never firm (strength below 1), so no pin had to be met exactly.")
        return
    away = m.pin_gaps
    frame, pin = peak(away)
    what = f"{many(len(held), 'pinned vertex', 'pinned vertices')}"
    met = away[frame, pin] <= MET * m.size
    where = "" if met else f", at frame {m.frames[frame]:g} on pin {pin + 1}"
    verdict = "held" if met else "missed"
    yield Sentence(
        "met" if met else "missed",
        f"{what} {verdict}: where a pin is firm the largest distance is {length(float(away[frame, pin]))}{where}.",
        float(m.frames[frame]),
    )  # fmt: skip


def _seams(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    if "seam_residual" not in m.arrays:
        return
    away = np.asarray(m.arrays["seam_residual"])
    frame, seam = peak(away)
    stitches = many(sum(len(one.pairs) for one in prepared.seams), "stitch", "stitches")
    met = away[frame, seam] <= MET * m.size
    where = "" if met else f", at frame {m.frames[frame]:g} on seam {seam + 1}"
    yield Sentence(
        "met" if met else "missed",
        f"{stitches} {'held' if met else 'missed'}: the largest distance from where a stitch must be is "
        f"{length(float(away[frame, seam]))}{where}.", float(m.frames[frame]),
    )  # fmt: skip


def _newton(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    if len(m.frames) < 2 or "last_step" not in m.arrays:  # what is planned takes no steps
        return
    physics, made, last = prepared.shot.physics, m.arrays["iterations"], m.arrays["last_step"]
    if physics.iterations != "converge":
        each, moved = many(int(physics.iterations), "Newton iteration"), length(float(last.max()))
        text = f"Each step took {each}, as asked; the last one moved the {prepared.noun} by up to {moved}."
        yield Sentence("note", text, float(m.frames[int(np.argmax(last))]))
        return
    worst = int(np.argmax(made))
    most = f"at most {made[worst]} at frame {m.frames[worst]:g}"
    spent = f"{made[1:].mean():.1f} Newton iterations a frame on average, {most}"
    limited = ~np.asarray(m.arrays["converged"], dtype=bool)
    if limited.any():
        which = f"{many(int(limited.sum()), 'frame')} ({ranges(m.frames[limited])})"
        yield Sentence(
            "missed",
            f"On {which} a step used up its Newton iterations before it had converged: its last correction was up to "
            f"{length(float(last[limited].max()))}, so the wrinkles there are less exact; more substeps help. It took "
            f"{spent}.", float(m.frames[int(np.argmax(np.where(limited, last, -1.0)))]),
        )  # fmt: skip
        return
    balance = physics.contact.balance if isinstance(physics.contact, ContactTable) else 0.0
    solved = f"was solved until at most {balance:g} of its own error was left, as asked" if balance else "converged"
    yield Sentence("met", f"Every step {solved}: {spent}.", float(m.frames[worst]))


def _force(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    if not m.regions or len(m.frames) < 2 or FORCE not in m.arrays:
        return
    frame, region = peak(np.linalg.norm(m.arrays[FORCE], axis=2))
    most = float(m.force[frame])
    weight = float(m.facts["mass"]) * float(np.linalg.norm(prepared.shot.physics.gravity))
    whose = "'s" if len(prepared.written) == 1 else "'"
    compared = f", {digits(most / weight)} times the {prepared.noun}{whose} weight" if weight > 0 else ""
    where = f"around {prepared.regions[region]} at frame {m.frames[frame]:g}"
    text = f"The largest force of direction is {digits(most, 3)} N{compared}, {where}."
    yield Sentence("note", text, float(m.frames[frame]), region)


def _set(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    """How much of the shell has set, where its material can."""
    if "yielded" not in m.arrays:
        return
    yielded = np.asarray(m.arrays["yielded"], dtype=np.float64)
    what = "faces" if prepared.shot.physics.bending == "plate" else "hinges"
    if not yielded[-1] > 0.0:
        yield Sentence("note", f"No {what[:-1]} was bent beyond its yield curvature: nothing has set.")
        return
    by = int(np.argmax(yielded == yielded[-1]))
    yield Sentence("note", f"{share(float(yielded[-1]))} of the {what} have set by frame {m.frames[by]:g}.",
                   float(m.frames[by]))  # fmt: skip


def _energies(m: Measured) -> Iterator[Sentence]:
    if len(m.frames) < 2 or "kinetic" not in m.arrays:
        return
    parts = []
    for name in (one for one in ("kinetic", "stretching", "bending", "elastic") if one in m.arrays):
        peak = int(np.argmax(m.arrays[name]))
        parts.append(f"{name} {digits(float(m.arrays[name][peak]))} J at frame {m.frames[peak]:g}")
    most = int(np.argmax(m.arrays["kinetic"]))
    yield Sentence("note", f"The energies peak at: {', '.join(parts)}.", float(m.frames[most]))


def _preroll(prepared: Prepared) -> Iterator[Sentence]:
    if prepared.preroll:
        before, first = many(prepared.preroll, "frame"), prepared.numbers[prepared.preroll]
        yield Sentence(
            "note", f"{before} of preroll led from the rest shape to frame {first:g}; simulated, not written."
        )
