"""Explicit steps: how long they may be, what they keep, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.collision import Surfaces
from bunraku.constraints import LinearConstraint, felt_mass, pin_jacobian
from bunraku.contracts import InputError, Outcome, State
from bunraku.dynamics import Mass, SymplecticEuler, System
from bunraku.energies import LatticeSolid, PointDamping
from bunraku.geometry import lattice_around, tet_bar
from bunraku.materials import SolidMaterial

LATTICE = lattice_around(tet_bar((4, 2, 2), (0.4, 0.2, 0.2)).surface(), 0.2)
JELLY = SolidMaterial(young=5e3, poisson=0.3, density=1000.0)
MASS = LATTICE.masses(JELLY.density)
REST = State(0.0, LATTICE.rest.reshape(-1).copy(), np.zeros(LATTICE.rest.size))


def stepper(material: SolidMaterial = JELLY, *constraints: LinearConstraint) -> SymplecticEuler:
    damping = PointDamping(material.mass_damping * MASS)
    return SymplecticEuler(System(Mass(MASS), (LatticeSolid(LATTICE, material), damping), constraints))


@pytest.mark.parametrize(
    "damping", [{}, {"stiffness_damping": 0.02}, {"stiffness_damping": 0.002}, {"mass_damping": 30.0}], ids=str
)
def test_a_step_may_be_as_long_as_is_said_and_no_longer(damping: dict[str, float]) -> None:
    """A shiver of a tenth of a micrometre, in steps two hundredths shorter and longer than that: one stays what it is,
    the other grows a thousand times, or beyond all numbers."""
    solver = stepper(replace(JELLY, **damping))
    longest = solver.longest(REST)
    ends = []
    for share in (0.98, 1.02):
        state = replace(REST, q=REST.q + 1e-7 * np.random.default_rng(0).normal(size=REST.q.size))
        outcome = Outcome.CONVERGED
        for _ in range(400):
            found = solver.step(state, share * longest)
            state, outcome = found.value, found.outcome
        ends.append(float(np.abs(state.q - REST.q).max()) if outcome is Outcome.CONVERGED else np.inf)
    assert ends[0] < 1e-5 and ends[1] > 1e-4


def test_damping_makes_steps_shorter_and_nothing_holds_a_body_without_stiffness() -> None:
    free = stepper().longest(REST)
    assert stepper(replace(JELLY, stiffness_damping=0.2)).longest(REST) < 0.5 * free
    assert SymplecticEuler(System(Mass(MASS), ())).longest(REST) == np.inf
    assert stepper().longest(REST, lambda x: 1e4 * (x - LATTICE.rest)) < free


def test_conditions_are_met_and_nothing_else_is_pushed() -> None:
    """A node is drawn along. The impulse that does it is on that node alone."""
    pin = pin_jacobian(np.array([7]), np.arange(3), LATTICE.point_count)
    drawn = LinearConstraint(
        pin, lambda time: LATTICE.rest[7] + [0.3 * time, 0.0, 0.0], lambda time: np.ones(3), felt_mass(pin, MASS)
    )
    found = stepper(JELLY, drawn).step(REST, 0.01).value
    moved = (found.q - REST.q).reshape(-1, 3)
    assert moved[7] == pytest.approx([0.003, 0.0, 0.0], abs=1e-15) and not np.delete(moved, 7, axis=0).any()
    twice = stepper(JELLY, drawn, replace(drawn, goals=lambda time: LATTICE.rest[7]))
    assert twice.step(REST, 0.01).outcome is Outcome.FACTORISATION_FAILED


def test_what_it_cannot_do_is_refused() -> None:
    pin = pin_jacobian(np.array([7]), np.arange(3), LATTICE.point_count)
    soft = LinearConstraint(pin, lambda time: np.zeros(3), lambda time: np.full(3, 0.5), felt_mass(pin, MASS))
    with pytest.raises(InputError, match="hard conditions only"):
        stepper(JELLY, soft).step(REST, 0.01)
    with pytest.raises(InputError, match="lumped"):
        SymplecticEuler(System(Mass(MASS, np.diag(MASS)), ()))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="keep surfaces apart"):
        SymplecticEuler(System(Mass(MASS), (), (), Surfaces(LATTICE.surface)))
    fast = replace(REST, velocity=np.full(REST.q.size, 1e200))
    found = stepper().step(fast, 1e150)
    assert found.outcome is Outcome.NOT_FINITE and found.value is fast
