# SPDX-License-Identifier: GPL-3.0-or-later
"""From an object's settings to the files of a shot: what Run writes, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .air import WindRecord, wind_objects
from .bridge import (
    Desk,
    Refusal,
    Shared,
    Source,
    Space,
    StageMesh,
    Track,
    Wind,
    prim_name,
    shot_name,
    stage_text,
    toml_text,
    track_tables,
)  # fmt: skip
from .bridge.presets import SHELL_NUMBERS
from .bridge.shot import REGIONS, TAKES
from .capture import Wanted, capture, resting
from .painting import group_names, paint_guide

INPUTS = "inputs"


@dataclass(frozen=True)
class Request:
    """A shot that is ready to be run."""

    file: Path
    shot: str
    """its name"""
    guide: str
    """the object's"""
    desk: Desk
    painted: tuple[str, ...] = ()
    """names of the regions that the shot knows by numbers"""


def make_request(context: bpy.types.Context, thing: bpy.types.Object, *, quick: bool) -> Request:
    """Write the shot of an object and what it is made of into the scene's folder."""
    told, folder = thing.bunraku, shots_folder(context.scene)
    frames = frame_range(context.scene, told)
    own = prim_name(thing.name)
    wanted = [Wanted(thing, own, paint=paint_guide), *_shell(told), *_obstacles(told, quick)]
    air = WindRecord(context.scene) if told.wind and wind_objects(context.scene) else None
    meshes = _captured(context, thing, wanted, frames, air)
    desk = Desk()
    space = scene_space(context.scene)
    sources = [_written(desk, folder, mesh, space) for mesh in meshes]
    count = 1 + len(_shell(told))
    ask = Track(
        sources[0], scale_table(told), material_table(told.material), told.levels,
        sources[1] if count == 2 else None, told.pin_to if told.pinned else None,
    )  # fmt: skip
    obstacles = {mesh.name: source for mesh, source in zip(meshes[count:], sources[count:], strict=True)}
    name = shot_name(told.shot or thing.name) + ("-quick" if quick else "")
    shared = shared_of(context.scene, told, name, frames, obstacles, air and air.wind(turned), quick=quick)
    file = folder / f"{name}.toml"
    desk.write(file, toml_text(track_tables(own, ask, shared)))
    return Request(file, name, thing.name, desk, tuple(group_names(thing)) if told.scale == "GROUPS" else ())


def shots_folder(scene: bpy.types.Scene) -> Path:
    """Where the shots of a scene are."""
    named = scene.bunraku.folder
    if named.startswith("//") and not bpy.data.filepath:
        raise Refusal("takes are kept beside the .blend, which is nowhere yet; try: save it first")
    return Path(bpy.path.abspath(named)).resolve()


def takes_folder(scene: bpy.types.Scene) -> Path:
    """Where its takes are."""
    return shots_folder(scene) / TAKES


def shot_names(thing: bpy.types.Object) -> list[str]:
    """Names of an object's shots: the final one and its quick preview."""
    name = shot_name(thing.bunraku.shot or thing.name)
    return [name, f"{name}-quick"]


def frame_range(scene: bpy.types.Scene, told: Any) -> range:
    """The frames of the shot."""
    first, last = (told.first, told.last) if told.use_range else (scene.frame_start, scene.frame_end)
    if last <= first:
        raise Refusal(f"the shot has frames {first} to {last}, and needs two at least; try: a later last frame")
    return range(first, last + 1)


def scene_space(scene: bpy.types.Scene) -> Space:
    """Frame rate and unit. Blender keeps both in single precision: 1.001 is meant where it says 1.00100005."""
    render = scene.render
    return Space(render.fps / single(render.fps_base), single(scene.unit_settings.scale_length))


def single(value: float) -> float:
    """The shortest number that single precision rounds to this one."""
    return float(str(np.float32(value)))


def turned(direction: np.ndarray) -> tuple[float, float, float]:
    """Z-up as Y-up."""
    x, y, z = (single(one) for one in direction)
    return (x, z, 0.0 - y)


def shared_of(
    scene: bpy.types.Scene, told: Any, name: str, frames: range, obstacles: dict[str, Source], wind: Wind | None, *,
    quick: bool,
) -> Shared:  # fmt: skip
    """What shots of every instrument say."""
    gravity = turned(np.array(scene.gravity)) if scene.use_gravity else (0.0, 0.0, 0.0)
    return Shared(
        name, (frames[0], frames[-1]), gravity, told.substeps, obstacles, wind, told.contact, single(told.friction),
        single(told.thickness) if told.use_thickness else None, told.preroll, told.film, quick,
    )  # fmt: skip


def material_table(told: Any) -> dict[str, Any]:
    """A preset, and the numbers that are changed."""
    own = {key: single(getattr(told, key)) for key in SHELL_NUMBERS if getattr(told, f"use_{key}")}
    return {"preset": told.preset} | own


def scale_table(told: Any) -> dict[str, Any]:
    """How the guide is obeyed."""
    strength = {} if told.strength == 1.0 else {"strength": single(told.strength)}
    clusters = {"compactness": single(told.compactness), "seed": told.seed}
    tables: dict[str, dict[str, Any]] = {
        "COUNT": {"method": "clusters", "count": told.count} | clusters,
        "METRES": {"method": "clusters", "scale": single(told.metres)} | clusters,
        "GROUPS": {"method": "painted", "regions": REGIONS},
        "ATTRIBUTE": {"method": "painted", "regions": REGIONS},
        "VERTICES": {"method": "hierarchy"},
        "NONE": {"method": "none"},
    }
    return tables[told.scale] | ({} if told.scale == "NONE" else strength)


def _shell(told: Any) -> list[Wanted]:
    if not told.use_shell:
        return []
    if told.shell is None:
        raise Refusal("the shell is to be another object, and none is chosen; try: choose one, or subdivide")
    return [Wanted(told.shell, prim_name(told.shell.name), moving=False)]


def _obstacles(told: Any, quick: bool) -> list[Wanted]:
    if told.obstacles is None or not told.contact or quick:
        return []
    own = (told.id_data, told.shell, told.result)
    things = [one for one in told.obstacles.all_objects if one.type == "MESH" and one not in own]
    if not things:
        raise Refusal(f"the collection {told.obstacles.name!r} holds no other mesh to be an obstacle; try: another one")
    return [Wanted(one, prim_name(one.name), moving=False) for one in things]


def _captured(
    context: bpy.types.Context, thing: bpy.types.Object, wanted: Sequence[Wanted], frames: range,
    air: WindRecord | None,
) -> list[StageMesh]:  # fmt: skip
    told, scene = thing.bunraku, context.scene
    frame = told.rest_frame if told.rest == "FRAME" else frames[0]
    posed = [one.thing for one in wanted] if told.rest == "POSE" else []
    if air is None:
        return capture(context, wanted, frames, resting(scene, frame, posed))
    return capture(context, wanted, frames, resting(scene, frame, posed), air.note)


def _written(desk: Desk, folder: Path, mesh: StageMesh, space: Space) -> Source:
    """The stage, under a name that says what is in it: other takes may stand on earlier ones."""
    text = stage_text(mesh, space)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    file = f"{INPUTS}/{mesh.name}_{digest}.usda"
    desk.write(folder / file, text)
    return Source(file, mesh.prim)
