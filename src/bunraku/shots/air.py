"""The air of a shot: its obstacles read, everything turned into what `track` takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bunraku.contracts import InputError, Vector
from bunraku.energies import Wind
from bunraku.geometry import TriMesh, chambers
from bunraku.io import read_clip
from bunraku.motion import Animation

from .air_spec import ObstacleTable
from .findings import Place
from .inputs import InputFile, hashed, require_unit
from .kinds import in_seconds
from .shot import Shot
from .spec import ObjectTable


@dataclass(frozen=True, eq=False)
class ShotAir:
    """Arguments of `track` about the air, and the files they come from."""

    settings: Mapping[str, Any]
    """wind, pressure and gas, those given"""
    inputs: tuple[InputFile, ...]

    def about(self, origin: Vector) -> ShotAir:
        """The same with points counted from another origin (3,) [m]."""
        wind = self.settings.get("wind")
        if wind is None:
            return self
        obstacles = [_moved(one, -origin) for one in wind.obstacles]
        return replace(self, settings={**self.settings, "wind": replace(wind, obstacles=obstacles, origin=origin)})


def read_air(shot: Shot, table: ObjectTable, shell: TriMesh, rate: float, root: Place, place: Place) -> ShotAir:
    """Wind, pressure and gas of an object at `place`; frames are counted at `rate` [frames/s]."""
    settings: dict[str, Any] = {}
    inputs: list[InputFile] = []
    if table.pressure is not None:
        settings["pressure"] = in_seconds(table.pressure, rate)
    if table.gas is not None:
        settings["gas"] = table.gas.at(rate)
    if settings:
        try:
            chambers(shell, "the mesh")
        except InputError as error:
            place.at(next(iter(settings))).pass_on(error)
    wind = shot.physics.wind
    if wind is not None:
        where = root.at("physics").at("wind").at("obstacles")
        found = [_obstacle(one, rate, where.entry(k), inputs) for k, one in enumerate(wind.obstacles)]
        obstacles = [one for one in found if one is not None]
        settings["wind"] = Wind(**wind.settings(rate), obstacles=obstacles)
    return ShotAir(settings, tuple(inputs))


def _obstacle(table: ObstacleTable, rate: float, place: Place, inputs: list[InputFile]) -> TriMesh | Animation | None:
    """The obstacle of a file; one that moves does so on the shot's frames."""
    try:
        clip = read_clip(table.file, table.prim, unit=table.unit, up_axis=table.up_axis)
        require_unit(clip.unit_known, clip.mesh.rest, clip.path)
        moving = clip.animation.frame_count > 1
        moved = replace(clip.animation, times=clip.frames / rate)
        moved.check(str(table.file))
        inputs.extend(hashed(place.path, table.file))
        return moved if moving else clip.mesh.with_rest(clip.animation.points[0])
    except InputError as error:
        return place.pass_on(error)


def _moved(one: TriMesh | Animation, offset: Vector) -> TriMesh | Animation:
    if isinstance(one, TriMesh):
        return one.with_rest(one.rest + offset)
    return replace(one, mesh=one.mesh.with_rest(one.mesh.rest + offset), points=one.points + offset)
