"""Second derivatives of functionals of a warped body: those of differences, of the warp itself, of several at once."""

from __future__ import annotations

import numpy as np
import pytest
from warped import bar

from bunraku.dynamics import Bends, observed_centre, observed_vertices
from bunraku.numerics import use_threads
from bunraku.testing import falls_as

BIG = (16, 5, 5)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("angle", [0.0, 1e-5, 0.9, 3.1, 7.0])
def test_the_bend_is_how_the_derivative_changes(held: bool, angle: float) -> None:
    """At rest, next to it, moderately bent, turned by about half a turn, by more than a whole one."""
    given = bar(held, BIG, 8)
    seen = observed_vertices(given.warp, given.modes.shapes, np.arange(301, 330))
    q, along = given.pose(angle) if angle else np.zeros(given.modes.count), given.pose(1.0, 8)
    forces = np.random.default_rng(5).normal(size=seen.rows)
    bend = seen.bend(q, forces)
    assert np.array_equal(bend, bend.T)
    steps, errors = [1e-2, 5e-3, 2.5e-3], []
    for h in steps:
        change = (seen.positions(q + h * along)[1] - seen.positions(q - h * along)[1]).T @ forces / (2 * h)
        errors.append(np.abs(change - bend @ along).max())
    size = np.abs(bend @ along).max()
    assert errors[0] > 1e-8 * size and falls_as(2, steps, errors, [1e-12 * size] * 3)


@pytest.mark.parametrize("held", [False, True])
def test_it_is_the_warps_second_derivative_also_of_compressed_rows(held: bool) -> None:
    given = bar(held, BIG, 6)
    vertices = np.flatnonzero(given.mesh.rest[:, 0] > 1.25)
    seen = observed_vertices(given.warp, given.modes.shapes, vertices)
    assert seen.shapes is not None
    q, v = given.pose(0.8), given.pose(1.0, 7)
    forces = np.random.default_rng(6).normal(size=seen.rows)
    _, by_q, _ = seen.velocities(q, v)
    assert seen.bend(q, forces) @ v == pytest.approx(by_q.T @ forces, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("angle", [1e-5, 0.9, 3.1])
def test_its_own_change_is_that_of_differences(angle: float) -> None:
    given = bar(True, BIG, 8)
    seen = observed_centre(given.warp, given.modes.shapes)
    q, v, forces = given.pose(angle), given.pose(1.0, 7), np.array([1.0, -2.0, 0.5])
    change = seen.bends(q, seen.pulls(forces), v)
    steps, errors = [2e-2, 1e-2, 5e-3], []
    for h in steps:
        errors.append(np.abs((seen.bend(q + h * v, forces) - seen.bend(q - h * v, forces)) / (2 * h) - change).max())
    size = np.abs(change).max()
    assert errors[0] > 1e-7 * size and falls_as(2, steps, errors, [1e-9 * size] * 3)
    assert np.array_equal(seen.bends(q, seen.pulls(forces), 0.0 * v), 0.0 * change)


def test_forces_of_several_add_up_to_one_field() -> None:
    given = bar(True, BIG, 8)
    shapes, q, r = given.modes.shapes, given.pose(1.0), np.random.default_rng(7)
    one = observed_vertices(given.warp, shapes, np.array([400, 410]))
    other = observed_centre(given.warp, shapes)
    mine, theirs = r.normal(size=6), r.normal(size=3)
    both = Bends.of(one.groups, shapes)(q, one.pulls(mine) + other.pulls(theirs))
    assert both == pytest.approx(one.bend(q, mine) + other.bend(q, theirs), rel=1e-11, abs=1e-13)


def test_the_same_bytes_for_any_number_of_threads() -> None:
    given = bar(True, BIG, 8)
    seen, q = observed_centre(given.warp, given.modes.shapes), given.pose(1.0)
    found = []
    for threads in (1, 2):
        use_threads(threads)
        found.append(seen.bend(q, np.ones(3)).tobytes())
    use_threads(None)
    assert found[0] == found[1]


@pytest.mark.parametrize("fields", ["still", "moving", "both"])
def test_those_of_places_and_of_velocities_are_found_together(fields: str) -> None:
    given = bar(True, BIG, 8)
    seen = observed_vertices(given.warp, given.modes.shapes, np.arange(301, 330))
    generator, q, v = np.random.default_rng(5), given.pose(0.9), given.pose(1.0, 7)
    still, moving = (seen.pulls(generator.normal(size=seen.rows)) for _ in range(2))
    one, other = None if fields == "moving" else still, None if fields == "still" else moving
    found, mixed = seen.bends.joined(q, v, one, other, mixed=True)
    wanted = (0.0 if one is None else seen.bends(q, one)) + (0.0 if other is None else seen.bends(q, other, v))
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9 * np.abs(wanted).max())
    if other is None:
        assert mixed is None
    else:
        whole = seen.bends(q, other)
        assert mixed == pytest.approx(whole, rel=1e-9, abs=1e-9 * np.abs(whole).max())
