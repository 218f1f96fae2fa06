"""Hinges and the sign their angle has in each face."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.energies import angles
from bunraku.geometry import TriMesh, edges, hinges
from bunraku.scenes import box_mesh
from bunraku.testing import sheet


def test_counts_of_edges_and_hinges() -> None:
    """A disc: E = V + F − 1, and 3F = E + inner edges."""
    mesh = sheet(4, 3)
    v, f = mesh.point_count, len(mesh.faces)
    assert len(edges(mesh.faces).vertices) == v + f - 1
    assert len(hinges(mesh).vertices) == 3 * f - (v + f - 1)
    assert len(hinges(box_mesh()).vertices) == 18


def test_a_hinge_names_its_edge_and_its_two_corners() -> None:
    mesh = sheet(4, 3)
    found = hinges(mesh)
    for side in (0, 1):
        face = mesh.faces[found.faces[:, side]]
        corner = face[np.arange(len(face)), found.corners[:, side]]
        assert np.array_equal(corner, found.vertices[:, 2 + side])
        everyone = np.sort(np.column_stack([found.vertices[:, :2], corner]), axis=1)
        assert np.array_equal(everyone, np.sort(face, axis=1))


def test_the_opposite_edge_of_a_corner_has_the_other_two() -> None:
    faces = sheet(2, 2).faces
    found = edges(faces)
    for corner in range(3):
        others = np.sort(np.delete(faces, corner, axis=1), axis=1)
        assert np.array_equal(found.vertices[found.of_face[:, corner]], others)


@pytest.mark.parametrize("flipped", [False, True])
def test_signs_follow_the_winding(flipped: bool) -> None:
    """The first face counts +1; the second −1 where it is wound against the first."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1, 0.3], [0.5, -1, 0.2]])
    second = [0, 1, 3] if flipped else [1, 0, 3]
    found = hinges(TriMesh(rest, np.array([[0, 1, 2], second])))
    assert found.signs.tolist() == [[1.0, -1.0 if flipped else 1.0]]
    assert found.vertices[0].tolist() == [0, 1, 2, 3]
    # Geometry, not winding, decides the angle: a valley seen from above turns backwards about the edge.
    turn = angles(rest, found.vertices, np.zeros(1))[0]
    assert turn == pytest.approx(-np.arctan(0.3) - np.arctan(0.2), rel=1e-12)


def test_a_convex_box_bends_the_same_way_everywhere() -> None:
    box = box_mesh()
    found = hinges(box)
    turn = angles(box.rest, found.vertices, np.zeros(18))
    corner = np.abs(turn) > 1e-9
    assert corner.sum() == 12
    assert np.abs(turn[corner]) == pytest.approx(np.full(12, np.pi / 2), rel=1e-12)
    assert len(set(np.sign(turn[corner]))) == 1


@pytest.mark.parametrize(("every_pair", "pairs"), [(False, [(0, 1), (1, 2)]), (True, [(0, 1), (1, 2), (0, 2)])])
def test_an_edge_with_three_faces_has_a_hinge_a_pair(every_pair: bool, pairs: list[tuple[int, int]]) -> None:
    rest = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1], [-1, 0, 0]])
    found = hinges(TriMesh(rest, np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4]])), every_pair=every_pair)
    assert sorted(map(tuple, found.faces.tolist())) == sorted(pairs)
    turns = np.abs(angles(rest, found.vertices, np.zeros(len(pairs))))
    flat = [pair == (0, 2) for pair in map(tuple, found.faces.tolist())]
    assert turns == pytest.approx(np.where(flat, 0.0, np.pi / 2), abs=1e-12)
