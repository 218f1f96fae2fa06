"""Keys of a plan or a body that are tried before the file says them: the motion, or the shape, they make."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Points, Vector, input_error
from bunraku.direction.plan import Chain
from bunraku.io import ContentCache
from bunraku.motion import Animation
from bunraku.motion import Path as Way

from .body_parts import Parts
from .body_spec import KeyTable, PathTable
from .filling import BODIES, tried
from .findings import Place
from .plan_sentences import key_facts, warnings_of
from .plan_spec import PLANNED, PhaseTable
from .prepare_body import PreparedBody
from .prepare_plan import PreparedPlan
from .prepared import Prepared
from .read_body import ReadBody
from .read_plan import Reading, ReadPlan
from .region_names import refuse_unknown_regions
from .tables import Table

_Made = TypeVar("_Made")
_SAMPLES, _MOST_SAMPLES = 4, 2000
"""of a path's curve from frame to frame, and in all"""
_METRES, _DEGREES = 4, 2  # decimals of a new knot, as the page writes those it moves
_SAME_FRAME = 1e-6
_NO_TURN = 1e-6  # [°]
_KEY = Table(KeyTable, "{ frame = 12, grips = […] }", KeyTable.check)
_PATH = Table(PathTable, "{ points = [[1, 0, 1, 0], [24, 1, 1, 0]] }", PathTable.check)


@dataclass(frozen=True)
class KeyMet:
    """How a key is met."""

    where: str
    """'keys[0]'"""
    met: bool
    missed: float
    unit: str


@dataclass(frozen=True, eq=False)
class TriedPlan:
    """A plan whose keys are played with."""

    read: ReadPlan
    _reading: Reading
    _given: Mapping[str, Any]
    """its table as a file says it"""
    _place: Place

    @staticmethod
    def of(prepared: PreparedPlan, name: str) -> TriedPlan:
        """As the file says it."""
        shot, read = prepared.shot, next(one for one in prepared.plans if one.name == name)
        store = ContentCache(shot.output.folder / BODIES, keeping=False)
        reading = Reading(shot, read.rate, prepared.origin, store, None)
        return TriedPlan(read, reading, *_said(prepared, name))

    @property
    def parts(self) -> Parts:
        """For reading what is said about regions."""
        return self.read.parts

    def points(self, frame: float) -> Points:
        """(n, 3) [m] of the surface."""
        planned = self.read.planned(frame)
        return self.read.cage.points(planned.motion.points(planned.since(0.0)))

    def attempt(self, told: Any, upto: int | None = None) -> TriedPlan:
        """With other keys, what the object would say under 'keys', or under 'phases'; planned from where the motion
        is. Of phases those before the first that is another keep their motions, and no more are planned than that one,
        or the first `upto`: who drags a key sees one frame."""
        table, place = self.read.table, replace(self._place, findings=[])
        kind = "phases" if table.phases else "keys"
        found = PLANNED[kind].read(told, place.at(kind))
        refuse_unknown_regions({"regions": self._given.get("regions", {}), kind: told}, place)
        place.raise_all()
        assert found is not None
        kept, found = (0, found) if kind == "keys" else self._shortened(found, upto)
        again = self._reading.again(self.read, replace(table, **{kind: found}), place, kept)
        place.raise_all()
        assert again is not None
        return replace(self, read=again)

    def _shortened(self, phases: tuple[PhaseTable, ...], upto: int | None) -> tuple[int, tuple[PhaseTable, ...]]:
        """How many of the first phases are planned already, and those that are to be."""
        before = self.read.table.phases
        same = next((k for k, (one, was) in enumerate(zip(phases, before, strict=False)) if one != was), len(before))
        same = min(same, len(phases))
        return same, phases if upto is None else phases[: max(upto, same + 1)]

    def until(self, frame: float) -> int:
        """How many of the phases have begun by a frame."""
        return max(sum(begin < frame + 1e-6 for begin in self.begins), 1)

    @property
    def met(self) -> list[KeyMet]:
        """How the keys are met, in order of time."""
        return [KeyMet(one["where"], one["met"], one["missed"], one["unit"]) for one in key_facts(self.read)]

    @property
    def begins(self) -> tuple[float, ...]:
        """The frame on which each motion begins."""
        begin, motion = self.read.table.begin or 0.0, self.read.motion
        times = motion.begins[:-1] if isinstance(motion, Chain) else np.zeros(1)
        return tuple((begin + times * self.read.rate).tolist())

    @property
    def warnings(self) -> list[str]:
        """What is to be said of the search."""
        return list(warnings_of(self.read))


