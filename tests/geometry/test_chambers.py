"""Closed pieces and their volumes."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import InputError
from bunraku.geometry import TriMesh, chambers, hinges
from bunraku.scenes import box_mesh
from bunraku.testing import icosphere, sheet


def _together(*parts: TriMesh) -> TriMesh:
    first = np.cumsum([0, *(part.point_count for part in parts[:-1])])
    return TriMesh(
        np.concatenate([part.rest for part in parts]),
        np.concatenate([part.faces + k for part, k in zip(parts, first, strict=True)]),
    )


def test_a_box_has_the_volume_of_its_sides() -> None:
    box = box_mesh()
    sides = np.ptp(box.rest, axis=0)
    assert chambers(box).volumes(box.rest) == pytest.approx([sides.prod()], rel=1e-14)


def test_each_closed_piece_has_its_own_volume_however_it_is_wound() -> None:
    """Volume goes with the cube of the size; faces turned at random, or all inwards, mean the same body."""
    ball = icosphere(1, 0.5)
    small = ball.with_rest(0.5 * ball.rest + [3.0, 0.0, 0.0])
    pair = _together(ball, small)
    one = chambers(ball).volumes(ball.rest)[0]
    assert chambers(pair).volumes(pair.rest) == pytest.approx([one, one / 8], rel=1e-14)
    generator = np.random.default_rng(1)
    for turn in (np.ones(len(pair.faces), bool), generator.random(len(pair.faces)) < 0.4):
        faces = np.where(turn[:, None], pair.faces[:, ::-1], pair.faces)
        assert chambers(TriMesh(pair.rest, faces)).volumes(pair.rest) == pytest.approx([one, one / 8], rel=1e-14)


def test_bodies_that_touch_in_a_vertex_are_two() -> None:
    ball = icosphere(0)
    top = int(np.argmax(ball.rest[:, 1]))
    mirrored = 2.0 * ball.rest[top] - ball.rest
    both = _together(ball, TriMesh(mirrored, ball.faces[:, ::-1]))
    faces = both.faces.copy()
    faces[faces == 12 + top] = top
    found = chambers(TriMesh(np.delete(both.rest, 12 + top, axis=0), np.where(faces > 12 + top, faces - 1, faces)))
    assert found.count == 2


def test_volume_far_from_the_origin_keeps_its_digits() -> None:
    """A million metres away, against the same rounded points brought back: measured from the origin 1e-9 would be
    lost, 1e6 m × the area's rounding over the volume."""
    ball = icosphere(2, 0.1)
    found, away = chambers(ball), ball.rest + 1e6
    assert found.volumes(away) == pytest.approx(found.volumes(away - 1e6), rel=1e-12)


def test_what_encloses_nothing_is_refused() -> None:
    cloth, ball = sheet(2, 2), icosphere(0)
    with pytest.raises(InputError, match=r"open shell.*8 open edges.*bunraku check --fill-holes"):
        chambers(cloth)
    with pytest.raises(InputError, match=r"3 open edges"):
        chambers(TriMesh(ball.rest, ball.faces[1:]))
    wall = np.concatenate([ball.faces, [[ball.faces[0, 0], ball.faces[0, 1], 11]]])
    with pytest.raises(InputError):  # an inner wall: an open edge or one of three faces
        chambers(TriMesh(ball.rest, wall))
    with pytest.raises(InputError, match="encloses no volume"):
        chambers(TriMesh(ball.rest * [1.0, 0.0, 1.0], ball.faces))


def test_a_surface_with_one_side_is_refused() -> None:
    """The projective plane on six vertices: closed, every edge has two faces, and no inside."""
    faces = np.array([[0, 1, 4], [0, 1, 5], [0, 2, 3], [0, 2, 5], [0, 3, 4], [1, 2, 3], [1, 2, 4], [1, 3, 5], [2, 4, 5],
                      [3, 4, 5]])  # fmt: skip
    rest = np.random.default_rng(0).normal(size=(6, 3))
    assert len(hinges(TriMesh(rest, faces)).vertices) == 15
    with pytest.raises(InputError, match="one side only"):
        chambers(TriMesh(rest, faces))
