"""How far a step may go: never too far, and never shorter than it must be."""

from __future__ import annotations

import numpy as np
import pytest
from pairs import DT, FLOOR, REACH, Scene, crowd, single, triangles

from bunraku.collision import Obstacle, Surfaces
from bunraku.collision.toolkit import Pairing
from bunraku.testing import passings


@pytest.mark.parametrize("gap", [0.0, 0.004])
@pytest.mark.parametrize("share", [0.5, 1e-3, 1e-6])
@pytest.mark.parametrize("kind", ["vertex, face", "vertex, plane", "edges"])
def test_straight_at_each_other(kind: str, gap: float, share: float) -> None:
    """The impact is at (d − gap)/way; back, aside and not at all are free."""
    scene = single(kind, gap, share)
    normal = np.array([0.0, 0.0, 1.0]) if kind != "vertex, plane" else scene.surfaces.planes[0].normal
    moving = [3, 4, 5] if kind != "vertex, plane" else [0, 1, 2]
    step = np.zeros_like(scene.x)
    step[moving] = -0.3 * normal
    impact = share * REACH / 0.3
    assert 0.8 * impact <= scene.touch().max_step(scene.x, step) <= 0.95 * impact
    assert scene.touch().max_step(scene.x, -step) == 1.0
    assert scene.touch().max_step(scene.x, np.zeros_like(step)) == 1.0
    aside = np.zeros_like(scene.x)
    aside[moving] = 0.05 * np.cross(normal, [0.6, 0.8, 0.0])
    assert scene.touch().max_step(scene.x, aside) == 1.0


@pytest.mark.parametrize("gap", [0.0, 0.004])
def test_random_steps_end_before_anything_touches(gap: float) -> None:
    """Between half and all of the way to the first impact, as the independent check finds it by bisection."""
    for seed in range(6):
        scene = crowd(gap=gap, seed=seed)
        surfaces, count = scene.surfaces, scene.surfaces.count
        step = 0.1 * np.random.default_rng(seed).normal(size=scene.x.shape)
        share = scene.touch().max_step(scene.x, step)
        begin = surfaces.together(scene.x, 0.0)
        way = np.concatenate([step, surfaces.together(scene.x, DT)[count:] - begin[count:]])

        def free(part: float) -> bool:
            end = begin + part * way  # noqa: B023 (used within the loop only)
            ahead = [(end[:count] - plane.point) @ plane.normal > gap for plane in surfaces.planes]  # noqa: B023
            return bool(np.all(ahead)) and not len(passings(begin, end, surfaces.faces, gap=gap, movable=count))  # noqa: B023

        low, high = 0.0, 1.0
        assert free(0.0) and not free(1.0)
        for _ in range(20):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if free(middle) else (low, middle)
        assert 0.5 * low < share < low


@pytest.mark.parametrize("gap", [0.0, 0.004])
def test_faces_and_a_plane_together(gap: float) -> None:
    """The nearer of both ends a step: nine tenths of the way down to the plane's gap, or about as much to a face."""
    mesh = triangles(FLOOR, [[0.4, 0.3, 0.1], [0.5, 0.4, 0.9], [0.2, 0.5, 0.8]])
    plane = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -0.2])
    pairing = Pairing(mesh.rest, mesh.faces, reach=REACH, gap=gap, movable=6, planes=[plane])
    low, high = np.zeros((6, 3)), np.zeros((6, 3))
    low[:, 2], high[3:, 2] = -1.0, -1.0
    assert pairing.free_share(mesh.rest, mesh.rest + low) == pytest.approx(0.9 * (0.2 - gap), rel=1e-12)
    assert 0.8 * (0.1 - gap) <= pairing.free_share(mesh.rest, mesh.rest + high) <= 0.95 * (0.1 - gap)


def test_obstacles_on_their_way_count() -> None:
    """A floor that jumps up by many times its distance stops the step at its own impact, and what is left is less."""
    shell = triangles([[0.4, 0.3, 0.1], [0.5, 0.4, 0.9], [0.2, 0.5, 0.8]])
    floor = triangles([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.0]])
    rising = Obstacle(floor, lambda t: floor.rest + np.array([0.0, 0.0, 2.0 * t / DT]))
    scene = Scene(Surfaces(shell, [rising], reach=REACH), shell.rest.copy())
    touch = scene.touch()
    share = touch.max_step(scene.x, np.zeros_like(scene.x))
    assert 0.8 * 0.05 <= share <= 0.95 * 0.05
    touch.advance(share)
    again = touch.max_step(scene.x, np.zeros_like(scene.x))
    left = 0.1 - 2.0 * share
    assert 0.8 * left <= again * 2.0 * (1.0 - share) <= 0.95 * left
    with_it = np.zeros_like(scene.x)
    with_it[:, 2] = 2.0 * (1.0 - share)
    assert touch.max_step(scene.x, with_it) == 1.0


def test_within_the_gap_there_is_no_step() -> None:
    """Surfaces that are nearer than the gap already have no way at all, whatever they touch."""
    for kind in ("vertex, plane", "vertex, face"):
        scene = single(kind, 0.004, 0.5)
        normal = np.array([0.0, 0.0, 1.0]) if kind == "vertex, face" else scene.surfaces.planes[0].normal
        moving = [3, 4, 5] if kind == "vertex, face" else [0, 1, 2]
        inside, away = scene.x.copy(), np.zeros_like(scene.x)
        inside[moving] -= 0.6 * REACH * normal
        away[moving] = normal
        assert scene.touch(inside).max_step(inside, away) == 0.0
