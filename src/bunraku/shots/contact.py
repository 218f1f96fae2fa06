"""The contact of a shot: its obstacles read, laid out over the shot's frames, turned into what `track` takes."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bunraku.collision import Obstacle, Plane
from bunraku.contracts import InputError, Integers, Vector
from bunraku.direction import Contact
from bunraku.geometry import check_physical
from bunraku.io import Clip
from bunraku.motion import Animation

from .contact_spec import ContactTable, SourceTable
from .findings import Place
from .inputs import InputFile, read_source, source_inputs
from .preroll import laid_out, moved
from .retime import retimed
from .shot import Shot

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ShotContact:
    """What the shell may touch, and how it feels it."""

    table: ContactTable | None = None
    """None: contact is off"""
    things: Mapping[str, Animation | Obstacle | Plane] = field(default_factory=dict)
    """obstacles by name; those that move are laid out over the shot, preroll included"""
    inputs: tuple[InputFile, ...] = ()
    prims: Mapping[str, str] = field(default_factory=dict)
    """obstacle → its prim, of those from files; empty where they have none"""
    own: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """obstacle → its own thickness and friction"""
    parts: Mapping[str, Integers] = field(default_factory=dict)
    """region → (v,) its vertices, of those that layers and between name"""

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Those that are meshes, still or moving."""
        return tuple(one for one in self._things if isinstance(one, Obstacle))

    @property
    def planes(self) -> tuple[Plane, ...]:
        """Those that are planes."""
        return tuple(one for one in self._things if isinstance(one, Plane))

    @property
    def contact(self) -> Contact | None:
        """For `track`."""
        return None if self.table is None else self.table.at(self._things, self.parts)

    @property
    def _things(self) -> tuple[Obstacle | Plane, ...]:
        found = (
            Obstacle(one.mesh, one.at, name) if isinstance(one, Animation) else one for name, one in self.things.items()
        )
        return tuple(replace(one, **self.own.get(one.name, {})) for one in found)

    def about(self, origin: Vector) -> ShotContact:
        """The same with points counted from another origin (3,) [m]."""
        return replace(self, things={name: _about(one, origin) for name, one in self.things.items()})

    def from_zero(self, begin: float) -> ShotContact:
        """The same with obstacles where they are at `begin` [s] when time is 0."""
        things = {
            name: replace(one, times=one.times - begin) if isinstance(one, Animation) else one
            for name, one in self.things.items()
        }
        return replace(self, things=things)


def read_contact(shot: Shot, rate: float, numbers: Vector, root: Place) -> ShotContact:
    """Contact and obstacles of a shot whose frames (t,) are counted at `rate` [frames/s]."""
    told = shot.physics.contact
    if told is False:
        return ShotContact()
    whole = told if isinstance(told, ContactTable) else ContactTable()
    return replace(read_obstacles(shot, rate, numbers, root), table=whole)


def read_obstacles(shot: Shot, rate: float, numbers: Vector, root: Place) -> ShotContact:
    """The obstacles alone, which nothing feels."""
    things: dict[str, Animation | Obstacle | Plane] = {}
    prims: dict[str, str] = {}
    inputs: list[InputFile] = []
    for name, table in shot.obstacles.items():
        shape, place = table.source.shape(name), root.at("object").at(name).at("source")
        try:
            if shape is not None:
                if isinstance(shape, Obstacle):
                    check_physical(shape.mesh, "the shape")
                things[name] = shape
                continue
            clip, path = _clip(table.source, rate, shot.output.folder)
            _tell_of_frames(clip, path, numbers)
            things[name] = _laid_out(clip, name, numbers, shot.shot.preroll, rate)
            inputs += source_inputs(place.path, path, table.source)
            prims[name] = clip.prim_path
        except InputError as error:
            place.pass_on(error)
    own = {name: {"thickness": o.thickness, "friction": o.friction} for name, o in shot.obstacles.items()}
    return ShotContact(None, things, tuple(inputs), prims, own)


def _clip(table: SourceTable, rate: float, takes: Path) -> tuple[Clip, Path]:
    """The obstacle's clip, on the shot's frames: frame 12 of its file is seen on frame 12 of the shot."""
    clip, path = read_source(table, rate, takes)
    clip = retimed(clip, table.retime)
    if len(clip.frames) > 1 and clip.rate_known and abs(clip.rate - rate) > 1e-6 * rate:
        _log.warning(
            "%s: is made for %g frames/s and the shot has %g; frame by frame the two go together, so it moves %s",
            path, clip.rate, rate, "slower" if rate < clip.rate else "faster",
        )  # fmt: skip
    check_physical(clip.mesh, str(path))
    clip.animation.check(str(path))
    return clip, path


def _tell_of_frames(clip: Clip, path: Path, numbers: Vector) -> None:
    """An obstacle that moves, but not on every frame of the shot."""
    first, last = float(clip.frames[0]), float(clip.frames[-1])
    if len(clip.frames) > 1 and (numbers[0] < first - 1e-6 or numbers[-1] > last + 1e-6):
        _log.warning(
            "%s: moves on frames %g to %g, and the shot has %g to %g; on the others it stands still", path, first, last,
            numbers[0], numbers[-1],
        )  # fmt: skip


def _laid_out(clip: Clip, name: str, numbers: Vector, preroll: int, rate: float) -> Animation | Obstacle:
    """Like a guide: through the preroll from the rest shape to the first frame. What does not move stands there."""
    if clip.animation.frame_count == 1:
        return Obstacle(clip.mesh.with_rest(clip.animation.points[0]), name=name)
    seen = replace(clip.animation, times=clip.frames / rate)
    return laid_out(seen, numbers, preroll, rate, clip.mesh.rest)


def _about(one: Animation | Obstacle | Plane, origin: Vector) -> Animation | Obstacle | Plane:
    if isinstance(one, Animation):
        return moved(one, -origin)
    if isinstance(one, Plane):
        return replace(one, point=one.point - origin)
    return replace(one, mesh=one.mesh.with_rest(one.mesh.rest - origin))
