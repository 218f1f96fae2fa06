"""Conditions with a cap: the energy, its force and Newton's matrix agree, and who yields when."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.dynamics.yielding import Yielding
from bunraku.testing import falls_as
from bunraku.testing.differences import ROUNDING

SHARP = 1e-3
TRIPLES = np.arange(6).reshape(2, 3)
CAPS = np.array([2.0, 7.0])
STIFFNESS = np.array([np.inf, 30.0])  # a hard region, let go below, and a spring


@pytest.fixture
def both() -> Yielding:
    """Both pull with the smoothed cap."""
    found = Yielding(TRIPLES, CAPS, STIFFNESS, SHARP)
    assert found.rows_that_yield(6).tolist() == [False] * 3 + [True] * 3  # a spring always, the hard one not yet
    assert found.revise(np.zeros(6), np.full(6, 9.0))
    return found


@pytest.mark.parametrize("size", [0.3 * SHARP, 0.2, 5.0])
def test_the_force_is_the_slope_of_the_energy(both: Yielding, size: float) -> None:
    generator = np.random.default_rng(0)
    r, way = size * generator.normal(size=6), generator.normal(size=6)
    slope = both.pull(r, np.zeros(6)) @ way
    steps = [0.1 * size * 0.5**k for k in range(5)]
    errors = [float(abs((both.value(r + h * way) - both.value(r - h * way)) / (2 * h) - slope)) for h in steps]
    floors = [ROUNDING * both.value(r) / h for h in steps]
    assert falls_as(2, steps, errors, floors) and slope != 0


def test_a_spring_pulls_as_a_spring_and_never_harder_than_its_cap(both: Yielding) -> None:
    little, much = np.full(6, 1e-4), np.full(6, 1e3)
    assert both.pull(little, np.zeros(6))[3:] == pytest.approx(30.0 * little[3:], rel=1e-6)
    sizes = np.linalg.norm(both.pull(much, np.zeros(6)).reshape(2, 3), axis=1)
    assert (sizes < CAPS).all() and sizes == pytest.approx(CAPS, rel=1e-5)


@pytest.mark.parametrize("size", [0.3 * SHARP, 0.2, 5.0])
def test_at_the_solution_newtons_matrix_is_the_hessian(both: Yielding, size: float) -> None:
    """With λ the force itself D⁻¹ = F/η (I − r rᵀ/η²), but for the thousandth that keeps it invertible."""
    r = size * np.random.default_rng(1).normal(size=6)
    force = both.pull(r, np.zeros(6))
    compliance = both.compliance(r, force)
    for k, rows in enumerate(TRIPLES):
        delta = max(SHARP, CAPS[k] / STIFFNESS[k])
        eta = np.sqrt(r[rows] @ r[rows] + delta**2)
        hessian = CAPS[k] / eta * (np.eye(3) - np.outer(r[rows], r[rows]) / eta**2)
        assert np.abs(np.linalg.inv(compliance[k]) - hessian).max() <= 2.1e-3 * CAPS[k] / eta
        assert np.linalg.eigvalsh(compliance[k]).min() > 0


def test_conditions_let_go_beyond_their_cap_and_take_hold_below_it() -> None:
    found = Yielding(TRIPLES, CAPS, STIFFNESS, SHARP)
    hard = slice(0, 3)
    met, away = np.zeros(6), np.full(6, 0.1)
    assert not found.revise(away, np.full(6, 1.0))  # |λ| = √3 < 2: held, however far it still has to go
    assert found.revise(met, np.full(6, 1.2)) and found.rows_that_yield(6)[hard].all()
    assert not found.revise(away, np.full(6, 0.1))  # not met
    assert not found.revise(met, np.full(6, 1.1))  # met, with nearly the cap
    assert found.revise(met, np.full(6, 0.1)) and not found.rows_that_yield(6)[hard].any()
    assert found.rows_that_yield(6)[3:].all()  # a spring stays one


def test_conditions_do_not_let_go_and_take_hold_for_ever() -> None:
    found = Yielding(TRIPLES, CAPS, STIFFNESS, SHARP)
    changes = [found.revise(np.zeros(6), np.full(6, 9.0 if k % 2 == 0 else 0.0)) for k in range(100)]
    assert 2 <= sum(changes) < 20 and found.rows_that_yield(6).all()
