"""Where a search for a skin's balance begins: with waves that grow on as they did, and go along as the body turns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bunraku as bk
from bunraku.contracts import State
from bunraku.direction.wrinkle import wrinkling_job
from bunraku.direction.wrinkle.wrinkling import WENT, Wrinkling, grown_on
from bunraku.geometry import vertex_normals
from bunraku.geometry.tet_bar import tet_bar

BAR = tet_bar((12, 3, 3), (0.4, 0.1, 0.1)).surface()
SKIN, FOAM = bk.ShellMaterial(young=1e7, poisson=0.3, thickness=6e-3), bk.SolidMaterial(young=1e5, density=60.0)


def test_waves_grow_on_unless_they_jumped() -> None:
    before, waves = np.zeros((2, 3)), np.array([[0.0, 1e-3, 0.0], [0.0, -2e-3, 0.0]])
    assert np.array_equal(grown_on(waves, before, 2e-3), 2.0 * waves)
    assert np.array_equal(grown_on(waves, before, 1.9e-3), waves)
    assert np.array_equal(grown_on(waves, before, 1e-3, 0.5), 1.5 * waves)


def test_waves_that_grow_evenly_on_a_body_that_turns_are_foreseen() -> None:
    """Turned and moved by the same each frame, with waves along the normals that grow by the same."""
    times = np.arange(4) / 24.0
    turns = [Rotation.from_rotvec(24.0 * t * np.array([0.1, -0.3, 0.2])).as_matrix() for t in times]
    body = bk.Animation(
        BAR, times, np.stack([BAR.rest @ turn.T + 3.0 * t for t, turn in zip(times, turns, strict=True)])
    )
    job = wrinkling_job(body, skin=SKIN, interior=FOAM, threads=1)
    assert isinstance(job.stepper, Wrinkling)
    bumps = 1e-4 * np.sin(40.0 * BAR.rest[:, :1])
    skins = [body.points[k] + k * bumps * vertex_normals(body.points[k], BAR.faces) for k in range(4)]
    dt = 1.0 / 24.0
    state = State(times[2], skins[2].reshape(-1), (skins[2] - skins[1]).reshape(-1) / dt, {WENT: np.array(dt)})
    for ahead, foreseen in ((1.0, 1.5), (0.25, 1.125)):  # of a step before: they had grown by half of what they are
        waves = job.stepper._going_on(state, body.points[2], ahead * dt)
        assert waves == pytest.approx(foreseen * (skins[2] - body.points[2]), abs=1e-12)


def test_bodies_that_are_moved_and_turned_at_uneven_times_are_guessed_to_have_no_waves() -> None:
    times = np.array([0.0, 0.02, 0.06, 0.08, 0.12])
    turns = [Rotation.from_rotvec([0.0, 0.0, 2.0 * t]).as_matrix() for t in times]
    places = np.stack([BAR.rest @ turn.T - [0.0, 4.9 * t * t, 0.0] for t, turn in zip(times, turns, strict=True)])
    job = wrinkling_job(bk.Animation(BAR, times, places), skin=SKIN, interior=FOAM, threads=1)
    assert isinstance(job.stepper, Wrinkling)
    frames = list(job.frames())
    for k in (1, 2, 3):
        waves = job.stepper._going_on(frames[k].state, places[k], times[k + 1] - times[k])
        assert np.abs(waves).max() < 1e-9


def test_a_soft_body_remembers_where_it_came_from() -> None:
    """What it says of the step before is where it was."""
    ends = [np.flatnonzero(np.isclose(BAR.rest[:, 0], at)) for at in (0.0, 0.4)]
    handles = [
        bk.Handle(ends[0], lambda time: BAR.rest[ends[0]]),
        bk.Handle(ends[1], lambda time: BAR.rest[ends[1]] - [0.4 * time, 0.0, 0.0]),
    ]
    job = wrinkling_job(
        BAR, skin=SKIN, interior=FOAM, cell=0.1, handles=handles, two_way=False, duration=0.1, rate=20.0, threads=1
    )
    assert isinstance(job.stepper, Wrinkling)
    inside, (_, first, second) = job.stepper.interior, list(job.frames())
    earlier = inside.earlier(second.state.memory, second.state.time, 0.05)
    assert earlier == pytest.approx(inside.places(first.state.memory, first.state.time), abs=1e-12)
