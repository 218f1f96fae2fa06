"""The march through a job's frames: steps that cannot be taken, or that surfaces hold up, are taken in halves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from bunraku.contracts import Array, Outcome, PhysicsStopped, Solution, State
from bunraku.direction import Job
from bunraku.direction.job import MOST_HALVINGS
from bunraku.testing import sheet

STEP = 1.0 / 48.0
NEAR = {"pairs": 3}


@dataclass
class Clock:
    """A stepper that only counts: what its steps end with depends on when they begin and how long they are."""

    ends: Callable[[float, float], Outcome]
    near: Mapping[str, Any] = field(default_factory=lambda: NEAR)
    asked: list[tuple[float, float]] = field(default_factory=list)

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        begins, long = round(state.time / STEP, 6), round(dt / STEP, 6)
        self.asked.append((begins, long))
        after = State(state.time + dt, state.q + dt, state.velocity, {"steps": np.array(len(self.asked))})
        return Solution(after, self.ends(begins, long), {"contact": self.near})


class Silent:
    def report(self, state: State, steps: list[Solution[State]]) -> Mapping[str, Array]:
        return {
            "steps": np.array(len(steps)),
            "converged": np.array(all(s.outcome is Outcome.CONVERGED for s in steps)),
        }


def job(stepper: Clock) -> Job:
    mesh = sheet(1, 1)
    start = State(0.0, np.zeros(mesh.rest.size), np.zeros(mesh.rest.size))
    return Job(mesh, np.array([0.0, 2.0 * STEP]), 2, start, stepper, Silent())


def test_a_step_that_surfaces_hold_up_is_tried_in_two_halves() -> None:
    """Of two steps the second one: its halves lead to the frame's own time, and the whole one leaves no trace."""
    clock = Clock(lambda begins, long: Outcome.ITERATION_LIMIT if (begins, long) == (1.0, 1.0) else Outcome.CONVERGED)
    _, frame = job(clock).frames()
    assert clock.asked == [(0.0, 1.0), (1.0, 1.0), (1.0, 0.5), (1.5, 0.5)]
    assert frame.time == 2.0 * STEP and frame.state.q == pytest.approx(np.full(12, 2.0 * STEP))
    assert int(frame.report["steps"]) == 3 and bool(frame.report["converged"])


@pytest.mark.parametrize("half", [Outcome.NOT_CONVERGED, Outcome.FACTORISATION_FAILED])
@pytest.mark.parametrize("which", [0.0, 0.5])
def test_it_stands_where_its_halves_cannot_be_taken(which: float, half: Outcome) -> None:
    def ends(begins: float, long: float) -> Outcome:
        if (begins, long) == (0.0, 1.0):
            return Outcome.ITERATION_LIMIT
        return half if (begins, long) == (which, 0.5) else Outcome.CONVERGED

    clock = Clock(ends)
    _, frame = job(clock).frames()
    assert int(frame.report["steps"]) == 2 and not bool(frame.report["converged"])
    assert frame.time == 2.0 * STEP and frame.state.q == pytest.approx(np.full(12, 2.0 * STEP))
    assert clock.asked[-1] == (1.0, 1.0) and all(long >= 0.5 for _, long in clock.asked)


def test_what_is_jammed_is_not_tried_in_more_than_one_half() -> None:
    clock = Clock(lambda begins, long: Outcome.ITERATION_LIMIT)
    _, frame = job(clock).frames()
    assert clock.asked == [(0.0, 1.0), (0.0, 0.5), (1.0, 1.0), (1.0, 0.5)] and int(frame.report["steps"]) == 2


def test_without_surfaces_a_limit_is_what_was_asked_for() -> None:
    clock = Clock(lambda begins, long: Outcome.ITERATION_LIMIT, near={})
    _, frame = job(clock).frames()
    assert clock.asked == [(0.0, 1.0), (1.0, 1.0)] and int(frame.report["steps"]) == 2


def test_steps_that_cannot_be_taken_are_halved_until_they_can() -> None:
    clock = Clock(lambda begins, long: Outcome.CONVERGED if long < 0.3 else Outcome.NOT_CONVERGED)
    _, frame = job(clock).frames()
    assert int(frame.report["steps"]) == 8 and frame.time == 2.0 * STEP
    never = Clock(lambda begins, long: Outcome.NOT_CONVERGED)
    with pytest.raises(PhysicsStopped, match="did not converge") as stopped:
        list(job(never).frames())
    assert stopped.value.index == 1 and min(long for _, long in never.asked) == 2.0**-MOST_HALVINGS
