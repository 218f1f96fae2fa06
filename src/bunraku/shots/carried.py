"""A shell with a mesh of its own: it hangs on the guide, and what the guide is told is carried to it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import input_error
from bunraku.direction.track import TestFunctions
from bunraku.geometry import Embedding, embed
from bunraku.io import Clip, read_clip
from bunraku.motion import Animation

from .inputs import require_unit
from .source_spec import MeshTable

_log = logging.getLogger(__name__)
_FAR = 0.5  # share of the guide's size: a mesh whose middle half is farther away does not lie on it
_NOTED = 0.05  # and one of which any vertex is farther is worth a warning


@dataclass(frozen=True, eq=False)
class Carried:
    """The guide as its shell sees it."""

    clip: Clip
    """of the mesh's file, moved with the guide"""
    embedding: Embedding
    """of the mesh on the guide"""
    guide: Clip
    """the guide itself"""

    def tests(self, on_guide: TestFunctions) -> TestFunctions:
        """The guide's test functions as functions of the mesh; regions that do not reach it are left out."""
        if not on_guide.names:
            points = self.guide.welded.point_of_vertex
            on_guide = replace(on_guide, names=tuple(f"of guide vertex {points[k]}" for k in range(on_guide.count)))
        found = on_guide.onto(self.clip.mesh, self.embedding)
        # Goals are averages of the mesh as the guide carries it: from here on the mesh is its own guide.
        return replace(found, guide=found.shell, prolongation=None, embedding=None)


def carried(guide: Clip, table: MeshTable) -> Carried:
    """The mesh of a file hung on the guide at rest and moved with it, frame by frame."""
    assert table.file is not None
    mesh = read_clip(table.file, table.prim, unit=table.unit, up_axis=table.up_axis)
    require_unit(mesh.unit_known, mesh.mesh.rest, mesh.path)
    hung = embed(mesh.mesh, guide.mesh)
    size = guide.mesh.size
    if float(np.median(hung.distances)) > _FAR * size:
        raise input_error(
            "the mesh does not lie on the guide at rest", got=f"{np.median(hung.distances):.3g} m away",
            allowed=f"up to {_FAR * size:.3g} m", remedy="the right unit, or a mesh in the guide's rest pose",
        )  # fmt: skip
    farthest = float(hung.distances.max(initial=0.0))
    if farthest > _NOTED * size:
        _log.warning("%s: up to %.3g m from the guide at rest; it keeps that distance", mesh.path, farthest)
    points = np.stack([hung.points(pose) for pose in guide.animation.points])
    animation = Animation(mesh.mesh, guide.animation.times, points, guide.animation.interpolation)
    loose = np.repeat(mesh.loose[:1], len(guide.frames), axis=0)
    clip = replace(mesh, animation=animation, frames=guide.frames, rate=guide.rate, rate_known=True, loose=loose)
    return Carried(clip, hung, guide)
