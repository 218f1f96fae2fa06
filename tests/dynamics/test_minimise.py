"""Newton on linear conditions when the linear solver is only as good as single precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Outcome, Points, Vector
from bunraku.dynamics.minimise import NewtonSettings, Progress, minimise

STIFF = 1e4


@dataclass(frozen=True)
class Held:
    """½ STIFF |x − a|² with every coordinate held at c: nothing is left to minimise."""

    a: Points
    c: Points

    def value(self, x: Points, multipliers: Vector) -> float:
        return float(0.5 * STIFF * np.sum((x - self.a) ** 2) + multipliers @ (x - self.c).reshape(-1))

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        return STIFF * (x - self.a) + multipliers.reshape(-1, 3)

    def distance(self, x: Points) -> float:
        return float(np.abs(x - self.c).max())

    def revise(self, x: Points, multipliers: Vector) -> bool:
        return False


def test_the_way_back_to_the_conditions_is_not_judged_by_the_energy() -> None:
    """A first step that misses by a little more than the tolerance, off to the side where the energy is lower."""
    problem = Held(np.zeros((4, 3)), np.ones((4, 3)))

    def direction(x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool):
        step = (problem.c - x) * (1.0 if exact else 1.0 - 2e-4)
        pull = -STIFF * (x + step - problem.a).reshape(-1)
        return step, pull * (1.0 if exact else 0.99)

    run = Progress(np.zeros((4, 3)), np.zeros(12))
    outcome = minimise(problem, direction, run, NewtonSettings(tolerance=1e-4))
    assert outcome is Outcome.CONVERGED
    assert problem.distance(run.x) < 1e-12
