"""One body of a shot whose motion is planned: its keys laid out in time, its motion found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from bunraku.contracts import ContentStore, InputError, Integers, PhysicsStopped, Vector
from bunraku.direction.plan import (
    SAME_TIME,
    Chain,
    Flight,
    Key,
    Motion,
    Phase,
    Planned,
    as_fixed,
    chain,
    check_modes,
    contradictions,
)
from bunraku.direction.plan import plan as planned_motion
from bunraku.energies import solid_mass
from bunraku.geometry import Cage

from .body_parts import Parts
from .filling import Filled, tried
from .findings import Place
from .inputs import InputFile, hashed
from .labels import labels_inputs, marked
from .plan_parts import NO_NODES, Told, key_of, landing_of, materials_of
from .plan_spec import PhaseTable, PlanKey, PlanObject, refuse_outside
from .shot import Shot

_SECONDS = 2.0  # that a motion lasts where nothing says how long


@dataclass(frozen=True, eq=False)
class ReadPlan:
    """A body and its motion, about the shot's origin."""

    filled: Filled
    table: PlanObject
    """the object's settings, begin and end filled in"""
    cage: Cage
    motion: Motion | Chain
    told: tuple[tuple[Told, ...], ...]
    """of each motion, its keys as the file tells them"""
    parts: Parts
    """for reading more keys"""
    given: dict[str, Any]
    """what `plan` takes besides keys and what is fixed"""
    rate: float
    """[frames/s]"""

    @property
    def name(self) -> str:
        """The object's."""
        return self.filled.name

    @property
    def motions(self) -> tuple[Motion, ...]:
        """One, or those of a chain."""
        return self.motion.motions if isinstance(self.motion, Chain) else (self.motion,)

    @property
    def last(self) -> float:
        """The frame on which the motion ends."""
        assert self.table.begin is not None
        return self.table.begin + self.motion.duration * self.rate

    def planned(self, first: float) -> Planned:
        """The motion, where time is 0 on a frame."""
        assert self.table.begin is not None
        return Planned(self.motion, (self.table.begin - first) / self.rate)


@dataclass(frozen=True, eq=False)
class Reading:
    """What is needed to read one."""

    shot: Shot
    rate: float
    """[frames/s]"""
    origin: Vector
    """(3,) [m]"""
    store: ContentStore
    threads: int | None

    def read(self, filled: Filled, table: PlanObject, place: Place) -> ReadPlan | None:
        """A body's motion; what does not fit is told to `place`, and then there is none."""
        before = len(place.findings)
        table = self._timed(table, place)
        parts = self.parts(filled, table, place)
        for name in table.regions:
            parts.nodes(name, place)
        material = materials_of(table, parts, place)
        if len(place.findings) > before:
            return None
        given = {
            **material, "modes": table.modes, "damping": table.damping, "warp": table.warp, "attach": table.attach,
            "threads": self.threads, "cache": self.store,
            "ground": None if table.ground is None else table.ground - float(self.origin[1]),
        }  # fmt: skip
        made = (self._chained if table.phases else self._single)(parts, table, given, place)
        if made is None or len(place.findings) > before:
            return None
        motion, told = made
        return ReadPlan(filled, table, parts.cage, motion, told, parts, given, self.rate)

    def again(self, read: ReadPlan, table: PlanObject, place: Place, kept: int = 0) -> ReadPlan | None:
        """The same body with other keys in its table, from where its motion was; None after a refusal. So many of the
        first phases are as they were."""
        before, given = len(place.findings), {**read.given, "before": read.motion}
        given |= {"kept": kept} if table.phases else {}
        made = (self._chained if table.phases else self._single)(read.parts, table, given, place)
        if made is None or len(place.findings) > before:
            return None
        return replace(read, table=table, motion=made[0], told=made[1])

    def parts(self, filled: Filled, table: PlanObject, place: Place) -> Parts:
        """For reading keys of a body, whose table says when it begins."""
        assert table.begin is not None
        cage, going = filled.about(self.origin), marked(filled.going, table.labels, place)
        takes = self.shot.output.folder
        return Parts(table.regions, cage, going, table.material.material, self.rate, table.begin, takes, self.origin)

    def _timed(self, table: PlanObject, place: Place) -> PlanObject:
        """The settings with the frames on which the motion begins and, unless phases say so, ends."""
        frames = self.shot.shot.frames
        begin = table.begin if table.begin is not None else float(frames[0]) if frames else 1.0
        if table.phases:
            return replace(table, begin=begin)
        otherwise = float(frames[1]) if frames else begin + round(_SECONDS * self.rate)
        end = otherwise if table.end is None else table.end
        if end <= begin:
            whole = self.shot.place.at("shot").at("frames") if table.end is None else place.at("end")
            place.findings.append(_refusal(whole, begin, end))
            end = begin + 1.0
        return replace(table, begin=begin, end=end)

    def _single(
        self, parts: Parts, table: PlanObject, given: dict[str, Any], place: Place
    ) -> tuple[Motion, tuple[tuple[Told, ...], ...]] | None:
        """One motion between two frames."""
        assert table.begin is not None and table.end is not None
        for k, one in enumerate(table.keys):
            refuse_outside(one.frame, table.begin, table.end, place.at("keys").entry(k), "the motion")
        keys = self._standing(parts, table, table.modes, place, place)
        if keys is None:
            return None
        fixed, asked = keys
        gravity = self.shot.physics.gravity if table.gravity else (0.0, 0.0, 0.0)
        duration = (table.end - table.begin) / self.rate
        motion = _solved(
            lambda: planned_motion(
                parts.cage.body, asked, fixed=fixed, duration=duration, gravity=gravity, circular=table.circular,
                free=table.free, **given,
            ), place,
        )  # fmt: skip
        told = tuple(Told(f"keys[{k}]", one.frame, one.region) for k, one in enumerate(table.keys))
        return None if motion is None else (motion, (told,))

    def _chained(
        self, parts: Parts, table: PlanObject, given: dict[str, Any], place: Place
    ) -> tuple[Chain, tuple[tuple[Told, ...], ...]] | None:
        """Motions one after another."""
        mass = solid_mass(parts.cage.body, given["material"], given.get("of_tet"))
        phases = [self._phase(parts, table, p, mass, place) for p in range(len(table.phases))]
        known = [one for one in phases if one is not None]
        if len(known) < len(phases):
            return None
        gravity = self.shot.physics.gravity
        found = _solved(lambda: chain(parts.cage.body, known, gravity=gravity, **given), place)
        if found is None:
            return None
        assert table.begin is not None
        begins = table.begin + found.begins * self.rate
        told = [_told(p, one, begins[p], begins[p + 1]) for p, one in enumerate(table.phases)]
        return found, tuple(told)

    def _phase(self, parts: Parts, table: PlanObject, p: int, mass: Vector, place: Place) -> Phase | Flight | None:
        told, where = table.phases[p], place.at("phases").entry(p)
        counted = replace(parts, first=0.0)  # its keys' frames are counted from its beginning
        if told.flight is not None:
            flight = told.flight
            gravity = np.array(self.shot.physics.gravity)
            return tried(lambda: landing_of(counted, flight, mass, gravity, place), where.at("flight"))
        keys = self._standing(counted, told, table.modes, where, place)
        assert told.frames is not None
        frames = told.frames
        if keys is None:
            return None
        return tried(lambda: Phase(frames / self.rate, keys[0], keys[1], told.rest), where.at("frames"))

    def _standing(
        self, parts: Parts, told: PlanObject | PhaseTable, modes: int, where: Place, root: Place
    ) -> tuple[Integers, list[Key]] | None:
        """What is fixed and what is asked for, in a motion or in a phase of one."""
        before, body = len(where.findings), parts.cage.body
        nodes = [parts.nodes(name, root) for name in told.fixed]
        fixed = _said(lambda: as_fixed(np.concatenate([NO_NODES, *nodes]), body), where.at("fixed"), "fixed")
        if fixed is None:
            return None
        _said(lambda: check_modes(modes, body, fixed), root.at("modes"), "modes")
        keys: list[Key] = []
        for k, one in enumerate(told.keys):
            place = where.at("keys").entry(k)
            _refuse_fixed(one, parts, fixed, place, root)
            key = tried(lambda one=one: key_of(parts, one, fixed, root), place)
            keys += [] if key is None else [key]
        if len(where.findings) == before:
            _refuse_contradictions(keys, parts, where.at("keys"))
        return (fixed, keys) if len(where.findings) == before else None


