"""Several bodies in one steered shot: each as it would be alone, until they touch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from steered import BAR, JELLY, LEFT, MIDDLE, RIGHT, run

from bunraku.collision import Between, Plane
from bunraku.contracts import InputError, State
from bunraku.direction import Contact, Pin
from bunraku.direction.steer import Body, KeyShape, steering_job
from bunraku.direction.steer.touching import swallowed
from bunraku.energies import Placed, Solid
from bunraku.geometry import TetMesh, intersecting_faces, tet_bar, tet_lumped_mass
from bunraku.materials import as_solid
from bunraku.motion import Path
from bunraku.testing import Probe, check_energy

BLOCK = tet_bar((2, 2, 2), (0.2, 0.2, 0.2))
FLOOR = Plane(np.array([0.0, -0.1, 0.0]), np.array([0.0, 1.0, 0.0]))
TIMES = np.arange(6) * 0.1
ARC = np.stack([TIMES, 0.3 * np.sin(6.0 * TIMES), 0.2 * TIMES**2], axis=1)
TURNS = Rotation.from_rotvec(np.outer(TIMES, [0.0, 3.0, 2.0])).as_matrix()
SQUASHED = BLOCK.rest * [1.1, 0.7, 1.1]


def dropped(body: TetMesh, height: float) -> TetMesh:
    return body.with_rest(body.rest + [0.0, height, 0.0])


def test_an_energy_among_others_keeps_its_derivatives() -> None:
    total, first = BAR.point_count + 7, 4
    rest = np.random.default_rng(0).normal(size=(total, 3))
    rest[first : first + BAR.point_count] = BAR.rest
    placed = Placed(Solid(BAR, as_solid(JELLY)), first, BAR.point_count, total)
    state = State(0.0, rest.reshape(-1), np.zeros(3 * total))
    moved = rest + 0.02 * np.random.default_rng(1).normal(size=rest.shape)
    check_energy(placed.at(state, 0.02), [Probe("moved", moved, 0.1)], rigid=False)  # damping remembers where it was
    others = np.delete(placed.at(state, 0.02).gradient(moved), np.arange(first, first + BAR.point_count), axis=0)
    assert not others.any()


ASKED: dict[str, dict[str, Any]] = {
    "keys": {"keys": [KeyShape(0.2, SQUASHED), KeyShape(0.4, None)]},
    "path": {"path": Path(TIMES, ARC)},
    "turning": {"path": Path(TIMES, ARC, rotations=TURNS)},
    "compensated": {"path": Path(TIMES, ARC, rotations=TURNS, hold="compensation")},
    "start": {"start": BLOCK.rest + [0.0, 1.0, 0.0], "velocity": (1.0, 2.0, 0.0)},
    "pinned": {"pins": Pin([0, 1, 2])},
}


@pytest.mark.slow
@pytest.mark.parametrize("what", list(ASKED))
def test_bodies_that_do_not_touch_move_as_each_would_alone(what: str) -> None:
    """Whatever is asked of the second, it is asked of its own vertices, and the first does not feel it."""
    asked = {"tolerance": 1e-10}
    bar = Body(BAR, material=JELLY, pins=Pin(LEFT), path=Path(TIMES, ARC, MIDDLE) if what != "compensated" else None)
    block = Body(BLOCK, material="rubber", **ASKED[what])
    both = run([bar, block], material="rubber", **asked)
    alone = run(BAR, pins=bar.pins, path=bar.path, **asked), run(BLOCK, material="rubber", **ASKED[what], **asked)
    for k, (one, size) in enumerate(zip(alone, (BAR.size, BLOCK.size), strict=True)):
        first, last = both.facts["bodies"][k]["vertices"]
        assert np.abs(both.animation.points[:, first:last] - one.animation.points).max() < 1e-7 * size
    assert both.report["residual"].max(initial=0.0) < 1e-8
    assert both.report["rotation_residual"].max(initial=0.0) < 1e-8
    assert np.allclose(both.report["elastic"], sum(one.report["elastic"] for one in alone), rtol=1e-5, atol=1e-9)
    assert both.report["rotation"].shape[1:] == (2, 3, 3)


def test_two_bodies_turn_exactly_at_once() -> None:
    other = Path(TIMES, ARC + [2.0, 0.0, 0.0], rotations=TURNS.transpose(0, 2, 1))
    bodies = [Body(BAR, material=JELLY, path=Path(TIMES, ARC, rotations=TURNS)), Body(BLOCK, path=other)]
    take = run(bodies, material="rubber")
    assert take.report["rotation_residual"].shape == (len(take.animation.times), 2)
    assert take.report["rotation_residual"].max() < 1e-9 and take.report["residual"].max() < 1e-9


def test_keys_and_leads_are_each_bodys_own() -> None:
    slow = Body(BLOCK, name="slow", material="jelly", keys=[KeyShape(0.2, SQUASHED)])
    led = Body(BLOCK, name="led", material="jelly", keys=[KeyShape(0.2, SQUASHED), KeyShape(0.4, None)], lead=True)
    take = run([slow, led], material="rubber", gravity=(0, 0, 0))
    assert [one.body for one in take.facts["approaches"]] == ["slow", "led", "led"]
    assert take.facts["sentences"][0].startswith("slow: the key at 0.2 s")
    assert take.facts["told_at"][:2] == [0.0, 0.2] and take.facts["told_at"][3] < 0.2
    late = [abs(one.frames) for one in take.facts["approaches"]]
    assert late[1] < late[0]


@pytest.mark.slow
def test_a_body_falls_onto_another_and_both_are_squashed() -> None:
    """Momentum passes from one to the other, and neither enters the other or the ground."""
    bodies = [Body(BLOCK, name="under"), Body(dropped(BLOCK, 0.35), name="over", material="jelly")]
    take = run(bodies, material="rubber", contact=Contact(obstacles=[FLOOR]), duration=0.6, substeps=2)
    x = take.animation.points
    faces = take.animation.mesh.surface_faces
    assert x[..., 1].min() > -0.1
    assert not any(intersecting_faces(frame, faces, touching=True).any() for frame in x)
    count = BLOCK.point_count
    assert x[-1, count:, 1].mean() > x[-1, :count, 1].mean() + 0.1  # on top of it
    alone = run(BLOCK, material="rubber", contact=Contact(obstacles=[FLOOR]), duration=0.6, substeps=2)
    assert np.abs(x[:, :count] - alone.animation.points).max() > 1e-3  # it feels the other


def test_bodies_keep_their_momentum_when_they_meet() -> None:
    bodies = [
        Body(BLOCK, velocity=(1.0, 0.0, 0.0)),
        Body(BLOCK.with_rest(BLOCK.rest + [0.3, 0.03, 0.02]), velocity=(-0.5, 0.0, 0.0), material="jelly"),
    ]
    take = run(bodies, material="rubber", contact=True, gravity=(0, 0, 0), duration=0.5, substeps=4, tolerance=1e-10)
    assert take.report["pairs"].max() > 0
    masses = np.concatenate([tet_lumped_mass(one.mesh, as_solid(one.material).density) for one in bodies])
    momentum = np.einsum("n,tni->ti", masses, take.velocities)
    assert np.abs(momentum - momentum[0]).max() < 1e-6 * np.abs(momentum[0]).max()
    assert np.abs(np.diff(take.velocities[:, :9, 0].mean(axis=1))).max() > 0.1  # they did meet


def test_bodies_that_lie_in_each_other_at_rest_are_led_apart_by_their_paths_beginnings() -> None:
    """Rest shapes of different bodies say nothing of where these are: both may be modelled at the origin."""
    away = Path([0.0, 0.5], np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0]]))
    take = run([Body(BLOCK), Body(BLOCK, path=away)], material="rubber", contact=True, gravity=(0, 0, 0))
    assert take.report["pairs"].max() == 0 and take.report["residual"].max() < 1e-9


def test_the_surface_of_a_take_holds_all_bodies() -> None:
    take = run([Body(BAR), Body(BLOCK, surface=BLOCK.surface())], material="rubber", duration=0.1)
    assert take.surface is not None
    assert take.surface.mesh.point_count == BAR.surface().point_count + BLOCK.surface().point_count
    fine = BLOCK.surface().point_count
    own = take.animation.points[:, BAR.point_count :][:, BLOCK.surface_vertices]
    assert np.abs(take.surface.points[:, -fine:] - own).max() < 1e-9


def test_an_edit_of_one_body_keeps_the_frames_before_it() -> None:
    def bodies(last: float) -> list[Body]:
        path = Path(TIMES, ARC)
        return [Body(BAR), Body(BLOCK, path=path.moved(5, path.points[5] + [0.0, last, 0.0]))]

    first = run(bodies(0.0), material="rubber")
    again = run(bodies(0.1), material="rubber", reuse=first)
    fresh = run(bodies(0.1), material="rubber")
    assert 0 < again.facts["reused"] < len(first.animation.times)
    assert np.array_equal(again.animation.points, fresh.animation.points)


def test_the_same_said_in_other_words_is_no_setting_of_the_shot() -> None:
    take = run([Body(BAR), Body(BLOCK)], material="rubber", keys=[], pins=[], interpolation_damping=8, duration=0.1)
    assert take.facts["warnings"] == []


def test_bodies_that_begin_in_each_other_are_told_by_their_names() -> None:
    bodies = [Body(BLOCK, name="a"), Body(BLOCK.with_rest(BLOCK.rest + 0.05), name="b"), Body(dropped(BAR, 3.0))]
    with pytest.raises(InputError, match=r"^a and b: .*first pose.*start or a path"):
        run(bodies, material="rubber", contact=True)
    with pytest.raises(InputError, match=r"^a and b: .*first pose.*start or a path"):
        run([Body(BLOCK, name="a"), Body(BLOCK, name="b")], material="rubber", contact=True)


def test_a_body_inside_another_is_refused() -> None:
    """Their surfaces are far from each other, and would never meet."""
    large = tet_bar((2, 2, 2), (2.0, 2.0, 2.0))
    small = Body(BLOCK.with_rest(BLOCK.rest + [0.3, 0.4, 0.2]), name="small")
    for bodies in ([Body(large, name="large"), small], [small, Body(large, name="large")]):
        with pytest.raises(InputError, match=r"(large and small|small and large): .*in each other in the first pose"):
            run(bodies, material="rubber", contact=True)
    run(bodies, material="rubber", duration=0.1)  # without contact they do not feel each other
    flat = large.with_rest(large.rest * [1.0, 0.0, 1.0] + [0.0, 0.45, 0.0])
    assert swallowed({"flat": flat, "small": small.mesh.with_rest(BLOCK.rest)}) is None  # it holds nothing


def test_contact_knows_bodies_by_their_names() -> None:
    said = Contact(between=Between("a", "b", friction=0.9, thickness=0.004))
    bodies = [Body(BLOCK, name="a"), Body(dropped(BLOCK, 0.5), name="b")]
    surfaces = steering_job(bodies, contact=said).stepper._system.contact  # type: ignore[attr-defined]
    assert set(surfaces.named) == {"a", "b"} and surfaces.parts.gaps[1, 2] == 0.004
    alone = Contact(between=Between("a", "floor", friction=0.9), obstacles=[replace(FLOOR, name="floor")])
    surfaces = steering_job([bodies[0]], contact=alone).stepper._system.contact  # type: ignore[attr-defined]
    assert set(surfaces.named) == {"a"}
    with pytest.raises(InputError, match=r"contact\.between\[0\]: .*'c'.*allowed: a, b"):
        run(bodies, material="rubber", contact=Contact(between=Between("a", "c", friction=0.9)))


def test_the_way_of_one_of_several_bodies_is_a_path() -> None:
    take = run([Body(BAR), Body(BLOCK, name="b", path=Path(TIMES, ARC, rotations=TURNS))], material="rubber")
    for which in (1, "b"):
        found = Path.recorded(take, body=which, turning=True)
        assert np.abs(found.at(0.5) - ARC[5]).max() < 1e-6
        assert found.rotations is not None and np.abs(found.rotation(0.5) - TURNS[-1]).max() < 1e-6
        assert found.vertices is None
    with pytest.raises(InputError, match=r"the take has several bodies.*body 1, b.*body="):
        Path.recorded(take)
    with pytest.raises(InputError, match=r"has no such body.*'c'.*body 1, b"):
        Path.recorded(take, body="c")
    with pytest.raises(InputError, match=r"has no such body.*7"):
        Path.recorded(take, body=7)


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "nothing": ([], {}, "nothing to steer"),
    "a mesh in a list": ([BAR], {}, r"body\[0\]"),
    "one of another kind": ([Body(BAR), "block"], {}, r"body\[1\]"),
    "no mesh": ([Body("bar")], {}, r"body\[0\]\.mesh"),  # type: ignore[arg-type]
    "keys said of the shot": ([Body(BAR), Body(BLOCK)], {"keys": KeyShape(0.1, None)}, "keys is said of each body"),
    "the same name": ([Body(BAR, name="a"), Body(BLOCK, name="a")], {}, "a name of its own"),
    "a pin of the other": ([Body(BAR), Body(BLOCK, pins=Pin(RIGHT + 100))], {}, "vertices"),
    "a pin that would be the next body's": (
        [Body(BLOCK, name="a", pins=Pin([27])), Body(BAR)],
        {},
        r"a: pin\.vertices .*'27'.*0 to 26",
    ),
    "a pin that would be the last body's": (
        [Body(BLOCK), Body(BAR, name="b", pins=Pin([-1]))],
        {},
        r"b: pin\.vertices .*'-1'.*0 to 62",
    ),
    "a pin to a guide": (
        [Body(BAR, pins=Pin([0])), Body(BLOCK, name="b", pins=Pin([0], to="guide"))],
        {},
        r"b: pins\[0\]\.to: a steered body has no guide",
    ),
    "a pin to nothing": ([Body(BAR), Body(BLOCK, name="b", pins=Pin([0], to="bra"))], {}, r"b: unknown pin\.to"),
    "a path of the other": ([Body(BAR), Body(BLOCK, path=Path([0.0], np.zeros((1, 3)), [60]))], {}, "vertices"),
    "a key of the other": ([Body(BAR), Body(BLOCK, name="b", keys=KeyShape(0.1, BAR.rest))], {}, "^b: key at 0.1 s"),
    "two keys, both wrong": (
        [Body(BAR), Body(BLOCK, name="b", keys=[KeyShape(0.1, BAR.rest), KeyShape(9.0, None)])],
        {},
        "^b: key at 0.1 s.*\nb: key at 9 s",
    ),
    "no material": ([Body(BAR), Body(BLOCK, name="b", material="jely")], {}, "^b: unknown solid material"),
    "a pose of the other": ([Body(BAR), Body(BLOCK, name="b", start=BAR.rest)], {}, "^b: start must be"),
    "a velocity of the other": ([Body(BAR), Body(BLOCK, name="b", velocity=BAR.rest)], {}, "^b: velocity must be"),
    "a pose off its path": (
        [Body(BAR), Body(BLOCK, name="b", start=BLOCK.rest, path=Path([0.0], np.ones((1, 3))))],
        {},
        "^b: start: the first pose is not where the path begins",
    ),
    "a folder for a cache": ([Body(BAR), Body(BLOCK)], {"cache": "ways"}, r"cache: .*'ways'.*ContentCache"),
    "a lead that is none": ([Body(BAR), Body(BLOCK, name="b", lead=-1.0)], {}, "^b: lead must be"),
    "a surface of the other": ([Body(BAR), Body(BLOCK, name="b", surface=3)], {}, "^b: surface"),  # type: ignore[arg-type]
    "keys that are none": ([Body(BAR), Body(BLOCK, name="b", keys=3)], {}, "^b: keys"),  # type: ignore[arg-type]
    "a mesh inside out": (
        [Body(BAR), Body(TetMesh(BLOCK.rest * [1, -1, 1], BLOCK.tets), name="b")],
        {},
        "^b: body, tets .*inside out",
    ),
}


@pytest.mark.parametrize("what", list(REFUSED))
def test_what_no_bodies_are_is_refused(what: str) -> None:
    bodies, given, said = REFUSED[what]
    with pytest.raises(InputError, match=said):
        run(bodies, material="rubber", **given)
