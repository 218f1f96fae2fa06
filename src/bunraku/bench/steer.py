"""What steering costs: frames a second of a coarse body with a fine surface, a step by size, the way between keys.

Runs with one thread and with all of them take turns frame by frame, so that a busy neighbour disturbs both alike. A
neighbour who takes the processor away stretches every clock, so the processor's own time is told beside it: what a
frame takes when nobody does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bunraku.collision import Plane
from bunraku.contracts import Array, Points, Solution, State
from bunraku.direction import Contact, Job
from bunraku.direction.job import Reporter
from bunraku.direction.steer import KeyShape, steering_job
from bunraku.dynamics import PARTS, Frozen, ImplicitEuler
from bunraku.geometry import Cage, TetMesh, enclose
from bunraku.motion import Path
from bunraku.numerics import default_threads, use_threads

from .solids import MATERIAL, RATE, WIDTH, bar, left_end, step_lines, tube, twisted, way_lines
from .spent import Run, Spent
from .tracks import machine

FRAMES, WARM_UP = 40, 4
CELLS = (21, 2, 2)
"""of the bar that is run: 504 tetrahedra"""
AROUND = (100, 100)
"""quads of the tube that goes along: 20,000 triangles"""
SIZES: tuple[tuple[int, int, int], ...] = ((35, 5, 5), (52, 8, 8), (83, 13, 12))
"""cells of the bars of which one step is timed: 5k, 20k and 78k tetrahedra"""
BESIDE = ("report", "surface", "other")
"""parts of a frame besides the step's own: the report, the fine surface, and what nothing counts"""


def _keys(body: TetMesh) -> list[KeyShape]:
    """Twisted to and fro, half a second apart."""
    return [KeyShape(0.5 * (k + 1), twisted(body.rest, 1.5 * (-1) ** k)) for k in range(4)]


def _path(hold: Any) -> Path:
    times = np.linspace(0.0, 2.0, 9)
    return Path(times, np.stack([0.5 * times, 0.3 * np.sin(3.0 * times), 0.0 * times], axis=1), hold=hold)


SCENES: Mapping[str, Callable[[TetMesh], dict[str, Any]]] = {
    "swinging": lambda body: {"pins": left_end(body)},
    "corotational": lambda body: {"pins": left_end(body), "material": "marshmallow"},
    "keys": lambda body: {"pins": left_end(body), "keys": _keys(body)},
    "path": lambda body: {"path": _path("constraint")},
    "compensated": lambda body: {"path": _path("compensation")},
    "ground": lambda body: {
        "contact": Contact(obstacles=[Plane(np.array([0.0, -WIDTH, 0.0]), np.array([0.0, 1.0, 0.0]))]),
        "velocity": (0.5, 0.0, 0.0),
    },
}
"""what is asked of the bar"""


@dataclass
class _Timed:
    """A reporter that counts what it takes."""

    reporter: Reporter
    seconds: float = 0.0

    def report(self, state: State, steps: list[Solution[State]]) -> Mapping[str, Array]:
        begin = time.perf_counter()
        out = self.reporter.report(state, steps)
        self.seconds += time.perf_counter() - begin
        return out


@dataclass
class Shot:
    """A job with a fine surface, frame by frame."""

    job: Job[TetMesh]
    cage: Cage
    threads: int
    frames: list[float] = field(default_factory=list)
    """[s] each, report and surface included"""
    processor: list[float] = field(default_factory=list)
    """[s] of the processor's own time"""
    surface: float = 0.0
    """[s] the fine surface took, all frames together"""

    def begin(self, warm_up: int) -> None:
        """Make frames before the clock runs."""
        use_threads(self.threads)
        self._report = _Timed(self.job.reporter)
        self._run = Run(replace(self.job, reporter=self._report), warm_up)
        self._report.seconds = 0.0

    def advance(self) -> None:
        """Make the next frame and its surface."""
        use_threads(self.threads)
        begin, used = time.perf_counter(), time.process_time()
        points = self._run.advance().points
        made = time.perf_counter()
        self.cage.points(points)
        end = time.perf_counter()
        self.surface += end - made
        self.frames.append(end - begin)
        self.processor.append(time.process_time() - used)

    def spent(self) -> Spent:
        """So far."""
        return self._run.spent()

    def share(self, part: str) -> float:
        """Of the frames' time, a part of the step, of contact (all of it together), or one of `BESIDE`."""
        parts, total = self._run.spent().parts, sum(self.frames)
        known = {name: parts.get(name, 0.0) for name in PARTS}
        known |= {"report": self._report.seconds, "surface": self.surface}
        known["contact"] = sum(parts.values()) - parts["total"] - sum(known[name] for name in PARTS)
        # What contact takes is spent inside the other parts.
        return (known[part] if part != "other" else total - sum(known.values()) + known["contact"]) / total


def measure(
    scene: str, threads: Sequence[int], cells: tuple[int, int, int] = CELLS, around: tuple[int, int] = AROUND,
    frames: int = FRAMES, warm_up: int = WARM_UP,
) -> list[Shot]:  # fmt: skip
    """The same shot with these numbers of threads, in turn."""
    body = bar(cells)
    cage = enclose(tube(*around), body)
    shots = []
    for count in threads:
        knobs = {"material": MATERIAL, "duration": (warm_up + frames) / RATE, "rate": RATE, **SCENES[scene](body)}
        shots.append(Shot(steering_job(body, threads=count, **_in_time(knobs)), cage, count))
        shots[-1].begin(warm_up)
    for _ in range(frames):
        for shot in shots:
            shot.advance()
    return shots


def _in_time(knobs: dict[str, Any]) -> dict[str, Any]:
    """Without keys that lie beyond the end of the shot."""
    kept = [key for key in knobs.get("keys", ()) if key.time <= knobs["duration"]]
    return {**knobs, "keys": kept}


