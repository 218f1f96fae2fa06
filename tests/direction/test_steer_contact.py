"""Steered bodies that touch: they land, squash, and their paths give way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from steered import run

from bunraku.collision import Plane, Surfaces, sphere
from bunraku.contracts import InputError
from bunraku.direction import Contact
from bunraku.direction.steer import KeyShape, hard_collisions
from bunraku.geometry import TriMesh, faces_through, intersecting_faces, tet_bar
from bunraku.motion import Path

BLOCK = tet_bar((3, 3, 3), (0.3, 0.3, 0.3))
FLOOR = Plane(np.array([0.0, -0.1, 0.0]), np.array([0.0, 1.0, 0.0]))
GROUND = Contact(obstacles=[FLOOR])
CENTRE = BLOCK.rest.mean(axis=0)


def test_a_body_lands_and_stays_above_the_ground() -> None:
    take = run(BLOCK, contact=GROUND, duration=0.6)
    assert take.animation.points[..., 1].min() > -0.1
    assert take.report["pairs"].max() > 0 and take.report["pinched"].max() == 0
    assert take.report["elastic"].max() > 1e-3
    assert set(BLOCK.surface_vertices) < set(range(BLOCK.point_count))  # some are inside, and feel nothing


def test_what_is_inside_a_body_touches_nothing() -> None:
    """A node a hair below the surface is no point of its own that the surface would push away."""
    corners = tet_bar((1, 1, 1), (1.0, 1.0, 1.0))
    rest = np.concatenate([corners.rest, [[0.5, 0.999, 0.4]]])
    surfaces = Surfaces(TriMesh(rest, corners.surface_faces), reach=0.05)
    assert sum(len(pairing.near(rest)) for pairing, _ in surfaces.pairings) == 0


@pytest.mark.slow
def test_a_path_into_the_ground_yields_and_comes_back() -> None:
    """It squashes the body, gives way, is told of, and is met again."""
    times = np.linspace(0.0, 1.0, 9)
    down = CENTRE + np.stack([0.0 * times, -0.4 * np.sin(np.pi * times), 0.0 * times], axis=1)
    take = run(BLOCK, contact=GROUND, duration=1.0, path=Path(times, down))
    missed, gave = take.report["residual"][:, 0], take.report["gave_way"][:, 0].astype(bool)
    assert take.animation.points[..., 1].min() > -0.1
    assert gave.any() and not gave[:3].any() and missed[gave].max() > 0.02
    assert missed[~gave].max() < 1e-6 and missed[-1] < 1e-9
    assert take.report["volume"].min() > 0.5 * take.report["volume"][0]


def test_a_body_rolled_on_the_ground_turns_exactly() -> None:
    times = np.linspace(0.0, 0.5, 6)
    path = Path(
        times, CENTRE + np.stack([times, -0.05 * times, 0 * times], axis=1),
        rotations=Rotation.from_rotvec(np.outer(times, [0.0, 0.0, -3.0])).as_matrix(),
    )  # fmt: skip
    take = run(BLOCK, contact=GROUND, path=path)
    assert take.report["rotation_residual"].max() < 1e-8
    assert take.animation.points[..., 1].min() > -0.1 and take.report["pairs"].max() > 0


def test_an_obstacle_is_not_passed_through() -> None:
    ball = sphere((0.15, -0.25, 0.15), 0.15, edge=0.06)
    take = run(BLOCK, contact=Contact(obstacles=[ball]), duration=0.4)
    faces = BLOCK.surface_faces
    for x in take.animation.points[::3]:
        both = np.concatenate([x, ball.rest])
        assert not faces_through(both, faces, ball.faces + len(x), touching=True).any()
        assert not intersecting_faces(x, faces).any()


@pytest.mark.slow
def test_a_path_that_begins_in_the_ground_begins_squashed() -> None:
    """Its first pose is led out of the ground, with the centre where the path has it if that can be."""
    path = Path(np.array([0.0, 0.2]), np.stack([CENTRE - [0, 0.15, 0], CENTRE + [0, 0.1, 0]]))
    take = run(BLOCK, contact=GROUND, path=path, duration=0.125)
    assert take.animation.points[..., 1].min() > -0.1
    assert take.report["residual"][0] < 1e-6 and take.report["elastic"][0] > 0.1


def test_what_does_not_go_with_contact_is_refused() -> None:
    path = Path(np.zeros(1), CENTRE[None], hold="compensation")
    with pytest.raises(InputError, match="hold='constraint'"):
        run(BLOCK, contact=GROUND, path=path)
    with pytest.raises(InputError, match="iterations"):
        run(BLOCK, contact=GROUND, iterations=2)
    with pytest.raises(InputError, match="garments"):
        run(BLOCK, contact=Contact(parts={"a": [0]}, layers=["a"]))


def test_what_hardly_moves_when_it_touches_has_not_collided() -> None:
    """It stands a hair above the ground, settles, leaps and lands: the landing is hard, the settling is not."""
    report = {
        "pairs": np.array([0, 3, 3, 0, 0, 4, 4]), "kinetic": np.array([1e-3, 0.1, 5.0, 9.0, 8.0, 2.0, 0.1]),
        "elastic": np.array([0.0, 0.5, 0.5, 0.1, 0.1, 4.0, 3.0]),
    }  # fmt: skip
    assert hard_collisions(np.arange(7.0), report) == [5.0]
    assert hard_collisions(np.arange(3.0), {name: values[:3] for name, values in report.items()}) == []
    later = {name: np.append(values, [0] * 4) for name, values in report.items()}
    later["kinetic"][-2:] = 1e4  # what comes long after a blow does not make it softer
    assert hard_collisions(np.arange(11.0), later) == [5.0]


def test_what_stands_and_is_hit_has_not_collided_and_what_begins_to_fall_into_something_has() -> None:
    """A blow strains what stands on the ground; the first frame knows that it does."""
    standing, blow = BLOCK.rest + [0.0, -0.09, 0.0], np.zeros((BLOCK.point_count, 3))
    blow[BLOCK.rest[:, 1] > 0.25] = [2.0, 0.0, 0.0]
    hit = run(BLOCK, contact=GROUND, duration=0.2, start=standing, velocity=blow)
    assert hit.report["pairs"][0] > 0 and hit.facts["hard_collisions"] == []
    above = BLOCK.rest + [0.0, -0.06, 0.0]
    fallen = run(BLOCK, contact=GROUND, duration=0.3, start=above, velocity=(0.0, -3.0, 0.0))
    assert fallen.report["pairs"][0] == 0 and fallen.facts["hard_collisions"] == [pytest.approx(1 / 24)]


@pytest.mark.slow
def test_a_body_is_braced_for_a_hard_collision() -> None:
    """Around the blow it is not told to change; the collision is found, and the key is still passed."""
    tall = KeyShape(1.0, BLOCK.rest * [0.8, 1.5, 0.8])
    shot: dict[str, Any] = {"contact": GROUND, "duration": 1.2, "keys": tall, "start": BLOCK.rest + [0.0, 0.5, 0.0]}
    plain, taken = run(BLOCK, **shot), run(BLOCK, brace=True, **shot)
    (blow,) = plain.facts["hard_collisions"][:1]
    assert plain.facts["told_at"] == [0.0, 1.0]
    begin, end = taken.facts["told_at"][1:3]
    assert begin == pytest.approx(blow - 2 / 24) and end == pytest.approx(blow + 2 / 24)
    nearer = [-np.diff(one.report["key_distance"][:, 0])[round(blow * 24) - 2] for one in (plain, taken)]
    assert 0.0 <= nearer[1] < 0.25 * nearer[0]  # towards the key, in the last frame in which nothing is touched
    assert taken.report["elastic"].max() < 0.9 * plain.report["elastic"].max()
    near, without = taken.facts["approaches"][0], plain.facts["approaches"][0]
    assert near.distance < min(0.4 * near.way, without.distance) and abs(near.frames) < 2.0 < abs(without.frames)
