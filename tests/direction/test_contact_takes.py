"""Contact in small takes: what comes out is free of crossings, and what the report says of it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.collision import Obstacle, Plane, Touch, sphere
from bunraku.collision.blocks import pairs_within
from bunraku.contracts import InputError, Outcome, Points, State
from bunraku.direction import Job
from bunraku.direction.track import tracking_job
from bunraku.dynamics import ImplicitEuler
from bunraku.dynamics.implicit_euler import PAIRS
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend
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


@pytest.mark.slow
@pytest.mark.parametrize("jump", [100.0, 1e6])
def test_a_ball_that_jumps_through_a_sheet_does_not_stop_the_shot(
    jump: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Within one frame, to where no sheet can be taken: what is in its way is let through, and the frame says so."""
    mesh, ball = lying(6, 0.03), sphere([0.0, -0.1, 0.0], 0.1, 0.05)
    at = ball.rest + np.array([0.0, 0.0, jump, jump])[:, None, None] * np.array([0.0, 1.0, 0.0])
    leaping = bk.Animation(ball, np.arange(4) / 24, at, "linear")
    guide = still(mesh, 4)
    take = bk.track(guide, mesh, bk.clusters(guide, 4), contact=bk.Contact(obstacles=[leaping]), threads=1)
    faces = np.concatenate([mesh.faces, ball.faces + mesh.point_count])
    frames = [np.concatenate([x, y]) for x, y in zip(take.animation.points, at, strict=True)]
    check_apart(faces, frames, shell=len(mesh.faces), movable=mesh.point_count, between=False)
    assert np.abs(take.animation.points).max() < 1.0  # it is where its guide is, not where the ball is
    assert take.report["pinched"].astype(bool).tolist() == [False, False, True, False]
    (said,) = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert re.match(r"obstacles leave no room for (1 vertex|\d+ vertices); the first is \d+, ", said)
    assert said.endswith(", which is too fast")


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


def dipping(frames: int, press: float = 0.02) -> Job:
    """Regions over a floor whose guide goes through it within 0.2 s and stays there."""
    mesh, floor = lying(2, 0.05), Plane(np.zeros(3), np.array([0.0, 1.0, 0.0]))
    shell, tests = bk.hierarchy(mesh, levels=1)
    times = np.arange(frames) / 24
    down = 0.1 * np.minimum(times / 0.2, 1.0)
    guide = bk.Animation(mesh, times, mesh.rest - np.array([0.0, 1.0, 0.0]) * down[:, None, None])
    return tracking_job(
        guide, shell, tests, material=CLOTH, contact=bk.Contact(obstacles=[floor], press=press), threads=1,
        tolerance=4e-4, substeps=1,
    )  # fmt: skip


def test_what_a_region_takes_without_contact_is_kept_while_it_yields() -> None:
    """To the last bit, whatever the floor does to it: here, where the guide goes down steadily, its weight."""
    job = dipping(10)
    frames = list(job.frames())
    taken = np.stack([frame.state.memory["contact.free_force"] for frame in frames[1:]])
    missed = np.stack([frame.report["residual"] for frame in frames[1:]]) > 0.01
    assert missed[-3:].all() and not missed[0].any()
    assert (taken[-3:] == taken[-1]).all()
    assert taken.sum(axis=1) == pytest.approx(np.full(9, 9.81 * job.facts["mass"]), rel=1e-9)


@pytest.mark.parametrize("speed", [2.0, 5.0])
def test_sheets_that_are_led_through_each_other_at_speed_are_not_crushed(speed: float) -> None:
    """By 8 and 21 cm in each of two steps a frame, 2 mm cloth with edges of 5 cm: every step is solved, a good part of
    the reach stays open, and the guide presses with no more than it may.
    """
    mesh = two_layers(0.2)
    low, times = np.arange(mesh.point_count) < mesh.point_count // 2, np.arange(5) / 24
    up = np.where(low, 1.0, -1.0)[:, None] * np.array([0.0, speed, 0.0])
    guide = bk.Animation(mesh, times, mesh.rest + times[:, None, None] * up)
    shell, tests = bk.hierarchy(mesh, levels=1)
    take = bk.track(guide, shell, tests, material=CLOTH, contact=True, threads=1, tolerance=4e-4)
    check_apart(shell.faces, list(take.animation.points), between=False)
    near = take.report["pairs"] > 0
    assert near.any() and take.report["converged"].all()
    gap, reach = take.facts["contact"]["gap_m"], take.facts["contact"]["reach_m"]
    assert take.report["closest"][near].min() > gap + 0.1 * reach
    assert take.report["gave_way"].any()
    assert np.linalg.norm(take.report["force"], axis=2).max() < 1e3


