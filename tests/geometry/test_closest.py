"""The nearest place of a mesh, against every triangle asked one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mesh_files import surface_of
from mesh_shapes import grid, sphere

from bunraku.contracts import Array, Faces, InputError, Points
from bunraku.geometry import TriMesh, closest_points, weld


def _distances(query: Points, x: Points, faces: Faces) -> Array:
    """(m, f) of each point to each triangle: in front of its inside the plane's, else its sides'."""
    a, b, c = (x[faces[:, k]][None] for k in range(3))
    p = query[:, None]
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=2)
    inside = np.ones(area.shape[:1] + (len(query),), dtype=bool).T & (area > 1e-12)
    sides = []
    for u, v in ((a, b), (b, c), (c, a)):
        inside = inside & (np.einsum("mfi,mfi->mf", np.cross(v - u, p - u), normal + 0 * p) >= 0)
        square = np.maximum(np.sum((v - u) ** 2, axis=2), 1e-300)
        along = np.clip(np.sum((p - u) * (v - u), axis=2) / square, 0, 1)
        sides.append(np.linalg.norm(p - u - along[..., None] * (v - u), axis=2))
    off = np.abs(np.sum((p - a) * normal, axis=2)) / np.maximum(area, 1e-300)
    return np.where(inside, off, np.min(sides, axis=0))


def _check(query: Points, mesh: TriMesh) -> None:
    found = closest_points(query, mesh)
    every = _distances(query, mesh.rest, mesh.faces)
    scale = max(1.0, float(np.abs(query).max(initial=0.0)))
    np.testing.assert_allclose(found.distances, every.min(axis=1), atol=1e-12 * scale)
    np.testing.assert_allclose(every[np.arange(len(query)), found.faces], every.min(axis=1), atol=1e-12 * scale)
    assert (found.weights >= 0).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.points, found.carry(mesh, mesh.rest), atol=1e-12 * scale)
    np.testing.assert_allclose(np.linalg.norm(found.points - query, axis=1), found.distances, atol=1e-12 * scale)


def test_random_triangles() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 3))
    _check(rng.normal(size=(200, 3)) * 2, TriMesh(x, rng.integers(0, 300, size=(400, 3))))


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([2, 3, 1000]))
def test_any_triangles(seed: int, count: int, steps: int) -> None:
    """Coarse coordinates make points that coincide, triangles without area, ties."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, steps, size=(12, 3)) / steps
    _check(rng.integers(-steps, 2 * steps, size=(20, 3)) / steps, TriMesh(x, rng.integers(0, 12, size=(count, 3))))


def test_far_from_the_origin() -> None:
    """A sheet a hundred kilometres away still has its micrometres."""
    points, faces = grid(5, 5)
    away = np.array([1e5, -1e5, 1e5])
    query = np.array([[2.2, 3.1, 1e-6], [-1.0, 2.0, 0.0]])
    found = closest_points(query + away, TriMesh(points + away, faces))
    np.testing.assert_allclose(found.distances, [1e-6, 1.0], rtol=1e-4)


def test_of_equally_near_faces_the_first() -> None:
    points, faces = grid(8, 8)
    found = closest_points(points, TriMesh(points, faces))
    first = np.full(len(points), len(faces))
    np.minimum.at(first, faces, np.arange(len(faces))[:, None])
    np.testing.assert_array_equal(found.faces, first)


def test_values_are_carried() -> None:
    """A linear function of the place comes back exactly."""
    points, faces = grid(4, 4)
    mesh = TriMesh(points, faces)
    found = closest_points(np.array([[1.3, 2.7, 5.0]]), mesh)
    np.testing.assert_allclose(found.carry(mesh, points @ np.array([2.0, -1.0, 0.0])), [2 * 1.3 - 2.7])


@pytest.mark.parametrize("wrong", ["query", "mesh", "empty"])
def test_what_has_no_nearest_place_is_refused(wrong: str) -> None:
    points, faces = grid(1, 1)
    query = np.full((1, 3), np.nan) if wrong == "query" else np.zeros((1, 3))
    mesh = TriMesh(points + (np.inf if wrong == "mesh" else 0.0), faces if wrong != "empty" else faces[:0])
    with pytest.raises(InputError, match="closest points need"):
        closest_points(query, mesh)


def test_no_query() -> None:
    assert len(closest_points(np.zeros((0, 3)), TriMesh(*sphere(0))).faces) == 0


def test_a_real_scan() -> None:
    """Points of the mesh lie on it; points pushed out along no particular way agree with a sample of all triangles."""
    mesh = weld(surface_of("meshes/spot.obj")).mesh
    assert closest_points(mesh.rest, mesh).distances.max() < 1e-15
    rng = np.random.default_rng(0)
    _check(mesh.rest[rng.integers(0, mesh.point_count, 60)] + rng.normal(size=(60, 3)) * 0.2, mesh)
