"""A skin that pulls back: the body feels how stiff its skin is, and both together obey the laws of one body."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest

import bunraku as bk
from bunraku.contracts import Outcome
from bunraku.direction.wrinkle import Handle, wrinkle, wrinkling_job
from bunraku.direction.wrinkle.interior import POINTS, VELOCITY
from bunraku.direction.wrinkle.two_way import TwoWay
from bunraku.dynamics import Equilibrium, EquilibriumSettings
from bunraku.geometry import faces_through, tet_bar, vertex_normals

FOAM = bk.SolidMaterial(young=1e5, poisson=0.3, density=60.0)
SKIN = bk.ShellMaterial(young=1e7, poisson=0.3, thickness=2e-3, density=1000.0)
LONG, WIDE = 0.6, 0.1
BAR = tet_bar((12, 2, 2), (LONG, WIDE, WIDE)).surface()
SMALL = tet_bar((8, 3, 3), (0.4, 0.15, 0.15)).surface()


def job_of(body: Any = BAR, **given: Any) -> Any:
    asked: dict[str, Any] = {"skin": SKIN, "interior": FOAM, "cell": 0.1, "threads": 1, **given}
    return wrinkling_job(body, **asked)


def two_way(job: Any) -> TwoWay:
    assert isinstance(job.stepper, TwoWay)
    return job.stepper


def test_a_body_with_a_skin_bends_as_a_beam_with_one() -> None:
    """Timoshenko's cantilever under its own weight, foam and a box of skin in parallel: the skin has all of the
    stiffness but for a twentieth. The body is held by a handle of one cell, inside which it does not bend."""
    held = np.flatnonzero(BAR.rest[:, 0] < 0.1001)
    job = job_of(handles=Handle(held, lambda time: BAR.rest[held]), gravity=(0.0, -1e-3, 0.0))
    state = two_way(job)._joined(job.start)
    found = Equilibrium(two_way(job).system, EquilibriumSettings(length=LONG), threads=1).find(state)
    assert found.outcome is Outcome.CONVERGED and found.stats["stable"]
    moved = found.value.q.reshape(-1, 3)[two_way(job).nodes :] - BAR.rest
    sag = -float(moved[np.isclose(BAR.rest[:, 0], LONG), 1].mean())
    free, h = LONG - 0.1, SKIN.thickness
    bent = FOAM.young * WIDE**4 / 12 + 1e7 * h * (2 * WIDE * (WIDE / 2) ** 2 + 2 * WIDE**3 / 12)
    sheared = (5 / 6) * FOAM.young / 2.6 * WIDE**2 + 1e7 / 2.6 * h * 2 * WIDE
    load = 1e-3 * (FOAM.density * WIDE**2 + SKIN.areal_mass * 4 * WIDE)
    assert sag == pytest.approx(load * free**4 / (8 * bent) + load * free**2 / (2 * sheared), rel=0.1)
    alone = load * free**4 / (8 * FOAM.young * WIDE**4 / 12)
    assert sag < 0.1 * alone


def test_momentum_of_skin_and_interior_together_is_kept() -> None:
    """A free body that swings, spins and wrinkles: linear momentum to rounding; what turns it has no torque."""
    job = job_of(SMALL, duration=0.2, rate=20.0, gravity=(0.0, 0.0, 0.0))
    stepper, rest = two_way(job), two_way(job).interior.lattice.rest
    spin = np.cross([0.0, 0.0, 3.0], rest) + np.array([0.3, 0.1, 0.0]) + 2.0 * rest[:, :1] ** 2 * [0.0, 1.0, 0.0]
    skin = stepper.interior.lattice.points(spin)
    state = replace(job.start, velocity=skin.reshape(-1), memory={**job.start.memory, VELOCITY: spin})
    masses, force = stepper.system.mass.lumped, 0.0
    before = stepper._joined(state).velocity.reshape(-1, 3)
    linear, size = masses @ before, float(masses.sum()) * 0.4 * np.abs(before).max()
    for _ in range(3):
        found = stepper.step(state, 0.05)
        assert found.outcome is Outcome.CONVERGED
        state = found.value
        joint = stepper._joined(state)
        x, v = joint.q.reshape(-1, 3), joint.velocity.reshape(-1, 3)
        assert masses @ v == pytest.approx(linear, abs=1e-7 * float(np.linalg.norm(linear)))
        # m (v₁ − v₀) is dt times the force at the step's end: about the points there its torque is none.
        assert np.abs(masses @ np.cross(x, v - before)).max() < 1e-7 * size
        force, before = max(force, np.abs(masses[:, None] * (v - before)).max()), v
    assert force > 1e-4 * np.linalg.norm(linear)  # it does pull and turn


@pytest.mark.parametrize("contact", [None, True])
def test_forces_of_handles_and_weight_are_what_moves_a_body(contact: bool | None) -> None:
    """Newton's second law of the whole body over a step: one end is held, the other drawn away."""
    ends = [np.flatnonzero(np.isclose(SMALL.rest[:, 0], at)) for at in (0.0, 0.4)]
    drawn = [
        Handle(ends[0], lambda time: SMALL.rest[ends[0]]),
        Handle(ends[1], lambda time: SMALL.rest[ends[1]] + [0.5 * time, 0.2 * time, 0.0]),
    ]
    job = job_of(SMALL, handles=drawn, duration=0.2, rate=20.0, gravity=(0.0, -9.81, 0.0), contact=contact)
    stepper, masses = two_way(job), two_way(job).system.mass.lumped
    frames = list(job.frames())
    assert not frames[0].report["handle_force"].any()
    for before, after in pairwise(frames):
        first, second = (masses @ stepper._joined(one.state).velocity.reshape(-1, 3) for one in (before, after))
        forces = after.report["handle_force"]
        outer = forces.sum(axis=0) + masses.sum() * np.array([0.0, -9.81, 0.0])
        assert (second - first) / 0.05 == pytest.approx(outer, abs=1e-6 * np.abs(forces).max())
        assert forces[1, 0] > 0.0 > forces[0, 0]  # drawn apart


