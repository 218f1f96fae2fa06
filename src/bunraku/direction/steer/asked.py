"""What is asked of a body, checked and completed: everything a job is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import numpy as np

from bunraku.contracts import ContentStore, Integers, Points, Vector, input_error, need
from bunraku.direction.knobs import listed
from bunraku.direction.pins import Pin, check_pin
from bunraku.dynamics import Mass
from bunraku.geometry import TetMesh, TriMesh, check_tets, tet_lumped_mass, tet_mass_matrix
from bunraku.materials import SolidMaterial, as_solid
from bunraku.motion import Path

from .bodies import Body
from .bracing import braced
from .cautions import cautions, sagging
from .holding import Directed, check_pinned, directed
from .keyed_rest import KeyedRest
from .keys import SAME_TIME, KeyShape, check_keys
from .posing import whole_shape
from .rigid import pieces_of, shape_distance
from .settings import SteerSettings

_LEAST_WAY = 0.2
"""share of the time since the shape before that the way to a key takes at least, whatever its lead"""
_NO_SHAPE = 1e-4
"""share of the body's size: a key for a part that changes less than this only moves or turns it"""


@dataclass(frozen=True, eq=False)
class Asked:
    """A body, and what is asked of it."""

    body: TetMesh
    material: SolidMaterial
    mass: Mass
    keys: tuple[KeyShape, ...]
    shapes: tuple[Points, ...]
    """(k,) the whole shape (n, 3) of each key"""
    rest: KeyedRest
    paths: tuple[Directed, ...]
    pins: tuple[Pin, ...]
    warnings: tuple[str, ...]
    knobs: SteerSettings
    name: str = ""
    """what sentences call it, where there are several"""

    def told(self, sentence: str) -> str:
        """A sentence with the body's name, where it has one."""
        return f"{self.name}: {sentence}" if self.name else sentence

    @cached_property
    def pieces(self) -> tuple[Integers, ...]:
        """Vertices (v,) of each piece of a body that is in several."""
        return pieces_of(self.body)

    @property
    def ways(self) -> list[float]:
        """(k,) [m] how far each key's shape is from the one before."""
        first = self.shapes[0] if self.keys and self.keys[0].time <= SAME_TIME else self.body.rest
        before = [first, *self.shapes[:-1]]
        pairs = zip(before, self.shapes, strict=False)
        return [shape_distance(a, b, self.mass.lumped, self.pieces) for a, b in pairs]


def asked(
    one: Body, touching: bool, cache: ContentStore | None, leads: Vector | Sequence[float] | None,
    blows: Sequence[float], knobs: SteerSettings,
) -> Asked:  # fmt: skip
    """What is given, refused in sentences where it cannot be meant, and warned of where it rarely is; `touching` says
    whether there is contact."""
    body = one.mesh
    need(TetMesh, "body", body)
    check_tets(body, "body")
    solid = as_solid(one.material)
    mass = _mass(body, solid, knobs)
    keys, pins = listed(KeyShape, "keys", one.keys), listed(Pin, "pins", one.pins)
    given: tuple[Path, ...] = () if one.path is None else listed(Path, "path", one.path)
    check_keys(keys, body, 0.0, max(float(knobs.duration), float(knobs.times[-1])))
    paths = directed(given, body, mass.lumped)
    _check_pins(pins, body)
    check_pinned(paths, pins)
    if pins and any(path.hold == "compensation" for path in given):
        raise input_error(
            "a body that is put back on its path after a step is put off its pins", where="path.hold",
            got="compensation", remedy="hold='constraint', which meets both",
        )  # fmt: skip
    shapes = tuple(whole_shape(key, body, solid) for key in keys)
    warnings = (
        *cautions(body, solid, keys, given, knobs),
        *_shapeless(keys, shapes, body, mass, knobs),
        *sagging(body, solid, knobs.gravity, bool(keys and (pins or touching))),
    )
    rest = braced(keyed_rest(body, solid, keys, shapes, leads, knobs, cache), blows, float(knobs.rate))
    return Asked(body, solid, mass, keys, shapes, rest, paths, pins, warnings, knobs, one.name)


def _check_pins(pins: Sequence[Pin], body: TetMesh) -> None:
    """Refuse pins that are not of this body: among several they would hold another."""
    skin = TriMesh(body.rest, body.surface_faces)
    for k, pin in enumerate(pins):
        check_pin(pin, skin, "body")
        if isinstance(pin.to, str) and pin.to == "guide":
            allowed = "a point, one point a vertex, an Animation, an Obstacle or its name"
            raise input_error("a steered body has no guide", where=f"pins[{k}].to", got="guide", allowed=allowed)


def check_cache(cache: object) -> None:
    """Refuse what keeps nothing, such as a folder's name."""
    if cache is not None and not all(callable(getattr(cache, name, None)) for name in ("load", "store")):
        folder = cache if isinstance(cache, (str, PathLike)) else "folder"
        raise input_error(
            "not a cache", where="cache", got=repr(cache)[:60], allowed="None or a cache",
            remedy=f"bunraku.io.ContentCache({str(folder)!r})",
        )  # fmt: skip


def _mass(body: TetMesh, material: SolidMaterial, knobs: SteerSettings) -> Mass:
    lumped = tet_lumped_mass(body, material.density)
    return Mass(lumped, tet_mass_matrix(body, material.density) if knobs.mass == "consistent" else None)


def _shapeless(
    keys: Sequence[KeyShape], shapes: Sequence[Points], body: TetMesh, mass: Mass, knobs: SteerSettings
) -> list[str]:
    """Of keys for a part that only moves as a whole: all else goes along, and no shape comes of it."""
    pieces = pieces_of(body)
    return [
        f"the key at {knobs.moment(key.time)} only moves its part as a whole, and all else goes along: name vertices "
        "that stay too"
        for key, shape in zip(keys, shapes, strict=True)
        if key.vertices is not None and shape_distance(shape, body.rest, mass.lumped, pieces) < _NO_SHAPE * body.size
    ]


def keyed_rest(
    body: TetMesh, material: SolidMaterial, keys: Sequence[KeyShape], shapes: Sequence[Points],
    leads: Vector | Sequence[float] | None, knobs: SteerSettings, cache: ContentStore | None,
) -> KeyedRest:  # fmt: skip
    """The body's own shape at the start, unless a key is there, then those of the keys, each earlier by its lead."""
    common = 0.0 if isinstance(knobs.lead, bool) else float(knobs.lead)
    ahead = np.full(len(keys), common) if leads is None else np.asarray(leads, dtype=np.float64)
    times, told = [0.0], [body.rest]
    for key, shape, lead in zip(keys, shapes, ahead, strict=True):
        if key.time <= SAME_TIME:
            told[0] = shape
            continue
        # However early, the way to it takes a part of the time there is.
        least = times[-1] + _LEAST_WAY * (key.time - times[-1])
        times.append(max(key.time - lead, least))
        told.append(shape)
    return KeyedRest(body, material, float(knobs.interpolation_damping), np.array(times), tuple(told), cache)
