"""Small shapes whose numbers are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.contracts import Faces, Points
from bunraku.geometry import Attribute, Subset, Surface, TriMesh, of_triangles, subdivide

Shape = tuple[Points, Faces]


def grid(columns: int, rows: int, cell: float = 1.0) -> Shape:
    """A flat sheet in the plane z = 0, wound towards +z."""
    j, i = np.meshgrid(np.arange(rows + 1), np.arange(columns + 1), indexing="ij")
    points = np.stack([i.ravel() * cell, j.ravel() * cell, np.zeros(i.size)], axis=1).astype(np.float64)
    a = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).reshape(-1)
    b, c, d = a + 1, a + columns + 2, a + columns + 1
    return points, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]).astype(np.int64)


def sphere(levels: int = 2) -> Shape:
    """A unit sphere from an octahedron, looking outwards: 4^levels × 8 faces."""
    points = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    faces = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    mesh, _ = subdivide(TriMesh(points, faces), levels)
    return mesh.rest / np.linalg.norm(mesh.rest, axis=1, keepdims=True), mesh.faces


def torus(around: int = 24, across: int = 12) -> Shape:
    """A ring of radii 1 and 0.4, looking outwards."""
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = u.ravel() * 2 * np.pi / around, v.ravel() * 2 * np.pi / across
    points = np.stack([(1 + 0.4 * np.cos(b)) * np.cos(a), (1 + 0.4 * np.cos(b)) * np.sin(a), 0.4 * np.sin(b)], axis=1)
    at = lambda i, j: ((i % around) * across + j % across).ravel()  # noqa: E731
    p, q, r, s = at(u, v), at(u + 1, v), at(u + 1, v + 1), at(u, v + 1)
    return points, np.concatenate([np.stack([p, q, r], axis=1), np.stack([p, r, s], axis=1)])


def mobius(count: int = 20) -> Shape:
    """A strip with one side."""
    turn = np.arange(count) * 2 * np.pi / count
    side = np.array([-0.3, 0.3])
    across = np.stack([np.cos(turn / 2) * np.cos(turn), np.cos(turn / 2) * np.sin(turn), np.sin(turn / 2)], axis=1)
    middle = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    points = (middle[:, None] + side[None, :, None] * across[:, None]).reshape(-1, 3)
    low, high = 2 * np.arange(count), 2 * np.arange(count) + 1
    next_low, next_high = np.append(low[1:], high[0]), np.append(high[1:], low[0])
    first, second = np.stack([low, next_low, high], axis=1), np.stack([high, next_low, next_high], axis=1)
    return points, np.concatenate([first, second])


def volume(points: Points, faces: Faces) -> float:
    """Volume inside triangles [m³]."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6)


def surface(shape: Shape) -> Surface:
    """A shape as a surface."""
    return of_triangles(*shape)


def polygons(
    points: Points, rings: Sequence[Sequence[int]], attributes: Sequence[Attribute] = (), subsets: Sequence[Subset] = ()
) -> Surface:
    """A surface of the polygons with these points around each."""
    counts = np.array([len(ring) for ring in rings], dtype=np.int64)
    corners = np.array([point for ring in rings for point in ring], dtype=np.int64)
    return Surface(points, counts, corners, tuple(attributes), tuple(subsets))


def triangles(given: Surface) -> Faces:
    """(f, 3) of a surface of triangles."""
    assert (given.counts == 3).all()
    return given.corners.reshape(-1, 3)
