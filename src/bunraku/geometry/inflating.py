"""A body that lost volume at its surface gets it back: its surface nodes move along their normals.

First towards the surface it was made of, where that lies outside or inside it, then all by the one distance that makes
the volume exact. Nodes around which tetrahedra would get bad stay where they are.
"""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Flags, Points, Vector

from .closest import closest_points
from .tetmesh import TetMesh, shape_quality
from .trimesh import TriMesh, face_areas, face_normals, unit_rows, vertex_normals

_ROUNDS = 4
"""of moving towards the surface: the fifth changes the distances by less than a hundredth"""
_NEAR = 2.0
"""envelopes away from the body up to which the surface draws it"""
_DOUBTFUL = 0.03
"""share of the volume beyond which nothing is given back: it was not lost, but counted twice where pieces cross"""
_WORST = 0.1
"""quality below which no tetrahedron may get, nor below half of what the worst had"""


def refitted(body: TetMesh, surface: TriMesh, most: float) -> TetMesh:
    """The body with its surface nodes moved along their normals towards a surface up to twice `most` [m] away."""
    floor = _floor(body)
    # The middles of the faces: by its vertices alone a coarse round surface would seem larger than it is.
    places, areas = surface.rest[surface.faces].mean(axis=1), face_areas(surface.rest, surface.faces)
    for _ in range(_ROUNDS):
        around = body.surface()
        found = closest_points(places, around)
        normals = unit_rows(face_normals(around.rest, around.faces))[found.faces]
        ahead = np.einsum("ni,ni->n", places - found.points, normals)
        # What lies far away is not what the body's surface stands for there: a fold inside, a hole that was closed.
        share = (found.weights * np.where(found.distances <= _NEAR * most, areas, 0.0)[:, None]).reshape(-1)
        corners = around.faces[found.faces].reshape(-1)
        weight = np.bincount(corners, share, around.point_count)
        sums = np.bincount(corners, share * np.repeat(ahead, 3), around.point_count)
        moves = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0.0)
        body = moved(body, moves[:, None] * vertex_normals(around.rest, around.faces), floor)
    return body


def inflated(body: TetMesh, volume: float, most: float) -> TetMesh:
    """The body with its surface nodes moved along their normals by one distance so that its volume is `volume` [m³].

    Where that would take more than `most` [m], or make tetrahedra bad, it goes as far as it may. A body that lacks
    more than `_DOUBTFUL` is left alone.
    """
    floor, left = _floor(body), most
    if abs(volume - float(body.volumes.sum())) > _DOUBTFUL * volume:
        return body
    for _ in range(2 * _ROUNDS):
        around = body.surface()
        gap = volume - float(body.volumes.sum())
        step = float(np.clip(gap / face_areas(around.rest, around.faces).sum(), -left, left))
        body = moved(body, step * vertex_normals(around.rest, around.faces), floor)
        left -= abs(step)
    return body


def _floor(body: TetMesh) -> float:
    return min(_WORST, 0.5 * float(body.quality.min(initial=1.0)))


def moved(body: TetMesh, moves: Points, floor: float) -> TetMesh:
    """The body with its surface vertices moved (k, 3), except those around tetrahedra that would get bad."""
    still = np.zeros(body.point_count, dtype=bool)
    while True:
        x = body.rest.copy()
        x[body.surface_vertices] += np.where(still[body.surface_vertices, None], 0.0, moves)
        worse = _worse(body, x, floor)
        if not worse.any():
            return body.with_rest(x)
        still[body.tets[worse]] = True


def _worse(body: TetMesh, x: Points, floor: float) -> Flags:
    """(m,) tetrahedra that are bad with their vertices at x, and worse than they were."""
    now: Vector = shape_quality(x, body.tets)
    return (now < floor) & (now < body.quality)
