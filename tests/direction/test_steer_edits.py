"""Edits keep every frame they do not change, byte for byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from steered import BAR, JELLY, LEFT, run, twisted

from bunraku.collision import Obstacle, Plane, sphere
from bunraku.contracts import Array, InputError
from bunraku.direction import Contact, Pin, Take
from bunraku.direction.steer import DIGESTS, KeyShape, same_frames, steering_job
from bunraku.geometry import TetMesh, tet_lumped_mass
from bunraku.motion import Path

MASS = tet_lumped_mass(BAR)
CENTRE = MASS @ BAR.rest / MASS.sum()
TIMES = np.arange(7) * 0.1
WAY = Path(TIMES, CENTRE + np.stack([TIMES, 0.1 * np.sin(9.0 * TIMES), 0.0 * TIMES], axis=1))
KEYS = [KeyShape(0.25, twisted(BAR.rest, 0, 40)), KeyShape(0.5, twisted(BAR.rest, 60, 0))]
SHOT: dict[str, Any] = {"duration": 0.6, "keys": KEYS, "path": WAY}


def same(a: Take[TetMesh], b: Take[TetMesh]) -> bool:
    """Whether two takes are the same bytes, but for what they took."""
    spent = ("seconds",)
    return (
        a.animation.points.tobytes() == b.animation.points.tobytes()
        and a.velocities.tobytes() == b.velocities.tobytes()
        and a.report.keys() == b.report.keys()
        and all(a.report[key].tobytes() == b.report[key].tobytes() for key in a.report if key not in spent)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "last"),
    [
        ({"keys": [KEYS[0], KeyShape(0.5, twisted(BAR.rest, -30, 0))]}, 6),
        ({"keys": [KEYS[0], KeyShape(0.55, twisted(BAR.rest, 60, 0))]}, 6),
        ({"keys": [*KEYS, KeyShape(0.6, None)]}, 12),
        ({"path": WAY.moved(5, CENTRE + [0.5, 0.2, 0.0])}, 7),
        ({"path": replace(WAY, times=TIMES + [0, 0, 0, 0, 0, 0, 0.05])}, 9),
        ({"duration": 0.7, "path": WAY}, 14),
        ({"keys": [KeyShape(0.25, twisted(BAR.rest, 0, 50)), KEYS[1]]}, 0),
        ({"material": replace(JELLY, young=3e4)}, -1),
        ({"gravity": (0, 0, 0)}, -1),
        ({}, 14),
    ],
    ids=[
        "last key", "its time", "one more key", "a knot", "the last one's time", "longer", "first key", "material",
        "gravity", "none",
    ],
)  # fmt: skip
def test_an_edit_keeps_what_it_does_not_change(edit: dict[str, Any], last: int) -> None:
    """All up to frame `last`, which is that of the key, or of two knots, before, and none after it."""
    before = run(**SHOT)
    edited = {**SHOT, **edit}
    taken_up, fresh = run(**edited, reuse=before), run(**edited)
    assert same(taken_up, fresh)
    assert taken_up.facts["reused"] == last + 1


UNEVEN = np.array([0.0, 0.1, 0.15, 0.25, 0.42, 0.46, 0.6])
TURNS = Rotation.from_rotvec(np.outer(np.sin(4.0 * UNEVEN), [0.3, 0.5, -0.2])).as_matrix()


@pytest.mark.parametrize("rate", [24.0, 40.0, 37.0])
def test_a_moved_sample_keeps_every_frame_up_to_the_moment_the_curve_changes(rate: float) -> None:
    """That of the sample two before it, on a frame (40/s) or not: the last frame before it stays, the next does not."""
    way = replace(WAY, times=UNEVEN, rotations=TURNS)
    shot: dict[str, Any] = {"duration": 0.6, "rate": rate, "material": JELLY, "threads": 1}
    before = steering_job(BAR, path=way, **shot)
    frames = np.asarray(before.times)
    for knot in range(len(UNEVEN)):
        turned = TURNS.copy()
        turned[knot] = turned[knot] @ Rotation.from_rotvec([0.05, 0.0, 0.0]).as_matrix()
        for other in (way.moved(knot, way.points[knot] + [0.0, 0.02, 0.0]), replace(way, rotations=turned)):
            changes = UNEVEN[max(knot - 2, 0)]
            after = steering_job(BAR, path=other, **shot)
            kept = same_frames(before.facts[DIGESTS], after.facts[DIGESTS])
            # A first sample that is moved moves the body as it begins; one of the next two only how fast it begins.
            assert kept == (np.count_nonzero(frames <= changes + 1e-9) if knot > 2 else 0)


def test_keys_then_path_then_keys_again() -> None:
    """The order of edits does not matter, and each goes on from the one before."""
    first = run(duration=0.6, keys=KEYS)
    second = run(**SHOT, reuse=first)
    third = run(**{**SHOT, "keys": [KEYS[0], KeyShape(0.5, None)]}, reuse=second)
    back = run(**SHOT, reuse=third)
    assert second.facts["reused"] == 0 and third.facts["reused"] > 6 and back.facts["reused"] > 6
    assert same(back, second)


@pytest.mark.slow
def test_with_contact_pins_and_several_steps_too() -> None:
    floor = Contact(obstacles=[Plane(np.array([0, -0.05, 0]), np.array([0, 1, 0]))])
    shot: dict[str, Any] = {"contact": floor, "substeps": 2, "duration": 0.3, "pins": Pin(LEFT[:2])}
    keys = [KeyShape(0.125, twisted(BAR.rest, 0, 20)), KeyShape(0.25, None)]
    before = run(keys=keys, **shot)
    edited = [keys[0], KeyShape(0.25, twisted(BAR.rest, 0, -20))]
    taken_up, fresh = run(keys=edited, reuse=before, **shot), run(keys=edited, **shot)
    assert taken_up.facts["reused"] == 4 and same(taken_up, fresh)
    elsewhere = Contact(obstacles=[Plane(np.array([0, -0.06, 0]), np.array([0, 1, 0]))])
    assert run(keys=keys, **{**shot, "contact": elsewhere}, reuse=before).facts["reused"] == 0


def test_frames_come_one_by_one_and_carry_on() -> None:
    job = steering_job(BAR, material=JELLY, threads=1, **SHOT)
    some = []
    for frame in job.frames():
        some.append(frame)
        if frame.index == 5:
            break
    rest = list(job.frames(some[-1]))
    whole = run(**SHOT)
    assert np.array_equal(np.stack([f.points for f in [*some, *rest]]), whole.animation.points)


def test_what_is_no_take_is_refused() -> None:
    with pytest.raises(InputError, match="reuse"):
        run(reuse="v001")


def test_where_an_obstacle_comes_from_is_part_of_the_first_frame() -> None:
    """The first step knows where things are when it begins, which no later one asks for."""
    ball = sphere((0.3, 0.5, 0.1), 0.1, 0.05)

    def coming(first: float) -> Contact:
        def at(time: float) -> Array:
            return ball.rest + [0.0, first if time <= 0.0 else 0.0, 0.0]

        return Contact(obstacles=[Obstacle(ball, at, "ball")])

    digests = [steering_job(BAR, contact=coming(first), duration=0.25).facts["digests"] for first in (0.0, 0.0, 0.2)]
    assert digests[0] == digests[1] and digests[0][0] != digests[2][0]