def test_an_animation_is_followed_on_average_and_gives_way_below() -> None:
    """Moved along evenly, nothing happens to it, to 1e-9 of its size. Pressed together, its averages are met and a skin
    that stiff keeps its shape where the animation has another."""
    times = np.linspace(0.0, 0.4, 5)
    along = SMALL.rest + np.outer(times, [2.0, -1.0, 0.5])[:, None]
    skin = bk.ShellMaterial(young=1e8, thickness=4e-3)
    take = wrinkle(
        bk.Animation(SMALL, times, along), skin=skin, interior=FOAM, cell=0.1, gravity=(0, 0, 0), threads=1
    )  # fmt: skip
    assert np.abs(take.animation.points - along).max() < 1e-9 * SMALL.size
    assert np.abs(take.report["height"]).max() < 1e-9 * SMALL.size
    dent = 0.02 * np.exp(-(((SMALL.rest[:, 0] - 0.2) / 0.04) ** 2)) * np.isclose(SMALL.rest[:, 1], 0.15)
    dented = SMALL.rest - np.outer(times / 0.4, dent)[:, :, None] * [0.0, 1.0, 0.0]
    take = wrinkle(
        bk.Animation(SMALL, times, dented), skin=skin, interior=FOAM, cell=0.1, gravity=(0, 0, 0), threads=1
    )  # fmt: skip
    assert take.report["handle_residual"].max() < 1e-9 and take.facts["two_way"]
    sunk = SMALL.rest[:, 1] - take.animation.points[-1][:, 1]
    middle = dent > 0.019
    assert 0.0 < sunk[middle].mean() < 0.8 * dent[middle].mean()


