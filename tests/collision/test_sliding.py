"""How far pairs may go, and what slows those that cut steps short."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision.sliding import free_shares
from bunraku.collision.slowing import TIGHT, Slowed
from bunraku.collision.toolkit import Pairing
from bunraku.contracts import Points
from bunraku.geometry.hulls import nearest_of

FACE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
NONE = np.zeros((0, 4), np.int64)
FIRST = np.array([[0, 1, 2, 3]])


def vertex(begin: list[float], end: list[float], **knobs: float) -> float:
    """How far a vertex goes above a face that stands still."""
    points = [np.concatenate([[p], FACE]) for p in (begin, end)]
    return float(free_shares(points[0], points[1], FIRST, NONE, **{"gap": 0.0, "keep": 0.1, **knobs})[0])


def test_a_falling_vertex_keeps_its_share() -> None:
    """From 0.5 to −0.5: a tenth of the distance beyond the gap is left."""
    assert vertex([0.2, 0.2, 0.5], [0.2, 0.2, -0.5]) == pytest.approx(0.45, abs=1e-3)
    assert vertex([0.2, 0.2, 0.5], [0.2, 0.2, -0.5], gap=0.2) == pytest.approx(0.27, abs=1e-3)
    assert vertex([0.2, 0.2, 0.5], [0.2, 0.2, 0.06]) == 1.0  # it stays above a tenth
    assert vertex([0.2, 0.2, 0.1], [0.2, 0.2, 1.0], gap=0.1) == 0.0  # within the gap already


def test_edges_keep_their_share() -> None:
    """Two crossing edges, one of which comes down on the other."""
    low = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    high, below = [[[0.0, -1.0, z], [0.0, 1.0, z]] for z in (0.5, -0.5)]
    begin, end = np.array([*low, *high]), np.array([*low, *below])
    assert free_shares(begin, end, NONE, FIRST, 0.0, 0.1)[0] == pytest.approx(0.45, abs=1e-3)


def test_sliding_is_free_where_the_toolkit_gives_up() -> None:
    """Ten nanometres above a slope, a quarter of a metre along it: the toolkit looks its thousand times and has hardly
    moved."""
    slope = FACE + np.outer(FACE[:, 0], [0.0, 0.0, 1.0])

    def above(along: float) -> Points:
        p = np.array([along, 0.2, along + 1e-8])
        return np.concatenate([slope, [p, p + [0.0, 0.0, 1.0], p + [0.0, 0.5, 1.0]]])

    begin, end = above(0.2), above(0.45)
    pairing = Pairing(begin, np.array([[0, 1, 2], [3, 4, 5]]), reach=1e-3, gap=0.0, movable=6)
    assert pairing._toolkits_share(pairing.columns(begin), pairing.columns(end)) < 0.01
    assert pairing.free_share(begin, end, open_=1e-9) == 1.0
    assert pairing.free_share(begin, end, open_=0.9e-3) < 0.01  # told that nothing is that near: no second look


def between(x: Points, ring: bool) -> Points:
    return np.array([x[0] - x[2], x[1] - x[2], x[1] - x[3], x[0] - x[3]]) if ring else x[0] - x[1:]


@pytest.mark.slow
@pytest.mark.parametrize("ring", [False, True])
def test_random_pairs_stay_apart_and_go_as_far_as_they_can(ring: bool) -> None:
    """On the way the distance is never below what must stay; where a pair stops it is almost that."""
    generator, stopped = np.random.default_rng(4), 0
    for _ in range(200):
        begin = generator.normal(size=(4, 3))
        end = begin + generator.normal(size=(4, 3))
        first = float(np.linalg.norm(nearest_of(between(begin, ring), ring)))
        gap = 0.3 * first
        share = float(free_shares(begin, end, *((NONE, FIRST) if ring else (FIRST, NONE)), gap, 0.1)[0])
        limit = gap + 0.1 * (first - gap)
        at = [begin + t * (end - begin) for t in np.linspace(0.0, share, 60)]
        distances = [float(np.linalg.norm(nearest_of(between(x, ring), ring))) for x in at]
        assert min(distances) >= limit - 1e-12
        assert share == 1.0 or distances[-1] <= limit + 1e-3 * (first - gap)
        stopped += share < 1.0
    assert 20 < stopped < 180


def test_what_is_slowed_may_still_go_along() -> None:
    """Blocks resist what moves corners apart or turns them, not what carries all four the same way."""
    slowed = Slowed.none().and_also(FIRST, np.array([0.1 * TIGHT]))
    block = slowed.blocks(2.0)[0]
    assert block == pytest.approx(block.T)
    assert np.linalg.eigvalsh(block).min() > -1e-12
    assert block @ np.tile([1.0, 2.0, 3.0], 4) == pytest.approx(np.zeros(12))
    one = np.zeros(12)
    one[0] = 1.0
    assert one @ block @ one == pytest.approx(2.0 * 10.0 * 0.75)


def test_what_is_slowed_withstands_a_step_as_its_blocks_do() -> None:
    """Of two pairs with corners in common."""
    slowed = Slowed.none().and_also(np.array([[0, 1, 2, 3], [5, 3, 4, 1]]), np.array([0.1, 0.5]) * TIGHT)
    step, out = np.random.default_rng(0).normal(size=(7, 3)), np.zeros((7, 3))
    for corners, block in zip(slowed.corners, slowed.blocks(2.0), strict=True):
        out[corners] += (block @ step[corners].reshape(-1)).reshape(4, 3)
    assert slowed.forces(step, 2.0) == pytest.approx(out, abs=1e-12)
    assert np.abs(out[:6]).min() > 0.0 and not out[6].any()


def test_slowing_grows_and_dies_out() -> None:
    slowed = Slowed.none().and_also(FIRST, np.array([0.1 * TIGHT]))
    again = slowed.and_also(np.array([[0, 1, 2, 3], [4, 5, 6, 7]]), np.array([0.5 * TIGHT, 0.5 * TIGHT]))
    assert again.corners.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert again.by == pytest.approx([40.0, 2.0])  # four times as much as was too little
    assert len(Slowed.none().and_also(FIRST, np.array([0.0])).by) == 1
    left = []
    for _ in range(4):
        again = again.eased()
        left.append(len(again))
    assert left == [2, 2, 1, 0]  # 40 to 0.004 and 2 to 0.002, of which a hundredth is the least