def frame_lines(scenes: Sequence[str], threads: Sequence[int], **size: Any) -> Iterator[str]:
    """Frames a second, by the median frame and of all frames together, and where the time goes."""
    shares: list[str] = []
    yield (
        f"{'scene':<14}{'threads':>8}{'frames/s':>10}{'of all':>8}{'ms/frame':>10}{'slowest':>9}{'processor ms':>14}"
        f"{'its/frame':>11}{'factors':>9}"
    )
    for scene in scenes:
        for shot in measure(scene, threads, **size):
            spent, frame = shot.spent(), float(np.median(shot.frames))
            yield (
                f"{scene:<14}{shot.threads:>8}{1.0 / frame:>10.0f}{len(shot.frames) / sum(shot.frames):>8.0f}"
                f"{1e3 * frame:>10.2f}{1e3 * max(shot.frames):>9.1f}"
                f"{1e3 * np.median(shot.processor):>14.2f}{spent.per_frame[0]:>11.1f}{spent.per_frame[1]:>9.1f}"
            )
            told = "".join(f"{100 * shot.share(part):>9.0f}%" for part in (*PARTS, "contact", *BESIDE))
            shares.append(f"{scene:<14}{shot.threads:>8}{told}")
    yield ""
    yield "where a frame's time goes; contact is part of what stands before it"
    yield f"{'scene':<14}{'threads':>8}" + "".join(f"{part:>10}" for part in (*PARTS, "contact", *BESIDE))
    yield from shares


def kept_lines(sizes: Sequence[tuple[int, int, int]], threads: int | None, frames: int = FRAMES) -> Iterator[str]:
    """Whether the factor of one step would do for the next, in a plain Newton loop."""
    yield f"{'tets':>8}{'scene':>14}{'factor':>12}{'ms/step':>9}{'processor ms':>14}{'its':>6}{'factors':>9}"
    for cells in sizes:
        body = bar(cells)
        for scene in ("path", "swinging"):
            knobs = {"material": "marshmallow", "rate": RATE, **SCENES[scene](body)}
            job = steering_job(body, threads=threads, **knobs)
            small = 1e-6 * body.size
            loops = [Loop(job, small, keep) for keep in (False, True)]
            for _ in range(frames):
                for loop in loops:
                    loop.step()
            for loop in loops:
                wall, processor = 1e3 * np.median(loop.seconds, axis=0)
                yield (
                    f"{len(body.tets):>8}{scene:>14}{'kept' if loop.keep else 'each step':>12}{wall:>9.2f}"
                    f"{processor:>14.2f}{loop.iterations / frames:>6.1f}{loop.factors / frames:>9.2f}"
                )


class Loop:
    """Plain Newton steps of a job with whole steps, the factor made where steps do not shrink to a tenth."""

    def __init__(self, job: Job[TetMesh], small: float, keep: bool) -> None:
        """Converged at steps below `small` [m]; `keep` begins with the factor of the time step before."""
        assert isinstance(job.stepper, ImplicitEuler)
        self._stepper, self.state, self._small = job.stepper.with_settings(), job.start, small
        self.keep, self.iterations, self.factors = keep, 0, 0
        self.seconds: list[tuple[float, float]] = []

    def step(self) -> None:
        """One time step."""
        begin, used, dt = time.perf_counter(), time.process_time(), 1.0 / RATE
        problem, spent = self._stepper.freeze(self.state, dt), dict.fromkeys(PARTS, 0.0)
        x, forces, moved = problem.target, np.zeros(len(problem.stiffness)), np.inf
        if not self.keep or not self.factors:
            self._factor(problem, x, spent)
        while moved > self._small:
            step, change = self._stepper.direct(problem, x, problem.gradient(x, forces), True, spent)
            before, moved = moved, float(np.abs(step).max())
            if self._small < moved and 0.1 * before < moved < np.inf and np.isfinite(before):
                self._factor(problem, x, spent)
                step, change = self._stepper.direct(problem, x, problem.gradient(x, forces), True, spent)
                moved = float(np.abs(step).max())
            x, forces = x + step, forces + change
            self.iterations += 1
        q = x.reshape(-1)
        self.state = State(self.state.time + dt, q, (q - self.state.q) / dt, self.state.memory)
        self.seconds.append((time.perf_counter() - begin, time.process_time() - used))

    def _factor(self, problem: Frozen, x: Points, spent: dict[str, float]) -> None:
        self._stepper.factorise(problem, x, spent)
        self.factors += 1


def run(
    scenes: Sequence[str] = tuple(SCENES), sizes: Sequence[tuple[int, int, int]] = SIZES, *,
    threads: int | None = None, **size: Any,
) -> Iterator[str]:  # fmt: skip
    """Measure and print as it goes."""
    yield machine(threads)
    counts = sorted({1, default_threads()}) if threads is None else [threads]
    small = size.get("cells", CELLS)
    around = size.get("around", AROUND)
    yield f"{_tets(small)} tetrahedra that carry {2 * around[0] * around[1]} triangles, one step a frame; medians"
    yield from frame_lines(scenes, counts, **size)
    yield ""
    yield "one step of one Newton iteration, medians in milliseconds; *: of the processor's own time"
    yield from step_lines(sizes, threads)
    yield ""
    yield "the way between two key shapes"
    yield from way_lines((small, *sizes[:1]), threads)
    yield ""
    yield "the factor of one step for the next"
    yield from kept_lines((small, *sizes[:1]), threads, size.get("frames", FRAMES))


def _tets(cells: tuple[int, int, int]) -> int:
    return 6 * cells[0] * cells[1] * cells[2]
