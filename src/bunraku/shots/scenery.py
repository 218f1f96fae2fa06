"""What a preview draws besides guide and result: obstacles and planes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.collision import Obstacle, Plane
from bunraku.contracts import Faces, Points, Vector
from bunraku.geometry import TriMesh

_UPRIGHT = 0.999  # of a plane's normal: such a plane is drawn as the ground


@dataclass(frozen=True, eq=False)
class Scenery:
    """What is drawn besides guide and result."""

    obstacles: tuple[Obstacle, ...] = ()
    planes: tuple[Plane, ...] = ()
    ground: float | None = None
    """[m] a height that is not gone below, without a plane"""

    @property
    def floor(self) -> float | None:
        """Height [m] of the highest level plane, or of the ground, which is drawn."""
        known = [] if self.ground is None else [self.ground]
        return max([*known, *(float(one.point[1]) for one in self.planes if _level(one))], default=None)

    def around(
        self, points: Points, looking: Sequence[float] | None = None
    ) -> tuple[tuple[Obstacle, ...], Faces]:  # fmt: skip
        """All obstacles, slanting planes as squares below the points (n, 3), and their faces. Planes that who is
        `looking` somewhere (3,) would see from behind are left out: they hide what is before them."""
        centre, reach = points.mean(axis=0), float(np.ptp(points, axis=0).max())
        slanting = [one for one in self.planes if not _level(one)]
        seen = [one for one in slanting if looking is None or one.normal @ np.asarray(looking) <= 0.0]
        squares = [_square(one, centre, reach) for one in seen]
        whole = (*self.obstacles, *squares)
        starts = np.cumsum([0, *(one.mesh.point_count for one in whole)])
        faces = [one.mesh.faces + start for one, start in zip(whole, starts, strict=False)]
        return whole, np.concatenate([np.zeros((0, 3), np.int64), *faces])


def _level(plane: Plane) -> bool:
    return bool(plane.normal[1] > _UPRIGHT)


def _square(plane: Plane, centre: Vector, reach: float) -> Obstacle:
    """A patch of a plane below `centre` (3,), twice as wide as `reach` [m]."""
    foot = centre - ((centre - plane.point) @ plane.normal) * plane.normal
    side = np.cross(plane.normal, np.eye(3)[int(np.argmin(np.abs(plane.normal)))])
    u = side / np.linalg.norm(side) * reach
    v = np.cross(plane.normal, u)
    corners = np.array([foot - u - v, foot + u - v, foot + u + v, foot - u + v], dtype=np.float64)
    return Obstacle(TriMesh(corners, np.array([[0, 1, 2], [0, 2, 3]])), name=plane.name)
