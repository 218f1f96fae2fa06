"""First poses that cut what they are worn over, or the ground they stand on, in the rest shape alike: as artists have
them. What is directed comes out of it before the first frame."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import bunraku as bk
from bunraku.collision import Obstacle, Plane, sphere
from bunraku.contracts import InputError
from bunraku.geometry import TriMesh
from bunraku.testing import check_apart, sheet

CLOTH = bk.ShellMaterial(young=2e4, poisson=0.3, thickness=2e-3, density=300.0, stretch_damping=0.01)
FLAT = sheet(6, 6, length=0.4)
UP = np.array([0.0, 1.0, 0.0])


def lying(height: float = 0.0) -> TriMesh:
    """0.4 m at y = height, about the y axis."""
    rest = FLAT.rest - 0.2
    return TriMesh(np.stack([rest[:, 0], np.full(len(rest), height), -rest[:, 1]], axis=1), FLAT.faces)


def begun(mesh: TriMesh, *things: Obstacle | Plane) -> bk.Take:
    """Four frames of a guide that stands still where the shell is at rest, in six regions."""
    guide = bk.Animation(mesh, np.arange(4) / 24, np.array([mesh.rest] * 4))
    contact = bk.Contact(obstacles=things)
    take = bk.track(guide, mesh, bk.clusters(guide, 6), material=CLOTH, contact=contact, threads=1, tolerance=4e-4)
    obstacles = [one.mesh for one in things if isinstance(one, Obstacle)]
    sizes = np.cumsum([mesh.point_count, *(one.point_count for one in obstacles)])
    faces = np.concatenate([mesh.faces, *(one.faces + k for one, k in zip(obstacles, sizes, strict=False))])
    frames = [np.concatenate([x, *(one.rest for one in obstacles)]) for x in take.animation.points]
    planes = [(one.normal, one.point) for one in things if isinstance(one, Plane)]
    check_apart(faces, frames, shell=len(mesh.faces), movable=mesh.point_count, planes=planes, gap=1.9e-3)
    return take


@pytest.mark.parametrize("depth", [0.02, 0.1])
def test_a_shell_that_cuts_a_body_is_moved_out_of_it(depth: float, caplog: pytest.LogCaptureFixture) -> None:
    """By a fifth of its radius, or with the body half-way through: the shell lies on top, and is told to."""
    mesh, ball = lying(), Obstacle(sphere(UP * (depth - 0.1), 0.1, 0.05), name="ball")
    with caplog.at_level(logging.WARNING, "bunraku"):
        take = begun(mesh, ball)
    said = caplog.records[0].getMessage()
    assert said.startswith("the shell cuts something in its first pose and in its rest shape (faces ")
    assert said.endswith("and ball): it is moved out of that")
    (moved,) = take.facts["layers"]
    assert (moved["inner"], moved["outer"], moved["wrong"]) == ("ball", "the shell", []) and moved["moved"] > 0
    middle = np.argmin(np.linalg.norm(mesh.rest, axis=1))
    assert (take.animation.points[:, middle, 1] > depth).all()
    off = take.report["residual"] > 1e-6 * mesh.size
    assert not off.all() and (take.report["gave_way"].astype(bool) | ~off).all()


@pytest.mark.parametrize("height", [-0.001, 0.0, 0.002, 0.1])
def test_a_shell_that_stands_in_the_ground_is_led_up_to_it(height: float, caplog: pytest.LogCaptureFixture) -> None:
    """Nearer to the floor than it may be; exactly on it, as ground at zero mostly is; a little in it; and sloping
    ground that half of it is in."""
    slope = UP if height < 0.1 else np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0])
    with caplog.at_level(logging.WARNING, "bunraku"):
        take = begun(lying(), Plane(UP * (height if height < 0.1 else 0.0), slope))
    assert "the shell was led there from its rest shape in" in caplog.text
    assert ("the shell is 0.001 m from ground, where its thickness keeps 0.002 m open" in caplog.text) == (height < 0.0)
    if height < 0.1:  # it lies on the floor, level
        heights = take.animation.points[..., 1]
        assert heights.min() > height + 2e-3 and heights.max() < height + 2e-3 + 0.02
        assert take.report["gave_way"].all()
    assert take.report["converged"].all()


def test_a_shell_that_cannot_be_moved_out_is_not_said_to_be(caplog: pytest.LogCaptureFixture) -> None:
    """Out of a ball in the floor there is no way that does not lead below the floor."""
    ball = Obstacle(sphere(UP * -0.05, 0.1, 0.05), name="ball")
    with caplog.at_level(logging.WARNING, "bunraku"), pytest.raises(InputError, match="there is no clean pose"):
        begun(lying(), ball, Plane(np.zeros(3), UP))
    assert "it is moved out of that" not in caplog.text


def test_what_is_behind_a_plane_or_within_a_body_with_all_of_it_stays_refused() -> None:
    """A normal that points the wrong way, or a room that the shell is meant to be in."""
    with pytest.raises(InputError, match=r"are up to 0\.97 m behind roof: "):
        begun(lying(0.03), Plane(UP, UP, "roof"))
    with pytest.raises(
        InputError, match=r"and room: .* or contact\.layers, which moves it out of what it is worn over"
    ):
        begun(lying(), Obstacle(sphere((0.0, 0.0, 0.0), 0.22, 0.1), name="room"))
