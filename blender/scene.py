# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene says: frames, unit, rate, gravity, and where its shots are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .bridge import Refusal, Space, shot_name
from .bridge.shot import TAKES


def shots_folder(scene: bpy.types.Scene) -> Path:
    """Where the shots of a scene are."""
    named = scene.bunraku.folder
    if named.startswith("//") and not bpy.data.filepath:
        raise Refusal("takes are kept beside the .blend, which is nowhere yet; try: save it first")
    folder = Path(bpy.path.abspath(named))
    if not folder.is_absolute():  # Blender's own folder is nobody's place for takes
        raise Refusal(f"the folder of takes is nowhere (got {named!r}); try: a whole path, or // for beside the .blend")
    return folder.resolve()


def takes_folder(scene: bpy.types.Scene) -> Path:
    """Where its takes are."""
    return shots_folder(scene) / TAKES


def shot_names(thing: bpy.types.Object) -> dict[str, str]:
    """Names of an object's shots: the final one, its quick preview, and a look at its regions."""
    name = shot_name(thing.bunraku.shot or thing.name)
    return {"FINAL": name, "QUICK": f"{name}-quick", "REGIONS": f"{name}-regions"}


def frame_range(scene: bpy.types.Scene, told: Any) -> range:
    """The frames of the shot."""
    first, last = (told.first, told.last) if told.use_range else (scene.frame_start, scene.frame_end)
    if last <= first:
        raise Refusal(f"the shot has frames {first} to {last}, and needs two at least; try: a later last frame")
    return range(first, last + 1)


def scene_space(scene: bpy.types.Scene) -> Space:
    """Frame rate and unit. Blender keeps both in single precision: 1.001 is meant where it says 1.00100005."""
    render, units = scene.render, scene.unit_settings
    unit = 1.0 if units.system == "NONE" else single(units.scale_length)  # as Blender itself takes it
    return Space(render.fps / single(render.fps_base), unit)


def scene_gravity(scene: bpy.types.Scene) -> tuple[float, float, float]:
    """[m/s²] in a shot's axes: the number that Blender shows, which goes with the scene's unit."""
    if not scene.use_gravity:
        return (0.0, 0.0, 0.0)
    return turned(scene_space(scene).unit * np.array(scene.gravity, dtype=np.float64))


def single(value: float) -> float:
    """The shortest number that single precision rounds to this one."""
    return float(str(np.float32(value)))


def turned(direction: np.ndarray) -> tuple[float, float, float]:
    """Z-up as Y-up."""
    x, y, z = (single(one) for one in direction)
    return (x, z, 0.0 - y)
