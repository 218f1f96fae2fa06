"""Newton on linear conditions when the linear solver is only as good as single precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

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

    def follow(self, x: Points) -> None:
        pass

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


@dataclass
class Turning:
    """½ (θ − 4)² in the first coordinate, an angle known up to whole turns: read nearest to `near`."""

    near: float = 0.0
    follows: bool = True

    def angle(self, x: Points) -> float:
        return self.near + (x[0, 0] - self.near + np.pi) % (2 * np.pi) - np.pi

    def value(self, x: Points, multipliers: Vector) -> float:
        return float(0.5 * (self.angle(x) - 4.0) ** 2 + 0.5 * np.sum(x[0, 1:] ** 2))

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        return np.array([[self.angle(x) - 4.0, x[0, 1], x[0, 2]]])

    def distance(self, x: Points) -> float:
        return 0.0

    def follow(self, x: Points) -> None:
        if self.follows:
            self.near = self.angle(x)

    def revise(self, x: Points, multipliers: Vector) -> bool:
        return False


def turned(follows: bool) -> tuple[Outcome, float]:
    """Newton's steps at half their length, so that the branch's end at π is met on the way to 4."""
    problem = Turning(follows=follows)

    def direction(x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool):
        return -0.7 * gradient, multipliers

    run = Progress(np.zeros((1, 3)), np.zeros(0))
    outcome = minimise(problem, direction, run, NewtonSettings(tolerance=1e-6))
    return outcome, problem.angle(run.x)


def test_a_fold_beyond_a_half_turn_is_followed() -> None:
    outcome, angle = turned(follows=True)
    assert outcome is Outcome.CONVERGED and angle == pytest.approx(4.0, abs=1e-5)
    outcome, _ = turned(follows=False)
    assert outcome is Outcome.LINE_SEARCH_FAILED


@dataclass(frozen=True)
class Bent:
    """½ |x − 1|² + b |x − 1|⁴, whose Hessian at the start is that of everywhere if b = 0."""

    b: float

    def value(self, x: Points, multipliers: Vector) -> float:
        square = float(np.sum((x - 1.0) ** 2))
        return 0.5 * square + self.b * square**2

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        return (x - 1.0) * (1.0 + 4.0 * self.b * float(np.sum((x - 1.0) ** 2)))

    def distance(self, x: Points) -> float:
        return 0.0

    def follow(self, x: Points) -> None:
        pass

    def revise(self, x: Points, multipliers: Vector) -> bool:
        return False


@pytest.mark.parametrize(("b", "most"), [(0.0, 1), (1e-4, 1), (0.3, 20)])
def test_a_second_factor_is_made_only_where_the_first_no_longer_leads_there(b: float, most: int) -> None:
    """A long first step that arrives leaves nothing for another factor to do; one that does not gets another."""
    problem, made = Bent(b), []

    def direction(x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool):
        if fresh:
            away = (x - 1.0).reshape(-1)
            square = float(away @ away)
            made.append((1.0 + 4.0 * b * square) * np.eye(3) + 8.0 * b * np.outer(away, away))
        return -np.linalg.solve(made[-1], gradient.reshape(-1)).reshape(-1, 3), multipliers

    run = Progress(np.zeros((1, 3)), np.zeros(0))
    assert minimise(problem, direction, run, NewtonSettings(tolerance=1e-6)) is Outcome.CONVERGED
    assert run.x == pytest.approx(np.ones((1, 3)), abs=1e-6)
    assert run.factorisations == len(made) and (len(made) == 1 if most == 1 else 1 < len(made) <= most)
