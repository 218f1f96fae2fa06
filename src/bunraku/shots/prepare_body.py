"""From a shot to bodies that are steered: read one after another, then laid together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.contracts import InputError, Integers, PhysicsStopped, Points, Sparse, Vector, many
from bunraku.direction import Job
from bunraku.direction.steer import Body, KeyShape, SteerSettings, directed_shapes, find_blows, find_leads, steering_job
from bunraku.io import ContentCache
from bunraku.motion import Animation, Curve

from .body_spec import BodyObject
from .contact import ShotContact, read_contact
from .filling import BODIES, Filled, Filling, fill_bodies, tried, written
from .frame_numbers import of_body, refuse_single, resolved
from .inputs import InputFile
from .prepared import Prepared
from .read_body import ReadBody, read_body, shape_inputs
from .refusals import refuse_settings
from .shot import Shot
from .spec import PhysicsTable

_FOR_SHELLS = {
    "wind": "is for shells; it does not blow on bodies yet", "bending": "is for shells",
    "start": "is for shells; a body starts at rest, where its path begins",
}  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedBody(Prepared):
    """Elastic bodies that pass near key shapes and follow paths."""

    bodies: tuple[ReadBody, ...]
    """about the origin"""
    filling: Filling
    store: ContentCache

    @property
    def noun(self) -> str:
        """What sentences call it."""
        return self.filling.noun

    @property
    def told(self) -> str:
        """The shape that keys tell, on its path."""
        return "what it is told"

    @property
    def outside(self) -> str:
        """Contact is that of the tetrahedra: the fine surface may reach beyond them."""
        return "outer face of the tetrahedra"

    @property
    def goal(self) -> str:
        """What must be met."""
        return "its path" if self._alone else "their paths"

    @property
    def gap(self) -> str:
        """What a residual is."""
        return "distance between a directed point and its path"

    @property
    def regions(self) -> tuple[str, ...]:
        """A path each."""
        return tuple(self._region(one, path.region) for one in self.bodies for path in one.table.path)

    def _region(self, one: ReadBody, name: str | None) -> str:
        if self._alone:
            return "the whole body" if name is None else f"region {name}"
        return one.name if name is None else f"region {name} of {one.name}"

    @property
    def functions(self) -> Sparse | None:
        """(p, n) where the surface goes with the nodes of each path."""
        rows = []
        for one, (first, last) in zip(self.bodies, self._nodes, strict=True):
            for path in one.paths:
                row = np.zeros(self.filling.body.point_count)
                row[first:last][slice(None) if path.vertices is None else np.asarray(path.vertices)] = 1.0
                rows.append(row)
        return sparse.csr_array(np.maximum(np.stack(rows) @ self.filling.carrier.T, 0.0)) if rows else None

    def held(self, time: float) -> Vector:
        """(p,) 1 while a path says where to be."""
        return np.array([float(path.holds(time)) for one in self.bodies for path in one.paths])

    @property
    def parts(self) -> Mapping[str, Integers]:
        """Each body's, where there are several."""
        if not self.contact.parts:
            return {}
        return {one.name: np.arange(one.vertices.start, one.vertices.stop) for one in self.written}

    def distances(self, x: Any, time: float) -> Vector | None:
        """The directed point is the middle of all nodes, which the surface alone does not tell."""
        return None

    def summary(self) -> list[str]:
        """Surface, tetrahedra, keys and paths."""
        return [
            *(line for one in self.bodies for line in _summary(one)),
            f"physics: {many(self.shot.physics.substeps, 'step')} a frame, to convergence",
        ]

    def rehearse(self, threads: int | None) -> None:
        """Begin a job without leads, which would take whole runs."""
        steering_job([replace(one, lead=False) for one in self._cast], **self._given(threads))

    def make_job(self, threads: int | None) -> Job[Any]:
        """The job behind `steer`; leads are found first, where they are asked for."""
        cast, given = self._cast, self._given(threads)
        given["blows"] = find_blows(cast, **given)
        leads = find_leads(cast, **given) if any(one.lead is True and one.keys for one in cast) else None
        return replace(steering_job(cast, leads=leads, **given), times=self.times)

    @property
    def _alone(self) -> bool:
        return self.filling.alone

    @property
    def _nodes(self) -> Iterator[tuple[int, int]]:
        """(b,) the first node of each body, and the first after it."""
        return pairwise(np.cumsum([0, *(one.cage.body.point_count for one in self.bodies)]).tolist())

    @property
    def _cast(self) -> list[Body]:
        return [one.body(self.clip.rate, alone=self._alone) for one in self.bodies]

    def _moment(self, time: float) -> str:
        """What warnings call a time [s]."""
        return f"frame {round(float(self.numbers[0]) + time * self.clip.rate, 3):g}"

    def _given(self, threads: int | None) -> dict[str, Any]:
        """What the job is told. It knows of keys after the last frame, for the way to them begins before."""
        physics = self.shot.physics
        own = {} if physics.tolerance == PhysicsTable().tolerance else {"tolerance": physics.tolerance}
        keys = [key for one in self.bodies for key in one.keys]
        return own | {
            "contact": self.contact.contact, "duration": _until(self.times, keys), "rate": self.clip.rate,
            "gravity": physics.gravity, "substeps": physics.substeps, "mass": physics.mass, "threads": threads,
            "cache": self.store, "moment": self._moment,
            "iterations": None if physics.iterations == "converge" else physics.iterations,
        }  # fmt: skip


