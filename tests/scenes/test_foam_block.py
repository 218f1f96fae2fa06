"""A block of foam under three skins: moved alike, and waves as its materials have them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.materials import SkinOnSoft
from bunraku.scenes.foam_block import DRESSINGS, FOAM, HALF, MOTIONS, Dressed, block, dress, move

LINEN, SUPPLE, FOIL = (one.layers for one in DRESSINGS)


def test_how_long_waves_are_among_each_other_is_the_skins_alone() -> None:
    """E h³ of linen is 1.02 times that of the supple skin and 2857 times that of foil, and so are cubes of waves."""
    for young in (1e4, FOAM.young, 1e7):
        linen, supple, foil = (SkinOnSoft(one.thickness, one.young, young).wavelength for one in (LINEN, SUPPLE, FOIL))
        assert (supple / linen) ** 3 == pytest.approx(1.024) and (linen / foil) ** 3 == pytest.approx(25e9 / 8.75e6)
    assert LINEN.onset < 0.1 * SUPPLE.onset and SUPPLE.ratio == pytest.approx(50.0)


@pytest.mark.slow
@pytest.mark.parametrize("motion", MOTIONS)
def test_ends_go_where_they_are_taken_and_all_sizes_alike(motion: str) -> None:
    moved, mesh = move(motion, 1), block(0.05)
    places = moved.places(mesh, 1.0)
    assert moved.places(mesh.with_rest(0.1 * mesh.rest), 0.1) == pytest.approx(0.1 * places, abs=1e-12)
    assert places[0] == pytest.approx(mesh.rest, abs=1e-12)
    for side in (-1, 1):
        end = side * mesh.rest[:, 0] > 0.9 * HALF[0]
        before, after = (x[end] - x[end].mean(axis=0) for x in (places[0], places[-1]))
        turn, away, *_ = Rotation.align_vectors(after, before)
        assert away < 1e-3 * HALF[0]  # it is rigid
        if motion == "pressed":
            way = (places[-1] - places[0])[end]
            assert way == pytest.approx(np.broadcast_to([-side * MOTIONS[motion], 0.0, 0.0], way.shape), abs=1e-4)
        else:
            axis = [side, 0.0, 0.0] if motion == "twisted" else [0.0, 0.0, side]
            assert turn.as_rotvec(degrees=True) == pytest.approx(MOTIONS[motion] * np.array(axis), abs=0.1)


@pytest.mark.slow
def test_the_thinner_of_two_skins_has_shorter_waves_by_as_much() -> None:
    """On the same block, pressed alike, on as fine a mesh: five edges to a wave of 5 mm, eight to one of 8 mm."""
    moved = [move("pressed", 1)]
    thick = DRESSINGS[1]
    thin = replace(thick, material=replace(thick.material, thickness=5e-3))
    found: list[Dressed] = [dress(thin, moved, 1, 5.0), dress(thick, moved, 1, 8.0)]
    assert all(one.takes[0].report["converged"].all() for one in found)
    shorter, longer = (one.measured(0, 2) for one in found)
    assert longer / shorter == pytest.approx(8.0 / 5.0, rel=0.15)
    assert longer == pytest.approx(SUPPLE.wavelength, rel=0.15)
