"""The z-buffer against geometry."""

from __future__ import annotations

import numpy as np
from render_shapes import grid

from bunraku.contracts import Faces, Points
from bunraku.render import Camera
from bunraku.render.drawing import SAMPLES
from bunraku.render.raster import draw_rows, screen_triangles

SIZE = (160, 120)
CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))


def _seen(x: Points, faces: Faces, camera: Camera = CAMERA, samples: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Triangle and 1/depth of every sample, (s, h, w) each."""
    offsets = np.array(SAMPLES[samples]) / 16.0
    shape = (samples, SIZE[1], SIZE[0])
    seen, nearness = np.full(shape, -1, dtype=np.int32), np.zeros(shape, dtype=np.float32)
    t = screen_triangles(x - np.array(camera.eye), faces, camera.projection(SIZE), SIZE)
    for first in (0, 50):  # in two strips
        rows = slice(first, 50 if first == 0 else None)
        part, near = np.ascontiguousarray(seen[:, rows]), np.ascontiguousarray(nearness[:, rows])
        draw_rows(t.planes, t.scale, t.bounds, offsets, first, near, part)
        seen[:, rows], nearness[:, rows] = part, near
    return seen, nearness


def test_a_triangle_covers_its_projected_area() -> None:
    x = np.array([[-0.7, -0.5, 0.0], [0.9, -0.3, 0.5], [0.1, 0.8, -0.5]])
    p = CAMERA.project(x, SIZE)[:, :2]
    edges = np.roll(p, -1, axis=0) - p
    area = 0.5 * abs(edges[0, 0] * edges[1, 1] - edges[0, 1] * edges[1, 0])
    perimeter = np.linalg.norm(edges, axis=1).sum()
    for samples in (1, 4, 8):
        seen, _ = _seen(x, np.array([[0, 1, 2]]), samples=samples)
        # A pixel on the outline is wrong by half a sample at most, of either sign at random.
        assert abs((seen >= 0).sum() / samples - area) < np.sqrt(perimeter) / np.sqrt(samples)


def test_the_nearer_triangle_is_seen_whatever_the_order() -> None:
    shape = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    x = np.concatenate([shape, shape + [0.0, 0.0, 1.0]])  # the second is nearer to the eye
    forward, _ = _seen(x, np.array([[0, 1, 2], [3, 4, 5]]))
    backward, _ = _seen(x, np.array([[3, 4, 5], [0, 1, 2]]))
    assert (forward[:, 60, 80] == 1).all() and (backward[:, 60, 80] == 0).all()
    # Crossing triangles: each is seen on its side of the line where they meet.
    x = np.concatenate([shape * [1, 1, 0] + shape[:, :1] * [0, 0, 1], shape * [1, 1, 0] - shape[:, :1] * [0, 0, 1]])
    crossed, _ = _seen(x, np.array([[0, 1, 2], [3, 4, 5]]))
    assert (crossed[:, 70, 90] == 0).all() and (crossed[:, 70, 70] == 1).all()


def test_neighbours_leave_no_crack() -> None:
    flat, faces = grid(23, 6.0)  # larger than the picture
    generator = np.random.default_rng(5)
    inner = np.abs(flat).max(axis=1) < 2.9
    x = flat[:, [0, 2, 1]] * [1, -1, 1]
    x[inner] += generator.uniform(-0.09, 0.09, size=(inner.sum(), 3))
    seen, _ = _seen(x, faces, samples=8)
    assert (seen >= 0).all()


def test_triangles_that_reach_behind_the_eye() -> None:
    # A floor one metre below the eye, from far ahead to far behind: seen exactly below the horizon.
    camera = Camera((0.0, 1.0, 0.0), (0.0, 1.0, -1.0), field_of_view=60.0)
    floor = np.array([[-900.0, 0.0, 900.0], [900.0, 0.0, 900.0], [0.0, 0.0, -9000.0]])
    seen, nearness = _seen(floor, np.array([[0, 1, 2]]), camera, samples=1)
    focal = 60.0 / np.tan(np.radians(30.0))
    slope = (np.arange(120) + 0.5 - 60.0) / focal  # downwards, per metre of depth
    below = slope > 1.0 / 1000.0
    assert (seen[0][below] == 0).all()
    assert (seen[0][slope < 0] == -1).all()
    np.testing.assert_allclose(nearness[0, below, 80], slope[below], rtol=1e-6)
    behind, _ = _seen(floor + [0.0, 0.0, 10000.0], np.array([[0, 1, 2]]), camera)
    assert (behind == -1).all()


def test_what_cannot_be_drawn_is_left_out() -> None:
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [np.nan, 0, 0], [1e200, 1e200, 0], [-1e200, 0, 3]], dtype=float)
    faces = np.array([[0, 1, 3], [0, 0, 1], [2, 2, 2], [0, 4, 5]])
    seen, _ = _seen(x, faces)
    assert (seen == -1).all()
