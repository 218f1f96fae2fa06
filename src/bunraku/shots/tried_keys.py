"""Keys of a plan or a body that are tried before the file says them: the motion, or the shape, they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from bunraku.contracts import Array, Points
from bunraku.direction.plan import Chain
from bunraku.io import ContentCache

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
        place = replace(self._place, findings=[])
        found = _PATH.read(told, place.at("path"))
        self._refuse(told, place)
        way = _built(lambda: self.parts.path(found, place), place.at("path"))
        span = float(way.times[-1] - way.times[0])
        count = min(1 + int(np.ceil(_SAMPLES * span * self.parts.rate)), _MOST_SAMPLES)
        times = np.linspace(way.times[0], way.times[-1], count)
        return np.stack([way.at(float(time)) for time in times]) + self.parts.origin

    def _refuse(self, told: Any, place: Place) -> None:
        """What was found wrong, and regions that are not there."""
        refuse_unknown_regions({"regions": self._given.get("regions", {}), "told": told}, place)
        place.raise_all()


Tried = TriedPlan | TriedPoses


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
