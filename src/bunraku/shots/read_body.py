"""One body of a shot that is steered: its keys posed, its paths laid out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from bunraku.collision import Plane
from bunraku.contracts import Points, Vector
from bunraku.direction import Pin
from bunraku.direction.steer import Body, KeyShape
from bunraku.geometry import Cage
from bunraku.materials import SolidMaterial
from bunraku.motion import Path as Way

from .body_parts import Parts
from .body_spec import BodyObject
from .filling import Filled, tried
from .findings import Place, nearest
from .inputs import InputFile, hashed
from .labels import labels_inputs, marked
from .posed import read_posed
from .shot import Shot
from .told_way import way_inputs

_Read = TypeVar("_Read")


@dataclass(frozen=True, eq=False)
class ReadBody:
    """A body and what its table asks of it, about the shot's origin."""

    filled: Filled
    table: BodyObject
    """the object's settings"""
    cage: Cage
    keys: tuple[KeyShape, ...]
    paths: tuple[Way, ...]
    pins: tuple[Pin, ...]
    velocity: Points | None
    """(n, 3) [m/s] on the first frame; None: as paths begin, else none"""
    parts: Parts
    """for reading more keys"""

    @property
    def name(self) -> str:
        """The object's."""
        return self.filled.name

    @property
    def material(self) -> SolidMaterial:
        """What it is made of."""
        return self.table.material.material

    def body(self, rate: float, *, alone: bool) -> Body:
        """For `steer`, at a rate [frames/s]; a body that is alone needs no name."""
        lead = self.table.lead
        return Body(
            self.cage.body, "" if alone else self.name, self.material, self.keys, self.paths, self.pins,
            velocity=self.velocity, lead=lead if isinstance(lead, bool) else float(lead) / rate, brace=self.table.brace,
            interpolation_damping=self.table.interpolation_damping,
        )  # fmt: skip


def read_body(
    filled: Filled, table: BodyObject, shot: Shot, rate: float, numbers: Vector, origin: Vector, place: Place
) -> ReadBody:  # fmt: skip
    """What is asked of a body, about an origin (3,) [m]; what does not fit is told to `place`."""
    cage, going = filled.about(origin), marked(filled.going, table.labels, place)
    first, takes = float(numbers[0]), shot.output.folder
    parts = Parts(table.regions, cage, going, table.material.material, rate, first, takes, origin)
    for name in table.regions:
        parts.nodes(name, place)
    _check_pins(table, shot, place)
    keys = [tried(lambda one=one: parts.key(one, place), place.at("keys").entry(k)) for k, one in enumerate(table.keys)]
    paths = [
        tried(lambda one=one: parts.path(one, place), place.at("path").entry(k)) for k, one in enumerate(table.path)
    ]
    pins = [
        tried(
            lambda one=one: Pin(parts.nodes(one.region, place), one.axes, None if one.to == "start" else one.to),
            place.at("pins").entry(k),
        )
        for k, one in enumerate(table.pins)
    ]
    velocity = _velocity(table, parts, place)
    return ReadBody(filled, table, cage, _there(keys), _there(paths), _there(pins), velocity, parts)


def _velocity(table: BodyObject, parts: Parts, place: Place) -> Points | None:
    """(n, 3) [m/s] of the body's nodes as it begins: what all of it has, and what blows add; None where neither is
    said."""
    if table.velocity is None and not table.blows:
        return None
    out = np.tile(np.array(table.velocity or (0.0, 0.0, 0.0)), (parts.cage.body.point_count, 1))
    for one in table.blows:
        out[parts.nodes(one.region, place)] += one.velocity
    return out


def _check_pins(table: BodyObject, shot: Shot, place: Place) -> None:
    """Refuse pins to what is no obstacle, or a plane, which has no places to go with."""
    meshes = [name for name, one in shot.obstacles.items() if not isinstance(one.source.shape(name), Plane)]
    names = ["start", *meshes]
    for k, pin in enumerate(table.pins):
        if pin.to in names:
            continue
        plane, body = pin.to in shot.obstacles, pin.to in shot.bodies
        near = "" if body else nearest(pin.to, names)
        place.at("pins").entry(k).at("to").refuse(
            "is a body, and pins go with obstacles" if body else "unknown obstacle", got=pin.to,
            allowed=", ".join(f"'{name}'" for name in names),
            remedy="'start': a plane has no places to be attached to" if plane else near,
        )  # fmt: skip


def _there(found: list[_Read | None]) -> tuple[_Read, ...]:
    return tuple(one for one in found if one is not None)


def shape_inputs(name: str, table: BodyObject, takes: Path, place: Place) -> list[InputFile]:
    """The files of key shapes and paths; what cannot be read is told to `place`."""
    found: list[InputFile] = []
    for k, one in enumerate(table.keys):
        file = one.file
        if one.take is not None:
            read = tried(lambda one=one: read_posed(one, takes), place.at("keys").entry(k))
            file = None if read is None else read[1]
        found += hashed(f"object.{name}.keys[{k}]", file) if file is not None else []
    for k, one in enumerate(table.path):
        key = f"object.{name}.path[{k}]"
        read = tried(lambda one=one, key=key: way_inputs(one, key, takes), place.at("path").entry(k))
        found += read or []
    return found + labels_inputs(name, table.labels)
