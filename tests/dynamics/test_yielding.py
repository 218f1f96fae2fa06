"""Conditions with a cap: the energy, its force and Newton's matrix agree, and who yields when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from bunraku.dynamics.pressing import Pressed
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


def test_nearly_met_are_those_that_yield_by_little_but_no_springs(both: Yielding) -> None:
    r = np.array([0.0, 0.3, 0.4, 0.0, 0.3, 0.4])
    assert both.nearly_met(r, 0.51).tolist() == [0, 1, 2]
    assert both.nearly_met(r, 0.49).tolist() == []
    assert Yielding(TRIPLES, CAPS, STIFFNESS, SHARP).nearly_met(r, 0.51).tolist() == []  # nothing yields yet


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


# Among surfaces that touch

PRESS = np.array([1.0, 1.0, 1.0])


def pressed(own: list[float], touched: list[bool] | None = None, *, alone: bool = True) -> Pressed:
    """Contact that causes so much [N] of each of three conditions, which are neighbours unless `alone`."""
    force = np.outer(own, [0.0, 1.0, 0.0])
    around = np.eye(3, dtype=np.int64) if alone else np.ones((3, 3), dtype=np.int64)
    share = np.abs(own) if alone else np.full(3, np.abs(own).max())
    flags = np.ones(3, dtype=bool) if touched is None else np.array(touched)
    return Pressed(flags, share, force, sparse.csr_array(around))


def pulling(*sizes: float) -> np.ndarray:
    """(9,) multipliers of three conditions."""
    return np.outer(sizes, [0.0, 1.0, 0.0]).reshape(-1)


def among(free: list[float]) -> Yielding:
    """Three hard conditions without caps of their own."""
    infinite = np.full(3, np.inf)
    return Yielding(np.arange(9).reshape(3, 3), infinite, infinite, SHARP, PRESS, np.array(free))


AWAY = np.full(9, 0.1)


def test_a_condition_yields_to_contact_that_causes_half_of_what_is_too_much() -> None:
    """What it took while free is 4 N, and it may press with 1 N: 6 N are too much, if 3 N of them are contact's."""
    found = among([4.0, 4.0, 4.0])
    assert found.revise(AWAY, pulling(6.0, 6.0, 4.9), pressed([3.1, 2.9, 4.0]))
    assert found.gives_way.tolist() == [True, False, False]
    assert np.linalg.norm(found.pull(np.full(9, 1e3), np.zeros(9))[:3]) == pytest.approx(5.0, rel=1e-6)
    # What contact does not cause has proved that it needs so much: 10 % beyond it is too much from now on.
    assert not found.revise(AWAY, pulling(0.0, 6.5, 0.0), pressed([6.5, 6.5, 0.0]))
    assert found.revise(AWAY, pulling(0.0, 6.7, 0.0), pressed([6.7, 6.7, 0.0]))
    assert found.gives_way.tolist() == [True, True, False]


def test_what_only_overcomes_that_pairs_are_slowed_counts_as_no_force() -> None:
    """60 N of which 57 N are not real: 3 N are not too much, and prove no need of more than the 5 N allowed. Nor does
    one yield to a cap of its own for them."""
    slowed = replace(pressed([0.0] * 3), slowed=np.outer([57.0, 57.0, 57.0], [0.0, 1.0, 0.0]))
    found = among([4.0, 4.0, 4.0])
    assert not found.revise(AWAY, pulling(60.0, 60.0, 60.0), slowed)
    assert found.revise(AWAY, pulling(6.0, 6.0, 4.9), pressed([3.1, 3.1, 4.0]))
    assert found.gives_way.tolist() == [True, True, False]
    capped = Yielding(np.arange(9).reshape(3, 3), np.full(3, 10.0), np.full(3, np.inf), SHARP)
    assert not capped.revise(AWAY, pulling(60.0, 60.0, 60.0), slowed)
    assert capped.revise(AWAY, pulling(60.0, 68.0, 60.0), slowed)
    assert capped.rows_that_yield(9).reshape(3, 3).all(axis=1).tolist() == [False, True, False]


def test_what_is_not_touched_does_not_yield_and_what_is_free_is_held_again() -> None:
    found = among([0.0, 0.0, 0.0])
    assert not found.revise(AWAY, pulling(9.0, 9.0, 9.0), pressed([9.0, 9.0, 9.0], [False] * 3))
    assert found.revise(AWAY, pulling(9.0, 9.0, 9.0), pressed([9.0, 9.0, 9.0]))
    assert found.gives_way.all()
    assert found.revise(AWAY, pulling(1.0, 1.0, 1.0), pressed([0.0, 9.0, 9.0], [False, True, True]))
    assert found.gives_way.tolist() == [False, True, True]
    assert not found.rows_that_yield(9)[:3].any()


def test_neighbours_of_one_that_yields_yield_with_it() -> None:
    """They would pull against contact in its stead: what contact does to either of them counts."""
    for alone in (True, False):
        found = among([0.0, 0.0, 0.0])
        assert found.revise(AWAY, pulling(9.0, 9.0, 0.5), pressed([9.0, 0.0, 0.0], alone=alone))
        assert found.gives_way.tolist() == [True, not alone, False]


def test_what_was_missed_still_yields_where_something_is_in_its_way() -> None:
    found = among([2.0, 2.0, 2.0])
    found.begin(np.array([True, True, False]), pressed([0.0] * 3, [True, False, True]))
    assert found.gives_way.tolist() == [True, False, False]
    assert found.rows_that_yield(9).reshape(3, 3).all(axis=1).tolist() == [True, False, False]
