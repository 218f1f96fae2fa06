"""A job: a body, its times, and the lazy march through its frames. Knows no files and no screens."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from bunraku.contracts import WHY, Array, Integers, Outcome, PhysicsStopped, Points, Solution, State, Stepper, Vector
from bunraku.geometry import TetMesh, TriMesh, tet_volumes
from bunraku.motion import Animation

if TYPE_CHECKING:  # a job is one of a surface, unless it says otherwise
    import typing_extensions

    Mesh = typing_extensions.TypeVar("Mesh", bound=TriMesh | TetMesh, covariant=True, default=TriMesh)
else:
    Mesh = TypeVar("Mesh")
_log = logging.getLogger(__name__)
MOST_HALVINGS = 4
"""how often a step that cannot be taken is split in two before the run stops"""
SHORTER_MAY_HELP = (
    Outcome.LINE_SEARCH_FAILED, Outcome.NOT_CONVERGED, Outcome.NOT_FINITE, Outcome.FACTORISATION_FAILED
)  # fmt: skip


def volumes_of(points: Points, tets: Integers) -> dict[str, Array]:
    """What a frame reports of tetrahedra (m, 4): their `volume` [m³], and how many are `inverted`, inside out."""
    each = tet_volumes(points, tets)
    return {"volume": np.array(float(each.sum())), "inverted": np.array(int((each <= 0.0).sum()))}


@dataclass(frozen=True, eq=False)
class Frame:
    """One finished frame. `index` and `state` alone carry the job on."""

    index: int
    """0 is the start"""
    state: State
    report: Mapping[str, Array]
    """what was met and what it took; the same keys and shapes on every frame"""

    @property
    def time(self) -> float:
        """[s]"""
        return self.state.time

    @property
    def points(self) -> Points:
        """(n, 3) [m]"""
        return self.state.q.reshape(-1, 3)

    @property
    def velocity(self) -> Points:
        """(n, 3) [m/s]"""
        return self.state.velocity.reshape(-1, 3)


class Reporter(Protocol):
    """Turns a finished step into a frame's report."""

    def report(self, state: State, steps: list[Solution[State]]) -> Mapping[str, Array]:
        """From the state of a frame and the steps that led to it (none for the start)."""
        ...


@dataclass(frozen=True, eq=False)
class Job(Generic[Mesh]):
    """Everything needed to make the frames of one body."""

    mesh: Mesh
    """of the result"""
    times: Vector
    """(t,) of the frames [s]"""
    substeps: int
    start: State
    stepper: Stepper
    reporter: Reporter
    facts: Mapping[str, Any] = field(default_factory=dict)
    """what a report should say once: vertex and region counts, material, …"""

    def frames(self, after: Frame | None = None) -> Iterator[Frame]:
        """The frames after a given one, or all of them; stop at any time and carry on from the last.

        Raises PhysicsStopped, naming time, vertex and reason, when a step cannot be taken.
        """
        if after is None:
            after = Frame(0, self.start, self.reporter.report(self.start, []))
            yield after
        state = after.state
        for index in range(after.index + 1, len(self.times)):
            steps = []
            begin, end = self.times[index - 1], self.times[index]
            for k in range(self.substeps):
                # Each substep ends exactly where the next begins, and the last one on the frame.
                until = end if k + 1 == self.substeps else begin + (end - begin) * (k + 1) / self.substeps
                steps += self._steps(state, until, index)
                state = steps[-1].value
            yield Frame(index, state, self.reporter.report(state, steps))

    def _steps(self, state: State, until: float, index: int, halvings: int = 0) -> list[Solution[State]]:
        """One step to a time [s]; where none can be taken, two of half the length, and so on. One that comes to its
        limit among surfaces is tried once in two halves."""
        # To the picosecond: equal intervals get equal steps, whatever the last bit of the times.
        solution = self.stepper.step(state, round(until - state.time, 12))
        if halvings == MOST_HALVINGS and solution.outcome is Outcome.NOT_CONVERGED:
            solution = self.stepper.step(state, round(until - state.time, 12), last=True)
        if solution.outcome.usable:
            halves = [] if halvings or not _held_up(solution) else self._in_halves(state, until)
            return halves or [_ending(solution, until)]
        if halvings < MOST_HALVINGS and solution.outcome in SHORTER_MAY_HELP:
            middle = state.time + 0.5 * (until - state.time)
            _log.debug("frame index %d: %s; trying steps half as long", index, solution.outcome.value)
            first = self._steps(state, middle, index, halvings + 1)
            return first + self._steps(first[-1].value, until, index, halvings + 1)
        evidence = solution.evidence
        raise PhysicsStopped(
            evidence.get(WHY, solution.outcome.value), index=index, time=until,
            vertex=evidence.get("vertex"), position=evidence.get("position"),
        )  # fmt: skip

    def _in_halves(self, state: State, until: float) -> list[Solution[State]]:
        """Two steps of half the length to a time [s], if both can be taken, and the first one is not held up too: what
        is jammed stays so however short steps are."""
        middle = state.time + 0.5 * (until - state.time)
        first = self.stepper.step(state, round(middle - state.time, 12))
        if not first.outcome.usable or _held_up(first):
            return []
        first = _ending(first, middle)
        second = self.stepper.step(first.value, round(until - middle, 12))
        return [first, _ending(second, until)] if second.outcome.usable else []


def _held_up(solution: Solution[State]) -> bool:
    """Whether a step ended at its limit among surfaces, which may be crushed then; shorter ones seldom do."""
    return solution.outcome is Outcome.ITERATION_LIMIT and bool(solution.stats.get("contact"))


def _ending(solution: Solution[State], time: float) -> Solution[State]:
    """The step to just that time [s]."""
    after = solution.value
    return replace(solution, value=State(time, after.q, after.velocity, after.memory))


@dataclass(frozen=True, eq=False)
class Take(Generic[Mesh]):
    """A finished job in memory."""

    animation: Animation[Mesh]
    """one frame per time; the first is the start"""
    report: Mapping[str, Array]
    """per-frame arrays (t, …)"""
    velocities: Array
    """(t, n, 3) [m/s]"""
    facts: Mapping[str, Any] = field(default_factory=dict)
    surface: Animation | None = None
    """of a body: its surface, or the fine one it carries"""
    frames: Sequence[Frame] = ()
    """what carries the job on from any of them, where it may be edited and taken up again"""


def collect(job: Job[Mesh], frames: Iterable[Frame] | None = None) -> Take[Mesh]:
    """Run a job to its end in memory; or put `frames` together that were made of it."""
    frames = list(job.frames() if frames is None else frames)
    points = np.stack([frame.points for frame in frames])
    report = {key: np.stack([np.asarray(frame.report[key]) for frame in frames]) for key in frames[0].report}
    velocities = np.stack([frame.velocity for frame in frames])
    return Take(Animation(job.mesh, job.times, points), report, velocities, job.facts)
