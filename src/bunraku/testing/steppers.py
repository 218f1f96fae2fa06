"""The check every `Stepper` passes: the order it declares is the order it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from bunraku.contracts import Solution, State, Vector

from .differences import CheckFailed, falls_as


class OrderedStepper(Protocol):
    """A stepper that says of which order it is."""

    @property
    def order(self) -> int: ...

    def step(self, state: State, dt: float) -> Solution[State]: ...


def check_stepper(
    stepper: OrderedStepper, start: State, duration: float, *, counts: Sequence[int] = (32, 64, 128),
    exact: Callable[[float], Vector] | None = None, floor: float = 0.0,
) -> float:  # fmt: skip
    """The measured order in time of q; raises `CheckFailed` where it is not the declared one.

    Runs `duration` [s] with each number of steps in `counts`. Without `exact` (time → (d,) q), the doubled runs are
    compared with each other: their differences fall with the same order. `floor` [m] is the error allowed to stay
    (solver tolerance).
    """
    ends = []
    for count in counts:
        state = start
        for _ in range(count):
            solution = stepper.step(state, duration / count)
            if not solution.outcome.usable:
                raise CheckFailed(f"a step of {duration / count:g} s: {solution.outcome.value}")
            state = solution.value
        if abs(state.time - start.time - duration) > 1e-9 * duration:
            raise CheckFailed(f"{count} steps end at {state.time}, not at {start.time + duration}")
        ends.append(state.q)
    if exact is not None:
        errors = [float(np.linalg.norm(q - exact(start.time + duration))) for q in ends]
    else:
        errors = [float(np.linalg.norm(a - b)) for a, b in pairwise(ends)]
    steps = [duration / count for count in counts[: len(errors)]]
    if not falls_as(stepper.order, steps, errors, [floor] * len(errors)) or errors[0] <= floor:
        raise CheckFailed(f"declared order {stepper.order}, errors {errors} at steps {steps}")
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
