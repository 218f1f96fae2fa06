"""Every constraint class of the room passes the shared check; one without a fixture fails the run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import bunraku.constraints as room
from bunraku.constraints import FADE_TIME, LinearConstraint, average_jacobian, felt_mass, pin_jacobian
from bunraku.contracts import Constraint, State
from bunraku.testing import check_constraint, implementations

POINTS = 5
MASS = np.array([1.0, 2.0, 0.5, 4.0, 1.0])


def pins(strength: float) -> LinearConstraint:
    """Vertex 1 on x and z, following a moving goal."""
    jacobian = pin_jacobian(np.array([1]), np.array([0, 2]), POINTS)
    return LinearConstraint(
        jacobian, lambda t: np.array([t, -(t**2)]), lambda t: np.full(2, strength), felt_mass(jacobian, MASS)
    )


def averages() -> LinearConstraint:
    """Two overlapping regions, held and let go in turn."""
    weights = sparse.csr_array(np.array([[0.5, 0.5, 0, 0, 0], [0, 0.25, 0.25, 0.25, 0.25]]))
    jacobian = average_jacobian(weights)
    return LinearConstraint(
        jacobian, lambda t: np.full(6, np.sin(t)), lambda t: np.full(6, min(1.0, abs(t))), felt_mass(jacobian, MASS)
    )


FIXTURES: dict[str, list[Callable[[], Constraint]]] = {
    "LinearConstraint": [lambda: pins(1.0), lambda: pins(0.0), lambda: pins(0.7), averages],
}


def test_no_class_escapes() -> None:
    assert {found.__name__ for found in implementations(room, Constraint)} == set(FIXTURES)


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, makers in FIXTURES.items() for k in range(len(makers))])
def test_contract(name: str, k: int) -> None:
    generator = np.random.default_rng(k)
    states = [State(t, generator.normal(size=15), generator.normal(size=15)) for t in (0.0, 0.5, 3.0)]
    check_constraint(FIXTURES[name][k](), states, (1e-3, 0.02, 1.0))


def test_rows_of_averages_and_pins() -> None:
    weights = sparse.csr_array(np.array([[0.25, 0.75, 0.0]]))
    x = np.arange(9.0).reshape(3, 3)
    assert average_jacobian(weights) @ x.reshape(-1) == pytest.approx(0.25 * x[0] + 0.75 * x[1])
    rows = pin_jacobian(np.array([2, 0]), np.array([0, 2]), 3)
    assert rows @ x.reshape(-1) == pytest.approx([x[2, 0], x[2, 2], x[0, 0], x[0, 2]])


def test_felt_mass_is_what_a_force_on_the_row_accelerates() -> None:
    """Force f Jᵀ accelerates the row by J M⁻¹ Jᵀ f = f/m. A region's average feels its whole mass if weights ∝ mass."""
    share = MASS[:3] / MASS[:3].sum()
    jacobian = average_jacobian(sparse.csr_array(np.concatenate([share, [0, 0]])[None]))
    assert felt_mass(jacobian, MASS) == pytest.approx(np.full(3, MASS[:3].sum()), rel=1e-14)
    assert felt_mass(pin_jacobian(np.array([3]), np.array([1]), POINTS), MASS) == pytest.approx([4.0])


def test_full_strength_is_hard_and_no_strength_is_nothing() -> None:
    state = State(1.0, np.ones(15), np.zeros(15))
    hard, none = pins(1.0).at(state, 0.1), pins(0.0).at(state, 0.1)
    assert np.isinf(hard.stiffness).all() and hard.goals == pytest.approx([1.1, -(1.1**2)])
    assert not none.stiffness.any()
    assert (pins(1.5).at(state, 0.1).stiffness == np.inf).all() and not pins(-1.0).at(state, 0.1).stiffness.any()


@pytest.mark.parametrize("strength", [0.1, 0.5, 0.9])
def test_a_half_held_row_is_a_critically_damped_spring(strength: float) -> None:
    """One mass on one row: m a + 2√(k m) v + k x = 0 with k = s²/(1 − s) m/T², stepped by implicit Euler.

    Implicit Euler's exact map of x'' + 2ω x' + ω² x = 0: (x − 2x₁ + x₂)/dt² + 2ω (x − x₁)/dt + ω² x = 0.
    """
    jacobian = pin_jacobian(np.array([0]), np.array([0]), 1)
    mass, dt = 3.0, 0.004
    row = LinearConstraint(jacobian, lambda t: np.zeros(1), lambda t: np.full(1, strength), np.array([mass]))
    omega = strength / np.sqrt(1 - strength) / FADE_TIME
    older, old = 1.0, 1.0
    for _ in range(20):
        rows = row.at(State(0.0, np.array([old, 0.0, 0.0]), np.zeros(3)), dt)
        new = (mass * (2 * old - older) / dt**2 + rows.stiffness[0] * rows.anchors[0]) / (
            mass / dt**2 + rows.stiffness[0]
        )
        residual = (new - 2 * old + older) / dt**2 + 2 * omega * (new - old) / dt + omega**2 * new
        assert residual == pytest.approx(0.0, abs=1e-9 / dt**2)
        assert new > 0.0  # critically damped: it never swings through
        older, old = old, new


def test_a_soft_row_does_not_pull_along_a_moving_goal() -> None:
    """Riding exactly on the goal, a row of any strength asks for nothing."""
    row = pins(0.4)
    x = np.zeros(15)
    x[[3, 5]] = row.goals(0.3)
    rows = row.at(State(0.3, x, np.zeros(15)), 0.02)
    assert rows.anchors == pytest.approx(row.goals(0.32), abs=1e-15)


def test_the_residual_is_the_distance_to_what_was_directed_at_any_strength() -> None:
    row = pins(0.4)
    state = State(0.3, np.full(15, 2.0), np.zeros(15))
    rows = row.at(state, 0.02)
    assert rows.residual(state.q.reshape(-1, 3)) == pytest.approx(2.0 - row.goals(0.32), abs=1e-15)
    assert np.abs(rows.anchors - rows.goals).min() > 1e-3  # the spring's anchor is another thing
