"""Damping sees no rigid motion: Kelvin–Voigt stress is τ 𝔻 (E − Eₙ)/dt, and strain and angle do not change in one.

For any state xₙ and x = R xₙ + t:  force of damping = ∇(damped energy) − ∇(elastic energy) = 0.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.contracts import Array, State
from bunraku.energies import Bending, Membrane
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.testing import sheet

CLOTH = sheet(3, 2, length=0.3)
REGIONS = np.array([-1, 0] * 6)  # by face: neighbours differ in everything
SOFT = ShellMaterial(young=2e4, poisson=0.3, thickness=5e-3, stretch_damping=0.01, bend_damping=0.2)
STIFF = ShellMaterial(young=3e5, poisson=0.1, thickness=2e-3, stretch_damping=0.5, bend_damping=0.003)
MATERIALS = {
    "uniform": MaterialBlend.uniform(SOFT, len(CLOTH.faces)),
    "by region": MaterialBlend((SOFT, STIFF), np.eye(2)[REGIONS + 1]),
}
SOURCES = {
    f"{name}, {kind}": make(CLOTH, blend)
    for kind, blend in MATERIALS.items()
    for name, make in {
        "stretching": Membrane,
        "plate": Bending,
        "hinge": lambda mesh, blend: Bending(mesh, blend, plate=False),
    }.items()
}


def crumpled(seed: int) -> Array:
    return CLOTH.rest + 0.03 * np.random.default_rng(seed).uniform(-1, 1, CLOTH.rest.shape)


def rotation(vector: Array) -> Array:
    """exp of the cross product matrix [Rodrigues]."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    k = np.cross(np.eye(3), vector / angle)
    return np.eye(3) - np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def damping_force(name: str, before: Array, after: Array, dt: float) -> tuple[float, float]:
    """Largest force of damping, and of elasticity with it, in a step."""
    source = SOURCES[name]
    state = State(0.0, before.reshape(-1), np.zeros(before.size))
    damped = source.at(state, dt)
    elastic = source.elastic(0.0) if isinstance(source, Membrane) else source.elastic(0.0, source.remember(state))
    difference = damped.gradient(after) - elastic.gradient(after)
    return float(np.abs(difference).max()), float(np.abs(elastic.gradient(after)).max())


VECTORS = st.tuples(*[st.floats(-4, 4)] * 3).map(np.array)


@pytest.mark.parametrize("name", SOURCES)
@settings(max_examples=15)
@given(turn=VECTORS, shift=VECTORS, seed=st.integers(0, 99), dt=st.sampled_from([2e-3, 0.02, 0.5]))
def test_any_finite_rotation_in_a_step(name: str, turn: Array, shift: Array, seed: int, dt: float) -> None:
    """Through half a turn and more in one step: ≤ 1e-10 of the elastic force.

    What rounding leaves: points up to 7 m away place edges of 0.1 m to 70 ε, magnified by τ/dt ≤ 250: 4e-12, and some.
    """
    before = crumpled(seed)
    force, scale = damping_force(name, before, before @ rotation(turn).T + shift, dt)
    assert force <= 1e-10 * scale


@pytest.mark.parametrize("name", SOURCES)
def test_any_rigid_velocity(name: str) -> None:
    """v = u + ω × x over a step is a screw motion: x = exp(dt ω) (xₙ − c) + c + dt u."""
    generator = np.random.default_rng(5)
    for dt in (1e-3, 1e-2):
        before, omega, u, centre = crumpled(3), *generator.normal(size=(3, 3))
        after = (before - centre) @ rotation(dt * 20 * omega).T + centre + dt * 5 * u
        force, scale = damping_force(name, before, after, dt)
        assert force <= 1e-10 * scale


@pytest.mark.parametrize("name", SOURCES)
def test_damping_is_there_otherwise(name: str) -> None:
    """... and opposes motion: power of the damping force on x − xₙ is negative, for any motion that deforms."""
    source = SOURCES[name]
    for seed in range(5):
        before, after = (
            crumpled(seed),
            crumpled(seed) + 0.005 * np.random.default_rng(seed + 50).normal(size=CLOTH.rest.shape),
        )
        force, scale = damping_force(name, before, after, 0.02)
        assert force > 1e-3 * scale
        # The viscous potential ½ τ/dt |E − Eₙ|² is zero at xₙ and positive elsewhere.
        state = State(0.0, before.reshape(-1), np.zeros(before.size))
        damped, plain = source.at(state, 0.02), source.elastic(0.0)
        assert damped.value(after) - damped.value(before) > plain.value(after) - plain.value(before)


def test_damping_stays_out_of_a_resting_sheet() -> None:
    mesh = TriMesh(CLOTH.rest, CLOTH.faces)
    for source in (Membrane(mesh, MATERIALS["by region"]), Bending(mesh, MATERIALS["by region"])):
        state = State(0.0, mesh.rest.reshape(-1), np.zeros(mesh.rest.size))
        assert np.abs(source.at(state, 1e-3).gradient(np.array(mesh.rest))).max() <= 1e-9
