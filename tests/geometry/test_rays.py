"""Rays against triangles: the tree finds what asking every triangle finds."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import Faces, Flags, Points
from bunraku.geometry import Barrier
from bunraku.testing import sheet


def _asked_one_by_one(origins: Points, along: Points, x: Points, faces: Faces) -> Flags:
    """By solving origin + t along = a + u (b − a) + v (c − a) for every ray and triangle."""
    out = np.zeros(len(origins), dtype=bool)
    for face in faces:
        a, b, c = x[face]
        for q, (origin, d) in enumerate(zip(origins, along, strict=True)):
            matrix = np.stack([-d, b - a, c - a], axis=1)
            if abs(np.linalg.det(matrix)) > 0.0:
                t, u, v = np.linalg.solve(matrix, origin - a)
                out[q] |= t > 0 and u >= 0 and v >= 0 and u + v <= 1
    return out


@pytest.mark.parametrize("seed", range(3))
def test_the_tree_misses_nothing_and_invents_nothing(seed: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(60, 3))
    faces = generator.permuted(np.arange(60)).reshape(-1, 3)
    x[faces[:, 1:]] = x[faces[:, :1]] + generator.normal(size=(20, 2, 3))
    origins, along = generator.normal(size=(80, 3)), generator.normal(size=(80, 3))
    along[:20] = np.eye(3)[generator.integers(0, 3, 20)]  # along an axis, where a slab has no width
    wanted = _asked_one_by_one(origins, along, x, faces)
    assert 10 < wanted.sum() < 70
    assert np.array_equal(Barrier(x, faces).stops(origins, along), wanted)


def test_a_ray_passes_the_faces_it_starts_on_and_nothing_behind_it() -> None:
    cloth = sheet(4, 4)
    wall = Barrier(cloth.rest, cloth.faces)
    middle = cloth.rest[cloth.faces].mean(axis=1)
    up = np.broadcast_to([0.0, 0.0, 1.0], middle.shape)
    assert not wall.stops(middle + [0.0, 0.0, 0.1], up).any()
    assert wall.stops(middle - [0.0, 0.0, 0.1], up).all()
    own = wall.stops(middle - [0.0, 0.0, 1e-9], up, cloth.faces)
    assert not own.any()
    assert not Barrier(np.zeros((0, 3)), np.zeros((0, 3), np.int64)).stops(middle, up).any()
