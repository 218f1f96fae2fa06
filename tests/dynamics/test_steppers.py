"""Every stepper class of the room passes the shared check; one without a fixture fails the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import bunraku.dynamics as room
from bunraku.constraints import LinearConstraint, felt_mass, pin_jacobian
from bunraku.contracts import Outcome, State, Stepper
from bunraku.dynamics import (
    Equilibrium,
    EquilibriumSettings,
    ImplicitEuler,
    Mass,
    NewtonSettings,
    SymplecticEuler,
    System,
    settle,
)
from bunraku.energies import Bending, GravityEnergy, Membrane
from bunraku.geometry import TriMesh, area_mass_matrix, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.numerics import Pattern, SymmetricProduct
from bunraku.testing import check_stepper, falls_as, implementations

G = np.array([0.0, 0.0, -9.81])


def system(
    cloth: TriMesh, material: ShellMaterial, *, consistent: bool = False, held: tuple[int, ...] = (0, 3)
) -> System:
    """The cloth hanging from two corners."""
    blend = MaterialBlend.uniform(material, len(cloth.faces))
    areal = material.areal_mass
    lumped = lumped_mass(cloth, areal)
    mass = Mass(lumped, area_mass_matrix(cloth, areal) if consistent else None)
    energies = (Membrane(cloth, blend), Bending(cloth, blend), GravityEnergy(lumped, G))
    if not held:
        return System(mass, energies)
    jacobian = pin_jacobian(np.array(held), np.arange(3), cloth.point_count)
    goals = cloth.rest[list(held)].reshape(-1)
    pin = LinearConstraint(jacobian, lambda t: goals, lambda t: np.ones(len(goals)), felt_mass(jacobian, lumped))
    return System(mass, energies, (pin,))


def at_rest(cloth: TriMesh) -> State:
    return State(0.0, cloth.rest.reshape(-1).copy(), np.zeros(cloth.rest.size))


PRECISE = NewtonSettings(iterations=12, length=0.3)
"""whole Newton steps down to rounding: no tolerance hides in what is measured"""
CONVERGED = NewtonSettings(tolerance=1e-7, length=0.3)

FIXTURES: dict[str, Callable[[System], Stepper]] = {
    "Equilibrium": lambda given: Equilibrium(given, EquilibriumSettings(tolerance=1e-11, length=0.3), threads=1),
    "ImplicitEuler": lambda given: ImplicitEuler(given, PRECISE, threads=1),
    "SymplecticEuler": lambda given: SymplecticEuler(given),
}


def test_no_class_escapes() -> None:
    assert {found.__name__ for found in implementations(room, Stepper)} == set(FIXTURES)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXTURES)
def test_declared_order_is_the_measured_one(name: str, cloth: TriMesh, soft: ShellMaterial) -> None:
    """A twentieth of a second of a soft cloth: its waves are resolved by the coarsest of the steps."""
    order = check_stepper(FIXTURES[name](system(cloth, soft)), at_rest(cloth), 0.05, counts=(16, 32, 64))  # type: ignore[arg-type]
    assert order == pytest.approx(1.0, abs=0.33)


@pytest.mark.parametrize("consistent", [False, True])
def test_the_step_minimises_phi(cloth: TriMesh, soft: ShellMaterial, consistent: bool) -> None:
    """∇Φ + Jᵀλ = 0 at the end of a converged step, and the conditions hold."""
    given = system(cloth, soft, consistent=consistent)
    stepper = ImplicitEuler(given, CONVERGED, threads=1)
    state = at_rest(cloth)
    for _ in range(3):
        solution = stepper.step(state, 0.01)
        assert solution.outcome is Outcome.CONVERGED
        x = solution.value.q.reshape(-1, 3)
        target = (state.q + 0.01 * state.velocity).reshape(-1, 3)
        inner = np.sum([source.at(state, 0.01).gradient(x) for source in given.energies], axis=0)
        force = (given.mass.times(x - target) / 0.01**2 + inner).reshape(-1)
        force += given.jacobian.T @ solution.stats["multipliers"]
        # The last Newton step was below 1e-7 of the size; through the tangent, at most M/dt² + 6 · 2 E h, it is this.
        tangent = lumped_mass(cloth, 2.0).max() / 0.01**2 + 12 * 2e4 * 5e-3
        assert np.abs(force).max() <= 1e-7 * 0.3 * tangent
        assert solution.stats["residual_hard"] <= 1e-12
        assert solution.value.velocity == pytest.approx((solution.value.q - state.q) / 0.01, abs=1e-12)
        state = solution.value


@pytest.mark.parametrize("strength", [1.0, 0.5])
def test_gradient_of_the_merit_is_its_derivative(cloth: TriMesh, soft: ShellMaterial, strength: float) -> None:
    """Φ + λ·(J x − c), with any multipliers: the error of central differences falls as h²."""
    given = system(cloth, soft, consistent=True)
    pin = replace(given.constraints[0], strength=lambda t: np.full(6, strength))  # type: ignore[type-var]
    stepper = ImplicitEuler(System(given.mass, given.energies, (pin,)), PRECISE, threads=1)
    problem = stepper.freeze(at_rest(cloth), 0.01)
    generator = np.random.default_rng(0)
    x = cloth.rest + 0.01 * generator.normal(size=cloth.rest.shape)
    d, multipliers = generator.normal(size=x.shape), generator.normal(size=6)
    slope = np.sum(problem.gradient(x, multipliers) * d)
    steps, errors = (2e-4, 1e-4, 5e-5), []
    for h in steps:
        rise = problem.value(x + h * d, multipliers) - problem.value(x - h * d, multipliers)
        errors.append(abs(rise / (2 * h) - slope))
    assert falls_as(2, steps, errors, [0.0] * 3)


def test_iterations_counts_whole_newton_steps(cloth: TriMesh, soft: ShellMaterial) -> None:
    given = system(cloth, soft)
    for count in (1, 3):
        stepper = ImplicitEuler(given, NewtonSettings(iterations=count, length=0.3), threads=1)
        solution = stepper.step(at_rest(cloth), 0.01)
        assert (solution.outcome, solution.stats["iterations"]) == (Outcome.ITERATION_LIMIT, count)
        assert solution.stats["residual_hard"] <= 1e-12


def test_mass_blocks_are_the_matrix(cloth: TriMesh) -> None:
    v = np.random.default_rng(0).normal(size=cloth.rest.shape)
    for consistent in (None, area_mass_matrix(cloth, 3.0)):
        mass = Mass(lumped_mass(cloth, 3.0), consistent)
        pattern = Pattern.of([mass.stencil()], 3 * cloth.point_count)
        values = pattern.assemble([mass.blocks(2.0)])
        product = SymmetricProduct.of(pattern).times(values, v.reshape(-1))
        assert product == pytest.approx(2.0 * mass.times(v).reshape(-1), abs=1e-14)
        assert mass.times(np.ones_like(v)).sum(axis=0) == pytest.approx(np.full(3, 3.0 * 0.3 * 0.2), rel=1e-13)


def test_conflicting_conditions_are_told(cloth: TriMesh, soft: ShellMaterial) -> None:
    """The same vertex pinned to two places."""
    given = system(cloth, soft)
    pin = given.constraints[0]
    moved = LinearConstraint(
        pin.jacobian, lambda t: cloth.rest[[0, 3]].reshape(-1) + 0.01, lambda t: np.ones(6), np.ones(6)
    )
    for settings in (NewtonSettings(length=0.3), NewtonSettings(length=0.3, iterations=1)):
        stepper = ImplicitEuler(System(given.mass, given.energies, (pin, moved)), settings, threads=1)
        assert stepper.step(at_rest(cloth), 0.01).outcome is Outcome.CONDITIONS_CONFLICT


def test_a_violent_start_is_told_not_hidden(cloth: TriMesh, soft: ShellMaterial) -> None:
    """Overflow ends in a sentence, and the state stays finite."""
    start = State(0.0, cloth.rest.reshape(-1).copy(), np.random.default_rng(0).normal(size=cloth.rest.size) * 1e120)
    solution = ImplicitEuler(system(cloth, soft), CONVERGED, threads=1).step(start, 0.01)
    assert not solution.outcome.usable
    assert np.isfinite(solution.value.q).all()
    assert {"vertex", "position", "imbalance"} <= set(solution.evidence)


@pytest.mark.parametrize("settings", [NewtonSettings(length=0.3), CONVERGED], ids=["default", "tight"])
def test_settling_finds_the_equilibrium(cloth: TriMesh, soft: ShellMaterial, settings: NewtonSettings) -> None:
    """Forces balance: ∇E + Jᵀλ = 0, so the pins carry exactly the weight."""
    given = system(cloth, soft)
    start = State(2.0, cloth.rest.reshape(-1).copy(), np.full(cloth.rest.size, 0.25))
    solution = settle(ImplicitEuler(given, settings, threads=1), start, tolerance=1e-7)
    assert solution.outcome is Outcome.CONVERGED
    x = solution.value.q.reshape(-1, 3)
    force = np.sum([energy.at(solution.value, 1e3).gradient(x) for energy in given.energies], axis=0)
    free = np.delete(force, [0, 3], axis=0)
    weight = 9.81 * given.mass.lumped.sum()
    assert np.abs(free).max() <= 1e-4 * weight
    assert force[[0, 3]].sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=1e-3 * weight)
    assert solution.value.time == 2.0 and (solution.value.velocity == 0.25).all()
    assert x[:, 2].min() < -0.01


def test_a_falling_system_does_not_settle(cloth: TriMesh, soft: ShellMaterial) -> None:
    free = ImplicitEuler(system(cloth, soft, held=()), PRECISE, threads=1)
    solution = settle(free, at_rest(cloth), tolerance=1e-6, limit=4)
    assert solution.outcome is Outcome.NOT_CONVERGED
