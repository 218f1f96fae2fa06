"""Dihedral angles: their value, and their branch beyond ±π."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import State
from bunraku.energies import Bending, angle_gradients, angle_hessians, angles
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend, ShellMaterial

HINGE = np.array([[0, 1, 2, 3]])
FACES = np.array([[0, 1, 2], [1, 0, 3]])


def folded(angle: float) -> np.ndarray:
    """The second face turned by `angle` from flat, about the edge along y; any angle, also beyond π."""
    return np.array([[0.0, 0, 0], [0, 1, 0], [-1, 0.5, 0], [np.cos(angle), 0.5, np.sin(angle)]])


def test_the_angle_is_the_turn_of_the_normal() -> None:
    signs = set()
    for turn in np.linspace(-3.1, 3.1, 13):
        found = angles(folded(turn), HINGE, np.zeros(1))[0]
        assert abs(found) == pytest.approx(abs(turn), abs=1e-14)
        signs.add(round(float(np.sign(found * turn))))
    assert len(signs - {0}) == 1


def test_angles_do_not_wrap_when_carried_from_step_to_step() -> None:
    """Around twice: each angle is taken near the last one."""
    near = np.zeros(1)
    sign = np.sign(angles(folded(0.1), HINGE, near)[0])
    for turn in np.linspace(0.0, 4 * np.pi, 60):
        near = angles(folded(turn), HINGE, near)
        assert near[0] == pytest.approx(sign * turn, abs=1e-12)


def test_the_energy_of_a_fold_beyond_pi_keeps_growing() -> None:
    """½ bᵀC⁻¹b with b = l θ is a parabola in θ, also past the wrap, when the memory is carried along."""
    mesh = TriMesh(folded(0.0), FACES)
    bending = Bending(mesh, MaterialBlend.uniform(ShellMaterial(young=1e6), 2))
    state = State(0.0, mesh.rest.reshape(-1), np.zeros(12))
    one = None
    for turn in np.linspace(0.25, 5.0, 20):
        x = folded(turn)
        value = bending.at(state, 0.01).value(x)
        one = value / turn**2 if one is None else one
        assert value == pytest.approx(one * turn**2, rel=1e-10)
        state = State(
            0.0, x.reshape(-1), np.zeros(12), bending.remember(State(0.0, x.reshape(-1), np.zeros(12), state.memory))
        )


def test_scale_does_not_change_an_angle() -> None:
    """θ(s x) = θ(x): Euler's identity x·∇θ = 0, and ∇²θ x = −∇θ."""
    x = np.random.default_rng(0).normal(size=(4, 3))
    gradient, hessian = angle_gradients(x, HINGE)[0], angle_hessians(x, HINGE)[0]
    assert angles(7.0 * x, HINGE, np.zeros(1)) == pytest.approx(angles(x, HINGE, np.zeros(1)), abs=1e-14)
    assert gradient @ x.reshape(-1) == pytest.approx(0.0, abs=1e-13 * np.abs(gradient).max())
    assert hessian @ x.reshape(-1) == pytest.approx(-gradient, abs=1e-12 * np.abs(hessian).max())


def test_winding_does_not_change_the_bending_of_a_sheet(cloth: TriMesh) -> None:
    """A face wound against its neighbours bends as they do, in both models."""
    faces = cloth.faces.copy()
    faces[[1, 4, 5, 8]] = faces[[1, 4, 5, 8]][:, ::-1]
    mixed = TriMesh(cloth.rest, faces)
    x = cloth.rest + 0.02 * np.random.default_rng(0).normal(size=cloth.rest.shape)
    for plate in (True, False):
        values, forces = [], []
        for mesh in (cloth, mixed):
            energy = Bending(mesh, MaterialBlend.uniform(ShellMaterial(young=1e6), len(faces)), plate=plate).elastic(
                0.0
            )
            values.append(energy.value(x))
            forces.append(energy.gradient(x))
        assert values[1] == pytest.approx(values[0], rel=1e-11)
        assert forces[1] == pytest.approx(forces[0], abs=1e-11 * np.abs(forces[0]).max())
