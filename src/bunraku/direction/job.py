"""A job: a body, its times, and the lazy march through its frames. Knows no files and no screens."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from bunraku.contracts import Array, Outcome, PhysicsStopped, Points, Solution, State, Stepper, Vector
from bunraku.geometry import TriMesh
from bunraku.motion import Animation

_log = logging.getLogger(__name__)
MOST_HALVINGS = 4
"""how often a step that cannot be taken is split in two before the run stops"""
SHORTER_MAY_HELP = (
    Outcome.LINE_SEARCH_FAILED, Outcome.NOT_CONVERGED, Outcome.NOT_FINITE, Outcome.FACTORISATION_FAILED
)  # fmt: skip


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
class Job:
    """Everything needed to make the frames of one body."""

    mesh: TriMesh
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
        """One step to a time [s]; where none can be taken, two of half the length, and so on."""
        # To the picosecond: equal intervals get equal steps, whatever the last bit of the times.
        solution = self.stepper.step(state, round(until - state.time, 12))
        if halvings == MOST_HALVINGS and solution.outcome is Outcome.NOT_CONVERGED:
            solution = self.stepper.step(state, round(until - state.time, 12), last=True)
        if solution.outcome.usable:
            after = solution.value
            return [replace(solution, value=State(until, after.q, after.velocity, after.memory))]
        if halvings < MOST_HALVINGS and solution.outcome in SHORTER_MAY_HELP:
            middle = state.time + 0.5 * (until - state.time)
            _log.debug("frame index %d: %s; trying steps half as long", index, solution.outcome.value)
            first = self._steps(state, middle, index, halvings + 1)
            return first + self._steps(first[-1].value, until, index, halvings + 1)
        evidence = solution.evidence
        raise PhysicsStopped(
            solution.outcome.value, index=index, time=until,
            vertex=evidence.get("vertex"), position=evidence.get("position"),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Take:
    """A finished job in memory."""

    animation: Animation
    """one frame per time; the first is the start"""
    report: Mapping[str, Array]
    """per-frame arrays (t, …)"""
    velocities: Array
    """(t, n, 3) [m/s]"""
    facts: Mapping[str, Any] = field(default_factory=dict)


def collect(job: Job) -> Take:
    """Run a job to its end in memory."""
    frames = list(job.frames())
    points = np.stack([frame.points for frame in frames])
    report = {key: np.stack([np.asarray(frame.report[key]) for frame in frames]) for key in frames[0].report}
    velocities = np.stack([frame.velocity for frame in frames])
    return Take(Animation(job.mesh, job.times, points), report, velocities, job.facts)
