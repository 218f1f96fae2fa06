"""What the scenes are built of, inside Blender: everything is made by code."""

# pyright: reportMissingImports=false

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

EXTENSION = "bl_ext.user_default.bunraku"


def scene(folder: Path, frames: tuple[int, int] = (1, 4), *, fps: int = 24, base: float = 1.0) -> Any:
    """An empty scene, saved in the folder."""
    found = bpy.context.scene
    found.frame_start, found.frame_end = frames
    found.render.fps, found.render.fps_base = fps, base
    save(folder)
    return found


def save(folder: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))


def made(name: str, points: Any, faces: Any, *, active: bool = True) -> Any:
    """An object of points and polygons."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(p) for p in points], [], [tuple(f) for f in faces])
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    if active:
        bpy.context.view_layer.objects.active = thing
    return thing


def sheet(name: str = "Flag", squares: int = 4, size: float = 1.0, *, triangles: bool = False, **more: Any) -> Any:
    """A flat grid of squares, or of triangles, about the origin."""
    side = np.linspace(-0.5 * size, 0.5 * size, squares + 1)
    points = [(x, y, 0.0) for y in side for x in side]
    row = squares + 1
    faces = [(k, k + 1, k + row + 1, k + row) for j in range(squares) for k in range(j * row, j * row + squares)]
    if triangles:
        faces = [half for a, b, c, d in faces for half in ((a, b, c), (a, c, d))]
    return made(name, points, faces, **more)


def waved(thing: Any, height: float = 0.1) -> Any:
    """The object under a wave that passes through it."""
    wave = thing.modifiers.new("wave", "WAVE")
    wave.height, wave.width, wave.narrowness, wave.speed, wave.time_offset = height, 0.6, 2.0, 0.1, -10.0
    return thing


def character(bones: int = 3, round_: int = 8, rows: int = 9) -> tuple[Any, Any]:
    """A limb of triangles, 0.9 m high, and the armature that bends it from the scene's first frame on."""
    height, radius = 0.9, 0.12
    around = [2 * math.pi * k / round_ for k in range(round_)]
    points = [
        (radius * math.cos(angle), radius * math.sin(angle), height * j / (rows - 1))
        for j in range(rows)
        for angle in around
    ]
    faces = []
    for j in range(rows - 1):
        for k in range(round_):
            a, b = j * round_ + k, j * round_ + (k + 1) % round_
            faces += [(a, b, b + round_), (a, b + round_, a + round_)]
    body = made("Hero", points, faces)
    armature = bpy.data.armatures.new("Bones")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    before = None
    for k in range(bones):
        bone = armature.edit_bones.new(f"bone{k}")
        bone.head, bone.tail = (0, 0, height * k / bones), (0, 0, height * (k + 1) / bones)
        bone.parent, before = before, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for k in range(bones):
        group = body.vertex_groups.new(name=f"bone{k}")
        for index, (_, _, z) in enumerate(points):
            near = max(0.0, 1.0 - abs(z - height * (k + 0.5) / bones) * bones / height)
            group.add(
                [index],
                near if 0 < near else (1.0 if k in (0, bones - 1) and _end(z, k, bones, height) else 0.0),
                "REPLACE",
            )
    body.modifiers.new("armature", "ARMATURE").object = rig
    first = bpy.context.scene.frame_start
    for frame, angle in ((first, 0.0), (first + 7, 0.9)):
        for k in range(1, bones):
            pose = rig.pose.bones[f"bone{k}"]
            pose.rotation_mode = "XYZ"
            pose.rotation_euler = (angle / bones, 0.0, 0.3 * angle)
            pose.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.objects.active = body
    return body, rig


def _end(z: float, k: int, bones: int, height: float) -> bool:
    return z < 0.5 * height / bones if k == 0 else z > height * (1 - 0.5 / bones)


def curves(thing: Any) -> list[Any]:
    """What is keyed of an object; asked as Blender 4.2 and as later ones have it."""
    action = thing.animation_data.action
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    return [curve for strip in action.layers[0].strips for bag in strip.channelbags for curve in bag.fcurves]


def points(thing: Any, frame: int | None = None) -> np.ndarray:
    """(n, 3) in the world, as the object is shown on a frame."""
    if frame is not None:
        bpy.context.scene.frame_set(frame)
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(shown.matrix_world)
    found = np.array([tuple(vertex.co) for vertex in shown.data.vertices], dtype=np.float64)
    return found @ matrix[:3, :3].T + matrix[:3, 3]


def attribute(thing: Any, name: str, frame: int) -> np.ndarray:
    """(n, …) of a point attribute, as it is shown on a frame."""
    bpy.context.scene.frame_set(frame)
    found = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes[name]
    key = "color" if found.data_type == "FLOAT_COLOR" else "value"
    return np.array([getattr(one, key) for one in found.data], dtype=np.float64)


def run(thing: Any | None = None, **more: Any) -> str:
    """Press Run and wait; what the report area shows, empty where all is well."""
    if thing is not None:
        bpy.context.view_layer.objects.active = thing
    try:
        bpy.ops.bunraku.run(wait=True, **more)
    except RuntimeError as error:  # an operator's report of an error, to scripts
        return str(error)
    return ""


def job() -> Any:
    """The extension's own module of that name."""
    import importlib

    return importlib.import_module(f"{EXTENSION}.job")


def files(folder: Path) -> list[str]:
    """All there is below a folder, but for Blender's own settings and backups."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if one != ".blender"]
        found += [
            str(Path(root, one).relative_to(folder)) for one in (*folders, *names) if not one.startswith("shot.blend")
        ]
    return sorted(found)


def turned(x: float, y: float, z: float) -> Matrix:
    """A rotation by three angles."""
    return Matrix.Rotation(z, 4, "Z") @ Matrix.Rotation(y, 4, "Y") @ Matrix.Rotation(x, 4, "X")


def averages(rest: np.ndarray, faces: np.ndarray, hats: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(k, 3) ∫ φ x over ∫ φ for hats φ given at the vertices (n, k), exact on triangles."""
    a, b, c = (rest[faces[:, k]] for k in range(3))
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    mass = np.zeros((len(rest), len(rest)))
    for i in range(3):
        for j in range(3):
            np.add.at(mass, (faces[:, i], faces[:, j]), areas / (6.0 if i == j else 12.0))
    weights = hats.T @ mass
    return weights @ x / weights.sum(axis=1)[:, None]