@dataclass(frozen=True, eq=False)
class TriedPoses:
    """Key shapes and paths of a body that is steered."""

    read: ReadBody
    _given: Mapping[str, Any]
    _place: Place

    @staticmethod
    def of(prepared: PreparedBody, name: str) -> TriedPoses:
        """As the file says it."""
        return TriedPoses(next(one for one in prepared.bodies if one.name == name), *_said(prepared, name))

    @property
    def parts(self) -> Parts:
        """For reading what is said about regions."""
        return self.read.parts

    def posed(self, told: Any) -> Points:
        """(n, 3) [m] the surface in the shape of a key, as the object would say it."""
        place = replace(self._place, findings=[])
        found = _KEY.read(told, place.at("keys"))
        self._refuse(told, place)
        key, cage = _built(lambda: self.parts.key(found, place), place.at("keys")), self.read.cage
        shape = cage.body.rest.copy()
        if key.points is not None:
            shape[slice(None) if key.vertices is None else key.vertices] = key.points
        return cage.points(shape)

    def curve(self, told: Any) -> Array:
        """(m, 3) [m] in the world a path from its first row to its last, as the object would say it."""
        way = self._way(told)
        span = float(way.times[-1] - way.times[0])
        count = min(1 + int(np.ceil(_SAMPLES * span * self.parts.rate)), _MOST_SAMPLES)
        times = np.linspace(way.times[0], way.times[-1], count)
        return np.stack([way.at(float(time)) for time in times]) + self.parts.origin

    def knotted(self, told: Sequence[Any], region: str | None, frame: float) -> list[Any]:
        """What the object says under 'path' with a knot more on a frame: of the path of a region, of the whole body
        where None, there where it goes; of what has none yet, there where its middle is at rest, or is carried."""
        paths = copy.deepcopy(list(told))
        k = next((k for k, one in enumerate(paths) if one.get("region") == region), None)
        if k is None:
            return [*paths, self._begun(paths, region, frame)]
        if "points" not in paths[k]:
            where, remedy = f"path[{k}]", "points of its own instead"
            raise input_error("goes as a file or a take does, and has no knots to add to", where=where, remedy=remedy)
        paths[k]["points"] = self._with_row(paths[k], frame, f"path[{k}]")
        return paths

    def _begun(self, paths: Sequence[Any], region: str | None, frame: float) -> dict[str, Any]:
        """A path of one knot, which holds its part there all the time: where a path of the whole body takes it."""
        told, place = {} if region is None else {"region": region}, replace(self._place, findings=[])
        self._refuse(told, place)
        body = self.parts.cage.body
        nodes = None if region is None else self.parts.nodes(region, place)
        place.raise_all()
        still = Animation(body, np.zeros(1), body.rest[None])
        point, middle, time = Way.of(still, nodes).points[0], Way.of(still).points[0], self._time(frame)
        whole = next((one for one in paths if one.get("region") is None), None)
        if whole is not None:
            way = self._way(whole)
            point = way.at(time) + way.rotation(time) @ (point - middle)
        return {**told, "points": [_row(frame, point + self.parts.origin)]}

    def _with_row(self, told: Mapping[str, Any], frame: float, where: str) -> list[list[float]]:
        """A path's rows, and one more between or beside them, where and how turned the body is then."""
        rows = [list(row) for row in told["points"]]
        if any(abs(row[0] - frame) < _SAME_FRAME for row in rows):
            raise input_error("has a knot on this frame already", where=where, got=_whole(frame))
        way, time = self._way(told), self._time(frame)
        before = next((row for row in reversed(rows) if row[0] < frame), rows[0])
        turn = _turn_near(way.rotation(time), np.array(before[4:], dtype=np.float64)) if len(before) > 4 else []
        return sorted([*rows, [*_row(frame, way.at(time) + self.parts.origin), *turn]], key=lambda row: row[0])

    def _time(self, frame: float) -> float:
        return (frame - self.parts.first) / self.parts.rate

    def _way(self, told: Any) -> Way:
        """A path about the origin, as the object would say it."""
        place = replace(self._place, findings=[])
        found = _PATH.read(told, place.at("path"))
        self._refuse(told, place)
        return _built(lambda: self.parts.path(found, place), place.at("path"))

    def _refuse(self, told: Any, place: Place) -> None:
        """What was found wrong, and regions that are not there."""
        refuse_unknown_regions({"regions": self._given.get("regions", {}), "told": told}, place)
        place.raise_all()


Tried = TriedPlan | TriedPoses


def _whole(frame: float) -> float:
    return int(frame) if frame == int(frame) else frame


def _turn_near(turn: Array, near: Vector) -> list[float]:
    """[°] of the rotation vectors of a turn (3, 3), which differ by whole turns, the one nearest to another."""
    vector = Rotation.from_matrix(turn).as_rotvec(degrees=True)
    angle, other = float(np.linalg.norm(vector)), float(np.linalg.norm(near))
    axis = vector / angle if angle > _NO_TURN else near / max(other, _NO_TURN)
    vector = vector + 360.0 * round(float(axis @ (near - vector)) / 360.0) * axis
    return (np.round(vector, _DEGREES) + 0.0).tolist()


def _row(frame: float, point: Array) -> list[float]:
    """[frame, x, y, z] as one writes it."""
    return [_whole(frame), *np.round(point, _METRES).tolist()]


def tried_keys(prepared: Prepared, name: str) -> Tried | None:
    """Of the object of that name; None where keys are not what directs it."""
    if isinstance(prepared, PreparedPlan):
        return TriedPlan.of(prepared, name)
    return TriedPoses.of(prepared, name) if isinstance(prepared, PreparedBody) else None


def _said(prepared: Prepared, name: str) -> tuple[Mapping[str, Any], Place]:
    """What the file says of an object, and where."""
    shot = prepared.shot
    return shot.settings(shot.place.folder)["object"][name], shot.place.at("object").at(name)


def _built(make: Callable[[], _Made], place: Place) -> _Made:
    """What is made; a refusal is told to its place, with all that was found before."""
    found = tried(make, place)
    place.raise_all()
    assert found is not None
    return found
