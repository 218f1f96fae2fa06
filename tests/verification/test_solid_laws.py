"""Laws of elastic bodies in motion and at rest: patch test, momentum, energy, and the way back from inside out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from beams import held

from bunraku.contracts import State
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System, settle
from bunraku.energies import GravityEnergy, MassDamping, Solid
from bunraku.geometry import TetMesh, tet_bar, tet_lumped_mass, tet_mass_matrix, tet_volumes
from bunraku.materials import SolidLaw, SolidMaterial
from bunraku.testing import check_stepper

LAWS: tuple[SolidLaw, ...] = ("corotational", "neohookean")
BLOCK = tet_bar((4, 3, 3), (0.4, 0.3, 0.3))
G = np.array([0.0, -9.81, 0.0])
WHOLE = NewtonSettings(iterations=12)  # whole Newton steps down to rounding


def jelly(law: SolidLaw, **more: float) -> SolidMaterial:
    return SolidMaterial(**{"young": 2e4, "poisson": 0.4, "density": 500.0, **more}, law=law)


def crooked(seed: int = 0) -> TetMesh:
    """The block with its inner vertices shaken."""
    inner = np.setdiff1d(np.arange(BLOCK.point_count), BLOCK.surface_vertices)
    rest = BLOCK.rest.copy()
    rest[inner] += 0.015 * np.random.default_rng(seed).uniform(-1, 1, (len(inner), 3))
    return BLOCK.with_rest(rest)


def body(
    material: SolidMaterial, *, mesh: TetMesh = BLOCK, gravity: np.ndarray | None = None, consistent: bool = False,
    settings: NewtonSettings = WHOLE, held_at: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[ImplicitEuler, Solid, Mass]:  # fmt: skip
    lumped = tet_lumped_mass(mesh, material.density)
    mass = Mass(lumped, tet_mass_matrix(mesh, material.density) if consistent else None)
    solid = Solid(mesh, material)
    energies = [solid, MassDamping(mesh, material)]
    energies += [] if gravity is None else [GravityEnergy(lumped, gravity)]
    pins = () if held_at is None else (held(mesh, *held_at, mass),)
    return ImplicitEuler(System(mass, tuple(energies), pins), settings, threads=1), solid, mass


def march(solver: ImplicitEuler, state: State, dt: float, count: int) -> list[State]:
    states = [state]
    for _ in range(count):
        solution = solver.step(states[-1], dt)
        assert solution.outcome.usable
        states.append(solution.value)
    return states


def tumbled(seed: int = 0, spin: float = 4.0) -> State:
    """Shaken, thrown and spinning."""
    generator = np.random.default_rng(seed)
    x = BLOCK.rest + 0.01 * generator.normal(size=BLOCK.rest.shape)
    spin_axis = spin * np.array([0.3, 0.5, 0.8])
    v = np.array([0.5, 1.0, -0.3]) + np.cross(spin_axis, x - x.mean(axis=0)).astype(np.float64)
    return State(0.0, x.reshape(-1), (v + 0.2 * generator.normal(size=x.shape)).reshape(-1))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [1e-3, 0.4])
def test_patch(law: SolidLaw, size: float) -> None:
    """Where the surface is moved affinely the inside follows affinely, for small and for large deformations."""
    mesh = crooked()
    change = np.eye(3) + size * np.array([[0.6, 0.5, -0.2], [-0.3, -0.5, 0.4], [0.3, 0.2, 0.5]])
    wished = mesh.rest @ change.T + [0.1, -0.2, 0.3]
    rim = mesh.surface_vertices
    settings = NewtonSettings(tolerance=1e-11)
    solver, solid, _ = body(jelly(law), mesh=mesh, held_at=(rim, wished[rim]), settings=settings)
    start = State(0.0, mesh.rest.reshape(-1), np.zeros(mesh.rest.size))
    found = settle(solver, start, tolerance=1e-11)
    assert found.outcome.usable
    x = found.value.q.reshape(-1, 3)
    assert x == pytest.approx(wished, abs=1e-9 * size)
    inner = np.setdiff1d(np.arange(mesh.point_count), rim)
    assert len(inner) == 12
    forces = solid.elastic(0.0).gradient(wished)
    assert np.abs(forces[inner]).max() < 1e-11 * max(np.abs(forces).max(), 1.0)


@pytest.mark.parametrize("consistent", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_momentum_of_a_free_body(law: SolidLaw, consistent: bool) -> None:
    """Σ M v is kept to rounding. Inner forces, viscous ones too, have no torque: Σ xₙ₊₁ × M (vₙ₊₁ − vₙ) = 0, which with
    xₙ₊₁ = xₙ + dt vₙ₊₁ is Lₙ₊₁ − Lₙ = dt Σ vₙ₊₁ × M vₙ, implicit Euler's own loss.
    """
    settings = NewtonSettings(tolerance=1e-11)
    solver, _, mass = body(jelly(law, stiffness_damping=0.01), consistent=consistent, settings=settings)
    states = march(solver, tumbled(), 1 / 48, 12)
    linear = np.array([mass.times(s.velocity.reshape(-1, 3)).sum(axis=0) for s in states])
    assert linear == pytest.approx(np.tile(linear[0], (13, 1)), abs=1e-10 * np.abs(linear[0]).max())
    for before, after in pairwise(states):
        x, change = after.q.reshape(-1, 3), mass.times((after.velocity - before.velocity).reshape(-1, 3))
        arms = np.cross(x, change)
        assert np.abs(arms.sum(axis=0)).max() <= 1e-8 * np.abs(arms).sum()


@pytest.mark.parametrize("law", LAWS)
def test_a_body_falls_like_a_stone(law: SolidLaw) -> None:
    """At rest and let go it neither turns nor deforms: xₙ = x₀ + ½ n (n + 1) dt² g."""
    solver, _, _ = body(jelly(law, stiffness_damping=0.01), gravity=G)
    dt, count = 1 / 48, 12
    end = march(solver, State(0.0, BLOCK.rest.reshape(-1), np.zeros(BLOCK.rest.size)), dt, count)[-1]
    fallen = BLOCK.rest + 0.5 * count * (count + 1) * dt**2 * G
    assert end.q.reshape(-1, 3) == pytest.approx(fallen, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_energy_never_grows(law: SolidLaw, damping: float) -> None:
    """Kinetic and elastic energy of a free body that spins, wobbles, and is squashed to a third at the start."""
    solver, solid, mass = body(jelly(law, stiffness_damping=damping), settings=NewtonSettings(tolerance=1e-9))
    start = tumbled(1)
    squashed = (start.q.reshape(-1, 3) * [1.0, 0.35, 1.0]).reshape(-1)
    elastic = solid.elastic(0.0)

    def total(state: State) -> float:
        v = state.velocity.reshape(-1, 3)
        return 0.5 * float(np.sum(v * mass.times(v))) + elastic.value(state.q.reshape(-1, 3))

    energies = [total(s) for s in march(solver, State(0.0, squashed, start.velocity), 1 / 96, 60)]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(energies))
    assert energies[-1] < 0.9 * energies[0]


def inside_out(kind: str) -> np.ndarray:
    """(n, 3) the block with a good part of its elements inside out."""
    noise = np.random.default_rng(3).uniform(-1, 1, BLOCK.rest.shape)
    poked = BLOCK.rest.copy()
    poked[np.argmin(np.linalg.norm(BLOCK.rest, axis=1))] = [0.2, 0.2, 0.2]  # a corner, two cells deep
    return {
        "poked": poked,
        "shaken": BLOCK.rest + 0.08 * noise,
        "flat": BLOCK.rest * [1.0, 0.0, 1.0] + 1e-4 * noise,
        "tangled": BLOCK.rest + 0.15 * noise,
        "mirrored": BLOCK.rest * [-1.0, 1.0, 1.0] + 1e-3 * noise,
    }[kind]


@pytest.mark.parametrize(
    ("law", "kind"),
    [(law, kind) for law in LAWS for kind in ("poked", "shaken", "flat")]
    # Beyond these the corotational law may be caught in its kinks: see docs/solids.md.
    + [("neohookean", kind) for kind in ("tangled", "mirrored")],
)
def test_a_body_turned_inside_out_comes_back_to_rest(law: SolidLaw, kind: str) -> None:
    """Steps of a frame, damped: all volumes positive again, and the shape that of rest up to a rigid motion."""
    begin = inside_out(kind)
    assert (tet_volumes(begin, BLOCK.tets) <= 0).mean() > {"poked": 0.0}.get(kind, 0.2)
    material = jelly(law, stiffness_damping=0.01, mass_damping=2.0)
    solver, solid, _ = body(material, settings=NewtonSettings(tolerance=1e-4, length=BLOCK.size))
    end = march(solver, State(0.0, begin.reshape(-1), np.zeros(begin.size)), 1 / 24, 60)[-1]
    x = end.q.reshape(-1, 3)
    assert tet_volumes(x, BLOCK.tets) == pytest.approx(BLOCK.volumes, rel=1e-6)
    assert solid.elastic(0.0).value(x) < 1e-10 * solid.elastic(0.0).value(begin)


def test_the_stepper_keeps_its_order_on_solids() -> None:
    solver, _, _ = body(jelly("corotational", young=2e3), settings=NewtonSettings(iterations=5))
    assert check_stepper(solver, tumbled(spin=1.0), 0.05, counts=(16, 32, 64)) == pytest.approx(1.0, abs=0.33)
