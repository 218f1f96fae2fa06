"""The twisting box of TRACKS §5.2: eight vertices, the top face moved rigidly, the bottom on the ground."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.geometry import TriMesh
from bunraku.motion import Animation, ease

_WIDTH, _HEIGHT = 0.5, 0.7  # [m]
_STOP = 3.5  # [s] the moment everything halts


def box_mesh(width: float = _WIDTH, height: float = _HEIGHT) -> TriMesh:
    """A closed box of eight vertices and twelve triangles standing on y = 0; vertices 4 to 7 are its top."""
    half = width / 2
    ring = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    rest = np.array([[x, y, z] for y in (0.0, height) for x, z in ring])
    faces = [[0, 1, 2], [0, 2, 3], [4, 7, 6], [4, 6, 5]]
    for k in range(4):
        a, b = k, (k + 1) % 4
        faces += [[a, a + 4, b], [b, a + 4, b + 4]]
    return TriMesh(rest, np.array(faces))


def twisting_box(frame_count: int = 120, rate: float = 24.0) -> Animation:
    """The guide: twist, hold, untwist, shake, sudden stop, stillness."""
    mesh = box_mesh()
    times = np.arange(frame_count) / rate
    return Animation(mesh, times, np.stack([_pose(mesh.rest, time) for time in times]))


def _pose(rest: Points, time: float) -> Points:
    top = rest[:, 1] > 0.5 * _HEIGHT
    moved = rest.copy()
    now = min(time, _STOP)
    angle, lift, sway = _twist(now), _lift(now), _sway(now)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    moved[top] = rest[top] @ turn.T + np.array([sway[0], lift, sway[1]])
    return moved


def _twist(time: float) -> float:
    return np.radians(48.0) * (ease(time, 0.3, 1.3) - ease(time, 1.7, 2.3))


def _lift(time: float) -> float:
    """The top sinks as it twists and ends lower than it began, so the walls are slack and free to swing."""
    bounce = ease(time, 2.2, 2.8) * 0.035 * np.sin(2.0 * np.pi * 2.5 * (_STOP - time))
    return -0.05 * ease(time, 0.3, 1.3) + bounce


def _sway(time: float) -> Vector:
    """A shake that grows until it is cut at its fastest moment."""
    phase = 2.0 * np.pi * 1.25 * (time - _STOP)
    return ease(time, 2.0, 2.8) * np.array([0.11 * np.sin(phase), 0.05 * np.sin(2.0 * phase)])
