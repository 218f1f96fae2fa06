"""A heavy strip clamped at one end against the elastica (`cantilever.py` says how it is clamped and measured)."""

from __future__ import annotations

import numpy as np
import pytest
from cantilever import LOAD, elastica, tip


def test_the_reference_is_right_for_small_loads() -> None:
    """Linear beam: drop q L⁴/8D; the next term is of third order in the load, so at 1e-2 it is below 1e-4 of it."""
    assert elastica(1e-2)[0] == pytest.approx(1e-2 / 8, rel=1e-4)


@pytest.mark.parametrize("kind", ["one-diag", "alt-diag"])
def test_drop_and_reach_on_regular_meshes(kind: str) -> None:
    """q L³/D = 10, 16 edges: the slope turns by 70°; 2 %."""
    drop, reach = tip(kind, 16)
    exact = elastica(LOAD)
    assert drop == pytest.approx(exact[0], rel=0.02)
    assert reach == pytest.approx(exact[1], rel=0.02)


@pytest.mark.parametrize("kind", ["equi", "cvt", "random"])
def test_other_meshes_sag_alike(kind: str) -> None:
    """The same 2 % for every kind of mesh: what the bending element is for."""
    assert tip(kind, 16)[0] == pytest.approx(elastica()[0], rel=0.02)


def test_the_drop_converges_as_h_squared() -> None:
    exact = elastica()[0]
    errors = [abs(tip("one-diag", n)[0] - exact) for n in (8, 16)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.33)


def test_hinges_sag_otherwise() -> None:
    """The contrast, at the same edges: more than 2 % off in the drop, 7 % in the reach."""
    drop, reach = tip("alt-diag", 16, "hinge")
    exact = elastica()
    assert abs(drop / exact[0] - 1) > 0.02 and abs(reach / exact[1] - 1) > 0.07
