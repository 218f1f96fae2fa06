"""Tetrahedral meshes: every refusal provoked once, volumes, the surface around them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from bunraku.contracts import InputError
from bunraku.geometry import TetMesh, check_physical, face_normals
from bunraku.geometry.tetmesh import check_tets

CORNER = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
PAIR = np.vstack([CORNER, [[1.0, 1, 1]]])
CUBE = np.array([[0, 1, 3, 7], [0, 1, 7, 5], [0, 5, 7, 4], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7]])
"""the six tetrahedra around the diagonal of a cell whose corner k is (k & 1, k >> 1 & 1, k >> 2 & 1)"""


def mesh(rest: ArrayLike = CORNER, tets: ArrayLike = ((0, 1, 2, 3),)) -> TetMesh:
    return TetMesh(np.asarray(rest), np.asarray(tets))


def block(cells: int) -> TetMesh:
    """A unit cube of cells³ × 6 tetrahedra."""
    n = cells + 1
    grid = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:, ::-1]
    corners = np.array([[k & 1, k >> 1 & 1, k >> 2 & 1] for k in range(8)])
    first = grid[(grid < cells).all(axis=1)]
    vertex = (first[:, None] + corners) @ np.array([1, n, n * n])
    return TetMesh.oriented(grid / cells, vertex[:, CUBE].reshape(-1, 4))


@pytest.mark.parametrize(
    ("make", "story"),
    [
        (lambda: mesh(rest=np.zeros((4, 2))), r"rest positions must have shape \(n, 3\)"),
        (lambda: mesh(tets=[[0, 1, 2]]), r"tets must have shape \(m, 4\)"),
        (lambda: mesh(tets=[[0.0, 1.0, 2.0, 3.0]]), "whole numbers"),
        (lambda: mesh(tets=[[0, 1, 2, 3], [0, 1, 2, 4]]), r"tets 1: .*outside the 4 vertices \(got \[0, 1, 2, 4\]\)"),
        (lambda: mesh(tets=[[-1, 1, 2, 3]]), "tets 0"),
        (lambda: mesh(rest=np.zeros((0, 3))), "none, no vertices"),
    ],
)
def test_what_is_no_mesh_is_refused(make: Callable[[], TetMesh], story: str) -> None:
    with pytest.raises(InputError, match=story):
        make()


@pytest.mark.parametrize(
    ("given", "story"),
    [
        (mesh(tets=np.zeros((0, 4), int)), "jelly: has no tetrahedra"),
        (mesh(rest=CORNER * [1, 1, np.nan]), "jelly, vertices 0, 1, 2, 3: coordinates are not finite"),
        (mesh(rest=CORNER * 1e9), "too large"),
        (mesh(rest=CORNER * [1, 1, 1e-9]), "jelly, tets 0: tetrahedra without volume"),
        (mesh(tets=[[0, 1, 3, 2]]), "jelly, tets 0: tetrahedra are inside out.*-0.167 m³"),
        (mesh(rest=PAIR), "jelly, vertices 4: vertices belong to no tetrahedron"),
        (mesh(rest=np.vstack([CORNER, [[0.1, 0.1, 0.9]]]), tets=[[0, 1, 2, 3], [0, 1, 2, 4]]), "tets 0, 1: .*inside"),
        (mesh(tets=[[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3]]), "three share a face"),
    ],
)
def test_what_physics_cannot_mean_is_refused(given: TetMesh, story: str) -> None:
    with pytest.raises(InputError, match=story):
        check_tets(given, "jelly")


def test_negative_tetrahedra_are_turned_around() -> None:
    given = TetMesh.oriented(PAIR, np.array([[0, 1, 3, 2], [1, 2, 3, 4]]))
    assert given.tets.tolist() == [[0, 1, 2, 3], [1, 2, 3, 4]]
    assert given.volumes == pytest.approx([1 / 6, 1 / 3])
    check_tets(given)


def test_one_tetrahedron_is_its_own_surface() -> None:
    surface = mesh().surface()
    centres = surface.rest[surface.faces].mean(axis=1) - CORNER.mean(axis=0)
    assert (np.sum(centres * face_normals(surface.rest, surface.faces), axis=1) > 0).all()


def test_the_surface_has_its_own_numbering() -> None:
    """Inner vertices are not on it, and `surface_vertices` says where those that are came from."""
    given = block(4)
    surface = given.surface()
    assert (given.point_count, len(given.tets), surface.point_count, len(surface.faces)) == (125, 384, 98, 192)
    assert np.array_equal(surface.rest, given.rest[given.surface_vertices])
    assert np.array_equal(given.surface_vertices[surface.faces], given.surface_faces)
    check_tets(given)
    check_physical(surface)


@given(st.integers(1, 3), st.integers(0, 1000))
def test_gauss(cells: int, seed: int) -> None:
    """The volume inside the surface, ∮ x·n / 3, is that of the tetrahedra, wherever the vertices go."""
    random = np.random.default_rng(seed)
    given = block(cells)
    moved = given.with_rest(given.rest + random.normal(size=(given.point_count, 3)) * 0.05 / cells)
    surface = moved.surface()
    a, b, c = (surface.rest[surface.faces[:, k]] for k in range(3))
    inside = np.sum(a * np.cross(b, c)) / 6
    assert inside == pytest.approx(moved.volumes.sum(), rel=1e-12)
    assert moved.size == pytest.approx(np.linalg.norm(np.ptp(moved.rest, axis=0)))


def test_a_mesh_cannot_be_changed_behind_its_back() -> None:
    with pytest.raises(ValueError, match="read-only"):
        mesh().rest[0] = 1.0


def test_quality_is_one_for_a_regular_tetrahedron_and_none_for_a_flat_one() -> None:
    regular = np.array([[1.0, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]])
    assert TetMesh.oriented(regular, np.array([[0, 1, 2, 3]])).quality[0] == pytest.approx(1.0)
    # A right corner: V = 1/6, edges 1, 1, 1, √2, √2, √2, so 12 (1/2)^(2/3) / 9.
    assert mesh().quality[0] == pytest.approx(12 * 0.5 ** (2 / 3) / 9)
    assert mesh(CORNER * [1, 1, 0]).quality[0] == 0.0
