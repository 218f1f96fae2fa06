"""A tunic: two flat panels that are sewn around a mannequin, which then turns, leans and hops in it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bunraku.contracts import Integers, Points, Vector
from bunraku.geometry import TriMesh
from bunraku.motion import Animation, ease

from .level_set import even_surface
from .study import grid_mesh

WIDTH, LENGTH = 0.60, 0.78
"""[m] of a panel"""
TOP, AWAY = 1.47, 0.21
"""[m] height of the panels' upper edges, and their distance from the mannequin's middle"""
EDGE = 0.035
"""[m] of triangles, of the panels and of the mannequin"""
_NECK, _ARMHOLE = 0.115, 0.24  # [m] half width of the neck, depth of the armholes: these stay open
_BLEND = 0.03  # [m] over which limbs melt into each other
_LIMBS = (
    # from, to, half widths there [m]; the left arm is the right one's mirror image
    ((0.0, 0.62, 0.0), (0.0, 0.95, 0.0), (0.135, 0.165)),
    ((0.0, 0.95, 0.0), (0.0, 1.28, 0.0), (0.155, 0.150)),
    ((-0.13, 1.36, 0.0), (0.13, 1.36, 0.0), (0.065, 0.065)),
    ((0.0, 1.36, 0.0), (0.0, 1.56, 0.0), (0.062, 0.050)),
    ((0.0, 1.63, 0.0), (0.0, 1.70, 0.0), (0.085, 0.095)),
    ((0.13, 1.365, 0.0), (0.52, 1.24, 0.0), (0.060, 0.036)),
    ((-0.13, 1.365, 0.0), (-0.52, 1.24, 0.0), (0.060, 0.036)),
)
_FLAT = np.array([1.0, 1.0, 1.35])  # a chest is wider than deep


def tunic_panels(edge: float = EDGE) -> tuple[TriMesh, Integers]:
    """Front and back, upright and apart, with edges of about `edge` [m]; and (s, 2) vertices sewn to each other."""
    across = np.linspace(-WIDTH / 2, WIDTH / 2, max(2, round(WIDTH / edge)) + 1)
    down = np.linspace(0.0, LENGTH, max(2, round(LENGTH / edge)) + 1)
    flat = grid_mesh(across, down)
    side, below = flat.rest[:, 0], flat.rest[:, 2]
    front = np.stack([side, TOP - below, np.full(len(side), AWAY)], axis=1)
    back = front * np.array([1.0, 1.0, -1.0])
    faces = np.concatenate([flat.faces, flat.faces[:, ::-1] + len(side)])
    at_side = (np.abs(side) > WIDTH / 2 - 1e-9) & (below > _ARMHOLE)
    at_shoulder = (below < 1e-9) & (np.abs(side) > _NECK)
    sewn = np.flatnonzero(at_side | at_shoulder)
    return TriMesh(np.concatenate([front, back]), faces), np.stack([sewn, sewn + len(side)], axis=1)


def _distance(x: Points) -> Vector:
    """(n,) [m] about how far points are outside the mannequin, negative inside."""
    away = np.stack([_to_limb(x * _FLAT, np.array(a), np.array(b), thick) for a, b, thick in _LIMBS])
    low = away.min(axis=0)
    return low - 0.25 * _BLEND * np.log(np.exp(-4.0 * (away - low) / _BLEND).sum(axis=0))


def _to_limb(x: Points, a: Vector, b: Vector, thick: tuple[float, float]) -> Vector:
    axis = b - a
    along = np.clip((x - a) @ axis / (axis @ axis), 0.0, 1.0)
    return np.linalg.norm(x - a - along[:, None] * axis, axis=1) - (thick[0] + (thick[1] - thick[0]) * along)


@lru_cache(maxsize=2)
def mannequin(edge: float = EDGE) -> TriMesh:
    """A dressmaker's figure with arms, closed, with edges of about `edge` [m]."""
    return even_surface(_distance, np.array([-0.6, 0.45, -0.2]), np.array([0.6, 1.85, 0.2]), edge)


def dancing_mannequin(frame_count: int = 72, rate: float = 24.0, edge: float = EDGE) -> Animation:
    """It stands, turns one way and back the other, leaning, and hops."""
    mesh, times = mannequin(edge), np.arange(frame_count) / rate
    return Animation(mesh, times, np.stack([_posed(mesh.rest, float(time)) for time in times]))


def still_panels(frame_count: int = 72, rate: float = 24.0, edge: float = EDGE) -> Animation:
    """The panels as they hang before they are sewn, for as many frames: they direct nothing."""
    mesh = tunic_panels(edge)[0]
    return Animation(mesh, np.arange(frame_count) / rate, np.repeat(mesh.rest[None], frame_count, axis=0))


def _posed(rest: Points, time: float) -> Points:
    """Turned about the upright axis, the shoulders ahead of the hips, leaning and lifted."""
    there, back = ease(time, 0.35, 1.0), ease(time, 1.05, 1.9)
    turn = np.radians(65.0) * float(there) - np.radians(110.0) * float(back)
    ahead = np.radians(25.0) * float(there - 1.0 * back) * np.clip((rest[:, 1] - 0.95) / 0.4, 0.0, 1.0)
    lean = np.radians(8.0) * np.sin(np.pi * float(ease(time, 0.35, 1.9)))
    hop = 0.10 * float(np.sin(np.pi * np.clip((time - 2.05) / 0.42, 0.0, 1.0)))
    angle = turn + ahead
    x = rest[:, 0] * np.cos(angle) + rest[:, 2] * np.sin(angle)
    z = -rest[:, 0] * np.sin(angle) + rest[:, 2] * np.cos(angle)
    y = rest[:, 1] - rest[:, 1].min()
    return np.stack(
        [x * np.cos(lean) + y * np.sin(lean), rest[:, 1].min() + y * np.cos(lean) - x * np.sin(lean) + hop, z], axis=1
    )
