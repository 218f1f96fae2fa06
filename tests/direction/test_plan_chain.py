"""Chains: motions that go on from each other, on the ground and in the air."""

from __future__ import annotations

import numpy as np
import pytest
from planned import BASE, BLOCK, RUBBER, TOP, posed
from scipy.spatial.transform import Rotation

from bunraku.contracts import InputError
from bunraku.direction.plan import Chain, Flight, Key, Phase, chain
from bunraku.direction.plan.handover import take_off
from bunraku.direction.plan.place import Place, Turning, counted
from bunraku.direction.steer import Grip
from bunraku.dynamics import rigid_motions
from bunraku.geometry import tet_lumped_mass
from bunraku.materials import SolidMaterial

MASS = tet_lumped_mass(BLOCK, RUBBER.density)
CENTRE = MASS @ BLOCK.rest / MASS.sum()
HARDER = SolidMaterial(young=2e5, poisson=0.3, density=1000.0, stiffness_damping=0.002, mass_damping=0.2)


def centre(x: np.ndarray) -> np.ndarray:
    return MASS @ x / MASS.sum()


JUMP = [
    Phase(0.5, BASE, Key(0.5, None, velocities=(0.6, 2.5, 0.0))),
    Flight(0.45, BASE, BLOCK.rest[BASE] - CENTRE, velocities=(0.0, 0.0, 0.0)), Phase(0.8, BASE, rest=True),
]  # fmt: skip


@pytest.fixture(scope="module")
def jump() -> Chain:
    return chain(BLOCK, JUMP, material=HARDER, modes=20)


def test_nothing_jumps_where_one_motion_goes_over_into_another(jump: Chain) -> None:
    """Positions of all vertices, and velocities of all that are not caught by the ground."""
    for k in (1, 2):
        before, after = jump.motions[k - 1], jump.motions[k]
        assert np.abs(before.points(before.duration) - after.points(0.0)).max() < 1e-8 * BLOCK.size
        caught = np.isin(np.arange(BLOCK.point_count), BASE) & (k == 2)
        change = before.velocities(before.duration) - after.velocities(0.0)
        assert np.abs(change[~caught]).max() < 1e-6
    assert jump.report["met"] and len(jump.report["motions"]) == 3


def test_the_centre_of_mass_flies_as_gravity_says(jump: Chain) -> None:
    begin, end = jump.begins[1], jump.begins[2]
    x, v = centre(jump.points(begin)), centre(jump.velocities(begin))
    assert v == pytest.approx([0.6, 2.5, 0.0], abs=1e-4)
    for share in (0.3, 0.7, 1.0 - 1e-9):
        t = share * (end - begin)
        assert centre(jump.points(begin + t)) == pytest.approx(x + t * v + [0, -0.5 * 9.81 * t * t, 0], abs=1e-8)
    assert centre(jump.points(end))[1] == pytest.approx(0.45, abs=1e-6)


@pytest.mark.parametrize("warped", [False, True])
@pytest.mark.parametrize("angle", [0.3, 1.75, 3.0])
def test_what_takes_off_lying_down_is_not_turned_upside_down(jump: Chain, warped: bool, angle: float) -> None:
    """The body's own frame turns as the pose does, by whatever angle, from a frame that still stands upright."""
    body = jump.motions[0].body.stock.flying(12, warped=warped)
    turned = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()
    x = (BLOCK.rest - CENTRE) * [1.1, 0.9, 1.0] @ turned.T + [0.0, 1.0, 0.0]
    turns = np.tile([0.0, 0.0, angle], (len(BLOCK.tets), 1))
    begun = take_off(body, x, np.zeros_like(x), np.eye(3), turns, np.array([0.0, -9.81, 0.0]))
    assert begun.place.turn == pytest.approx(turned, abs=1e-6)
    own = (x - begun.place.origin) @ begun.place.turn + begun.place.pivot
    meant = body.warp.points(begun.position) if warped else BLOCK.rest + begun.position
    assert meant == pytest.approx(own, abs=1e-8)


def test_it_lands_on_its_feet_and_comes_to_rest(jump: Chain) -> None:
    landed, last = jump.points(jump.begins[2]), jump.points(jump.duration)
    assert np.abs(landed[BASE, 1]).max() < 2e-3
    assert np.abs(last[BASE] - landed[BASE]).max() < 1e-12
    shift = (last - BLOCK.rest)[BASE].mean(axis=0)
    assert shift[0] > 0.1 and np.abs(last - BLOCK.rest - shift).max() < 5e-3
    assert np.abs(jump.velocities(jump.duration)).max() < 1e-9


