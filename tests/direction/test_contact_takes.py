"""Contact in small takes: what comes out is free of crossings, and what the report says of it."""

from __future__ import annotations

import numpy as np
import pytest

import bunraku as bk
from bunraku.collision import Obstacle, Plane, sphere
from bunraku.contracts import InputError, Points
from bunraku.geometry import TriMesh
from bunraku.testing import check_apart, sheet

CLOTH = bk.ShellMaterial(young=2e4, poisson=0.3, thickness=2e-3, density=300.0, stretch_damping=0.01)


def still(mesh: TriMesh, frames: int) -> bk.Animation:
    return bk.Animation(mesh, np.arange(frames) / 24, np.array([mesh.rest] * frames))


def lying(columns: int, height: float) -> TriMesh:
    """A sheet of 0.4 m at y = height, about the y axis."""
    flat = sheet(columns, columns, length=0.4).rest - 0.2
    rest = np.stack([flat[:, 0], np.full(len(flat), height), -flat[:, 1]], axis=1)
    return TriMesh(rest, sheet(columns, columns).faces)


def test_a_ball_from_out_of_reach_takes_a_sheet_along() -> None:
    """0.6 m a step at elements of 0.1 m: the obstacle arrives, and the sheet is in front of it."""
    mesh, ball = lying(4, 0.0), sphere([0.0, -0.5, 0.0], 0.08, 0.08)
    flying = Obstacle(ball, lambda time: ball.rest + np.array([0.0, 14.4 * time, 0.0]))
    take = bk.track(
        still(mesh, 4), mesh, None, material=CLOTH, contact=bk.Contact(obstacles=[flying]), gravity=(0, 0, 0),
        threads=1, substeps=1,
    )  # fmt: skip
    faces = np.concatenate([mesh.faces, ball.faces + mesh.point_count])
    shown = zip(take.animation.times, take.animation.points, strict=True)
    frames = [np.concatenate([x, flying.at(time)]) for time, x in shown]
    check_apart(faces, frames, shell=len(mesh.faces), movable=mesh.point_count, between=False)
    assert take.animation.points[-1, 12, 1] > -0.5 + 14.4 * 0.125 + 0.08


def test_a_sheet_lies_on_a_floor_at_its_thickness() -> None:
    """Between the gap and the gap with the reach; and without contact it falls through."""
    mesh, floor = lying(3, 0.03), Plane(np.zeros(3), np.array([0.0, 1.0, 0.0]))
    take = bk.track(still(mesh, 9), mesh, None, material=CLOTH, contact=bk.Contact(obstacles=[floor]), threads=1)
    height = take.animation.points[-1, :, 1]
    edge = 0.4 / 3 * (2 + np.sqrt(2)) / 3  # two sides and a diagonal
    assert (height > 2e-3).all()
    assert (height < 2e-3 + 0.2 * edge).all()
    assert int(take.report["pairs"][-1]) == mesh.point_count
    assert take.report["closest"][-1] == pytest.approx(height.min())
    fallen = bk.track(still(mesh, 9), mesh, None, material=CLOTH, threads=1)
    assert (fallen.animation.points[-1, :, 1] < 0.0).all()


def test_regions_behind_their_guide_are_said_to_give_way() -> None:
    """A guide dips through a floor and comes up at once: regions are missed while they are held off and while they
    catch up, and on every frame the report names just those.
    """
    mesh, floor = lying(2, 0.05), Plane(np.zeros(3), np.array([0.0, 1.0, 0.0]))
    shell, tests = bk.hierarchy(mesh, levels=1)
    times = np.arange(29) / 24
    depth = np.where(times < 0.35, np.minimum(times / 0.2, 1.0), 0.0)

    def pose(down: float) -> Points:
        return mesh.rest - [0.0, 0.1 * down, 0.0]

    guide = bk.Animation(mesh, times, np.array([pose(down) for down in depth]))
    take = bk.track(
        guide, shell, tests, material=CLOTH, contact=bk.Contact(obstacles=[floor]), threads=1, tolerance=4e-4
    )
    missed = take.report["residual"] > 1e-6 * shell.size
    gave_way = take.report["gave_way"].astype(bool)
    assert missed.any()
    assert (gave_way | ~missed).all()
    up_again = times > 0.35
    assert missed[up_again].any()  # it takes a while to catch up
    assert not missed[-1].any()
    assert (take.animation.points[:, :, 1] > 2e-3).all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: bk.Contact(thickness=-1.0), "thickness must be a number"),
        (lambda: bk.Contact(friction=np.nan), "friction"),
        (lambda: bk.Contact(press=np.inf), "press must be a number"),
        (lambda: bk.Contact(obstacles=["ball"]), r"contact.obstacles\[0\]"),  # type: ignore[list-item]
    ],
)
def test_bad_contact_is_refused(make, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


@pytest.mark.parametrize("goal", [(0.0, -0.1, 0.0), (0.0, -5.0, 0.0)])
def test_a_pin_to_where_something_is_gives_way(goal: tuple[float, float, float]) -> None:
    """The middle of a sheet is pinned into a ball at once, or through it: the shot goes on, nothing is cut, and the
    report tells how far the pin is missed; a pin with nothing in its way is met.
    """
    mesh, ball = lying(4, 0.03), sphere([0.0, -0.1, 0.0], 0.1, 0.1)
    lifted = bk.Animation(mesh, np.arange(6) / 24, mesh.rest + np.arange(6)[:, None, None] / 24 * [0.0, 0.5, 0.0])
    pins = [bk.Pin([12], to=np.array(goal)), bk.Pin([0, 4], to=lifted, source=[0, 4])]
    take = bk.track(
        still(mesh, 6), mesh, None, material=CLOTH, pins=pins, contact=bk.Contact(obstacles=[ball]), threads=1
    )
    faces = np.concatenate([mesh.faces, ball.faces + mesh.point_count])
    frames = [np.concatenate([x, ball.rest]) for x in take.animation.points]
    check_apart(faces, frames, shell=len(mesh.faces), movable=mesh.point_count)
    assert take.report["converged"].all()
    missed = np.abs(take.animation.points[:, 12] - np.array(goal)).max(axis=1)
    assert take.report["pin_residual"][:, 0] == pytest.approx(missed, rel=1e-9)
    assert (missed > 0.1).all()  # the ball's top is 0.1 m above its middle
    assert take.report["pin_residual"][:, 1].max() < 1e-6 * mesh.size
