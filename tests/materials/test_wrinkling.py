"""Wavelength, onset and foundation of a skin on a soft interior, against the energy they come from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bunraku import InputError
from bunraku.materials import SkinOnSoft, ratio_for, thickness_for

LEATHER = SkinOnSoft(thickness=2e-3, young=40e6, under=0.5e6)


def tension(layers: SkinOnSoft, k: np.ndarray) -> np.ndarray:
    """[N/m] at which a wave of wave number k stands: bending and the half-space against it."""
    under = layers.under / (1.0 - layers.poisson_under**2)
    return layers.rigidity * k**2 + 0.5 * under / k


@pytest.mark.parametrize(
    "layers", [LEATHER, replace(LEATHER, poisson=0.0, poisson_under=0.45), replace(LEATHER, young=1e9, thickness=1e-4)]
)
def test_the_wave_is_the_one_that_needs_the_least_tension(layers: SkinOnSoft) -> None:
    k = layers.wave_number * np.linspace(0.9, 1.1, 20001)
    needed = tension(layers, k)
    assert k[needed.argmin()] == pytest.approx(layers.wave_number, rel=1e-4)
    stiff = layers.young * layers.thickness / (1.0 - layers.poisson**2)
    assert needed.min() / stiff == pytest.approx(layers.onset, rel=1e-8)


def test_the_foundation_is_the_half_space_at_that_wave_to_first_order() -> None:
    k, under = LEATHER.wave_number, LEATHER.under / (1.0 - LEATHER.poisson_under**2)
    assert LEATHER.lift + LEATHER.slope * k**2 == pytest.approx(0.5 * under * k, rel=1e-12)
    assert 2.0 * LEATHER.slope * k == pytest.approx(0.5 * under, rel=1e-12)


def test_a_leather_couch() -> None:
    assert LEATHER.wavelength == pytest.approx(0.04, rel=0.1)  # the thesis's example, "about 4 cm"


def test_materials_for_a_wavelength() -> None:
    assert thickness_for(LEATHER.wavelength, LEATHER.ratio) == pytest.approx(LEATHER.thickness, rel=1e-12)
    assert ratio_for(LEATHER.wavelength, LEATHER.thickness) == pytest.approx(LEATHER.ratio, rel=1e-12)


def test_waves_grow_from_the_onset() -> None:
    assert LEATHER.amplitude(0.99 * LEATHER.onset) == 0.0
    assert LEATHER.amplitude(2.0 * LEATHER.onset) == pytest.approx(LEATHER.thickness)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"thickness": 0.0}, "thickness must be a number"),
        ({"young": float("nan")}, "young must be a number"),
        ({"under": -1.0}, "under must be a number"),
        ({"poisson": 0.6}, "poisson must be a number"),
        ({"poisson_under": -1.0}, "poisson_under must be a number"),
    ],
)
def test_what_is_no_skin_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        replace(LEATHER, **changed)


def test_no_wavelength_is_refused() -> None:
    for make in (thickness_for, ratio_for):
        with pytest.raises(InputError, match="wavelength must be a number"):
            make(0.0, 1.0)
