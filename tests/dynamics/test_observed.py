"""Functionals of a warped body: the same as warping all of it, with derivatives; compressed; of parts and means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from warped import Warped, bar

from bunraku.contracts import InputError
from bunraku.dynamics import Groups, Observed, Warp, observed_centre, observed_vertices
from bunraku.geometry import TetMesh
from bunraku.numerics import use_threads
from bunraku.testing import falls_as

BIG = (16, 5, 5)
"""cells: 2,400 tetrahedra, more than a dozen groups"""


def roots(given: Warped, vertices: np.ndarray) -> np.ndarray:
    return np.sqrt(given.mass[vertices])[:, None]


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("cells", [(2, 1, 1), (8, 3, 3), BIG])
def test_positions_and_velocities_are_those_of_the_whole_body(held: bool, cells: tuple[int, int, int]) -> None:
    """One group, some, many; a few vertices, an odd number of them."""
    given = bar(held, cells, 8)
    vertices = np.array([4, given.mesh.point_count - 1, given.mesh.point_count // 2])
    seen = observed_vertices(given.warp, given.modes.shapes, vertices)
    assert seen.shapes is None and seen.rows == 9
    q, v = given.pose(1.3), given.pose(1.0, 7)
    u, speed = given.modes.displacements(q), given.modes.displacements(v)
    root = roots(given, vertices)
    value, jacobian = seen.positions(q)
    assert value.reshape(3, 3) == pytest.approx(root * given.warp.points(u)[vertices], abs=1e-12)
    each = np.moveaxis(given.modes.shapes, 2, 0)
    moved = given.warp.velocities(np.broadcast_to(u, each.shape), each)[:, vertices] * root
    assert jacobian.reshape(3, 3, -1) == pytest.approx(np.moveaxis(moved, 0, 2), abs=1e-12)
    rate, by_q, by_v = seen.velocities(q, v)
    assert rate.reshape(3, 3) == pytest.approx(root * given.warp.velocities(u, speed)[vertices], abs=1e-12)
    assert by_v == pytest.approx(jacobian, abs=1e-13)
    many = np.broadcast_to(u, each.shape), np.broadcast_to(speed, each.shape)
    bent = given.warp.curvatures(*many, each)[:, vertices] * root
    assert by_q.reshape(3, 3, -1) == pytest.approx(np.moveaxis(bent, 0, 2), abs=1e-11)


@pytest.mark.parametrize("held", [False, True])
def test_derivatives_fall_as_differences_do(held: bool) -> None:
    given = bar(held, BIG, 8)
    seen = observed_vertices(given.warp, given.modes.shapes, np.arange(301, 330))
    q, v, along = given.pose(0.9), given.pose(1.0, 7), given.pose(1.0, 8)
    _, jacobian = seen.positions(q)
    _, by_q, _ = seen.velocities(q, v)
    steps, errors, bent = [1e-2, 5e-3, 2.5e-3], [], []
    for h in steps:
        ahead, behind = q + h * along, q - h * along
        change = (seen.positions(ahead)[0] - seen.positions(behind)[0]) / (2 * h)
        errors.append(np.abs(change - jacobian @ along).max())
        change = (seen.velocities(ahead, v)[0] - seen.velocities(behind, v)[0]) / (2 * h)
        bent.append(np.abs(change - by_q @ along).max())
    assert errors[0] > 1e-8 and bent[0] > 1e-8
    assert falls_as(2, steps, errors, [1e-12] * 3) and falls_as(2, steps, bent, [1e-11] * 3)


def test_at_rest_it_is_the_linear_functional() -> None:
    given = bar(False, BIG, 8)
    for vertices in (np.array([1, 50]), np.flatnonzero(given.mesh.rest[:, 0] > 1.15)):
        seen = observed_vertices(given.warp, given.modes.shapes, vertices)
        value, jacobian = seen.positions(np.zeros(given.modes.count))
        assert jacobian == pytest.approx(seen.linear(), abs=1e-12)
        assert value.reshape(-1, 3) == pytest.approx(seen.rest, abs=1e-14)


@pytest.mark.parametrize("held", [False, True])
def test_many_vertices_are_compressed_and_nothing_is_lost_that_counts(held: bool) -> None:
    """144 vertices, fewer rows: the true residual is that of the rows and of what is known to be unseen."""
    given = bar(held, BIG, 6)
    vertices = np.flatnonzero(given.mesh.rest[:, 0] > 1.25)
    seen = observed_vertices(given.warp, given.modes.shapes, vertices)
    assert len(vertices) == 144 and seen.rows < 3 * 110
    assert seen.shapes is not None and seen.shapes.T @ seen.shapes == pytest.approx(np.eye(seen.rows // 3), abs=1e-12)
    root, weight = roots(given, vertices), np.sqrt(given.mass[vertices].sum())
    goal = root * (given.mesh.rest[vertices] + [0.1, 0.2, -0.1] + np.random.default_rng(0).normal(size=(144, 3)))
    aim = seen.goal(goal)
    assert aim.unseen > 0.1 * weight  # noise at single vertices is what modes cannot follow
    for angle, seed in ((0.2, 11), (0.5, 12), (1.0, 13)):
        q = given.pose(angle, seed)
        points = root * given.warp.points(given.modes.displacements(q))[vertices]
        value, _ = seen.positions(q)
        assert seen.goal(points).values == pytest.approx(value, abs=1e-11)  # what is observed is exact
        assert seen.goal(points).unseen < 3e-5 * weight * given.mesh.size  # what is not is next to nothing
        true, told = np.sum((points - goal) ** 2), np.sum((value - aim.values) ** 2) + aim.unseen**2
        assert told == pytest.approx(true, rel=1e-4)
    everything = observed_vertices(given.warp, given.modes.shapes, vertices, tolerance=0.0)
    assert everything.rows == 3 * 144 and everything.goal(goal).unseen == 0.0


def test_a_tighter_tolerance_sees_more() -> None:
    given = bar(True, BIG, 6)
    vertices = np.flatnonzero(given.mesh.rest[:, 0] > 1.25)
    q = given.pose(0.7, 14)
    points = roots(given, vertices) * given.warp.points(given.modes.displacements(q))[vertices]
    found = [
        observed_vertices(given.warp, given.modes.shapes, vertices, tolerance=t).goal(points).unseen
        for t in (1e-2, 1e-4, 1e-6)
    ]
    assert found[0] > 3 * found[1] > 9 * found[2] > 0.0


@pytest.mark.parametrize("held", [False, True])
def test_the_centre_of_mass_and_other_means(held: bool) -> None:
    """Of a free body it is what the translations say, whatever else it does."""
    given = bar(held, BIG, 8)
    q, share = given.pose(1.0), given.mass / given.mass.sum()
    u = given.modes.displacements(q)
    value, jacobian = observed_centre(given.warp, given.modes.shapes).positions(q)
    assert value == pytest.approx(share @ given.warp.points(u), abs=1e-13)
    if not held:
        assert value == pytest.approx(share @ (given.mesh.rest + u), abs=1e-13)
        assert jacobian[:, :3] == pytest.approx(np.eye(3) / np.sqrt(given.mass.sum()), abs=1e-13)
        assert np.abs(jacobian[:, 3:]).max() < 1e-13
    difference = np.zeros((1, given.mesh.point_count))
    difference[0, [2, 90]] = 1.0, -1.0
    apart, _ = Observed.of(given.warp, given.modes.shapes, sparse.csr_array(difference)).positions(q)
    points = given.warp.points(u)
    assert apart == pytest.approx(points[2] - points[90], abs=1e-13)


def test_parts_that_do_not_touch_are_observed_apart() -> None:
    """One held, one not; a functional over both."""
    small = bar(True, (3, 2, 2), 4)
    count = small.mesh.point_count
    mesh = TetMesh(
        np.concatenate([small.mesh.rest, small.mesh.rest + [2.0, 0.0, 0.0]]),
        np.concatenate([small.mesh.tets, small.mesh.tets + count]),
    )
    warp = Warp(mesh, np.tile(small.mass, 2), small.warp.fixed)
    basis = np.random.default_rng(2).normal(size=(2 * count, 3, 5)) * 0.1
    basis[small.warp.fixed] = 0.0
    rows = np.zeros((2, 2 * count))
    rows[0, [5, count + 7]], rows[1, count + 3] = (0.25, 0.5), 1.0
    q = np.random.default_rng(3).normal(size=5)
    value, _ = Observed.of(warp, basis, sparse.csr_array(rows)).positions(q)
    assert value.reshape(2, 3) == pytest.approx(rows @ warp.points(basis @ q), abs=1e-12)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_few_are_found_backwards_as_many_are_found_forwards(
    count: int, held: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = bar(held, BIG, 8)
    seen = observed_vertices(given.warp, given.modes.shapes, np.arange(200, 200 + count))
    q, v = given.pose(1.3), given.pose(1.0, 7)
    backwards = (*seen.positions(q), *seen.velocities(q, v))
    monkeypatch.setattr("bunraku.dynamics.observed.BACKWARDS", 0)
    forwards = (*seen.positions(q), *seen.velocities(q, v))
    for one, other in zip(backwards, forwards, strict=True):
        assert one == pytest.approx(other, abs=1e-12 * np.abs(other).max())
    # They were indeed found otherwise: of so many numbers some are rounded in another way.
    assert any(one.tobytes() != other.tobytes() for one, other in zip(backwards, forwards, strict=True))


@pytest.mark.parametrize("count", [2, 20])
def test_the_same_bytes_for_any_number_of_threads(count: int) -> None:
    given = bar(True, BIG, 8)
    vertices = np.arange(40, 40 + count)
    seen = observed_vertices(given.warp, given.modes.shapes, vertices, groups=Groups.of(given.warp))
    q, v = given.pose(1.0), given.pose(1.0, 3)
    found = []
    for threads in (1, 2):
        use_threads(threads)
        found.append([part.tobytes() for part in (*seen.positions(q), *seen.velocities(q, v))])
    use_threads(None)
    assert found[0] == found[1]


def test_groups_hold_every_tetrahedron_once() -> None:
    given = bar(True, BIG, 8)
    groups = Groups.of(given.warp)
    key = lambda tets: sorted(map(tuple, np.sort(tets, axis=1).tolist()))  # noqa: E731
    assert key(groups.tets) == key(given.mesh.tets)
    for g in range(len(groups.starts) - 1):
        own = groups.vertices[groups.vertex_starts[g] : groups.vertex_starts[g + 1]]
        part = slice(groups.starts[g], groups.starts[g + 1])
        assert (own[groups.local[part]] == groups.tets[part]).all()
    assert len(groups.vertices) < 3 * given.mesh.point_count  # neighbours: few vertices are in several


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda g: observed_vertices(g.warp, g.modes.shapes, np.zeros(0, dtype=np.int64)), "needs vertices"),
        (lambda g: observed_vertices(g.warp, g.modes.shapes, np.array([10**6])), "needs vertices"),
        (lambda g: observed_vertices(g.warp, g.modes.shapes[1:], np.array([1])), "of the body's vertices"),
        (lambda g: observed_vertices(g.warp, g.modes.shapes, np.array([1])).goal(np.zeros((2, 3))), "every functional"),
    ],
)
def test_what_cannot_be_meant_is_refused(ask, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ask(bar(True))


@pytest.mark.parametrize("cells", [(2, 1, 1), BIG])
def test_places_are_positions_without_their_derivative(cells: tuple[int, int, int]) -> None:
    for held in (False, True):
        given = bar(held, cells, 8)
        seen = observed_vertices(given.warp, given.modes.shapes, np.array([1, 4, given.mesh.point_count - 1]))
        q = given.pose(1.3)
        assert seen.places(q) == pytest.approx(seen.positions(q)[0], abs=1e-14)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("vertices", [[320], np.arange(301, 330)])
def test_values_alone_are_those_with_derivatives(held: bool, vertices: np.ndarray | list[int]) -> None:
    given = bar(held, BIG, 8)
    seen = observed_vertices(given.warp, given.modes.shapes, np.asarray(vertices))
    q, v = given.pose(1.3), given.pose(1.0, 7)
    assert seen.places(q) == pytest.approx(seen.positions(q)[0], abs=1e-12)
    assert seen.speeds(q, v) == pytest.approx(seen.velocities(q, v)[0], abs=1e-12)
