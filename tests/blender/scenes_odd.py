"""Scenes of meshes as artists have them, and of what they paint and place; played inside Blender by `act.py`."""

# pyright: reportMissingImports=false

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import sets


def odd_object(folder: Path) -> dict[str, Any]:
    """Centimetres, a mirrored and stretched object under a parent that moves and turns, a modifier that adds geometry,
    a hexagon, a loose point, texture coordinates; every vertex is directed, so that the result must be the guide."""
    scene = sets.scene(folder, (10, 13), fps=30)
    scene.unit_settings.scale_length, scene.gravity = 0.01, (0.0, 0.0, -981.0)
    ring = [(30 * math.cos(k * math.pi / 3) + 40, 30 * math.sin(k * math.pi / 3), 0.0) for k in range(6)]
    points = [*ring, (70, 30, 20), (70, -30, 20), (40, 0, 90)]  # the last one is loose
    thing = sets.made("Odd.001", points, [(0, 1, 2, 3, 4, 5), (0, 5, 7), (1, 0, 6)])
    layer = thing.data.uv_layers.new(name="map")
    for k, corner in enumerate(layer.uv):
        corner.vector = (0.05 * k, 1.0 - 0.03 * k)
    thing.modifiers.new("mirror", "MIRROR").use_axis[0] = True
    sets.waved(thing, 6.0).modifiers["wave"].width = 40.0
    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    thing.parent = parent
    thing.matrix_parent_inverse = sets.turned(0.2, 0.0, 0.4)
    thing.scale, thing.location = (-1.0, 1.5, 0.8), (12.0, 3.0, 50.0)
    for frame, place in ((10, 0.0), (13, 9.0)):
        parent.location, parent.rotation_euler = (place, 0.0, 2 * place), (0.02 * place, 0.1, 0.05 * place)
        parent.keyframe_insert("location", frame=frame)
        parent.keyframe_insert("rotation_euler", frame=frame)
    thing.bunraku.levels, thing.bunraku.scale = 0, "VERTICES"
    said = sets.run(thing)
    shown = thing.bunraku.result
    gaps = [float(np.abs(sets.points(shown, k) - sets.points(thing, k)).max()) for k in range(10, 14)]
    facts = json.loads(next((folder / "bunraku/takes").glob("*/v001/report.json")).read_text())["facts"]
    there, moved = sets.points(shown, 11), float(np.abs(sets.points(shown, 13) - sets.points(shown, 10)).max())
    scene.unit_settings.scale_length = 1.0
    bpy.ops.bunraku.open_take(directory=str(folder / "bunraku/takes/Odd.001/v001"))
    metres = float(np.abs(sets.points(shown, 11) - 0.01 * there).max())
    scene.unit_settings.system = "NONE"  # which is Blender's metre, whatever the scale says
    scene.unit_settings.scale_length = 0.01
    bpy.ops.bunraku.open_take(directory=str(folder / "bunraku/takes/Odd.001/v001"))
    none = float(np.abs(sets.points(shown, 11) - 0.01 * there).max())
    shot = tomllib.loads((folder / "bunraku/Odd.001.toml").read_text())
    return {
        "metres": [metres, none], "gravity": shot["physics"]["gravity"], "said": said, "gaps": gaps,
        "facts": facts, "span": float(np.ptp(sets.points(thing, 10), axis=0).max()),
        "moved": moved, "counts": _counts(shown),
        "normals": float((_normals(thing, flipped=True) * _normals(shown)).sum(axis=1).min()),
        "area": _area(thing), "uv": _uv(shown) == _uv(thing), "points": len(sets.points(shown)),
    }  # fmt: skip


def _evaluated(thing: Any) -> Any:
    return thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def _counts(thing: Any) -> list[int]:
    return sorted(len(one.vertices) for one in _evaluated(thing).polygons)


