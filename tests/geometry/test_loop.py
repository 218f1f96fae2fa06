"""Smooth subdivision: Loop's rule, and the surface that is drawn of a skin."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_shapes import grid, mobius, sphere, torus, volume

from bunraku.contracts import Points, Vector
from bunraku.geometry import TriMesh, edges, subdivide, subdivide_smoothly
from bunraku.geometry.loop import loop_limit, loop_rule

SHAPES = {"closed": torus(), "with a border": grid(5, 4), "with one side": mobius()}


@pytest.mark.parametrize("shape", SHAPES)
def test_affine_motions_stay_what_they_are(shape: str) -> None:
    points, faces = SHAPES[shape]
    turn, shift = np.random.default_rng(3).normal(size=(3, 3)), np.array([1.0, -2.0, 3.0])
    matrix, _ = subdivide_smoothly(faces, len(points), 2)
    assert matrix @ (points @ turn.T + shift) == pytest.approx((matrix @ points) @ turn.T + shift, abs=1e-12)


def test_an_even_sheet_stays_even() -> None:
    """Loop's masks of six neighbours reproduce what is linear over the sheet, and so does the border's cubic spline
    along it: new points are where straight subdivision has them."""
    points, faces = grid(9, 8)
    matrix, finer = subdivide_smoothly(faces, len(points), 1)
    straight, _ = subdivide(TriMesh(points, faces), 1)
    assert np.array_equal(finer, straight.faces)
    inside = ((straight.rest[:, :2] > 2.4) & (straight.rest[:, :2] < (6.6, 5.6))).all(axis=1)
    assert (matrix @ points)[inside] == pytest.approx(straight.rest[inside], abs=1e-12)


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_a_closed_mesh_stays_closed_and_a_ball_a_ball(levels: int) -> None:
    points, faces = sphere(2)
    matrix, finer = subdivide_smoothly(faces, len(points), levels)
    found = edges(finer)
    assert len(finer) == 4**levels * len(faces) and (found.face_count == 2).all()
    assert matrix.shape[0] - len(found.vertices) + len(finer) == 2
    smooth = matrix @ points
    straight = subdivide(TriMesh(points, faces), levels)[0].rest
    away, missed = (abs(volume(x, finer) - 4.0 / 3.0 * np.pi) for x in (smooth, straight))
    assert away < 0.45 * missed if levels else away == missed


def test_the_limit_is_where_subdividing_ends() -> None:
    """Two routes: the limit's rule, and Loop's rule many times over, about vertices of four and of six neighbours and
    on borders."""
    points, faces = sphere(1)
    points, faces = points, faces[points[faces].mean(axis=1)[:, 2] > -0.5]
    count = len(points)
    limit = loop_limit(faces, count) @ points
    for _ in range(5):
        step, faces = loop_rule(faces, len(points))
        points = step @ points
    assert np.abs(points[:count] - limit).max() < 2e-3 < 0.05 < np.abs(limit - sphere(1)[0]).max()


@pytest.mark.parametrize("shape", SHAPES)
def test_given_points_are_missed_by_the_square_of_what_the_limit_misses_them_by(shape: str) -> None:
    """L (2 − L) = 1 − (1 − L)², at any level."""
    points, faces = SHAPES[shape]
    limit = loop_limit(faces, len(points))
    missed = points - limit @ points
    matrix, _ = subdivide_smoothly(faces, len(points), 2)
    assert points - (matrix @ points)[: len(points)] == pytest.approx(missed - limit @ missed, abs=1e-12)


def waves(points: Points) -> Vector:
    """Four edges long … heights over a sheet whose edges are one."""
    return 0.5 * np.sin(2.0 * np.pi * points[:, 0] / 8.0 + 0.3)


def test_a_coarse_wave_is_nearer_to_the_wave_it_stands_for() -> None:
    """Of eight edges. Straight faces cut its crests off; Loop's rule alone lowers all of it, and is farther still."""
    points, faces = grid(40, 12)
    coarse = points + waves(points)[:, None] * [0.0, 0.0, 1.0]
    matrix, _ = subdivide_smoothly(faces, len(points), 2)
    straight = subdivide(TriMesh(coarse, faces), 2)[0].rest
    alone, finer = coarse, faces
    for _ in range(2):
        step, finer = loop_rule(finer, len(alone))
        alone = step @ alone

    def away(x: Points) -> float:
        inside = (np.abs(x[:, 0] - 20.0) < 12.0) & (np.abs(x[:, 1] - 6.0) < 3.0)
        return float(np.abs(x[:, 2] - waves(x))[inside].max())

    assert away(matrix @ coarse) < 0.25 * away(straight) < away(straight) < away(alone)
