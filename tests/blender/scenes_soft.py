"""Scenes of soft bodies: Wrinkle, Steer and Plan, played inside Blender by `act.py`."""

# pyright: reportMissingImports=false

from __future__ import annotations

import json
import math
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import sets


def _block(name: str, size: tuple[float, float, float], cuts: tuple[int, int, int]) -> Any:
    """A box of triangles that stands on the ground, cut into even pieces."""
    points: dict[tuple[int, int, int], int] = {}
    faces = []

    def at(place: tuple[int, int, int]) -> int:
        return points.setdefault(place, len(points))

    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, cuts[axis]):
            for i in range(cuts[u]):
                for j in range(cuts[v]):
                    corners = []
                    for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                        place = [0, 0, 0]
                        place[axis], place[u], place[v] = side, a, b
                        corners.append(at((place[0], place[1], place[2])))
                    corners = corners if side else corners[::-1]
                    faces += [(corners[0], corners[1], corners[2]), (corners[0], corners[2], corners[3])]
    share = [tuple(size[k] * (p[k] / cuts[k] - (0.5 if k < 2 else 0.0)) for k in range(3)) for p in points]
    return sets.made(name, share, faces)


def _hooked(thing: Any, name: str, chosen: np.ndarray, keys: dict[int, dict[str, Any]], *, grouped: bool = True) -> Any:
    """An empty that hooks points of an object, keyed on some frames; without a group they are named in the hook, as
    Ctrl-H does."""
    thing.vertex_groups.new(name=name).add([int(k) for k in chosen], 1.0, "REPLACE")
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    middle = sets.points(thing)[chosen].mean(axis=0)
    empty.location = middle
    bpy.context.view_layer.update()
    hook = thing.modifiers.new(name, "HOOK")
    hook.object, hook.vertex_group = empty, name if grouped else ""
    if not grouped:
        hook.vertex_indices_set([int(k) for k in chosen])
    hook.matrix_inverse = empty.matrix_world.inverted() @ thing.matrix_world
    for frame, told in keys.items():
        empty.location = middle + np.array(told.get("move", (0.0, 0.0, 0.0)))
        empty.rotation_euler = told.get("turn", (0.0, 0.0, 0.0))
        empty.keyframe_insert("location", frame=frame)
        empty.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    return empty


def wrinkled(folder: Path) -> dict[str, Any]:
    """A cushion of foam under leather is pressed together by hooks at its ends, one of which turns."""
    sets.scene(folder, (1, 4))
    cushion = _block("Cushion", (0.4, 0.2, 0.1), (10, 5, 3))
    x = sets.points(cushion)[:, 0]
    ends = {"left": np.flatnonzero(x < -0.19), "right": np.flatnonzero(x > 0.19)}
    _hooked(cushion, "left", ends["left"], {1: {}, 4: {"move": (0.03, 0.0, 0.0), "turn": (0.3, 0.0, 0.0)}})
    _hooked(cushion, "right", ends["right"], {}, grouped=False)
    told = cushion.bunraku
    told.instrument, told.skin.preset, told.solid.preset = "WRINKLE", "leather", "foam"
    told.skin.use_thickness, told.skin.thickness, told.cell = True, 0.002, 0.06
    bpy.context.scene.use_gravity = False
    said = sets.run(cushion)
    shown = told.result
    guide, skin = sets.points(cushion, 4), sets.points(shown, 4)
    return {
        "said": said, "gaps": {name: float(np.abs(guide[own] - skin[own]).max()) for name, own in ends.items()},
        "between": float(np.abs(skin - guide)[(np.abs(x) < 0.1)].max()),
        "shot": (folder / "bunraku/Cushion.toml").read_text(),
    }  # fmt: skip


def pressed(folder: Path) -> dict[str, Any]:
    """A cushion whose animation makes it shorter by a tenth: only its skin is simulated."""
    sets.scene(folder, (1, 4))
    cushion = _block("Cushion", (0.4, 0.2, 0.1), (24, 12, 4))
    cushion.shape_key_add(name="rest")
    short = cushion.shape_key_add(name="short")
    for point in short.data:
        point.co.x *= 0.9
    for frame, value in ((1, 0.0), (4, 1.0)):
        short.value = value
        short.keyframe_insert("value", frame=frame)
    told = cushion.bunraku
    told.instrument, told.moved_by, told.skin.preset, told.solid.preset = "WRINKLE", "ANIMATION", "leather", "foam"
    told.use_wavelength, told.wavelength, told.substeps = True, 0.08, 1
    said = sets.run(cushion)
    away = [float(np.abs(sets.points(told.result, k) - sets.points(cushion, k)).max()) for k in (1, 4)]
    return {"said": said, "away": away, "shot": (folder / "bunraku/Cushion.toml").read_text()}