def _normals(thing: Any, *, flipped: bool = False) -> np.ndarray:
    """(p, 3) Outward in the world: Blender turns the faces of mirrored objects over as it draws them."""
    x, sign = sets.points(thing), -1.0 if flipped else 1.0
    found = []
    for polygon in _evaluated(thing).polygons:
        a, b, c = (x[polygon.vertices[k]] for k in range(3))
        found.append(sign * np.cross(b - a, c - a))
    array = np.array(found)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def _area(thing: Any) -> float:
    """Of the evaluated mesh in the world on the first frame [units²]."""
    x, total = sets.points(thing, bpy.context.scene.frame_start), 0.0
    for polygon in _evaluated(thing).polygons:
        corner = x[list(polygon.vertices)]
        for k in range(1, len(corner) - 1):
            total += 0.5 * float(np.linalg.norm(np.cross(corner[k] - corner[0], corner[k + 1] - corner[0])))
    return total


def _uv(thing: Any) -> list[Any]:
    """Texture coordinates of every corner, by polygon and vertex."""
    mesh = _evaluated(thing)
    layer = mesh.uv_layers.active.uv
    return sorted(
        (p.index, mesh.loops[k].vertex_index, *(round(c, 5) for c in layer[k].vector))
        for p in mesh.polygons for k in p.loop_indices
    )  # fmt: skip


def painted(folder: Path, *, by: str) -> dict[str, Any]:
    """A waving sheet of which two parts are painted as regions and the rest is free."""
    sets.scene(folder, (1, 3))
    flag = sets.waved(sets.sheet(squares=6, triangles=True))
    x = np.array([tuple(v.co) for v in flag.data.vertices])
    parts = {"region.left": np.flatnonzero(x[:, 0] < -0.3), "region.right": np.flatnonzero(x[:, 0] > 0.45)}
    for name, own in parts.items():
        flag.vertex_groups.new(name=name).add([int(k) for k in own], 1.0, "REPLACE")
    flag.vertex_groups.new(name="other").add(list(range(len(x))), 1.0, "REPLACE")
    if by == "POINT":
        found = flag.data.attributes.new("zones", "INT", "POINT")
        labels = np.full(len(x), -1)
        labels[parts["region.left"]], labels[parts["region.right"]] = 4, 8
        found.data.foreach_set("value", labels)
    if by == "FACE":  # a vertex is in the region that most of its faces are in: those with all of them, at least
        found = flag.data.attributes.new("zones", "INT", "FACE")
        side = np.array([np.sign(polygon.center.x) * (abs(polygon.center.x) > 0.3) for polygon in flag.data.polygons])
        found.data.foreach_set("value", np.select([side < 0, side > 0], [4, 8], -1))
        parts = {
            name: np.array(
                [k for k in range(len(x)) if all(side[p.index] == s for p in flag.data.polygons if k in p.vertices)]
            )
            for name, s in (("left", -1), ("right", 1))
        }
    told = flag.bunraku
    told.scale = "GROUPS" if by == "GROUPS" else "ATTRIBUTE"
    told.prefix, told.attribute, told.levels = "region", "zones", 0
    said = sets.run(flag)
    shown, first = told.result, {name: own.tolist() for name, own in parts.items()}
    force = sets.attribute(shown, "bunraku_force", 3)
    colour = [sets.attribute(shown, "bunraku_force_colour", k)[:, :3] for k in (1, 2, 3)]
    shown.modifiers.new("mine", "SOLIDIFY").show_viewport = False
    bpy.ops.bunraku.colour(of="residual")
    return {
        "said": said, "parts": first, "force": force.tolist(), "first": colour[0].tolist(), "last": colour[2].tolist(),
        "averages": [_apart(flag, shown, parts, k) for k in (1, 2, 3)],
        "active": shown.data.color_attributes.active_color.name, "seen": _seen(shown, "residual", 3),
        "regions": json.loads((folder / "bunraku/takes/Flag/v001/report.json").read_text())["facts"]["regions"],
    }  # fmt: skip


def _seen(shown: Any, of: str, frame: int) -> list[Any]:
    """How far the colours that Blender shows are from what is meant and from others, and the order of the modifiers."""
    name = _evaluated(shown).color_attributes.active_color_name
    seen, meant = sets.attribute(shown, name, frame), sets.attribute(shown, f"bunraku_{of}_colour", frame)
    other = sets.attribute(shown, "bunraku_regions_colour", frame)
    away = [float(np.abs(seen - one).max()) for one in (meant, other)]
    return [*away, [one.type for one in shown.modifiers]]


