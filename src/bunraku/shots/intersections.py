"""Triangles of the shell that pass through each other or through an obstacle, counted on every written frame.

The search knows nothing of how the frames were made: it asks each triangle of the finished shell whether an edge goes
through a face. Where surfaces had to stay apart, touching counts too: two arms that are each other's mirror image pass
through each other edge on edge. Else it does not, for unsewn seams of a file touch by right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Flags, Integers, Points
from bunraku.direction import Frame
from bunraku.geometry import faces_through, intersecting_faces

from .garments import sewn_faces
from .prepared import Prepared


@dataclass(frozen=True, eq=False)
class Intersections:
    """How many of the shell's triangles pass through something, frame by frame (t,)."""

    with_itself: Integers
    with_obstacles: Integers
    either: Integers
    """a triangle that does both counts once"""

    @property
    def total(self) -> int:
        """Of all frames."""
        return int(self.either.sum())

    def as_json(self) -> dict[str, object]:
        """For report.json."""
        return {
            "total": self.total, "per_frame": self.either, "with_itself": self.with_itself,
            "with_obstacles": self.with_obstacles,
        }  # fmt: skip


def count_intersections(prepared: Prepared, frames: Iterable[Frame]) -> Intersections:
    """Of finished frames."""
    faces = prepared.skin
    counts = []
    for frame in frames:
        x = frame.points
        sewn = sewn_faces(faces, prepared.seams, x, prepared.shell.size)
        own = intersecting_faces(x, sewn, touching=prepared.contact.table is not None)
        others = through_obstacles(prepared, x, frame.time)
        counts.append([int(own.sum()), int(others.sum()), int((own | others).sum())])
    table = np.array(counts, dtype=np.int64).reshape(-1, 3)
    return Intersections(table[:, 0], table[:, 1], table[:, 2])


def through_obstacles(prepared: Prepared, x: Points, time: float) -> Flags:
    """(f,) triangles of the shell at points x (n, 3) that pass through an obstacle or reach behind a plane."""
    faces, contact = prepared.skin, prepared.contact
    out = np.zeros(len(faces), dtype=bool)
    for plane in contact.planes:
        out |= ((x - plane.point) @ plane.normal < 0.0)[faces].any(axis=1)
    for obstacle in contact.obstacles:
        points = np.concatenate([x, obstacle.at(time)])
        out |= faces_through(points, faces, obstacle.mesh.faces + len(x), touching=True)
    return out
