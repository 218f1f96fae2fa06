"""What planning costs: the paper's nine scenes, set-up and search beside its own columns, edits, playing, BFGS.

Scenes are the demos, read from the shots that `bunraku demo` writes; filling bodies with tetrahedra is no part of the
figures, as it is none of the paper's. Kernels are compiled before the clock runs. On one thread it is the processor's
clock, so that what else a machine does has little part in them; for more threads it is the one on the wall.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bunraku.contracts import Solution, Vector
from bunraku.direction.plan import Chain, ChainDraft, Draft, Key, Motion, Phase, plan
from bunraku.direction.plan.nodes import Ends
from bunraku.direction.plan.problem import linearised
from bunraku.direction.plan.solving import lay_out, straight
from bunraku.geometry import tet_bar
from bunraku.numerics import bfgs, gauss_newton, one_blas_thread
from bunraku.shots import write_demo
from bunraku.shots.prepare_plan import prepare_plan
from bunraku.shots.read_plan import ReadPlan

from .tracks import machine

ROUNDS = 3
EDITS = 12
_PLAYED = 48  # frames
_EDITED = "x_walk"
_ALTERNATIVES = ("stretch", "twist", "tilt", "statue")
_NUDGE = 0.01  # of the body's size, by which an edit moves a key


@dataclass(frozen=True)
class Printed:
    """A row of the paper's table."""

    tets: int
    splines: int
    modes: int
    dimension: int
    """of each spline's problem"""
    set_up: float
    """[s]"""
    search: float
    """[s]"""


PAPER: Mapping[str, Printed] = {
    "stretch": Printed(2015, 1, 30, 30, 2.4, 0.3),
    "twist": Printed(2015, 1, 30, 30, 2.4, 1.8),
    "tilt": Printed(2036, 1, 30, 30, 2.6, 1.7),
    "statue": Printed(77642, 1, 10, 30, 8.8, 45.0),
    "x_walk": Printed(3002, 5, 30, 60, 4.4, 26.0),
    "x_handspring": Printed(3002, 3, 30, 60, 4.4, 4.9),
    "x_jump": Printed(3002, 3, 30, 60, 4.4, 10.0),
    "cactus_up": Printed(8370, 3, 30, 60, 9.7, 16.8),
    "cactus_forward": Printed(8370, 7, 30, 60, 10.2, 48.6),
}
"""[Schulz 2014, table 1]"""
ITERATIONS, BY_BFGS = (5, 30), 11.4
"""of the paper's searches, and seconds of its statue by BFGS [Schulz 2014, §8]"""


@dataclass(frozen=True, eq=False)
class Row:
    """A scene as measured."""

    name: str
    plan: ReadPlan
    set_up: float
    """[s] the modes, the warp and what is handed on, nothing kept from before; medians"""
    again: float
    """[s] the same with modes kept from the run before"""
    search: float
    """[s] all splines"""

    @property
    def reports(self) -> list[Mapping[str, Any]]:
        """Of the splines."""
        return [one.report for one in self.plan.motions]

    @property
    def missed(self) -> float:
        """The largest distance from a key's place, of the body's size."""
        places = [one.missed for report in self.reports for one in report["keys"] if not one.velocity]
        return max(places, default=0.0) / self.plan.motion.mesh.size


def measure(name: str, rounds: int = ROUNDS, threads: int | None = None) -> Row:
    """Plan a demo several times, with nothing kept, and then with its modes kept."""
    with TemporaryDirectory() as folder:
        shot = write_demo(name, Path(folder))
        cold = [prepare_plan(shot, keeping=False, threads=threads).plans[0] for _ in range(rounds)]
        kept = [prepare_plan(shot, threads=threads).plans[0] for _ in range(rounds + 1)][1:]
    clock = "processor" if threads == 1 else "seconds"
    spent = [[one.motion.report[clock] for one in runs] for runs in (cold, kept)]
    first, again = (statistics.median(one["set up"] for one in runs) for runs in spent)
    search = statistics.median(one["solve"] for runs in spent for one in runs)
    return Row(name, cold[-1], first, again, search)