def _apart(guide: Any, shell: Any, parts: dict[str, np.ndarray], frame: int) -> float:
    """[m] How far the averages of guide and shell over the parts are apart."""
    faces = np.array([tuple(polygon.vertices) for polygon in guide.data.polygons])
    rest, inside = sets.points(guide, 1), np.zeros((len(guide.data.vertices), len(parts)))
    for k, own in enumerate(parts.values()):
        inside[own, k] = 1.0
    away = sets.points(shell, frame) - sets.points(guide, frame)
    return float(np.linalg.norm(sets.averages(rest, faces, inside, away), axis=1).max())


def from_caches(folder: Path) -> dict[str, Any]:
    """Guides that Blender plays from a USD and from an Alembic file, and one that its cloth simulates; every vertex
    is directed, so that the results must be the guides."""
    sets.scene(folder, (1, 4))
    flag = sets.waved(sets.sheet(squares=3, triangles=True))
    flag.select_set(True)
    usd, abc = str(folder / "flag.usdc"), str(folder / "flag.abc")
    bpy.ops.wm.usd_export(filepath=usd, export_animation=True, selected_objects_only=True)
    bpy.ops.wm.alembic_export(filepath=abc, start=1, end=4, selected=True, as_background_job=False)
    bpy.data.objects.remove(flag)
    found: dict[str, Any] = {}
    for name, load, file in (("usd", bpy.ops.wm.usd_import, usd), ("abc", bpy.ops.wm.alembic_import, abc)):
        before = set(bpy.data.objects)
        load(filepath=file)
        (thing,) = (one for one in bpy.data.objects if one not in before and one.type == "MESH")
        found[name] = _followed(thing)
    cloth = sets.sheet("Cloth", squares=3, triangles=True)
    cloth.modifiers.new("cloth", "CLOTH")
    return found | {"cloth": _followed(cloth)}


def _followed(guide: Any) -> list[float]:
    """[m] How far the result is from its guide at most, and how far that moves; frame by frame, as cloth needs it."""
    there = [sets.points(guide, k) for k in range(1, 5)]
    guide.bunraku.levels = 0
    assert sets.run(guide) == ""
    gaps = [float(np.abs(sets.points(guide.bunraku.result, k + 1) - there[k]).max()) for k in range(4)]
    return [max(gaps), float(np.abs(there[3] - there[0]).max())]


def simulated_since_before(folder: Path, *, rest: str) -> dict[str, Any]:
    """A cloth that Blender simulates from frame 1 on is the guide from frame 8 on, while the scene is on frame 1; an
    armature holds it, whose rest position is asked for."""
    scene = sets.scene(folder, (1, 11))
    cloth = sets.sheet("Cloth", squares=3, triangles=True)
    armature = bpy.data.armatures.new("Bones")
    rig = bpy.data.objects.new("Rig", armature)
    scene.collection.objects.link(rig)
    cloth.modifiers.new("armature", "ARMATURE").object = rig
    cloth.vertex_groups.new(name="held").add([0, 1, 2, 3], 1.0, "REPLACE")
    cloth.modifiers.new("cloth", "CLOTH").settings.vertex_group_mass = "held"
    told = cloth.bunraku
    told.use_range, told.first, told.last, told.rest, told.levels = True, 8, 11, rest, 0
    scene.frame_set(1)
    said = sets.run(cloth)
    shown, frame = told.result, scene.frame_current
    there = {k: sets.points(cloth, k) for k in range(1, 12)}  # as it is played
    return {
        "said": said, "frame": frame, "fell": float(np.abs(there[8] - there[1]).max()),
        "gaps": [float(np.abs(sets.points(shown, k) - there[k]).max()) for k in range(8, 12)],
    }  # fmt: skip


