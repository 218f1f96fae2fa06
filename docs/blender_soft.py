"""Run by Blender's Python: Wrinkle, Steer and Plan of docs/blender.md, run by the extension, and their pictures.

blender_soft.py EXTENSION.zip PYTHON_WITH_BUNRAKU FOLDER
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ZIP, INTERPRETER, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / ".blender")  # nobody's own settings

import bpy  # noqa: E402, I001
import bmesh  # noqa: E402
from mathutils import Vector  # noqa: E402

EXTENSION = "bl_ext.user_default.bunraku"
SIZE, LENS = (420, 300), 60.0
BODY, EMPTY = (0.62, 0.85, 1.0, 1.0), (1.0, 0.3, 0.02, 1.0)


def block(name: str, size: tuple[float, float, float], edge: float) -> bpy.types.Object:
    """A box that stands on the ground, of triangles about as long as `edge` [m]."""
    mesh = bmesh.new()
    bmesh.ops.create_cube(mesh, size=1.0)
    for axis in range(3):
        along = [one for one in mesh.edges if abs((one.verts[0].co - one.verts[1].co)[axis]) > 1e-3]
        bmesh.ops.subdivide_edges(mesh, edges=along, cuts=round(size[axis] / edge) - 1, use_grid_fill=True)
    bmesh.ops.triangulate(mesh, faces=mesh.faces[:])
    for vertex in mesh.verts:
        vertex.co = Vector(size[k] * (vertex.co[k] + 0.5 * (k == 2)) for k in range(3))
    data = bpy.data.meshes.new(name)
    mesh.to_mesh(data)
    mesh.free()
    thing = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def hook(thing: bpy.types.Object, name: str, inside: Callable[[Vector], bool]) -> bpy.types.Object:
    """An empty that hooks the points inside of something, seen as a small ball."""
    chosen = [one.index for one in thing.data.vertices if inside(one.co)]
    thing.vertex_groups.new(name=name).add(chosen, 1.0, "REPLACE")
    empty = seen_empty(name, sum((thing.data.vertices[k].co for k in chosen), Vector()) / len(chosen))
    modifier = thing.modifiers.new(name, "HOOK")
    modifier.object, modifier.vertex_group = empty, name
    modifier.matrix_inverse = empty.matrix_world.inverted() @ thing.matrix_world
    return empty


def seen_empty(name: str, place: Vector) -> bpy.types.Object:
    """An empty, which nobody would see in a picture, with a small ball."""
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    empty.location = place
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.014)
    ball = bpy.context.active_object
    ball.parent, ball.color = empty, EMPTY
    bpy.context.view_layer.update()
    return empty


def keyed(empty: bpy.types.Object, frame: int, move: Sequence[float], turn: Sequence[float] = (0, 0, 0)) -> None:
    """The empty moved and turned from where it is, on a frame."""
    place = empty.location.copy()
    empty.location, empty.rotation_euler = place + Vector(move), turn
    empty.keyframe_insert("location", frame=frame)
    empty.keyframe_insert("rotation_euler", frame=frame)
    empty.location = place


def wrinkle() -> tuple[bpy.types.Object, tuple[int, ...], Vector, float]:
    """A cushion of foam under leather, bent and pressed together by two hooks."""
    cushion = block("Cushion", (0.4, 0.2, 0.08), 0.01)
    left = hook(cushion, "left", lambda p: p.x < -0.18)
    right = hook(cushion, "right", lambda p: p.x > 0.18)
    for empty, sign in ((left, 1.0), (right, -1.0)):
        keyed(empty, 1, (0, 0, 0))
        keyed(empty, 10, (0.005 * sign, 0, 0.0), (0, -0.14 * sign, 0))
    told = cushion.bunraku
    told.instrument, told.skin.preset, told.solid.preset = "WRINKLE", "leather", "foam"
    told.use_wavelength, told.wavelength, told.substeps = True, 0.06, 1
    bpy.context.scene.use_gravity = False
    return cushion, (1, 4, 7, 10), Vector((0.0, 0.0, 0.05)), 0.58


def steer() -> tuple[bpy.types.Object, tuple[int, ...], Vector, float]:
    """A ball of jelly that a keyed shape flattens on frame 8, while its middle goes where an empty does."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=0.15)
    ball = bpy.context.active_object
    ball.name = "Ball"
    ball.shape_key_add(name="rest")
    flat = ball.shape_key_add(name="flat")
    for point in flat.data:
        point.co = point.co.x * 1.25, point.co.y * 1.25, point.co.z * 0.6
    for frame, value in ((1, 0.0), (8, 1.0), (15, 0.0)):
        flat.value = value
        flat.keyframe_insert("value", frame=frame)
    way = seen_empty("Way", Vector((0.0, 0.0, 0.0)))
    for frame in range(1, 25):
        u = (frame - 8) / 7
        keyed(way, frame, (0.035 * (frame - 10), 0.0, 0.12 * u * u + 0.1))
    told = ball.bunraku
    told.instrument, told.path, told.edge, told.solid.preset = "STEER", way, 0.05, "jelly"
    return ball, (4, 8, 12, 16), Vector((0.0, 0.0, 0.2)), 1.1


