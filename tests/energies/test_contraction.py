"""Muscles: what they pull with, what of it is internal, and how far they come."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bunraku.contracts import EnergySource, Outcome, State
from bunraku.direction.wrinkle import Muscle
from bunraku.dynamics import Equilibrium, EquilibriumSettings, ImplicitEuler, Mass, System
from bunraku.energies import Contraction, LatticeSolid
from bunraku.geometry import Lattice, lattice_around
from bunraku.materials import SolidMaterial
from bunraku.testing import block_surface
from bunraku.testing.differences import random_rotation

CELL = 0.1
BAR = lattice_around(block_surface(np.ones((8, 2, 2)), 0.5 * CELL), CELL)
"""four cells by one by one, full"""
SOFT = SolidMaterial(2e4, 0.0, 500.0)
MIDDLE = block_surface(np.ones((5, 1, 1)), 0.05)
MIDDLE = MIDDLE.with_rest(MIDDLE.rest + [0.075, 0.025, 0.025])
"""in the middle of the bar"""


def muscle(*, anchored: bool = False, stiffness: float = 10.0, activation: float = 1.0) -> Contraction:
    """Shorter by a third and aside, in the middle of the bar."""
    shorter = (MIDDLE.rest - MIDDLE.rest.mean(axis=0)) * [0.67, 1.2, 1.2] + MIDDLE.rest.mean(axis=0) + [0.0, 0.02, 0.0]
    return Muscle(MIDDLE, shorter, activation, stiffness, anchored=anchored).embedded(BAR, SOFT.young)


def test_a_shape_pulls_with_forces_and_moments_that_balance_and_an_anchored_one_does_not() -> None:
    random = np.random.default_rng(3)
    x = (BAR.rest + random.normal(0.0, 0.01, BAR.rest.shape)) @ random_rotation(random).T + [1.0, 2.0, 3.0]
    for anchored in (False, True):
        force = muscle(anchored=anchored).at_time(0.0).gradient(x)
        size = np.abs(force).sum()
        net, moment = force.sum(axis=0), np.cross(x - x.mean(axis=0), force).sum(axis=0)
        assert size > 1.0
        if anchored:
            assert np.linalg.norm(net) > 0.1 * size
        else:
            assert np.abs(net).max() < 1e-12 * size and np.abs(moment).max() < 1e-12 * size


def run(*sources: EnergySource, steps: int = 6, velocity: np.ndarray | None = None) -> list[State]:
    """The bar with some sources beside its own matter, by implicit Euler."""
    masses = BAR.masses(SOFT.density)
    stepper = ImplicitEuler(System(Mass(masses), (LatticeSolid(BAR, SOFT), *sources)))
    v = np.zeros_like(BAR.rest) if velocity is None else velocity
    states = [State(0.0, BAR.rest.reshape(-1).copy(), v.reshape(-1))]
    for _ in range(steps):
        found = stepper.step(states[-1], 0.02)
        assert found.outcome.usable
        states.append(found.value)
    return states


@pytest.mark.parametrize("anchored", [False, True])
def test_a_relaxed_muscle_moves_nothing(anchored: bool) -> None:
    last = run(muscle(anchored=anchored, activation=0.0), steps=2)[-1]
    assert last.q.reshape(-1, 3) == pytest.approx(BAR.rest, abs=1e-12)


def test_a_body_that_flies_keeps_its_momentum_while_its_muscle_contracts() -> None:
    """The centre of mass goes straight on; an anchored muscle holds it back instead."""
    masses, v = BAR.masses(SOFT.density), np.tile([1.0, 2.0, 0.0], (BAR.point_count, 1))
    for anchored in (False, True):
        states = run(muscle(anchored=anchored), velocity=v)
        carried = [masses @ one.velocity.reshape(-1, 3) for one in states]
        kept = max(np.abs(one - carried[0]).max() for one in carried) / np.abs(carried[0]).max()
        shorter = np.ptp(BAR.points(states[-1].q.reshape(-1, 3))[:, 0]) / np.ptp(BAR.surface.rest[:, 0])
        assert (kept > 0.1) if anchored else (kept < 1e-8 and shorter < 0.97)


def test_a_body_that_spins_is_not_held_back_by_its_muscle() -> None:
    """Angular momentum: with a relaxed muscle the bar turns as far as without any."""
    spin = np.cross([0.0, 0.0, 4.0], BAR.rest - BAR.rest.mean(axis=0))
    free, with_muscle = (run(*given, velocity=spin)[-1].q for given in ((), (muscle(activation=0.0),)))
    turned = np.abs(free.reshape(-1, 3) - BAR.rest).max()
    assert turned > 0.05 and np.abs(free - with_muscle).max() < 0.02 * turned


def in_balance(lattice: Lattice, source: Contraction) -> np.ndarray:
    """(n, 3) nodes in balance with a muscle that is anchored, so that nothing else need hold it."""
    masses = lattice.masses(SOFT.density)
    search = Equilibrium(
        System(Mass(masses), (LatticeSolid(lattice, SOFT), source)), EquilibriumSettings(length=lattice.cell)
    )
    found = search.find(State(0.0, lattice.rest.reshape(-1).copy(), np.zeros(lattice.rest.size)))
    assert found.outcome is Outcome.CONVERGED
    return found.value.q.reshape(-1, 3)


def test_the_stiffer_a_muscle_the_nearer_it_comes_to_what_was_sculpted() -> None:
    """In the limit to as near as nodes can; an affine contraction of the whole bar is within their reach."""
    body = BAR.surface
    shorter = (body.rest - 0.05) * [0.7, 1.1, 1.1]
    missed = []
    for stiffness in (1.0, 10.0, 1e4):
        source = Muscle(body, shorter, 1.0, stiffness, anchored=True).embedded(BAR, SOFT.young)
        missed.append(np.abs(BAR.points(in_balance(BAR, source)) - shorter).max())
    assert all(later < 0.6 * before for before, later in pairwise(missed))
    assert missed[-1] < 1e-3


def test_a_bar_that_is_all_muscle_contracts_as_springs_along_it_let_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """E u″ = κ (u − ε x) with free ends: u(L/2) = ε L/2 (1 − tanh(z)/z), z = ½ L √(κ/E) = √(3 × stiffness).

    Without Poisson's ratio, for sides that narrow would be drawn back. The law is linear in the stretch. What is left
    falls with the square of the samples' spacing: a hundredth with six to a cell, a thousandth with twelve.
    """
    monkeypatch.setattr("bunraku.direction.wrinkle.muscles._PER_CELL", 12.0)
    stiffness, strain = 2.0, -0.1
    source = Muscle(BAR.surface, BAR.surface.rest * [1.0 + strain, 1.0, 1.0], 1.0, stiffness, anchored=True)
    found = BAR.points(in_balance(BAR, source.embedded(BAR, SOFT.young)))
    long = np.ptp(BAR.surface.rest[:, 0])
    z = np.sqrt(3.0 * stiffness)
    assert np.ptp(found[:, 0]) - long == pytest.approx(strain * long * (1.0 - np.tanh(z) / z), rel=0.002)
