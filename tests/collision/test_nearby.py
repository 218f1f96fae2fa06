"""Large obstacles of which only what is about where the shell is is looked at: the same pairs as of all."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision.nearby import Nearby
from bunraku.collision.toolkit import Pairing
from bunraku.contracts import Flags, Integers, Points
from bunraku.testing import icosphere, sheet

REACH, GAP = 0.02, 0.004


@pytest.fixture(scope="module")
def scene() -> tuple[Points, Integers, Integers, int]:
    """A small sheet that lies on a large ball, and the ball."""
    shell, ball = sheet(6, 6, length=0.3), icosphere(4)
    middle = shell.rest.mean(axis=0)
    on = shell.rest - middle + [0.0, 0.0, 1.0]
    on[:, 2] += 0.01 - 0.5 * np.sum(on[:, :2] ** 2, axis=1)
    return np.concatenate([on, ball.rest]), shell.faces, ball.faces + len(on), len(on)


def both(scene: tuple[Points, Integers, Integers, int], without: Flags | None = None) -> tuple[Pairing, Nearby]:
    x, shell, others, count = scene
    none = np.zeros(len(x), dtype=bool) if without is None else without

    def made(some: Flags) -> Pairing:
        return Pairing(x, np.concatenate([shell, others]), reach=REACH, gap=GAP, movable=count, without=some)

    return made(none), Nearby(made, shell, others, count, none)


def said(pairing: Pairing | Nearby, x: Points) -> set[tuple[int, ...]]:
    return {tuple(sorted(row)) for row in pairing.near(x).pairs().corners.tolist()}


@pytest.mark.slow
def test_the_same_pairs_are_near_wherever_the_shell_goes(scene: tuple[Points, Integers, Integers, int]) -> None:
    """Over the ball to its other side, a quarter of its own size at a time."""
    every, nearby = both(scene)
    x, count = np.array(scene[0]), scene[3]
    found = set()
    for angle in np.linspace(0.0, np.pi, 40):
        c, s = np.cos(angle), np.sin(angle)
        x[:count] = scene[0][:count] @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        assert said(nearby, x) == said(every, x)
        np.testing.assert_allclose(nearby.near(x).gradient(), every.near(x).gradient(), rtol=1e-9, atol=1e-18)
        assert nearby.intersects(x) == every.intersects(x)
        found |= said(nearby, x)
    assert len(found) > 1000


def test_what_comes_on_its_way_is_found(scene: tuple[Points, Integers, Integers, int]) -> None:
    """The sheet is led through the ball from afar: nothing is near at either end."""
    every, nearby = both(scene)
    begin, end = np.array(scene[0]), np.array(scene[0])
    begin[: scene[3], 2] += 2.0
    end[: scene[3], 2] -= 5.0
    assert not said(nearby, begin) and not said(nearby, end)
    assert 0.0 < nearby.free_share(begin, end) < 0.5
    assert nearby.free_share(begin, end) == pytest.approx(every.free_share(begin, end), rel=1e-9)
    corners, shares = nearby.meeting(begin, end, 0.9)
    others, then = every.meeting(begin, end, 0.9)
    assert {*map(frozenset, corners.tolist())} == {*map(frozenset, others.tolist())} and len(corners) > 100
    assert shares.min() == then.min()


def test_obstacles_that_come_to_the_shell_are_found(scene: tuple[Points, Integers, Integers, int]) -> None:
    every, nearby = both(scene)
    x, count = np.array(scene[0]), scene[3]
    x[count:, 2] -= 1.0
    assert not said(nearby, x)
    x[count:, 2] += 1.0
    assert said(nearby, x) == said(every, x) and len(said(every, x)) > 50


def test_what_takes_no_part_takes_none(scene: tuple[Points, Integers, Integers, int]) -> None:
    without = np.zeros(len(scene[0]), dtype=bool)
    without[10:20] = True
    every, nearby = both(scene, without)
    found = said(nearby, scene[0])
    assert found == said(every, scene[0]) and not any(set(row) & set(range(10, 20)) for row in found)


def test_an_obstacle_is_looked_at_in_part(scene: tuple[Points, Integers, Integers, int]) -> None:
    """Of 5,120 faces of the ball fewer than a tenth are about where the sheet is."""
    _, nearby = both(scene)
    near = nearby.near(scene[0])
    assert near._pairing.taken[-1] > scene[3] and len(near._pairing.faces) - len(scene[1]) < 0.1 * len(scene[2])