def plan() -> tuple[bpy.types.Object, tuple[int, ...], Vector, float]:
    """A bar of rubber on a foot that is held, whose head is asked to be aside on frame 14."""
    bar = block("Bar", (0.16, 0.16, 0.6), 0.04)
    hook(bar, "foot", lambda p: p.z < 0.01)
    keyed(hook(bar, "head", lambda p: p.z > 0.59), 14, (0.28, 0.0, -0.08), (0.0, 0.7, 0.0))
    told = bar.bunraku
    told.instrument, told.attach, told.edge = "PLAN", True, 0.06
    return bar, (1, 7, 14, 20), Vector((0.06, 0.0, 0.36)), 1.35


def drawn(name: str, make: Callable[[], Any]) -> None:
    """Run it as Run does, and picture the result with its empties."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24 if name != "wrinkle" else 10
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / f"{name}.blend"))
    guide, frames, aim, away = make()
    bpy.context.view_layer.objects.active = guide
    bpy.ops.bunraku.run(wait=True)
    guide.hide_render = True
    result = guide.bunraku.result
    result.color = BODY
    for polygon in result.data.polygons:
        polygon.use_smooth = True
    setting(scene, aim, away)
    for frame in frames:
        scene.frame_set(frame)
        scene.render.filepath = str(FOLDER / f"{name}_{frame}.png")
        bpy.ops.render.render(write_still=True)


def setting(scene: bpy.types.Scene, aim: Vector, away: float) -> None:
    """Workbench, in neutral light; seen from before and a little above."""
    render, shading = scene.render, scene.display.shading
    render.engine, (render.resolution_x, render.resolution_y) = "BLENDER_WORKBENCH", SIZE
    shading.light, shading.show_cavity, shading.cavity_type, shading.color_type = "STUDIO", True, "BOTH", "OBJECT"
    shading.show_xray, shading.xray_alpha = True, 0.85
    scene.display.render_aa, scene.view_settings.view_transform = "16", "Standard"
    scene.world = bpy.data.worlds.new("grey")
    scene.world.color = (0.6, 0.6, 0.6)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.lens, angle = LENS, math.radians(24.0)
    camera.location = aim + away * Vector((0.0, -math.cos(angle), math.sin(angle))) * 1.4
    camera.rotation_euler = (aim - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.extensions.package_install_files(repo="user_default", filepath=ZIP, enable_on_install=True)
    bpy.context.preferences.addons[EXTENSION].preferences.interpreter = INTERPRETER
    try:
        for name, make in (("wrinkle", wrinkle), ("steer", steer), ("plan", plan)):
            drawn(name, make)
    finally:
        bpy.ops.preferences.addon_disable(module=EXTENSION)


main()