def test_feet_land_about_the_centre_of_mass_as_they_were_keyed(jump: Chain) -> None:
    """Places and velocities of the landing key are those beside the centre of mass, wherever that has flown."""
    flight = jump.motions[1]
    x, v = flight(flight.duration)
    assert np.abs(x[BASE] - centre(x) - (BLOCK.rest[BASE] - CENTRE)).max() < 1e-3 * BLOCK.size
    assert np.abs(v[BASE] - centre(v)).max() < 1e-2
    assert np.abs(centre(x) - CENTRE)[0] > 0.2
    climb, fall = centre(flight.velocities(0.0))[1], centre(flight.points(0.0))[1] - 0.45
    assert flight.duration == pytest.approx((climb + np.sqrt(climb**2 + 2 * 9.81 * fall)) / 9.81, rel=1e-12)


def test_what_lands_is_attached_as_what_is_keyed_on_the_ground_is() -> None:
    feet = BLOCK.rest[BASE] - CENTRE + [0.05, -0.02, 0.02]
    phases = [JUMP[0], Flight(0.5, BASE, feet)]
    plain, attached = (chain(BLOCK, phases, material=HARDER, modes=4, attach=one).motions[1] for one in (False, True))
    assert not plain.report["met"] and "attach=True" in plain.report["sentences"][0]
    assert attached.report["met"], attached.report["sentences"]
    assert attached.report["keys"][0].unreachable < 0.2 * plain.report["keys"][0].unreachable
    rigid = rigid_motions(BLOCK.rest, MASS).reshape(-1, 6) * np.repeat(MASS, 3)[:, None]
    shapes = attached.body.modes.shapes.reshape(len(rigid), -1)
    assert shapes.shape[1] == 4 + 6 + 2 and np.abs(rigid.T @ shapes).max() < 1e-10


def test_nothing_of_a_linearised_turn_or_shift_is_in_a_body_that_flies(jump: Chain) -> None:
    """Beside the frame's own: neither in where it is nor in how fast; and the frame comes to rest upright."""
    flight = jump.motions[1]
    rigid = rigid_motions(BLOCK.rest, MASS).reshape(-1, 6) * np.repeat(MASS, 3)[:, None]
    for share in (0.0, 0.4, 1.0):
        values = flight.spline([share * flight.duration])
        for coordinates in (values.position[0], values.velocity[0]):
            u = flight.body.modes.displacements(coordinates)
            assert np.abs(u).max() > 1e-3 and np.abs(rigid.T @ u.reshape(-1)).max() < 1e-8
    assert np.abs(flight.place.turn_at(flight.duration) - np.eye(3)).max() < 1e-9


def test_a_take_off_is_completed_to_a_whole_pose_and_velocity(jump: Chain) -> None:
    """The whole key in the place of the centre's velocity: the same jump."""
    whole = jump.key(0.5)
    assert whole.time == pytest.approx(0.5) and whole.vertices is not None
    assert len(whole.vertices) == BLOCK.point_count - len(BASE)
    flight = jump.key(0.6)
    assert flight.time == pytest.approx(0.1) and flight.vertices is not None
    assert len(flight.vertices) == BLOCK.point_count and flight.positions is not None
    assert np.array_equal(flight.positions, jump.points(0.6))
    again = chain(BLOCK, [Phase(0.5, BASE, whole), Flight(0.45)], material=HARDER, modes=20)
    assert again.motions[1].duration == pytest.approx(jump.motions[1].duration, rel=1e-7)
    for time in (0.2, 0.45):
        assert np.abs(again.points(time) - jump.points(time)).max() < 1e-7 * BLOCK.size
    x, v = again(0.3)
    assert np.array_equal(x, again.points(0.3)) and np.array_equal(v, again.velocities(0.3))


def test_motions_that_are_kept_are_those_that_were(jump: Chain) -> None:
    with pytest.raises(InputError, match="not so many motions"):
        chain(BLOCK, JUMP, kept=1, material=HARDER, modes=20)
    again = chain(BLOCK, JUMP, before=jump, kept=2, material=HARDER, modes=20)
    assert again.motions[:2] == jump.motions[:2]
    assert np.array_equal(again.points(again.duration), jump.points(jump.duration))


def test_it_crouches_before_it_jumps(jump: Chain) -> None:
    """Anticipation: the centre of mass goes down and back before it goes up and on."""
    height = np.array([centre(jump.points(t))[1] for t in np.linspace(0.0, 0.5, 30)])
    assert height.min() < CENTRE[1] - 0.02 and height[-1] > height.min() + 0.05


def test_frames_of_a_chain_are_its_poses(jump: Chain) -> None:
    take = jump.take(rate=30)
    for k in (0, 10, 20, len(take.animation.times) - 1):
        assert np.abs(take.animation.points[k] - jump.points(float(take.animation.times[k]))).max() < 1e-10
        assert np.abs(take.velocities[k] - jump.velocities(float(take.animation.times[k]))).max() < 1e-7
    assert take.surface is not None and jump.points(99.0) == pytest.approx(jump.points(jump.duration))


