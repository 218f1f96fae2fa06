"""Frequencies and buckling of flat plates against published values (`vibrations.py` measures)."""

from __future__ import annotations

import numpy as np
import pytest
from bending_table import extrapolated, squared_step
from plates import square
from vibrations import (
    CLAMPED_1,
    FREE,
    SUPPORTED_1,
    buckling_load,
    clamped_frequency,
    free_frequencies,
    ritz,
    supported_frequency,
)


def test_the_reference_frequencies_are_what_rayleigh_ritz_converges_to() -> None:
    """Upper bounds that fall with the number of terms, below those of [Leissa 1973]; the tables keep five figures."""
    leissa = {"free": [13.489, 19.789, 24.432], "clamped": [35.992]}
    for name, kept in (("free", FREE), ("clamped", (CLAMPED_1,))):
        rigid = 3 if name == "free" else 0
        coarse, fine = (ritz(n, rigid + len(kept), clamped=name == "clamped")[rigid:] for n in (8, 12))
        assert (fine <= coarse).all() and (fine < leissa[name]).all()
        assert fine == pytest.approx(coarse, rel=3e-5)  # eight terms are converged to the figures kept
        assert fine == pytest.approx(kept, abs=5e-4)


def test_lowest_frequency_of_a_clamped_square() -> None:
    """ω a² √(ρh/D) = 35.99. Too soft by O(h²), as the deflections are: 4 % in w at 24 edges is 2 % in ω."""
    assert clamped_frequency(square("alt-diag", 24)) == pytest.approx(CLAMPED_1, rel=0.03)


def test_lowest_frequency_of_a_supported_square() -> None:
    """ω = 2π² √(D/ρh)/a²."""
    assert supported_frequency(square("one-diag", 16)) == pytest.approx(SUPPORTED_1, rel=0.03)


@pytest.mark.parametrize("kind", ["equi", "alt-diag", "random"])
def test_lowest_frequencies_of_a_free_square(kind: str) -> None:
    """13.468, 19.596, 24.270 with ν = 0.3 (`vibrations.FREE`); below them exactly three rigid motions, at √1e-12.

    Too soft by O(h²): extrapolated from 16 and 32 edges, within a tenth of the error at 32.
    """
    meshes = square(kind, 16), square(kind, 32)
    coarse, fine = (free_frequencies(mesh) for mesh in meshes)
    assert coarse[:3].max() <= 1e-4
    away = np.array(FREE) - fine[3:]
    found = extrapolated(coarse[3:], fine[3:], squared_step(*meshes))
    assert (away > 0).all() and (np.abs(found - FREE) <= 0.1 * away).all()


def test_frequencies_converge_as_h_squared() -> None:
    """Order measured over 8, 16, 32 edges, clamped and free."""
    free = [abs(free_frequencies(square("one-diag", n))[3] - FREE[0]) for n in (8, 16, 32)]
    assert np.log2(free[0] / free[1]) == pytest.approx(2.0, abs=0.33)
    assert np.log2(free[1] / free[2]) == pytest.approx(2.0, abs=0.33)
    clamped = [abs(clamped_frequency(square("one-diag", n)) - CLAMPED_1) for n in (8, 16, 32)]
    assert np.log2(clamped[0] / clamped[1]) == pytest.approx(2.0, abs=0.33)
    assert np.log2(clamped[1] / clamped[2]) == pytest.approx(2.0, abs=0.33)


def test_a_hinged_square_rings_wrongly() -> None:
    """The contrast: more than a tenth off on the one-diagonal grid."""
    mesh = square("one-diag", 16)
    assert abs(supported_frequency(mesh, "hinge") / SUPPORTED_1 - 1) > 0.1
    assert np.abs(free_frequencies(mesh, "hinge")[3:] / FREE - 1).max() > 0.1


@pytest.mark.parametrize("kind", ["equi", "one-diag", "alt-diag", "random"])
def test_euler_s_buckling_load(kind: str) -> None:
    """P = π² D/L² per width, simply supported ends, ν = 0: within 3 % at 16 edges."""
    assert buckling_load(kind, 16) == pytest.approx(1.0, abs=0.03)


def test_buckling_converges_as_h_squared() -> None:
    errors = [abs(buckling_load("one-diag", n) - 1) for n in (8, 16)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.33)