@pytest.mark.slow
def test_a_ball_sinks_into_a_skin_and_not_through_it() -> None:
    ball = bk.sphere((0.2, 0.215, 0.075), 0.06)
    lowered = bk.Animation(ball, np.array([0.0, 1.0]), np.stack([ball.rest, ball.rest - [0.0, 0.15, 0.0]]))
    held = np.flatnonzero(SMALL.rest[:, 1] == 0.0)
    job = job_of(
        SMALL, handles=Handle(held, lambda time: SMALL.rest[held]), duration=0.2, rate=20.0, gravity=(0, 0, 0),
        contact=bk.Contact(obstacles=[lowered], friction=0.0),
    )  # fmt: skip
    frames = list(job.frames())
    count = SMALL.point_count
    for frame in frames:
        points = np.concatenate([frame.points, lowered.at(frame.time)])
        assert not faces_through(points, SMALL.faces, ball.faces + count, touching=True).any()
    top = np.isclose(SMALL.rest[:, 1], 0.15)
    under = top & (np.abs(SMALL.rest[:, [0, 2]] - [0.2, 0.075]) < 0.03).all(axis=1)
    assert under.any() and frames[-1].points[under, 1].max() < 0.15 - 0.02
    inside = two_way(job).interior.lattice.points(frames[-1].state.memory[POINTS])
    assert inside[under, 1].max() < 0.15 - 0.01  # it goes along


def test_a_floor_is_felt_by_the_skin_and_not_by_cells_that_reach_through_it() -> None:
    """Dropped from 40 mm: as without the floor until they meet, then it stays above it, and comes to rest there."""
    floor = bk.Plane(np.array([0.0, -0.04, 0.0]), np.array([0.0, 1.0, 0.0]))
    asked: dict[str, Any] = {"duration": 0.5, "rate": 40.0, "cell": 0.1}
    job = job_of(SMALL, contact=bk.Contact(obstacles=[floor], friction=0.0, reach=4e-3), **asked)
    assert two_way(job).interior.lattice.rest[:, 1].min() < -0.04
    frames = list(job.frames())
    free = list(islice(job_of(SMALL, contact=bk.Contact(), **asked).frames(), 3))
    for frame, alone in zip(frames, free, strict=False):
        assert frame.points == pytest.approx(alone.points, abs=1e-9)
    assert all(frame.report["converged"] for frame in frames)
    lowest = [frame.points[:, 1].min() + 0.04 for frame in frames]
    assert 0.002 < min(lowest) and lowest[-1] < 0.007 and frames[-1].points[:, 1].max() > 0.1


@pytest.mark.slow
def test_a_handle_that_cannot_go_on_tells_of_no_force() -> None:
    """Taken into a wall: the step is given up, and what its multipliers are is no force."""
    end = np.flatnonzero(np.isclose(SMALL.rest[:, 0], 0.4))
    wall = bk.Plane(np.array([0.43, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0]))
    taken = Handle(end, lambda time: SMALL.rest[end] + [min(0.6 * time, 0.06), 0.0, 0.0])
    asked: dict[str, Any] = {"duration": 0.15, "rate": 20.0, "gravity": (0, 0, 0)}
    frames = list(job_of(SMALL, handles=taken, contact=bk.Contact(obstacles=[wall], reach=4e-3), **asked).frames())
    assert [bool(frame.report["converged"]) for frame in frames] == [True, False, False, False]
    assert all(np.abs(frame.report["handle_force"]).max() == 0.0 for frame in frames)


@pytest.mark.slow
def test_a_straight_block_does_not_stay_on_its_ridge() -> None:
    """Pressed by its ends, it is in balance without a wrinkle; it is not left so."""
    block = tet_bar((32, 8, 8), (0.48, 0.12, 0.12)).surface()
    skin = bk.ShellMaterial(young=1e7, poisson=0.3, thickness=6e-3)
    ends = [np.flatnonzero(side) for side in (block.rest[:, 0] < 0.031, block.rest[:, 0] > 0.449)]

    def pressed(which: Any, sign: float) -> Handle:
        return Handle(which, lambda time: block.rest[which] + [sign * 0.04 * time, 0.0, 0.0])

    job = job_of(
        block, skin=skin, cell=0.08, handles=[pressed(ends[0], 1.0), pressed(ends[1], -1.0)], duration=1.0, rate=6.0,
        gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    *_, last = islice(job.frames(), 7)
    assert last.report["converged"]
    inside = two_way(job).interior.lattice.points(last.state.memory[POINTS])
    height = np.sum((last.points - inside) * vertex_normals(inside, block.faces), axis=1)
    middle = np.abs(block.rest[:, 0] - 0.24) < 0.12
    assert height[middle].std() > 0.1 * skin.thickness