def test_a_step_stands_on_the_other_foot() -> None:
    """Two feet: one moves while the other stays, then the other way round; nothing slides."""
    left = BASE[BLOCK.rest[BASE, 0] < 0.1]
    right = BASE[BLOCK.rest[BASE, 0] > 0.2]
    step = BLOCK.rest[right] + [0.0, 0.05, 0.1]
    walk = chain(
        BLOCK, [Phase(0.4, left, Key(0.4, right, step, weight=10.0)), Phase(0.5, right, rest=True)],
        material=RUBBER, modes=25,
    )  # fmt: skip
    assert walk.report["motions"][0]["keys"][0].missed < 0.01
    assert np.abs(walk.points(0.3)[left] - BLOCK.rest[left]).max() < 1e-12
    held = walk.points(0.4)[right]
    assert np.abs(walk.points(0.7)[right] - held).max() < 1e-12
    assert np.abs(walk.points(0.4 - 1e-9) - walk.points(0.4)).max() < 1e-6


def test_a_turn_begins_at_its_rate_and_comes_to_rest() -> None:
    turning = Turning(np.array([1.0, 2.0, -0.5]), np.array([0.3, -2.0, 0.8]), 0.7)
    turns, rate = turning.at(np.array([0.0, 0.35, 0.7]))
    assert np.abs(turns[0] - np.eye(3)).max() < 1e-15 and rate[0] == pytest.approx([1.0, 2.0, -0.5])
    assert (
        Rotation.from_matrix(turns[2]).as_rotvec() == pytest.approx([0.3, -2.0, 0.8]) and np.abs(rate[2]).max() < 1e-12
    )
    near, _ = turning.at(np.array([0.35 - 1e-6, 0.35 + 1e-6]))
    skew = turns[1].T @ (near[1] - near[0]) / 2e-6
    assert [skew[2, 1], skew[0, 2], skew[1, 0]] == pytest.approx(rate[1], abs=1e-6)


def test_a_key_of_the_world_is_one_of_the_bodys_own_frame() -> None:
    rng = np.random.default_rng(0)
    turn = Rotation.from_rotvec([0.3, 1.0, -0.2]).as_matrix()
    offset = 0.01 * rng.normal(size=BLOCK.rest.shape)
    place = Place(turn, CENTRE, np.array([1.0, 2.0, 3.0]), offset, np.array([0.5, 1.0, 0.0]), np.array([0, -9.81, 0]))
    own, speed = BLOCK.rest + 0.1 * rng.normal(size=BLOCK.rest.shape), rng.normal(size=BLOCK.rest.shape)
    world = Key(0.3, TOP, place.points(own, 0.3)[TOP], place.velocities(own, speed, 0.3)[TOP])
    back = place.own_key(world, MASS)
    assert back.positions is not None and back.velocities is not None
    assert np.abs(back.positions - own[TOP]).max() < 1e-12 and np.abs(back.velocities - speed[TOP]).max() < 1e-12
    middle = place.own_key(Key(0.3, None, centre(place.points(own, 0.3))), MASS)
    assert middle.positions is not None and np.abs(middle.positions[0] - centre(own)).max() < 1e-12


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_keys_count_turns_from_the_rest_shape_whatever_the_body_stands_on(side: float) -> None:
    """It goes over head first: onto its top, half a turn from the rest shape, then onto its base, a whole turn."""
    over = np.array([0.6 * side, 0.0, 0.0])
    head = posed(0.6, Grip(TOP, over - [0.0, 0.9, 0.0], (0.0, 0.0, -np.pi * side)))
    foot = posed(0.6, Grip(BASE, 2.0 * over, (0.0, 0.0, -2.0 * np.pi * side)))
    flip = chain(BLOCK, [Phase(0.6, BASE, head), Phase(0.6, TOP, foot), Phase(0.8, BASE, rest=True)], material=HARDER)
    assert flip.motions[1].place.wound == pytest.approx([0.0, 0.0, -np.pi * side], abs=0.1)
    assert flip.motions[2].place.wound == pytest.approx([0.0, 0.0, -2.0 * np.pi * side], abs=0.1)
    heights = [flip.points(0.6 + t)[BASE, 1].mean() for t in np.linspace(0.0, 0.6, 13)]
    assert max(heights) > 0.7 and min(heights) > -0.1
    assert np.abs(flip.points(2.0) - BLOCK.rest - 2.0 * over).max() < 5e-3


def test_a_rotation_has_as_many_whole_turns_as_one_near_it() -> None:
    near = np.array([0.1, -9.0, 0.2])
    turn = Rotation.from_rotvec(near).as_matrix()
    assert counted(turn, near) == pytest.approx(near, abs=1e-12)
    slightly = Rotation.from_rotvec([0.02, 0.01, -0.03]).as_matrix()
    assert np.linalg.norm(counted(slightly @ turn, near) - near) < 0.05
    place = Place(turn, CENTRE, CENTRE, turning=Turning(np.zeros(3), np.array([0.0, -3.0, 0.0]), 1.0), wound=near)
    assert place.wound_at(1.0)[1] == pytest.approx(-12.0, abs=0.1)
