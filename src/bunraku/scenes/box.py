"""The twisting box of TRACKS §5.2: eight vertices, the top face moved rigidly, the bottom on the ground."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.geometry import TriMesh
from bunraku.motion import Animation, ease

_WIDTH, _HEIGHT = 0.5, 0.7  # [m]
_STOP = 3.5  # [s] the moment everything halts
_SHAKEN = 1.0  # [s] and that of the shaken box


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


def wrung_box(frame_count: int = 84, rate: float = 24.0) -> Animation:
    """A guide that ends where it began: twist, hold, untwist, stillness. What is left of the wrinkles has set."""
    mesh = box_mesh()
    times = np.arange(frame_count) / rate
    return Animation(mesh, times, np.stack([_turned(mesh.rest, _twist(time), -0.05 * _wrung(time)) for time in times]))


def shaken_box(frame_count: int = 36, rate: float = 24.0) -> Animation:
    """A guide that moves rigidly but for a little slack: shaken from side to side, and stopped dead after a second."""
    mesh = box_mesh()
    times = np.arange(frame_count) / rate
    poses = []
    for time in times:
        now = min(time, _SHAKEN)
        swing = ease(now, 0.0, 0.5) * np.sin(2.0 * np.pi * 3.0 * (now - _SHAKEN))
        slack = -0.03 * float(ease(now, 0.0, 0.4))
        poses.append(_turned(mesh.rest, 0.0, slack) + swing * np.array([0.15, 0.0, 0.08]))
    return Animation(mesh, times, np.stack(poses))


def _pose(rest: Points, time: float) -> Points:
    now = min(time, _STOP)
    return _turned(rest, _twist(now), _lift(now), _sway(now))


def _turned(rest: Points, angle: float, lift: float, sway: Vector | tuple[float, float] = (0.0, 0.0)) -> Points:
    """The top turned about the vertical [rad], lifted and moved aside [m]."""
    top = rest[:, 1] > 0.5 * _HEIGHT
    moved = rest.copy()
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    moved[top] = rest[top] @ turn.T + np.array([sway[0], lift, sway[1]])
    return moved


def _wrung(time: float) -> float:
    """From 0 to 1 and back."""
    return float(ease(time, 0.3, 1.3) - ease(time, 1.7, 2.3))


def _twist(time: float) -> float:
    return np.radians(48.0) * _wrung(time)


def _lift(time: float) -> float:
    """The top sinks as it twists and ends lower than it began, so the walls are slack and free to swing."""
    bounce = ease(time, 2.2, 2.8) * 0.035 * np.sin(2.0 * np.pi * 2.5 * (_STOP - time))
    return float(-0.05 * ease(time, 0.3, 1.3) + bounce)


def _sway(time: float) -> Vector:
    """A shake that grows until it is cut at its fastest moment."""
    phase = 2.0 * np.pi * 1.25 * (time - _STOP)
    return ease(time, 2.0, 2.8) * np.array([0.11 * np.sin(phase), 0.05 * np.sin(2.0 * phase)])
