"""What a shot says about a body, turned into what `steer` takes: nodes of regions, key shapes, paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bunraku.contracts import Flags, InputError, Integers, PhysicsStopped, Points, Vector, input_error
from bunraku.direction.steer import Grip, KeyShape, check_keys, fitted, pose
from bunraku.geometry import Cage, Surface, TetMesh
from bunraku.io import Outgoing, holds_tets_only, read_tets, survey
from bunraku.materials import SolidMaterial
from bunraku.motion import Path as Way

from .body_regions import region_of_body
from .body_spec import BodyRegion, KeyTable, PathTable
from .findings import Place
from .inputs import require_unit
from .plan_spec import PlanKey
from .posed import read_posed
from .told_way import told_way

_MOSTLY = 0.5  # of what a node carries that must be in a region for the node to be in it
_SAME_FRAME = 1e-6


@dataclass(frozen=True, eq=False)
class Parts:
    """A body at rest with its surface, for reading what is said about it. Frames are counted from `first`."""

    regions: Mapping[str, BodyRegion]
    cage: Cage
    going: Outgoing
    material: SolidMaterial
    rate: float
    """[frames/s]"""
    first: float
    """frame number at which the body's time is 0"""
    takes: Path
    origin: Vector
    """(3,) what the body's points are counted from [m]"""
    _found: dict[str, Integers] = field(default_factory=dict, init=False, repr=False)

    def nodes(self, name: str, place: Place) -> Integers:
        """(v,) nodes of the tetrahedra that carry a region mostly, or the tetrahedra its points are in."""
        if name not in self._found:  # what is wrong with a region is told once
            self._found[name] = self._nodes(name, place)
        return self._found[name]

    def _nodes(self, name: str, place: Place) -> Integers:
        vertices = self.vertices(name, place)
        if not len(vertices):
            vertices = np.zeros(1, dtype=np.int64)  # any will do until what is wrong is refused
        weight = abs(self.cage.matrix)
        inside = np.asarray(weight[vertices].sum(axis=0)).reshape(-1)
        found = np.flatnonzero(inside > _MOSTLY * np.asarray(weight.sum(axis=0)).reshape(-1))
        return found if len(found) else np.unique(self.cage.body.tets[self.cage.tets[vertices]])

    def vertices(self, name: str, root: Place) -> Integers:
        """(v,) of the surface in a region; what is wrong is told to its place in the body's table, and left out."""
        return region_of_body(self.regions[name], self.going, root.at("regions").at(name))

    def time(self, frame: float) -> float:
        """[s] of a frame."""
        return (float(frame) - self.first) / self.rate

    def key(self, told: KeyTable, root: Place) -> KeyShape:
        """A key shape of the body's nodes."""
        if told.frame < self.first:
            raise input_error(
                "a key lies outside the shot", got=f"frame {told.frame:g}", allowed=f"from frame {self.first:g} on"
            )
        key = self._key(told, root)
        try:
            check_keys([key], self.cage.body, 0.0, np.inf)
        except InputError as error:  # in a shot keys have frames, and the place says which it is
            raise InputError(str(error).replace(key.name, "the shape")) from error
        return key

    def _key(self, told: KeyTable, root: Place) -> KeyShape:
        time = self.time(told.frame)
        shape = self._told(told)
        if told.grips:
            return KeyShape(time, self._posed(told, shape, root))
        if shape is None or told.region is None:
            return KeyShape(time, shape)
        nodes = self.nodes(told.region, root)
        return KeyShape(time, shape[nodes], nodes)

    def _told(self, told: KeyTable) -> Points | None:
        """(n, 3) the shape of a file or a take, before it is edited."""
        if told.take is not None or told.at is not None:
            return self._seen(told)
        return None if told.file is None else self.shape(told)

    def _posed(self, told: KeyTable, shape: Points | None, root: Place) -> Points:
        grips = [Grip(self.nodes(one.region, root), one.move, np.radians(one.rotate), one.scale) for one in told.grips]
        try:
            return pose(self.cage.body, grips, points=shape, material=self.material)
        except PhysicsStopped as error:
            raise InputError(str(error)) from error

    def _seen(self, told: KeyTable) -> Points:
        """(n, 3) the shape on a frame of a take, or of a file that moves."""
        clip, path = read_posed(told, self.takes)
        frame = told.frame if told.at is None else told.at
        if not clip.frames[0] <= frame <= clip.frames[-1]:
            raise input_error(
                "has no such frame", where=str(path), got=f"frame {frame:g}",
                allowed=f"{clip.frames[0]:g} to {clip.frames[-1]:g}", remedy="at = …, the frame of the shape",
            )  # fmt: skip
        points = clip.welded.spread(clip.animation.at(clip.time(frame)), clip.loose_at(frame))
        return self._fitted(clip.surface, points, path)

    def shape(self, told: KeyTable | PlanKey) -> Points:
        """(n, 3) of the body's nodes, from a file of the surface or of the tetrahedra."""
        assert told.file is not None
        body = self.cage.body
        if holds_tets_only(told.file):
            found = read_tets(told.file, told.prim, unit=told.unit, up_axis=told.up_axis)
            return _same_tets(found, body, told.file) - self.origin
        found = survey(told.file, told.prim, unit=told.unit, up_axis=told.up_axis)
        require_unit(found.unit_known, found.surface.points, found.path)
        return self._fitted(found.surface, found.surface.points, told.file)

    def _fitted(self, surface: Surface, points: Points, path: Path) -> Points:
        """(n, 3) of the body's nodes where a surface has its points (p, 3)."""
        own = self.going.surface
        if not surface.same_topology(own):
            raise input_error(
                "the shape has other points or polygons than the surface", where=str(path),
                got=f"{surface.point_count} points, {surface.polygon_count} polygons",
                allowed=f"the surface's {own.point_count} and {own.polygon_count}",
                remedy="export the posed mesh itself, with nothing that changes its points",
            )  # fmt: skip
        try:
            goal = self.going.vertices_from(points) - self.origin
            return fitted(self.cage, goal, material=self.material)
        except PhysicsStopped as error:
            raise InputError(f"{path}: {error}") from error

    def path(self, told: PathTable, root: Place) -> Way:
        """A path about the origin."""
        nodes = None if told.region is None else self.nodes(told.region, root)
        hold = "constraint" if told.hold == "constraint" else "compensation"
        times, points, turns = told_way(told, self.rate, self.first, self.takes, (self.cage.body, nodes))
        if told.frames is not None:
            kept = self._between(told.frames, times)
            times, points, turns = times[kept], points[kept], None if turns is None else turns[kept]
        return Way(times, points - self.origin, nodes, turns, hold)

    def _between(self, frames: tuple[int, int], times: Vector) -> Flags:
        """(t,) bool which samples of a path lie between two frames, both included."""
        numbers = self.first + times * self.rate
        kept = (numbers >= frames[0] - _SAME_FRAME) & (numbers <= frames[1] + _SAME_FRAME)
        if kept.sum() < 2:
            raise input_error(
                "has fewer than two samples of the path", where="frames", got=list(frames),
                allowed=f"frames from {numbers[0]:g} to {numbers[-1]:g}",
            )  # fmt: skip
        return kept


def _same_tets(found: TetMesh, body: TetMesh, file: Path) -> Points:
    if not np.array_equal(found.tets, body.tets):
        raise input_error(
            "has other tetrahedra than the body", where=str(file), got=f"{len(found.tets)} tetrahedra",
            allowed=f"the body's {len(body.tets)}, in their order", remedy="tets = { file = … } of the same origin",
        )  # fmt: skip
    return found.rest
