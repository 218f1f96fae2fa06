"""Mirror images of vertices, and the connected pieces of some of them."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import InputError
from bunraku.geometry import mirror_images, subdivide, vertex_pieces
from bunraku.scenes import box_mesh


def test_a_box_is_its_own_mirror_image_across_every_axis() -> None:
    mesh, _ = subdivide(box_mesh(), 2)
    for axis in range(3):
        image = mirror_images(mesh.rest, axis, 1e-9)
        expected = mesh.rest.copy()
        expected[:, axis] = mesh.rest[:, axis].max() + mesh.rest[:, axis].min() - expected[:, axis]
        assert np.allclose(mesh.rest[image], expected, atol=1e-9)
        assert np.array_equal(image[image], np.arange(mesh.point_count))


def test_what_has_no_image_within_the_tolerance_has_none() -> None:
    x = np.array([[-1.0, 0.0, 0.0], [1.02, 0.0, 0.0], [0.4, 1.0, 0.0]])
    assert mirror_images(x, 0, 0.01, at=0.0).tolist() == [-1, -1, -1]
    assert mirror_images(x, 0, 0.05, at=0.0).tolist() == [1, 0, -1]


def test_of_two_that_have_one_nearest_image_the_nearer_has_it() -> None:
    x = np.array([[-1.0, 0.0, 0.0], [1.01, 0.0, 0.0], [1.03, 0.0, 0.0]])
    assert mirror_images(x, 0, 0.1, at=0.0).tolist() == [1, 0, -1]


def test_a_mirror_is_across_an_axis() -> None:
    with pytest.raises(InputError, match="across an axis"):
        mirror_images(np.zeros((1, 3)), 3, 0.1)


def test_pieces_of_vertices_hang_together_by_edges() -> None:
    mesh, _ = subdivide(box_mesh(), 2)
    height = mesh.rest[:, 1]
    ends = (height < 0.3) | (height > 0.4)  # all but one ring
    piece = vertex_pieces(mesh.faces, ends)
    assert set(piece[~ends]) == {-1} and set(piece[ends]) == {0, 1}
    assert len(set(piece[height < 0.1])) == len(set(piece[height > 0.6])) == 1
    assert set(vertex_pieces(mesh.faces, np.ones(len(height), bool))) == {0}
    assert set(vertex_pieces(mesh.faces, np.zeros(len(height), bool))) == {-1}
