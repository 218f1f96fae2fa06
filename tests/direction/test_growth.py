"""Skins that grow on bodies that do not, and bodies that dry: when there are waves, how long, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from scipy.optimize import brentq

import bunraku as bk
from bunraku.contracts import InputError, Points
from bunraku.direction.wrinkle import Skin, wrinkle
from bunraku.energies import Membrane
from bunraku.geometry import face_areas, tet_bar
from bunraku.materials import SkinOnSoft
from bunraku.scenes.slab import ROWS, Slab, dominant_wavelength

LAYERS = SkinOnSoft(thickness=4e-3, young=1e7, under=1e5)
SLAB = Slab(LAYERS, per_wave=16.0, threads=1)
"""six waves"""
MOST = 1.5 * LAYERS.onset


def growing(both_ways: bool) -> Skin:
    """The slab's skin grows by 1.5 onsets from 0 to 1 s; the interior stays, or widens along so that only the length is
    pressed."""

    def places(time: float) -> Points:
        return SLAB.mesh.rest * [1.0, 1.0, 1.0 if both_ways else 1.0 + time * MOST]

    return replace(SLAB.skin, growth=bk.Growth([[0.0, 0.0], [1.0, MOST]]), places=places)


def theory(both_ways: bool) -> float:
    """The growth from which on a flat skin is on a ridge.

    It is pressed by the Green strain e = ½ (1 − (1 + g)⁻²), and so with N = Ē h e one way and N = Ē h (1 + ν) e both
    ways, per length of the interior. N k² balances D k⁴ (1 + g)⁻², for curvature is by the longer lengths, and the
    foundation's K + b k²; least where N = D k_c² (1 + 2/(1 + g)). For small strains g = ε_c, or ε_c/(1 + ν).
    """
    more = 1.0 + LAYERS.poisson if both_ways else 1.0

    def left(g: float) -> float:
        return 0.5 * more * (1.0 - (1.0 + g) ** -2) - LAYERS.onset / 3.0 * (1.0 + 2.0 / (1.0 + g))

    return cast(float, brentq(left, 0.0, 1.0))


@pytest.mark.parametrize("both_ways", [False, True])
def test_a_skin_that_grows_wrinkles_from_the_onset_on(both_ways: bool) -> None:
    """Within what sixteen edges to a wave leave of an onset."""
    skin, expected = growing(both_ways), theory(both_ways)
    assert expected == pytest.approx(LAYERS.onset / (1.0 + LAYERS.poisson * both_ways), rel=0.03)
    assert skin.stable_where_the_interior_is(0.96 * expected / MOST)
    assert not skin.stable_where_the_interior_is(1.04 * expected / MOST)


@pytest.mark.slow
@pytest.mark.parametrize("both_ways", [False, True])
def test_waves_of_a_skin_that_grows_are_as_long_as_those_of_one_that_is_pressed(both_ways: bool) -> None:
    """Grown little by little, each balance looked for from the one before: at once, waves of other lengths hold too."""
    skin, found, before = growing(both_ways), None, None
    for share in (1.05, 1.15, 1.25, 1.35):
        found = skin.at(share * theory(both_ways) / MOST, before)
        before = found.value.q.reshape(-1, 3)
    assert found is not None
    heights = found.value.q.reshape(-1, 3)[:, 1].reshape(-1, ROWS)[:, ROWS // 2]
    assert found.outcome.usable and heights.std() > 0.2 * LAYERS.thickness
    assert dominant_wavelength(heights, SLAB.length / SLAB.columns) == pytest.approx(LAYERS.wavelength, rel=0.1)


def test_a_map_says_where_a_skin_grows() -> None:
    """Faces whose corners it leaves out are not strained, and others by what their corners have on average."""
    mesh = SLAB.mesh
    growth = bk.Growth([[0.0, 0.0], [1.0, 0.2]], (mesh.rest[:, 0] > 0.25).astype(float))
    blend = bk.MaterialBlend.uniform(bk.ShellMaterial(young=1e7), len(mesh.faces))
    energy = Membrane(mesh, blend, growth=growth).elastic(0.5)
    share = (mesh.rest[mesh.faces, 0] > 0.25).mean(axis=1)
    assert energy.areas == pytest.approx(face_areas(mesh.rest, mesh.faces) * (1.0 + 0.1 * share) ** 2)
    pulled = np.abs(energy.gradient(mesh.rest)).max(axis=1) > 1e-6
    assert not pulled[mesh.rest[:, 0] < 0.24].any() and pulled[mesh.rest[:, 0] > 0.49].any()


SMALL = tet_bar((8, 3, 3), (0.4, 0.15, 0.15)).surface()
GIVEN: dict[str, Any] = {
    "skin": bk.ShellMaterial(young=1e7, thickness=6e-3), "interior": bk.SolidMaterial(young=1e5, density=60.0),
    "threads": 1,
}  # fmt: skip
ON_LATTICE: dict[str, Any] = {**GIVEN, "cell": 0.15, "duration": 0.5, "rate": 8.0, "gravity": (0, 0, 0)}


def test_a_body_that_dries_shrinks_about_its_middle() -> None:
    take = wrinkle(SMALL, swelling=[[0.0, 0.0], [0.25, -0.1]], two_way=False, **ON_LATTICE)
    assert take.surface is not None and take.report["converged"].all()
    middle = take.surface.points[-1].mean(axis=0)
    assert middle == pytest.approx(SMALL.rest.mean(axis=0), abs=1e-9)
    assert take.surface.points[-1] - middle == pytest.approx(0.9 * (SMALL.rest - SMALL.rest.mean(axis=0)), abs=2e-3)


def test_a_skin_that_grows_has_more_area_than_what_it_is_on_and_one_that_shrinks_less() -> None:
    still = bk.Animation(SMALL, np.array([0.0, 1.0]), np.stack([SMALL.rest, SMALL.rest]))
    own, areas = face_areas(SMALL.rest, SMALL.faces).sum(), []
    for growth in (0.06, bk.Growth([[0.0, -0.06], [1.0, -0.06]])):
        take = wrinkle(still, growth=growth, **GIVEN)
        areas.append(face_areas(take.animation.points[-1], SMALL.faces).sum() / own)
    assert areas[0] > 1.01 and areas[1] < 0.999


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"growth": -0.95}, "growth: lengths at rest grow by too much"),
        ({"swelling": 20.0}, "swelling: lengths at rest grow by too much"),
        ({"growth": "much"}, "not a number, nor keys"),
        ({"growth": bk.Growth(0.1, [1.0, 2.0])}, "growth.map: a map of growth has a number for each vertex"),
    ],
)
def test_refusals(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        wrinkle(SMALL, **ON_LATTICE, **given)


@pytest.mark.parametrize("where", [[], [[1.0]], [np.nan], "all", ["a"]])
def test_maps_that_are_none(where: Any) -> None:
    with pytest.raises(InputError, match="a finite number for each vertex"):
        bk.Growth(0.1, where)


def test_an_animated_body_does_not_dry() -> None:
    still = bk.Animation(SMALL, np.array([0.0, 1.0]), np.stack([SMALL.rest, SMALL.rest]))
    with pytest.raises(InputError, match="swelling: an animated body"):
        wrinkle(still, swelling=-0.1, **GIVEN)
