"""A take's numbers in plain sentences: what was met, what was missed and where, by how much."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.contracts import Array, Vector

from .prepare import Prepared
from .report import Measured, Sentence


def sentences(prepared: Prepared, m: Measured, story: str) -> tuple[Sentence, ...]:
    """Everything worth knowing, the most important first."""
    told = [_stopped(prepared, m, story)] if story else []
    if len(m.frames):
        told += [*_direction(m), *_loosened(m), *_pins(prepared), *_newton(prepared, m), *_force(prepared, m)]
        told += _energies(m)
    return (*told, *_preroll(prepared))


def _stopped(prepared: Prepared, m: Measured, story: str) -> Sentence:
    whole = len(prepared.numbers) - prepared.preroll
    kept = (
        f"The {_count(len(m.frames), 'frame')} before it are kept" if len(m.frames) > 1 else "Nothing after it exists"
    )
    return Sentence("missed", f"Stopped by physics at {story}. {kept}, {len(m.frames)} of {whole} in all.")


def _direction(m: Measured) -> Iterator[Sentence]:
    if not m.regions:
        yield Sentence("note", "No direction was asked for: the shell moved by physics alone.")
        return
    directed = int(m.directed.sum())
    if not directed:
        yield Sentence("note", "On no frame had the guide to be met exactly.")
    elif not m.missed.any():
        which = f"all {directed} frames" if directed == len(m.frames) else f"all {directed} frames that ask for it"
        yield Sentence("met", f"Direction met on {which}: the largest distance between a region's average and the "
                              f"guide's is {_largest(m, m.directed)}.")  # fmt: skip
    else:
        frame, region = _peak(np.where(m.missed[:, None], m.arrays["residual"], -1.0))
        yield Sentence(
            "missed",
            f"Direction missed on {int(m.missed.sum())} of {_count(directed, 'frame')} ({ranges(m.frames[m.missed])}): "
            f"the largest distance is {_largest(m, m.missed)}, at frame {m.frames[frame]:g} around guide vertex {region}.",
        )  # fmt: skip
    if m.exempt:
        yield Sentence("note", f"The shot starts in the rest shape, as asked: there the guide is up to "
                               f"{length(m.residual[0])} away.")  # fmt: skip


def _largest(m: Measured, rows: Array) -> str:
    in_memory = float(m.residual[rows].max())
    text = f"{length(in_memory)} ({share(in_memory / m.size)} of the size) in memory"
    if m.residual_in_file is not None:
        text += f", {length(float(m.residual_in_file[rows].max()))} in the file"
    return text


def _loosened(m: Measured) -> Iterator[Sentence]:
    loose = m.strength < 1.0
    if m.regions and loose.any():
        yield Sentence("note", f"The guide was loosened (strength below 1) on frames {ranges(m.frames[loose])}: there "
                               f"the shell was up to {length(float(m.residual[loose].max()))} away, as asked.")  # fmt: skip


def _pins(prepared: Prepared) -> Iterator[Sentence]:
    held = sorted({int(vertex) for pin in prepared.pins for vertex in np.asarray(pin.vertices)})
    if held:
        one = len(held) == 1
        yield Sentence("note", f"{_count(len(held), 'vertex', 'vertices')} {'is' if one else 'are'} pinned.")


def _newton(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    physics, made = prepared.shot.physics, m.arrays["iterations"]
    if len(m.frames) < 2:
        return
    worst = int(np.argmax(made))
    if physics.iterations != "converge":
        yield Sentence("note", f"Each step took {_count(int(physics.iterations), 'Newton iteration')}, as asked, without "
                               f"looking whether that is enough: the last one moved the shell by up to "
                               f"{length(float(m.arrays['last_step'].max()))}.")  # fmt: skip
        return
    limited = m.arrays["last_step"] > physics.tolerance * m.size
    average = f"{made[1:].mean():.1f} Newton iterations a frame on average, at most {made[worst]} at frame "
    if limited.any():
        yield Sentence("missed", f"On {_count(int(limited.sum()), 'frame')} ({ranges(m.frames[limited])}) a step used up "
                                 f"its Newton iterations before reaching the tolerance: its last correction was "
                                 f"{length(float(m.arrays['last_step'].max()))}. The direction holds, the wrinkles there "
                                 f"are less exact; more substeps help.")  # fmt: skip
    yield Sentence("note" if limited.any() else "met",
                   ("" if limited.any() else "Every step converged: ") + average + f"{m.frames[worst]:g}.")  # fmt: skip


def _force(prepared: Prepared, m: Measured) -> Iterator[Sentence]:
    if not m.regions or len(m.frames) < 2:
        return
    frame, region = _peak(np.linalg.norm(m.arrays["force"], axis=2))
    most = float(m.force[frame])
    weight = float(m.facts["mass"]) * float(np.linalg.norm(prepared.shot.physics.gravity))
    compared = f", {most / weight:.2g} times the shell's weight" if weight > 0 else ""
    yield Sentence("note", f"The largest force of direction is {most:.3g} N{compared}, around guide vertex {region} at "
                           f"frame {m.frames[frame]:g}.")  # fmt: skip


def _energies(m: Measured) -> Iterator[Sentence]:
    if len(m.frames) < 2:
        return
    parts = []
    for name in ("kinetic", "stretching", "bending"):
        peak = int(np.argmax(m.arrays[name]))
        parts.append(f"{name} {m.arrays[name][peak]:.2g} J at frame {m.frames[peak]:g}")
    yield Sentence("note", f"The energies peak at: {', '.join(parts)}.")


def _preroll(prepared: Prepared) -> Iterator[Sentence]:
    if prepared.preroll:
        yield Sentence("note", f"{_count(prepared.preroll, 'frame')} of preroll led from the rest shape to frame "
                               f"{prepared.numbers[prepared.preroll]:g}; simulated, not written.")  # fmt: skip


def _peak(values: Array) -> tuple[int, int]:
    """Frame and region of the largest of values (t, k)."""
    frame, region = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(frame), int(region)


def length(value: float) -> str:
    """'2.1e-08 m'."""
    return f"{value:.2g} m"


def share(value: float) -> str:
    """'4e-15', or '1.2 %' from a thousandth on."""
    return f"{100 * value:.2g} %" if value >= 1e-3 else f"{value:.1g}"


def ranges(frames: Vector, limit: int = 6) -> str:
    """'1, 5–6, 9–12 and 3 more': frame numbers without flooding the page."""
    breaks = np.flatnonzero(np.diff(frames) > 1.5) + 1
    runs = np.split(frames, breaks)
    told = [f"{run[0]:g}" if len(run) == 1 else f"{run[0]:g}–{run[-1]:g}" for run in runs[:limit]]
    more = sum(len(run) for run in runs[limit:])
    return ", ".join(told) + (f" and {more} more" if more else "")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
