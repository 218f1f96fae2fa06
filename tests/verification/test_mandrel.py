"""Yield in true curvature on any mesh, and the same set after a mandrel whatever step and hardening; `claims.py` holds
the latter on all kinds of mesh, fine and coarse."""

from __future__ import annotations

import numpy as np
import pytest
from mandrel import MANDREL, YIELD, folded_by_its_ends, inner, over_mandrel, read, rolled, sheet_of, woven_of
from plates import KINDS, square, strip

from bunraku.contracts import State
from bunraku.energies import Bending

pytestmark = pytest.mark.slow

DIRECTIONS = np.arange(6) * np.pi / 6
SET_TOLERANCE = 0.025 * MANDREL
"""[1/m] a quarter of the longest step, MANDREL/10: the rule is explicit, it sees a bend only once it is there"""
READ_TOLERANCE = 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_a_plate_reads_the_curvature_of_a_cylinder_on_any_mesh_and_in_any_direction(kind: str) -> None:
    """Away from free edges, where a plate under an imposed shape relaxes across its rim. h²: a chord for an arc."""
    mesh = square(kind, 16)
    kept = inner(mesh, 0.2)
    found = np.concatenate([read(mesh, direction)[kept] for direction in DIRECTIONS])
    assert np.abs(found - 1.0).max() <= READ_TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("warp", [0.0, 0.4])
def test_a_woven_plate_reads_it_along_warp_weft_and_bias(kind: str, warp: float) -> None:
    """The law knows three moduli, the curvature it gives back none of them: within what is allowed without a weave.

    What relaxes at the rim reaches further in where shear is soft, twice as many cells here: hence the finer mesh.
    """
    mesh = square(kind, 32)
    kept = inner(mesh, 0.2)
    for turn in (0.0, np.pi / 4, np.pi / 2):
        found = read(mesh, warp + turn, blend=woven_of(mesh, warp))[kept]
        assert np.abs(found - 1.0).max() <= READ_TOLERANCE, f"{np.degrees(turn):.0f}° from the warp"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_equilateral_hinge_reads_what_its_direction_lets_it(direction: float) -> None:
    """κ (cos²ψ − sin²ψ/3), ψ between the edge and the axis, on triangles that are equilateral but for 3.5 %."""
    mesh = square("equi", 32)
    bending = Bending(mesh, sheet_of(mesh), plate=False)
    found = read(mesh, direction, plate=False)
    pairs = bending.elastic(0.0).hinges[:, :2]
    along = mesh.rest[pairs[:, 1]] - mesh.rest[pairs[:, 0]]
    whole = (np.abs(mesh.rest[bending.elastic(0.0).hinges].mean(axis=1)[:, 0] - 0.5) < 0.45).nonzero()[0]
    # The axis lies across the direction of bending.
    across = np.abs(np.cos(np.arctan2(along[:, 1], along[:, 0]) - direction - np.pi / 2)) ** 2
    expected = np.abs(across - (1.0 - across) / 3.0)
    assert np.abs(found - expected)[whole].max() <= 0.08
    assert 0.6 <= found[whole].max() <= 1.05


@pytest.mark.parametrize("eta", [0.0, 0.5])
def test_a_strip_keeps_the_same_set_after_a_mandrel(eta: float) -> None:
    """1/R − Δκ_max in two step sizes, with and without hardening."""
    found = [over_mandrel("one-diag", 16, steps, eta).curvature for steps in (10, 40)]
    assert np.abs(np.array(found) - (MANDREL - YIELD)).max() <= SET_TOLERANCE, found


def test_independent_hinges_keep_the_same_set_too() -> None:
    """One angle a hinge, so the rule is exact in one step; on a grid along the mandrel it reads the true curvature."""
    found = [over_mandrel("one-diag", n, k, eta, plate=False) for n, k, eta in [(16, 4, 0.0), (32, 40, 0.5)]]
    assert [bent.curvature for bent in found] == pytest.approx([MANDREL - YIELD] * 2, abs=SET_TOLERANCE)
    # On equilateral triangles across the mandrel they yield late (see above), but alike.
    sets = [over_mandrel("equi", n, k, 0.5, plate=False).curvature for n, k in [(16, 4), (16, 40), (32, 40)]]
    assert np.ptp(sets) <= SET_TOLERANCE


@pytest.mark.parametrize("plate", [True, False])
def test_hardening_is_the_same_in_one_step_and_in_many(plate: bool) -> None:
    """k = exp(η p), and p of a bend is how far it went beyond yield, 1/R − Δκ_max, however it got there.

    Of independent hinges exactly; of the plate's faces in the median (faces at free edges share their bending).
    """
    few, many = (over_mandrel("one-diag", 16, steps, 0.5, plate).set_curvature for steps in (1, 24))
    if plate:
        assert [np.median(few), np.median(many)] == pytest.approx([MANDREL - YIELD] * 2, abs=0.5 * SET_TOLERANCE)
    else:
        assert many == pytest.approx(few, rel=1e-12, abs=1e-12)
        assert few.max() == pytest.approx(MANDREL - YIELD, rel=2e-2)


def test_softening_localises_and_hardening_spreads() -> None:
    """Of a strip folded by its ends: the most bent row over the least bent one."""
    spread = {eta: (lambda rows: rows.max() / rows.min())(folded_by_its_ends(12, eta)) for eta in (0.3, 0.0, -0.3)}
    assert spread[0.3] < spread[0.0] < 1.5
    assert spread[-0.3] > 10.0


def test_a_bend_within_yield_leaves_nothing() -> None:
    mesh = strip("cvt", 16)
    bending = Bending(mesh, sheet_of(mesh))
    x = rolled(mesh.rest - [0.5, 0.0, 0.0], 0.8 * YIELD)
    memory = bending.remember(State(0.0, x.reshape(-1), np.zeros(x.size)))
    assert not memory["bending.plastic_angles"].any() and not memory["bending.set_curvature"].any()