def row_line(row: Row) -> str:
    """A row of the table, the paper's columns beside it."""
    printed = PAPER.get(row.name)
    dimension = max(int(one["dimension"]) for one in row.reports)
    iterations = "+".join(str(one["iterations"]) for one in row.reports)
    out = (
        f"{row.name:<15}{len(row.plan.motion.mesh.tets):>7}{len(row.reports):>5}{dimension:>5}{row.set_up:>9.3f}"
        f"{row.again:>9.3f}{row.search:>9.3f}  {iterations:<22}{row.missed:>9.1e}"
    )
    if printed is None:
        return out
    faster, sooner = printed.search / row.search, printed.set_up / row.set_up
    return f"{out}{printed.tets:>8}{printed.set_up:>7.1f}{printed.search:>7.1f}{sooner:>8.1f}{faster:>8.1f}"


HEAD = (
    f"{'scene':<15}{'tets':>7}{'spl.':>5}{'dim.':>5}{'set-up':>9}{'kept':>9}{'search':>9}  {'iterations':<22}"
    f"{'missed':>9}{'paper':>8}{'pre':>7}{'opt':>7}{'pre×':>8}{'opt×':>8}"
)


def draft_of(one: ReadPlan, threads: int | None = None) -> Draft | ChainDraft:
    """A plan, to be edited; its keys, what it stands on and the ground as they are."""
    motion = one.motion
    if isinstance(motion, Chain):
        given = {**one.given, "threads": threads}
        return ChainDraft(motion.mesh, motion.phases, before=motion, kept=len(motion.phases), **given)
    stock = motion.body.stock
    return Draft(
        motion.mesh, motion.keys, fixed=motion.body.fixed, duration=motion.duration, modes=one.table.modes,
        material=list(stock.materials) if stock.of_tet is not None else stock.materials[0], of_tet=stock.of_tet,
        damping=one.table.damping, ground=one.given["ground"], threads=threads,
    )  # fmt: skip


def now(threads: int | None) -> float:
    """[s] of the clock that is right for so many threads."""
    return time.process_time() if threads == 1 else time.perf_counter()


@dataclass(frozen=True)
class Edit:
    """A key that was changed."""

    seconds: float
    """until its motion was there again"""
    iterations: int
    after: float
    """[s] for what goes on after it, in a chain"""


def edits(draft: Draft | ChainDraft, count: int = EDITS, threads: int | None = None) -> list[Edit]:
    """What each edit of a last key takes, which goes to and fro by some hundredths of the size; of a chain that of each
    phase in turn."""
    places, size, out = _last_keys(draft), draft.body.size, list[Edit]()
    for k in range(count):
        change, key = places[k % len(places)]
        moved = _nudged(key, _NUDGE * size * (1 + k % 3) * (-1) ** k)
        begin = now(threads)
        motion = change(moved)
        there = now(threads)
        _ = draft.chain if isinstance(draft, ChainDraft) else draft.motion
        out.append(Edit(there - begin, int(motion.report["iterations"]), now(threads) - there))
    return out


def _last_keys(draft: Draft | ChainDraft) -> list[tuple[Callable[[Key], Motion], Key]]:
    """How the last keys are changed, in each phase that has any, and what they are."""
    if isinstance(draft, Draft):
        return [(partial(draft.change, len(draft.keys) - 1), draft.keys[-1])]
    standing = [(p, one.all_keys) for p, one in enumerate(draft.phases) if isinstance(one, Phase)]
    return [(partial(draft.change, p, len(keys) - 1), keys[-1]) for p, keys in standing if keys]


def _nudged(key: Key, by: float) -> Key:
    """The key moved along x, or where it only has a velocity that changed."""
    place = None if key.positions is None else key.positions + [by, 0.0, 0.0]
    speed = key.velocities if place is not None or key.velocities is None else key.velocities + [by, 0.0, 0.0]
    return Key(key.time, key.vertices, place, speed, key.weight, key.turn)


