# SPDX-License-Identifier: GPL-3.0-or-later
"""From an object's settings to the files of a shot: what Run writes, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import bpy

from .air import WindRecord, wind_objects
from .bridge import Desk, Refusal, Shared, Source, Space, StageMesh, free_name, prim_name, stage_text, toml_text
from .capture import Wanted, armatures, capture, resting
from .painting import group_names
from .scene import frame_range, scene_gravity, scene_space, shot_names, shots_folder, single, turned
from .soft import PlanRequest, SteerRequest, WrinkleRequest
from .track import TrackRequest

INPUTS = "inputs"
Put = Callable[[StageMesh], Source]
"""writes a mesh, and says how a shot names it"""


class Instrument(Protocol):
    """What an instrument makes of an object's settings."""

    wanted: list[Wanted]
    """what it captures"""

    def note(self, graph: bpy.types.Depsgraph) -> None:
        """What else it looks at on each frame."""
        ...

    def tables(self, meshes: Sequence[StageMesh], put: Put, space: Space, shared: Shared) -> dict[str, Any]:
        """The shot, from the captured meshes."""
        ...


_INSTRUMENTS: dict[str, Callable[[bpy.types.Object, Any], Instrument]] = {
    "TRACK": TrackRequest, "WRINKLE": WrinkleRequest, "STEER": SteerRequest, "PLAN": PlanRequest,
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """A shot that is ready to be run."""

    file: Path
    shot: str
    """its name"""
    guide: bpy.types.Object
    desk: Desk
    painted: tuple[str, ...] = ()
    """names of the regions that the shot knows by numbers"""


def make_request(context: bpy.types.Context, thing: bpy.types.Object, *, way: str) -> Request:
    """Write the shot of an object and what it is made of into the scene's folder; `way` is one of `shot_names`."""
    if not thing.is_editable:
        raise Refusal(f"{thing.name!r} is linked from another file; try: Object, Library Override, Make")
    told, scene, folder = thing.bunraku, context.scene, shots_folder(context.scene)
    frames, name = frame_range(scene, told), shot_names(thing)[way]
    instrument = _INSTRUMENTS[told.instrument](thing, told)
    obstacles = _obstacles(told, way)
    air = WindRecord(scene) if told.wind and told.instrument == "TRACK" and wind_objects(scene) else None
    own = len(instrument.wanted)
    meshes = _captured(context, told, [*instrument.wanted, *obstacles], frames, [instrument, *([air] if air else [])])
    desk, space = Desk(), scene_space(scene)

    def put(mesh: StageMesh) -> Source:
        """The stage, under a name that says what is in it: other takes may stand on earlier ones."""
        text = stage_text(mesh, space)
        file = f"{INPUTS}/{mesh.name}_{hashlib.sha256(text.encode()).hexdigest()[:12]}.usda"
        desk.write(folder / file, text)
        return Source(file, mesh.prim)

    try:
        shared = Shared(
            name, (frames[0], frames[-1]), scene_gravity(scene), told.substeps, _apart(meshes[own:], put),
            air and air.wind(turned), told.contact, single(told.friction),
            single(told.thickness) if told.use_thickness else None, told.preroll, told.film, way == "QUICK",
        )  # fmt: skip
        shared = shared.of_regions() if way == "REGIONS" else shared
        text = toml_text(instrument.tables(meshes[:own], put, space, shared))
    except Refusal:
        desk.undo()
        raise
    file = folder / f"{name}.toml"
    desk.write(file, text)
    painted = group_names(thing) if told.instrument == "TRACK" and told.scale == "GROUPS" else []
    return Request(file, name, thing, desk, tuple(painted))


def _obstacles(told: Any, way: str) -> list[Wanted]:
    if told.obstacles is None or not told.contact or way != "FINAL" or told.instrument == "PLAN":
        return []
    own = (told.id_data, told.shell, told.result)
    things = [one for one in told.obstacles.all_objects if one.type == "MESH" and one not in own]
    if not things:
        raise Refusal(f"the collection {told.obstacles.name!r} holds no other mesh to be an obstacle; try: another one")
    return [Wanted(one, prim_name(one.name), moving=False) for one in things]


def _apart(meshes: Sequence[StageMesh], put: Put) -> dict[str, Source]:
    """Each under a name of its own: 'Wall.001' and 'Wall 001' are one name to USD."""
    found: dict[str, Source] = {}
    for mesh in meshes:
        found[free_name(mesh.name, found)] = put(mesh)
    return found


def _captured(
    context: bpy.types.Context, told: Any, wanted: Sequence[Wanted], frames: range,
    watching: Sequence[Instrument | WindRecord],
) -> list[StageMesh]:  # fmt: skip
    """All meshes; others are `watching` each frame."""
    frame = told.rest_frame if told.rest == "FRAME" else frames[0]
    posed = [one.thing for one in wanted] if told.rest == "POSE" else []
    if posed and not any(armatures(one) for one in posed):
        raise Refusal(
            f"{told.id_data.name!r} has no armature whose rest position could be its rest shape; "
            "try: Frames and folder, Rest shape, another one"
        )
    let_go = [modifier for one in wanted for modifier in one.let_go]

    def seen(graph: bpy.types.Depsgraph) -> None:
        for one in watching:
            one.note(graph)

    return capture(context, wanted, frames, resting(context.scene, frame, posed, let_go), seen)
