"""Run by Blender's Python: the figure of docs/blender.md, run by the extension, and its pictures.

blender_pictures.py EXTENSION.zip PYTHON_WITH_BUNRAKU FOLDER
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import os
import sys
from pathlib import Path

ZIP, INTERPRETER, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / ".blender")  # nobody's own settings

import bpy  # noqa: E402
from mathutils import Vector  # noqa: E402

EXTENSION = "bl_ext.user_default.bunraku"
SIZE, LENS = (420, 560), 62.0
MIDDLE = 0.87  # [m] of the figure's height
FILE = FOLDER / "walk.blend"


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.extensions.package_install_files(repo="user_default", filepath=ZIP, enable_on_install=True)
    bpy.context.preferences.addons[EXTENSION].preferences.interpreter = INTERPRETER
    try:
        made()
        drawn()
    finally:
        bpy.ops.preferences.addon_disable(module=EXTENSION)


def made() -> None:
    """The steps of the page; what was run before is opened again."""
    if FILE.exists():
        bpy.ops.wm.open_mainfile(filepath=str(FILE))
        return
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24
    bpy.ops.bunraku.add_figure()
    bpy.ops.wm.save_as_mainfile(filepath=str(FILE))
    told = bpy.context.active_object.bunraku
    told.levels, told.scale, told.count, told.rest, told.contact = 1, "COUNT", 80, "POSE", True
    told.material.preset = "vinyl"
    bpy.ops.bunraku.run(way="REGIONS", wait=True)
    bpy.ops.bunraku.run(wait=True)
    bpy.ops.wm.save_mainfile()


def drawn() -> None:
    """Pictures NAME_FRAME.png of guide and result, and of the result in colours."""
    scene, guide = bpy.context.scene, bpy.data.objects["Figure"]
    result = guide.bunraku.result
    setting(scene)
    for frame in (2, 8, 14, 20):
        for name, shown in (("guide", guide), ("result", result)):
            guide.hide_render, result.hide_render = shown != guide, shown != result
            look(scene, frame, f"{name}_{frame}")
    scene.display.shading.color_type = "VERTEX"
    guide.hide_render, result.hide_render = True, False
    for of in ("regions", "force"):
        bpy.context.view_layer.objects.active = result
        bpy.ops.bunraku.colour(of=of)
        look(scene, 14, f"{of}_14")


def setting(scene: bpy.types.Scene) -> None:
    """Workbench, in neutral light."""
    render, shading = scene.render, scene.display.shading
    render.engine, (render.resolution_x, render.resolution_y) = "BLENDER_WORKBENCH", SIZE
    shading.light, shading.show_cavity, shading.cavity_type, shading.show_shadows = "STUDIO", True, "BOTH", True
    scene.display.render_aa, scene.view_settings.view_transform = "16", "Standard"
    scene.world = bpy.data.worlds.new("grey")
    scene.world.color = (0.35, 0.35, 0.35)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.lens = LENS
    scene.collection.objects.link(camera)
    scene.camera = camera


def look(scene: bpy.types.Scene, frame: int, name: str) -> None:
    """The figure on a frame, from before and aside; the camera goes along."""
    scene.frame_set(frame)
    aim = Vector((0.0, bpy.data.objects["Figure rig"].matrix_world.translation.y, MIDDLE))
    scene.camera.location = aim + Vector((2.3, -3.6, 0.45))
    scene.camera.rotation_euler = (aim - scene.camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.render.filepath = str(FOLDER / f"{name}.png")
    bpy.ops.render.render(write_still=True)


main()
