"""Points inside bodies: which piece they belong to, what is outside, even samples, and values from the surface."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.geometry import (
    TriMesh,
    embed_points,
    face_normals,
    fill_evenly,
    inside_values,
    lattice_around,
    subdivide,
    tet_bar,
)
from bunraku.geometry.enclosing import signed_volume
from bunraku.geometry.lattice_points import outside
from bunraku.testing import block_surface, icosphere

CELL = 0.1
EIGHTH = CELL / 8


def fork() -> TriMesh:
    """Two prongs of three eighths of a cell with a gap of two between them, two cells long, on a handle of one."""
    room = np.zeros((24, 8, 8), dtype=bool)
    room[:8] = True
    room[8:, :3] = room[8:, 5:] = True
    return block_surface(room, EIGHTH)


FORK = lattice_around(fork(), CELL)


def test_points_are_where_they_were_and_go_along_with_what_is_affine() -> None:
    points = np.random.default_rng(1).uniform(0.0, 1.0, (50, 3)) * [8 * EIGHTH, 8 * EIGHTH, 8 * EIGHTH]
    matrix = embed_points(FORK, points).matrix
    assert np.asarray(matrix @ FORK.rest) == pytest.approx(points, abs=1e-13)
    affine = np.random.default_rng(2).normal(size=(3, 3))
    assert np.asarray(matrix @ (FORK.rest @ affine.T)) == pytest.approx(points @ affine.T, abs=1e-12)


def test_a_point_belongs_to_its_own_prong_in_a_cell_that_two_share() -> None:
    """One prong's nodes that the other has not are moved: its points go along, those of the other stay."""
    ends = 2.5 * CELL, 0.5 * CELL
    low, high = np.array([ends[0], EIGHTH, ends[1]]), np.array([ends[0], 7 * EIGHTH, ends[1]])
    found = embed_points(FORK, np.stack([low, high]))
    own = np.setdiff1d(FORK.elements[found.owners[0]], FORK.elements[found.owners[1]])
    q = FORK.rest.copy()
    q[own] += [0.0, 0.0, 1.0]
    moved = np.asarray(found.matrix @ q) - np.stack([low, high])
    assert len(own) > 0 and moved[0, 2] > 0.5 and np.abs(moved[1]).max() < 1e-12


def test_what_is_outside_is_refused_with_how_many_and_how_far() -> None:
    """Also in the gap between the prongs; less than a sample of the lattice is none."""
    points = np.array([[0.05, 0.05, 0.05], [0.05, 0.05, -0.04], [2.5 * CELL, 4 * EIGHTH, 0.05], [0.05, 0.05, -0.012]])
    assert outside(FORK, points) == pytest.approx([0.0, 0.04, EIGHTH, 0.012], abs=1e-12)
    with pytest.raises(InputError, match=r"cheek: reaches out of the body \(got '1 of 4 points outside, up to 0\.04 m"):
        embed_points(FORK, points, "cheek")
    beside, inside = embed_points(FORK, np.array([[2.5 * CELL, y, 0.05] for y in (-0.006, EIGHTH)])).owners
    assert beside == inside


@pytest.mark.parametrize("turned", [False, True])
def test_samples_fill_a_shape_evenly_and_have_its_volume(turned: bool) -> None:
    ball = icosphere(2, 0.2)
    mesh = TriMesh(ball.rest + [1.0, 2.0, 3.0], ball.faces[:, ::-1] if turned else ball.faces)
    points, volume = fill_evenly(mesh, 0.03)
    assert len(points) * volume == pytest.approx(signed_volume(ball.rest, ball.faces), rel=1e-12)
    assert points.mean(axis=0) == pytest.approx([1.0, 2.0, 3.0], abs=1e-9)
    assert volume == pytest.approx(0.03**3, rel=0.1)
    again = fill_evenly(mesh, 0.03)
    assert again[0].tobytes() == points.tobytes()


def test_a_thin_plate_has_two_samples_across() -> None:
    plate = block_surface(np.ones((20, 1, 20)), 0.01)
    points, _ = fill_evenly(plate, 0.1)
    assert len(np.unique(np.round(points[:, 1], 9))) >= 2
    assert points.mean(axis=0) == pytest.approx([0.1, 0.005, 0.1])


def test_shapes_that_cannot_be_filled_are_refused() -> None:
    thin = block_surface(np.ones((30, 1, 30)), 0.01)
    with pytest.raises(InputError, match="temporalis: is so thin"):
        fill_evenly(thin.with_rest(thin.rest * [1.0, 1e-4, 1.0]), 0.1, "temporalis")
    with pytest.raises(InputError, match="temporalis: an open surface"):
        fill_evenly(TriMesh(thin.rest, thin.faces[1:]), 0.1, "temporalis")


def test_values_inside_are_those_of_a_linear_function_and_between_those_on_the_surface() -> None:
    """On a shape that is not convex; on its faces and corners too, where the formula itself breaks down."""
    mesh = fork()
    rest, faces = mesh.rest, mesh.faces
    middles = rest[faces[:20]].mean(axis=1)
    points = np.concatenate([fill_evenly(mesh, 0.02)[0], middles, rest[:5], 0.5 * (rest[faces[0, :1]] + middles[:1])])
    affine = np.random.default_rng(4).normal(size=(3, 3))
    found = inside_values(points, mesh, rest @ affine.T + 0.3)
    assert found == pytest.approx(points @ affine.T + 0.3, abs=1e-9)
    hat = inside_values(rest[7:8], mesh, np.eye(len(rest)))
    assert hat[0] == pytest.approx(np.eye(len(rest))[7], abs=1e-12)


def test_values_inside_are_means_over_what_is_seen_the_nearer_the_more() -> None:
    """∫ f/|p − x| over all directions, f linear on faces, over the same with f = 1: by the middles of finer faces."""
    cube = tet_bar((1, 1, 1), (1.0, 1.0, 1.0)).surface()
    values = np.random.default_rng(6).normal(size=(8, 1))
    fine, prolongation = subdivide(cube, 5)
    middles = fine.rest[fine.faces].mean(axis=1)
    f = np.asarray(prolongation @ values)[fine.faces].mean(axis=1)[:, 0]
    points = np.array([[0.5, 0.5, 0.5], [0.2, 0.3, 0.6], [0.7, 0.8, 0.25]])
    normals = face_normals(fine.rest, fine.faces)
    away = middles - points[:, None]
    far = np.linalg.norm(away, axis=2)
    seen = 0.5 * np.einsum("kfi,fi->kf", away, normals) / far**4
    found = inside_values(points, cube, values)[:, 0]
    assert found == pytest.approx((seen * f).sum(axis=1) / seen.sum(axis=1), abs=1e-3)