def sliding(frames: int, balance: float = 0.0) -> Job:
    """A sheet that slides down another."""
    mesh = two_layers(0.03)
    slope = mesh.with_rest(mesh.rest + np.outer(mesh.rest[:, 0], [0.0, 0.5, 0.0]))
    pins = bk.Pin(np.arange(mesh.point_count // 2))
    return tracking_job(
        still(slope, frames), slope, None, material=CLOTH, contact=bk.Contact(friction=0.0, balance=balance), pins=pins,
        threads=1, tolerance=4e-4, substeps=1,
    )  # fmt: skip


@pytest.mark.parametrize("balance", [0.0, 0.2])
def test_a_run_among_surfaces_resumes_to_the_same_bytes(balance: float) -> None:
    """By a new stepper, from a frame on which a sheet slides down another: the order of its matrix is that of the room
    the run had made for pairs by then. And by a stepper that has run before, from the beginning."""
    job = sliding(13, balance=balance)
    whole = list(job.frames())
    assert int(whole[10].report["pairs"]) > 0 and len(whole[9].state.memory["contact.pairs"]) > 0
    for rest in (list(sliding(13, balance=balance).frames(after=whole[9])), list(job.frames())):
        assert rest[-1].index == 12 and rest[-1].state.q.tobytes() == whole[-1].state.q.tobytes()
        assert sorted(rest[-1].state.memory) == sorted(whole[-1].state.memory)
        for key, value in rest[-1].state.memory.items():
            assert np.array_equal(value, whole[-1].state.memory[key]), key


@pytest.mark.slow
def test_balanced_steps_take_fewer_iterations() -> None:
    exact, balanced = (
        sum(int(frame.report["iterations"]) for frame in sliding(9, balance=share).frames()) for share in (0.0, 0.2)
    )
    assert balanced < exact


def test_the_matrix_has_room_for_nearly_all_pairs_and_for_all_in_the_last_step() -> None:
    """Of many parts without room the pattern is made anew, of few only where a step ends."""
    state = list(sliding(9).frames())[-1].state
    stepper = sliding(9).stepper
    assert isinstance(stepper, ImplicitEuler)
    x, seconds = state.q.reshape(-1, 3), {"assemble": 0.0, "factor": 0.0}

    def knowing(pairs: Any) -> State:
        return State(state.time, state.q, state.velocity, {**state.memory, PAIRS: pairs})

    problem = stepper.freeze(knowing(np.zeros((0, 2), np.int64)), 1 / 24)
    stepper.factorise(problem, x, seconds)
    assert stepper._outside == 0
    room, parts = stepper._pairs, pairs_within(problem.touch.blocks(x)[0], len(x))  # type: ignore[union-attr]
    apart = parts[(parts[:, 0] < 25) & (parts[:, 1] >= 25)][0]  # of both sheets: the shell itself has no room for it
    few = room[(room != apart).any(axis=1)]
    assert len(few) == len(room) - 1
    problem = stepper.freeze(knowing(few), 1 / 24)
    stepper.factorise(problem, x, seconds)
    assert stepper._outside > 0 and np.array_equal(stepper._pairs, few)
    stepper.factorise(problem, x, seconds, whole=True)
    assert stepper._outside == 0
    after = stepper.step(knowing(few), 1e-3)  # so short that what is near stays
    assert after.outcome is Outcome.CONVERGED and stepper._outside == 0
    assert (after.value.memory[PAIRS] == apart).all(axis=1).any()


def test_what_a_solve_at_its_limit_leaves_behind_is_said_to_give_way() -> None:
    """A guide that may press very hard does not yield, and cannot be met: on the first frame that misses it, only the
    limit of the solve tells why."""
    job = dipping(8, press=10.0)
    assert isinstance(job.stepper, ImplicitEuler)
    hasty, state = job.stepper.with_settings(contact_limit=3), job.start
    missed = np.zeros(9, dtype=bool)
    while not missed.any():
        assert state.time < 7 / 24
        solution = hasty.step(state, 1 / 24)
        state = solution.value
        missed = np.linalg.norm(solution.stats["residual"].reshape(-1, 3), axis=1) > 1e-6
        assert (solution.stats["gives_way"] == missed).all()
        assert solution.outcome is Outcome.ITERATION_LIMIT or not missed.any()


def test_the_barrier_is_as_stiff_as_the_shell_and_its_inertia() -> None:
    """Elastic stiffness is found once; inertia is that of the step."""
    job = dipping(4)
    assert isinstance(job.stepper, ImplicitEuler)
    mass = job.facts["mass"] / job.mesh.point_count
    found = []
    for dt in (1 / 24, 1 / 48):
        touch = job.stepper.freeze(job.start, dt).touch
        assert isinstance(touch, Touch) and touch.shell_stiffness is not None
        assert touch.inertia == pytest.approx(mass / dt**2, rel=1e-12)
        found.append(touch.stiffness(1e-3) / (float(touch.shell_stiffness) + touch.inertia))
    assert found[0] == pytest.approx(found[1], rel=1e-12) and found[0] > 0.0


def test_regions_behind_their_guide_are_said_to_give_way() -> None:
    """A guide dips through a floor and comes up at once: regions are missed while they are held off and while they
    catch up, and on every frame the report names just those.
    """
    mesh, floor = lying(2, 0.05), Plane(np.zeros(3), np.array([0.0, 1.0, 0.0]))
    shell, tests = bk.hierarchy(mesh, levels=1)
    times = np.arange(25) / 24
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


def two_layers(apart: float) -> TriMesh:
    """Two sheets of 0.4 m, one above the other."""
    low, high = lying(4, 0.0), lying(4, apart)
    return TriMesh(np.concatenate([low.rest, high.rest]), np.concatenate([low.faces, high.faces + low.point_count]))


@pytest.mark.parametrize("apart", [0.1, 6e-3, 3e-3])
def test_layers_that_are_near_at_rest_keep_less_open(apart: float, caplog: pytest.LogCaptureFixture) -> None:
    """Of 6 mm with a thickness of 2 mm nine tenths of the rest are the reach; of 3 mm half stays open, and a tenth of
    the usual reach is left.
    """
    mesh = two_layers(apart)
    surfaces = bk.Contact().surfaces(mesh, MaterialBlend.uniform(CLOTH, len(mesh.faces)), 0.0)
    usual = 0.2 * 0.1 * (2 + np.sqrt(2)) / 3  # a fifth of two sides and a diagonal
    gap, reach = {0.1: (2e-3, usual), 6e-3: (2e-3, 0.9 * 4e-3), 3e-3: (1.5e-3, 0.1 * usual)}[apart]
    assert (surfaces.gap, surfaces.felt_within) == pytest.approx((gap, reach), rel=1e-9)
    touch = surfaces.at(State(0.0, mesh.rest.reshape(-1), np.zeros(mesh.rest.size)), 0.01)
    assert touch.busy(mesh.rest) == (apart < 6e-3)
    said = "are 0.003 m apart at rest: half of that, not the thickness of 0.002 m"
    assert (said in caplog.text) == (apart < 6e-3)


def test_what_is_sewn_or_does_not_feel_itself_may_be_near_at_rest() -> None:
    mesh = two_layers(3e-3)
    blend = MaterialBlend.uniform(CLOTH, len(mesh.faces))
    half = mesh.point_count // 2
    every = np.stack([np.tile(np.arange(half), half), np.repeat(np.arange(half, 2 * half), half)], axis=1)
    for contact, sewn in ((bk.Contact(self_contact=False), None), (bk.Contact(), every)):
        surfaces = contact.surfaces(mesh, blend, 0.0, sewn)
        assert surfaces.gap == pytest.approx(CLOTH.thickness, rel=1e-12) and surfaces.reach == 0.0


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