def along_a_curve(folder: Path) -> dict[str, Any]:
    """A path that is a curve, bent at a right angle, on a moved and scaled object: gone along evenly."""
    sets.scene(folder, (1, 5))
    line = bpy.data.curves.new("Way", "CURVE")
    line.dimensions = "3D"
    spline = line.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, ((0, 0, 0), (1, 0, 0), (1, 0, 1)), strict=True):
        point.co = (*place, 1.0)
    way = bpy.data.objects.new("Way", line)
    bpy.context.scene.collection.objects.link(way)
    way.location, way.scale = (0.0, 3.0, 0.0), (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    module = import_module(f"{sets.EXTENSION}.way")
    record = module.WayRecord(way, turning=True)
    record.note(bpy.context.evaluated_depsgraph_get())
    rows = record.rows(range(1, 6), 0.01)
    line.bevel_depth = 0.1
    bpy.context.view_layer.update()
    try:
        module.WayRecord(way, turning=False).note(bpy.context.evaluated_depsgraph_get())
        said = ""
    except Exception as refusal:
        said = str(refusal)
    return {"rows": rows, "said": said}


def steered(folder: Path) -> dict[str, Any]:
    """A jelly ball is flat by a shape key on frame 4 and tall by a posed duplicate on frame 6, on an empty's path."""
    scene = sets.scene(folder, (1, 7))
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.2)
    ball = bpy.context.active_object
    ball.name = "Ball"
    ball.shape_key_add(name="rest")
    flat = ball.shape_key_add(name="flat")
    for point in flat.data:
        point.co.z *= 0.7
    for frame, value in ((1, 0.0), (4, 1.0)):
        flat.value = value
        flat.keyframe_insert("value", frame=frame)
    duplicate = bpy.data.objects.new("Tall", ball.data.copy())
    duplicate.shape_key_clear()
    for vertex in duplicate.data.vertices:
        vertex.co.z *= 1.3
    poses = bpy.data.collections.new("Poses")
    scene.collection.children.link(poses)
    poses.objects.link(duplicate)
    duplicate.bunraku.pose_frame = 6
    empty = bpy.data.objects.new("Way", None)
    scene.collection.objects.link(empty)
    for frame, place in ((1, (0.0, 0.0, 1.0)), (7, (0.3, 0.1, 1.2))):
        empty.location = place
        empty.rotation_euler = (0.0, 0.0, 0.1 * frame)
        empty.keyframe_insert("location", frame=frame)
        empty.keyframe_insert("rotation_euler", frame=frame)
    told = ball.bunraku
    told.instrument, told.poses, told.path, told.turning, told.edge = "STEER", poses, empty, True, 0.12
    told.solid.preset = "jelly"
    bpy.context.view_layer.objects.active = ball
    said = sets.run(ball)
    away = []
    for frame in range(1, 8):
        middle = _middle(told.result, frame)
        away.append(float(np.abs(middle - np.array(empty.matrix_world.translation)).max()))
    heights = [float(np.ptp(sets.points(told.result, k)[:, 2])) for k in range(1, 8)]
    report = json.loads((folder / "bunraku/takes/Ball/v001/report.json").read_text())
    return {
        "said": said, "away": away, "heights": heights, "residual": max(report["per_frame"]["residual_m"]),
        "shot": (folder / "bunraku/Ball.toml").read_text(), "inputs": len(list((folder / "bunraku/inputs").iterdir())),
    }  # fmt: skip


