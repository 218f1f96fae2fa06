"""Obstacles with a thickness of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pairs import REACH, Scene, triangles

from bunraku.collision import Obstacle, Plane, Surfaces
from bunraku.collision.barrier import slope
from bunraku.contracts import InputError, Points
from bunraku.direction.contact import Contact
from bunraku.direction.track.tracking import tracking_job
from bunraku.geometry import TriMesh
from bunraku.motion import Animation
from bunraku.testing import sheet

GAP, THICK = 0.002, 0.015
SHELL = triangles([[0.0, 0.0, 0.0], [0.3, 0.0, 0.05], [0.0, 0.3, 0.05]])
"""its first corner is the lowest"""


def plate(away: float) -> TriMesh:
    """A large triangle below the origin."""
    return triangles([[-1.0, -1.0, -away], [2.0, -1.0, -away], [-1.0, 2.0, -away]])


def felt(*things: Obstacle, self_contact: bool = True) -> Points:
    """What they do to the shell."""
    surfaces = Surfaces(SHELL, things, reach=REACH, gap=GAP, self_contact=self_contact)
    return -Scene(surfaces, SHELL.rest).touch().gradient(SHELL.rest)


@pytest.mark.parametrize("self_contact", [True, False])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_a_barrier_begins_at_the_obstacle_s_own_thickness(share: float, self_contact: bool) -> None:
    """Two plates, thick and plain, that are the same share of the reach beyond what they keep: each pushes as its own
    barrier says, and together they push as both.
    """
    thick, plain = Obstacle(plate(THICK + share * REACH), thickness=THICK), Obstacle(plate(GAP + share * REACH))
    for gap, one in ((THICK, thick), (GAP, plain)):
        push = felt(one, self_contact=self_contact)
        touch = Scene(Surfaces(SHELL, [one], reach=REACH, gap=GAP), SHELL.rest).touch()
        assert push[0] == pytest.approx([0.0, 0.0, -touch.stiffness(gap) * slope(gap + share * REACH, gap, REACH)])
        assert push[0, 2] > 0.0
        assert push[1:] == pytest.approx(np.zeros((2, 3)))
    alone = felt(thick, self_contact=self_contact) + felt(plain, self_contact=self_contact)
    assert felt(thick, plain, self_contact=self_contact) == pytest.approx(alone)
    assert felt(replace(thick, thickness=None)) == pytest.approx(np.zeros((3, 3)))  # as thin as others it is far away


def test_a_safe_step_keeps_each_thickness() -> None:
    """Straight down by more than there is: the tenth of the room beyond the thickness is left."""
    down = np.tile([0.0, 0.0, -0.1], (3, 1))
    for things, room in (
        ([Obstacle(plate(0.03), thickness=THICK)], 0.015),
        ([Obstacle(plate(0.03))], 0.028),
        ([Obstacle(plate(0.03)), Obstacle(plate(0.04), thickness=THICK)], 0.025),
    ):
        touch = Scene(Surfaces(SHELL, things, reach=REACH, gap=GAP), SHELL.rest).touch()
        assert touch.max_step(SHELL.rest, down) == pytest.approx(0.9 * room / 0.1, rel=1e-3)


def test_a_sheet_lies_on_each_of_two_plates_at_its_thickness() -> None:
    """One half on a plate that keeps 2 cm, the other on one as thin as the sheet, both level."""
    flat = sheet(8, 4, length=0.4)
    shell = TriMesh(flat.rest + [-0.2, -0.1, 0.03], flat.faces)
    wide = triangles(
        [[-2.0, -2.0, 0.0], [0.0, -2.0, 0.0], [0.0, 2.0, 0.0]], [[-2.0, -2.0, 0.0], [0.0, 2.0, 0.0], [-2.0, 2.0, 0.0]]
    )
    thick = Obstacle(wide, thickness=0.02)
    thin = Obstacle(TriMesh(wide.rest * [-1.0, 1.0, 1.0], wide.faces[:, ::-1]))
    times = np.arange(9) / 24
    still = Animation(shell, times, np.array([shell.rest] * len(times)))
    contact = Contact(thickness=GAP, obstacles=[thick, thin], reach=REACH)
    job = tracking_job(still, shell, None, material="felt", contact=contact, gravity=(0.0, 0.0, -9.81), threads=1)
    last = list(job.frames())[-1].points
    over = last[:, 0] < -1e-9
    assert (last[over, 2] > 0.02).all() and last[over, 2].max() < 0.02 + REACH
    assert (last[~over, 2] > GAP).all() and last[shell.rest[:, 0] > 0.15, 2].max() < GAP + REACH


@pytest.mark.parametrize("value", [-0.001, np.nan, np.inf, "thick"])
def test_what_is_no_thickness_is_refused(value: float) -> None:
    with pytest.raises(InputError, match=r"body.*thickness"):
        Obstacle(SHELL, name="body", thickness=value)
    with pytest.raises(InputError, match=r"body.*thickness"):
        Plane(np.zeros(3), np.array([0.0, 0.0, 1.0]), "body", thickness=value)


def test_planes_keep_the_common_gap() -> None:
    """A thick plate beside a floor changes nothing in how near the floor may be."""
    floor, far = Plane(np.array([0.0, 0.0, -0.005]), np.array([0.0, 0.0, 1.0])), Obstacle(plate(0.5), thickness=THICK)
    forces = [
        Scene(Surfaces(SHELL, things, [floor], reach=REACH, gap=GAP), SHELL.rest).touch().gradient(SHELL.rest)
        for things in ([], [far])
    ]
    assert forces[0][0, 2] < 0.0
    assert forces[1] == pytest.approx(forces[0])
