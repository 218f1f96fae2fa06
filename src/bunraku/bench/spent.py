"""What a run spends: its frames, iterations and factorisations, and where its steps' time goes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bunraku.contracts import Solution, State, Stepper, Vector
from bunraku.direction import Frame, Job
from bunraku.dynamics import PARTS, ImplicitEuler


@dataclass(frozen=True, eq=False)
class Spent:
    """What one run has spent."""

    seconds: Vector
    """(t,) of each frame, report included"""
    iterations: int
    """of all frames, as `factorisations`"""
    factorisations: int
    parts: Mapping[str, float]
    """[s] of all steps: those of a step's statistics, contact's among them, and "total" """

    @property
    def frame(self) -> float:
        """Median seconds a frame."""
        return float(np.median(self.seconds))

    @property
    def per_frame(self) -> tuple[float, float]:
        """Iterations and factorisations a frame."""
        return self.iterations / len(self.seconds), self.factorisations / len(self.seconds)

    @property
    def per_iteration(self) -> float:
        """[s]"""
        return float(self.seconds.sum()) / max(self.iterations, 1)

    def share(self, part: str, parts: Sequence[str] = PARTS) -> float:
        """Of the steps' time; "other" is what none of the `parts` counts."""
        total = self.parts["total"]
        if part == "other":
            return (total - sum(self.parts.get(one, 0.0) for one in parts)) / total
        return self.parts.get(part, 0.0) / total


@dataclass
class _Counted:
    """A stepper that keeps what its steps have spent."""

    stepper: Stepper
    iterations: int = 0
    factorisations: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys((*PARTS, "total"), 0.0))

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        solution = self.stepper.step(state, dt, last=last)
        self.iterations += solution.stats["iterations"]
        self.factorisations += solution.stats["factorisations"]
        for part, spent in {**solution.stats["seconds"], **solution.stats["contact_seconds"]}.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + spent
        return solution


class Run:
    """A job, a frame at a time; frames to warm up are not counted."""

    def __init__(self, job: Job[Any], warm_up: int) -> None:
        self._seconds = []
        frames = job.frames()
        self.last = next(frames)
        """the frame it has come to"""
        for _ in range(warm_up):
            self.last = next(frames)
        self._count = _Counted(job.stepper)
        self._job = replace(job, stepper=self._count)

    @property
    def stepper(self) -> ImplicitEuler:
        """Its own, where it is one that nothing is wrapped around."""
        assert isinstance(self._count.stepper, ImplicitEuler)
        return self._count.stepper

    def advance(self, after: Frame | None = None) -> Frame:
        """The next frame, or the one after a frame of another run."""
        begin = time.perf_counter()
        self.last = next(self._job.frames(self.last if after is None else after))
        self._seconds.append(time.perf_counter() - begin)
        return self.last

    def spent(self) -> Spent:
        """So far."""
        count = self._count
        return Spent(np.array(self._seconds), count.iterations, count.factorisations, dict(count.seconds))
