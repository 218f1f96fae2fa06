"""Uniaxial stretch of a St. Venant–Kirchhoff sheet, in closed form.

Stretched by λ along x with free sides: Green strain E₁₁ = (λ² − 1)/2, plane stress S₂₂ = 0 gives E₂₂ = −ν E₁₁, so the
sheet narrows by μ = √(1 − 2ν E₁₁); S₁₁ = E E₁₁, and the pull per rest width is h λ E E₁₁ (nominal stress λ S₁₁).
"""

from __future__ import annotations

import numpy as np
import pytest
from plates import equilibrium, square

from bunraku.contracts import Points
from bunraku.energies import Membrane, strains
from bunraku.energies.membrane import corner_gradients
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend, ShellMaterial

RUBBER = ShellMaterial(young=3e5, poisson=0.35, thickness=2e-3)


def stretched(mesh: TriMesh, stretch: float) -> Points:
    green = 0.5 * (stretch**2 - 1)
    return mesh.rest * [stretch, np.sqrt(1 - 2 * 0.35 * green), 1.0]


def uniaxial_error(kind: str = "random", stretch: float = 1.4) -> float:
    """Largest force, of E h, that the homogeneous state leaves where there should be none, or misses at an end."""
    mesh = square(kind, 6)
    energy = Membrane(mesh, MaterialBlend.uniform(RUBBER, len(mesh.faces))).elastic(0.0)
    force = energy.gradient(stretched(mesh, stretch))
    pull = 2e-3 * stretch * 3e5 * 0.5 * (stretch**2 - 1)
    left, right = mesh.rest[:, 0] < 1e-9, mesh.rest[:, 0] > 1 - 1e-9
    away = [force[~left & ~right], force[right].sum(axis=0) - [pull, 0, 0], force[left].sum(axis=0) + [pull, 0, 0]]
    return max(float(np.abs(part).max()) for part in away) / (3e5 * 2e-3)


@pytest.mark.parametrize("kind", ["one-diag", "random"])
@pytest.mark.parametrize("stretch", [0.8, 1.01, 1.4])
def test_stress_against_green_strain(kind: str, stretch: float) -> None:
    """The homogeneous state is in balance to rounding everywhere but at its two ends, whatever the mesh."""
    assert uniaxial_error(kind, stretch) <= 1e-11


@pytest.mark.parametrize("stretch", [0.8, 1.01, 1.4])
def test_energy_against_green_strain(stretch: float) -> None:
    """½ E E₁₁² h per rest area."""
    mesh = square("random", 6)
    energy = Membrane(mesh, MaterialBlend.uniform(RUBBER, len(mesh.faces))).elastic(0.0)
    green = 0.5 * (stretch**2 - 1)
    assert energy.value(stretched(mesh, stretch)) == pytest.approx(0.5 * 3e5 * green**2 * 2e-3, rel=1e-11)


def test_the_sheet_finds_its_own_width() -> None:
    """Only x is held at the ends (by symmetry lines in y and z the rest follows): it narrows to μ by itself."""
    mesh = square("random", 6)
    energy = Membrane(mesh, MaterialBlend.uniform(RUBBER, len(mesh.faces))).elastic(0.0)
    start = mesh.rest * [1.3, 1.0, 1.0]
    ends = np.flatnonzero((mesh.rest[:, 0] < 1e-9) | (mesh.rest[:, 0] > 1 - 1e-9))
    coordinates = np.concatenate([3 * ends, [1], np.arange(2, mesh.rest.size, 3)])  # one y fixes the sliding
    found = equilibrium([energy], start, coordinates=coordinates)
    assert found[:, 1] - found[0, 1] == pytest.approx(stretched(mesh, 1.3)[:, 1], abs=1e-9)
    assert found[:, 0] == pytest.approx(1.3 * mesh.rest[:, 0], abs=1e-9)


def test_green_strain_of_a_known_deformation() -> None:
    """F = ∂x/∂X gives E = (FᵀF − 1)/2 in each face's own frame: its invariants are those of F."""
    mesh = square("random", 4)
    f = np.array([[1.2, 0.3], [-0.1, 0.9], [0.4, 0.2]])
    x = mesh.rest[:, :2] @ f.T
    e11, e22, twice = strains(x, mesh.faces, corner_gradients(mesh.rest, mesh.faces)).T
    exact = 0.5 * (f.T @ f - np.eye(2))
    assert e11 + e22 == pytest.approx(np.full(len(e11), np.trace(exact)), abs=1e-13)
    assert e11 * e22 - 0.25 * twice**2 == pytest.approx(np.full(len(e11), np.linalg.det(exact)), abs=1e-13)
