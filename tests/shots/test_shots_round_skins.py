"""Film, contact sheet and figures draw skins on smooth surfaces: a coarse wave looks as the wave it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision import Obstacle, sphere
from bunraku.geometry import TriMesh
from bunraku.motion import Animation
from bunraku.scenes import Panel, Study
from bunraku.scenes.study import grid_mesh
from bunraku.shots.figures import study_sheet
from bunraku.shots.preview import Pair, Preview
from bunraku.shots.scenery import Scenery

BALL = Obstacle(sphere((0.0, 0.2, 0.0), 0.08, 0.04))


def wavy(n: int) -> TriMesh:
    """Three waves on a sheet of n × n."""
    flat = grid_mesh(*2 * [np.linspace(-0.3, 0.3, n + 1)])
    x = flat.rest.copy()
    x[:, 1] = 0.02 * np.sin(10.0 * np.pi * (x[:, 0] + 0.2 * x[:, 2]))
    return TriMesh(x, flat.faces)


COARSE, FINE = wavy(16), wavy(128)


def film_of(mesh: TriMesh, rounded: bool) -> np.ndarray:
    """Both halves of a film's picture."""
    things, faces = Scenery((BALL,)).around(mesh.rest)
    pair = Pair(1.0, mesh.rest, mesh.rest, things[0].at(0.0))
    film = Preview(
        mesh.faces, mesh.faces, np.array([1.0]), lambda k: pair, "", 24.0, faces, alike=True, rounded=rounded
    )
    left, right = film._halves(pair, film.view())
    assert np.array_equal(left, right)
    return right.astype(float)


def figure_of(mesh: TriMesh, rounded: bool) -> np.ndarray:
    """A figure's picture of it, painted."""
    still = Animation(mesh, np.arange(2.0), np.stack([mesh.rest] * 2))
    paint = np.full((len(mesh.faces), 3), (0.2, 0.5, 0.4))
    panel = Panel("a skin", still, is_skin=rounded, paint=paint)
    return study_sheet("slab", Study((panel,), (), (), (1,), obstacles=(BALL,), captions=("pressed",))).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [film_of, figure_of])
def test_a_coarse_skin_looks_more_like_a_fine_one_where_it_is_drawn_round(drawn) -> None:
    fine = drawn(FINE, False)
    straight, smooth = (np.abs(drawn(COARSE, rounded) - fine).mean() for rounded in (False, True))
    assert 0.0 < smooth < 0.6 * straight
