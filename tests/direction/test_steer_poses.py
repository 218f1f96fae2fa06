"""Posing a body by some of its vertices."""

from __future__ import annotations

import numpy as np
import pytest
from steered import BAR, JELLY, LEFT, RIGHT, run

from bunraku.contracts import InputError
from bunraku.direction.steer import Grip, KeyShape, pose
from bunraku.direction.steer.rigid import shape_distance
from bunraku.energies import Solid
from bunraku.geometry import TetMesh, tet_bar, tet_lumped_mass, tet_volumes
from bunraku.materials import SolidMaterial

RUBBER = SolidMaterial(5e5, 0.4, law="neohookean")


@pytest.mark.parametrize(
    "grip",
    [
        Grip(RIGHT, rotate=(0.0, 0.0, np.pi / 2), move=(-0.2, 0.3, 0.0)),
        Grip(RIGHT, rotate=(1.5 * np.pi, 0.0, 0.0)),
        Grip(RIGHT, scale=1.6),
        Grip(RIGHT, move=(0.3, 0.0, 0.0)),
    ],
    ids=["bent", "twisted three quarters of a turn", "swollen", "drawn"],
)
def test_what_is_held_is_exact_and_all_else_in_balance(grip: Grip) -> None:
    x = pose(BAR, [Grip(LEFT), grip], material=RUBBER)
    assert np.allclose(x[LEFT], BAR.rest[LEFT], rtol=0, atol=1e-12)
    assert np.allclose(x[RIGHT], grip.carried(BAR.rest[RIGHT], 1.0), rtol=0, atol=1e-12)
    force = Solid(BAR, RUBBER).elastic(0.0).gradient(x)
    free = np.setdiff1d(np.arange(BAR.point_count), np.concatenate([LEFT, RIGHT]))
    assert np.abs(force[free]).max() < 1e-4 * np.abs(force).max()
    assert (tet_volumes(x, BAR.tets) > 0.2 * BAR.volumes).all()


CUBE = tet_bar((3, 3, 3), (0.3, 0.3, 0.3))
LOW, HIGH = (np.flatnonzero(CUBE.rest[:, 1] == height) for height in CUBE.rest[[0, -1], 1])


def test_single_tetrahedra_of_a_strong_pose_are_not_crushed() -> None:
    """Without firmer ones a corner would keep 2 % of its volume here, and bodies made by lot less than none."""
    grips = [Grip(LOW, scale=(0.7, 1, 0.7)), Grip(HIGH, (0, -0.2, 0), (0, 1, 0), (0.7, 1, 0.7))]
    x = pose(CUBE, grips)
    assert np.allclose(x[HIGH], grips[1].carried(CUBE.rest[HIGH], 1.0), rtol=0, atol=1e-12)
    assert (tet_volumes(x, CUBE.tets) >= 0.1 * CUBE.volumes).all()


def test_a_pose_that_turns_what_it_holds_inside_out_is_refused() -> None:
    with pytest.raises(InputError, match=r"the pose, tets .* inside out .* a milder pose"):
        pose(CUBE, [Grip(LOW), Grip(np.setdiff1d(np.arange(CUBE.point_count), LOW), (0, -0.25, 0))])


def test_more_than_half_a_turn_is_not_the_short_way_round() -> None:
    """1.5 π stores more than the −½ π that leads to the same places."""
    angles = (1.5 * np.pi, -0.5 * np.pi)
    poses = [pose(BAR, [Grip(LEFT), Grip(RIGHT, rotate=(angle, 0, 0))], material=RUBBER) for angle in angles]
    stored = [Solid(BAR, RUBBER).elastic(0.0).value(x) for x in poses]
    assert stored[0] > 4.0 * stored[1]


def test_a_frame_of_a_take_is_edited_and_stands_as_a_key() -> None:
    fallen = run(duration=0.25, velocity=(0.0, 2.0, 0.0)).animation.points[-1]
    edited = pose(BAR, [Grip(LEFT), Grip(RIGHT, move=(0.0, 0.15, 0.0))], points=fallen, material=JELLY)
    assert np.allclose(edited[RIGHT], fallen[RIGHT] + [0.0, 0.15, 0.0], atol=1e-12)
    take = run(keys=KeyShape(0.3, edited))
    mass = tet_lumped_mass(BAR)
    assert shape_distance(take.animation.points[-1], edited, mass) < 0.5 * shape_distance(BAR.rest, edited, mass)


def test_a_pivot_stays() -> None:
    grip = Grip([0, 1], rotate=(0.0, 0.0, np.pi), pivot=(1.0, 0.0, 0.0))
    assert np.allclose(grip.carried(np.array([[0.0, 0, 0], [1.0, 0, 0]]), 1.0), [[2.0, 0, 0], [1.0, 0, 0]])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"vertices": [0.5]}, "whole numbers"),
        ({"vertices": [0], "scale": 0.0}, "grip.scale"),
        ({"vertices": [0], "move": (0, 1)}, "grip.move"),
        ({"vertices": [0], "rotate": (0, np.nan, 0)}, "grip.rotate"),
        ({"vertices": [0], "pivot": "middle"}, "grip.pivot"),
    ],
)
def test_what_is_no_grip_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Grip(**given)  # type: ignore[arg-type]


def test_what_cannot_be_posed_is_refused() -> None:
    for grips, said in (
        ([], "nothing is taken hold of"),
        ([Grip([999])], "vertices of the body"),
        ([Grip([0]), Grip([0])], "two grips"),
    ):
        with pytest.raises(InputError, match=said):
            pose(BAR, grips)
    with pytest.raises(InputError, match="one row a vertex"):
        pose(BAR, Grip([0]), points=np.zeros((2, 3)))
    with pytest.raises(InputError, match="TetMesh"):
        pose(BAR.surface(), Grip([0]))  # type: ignore[arg-type]
    inside_out = TetMesh(BAR.rest * [-1, 1, 1], BAR.tets)
    with pytest.raises(InputError, match="inside out"):
        pose(inside_out, Grip([0]))