def _middle(thing: Any, frame: int) -> np.ndarray:
    """(3,) of the volume inside."""
    x = sets.points(thing, frame)
    mesh = bmesh.new()
    mesh.from_mesh(thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
    bmesh.ops.triangulate(mesh, faces=mesh.faces[:])
    corners = np.array([x[[v.index for v in face.verts]] for face in mesh.faces])
    mesh.free()
    volumes = np.linalg.det(corners) / 6.0
    return (volumes[:, None] * corners.sum(axis=1) / 4.0).sum(axis=0) / volumes.sum()


def planned(folder: Path) -> dict[str, Any]:
    """A bar on a foot that is held; its head is asked to be aside and turned on frame 9."""
    sets.scene(folder, (1, 17))
    bar = _block("Bar", (0.2, 0.2, 0.8), (2, 2, 8))
    rest = sets.points(bar)
    z = rest[:, 2]
    parts = {"foot": np.flatnonzero(z < 0.01), "head": np.flatnonzero(z > 0.79)}
    _hooked(bar, "foot", parts["foot"], {})
    _hooked(bar, "head", parts["head"], {9: {"move": (0.15, 0.0, -0.02), "turn": (0.0, 0.3, 0.5)}})
    told = bar.bunraku
    told.instrument, told.solid.use_young, told.solid.young, told.edge = "PLAN", True, 1e5, 0.12
    told.attach, told.exact = True, True
    said = sets.run(bar)  # the head's empty is keyed on one frame only, and so it stands there on all
    shown = told.result
    asked = sets.points(bar, 9)
    there, first, last = (sets.points(shown, k) for k in (9, 1, 17))
    return {
        "said": said, "head": float(np.abs(there - asked)[parts["head"]].max()),
        "asked": float(np.abs(asked - rest)[parts["head"]].max()),
        "foot": float(max(np.abs(x - rest)[parts["foot"]].max() for x in (first, there, last))),
        "ends": float(max(np.abs(x - rest).max() for x in (first, last))), "nan": math.isnan(float(there.sum())),
        "shot": (folder / "bunraku/Bar.toml").read_text(),
        "hooks": [one.show_viewport for one in bar.modifiers],
    }  # fmt: skip


def thrown(folder: Path) -> dict[str, Any]:
    """A block whose top goes by an empty that is keyed on two frames and moves on both; centimetres at 23.976 frames/s,
    from frame 1001 on."""
    scene = sets.scene(folder, (1001, 1009), fps=24, base=1.001)
    scene.unit_settings.scale_length, scene.use_gravity = 0.01, False
    block = _block("Block", (20.0, 20.0, 40.0), (2, 2, 4))
    top = np.flatnonzero(sets.points(block)[:, 2] > 39.0)
    keys = {1003: {"move": (0.0, 0.0, 0.0)}, 1007: {"move": (4.0, 8.0, 0.0)}}
    empty = _hooked(block, "top", top, keys)
    for curve in sets.curves(empty):
        curve.extrapolation = "LINEAR"
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    told = block.bunraku
    told.instrument, told.velocities, told.exact, told.free, told.edge = "PLAN", True, True, True, 0.1
    said = sets.run(block)
    place = [sets.points(told.result, frame)[top].mean(axis=0) for frame in (1002, 1003, 1004)]
    return {
        "said": said, "keys": tomllib.loads((folder / "bunraku/Block.toml").read_text())["object"]["Block"]["keys"],
        "went": ((place[2] - place[0]) / 2).tolist(),
    }  # fmt: skip


def _astray(bar: Any) -> dict[str, Any]:
    """Only keys behind the shot, and a foot that is carried off by its parent."""
    z = sets.points(bar)[:, 2]
    _hooked(bar, "late", np.flatnonzero(z > 0.79), {30: {"move": (0.1, 0.0, 0.0)}, 40: {}})
    found = {"late": sets.run(bar)}
    bar.modifiers.clear()
    _hooked(bar, "top", np.flatnonzero(z > 0.79), {4: {"move": (0.1, 0.0, 0.0)}})
    foot, carrier = _hooked(bar, "foot", np.flatnonzero(z < 0.01), {}), bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    foot.parent = carrier
    for frame in (3, 5):
        carrier.location.x = 0.1 * (frame - 3)
        carrier.keyframe_insert("location", frame=frame)
    for instrument in ("PLAN", "STEER"):
        bar.bunraku.instrument = instrument
        found[f"carried {instrument}"] = sets.run(bar)
    bar.modifiers.clear()
    return found


def hopeless(folder: Path) -> dict[str, Any]:
    """A plan without keys, one whose only keys lie behind the shot, one whose foot is carried off, a hook of indices on
    a mesh that modifiers change, a pose of another mesh, and two poses on one frame."""
    sets.scene(folder, (1, 5))
    bar = _block("Bar", (0.2, 0.2, 0.8), (1, 1, 2))
    bar.bunraku.instrument = "PLAN"
    found: dict[str, Any] = {"keys": sets.run(bar)}
    empty = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(empty)
    hook = bar.modifiers.new("hand", "HOOK")
    hook.object = empty
    hook.vertex_indices_set([0, 1])
    bar.modifiers.new("smooth", "SUBSURF")
    found["indices"] = sets.run(bar)
    bar.modifiers.clear()
    found |= _astray(bar)
    bar.bunraku.instrument, poses = "STEER", bpy.data.collections.new("Poses")
    bpy.context.scene.collection.children.link(poses)
    bar.bunraku.poses = poses
    other = sets.sheet("Other", active=False)
    poses.objects.link(other)
    found["pose"] = sets.run(bar)
    poses.objects.unlink(other)
    for name in ("Low", "High"):  # both on the frame that new duplicates have
        duplicate = bpy.data.objects.new(name, bar.data.copy())
        poses.objects.link(duplicate)
    found["poses"] = sets.run(bar)
    found["files"] = [one for one in sets.files(folder) if one.startswith("bunraku")]
    open_one = sets.sheet("Open")
    open_one.bunraku.instrument = "WRINKLE"
    found["open"] = sets.run(open_one)
    return found
