"""A guide's surface on its way out: as it came, or refined, only moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector
from bunraku.geometry import Refinement, Surface, refine

from .clip import Clip
from .sample import Sample

USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


@dataclass(frozen=True, eq=False)
class Outgoing:
    """What is written for a clip whose mesh, subdivided `levels` times, was simulated."""

    clip: Clip
    surface: Surface
    """[m] the file's own, or refined"""
    refinement: Refinement | None
    """None: the file's own"""

    @staticmethod
    def of(clip: Clip, levels: int = 0) -> Outgoing:
        """The surface of a clip, refined where its triangles were split."""
        if levels == 0:
            return Outgoing(clip, clip.surface, None)
        found = refine(clip.surface, clip.welded, levels)
        return Outgoing(clip, found.surface, found)

    @property
    def vertex_of_point(self) -> Integers:
        """(n,) vertex of the simulated mesh at each point, −1 for points of no face."""
        return self.clip.welded.vertex_of_point if self.refinement is None else self.refinement.vertex_of_point

    @property
    def point_of_vertex(self) -> list[int]:
        """The first point of the surface at each vertex of the simulated mesh, for naming it."""
        rows = self.vertex_of_point
        _, first = np.unique(rows[rows >= 0], return_index=True)
        return np.flatnonzero(rows >= 0)[first].tolist()

    @property
    def onto(self) -> Onto | None:
        """The stage and prim to lay the result over, where the clip came from USD."""
        if not self.clip.prim_path or self.clip.path.suffix.lower() not in USD_SUFFIXES:
            return None
        return Onto(self.clip.path, self.clip.prim_path, self.refinement)

    def check_place(self, frames: Vector) -> None:
        """Refuse, before anything is simulated, a prim that nothing could be written over on these frames."""
        if self.onto is not None:
            from .usd import check_place

            check_place(self.onto, frames)

    def sample(
        self, frame: float, x: Points, velocity: Points | None, lengths: Mapping[str, Vector] | None = None,
        said: Mapping[str, Array] | None = None,
    ) -> Sample:  # fmt: skip
        """The sample of a frame from points and velocities (v, 3) of the simulated mesh; by name lengths (v,) and what
        else is `said`, numbers (v,) or colours (v, 3)."""
        return replace(
            self._sample(frame, x, velocity), lengths=self._spread(lengths or {}), said=self._spread(said or {})
        )

    def _spread(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """(n, …) of the surface's points; 0 at those of no face."""
        rows, out = self.vertex_of_point, {}
        for name, own in values.items():
            out[name] = np.zeros((len(rows), *own.shape[1:]))
            out[name][rows >= 0] = own[rows[rows >= 0]]
        return out

    def _sample(self, frame: float, x: Points, velocity: Points | None) -> Sample:
        if self.refinement is not None:
            rows = self.refinement.vertex_of_point
            return Sample(frame, x[rows], None if velocity is None else velocity[rows])
        welded = self.clip.welded
        loose = self.clip.loose_at(frame)
        rates = (self.clip.loose_at(frame + 0.5) - self.clip.loose_at(frame - 0.5)) * self.clip.rate
        return Sample(frame, welded.spread(x, loose), None if velocity is None else welded.spread(velocity, rates))

    def vertices_from(self, points: Points) -> Points:
        """(v, 3) of the simulated mesh's vertices from the surface's points (n, 3); undoes `sample`."""
        rows = self.vertex_of_point
        out = np.empty((int(rows.max(initial=-1)) + 1, 3))
        out[rows[rows >= 0]] = points[rows >= 0]
        return out

    def vertices_of(self, points: Integers) -> Integers:
        """(k,) vertices of the simulated mesh at points of the surface; −1 for points of no face."""
        return self.vertex_of_point[points]

    def faces_of(self, polygons: Integers) -> Integers:
        """Faces of the simulated mesh cut from polygons of the surface."""
        return self.clip.welded.faces_of(polygons) if self.refinement is None else polygons


@dataclass(frozen=True, eq=False)
class Onto:
    """A prim of a USD stage that a result replaces (same topology) or stands beside (refined)."""

    file: Path
    prim: str
    refinement: Refinement | None

    @property
    def result(self) -> str:
        """Path of the prim that holds the result."""
        return self.prim if self.refinement is None else f"{self.prim}_bunraku"
