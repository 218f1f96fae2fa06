"""Natural modes: the lowest ones and all of them, rigid motion exact, what is added for a key."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

from bunraku.contracts import InputError
from bunraku.dynamics import LinearBody, Warp, attachments, enriched, natural_modes
from bunraku.energies import linear_stiffness, solid_mass
from bunraku.geometry import TetMesh, tet_bar
from bunraku.materials import SolidMaterial
from bunraku.numerics import choose, eigenpairs

BAR = tet_bar((8, 3, 3), (0.8, 0.3, 0.3))
SOFT = SolidMaterial(young=2e4, poisson=0.35, density=500.0)
HARD = SolidMaterial(young=3e6, poisson=0.2, density=2000.0)
WALL = np.flatnonzero(BAR.rest[:, 0] < 1e-9)
END = np.flatnonzero(BAR.rest[:, 0] > 0.79)


def body(fixed: np.ndarray | list[int], mesh: TetMesh = BAR, several: bool = False) -> LinearBody:
    """Soft, or with several materials hard on one side."""
    if not several:
        return LinearBody(mesh.rest, linear_stiffness(mesh, SOFT), solid_mass(mesh, SOFT), np.asarray(fixed))
    which = (mesh.rest[mesh.tets].mean(axis=1)[:, 1] > 0.1).astype(np.int64)
    given = [SOFT, HARD]
    return LinearBody(
        mesh.rest, linear_stiffness(mesh, given, which), solid_mass(mesh, given, which), np.asarray(fixed)
    )


def gram(given: LinearBody, shapes: np.ndarray) -> np.ndarray:
    flat = shapes.reshape(-1, shapes.shape[2])
    return flat.T @ (np.repeat(given.mass, 3)[:, None] * flat)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("fixed", "rigid"), [([], 6), ([0], 3), ([0, 1, 2, 3], 1), (WALL, 0)])
def test_they_are_the_lowest_and_rigid_ones_are_exact(fixed: list[int], rigid: int, several: bool) -> None:
    """Against all pairs of the dense matrices; free, about a vertex, about an edge, held at a wall."""
    given = body(fixed, several=several)
    free = np.repeat(given.loose, 3)
    exact = eigh(
        given.stiffness.toarray()[np.ix_(free, free)], np.diag(np.repeat(given.mass, 3)[free]), eigvals_only=True
    )
    modes = natural_modes(given, 20)
    assert modes.rigid == rigid and modes.count == rigid + 20
    assert (modes.stiffness[:rigid] == 0.0).all() and exact[rigid] > 0.01
    assert modes.stiffness[rigid:] == pytest.approx(exact[rigid : rigid + 20], rel=1e-9)
    assert gram(given, modes.shapes) == pytest.approx(np.eye(rigid + 20), abs=1e-11)
    assert (modes.shapes[given.fixed] == 0.0).all()
    flat = modes.shapes.reshape(-1, modes.count)
    pulled = (given.stiffness @ flat)[free] - (np.repeat(given.mass, 3)[:, None] * flat * modes.stiffness)[free]
    assert np.abs(pulled).max() < 1e-9 * np.abs(given.stiffness).max() * np.abs(flat).max()


def test_the_order_of_the_warps_laplacian_serves_the_stiffness(monkeypatch: pytest.MonkeyPatch) -> None:
    """One search for an order of elimination does for both; what is not held by fixed vertices has another pattern."""
    monkeypatch.setattr(eigenpairs, "DENSE", 0)
    given, warp = body(WALL), Warp(BAR, solid_mass(BAR, SOFT), WALL)
    asked: list[Any] = []
    monkeypatch.setattr(eigenpairs, "choose", lambda **more: asked.append(more["order"]) or choose(**more))
    order = warp.order
    if order is None:
        pytest.skip("the solver that is installed tells no order")
    assert np.array_equal(np.sort(order), np.arange(BAR.point_count - len(WALL)))
    alone, shared = natural_modes(given, 12), natural_modes(given, 12, order=order)
    assert asked[0] is None and np.array_equal(asked[1].reshape(-1, 3)[:, 0], 3 * order)
    assert shared.stiffness == pytest.approx(alone.stiffness, rel=1e-10)
    assert Warp(BAR, solid_mass(BAR, SOFT)).order is None


def test_double_modes_of_a_square_bar_come_in_pairs() -> None:
    """Bending to either side: the mesh is the same after a quarter turn up to a mirror, so both are in the list."""
    cube = tet_bar((6, 4, 4), (0.6, 0.4, 0.4))
    given = body(np.flatnonzero(cube.rest[:, 0] < 1e-9), cube)
    values = natural_modes(given, 12).stiffness
    assert values[1] == pytest.approx(values[0], rel=1e-8)
    for count in (1, 2, 3, 5):
        assert natural_modes(given, count).stiffness == pytest.approx(values[:count], rel=1e-9)


def test_parts_that_do_not_touch_each_move_on_their_own() -> None:
    """One is held, the other is not; the modes of both are in one list."""
    small = tet_bar((2, 2, 2), (0.2, 0.2, 0.2))
    both = TetMesh(
        np.concatenate([small.rest, small.rest + [1.0, 0.0, 0.0]]),
        np.concatenate([small.tets, small.tets + small.point_count]),
    )
    held = np.flatnonzero(both.rest[:, 0] < 1e-9)
    modes = natural_modes(body(held, both), 10)
    assert modes.rigid == 6 and modes.stiffness[6] > 1.0
    assert (modes.shapes[: small.point_count, :, :6] == 0.0).all()


def test_many_fixed_vertices_take_no_more_than_their_own_room() -> None:
    """A square matrix of all their coordinates would be 648 MB."""
    rest = np.random.default_rng(1).normal(size=(3001, 3))
    held = LinearBody(rest, sparse.eye_array(3 * len(rest), format="csr"), np.ones(len(rest)), np.arange(3000))
    joined = sparse.csr_array(np.ones((1, 3 * len(rest))))
    one_part = replace(held, stiffness=sparse.csr_array(held.stiffness + sparse.vstack(
        [joined, sparse.csr_array((3 * len(rest) - 1, 3 * len(rest)))]
    )))  # fmt: skip
    tracemalloc.start()
    found = one_part.rigid()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (len(rest), 3, 0) and most < 5e7


def test_rigid_shapes_are_translations_and_turns() -> None:
    given = body([])
    modes = natural_modes(given, 0)
    total = given.mass.sum()
    assert modes.shapes[:, :, :3] == pytest.approx(np.tile(np.eye(3) / np.sqrt(total), (len(BAR.rest), 1, 1)))
    centre = given.mass @ BAR.rest / total
    for k in range(3, 6):
        turn = modes.shapes[:, :, k]
        assert np.abs(np.einsum("ni,ni->n", turn, BAR.rest - centre)).max() < 1e-15
    assert modes.elastic.count == 0


def test_coordinates_and_displacements_undo_each_other() -> None:
    given = body(WALL)
    modes = natural_modes(given, 7)
    q = np.random.default_rng(0).normal(size=(4, 7))
    assert modes.coordinates(modes.displacements(q), given.mass) == pytest.approx(q, abs=1e-12)
    assert modes.coordinates(modes.displacements(q[0]), given.mass) == pytest.approx(q[0], abs=1e-12)


def test_the_same_bytes_twice() -> None:
    first, second = (natural_modes(body([]), 12) for _ in range(2))
    assert first.shapes.tobytes() == second.shapes.tobytes() and first.stiffness.tobytes() == second.stiffness.tobytes()


@pytest.mark.parametrize(
    ("fixed", "vertices", "count"),
    [(WALL, END, 6), ([], END, 6), ([0], END, 6), (WALL, [56], 3), ([], [7], 3), ([], [0, 1, 2], 5)],
)
def test_attachments_move_the_keyed_vertices_as_one_and_balance_the_rest(
    fixed: np.ndarray, vertices: np.ndarray, count: int
) -> None:
    """The keyed vertices move rigidly; elsewhere forces are none, or those of inertia; rigid motion is not in them."""
    given = body(fixed)
    found = attachments(given, vertices)
    assert found.shape == (*BAR.rest.shape, count)
    flat = found.reshape(-1, count)
    keyed = np.asarray(vertices)
    arm = BAR.rest[keyed] - BAR.rest[keyed].mean(axis=0)
    six = np.stack([*(np.tile(a, (len(keyed), 1)) for a in np.eye(3)), *(np.cross(a, arm) for a in np.eye(3))], axis=2)
    own, six = found[keyed].reshape(-1, count), six.reshape(-1, 6)
    assert np.abs(own - six @ np.linalg.lstsq(six, own, rcond=None)[0]).max() < 1e-12
    assert np.linalg.matrix_rank(own, tol=1e-6) == count
    rigid = given.rigid().reshape(len(flat), -1)
    felt = np.repeat(given.mass, 3)[:, None] * rigid
    assert np.abs(felt.T @ flat).max(initial=0.0) < 1e-9 * given.mass.sum() ** 0.5
    inner = np.repeat(given.loose, 3)
    inner[(3 * keyed[:, None] + np.arange(3)).reshape(-1)] = False
    force = (given.stiffness @ flat)[inner]
    if rigid.shape[1]:
        force -= felt[inner] @ np.linalg.lstsq(felt[inner], force, rcond=None)[0]
    assert np.abs(force).max() < 1e-9 * np.abs(given.stiffness @ flat).max()


def test_enriched_modes_reach_what_was_added_and_stay_modes() -> None:
    given = body(WALL)
    plain, added = natural_modes(given, 6), attachments(given, END)
    modes = enriched(plain, added, given)
    assert modes.count == 12 and modes.rigid == 0
    flat = modes.shapes.reshape(-1, 12)
    assert gram(given, modes.shapes) == pytest.approx(np.eye(12), abs=1e-11)
    assert flat.T @ (given.stiffness @ flat) == pytest.approx(
        np.diag(modes.stiffness), abs=1e-9 * modes.stiffness.max()
    )
    for field in (added, plain.shapes):
        back = modes.displacements(modes.coordinates(np.moveaxis(field, 2, 0), given.mass))
        assert np.moveaxis(back, 0, 2) == pytest.approx(field, abs=1e-9)
    assert (modes.stiffness[:6] <= plain.stiffness * (1 + 1e-9)).all()
    again = enriched(modes, added, given)
    assert again.count == 12


def test_enriching_a_free_body_leaves_rigid_motion_alone() -> None:
    given = body([])
    plain = natural_modes(given, 6)
    modes = enriched(plain, attachments(given, END), given)
    assert modes.rigid == 6 and modes.count == 18
    assert (modes.shapes[:, :, :6] == plain.shapes[:, :, :6]).all()
    assert modes.stiffness[6] > 1.0


@pytest.mark.parametrize("fixed", [WALL, [0], [0, 56], [0, 1, 2]])
def test_what_is_moved_where_it_is_fixed_is_in_balance_elsewhere(fixed: np.ndarray) -> None:
    """Also about a vertex, an axis, and of parts that nothing holds: what may turn freely does not."""
    both = TetMesh(
        np.concatenate([BAR.rest, BAR.rest + [2.0, 0.0, 0.0]]), np.concatenate([BAR.tets, BAR.tets + BAR.point_count])
    )
    given, moved = body(fixed, both), 0.01 * np.random.default_rng(4).normal(size=(len(fixed), 3))
    found = given.extended(moved)
    assert np.array_equal(found[given.fixed], moved) and np.abs(found).max() < 0.1
    rigid = given.rigid().reshape(3 * both.point_count, -1)
    felt, free = np.repeat(given.mass, 3)[:, None] * rigid, np.repeat(given.loose, 3)
    force = (given.stiffness @ found.reshape(-1))[free]
    if rigid.shape[1]:
        force -= felt[free] @ np.linalg.lstsq(felt[free], force, rcond=None)[0]
    assert np.abs(force).max() < 1e-9 * np.abs(given.stiffness).max() * 0.01
    assert np.abs(felt.T @ found.reshape(-1)).max(initial=0.0) < 1e-12
    assert np.abs(found[BAR.point_count :]).max() < 1e-12
    assert not given.extended(0.0 * moved).any()


def test_the_lowest_of_modes_are_the_first() -> None:
    modes = natural_modes(body([]), 6)
    for count, rigid in ((2, 2), (6, 6), (9, 6), (50, 6)):
        few = modes.lowest(count)
        assert few.count == min(count, 12) and few.rigid == rigid
        assert np.array_equal(few.shapes, modes.shapes[:, :, :count])


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: body(np.arange(BAR.point_count)), "all vertices are fixed"),
        (lambda: body([BAR.point_count]), "is no vertex"),
        (lambda: body([-1]), "is no vertex"),
        (lambda: natural_modes(body([]), -1), "whole number"),
        (lambda: LinearBody(BAR.rest, linear_stiffness(BAR, SOFT), np.ones(3), WALL), "for every vertex"),
        (lambda: attachments(body(WALL), WALL[:1]), "are fixed"),
        (lambda: attachments(body(WALL), []), "needs vertices"),
    ],
)
def test_what_cannot_be_meant_is_refused(ask, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ask()
