"""The shared checks themselves: a wrong class must be refused, and for the right reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse

from bunraku.contracts import Array, LinearRows, Outcome, Points, Solution, State, Stencil
from bunraku.testing import CheckFailed, Probe, check_constraint, check_energy, check_stepper, falls_as

PROBE = Probe("random", np.random.default_rng(0).normal(size=(2, 3)), 1.0)


@dataclass(frozen=True)
class Spring:
    """½ k (|x₁ − x₀| − 1)² with one mistake at a time."""

    gradient_factor: float = 1.0
    hessian_factor: float = 1.0
    skew: float = 0.0
    indefinite: bool = False
    constant: float = 0.0
    anchored: float = 0.0
    auxiliary_count = 0

    def value(self, x: Points) -> float:
        r = x[1] - x[0]
        return (
            0.5 * float(np.linalg.norm(r) - 1.0) ** 2 + self.constant + 0.5 * self.anchored * float(np.sum(x[0] ** 2))
        )

    def gradient(self, x: Points) -> Points:
        r = x[1] - x[0]
        pull = self.gradient_factor * (1.0 - 1.0 / np.linalg.norm(r)) * r
        return np.stack([-pull + self.anchored * x[0], pull])

    def follow(self, x):
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        return (Stencil(np.arange(6)[None]),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        r = x[1] - x[0]
        length = np.linalg.norm(r)
        along = np.outer(r, r) / length**2
        across = 1.0 - 1.0 / length
        if psd:
            across = -1.0 if self.indefinite else max(0.0, across)
        own = self.hessian_factor * (along + across * (np.eye(3) - along))
        block = np.block([[own, -own], [-own, own]])
        block[:3, :3] += self.anchored * np.eye(3)
        block[0, 4] += self.skew
        return (block[None],)


REST = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


def test_a_right_energy_passes() -> None:
    check_energy(Spring(), [PROBE], rest=REST)


@pytest.mark.parametrize(
    ("wrong", "story"),
    [
        (Spring(gradient_factor=1.00001), "gradient .* is not the derivative"),
        (Spring(hessian_factor=1.00001), "condensed Hessian .* is not the derivative"),
        (Spring(skew=1e-9), "not symmetric"),
        (Spring(indefinite=True), "psd=True has eigenvalue"),
        (Spring(constant=1e-9), "energy at rest"),
        (Spring(anchored=1e-7), "rigid motion changes the energy"),
        (Spring(gradient_factor=0.0), "gradient vanishes"),
    ],
)
def test_a_wrong_energy_is_refused(wrong: Spring, story: str) -> None:
    """A hundred-thousandth off is wrong enough."""
    with pytest.raises(CheckFailed, match=story):
        check_energy(wrong, [PROBE], rest=REST)


def test_a_force_at_rest_is_refused() -> None:
    moved = REST + np.array([[0.0, 0.0, 0.0], [1e-9, 0.0, 0.0]])
    with pytest.raises(CheckFailed, match="at rest"):
        check_energy(Spring(), [PROBE], rest=moved)


def test_orders_are_told_apart() -> None:
    steps = [0.1, 0.05, 0.025]
    for order in (1, 2, 3):
        errors = [h**order * (1 + h) for h in steps]
        assert [falls_as(p, steps, errors, [0.0] * 3) for p in (1, 2, 3)] == [p == order for p in (1, 2, 3)]
    assert falls_as(2, steps, [1e-13, 2e-13, 4e-13], [1e-12] * 3)


@dataclass(frozen=True)
class Row:
    """x of the first point = t, with one mistake at a time."""

    drifting: bool = False
    stiffness: float = np.inf
    goal: float = 0.0

    @property
    def jacobian(self):
        return sparse.csr_array(np.eye(1, 6))

    @property
    def capped(self) -> bool:
        return False

    def at(self, state: State, dt: float) -> LinearRows:
        jacobian = sparse.csr_array(np.eye(1, 6, 1)) if self.drifting else self.jacobian
        goals = np.array([self.goal])
        return LinearRows(jacobian, goals, np.array([self.stiffness]), goals)


STATE = State(0.0, PROBE.x.reshape(-1), np.zeros(6))


@pytest.mark.parametrize(
    ("wrong", "story"),
    [(Row(drifting=True), "Jacobian changed"), (Row(stiffness=-1.0), "stiffness"), (Row(goal=np.nan), "goals")],
)
def test_a_wrong_constraint_is_refused(wrong: Row, story: str) -> None:
    check_constraint(Row(), [STATE], [0.1])
    with pytest.raises(CheckFailed, match=story):
        check_constraint(wrong, [STATE], [0.1])


@dataclass(frozen=True)
class Decay:
    """q' = −q by explicit Euler, which is of first order whatever it declares."""

    order: int

    def step(self, state: State, dt: float) -> Solution[State]:
        return Solution(replace(state, time=state.time + dt, q=state.q * (1.0 - dt)), Outcome.CONVERGED)


def test_a_wrong_order_is_refused() -> None:
    start = State(0.0, np.ones(3), np.zeros(3))
    assert check_stepper(Decay(1), start, 1.0) == pytest.approx(1.0, abs=0.05)
    assert check_stepper(Decay(1), start, 1.0, exact=lambda t: np.full(3, np.exp(-t))) == pytest.approx(1.0, abs=0.05)
    with pytest.raises(CheckFailed, match="declared order 2"):
        check_stepper(Decay(2), start, 1.0)
