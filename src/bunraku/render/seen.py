"""Which face each pixel of a picture shows."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Integers, Points

from .camera import Camera
from .raster import draw_rows, screen_triangles
from .surface import drawn


def seen_faces(x: Points, faces: Faces, camera: Camera, size: tuple[int, int]) -> Integers:
    """(height, width) the face of the mesh x (n, 3) [m], faces (f, 3) in the middle of each pixel; −1 where none is."""
    shown = np.flatnonzero(drawn(x, faces))
    near = np.array(x - np.asarray(camera.eye), dtype=np.float64)
    of_shown = np.array(faces[shown], dtype=np.int64)  # copies, as `picture` makes them: one type for numba
    triangles = screen_triangles(near, of_shown, camera.projection(size), size)
    samples = (1, size[1], size[0])
    nearness, seen = np.zeros(samples, dtype=np.float32), np.full(samples, -1, dtype=np.int32)
    draw_rows(triangles.planes, triangles.scale, triangles.bounds, np.array([[0.5, 0.5]]), 0, nearness, seen)
    return np.append(shown, -1)[seen[0]]