def _summary(one: ReadBody) -> list[str]:
    pins = many(len(one.pins), "pin")
    return [
        f"{one.filled.summary()}; {many(len(one.keys), 'key shape')}, {many(len(one.paths), 'path')}",
        f"material: {one.table.material.preset or 'a material of its own'}; {pins}{_begun(one.table)}",
    ]


def _begun(table: BodyObject) -> str:
    """What it begins with, if anything is said."""
    thrown = "" if table.velocity is None else f"; begins with ({', '.join(f'{v:g}' for v in table.velocity)}) m/s"
    count = len(table.blows)
    return thrown + (f"; {count} blow{'s' if count > 1 else ''}" if count else "")


def _until(times: Vector, keys: Sequence[KeyShape]) -> float:
    """[s] the last frame, or the last key where that comes later."""
    return max([float(times[-1]), *(key.time for key in keys)])


def prepare_body(shot: Shot, *, keeping: bool = True) -> PreparedBody:
    """Read the shot's files; raises one InputError with everything that does not fit. Tetrahedra and ways between keys
    are kept with the takes, unless `keeping` is False."""
    root, store = shot.place, ContentCache(shot.output.folder / BODIES, keeping=keeping)
    refuse_settings(shot, root, _FOR_SHELLS)
    refuse_single(shot, root)
    root.raise_all()
    filled, rate, origin = fill_bodies(shot.bodies, shot, store)
    numbers = of_body(shot, rate)
    places = [root.at("object").at(one.name) for one in filled]
    bodies = [
        read_body(one, shot.bodies[one.name], shot, rate, numbers, origin, place)
        for one, place in zip(filled, places, strict=True)
    ]
    contact = read_contact(shot, rate, numbers, root)
    root.raise_all()
    contact = contact.about(origin).from_zero(float(numbers[0]) / rate)
    guides = [
        tried(lambda one=one: _directed(one, numbers, rate, store), place.at("keys"))
        for one, place in zip(bodies, places, strict=True)
    ]
    root.raise_all()
    filling = Filling(tuple(filled), tuple(one.cage for one in bodies))
    points = np.concatenate([one for one in guides if one is not None], axis=1)
    return PreparedBody(
        shot=resolved(shot, numbers), first=float(numbers[0]), filling=filling,
        written=written(filled), inputs=_inputs(filled, shot) + contact.inputs,
        guide=Animation(filling.shell, (numbers - numbers[0]) / rate, points), shell=filling.shell, rest=None,
        pins=tuple(pin for one in bodies for pin in one.pins), seams=(), strength=Curve.of(1.0), numbers=numbers,
        origin=origin, contact=_named(contact, bodies), bodies=tuple(bodies), store=store,
    )  # fmt: skip


def _inputs(filled: Sequence[Filled], shot: Shot) -> tuple[InputFile, ...]:
    """Every file that is read for bodies."""
    out: list[InputFile] = []
    for one in filled:
        place = shot.place.at("object").at(one.name)
        out += [*one.inputs, *shape_inputs(one.name, shot.bodies[one.name], shot.output.folder, place)]
    return tuple(out)


def _named(contact: ShotContact, bodies: Sequence[ReadBody]) -> ShotContact:
    """Contact that knows bodies by their names, where there are several or it says something of one."""
    if contact.table is None or (len(bodies) == 1 and bodies[0].name not in contact.table.names):
        return contact
    ends = np.cumsum([0, *(one.cage.body.point_count for one in bodies)]).tolist()
    parts = {one.name: np.arange(a, b) for one, (a, b) in zip(bodies, pairwise(ends), strict=True)}
    return replace(contact, parts=parts)


def _directed(one: ReadBody, numbers: Vector, rate: float, store: ContentCache) -> Points:
    """(t, n, 3) what is asked for, to look at: the shape the body would like to have, carried along its path."""
    times = (numbers - numbers[0]) / rate
    damping = one.table.interpolation_damping
    knobs = SteerSettings(duration=_until(times, one.keys), rate=rate, interpolation_damping=damping)
    shapes = islice(directed_shapes(one.cage.body, one.keys, one.paths, one.material, knobs, store), len(times))
    try:
        return np.stack([one.cage.points(x) for x in shapes])
    except PhysicsStopped as error:  # before anything is made: it is the keys that do not fit
        raise InputError(error.reason) from error
