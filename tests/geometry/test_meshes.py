"""Meshes: every refusal provoked once, areas and normals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike

from bunraku.contracts import InputError
from bunraku.geometry import (
    TriMesh,
    check_coordinates,
    check_physical,
    face_areas,
    face_normals,
    first_few,
    vertex_areas,
    vertex_normals,
)
from bunraku.scenes import box_mesh
from bunraku.testing import sheet

TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def mesh(rest: ArrayLike = TRIANGLE, faces: ArrayLike = ((0, 1, 2),)) -> TriMesh:
    return TriMesh(np.asarray(rest), np.asarray(faces))


@pytest.mark.parametrize(
    ("make", "story"),
    [
        (lambda: mesh(rest=np.zeros((3, 2))), r"rest positions must have shape \(n, 3\) \(got \(3, 2\)\)"),
        (lambda: mesh(faces=[[0, 1]]), r"faces must have shape \(m, 3\)"),
        (lambda: mesh(faces=[[0.0, 1.0, 2.0]]), "whole numbers"),
        (lambda: mesh(faces=[[0, 1, 2], [0, 1, 3]]), r"faces 1: .*outside the 3 vertices \(got \[0, 1, 3\]\)"),
        (lambda: mesh(faces=[[-1, 1, 2]]), "faces 0"),
    ],
)
def test_what_is_no_mesh_is_refused(make: Callable[[], TriMesh], story: str) -> None:
    with pytest.raises(InputError, match=story):
        make()


@pytest.mark.parametrize(
    ("given", "story"),
    [
        (mesh(np.zeros((0, 3)), []), "coat: has no faces"),
        (mesh(faces=[]), "coat: has no faces"),
        (mesh([[0, 0, 0], [np.nan, 0, 0], [0, 1, 0]]), r"coat, vertices 1: coordinates are not finite"),
        (mesh([[0, 0, 0], [1, 0, 0], [0, np.inf, 0]]), r"coat, vertices 2: coordinates are not finite"),
        (mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]]), "coat, faces 0: faces without area"),
        (mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5]]), "coat, vertices 3: vertices belong to no face"),
        (mesh(faces=[[0, 1, 2], [2, 1, 0]]), "coat, faces 1: faces have the same three vertices"),
        (mesh(TRIANGLE * 1e8), "too large.*metersPerUnit"),
        (mesh(TRIANGLE * 1e-7), "too small.*metersPerUnit"),
    ],
    ids=["empty", "no faces", "NaN", "infinite", "no area", "loose", "repeated", "huge", "tiny"],
)
def test_what_physics_cannot_mean_is_refused(given: TriMesh, story: str) -> None:
    with pytest.raises(InputError, match=story):
        check_physical(given, "coat")


def test_sound_meshes_pass() -> None:
    for given in (mesh(), sheet(), box_mesh(), mesh(TRIANGLE * 1e6), mesh(TRIANGLE * 1e-5)):
        check_physical(given)


def test_coordinates_of_a_frame_are_named() -> None:
    frames = np.tile(TRIANGLE, (4, 1, 1))
    frames[2, 1, 0] = np.nan
    with pytest.raises(InputError, match="vertices 1"):
        check_coordinates(frames, "guide")


def test_a_mesh_cannot_be_changed_behind_its_back() -> None:
    rest = TRIANGLE.copy()
    given = mesh(rest)
    rest[0] = 9.0
    assert np.array_equal(given.rest, TRIANGLE)
    with pytest.raises(ValueError, match="read-only"):
        given.rest[0] = 1.0


def test_first_few() -> None:
    assert first_few(np.arange(3)) == "0, 1, 2"
    assert first_few(np.arange(9)) == "0, 1, 2, 3, 4 and 4 more"


def test_areas_and_normals_of_a_box() -> None:
    """Gauss: ∮ x·n = 3 V, and the normals of a closed surface sum to zero; the faces are wound outwards."""
    box = box_mesh(0.5, 0.7)
    area = 2 * 0.5**2 + 4 * 0.5 * 0.7
    assert face_areas(box.rest, box.faces).sum() == pytest.approx(area, rel=1e-14)
    assert vertex_areas(box.rest, box.faces).sum() == pytest.approx(area, rel=1e-14)
    normals = face_normals(box.rest, box.faces)
    assert np.abs(normals.sum(axis=0)).max() <= 1e-15
    centres = box.rest[box.faces].mean(axis=1)
    assert np.sum(centres * normals) / 2 == pytest.approx(3 * 0.5**2 * 0.7, rel=1e-14)
    assert np.linalg.norm(vertex_normals(box.rest, box.faces), axis=1) == pytest.approx(np.ones(8), rel=1e-14)
    assert box.size == pytest.approx(np.sqrt(0.5**2 + 0.5**2 + 0.7**2), rel=1e-14)


def test_a_vertex_without_a_face_has_no_normal() -> None:
    lonely = np.vstack([TRIANGLE, [[5.0, 5, 5]]])
    assert np.array_equal(vertex_normals(lonely, np.array([[0, 1, 2]]))[3], np.zeros(3))