def out_of_sight(folder: Path) -> dict[str, Any]:
    """A guide that is hidden as an artist hides it to look at the result, one in edit mode with a point just moved, one
    in a collection that is switched off; its name has a letter that USD has not."""
    scene = sets.scene(folder, (1, 3))
    flag = sets.waved(sets.sheet("Fähnchen", squares=2))
    flag.modifiers.new("fine", "SUBSURF").levels = 1
    flag.bunraku.levels = 0
    there = [sets.points(flag, k) for k in (1, 2, 3)]
    found: dict[str, Any] = {"gaps": []}
    for hide in ("eye", "screen"):
        flag.hide_set(hide == "eye")
        flag.hide_viewport = hide == "screen"
        found[hide] = [sets.run(flag), flag.hide_get(), flag.hide_viewport]
        gaps = [np.abs(sets.points(flag.bunraku.result, k + 1) - there[k]).max() for k in range(3)]
        found["gaps"].append(float(max(gaps)))
    flag.hide_viewport = False
    found["result"] = flag.bunraku.result.name
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(flag.data)
    edited.verts.ensure_lookup_table()
    edited.verts[0].co.z += 0.5
    found["edit"], found["mode"] = sets.run(flag), bpy.context.mode
    found["lifted"] = float((sets.points(flag.bunraku.result, 1) - there[0])[:, 2].max())
    bpy.ops.object.mode_set(mode="OBJECT")
    box = bpy.data.collections.new("Box")
    scene.collection.children.link(box)
    box.objects.link(flag)
    scene.collection.objects.unlink(flag)
    bpy.context.view_layer.layer_collection.children["Box"].hide_viewport = True
    return found | {"collection": sets.run(flag)}


def in_the_way(folder: Path) -> dict[str, Any]:
    """A sheet that is free falls on a ball that comes up; a gusting wind field; a finer mesh of its own; a preroll."""
    scene = sets.scene(folder, (1, 6))
    flag = sets.sheet(squares=2)
    flag.location.z = 0.35
    flag.keyframe_insert("location", frame=1)
    flag.location.x = 0.02
    flag.keyframe_insert("location", frame=6)
    fine = sets.sheet("Fine", squares=10, active=False)
    fine.location.z = 0.35
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.3, location=(0, 0, 0))
    ball = bpy.context.active_object
    ball.name = "Ball"
    ball.keyframe_insert("location", frame=1)
    ball.location.z = 0.15
    ball.keyframe_insert("location", frame=6)
    group = bpy.data.collections.new("Set")
    scene.collection.children.link(group)
    group.objects.link(ball)
    for k, name in enumerate(("Wall 1", "Wall.1")):  # one name to USD
        wall = sets.sheet(name, squares=1, active=False)
        wall.location.x = 3.0 + k
        group.objects.link(wall)
    bpy.ops.object.effector_add(type="WIND", rotation=(math.pi / 2, 0, 0))  # its Z axis along −Y
    wind = bpy.context.active_object
    wind.field.noise, wind.field.seed = 2.0, 5
    for frame, strength in ((1, 2.0), (6, 4.0)):
        wind.field.strength = strength
        wind.field.keyframe_insert("strength", frame=frame)
    for curve in sets.curves(wind):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    told = flag.bunraku
    told.use_shell, told.shell, told.levels, told.scale, told.strength = True, fine, 0, "COUNT", 0.0
    told.count, told.contact, told.obstacles, told.wind = 2, True, group, True
    told.use_thickness, told.thickness = True, 0.004
    said = sets.run(flag)
    shown = told.result
    nearest = [_nearest(shown, ball, k) for k in range(1, 7)]
    shot = tomllib.loads((folder / "bunraku/Flag.toml").read_text())
    return {
        "said": said, "nearest": nearest, "shot": shot, "points": len(sets.points(shown, 6)),
        "low": float(sets.points(shown, 6)[:, 2].min()),
        "inputs": sorted(one.name for one in (folder / "bunraku/inputs").iterdir()),
    }  # fmt: skip


def _nearest(sheet: Any, ball: Any, frame: int) -> float:
    """[m] From the sheet's points to the ball's faces, outside positive."""
    from mathutils.bvhtree import BVHTree

    x = sets.points(sheet, frame)
    tree = BVHTree.FromPolygons(sets.points(ball, frame).tolist(), [tuple(p.vertices) for p in ball.data.polygons])
    found = []
    for point in x.tolist():
        place, normal, _, far = tree.find_nearest(point)
        found.append(math.copysign(far, float(np.dot(np.array(point) - np.array(place), np.array(normal)))))
    return min(found)