def plan_inputs(name: str, table: PlanObject) -> list[InputFile]:
    """The posed files of keys."""
    each = (hashed(f"object.{name}.{where}", one.file) for where, one in table.all_keys if one.file is not None)
    return [*(file for files in each for file in files), *labels_inputs(name, table.labels)]


def _told(p: int, phase: PhaseTable, begin: float, end: float) -> tuple[Told, ...]:
    if phase.flight is not None and phase.flight.region is None:
        return ()
    if phase.flight is not None:
        return (Told(f"phases[{p}].flight", end, phase.flight.region, landing=True),)
    return tuple(
        Told(f"phases[{p}].keys[{k}]", begin + one.frame, one.region) for k, one in enumerate(phase.keys)
    )  # fmt: skip


def _refusal(place: Place, begin: float, end: float) -> str:
    alone = replace(place, findings=[])
    alone.refuse("a motion ends after it begins", got=end, allowed=f"after frame {begin:g}")
    return alone.findings[0]


def _said(read: Callable[[], Any], place: Place, name: str) -> Any:
    """What is read, or None after a refusal at the place that has this name already."""
    try:
        return read()
    except InputError as error:
        return place.pass_on(error, without=f"{name}: ")


def _solved(make: Callable[[], Any], place: Place) -> Any:
    """A motion; None after a refusal, or where none could be found."""
    try:
        return make()
    except InputError as error:
        return place.pass_on(error)
    except PhysicsStopped as error:
        return place.pass_on(InputError(str(error)))


def _refuse_fixed(told: PlanKey, parts: Parts, fixed: Integers, place: Place, root: Place) -> None:
    if told.region is None:
        return
    nodes = parts.nodes(told.region, root)
    shared = int(np.isin(nodes, fixed).sum())
    if shared:
        place.at("region").refuse(
            "a key asks for what is fixed", got=f"{told.region}, {shared} of whose {len(nodes)} nodes are",
            remedy="a region that shares no points with those under 'fixed'",
        )  # fmt: skip


def _refuse_contradictions(keys: Sequence[Key], parts: Parts, place: Place) -> None:
    """Refuse two keys of one frame that ask for different things of the same nodes."""
    for (i, one), (j, other) in combinations(enumerate(keys), 2):
        if abs(one.time - other.time) > SAME_TIME or one.time < 0.0:
            continue
        if found := contradictions(one, other, parts.cage.body):
            what = "place" if "different places" in found[0] else "velocity"
            place.entry(j).refuse(
                f"asks for another {what} than the key before it on the same frame", got=f"keys[{i}] and keys[{j}]",
                remedy="leave one of them out",
            )  # fmt: skip
