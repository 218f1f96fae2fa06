"""Ways seen by an observer who moves along: shorter, and nothing that comes near is lost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.collision.along import seen_along
from bunraku.collision.toolkit import Pairing
from bunraku.contracts import Points

RNG = np.random.default_rng(5)


def _turned(x: Points, angle: float) -> Points:
    return Rotation.from_rotvec([0.0, 0.3 * angle, angle]).apply(x) + (0.4, -0.2, 0.1)


def test_ways_of_what_only_turns_are_short() -> None:
    x = RNG.uniform(size=(200, 3))
    seen = seen_along(x, _turned(x, 0.2), len(x))
    assert np.abs(_turned(x, 0.2) - x).mean() > 0.1
    assert np.abs(seen.end - seen.begin).max() < 1e-12
    assert seen.off < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("angle", [0.0, 0.1, 0.3, 0.45, 2.0])
@pytest.mark.parametrize("own", [150, 145, 0])
def test_whatever_comes_near_at_any_time_is_in_boxes_that_meet(angle: float, own: int, flat: bool) -> None:
    near = 0.05
    x = RNG.uniform(size=(150, 3)) * ((1.0, 1.0, 0.0) if flat else 1.0)
    end = _turned(x, angle) + RNG.normal(scale=0.02, size=x.shape)
    if own == 145:
        end[own:] = x[own:]  # what is not its own stands still
    seen = seen_along(x, end, own)
    assert seen.farther > 1.0 or own < 150 or angle > 0.4
    low, high = np.minimum(seen.begin, seen.end), np.maximum(seen.begin, seen.end)
    apart = np.maximum(low[:, None] - high[None], low[None] - high[:, None]).max(axis=2)
    met = 0
    for t in np.linspace(0.0, 1.0, 101):
        place = x + t * (end - x)
        close = np.linalg.norm(place[:, None] - place[None], axis=2) <= near
        assert (apart[close] <= seen.farther * near + 2.0 * seen.off).all()
        met += close.sum() - len(x)
    assert met > 0


def test_of_obstacles_far_away_ways_are_left_as_they_are() -> None:
    x = RNG.uniform(size=(50, 3))
    x[40:] *= 1000.0
    end = x.copy()
    end[:40] = _turned(x[:40], 0.3)
    assert seen_along(x, end, 40).end is end


@pytest.mark.parametrize("angle", [0.1, 0.4])
def test_layers_that_close_while_they_turn_are_stopped(angle: float) -> None:
    side = np.linspace(0.0, 1.0, 6)
    one = np.stack([*np.meshgrid(side, side, indexing="ij"), np.zeros((6, 6))], axis=-1).reshape(-1, 3)
    cell = np.array([[i * 6 + j, i * 6 + j + 1, (i + 1) * 6 + j] for i in range(5) for j in range(5)])
    other = np.array([[i * 6 + j + 1, (i + 1) * 6 + j + 1, (i + 1) * 6 + j] for i in range(5) for j in range(5)])
    x = np.concatenate([one, one + (0.03, 0.04, 0.2)])
    faces = np.concatenate([cell, other, cell + 36, other + 36])
    end = _turned(x - np.repeat([[0.0] * 3, [0.0, 0.0, 0.4]], 36, axis=0), angle)
    pairing = Pairing(x, faces, reach=0.01, gap=0.002, movable=len(x))
    share = pairing.free_share(x, end)
    assert 0.3 < share < 0.5  # half-way they pass through each other
    assert not pairing.intersects(x + share * (end - x))


@pytest.mark.parametrize("angle", [0.1, 0.3])
def test_true_places_are_no_farther_off_than_said(angle: float) -> None:
    x = RNG.uniform(size=(100, 3))
    end = _turned(x, angle) + RNG.normal(scale=0.02, size=x.shape)
    seen = seen_along(x, end, len(x))
    left, mean = seen.end - seen.begin, (end - x).mean(axis=0)
    turn = np.linalg.lstsq(seen.begin, end - x - mean - left)[0]
    most = 0.0
    for t in np.linspace(0.0, 1.0, 11):
        place = x + t * (end - x)
        back = np.linalg.inv(np.eye(3) + t * turn)
        true = (place - x.mean(axis=0) - t * mean) @ back  # an observer's view, which keeps who meets whom
        off = np.linalg.norm(true - seen.begin - t * left, axis=1).max()
        assert off <= seen.off
        assert np.linalg.norm(back, 2) <= seen.farther
        most = max(most, off)
    assert most > 0.1 * seen.off
