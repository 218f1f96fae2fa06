"""Laws of implicit Euler that hold exactly, step by step: free fall, momentum, angular momentum, vibration, order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import eigh

from bunraku.contracts import State
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Bending, GravityEnergy, Membrane
from bunraku.geometry import TriMesh, area_mass_matrix, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.testing import check_stepper, dense_tangent, sheet

CLOTH = sheet(4, 4, length=0.4)
FELT = ShellMaterial(young=2e4, poisson=0.3, thickness=5e-3, density=400.0, stretch_damping=0.005, bend_damping=0.01)
G = np.array([0.0, -9.81, 0.0])
WHOLE = NewtonSettings(iterations=12)  # whole Newton steps down to rounding


def stepper(
    *,
    consistent: bool = False,
    gravity: np.ndarray = G,
    material: ShellMaterial = FELT,
    mesh: TriMesh = CLOTH,
    plate=True,
) -> tuple[ImplicitEuler, Mass]:
    """A free sheet."""
    areal = material.areal_mass
    lumped = lumped_mass(mesh, areal)
    mass = Mass(lumped, area_mass_matrix(mesh, areal) if consistent else None)
    blend = MaterialBlend.uniform(material, len(mesh.faces))
    energies = (Membrane(mesh, blend), Bending(mesh, blend, plate=plate), GravityEnergy(lumped, gravity))
    return ImplicitEuler(System(mass, energies), WHOLE, threads=1), mass


def tumbled(seed: int = 0) -> State:
    generator = np.random.default_rng(seed)
    x = CLOTH.rest + 0.01 * generator.normal(size=CLOTH.rest.shape)
    return State(0.0, x.reshape(-1), 0.5 * generator.normal(size=x.size))


def march(solver: ImplicitEuler, state: State, dt: float, count: int) -> list[State]:
    states = [state]
    for _ in range(count):
        solution = solver.step(states[-1], dt)
        assert solution.outcome.usable
        states.append(solution.value)
    return states


@pytest.mark.parametrize("consistent", [False, True])
def test_free_fall(consistent: bool) -> None:
    """From rest shape with velocity v₀: vₙ = v₀ + n dt g and xₙ = x₀ + n dt v₀ + ½ n (n + 1) dt² g, for every point."""
    v0, dt, count = np.array([1.0, 2.0, -0.5]), 1 / 48, 24
    solver, _ = stepper(consistent=consistent)
    start = State(0.0, CLOTH.rest.reshape(-1).copy(), np.tile(v0, CLOTH.point_count))
    for n, state in enumerate(march(solver, start, dt, count)):
        x = CLOTH.rest + n * dt * v0 + 0.5 * n * (n + 1) * dt**2 * G
        assert state.q.reshape(-1, 3) == pytest.approx(x, abs=1e-11)
        assert state.velocity.reshape(-1, 3) == pytest.approx(
            np.tile(v0 + n * dt * G, (CLOTH.point_count, 1)), abs=1e-9
        )


@pytest.mark.parametrize("consistent", [False, True])
@pytest.mark.parametrize("plate", [False, True])
def test_momentum_changes_by_the_weight_alone(consistent: bool, plate: bool) -> None:
    """Σ M vₙ₊₁ = Σ M vₙ + dt m g: elastic and viscous forces sum to zero. Error: rounding of x/dt, a few 1e-12."""
    solver, mass = stepper(consistent=consistent, plate=plate)
    states = march(solver, tumbled(), 0.01, 10)
    momenta = np.array([mass.times(state.velocity.reshape(-1, 3)).sum(axis=0) for state in states])
    weight = mass.lumped.sum() * G
    assert np.diff(momenta, axis=0) == pytest.approx(np.tile(0.01 * weight, (10, 1)), abs=1e-11)


@pytest.mark.parametrize("plate", [False, True])
def test_angular_momentum_changes_as_implicit_euler_says(plate: bool) -> None:
    """Inner forces have no torque: Σ xₙ₊₁ × M (vₙ₊₁ − vₙ) = 0. With L = Σ x × M v and xₙ₊₁ = xₙ + dt vₙ₊₁ that is
    Lₙ₊₁ − Lₙ = dt Σ vₙ₊₁ × M vₙ, exactly (lumped mass, no gravity).
    """
    solver, mass = stepper(gravity=np.zeros(3), plate=plate)
    states = march(solver, tumbled(1), 0.01, 10)
    for before, after in pairwise(states):
        x, v = after.q.reshape(-1, 3), after.velocity.reshape(-1, 3)
        change = mass.times(v - before.velocity.reshape(-1, 3))
        torque = np.cross(x, change).sum(axis=0)
        level = np.abs(np.cross(x, change)).sum()
        assert np.abs(torque).max() <= 1e-9 * level


def test_energy_never_rises() -> None:
    """Φ(xₙ₊₁) ≤ Φ(y) gives ½|vₙ₊₁|² + E(xₙ₊₁) ≤ ½|vₙ|² + E(xₙ) where E is convex along the step; stiff membranes are,
    and the damping takes more: over half a second the total only falls.
    """
    solver, mass = stepper(gravity=np.zeros(3))
    blend = MaterialBlend.uniform(FELT, len(CLOTH.faces))
    energies = Membrane(CLOTH, blend).elastic(0.0), Bending(CLOTH, blend).elastic(0.0)
    totals = []
    for state in march(solver, tumbled(2), 0.01, 50):
        x, v = state.q.reshape(-1, 3), state.velocity.reshape(-1, 3)
        totals.append(0.5 * np.sum(v * mass.times(v)) + sum(energy.value(x) for energy in energies))
    assert (np.diff(totals) < 0).all()


@pytest.mark.parametrize("consistent", [False, True])
def test_a_small_vibration_is_implicit_euler_s(consistent: bool) -> None:
    """In a mode of frequency ω, (1 + ω² dt²) qₙ₊₁ = 2 qₙ − qₙ₋₁. Amplitude 1e-7: stretching adds (1e-7/h)² ≈ 1e-10."""
    plain = ShellMaterial(young=2e4, poisson=0.3, thickness=5e-3, density=400.0)
    solver, mass = stepper(consistent=consistent, gravity=np.zeros(3), material=plain)
    blend = MaterialBlend.uniform(plain, len(CLOTH.faces))
    tangent = dense_tangent(Bending(CLOTH, blend).elastic(0.0), CLOTH.rest, psd=False)[2::3, 2::3]
    matrix = np.diag(mass.lumped) if mass.consistent is None else mass.consistent.toarray()
    squares, modes = eigh(tangent, matrix)
    k = 4  # above the three rigid motions
    mode = np.zeros_like(CLOTH.rest)
    mode[:, 2] = modes[:, k] / np.abs(modes[:, k]).max() * 1e-7
    dt = 0.3 / np.sqrt(squares[k])
    q = [1.0, 1.0]
    for state in march(solver, State(0.0, (CLOTH.rest + mode).reshape(-1), np.zeros(mode.size)), dt, 20)[1:]:
        q.append((2 * q[-1] - q[-2]) / (1 + squares[k] * dt**2))
        assert state.q.reshape(-1, 3) - CLOTH.rest == pytest.approx(q[-1] * mode, abs=1e-6 * 1e-7)
    assert min(q) < -0.3  # it did swing


def test_first_order_in_time() -> None:
    """Measured by log-log fit over halved steps, on a crumpled sheet springing back."""
    solver, _ = stepper()
    order = check_stepper(solver, tumbled(3), 0.02, counts=(32, 64, 128))
    assert order == pytest.approx(1.0, abs=0.33)
