"""Around seams that are open: who keeps apart from whom, and from how near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from bunraku.collision import Stitches, Surfaces
from bunraku.collision.unsewn import Unsewn
from bunraku.contracts import Integers, State
from bunraku.geometry import TriMesh
from bunraku.scenes.study import grid_mesh

AWAY = 0.03


def _panels() -> tuple[TriMesh, Integers]:
    """Two squares of 3 × 3 vertices over each other; the pairs of one border."""
    one = grid_mesh(np.linspace(0.0, 0.2, 3), np.linspace(0.0, 0.2, 3))
    mesh = TriMesh(np.concatenate([one.rest, one.rest + [0, AWAY, 0]]), np.concatenate([one.faces, one.faces + 9]))
    border = np.flatnonzero(one.rest[:, 0] < 1e-9)
    return mesh, np.stack([border, border + 9], axis=1)


def _stitches(pairs: Integers, count: int, x: np.ndarray, closed: float = 1.0) -> Stitches:
    """That close evenly from 0 s on."""
    rows = np.repeat(np.arange(len(pairs)), 2)
    values = np.tile([1.0, -1.0], len(pairs))
    weights = sparse.csr_array((values, (rows, pairs.reshape(-1))), shape=(len(pairs), count))
    left = lambda t: np.full(len(pairs), np.clip(1.0 - t / closed, 0.0, 1.0))  # noqa: E731
    return Stitches(weights, left, np.zeros(len(pairs)), 0.0).begun(x)


def test_how_far_apart_stitches_will_be() -> None:
    mesh, pairs = _panels()
    stitches = _stitches(pairs, mesh.point_count, mesh.rest)
    at_half = np.array(mesh.rest)
    at_half[9:, 1] *= 0.5
    np.testing.assert_allclose(stitches.going(mesh.rest, 0.0, 0.25, 1e-6), 0.75 * AWAY)
    np.testing.assert_allclose(stitches.going(at_half, 0.5, 0.75, 1e-6), 0.25 * AWAY)
    assert not stitches.going(at_half, 0.5, 1.0, 1e-6).any()  # they close in this step
    # One is held up: it will not come all the way at once, nor when it should be there.
    late = np.array(at_half)
    late[pairs[1, 1], 1] += 0.1 * AWAY
    np.testing.assert_allclose(stitches.going(late, 0.5, 1.0, 1e-6), [0.0, 0.3 * AWAY, 0.0])
    np.testing.assert_allclose(stitches.going(late, 1.0, 1.5, 1e-6), [0.25 * AWAY, 0.3 * AWAY, 0.25 * AWAY])
    assert not stitches.going(late, 1.0, 1.5, AWAY).any()
    # What is closed before it begins is drawn together before, and may go through itself on that way.
    assert (
        not stitches.going(late, 1.0, 1.5, 1e-6)[0] == 0.0
        and not replace(stitches, since=2.0).going(late, 1, 1.5, 0).any()
    )


def test_pairs_are_as_open_as_the_stitch_they_share() -> None:
    """0–1 and 1–2 hand on: 0 and 2 are as open as the farther of both."""
    mesh, _ = _panels()
    x = np.array(mesh.rest)
    x[:3] = [[0, 0, 0], [0.1, 0, 0], [0.1, 0.3, 0]]
    stitches = _stitches(np.array([[0, 1], [1, 2]]), mesh.point_count, x)
    unsewn = Unsewn(mesh, np.array([[0, 1], [0, 2], [1, 2]]), stitches)
    np.testing.assert_allclose(unsewn.distances(x, 0.0, 0.5), [0.05, 0.15, 0.15])


@pytest.mark.parametrize("apart", [AWAY, 1e-3])
def test_elements_around_an_open_stitch_feel_each_other_from_near_alone(apart: float) -> None:
    mesh, pairs = _panels()
    x = np.array(mesh.rest)
    x[pairs[:, 1], 1] = apart
    stitches = _stitches(pairs, mesh.point_count, x)
    surfaces = Surfaces(mesh, reach=0.012, gap=1e-3, sewn=pairs, stitches=stitches)
    state = State(0.0, x.reshape(-1), np.zeros(x.size))
    (around,) = Unsewn(mesh, pairs, stitches).pairings(x, 0.0, 0.5)
    assert 0.01 * 0.5 * apart <= around.reach <= 0.1 * 0.5 * apart and around.gap == pytest.approx(0.1 * around.reach)
    # The sewn corner of one panel over the middle of a face of the other that has the corner it is sewn to.
    corner, partner = pairs[0]
    face = mesh.faces[(mesh.faces == corner).any(axis=1)][0]
    near = np.array(x)
    near[partner] = x[face].mean(axis=0) + [0, around.gap + 0.5 * around.reach, 0]
    assert len(around.near(near)) and not len(around.near(x))
    through = np.array(near)
    through[partner, 1] *= -1.0
    assert around.free_share(near, through) < 1.0
    touch = surfaces.at(state, 0.5)
    assert touch.max_step(x, near - x) == 1.0 and touch.max_step(x, through - x) < 1.0
    # Once it closes in a step, it may.
    assert not list(Unsewn(mesh, pairs, stitches).pairings(x, 0.0, 1.0))
    assert surfaces.at(state, 1.0).max_step(x, through - x) == 1.0


def test_what_passes_through_already_is_left_to_do_so() -> None:
    mesh, pairs = _panels()
    x = np.array(mesh.rest)
    corner, partner = pairs[0]
    face = mesh.faces[(mesh.faces == corner).any(axis=1)][0]
    x[partner] = x[face].mean(axis=0) - [0, 0.01, 0]
    stitches = _stitches(pairs, mesh.point_count, x)
    for around in Unsewn(mesh, pairs, stitches).pairings(x, 0.0, 0.5):
        assert not around.near(x).closest() <= around.gap
        back = np.array(x)
        back[partner, 1] += 0.02
        assert around.free_share(x, back) == 1.0
