"""Shelter: which faces of a shell the wind reaches.

From four places of each face a ray runs upwind: one straight, three a little apart, so that a shadow has a soft edge
and fades: farther behind an obstacle than about ten times half its width only the straight ray meets it, and a quarter
of the shadow is left. A face's exposure is the share that gets away.
"""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Points, Vector
from bunraku.geometry import Barrier, TriMesh, unit_rows
from bunraku.motion import Animation

from .wind import Wind

SPREAD = 0.1
"""tangent of the angle between the three outer rays and the wind: how fast moving air closes in behind an obstacle"""
_INSET = 0.7
"""where the outer rays start, from the face's middle (0) to its corners (1)"""


class Shelter:
    """What stands before a shell in a wind. Trees over what never moves are built once."""

    def __init__(self, mesh: TriMesh, wind: Wind) -> None:
        self._faces = mesh.faces
        self._own = mesh.faces if wind.shelter is True else mesh.faces[:0]
        self._moving = [one for one in wind.obstacles if isinstance(one, Animation)]
        still = [one for one in wind.obstacles if isinstance(one, TriMesh)]
        self._still = Barrier(*_joined([one.rest for one in still], [one.faces for one in still]))

    def exposure(self, x: Points, time: float, wind: Points) -> Vector:
        """(f,) share of the wind (f, 3) [m/s] that reaches each face of the shell at points x (n, 3), 0 to 1."""
        speed = np.linalg.norm(wind, axis=1)
        blown = np.flatnonzero(speed > 0.0)
        out = np.ones(len(self._faces))
        if not len(blown):
            return out
        starts, along = _rays(x[self._faces[blown]], -wind[blown] / speed[blown, None])
        own = np.repeat(self._faces[blown], 4, axis=0)
        stopped = self._still.stops(starts, along)
        for barrier, passing in ((Barrier(x, self._own), own), (self._movers(time), None)):
            stopped |= barrier.stops(starts, along, passing)
        out[blown] = 1.0 - stopped.reshape(-1, 4).mean(axis=1)
        return out

    def _movers(self, time: float) -> Barrier:
        return Barrier(*_joined([one.at(time) for one in self._moving], [one.mesh.faces for one in self._moving]))


def _rays(corners: Points, upwind: Points) -> tuple[Points, Points]:
    """Starts and directions (4 f, 3) of the rays of faces with corners (f, 3, 3)."""
    middle = corners.mean(axis=1)
    out = corners - middle[:, None]
    across = out - np.einsum("fki,fi->fk", out, upwind)[:, :, None] * upwind[:, None]
    across = unit_rows(across.reshape(-1, 3)).reshape(out.shape)
    starts = np.concatenate([middle[:, None], middle[:, None] + _INSET * out], axis=1)
    along = np.concatenate([upwind[:, None], upwind[:, None] + SPREAD * across], axis=1)
    return starts.reshape(-1, 3), along.reshape(-1, 3)


def _joined(points: list[Points], faces: list[Faces]) -> tuple[Points, Faces]:
    """Several meshes as one."""
    if not points:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    first = np.cumsum([0, *(len(part) for part in points[:-1])])
    return np.concatenate(points), np.concatenate([part + k for part, k in zip(faces, first, strict=True)])