def played(one: ReadPlan, count: int = _PLAYED, threads: int | None = None) -> float:
    """Frames a second of the fine surface, each asked for by its time."""
    times = np.linspace(0.0, one.motion.duration, count)
    one.cage.points(one.motion.points(0.0))
    begin = now(threads)
    for moment in times:
        one.cage.points(one.motion.points(float(moment)))
    return count / (now(threads) - begin)


def searches(motion: Motion, threads: int | None = None) -> Iterator[tuple[str, Solution[Vector], float]]:
    """Gauss–Newton and BFGS from the linear solution to the same minimum: their solutions and seconds."""
    still = (np.zeros(motion.body.modes.count), np.zeros(motion.body.modes.count))
    ends = Ends(circular=True) if motion.spline.circular else Ends(still, still)
    problem = lay_out(motion.body, motion.keys, motion.duration, ends)
    squares, start = problem.squares, straight(linearised(problem)).value
    begin = now(threads)
    with one_blas_thread():
        newton = gauss_newton(squares, start)
    yield "Gauss-Newton", newton, now(threads) - begin
    begin = now(threads)
    with one_blas_thread():
        rest = squares.at(np.zeros(len(start)))
        found = bfgs(squares, start, squares.hessian + (rest.jacobian.T * rest.weights) @ rest.jacobian)
    yield "BFGS", found, now(threads) - begin


def _warm_up(threads: int | None) -> None:
    """Compile what planning needs."""
    body = tet_bar((2, 4, 2), (0.2, 0.5, 0.2))
    low, high = (np.flatnonzero(np.abs(body.rest[:, 1] - y) < 1e-9) for y in (0.0, 0.5))
    key = Key(0.5, high, body.rest[high] + [0.1, 0.0, 0.0], np.zeros((len(high), 3)))
    plan(body, key, fixed=low, duration=1.0, modes=8, threads=threads).points(0.3)


def run(
    scenes: Sequence[str] = tuple(PAPER), rounds: int = ROUNDS, count: int = EDITS, *, threads: int | None = None
) -> Iterator[str]:
    """Measure and print as it goes; on one thread unless told otherwise."""
    threads = threads or 1
    yield machine(threads)
    _warm_up(threads)
    clock = "processor's seconds" if threads == 1 else "seconds"
    yield f"{clock}, medians; the paper's tets, Pre and Opt, and how many times faster than these"
    yield HEAD
    rows: dict[str, Row] = {}
    for name in scenes:
        rows[name] = measure(name, rounds, threads)
        yield row_line(rows[name])
    yield ""
    yield "the fine surface played, frame by frame"
    for name, row in rows.items():
        triangles = len(row.plan.cage.surface.faces)
        yield f"{name:<15}{triangles:>9} triangles{played(row.plan, threads=threads):>9.0f} frames a second"
    if _EDITED in rows:
        yield ""
        yield from edit_lines(rows[_EDITED].plan, count, threads)
    yield ""
    yield f"the paper: {ITERATIONS[0]} to {ITERATIONS[1]} iterations of Gauss-Newton; its statue by BFGS in {BY_BFGS} s"
    yield "two searches from the linear solution: iterations, evaluations, seconds, what is minimised"
    for name in (one for one in _ALTERNATIVES if one in rows):
        for how, found, seconds in searches(rows[name].plan.motions[0], threads):
            stats = found.stats
            yield (
                f"{name:<15}{how:<14}{stats['iterations']:>6}{stats['evaluations']:>6}{seconds:>9.3f}"
                f"{stats['objective']:>12.5g}  {found.outcome.value}"
            )


def edit_lines(one: ReadPlan, count: int, threads: int | None) -> Iterator[str]:
    """What an edit of one key costs."""
    found = edits(draft_of(one, threads), count, threads)
    spent = [1e3 * edit.seconds for edit in found]
    steps = statistics.median(edit.iterations for edit in found)
    what = "its steps" if isinstance(one.motion, Chain) else "its keys"
    yield (
        f"one key of {one.name} edited {count} times, of {what} in turn: {statistics.median(spent):.0f} ms, "
        f"{max(spent):.0f} at most; {steps:.0f} iterations"
    )
    if isinstance(one.motion, Chain):
        yield f"all that goes on after it: {1e3 * max(edit.after for edit in found):.0f} ms at most"
