"""Bars of tetrahedra against beam theory (`beams.py` says how they are held and measured). On the finest meshes, of
131,712 tetrahedra, `claims.py` holds sag and order."""

from __future__ import annotations

import numpy as np
import pytest
from beams import (
    DENSITY,
    POISSON,
    YOUNG,
    bar,
    beam_frequencies,
    beam_sag,
    clamped,
    extrapolated,
    frequencies,
    sag,
)

from bunraku.dynamics import LinearBody, natural_modes
from bunraku.energies import linear_stiffness, solid_mass
from bunraku.materials import SolidLaw, SolidMaterial


def test_the_reference_is_right_for_slender_beams() -> None:
    """Euler–Bernoulli: 1.875104² √(EI/ρA)/L²; shear and rotary inertia lower it by about a percent here."""
    slender = 1.875104**2 * np.sqrt(1e6 * 0.125**2 / 12 / 1000.0)
    assert 0.98 * slender < beam_frequencies()[0] < 0.995 * slender


@pytest.mark.parametrize("law", ["corotational", pytest.param("neohookean", marks=pytest.mark.slow)])
def test_sag_of_two_meshes_extrapolates_to_timoshenko(law: SolidLaw) -> None:
    """4 and 8 cells across, 3 %: the coarse bar hangs 15 % too high, the fine one 5 %."""
    coarse, fine = sag(4, law) / beam_sag(), sag(8, law) / beam_sag()
    assert 0.8 < coarse < 0.9 < fine < 1.0
    assert extrapolated(coarse, fine) == pytest.approx(1.0, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("consistent", [False, True])
def test_frequencies_are_within_three_percent_and_converge(consistent: bool) -> None:
    """Bending and axial, 8 cells across; two meshes extrapolate to 1 %."""
    exact = np.array(beam_frequencies())
    two, four, eight = (np.array(frequencies(n, consistent=consistent)) / exact for n in (2, 4, 8))
    assert eight == pytest.approx(np.ones(2), abs=0.03)
    assert extrapolated(four[0], eight[0]) == pytest.approx(1.0, abs=0.01)
    assert abs(eight[0] - 1) < 0.4 * abs(four[0] - 1) < 0.16 * abs(two[0] - 1) * 1.2
    assert (np.abs(eight - 1) < np.abs(four - 1)).all()


@pytest.mark.parametrize("across", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_natural_modes_have_these_frequencies(across: int) -> None:
    """Bending and axial, the same numbers from `natural_modes`; on the fine mesh 3 % from theory."""
    mesh = bar(across)
    material = SolidMaterial(YOUNG, POISSON, DENSITY)
    body = LinearBody(mesh.rest, linear_stiffness(mesh, material), solid_mass(mesh, material), clamped(mesh))
    omegas = np.sqrt(natural_modes(body, 8).stiffness)
    bending, axial = frequencies(across)
    assert omegas[0] == pytest.approx(bending, rel=1e-8) and omegas[1] == pytest.approx(bending, rel=0.01)
    assert np.abs(omegas / axial - 1.0).min() < 1e-8
    if across == 8:
        assert [omegas[0], axial] == pytest.approx(beam_frequencies(), rel=0.03)
