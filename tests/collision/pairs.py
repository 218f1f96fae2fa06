"""Single pairs and small scenes that touch, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.collision import Obstacle, Plane, Surfaces, Touch, sphere
from bunraku.contracts import Array, Integers, Points, State
from bunraku.geometry import TriMesh
from bunraku.testing import sheet

STIFFNESS = 50.0
"""[N/m] of the shell to which barriers are scaled"""
DT = 0.02
REACH = 0.01


@dataclass(frozen=True, eq=False)
class Scene:
    """Surfaces, and a state in which something is near something."""

    surfaces: Surfaces
    x: Points
    """(n, 3)"""

    def touch(self, start: Points | None = None) -> Touch:
        """Contact of a step that began at `start` (default: x)."""
        start = self.x if start is None else start
        memory = {"contact.stiffness": np.array(STIFFNESS)}
        return self.surfaces.at(State(0.0, start.reshape(-1), np.zeros(start.size), memory), DT)


def triangles(*corners: Sequence[Sequence[float]]) -> TriMesh:
    """Separate triangles."""
    rest = np.array(corners, dtype=np.float64).reshape(-1, 3)
    return TriMesh(rest, np.arange(len(rest)).reshape(-1, 3))


FLOOR = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.0]]
"""a triangle in z = 0"""


def pair_of(kind: str, away: float) -> TriMesh:
    """Two triangles of which one pair of features is `away` [m] apart, everything else far."""
    other = {
        # A corner over the inside.
        "vertex, face": [[0.4, 0.3, away], [0.5, 0.4, 0.9], [0.2, 0.5, 0.8]],
        # A corner beyond the side from (0, 0) to (1, 0.1), in the plane.
        "vertex, edge": [[0.5, 0.05 - away * np.sqrt(1.01), 0.0], [0.5, -0.8, 0.5], [0.3, -0.8, -0.4]],
        # A corner beyond a corner.
        "vertex, vertex": [[-away, 0.0, 0.0], [-0.9, 0.1, 0.3], [-0.8, -0.1, -0.4]],
        # An edge over the side, at right angles.
        "edges": [[0.5, -0.35, away], [0.5, 0.2, away], [0.5, -0.2, 0.9]],
        # An edge over the side, at about a hundredth of a right angle: |a × b|² is a tenth of the toolkit's limit.
        "parallel edges": [[0.3, 0.028, away], [0.7, 0.072, away], [0.5, -0.2, 0.9]],
    }[kind]
    # Edges over each other at right angles: the floor falls away from its side, so that only the edges are near.
    return triangles([*FLOOR[:2], [0.2, 0.9, -0.9]] if kind == "edges" else FLOOR, other)


PAIRS = ("vertex, face", "vertex, edge", "vertex, vertex", "edges", "parallel edges")


def single(kind: str, gap: float, share: float = 0.4) -> Scene:
    """One pair, that share of the reach beyond the gap apart."""
    away = gap + share * REACH
    if kind == "vertex, plane":
        mesh = triangles([[0.3, 0.2, 0.0], [0.6, 0.4, 0.7], [0.1, 0.6, 0.8]])
        normal = np.array([0.2, -0.3, 1.0])
        plane = Plane(mesh.rest[0] - away * normal / np.linalg.norm(normal), normal)
        return Scene(Surfaces(mesh, (), [plane], reach=REACH, gap=gap), mesh.rest.copy())
    mesh = pair_of(kind, away)
    return Scene(Surfaces(mesh, reach=REACH, gap=gap), mesh.rest.copy())


def crowd(*, friction: float = 0.0, gap: float = 0.0, seed: int = 0) -> Scene:
    """Two rough sheets on each other, on a ball and on two floors."""
    generator = np.random.default_rng(seed)
    low = sheet(4, 3, length=0.4)
    count = low.point_count
    high = low.rest + [0.013, 0.017, gap + 0.5 * REACH]
    mesh = TriMesh(np.concatenate([low.rest, high]), np.concatenate([low.faces, low.faces + count]))
    x = mesh.rest + 0.05 * REACH * generator.uniform(-1.0, 1.0, mesh.rest.shape)
    ball = Obstacle(sphere([0.21, 0.14, -0.1 - gap - 0.6 * REACH], 0.1, 0.04), lambda t: _BALL + [0.0, 0.0, 0.05 * t])
    _BALL = ball.mesh.rest
    floors = [
        Plane([0.0, 0.0, -gap - 0.5 * REACH], [0.0, 0.02, 1.0]),
        Plane([-gap - 0.6 * REACH, 0, 0], [1.0, 0, 0.05]),
    ]
    return Scene(Surfaces(mesh, [ball], floors, reach=REACH, gap=gap, friction=friction, still=0.05), x)


def dense(scene: Scene, corners: Integers, blocks: Array) -> Array:
    """(3n, 3n) the sum of local blocks."""
    count = scene.surfaces.count
    out = np.zeros((3 * count, 3 * count))
    for row, block in zip(corners, blocks, strict=True):
        kept = np.flatnonzero(row >= 0)
        unknowns = (3 * row[kept][:, None] + np.arange(3)).reshape(-1)
        own = (3 * kept[:, None] + np.arange(3)).reshape(-1)
        out[np.ix_(unknowns, unknowns)] += block[np.ix_(own, own)]
    return out
