"""A strip whose two arms pass through each other: a guide no shell can obey without passing through itself."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Points
from bunraku.geometry import TriMesh
from bunraku.motion import Animation, ease

from .study import grid_mesh

_LENGTH, _WIDTH = 1.2, 0.3  # [m]
_HINGE = 0.15  # [m] from the middle, where an arm begins
_MOST = np.radians(137.0)  # beyond about 104° the hands are on each other's side


def arms_mesh(along: int = 13, across: int = 4) -> TriMesh:
    """A flat strip along x of so many vertices, its faces turned upwards."""
    return grid_mesh(np.linspace(-_LENGTH / 2, _LENGTH / 2, along), np.linspace(-_WIDTH / 2, _WIDTH / 2, across))


def crossing_arms(frame_count: int = 72, rate: float = 24.0, *, along: int = 13, across: int = 4) -> Animation:
    """The guide: both arms rise, swing through each other, stay there for a moment, and come back."""
    mesh = arms_mesh(along, across)
    times = np.arange(frame_count) / rate
    return Animation(mesh, times, np.stack([_raised(mesh.rest, _angle(time)) for time in times]))


def _angle(time: float) -> float:
    """Of the arms over the ground [rad]."""
    return float(_MOST * (ease(time, 0.1, 1.3) - ease(time, 1.6, 2.7)))


def _raised(rest: Points, angle: float) -> Points:
    """Both arms turned up about their hinges."""
    side, out = np.sign(rest[:, 0]), np.abs(rest[:, 0])
    arm = np.maximum(out - _HINGE, 0.0)
    x = np.array(rest)
    x[:, 0] = side * (np.minimum(out, _HINGE) + arm * np.cos(angle))
    x[:, 1] += arm * np.sin(angle)
    return x
