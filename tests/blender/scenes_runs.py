"""Scenes of runs: called off, made again, failing; played inside Blender by `act.py`."""

# pyright: reportMissingImports=false

from __future__ import annotations

import shutil
import time
import zipfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import sets


def called_off(folder: Path, *, after: int) -> dict[str, Any]:
    """A run is cancelled when so many frames are made; an earlier take of the same object is there already."""
    scene = sets.scene(folder, (1, 3))
    flag = sets.waved(sets.sheet())
    flag.bunraku.levels = 1
    sets.run(flag)
    before, earlier, toml = sets.files(folder), flag.bunraku.result.bunraku_result.take, _shot(folder)
    scene.frame_end, flag.bunraku.levels = 200, 3
    job = sets.job()
    bpy.ops.bunraku.run()
    run = job.current.run
    during = []
    while job.tick() is not None and run.progress.done < after:
        during.append(run.progress.text)
        time.sleep(0.05)
    refused = sets.run(flag)  # a second one meanwhile: its button is not even there
    bpy.ops.bunraku.cancel()
    begun = time.monotonic()
    while job.tick() is not None:
        time.sleep(0.05)
    return {
        "before": before, "after": sets.files(folder), "how": job.last.how, "lines": job.last.lines, "during": during,
        "seconds": time.monotonic() - begun, "gone": run._process.poll() is not None, "talk": run._talk.exists(),
        "shown": flag.bunraku.result.bunraku_result.take == earlier, "toml": _shot(folder) == toml, "refused": refused,
        "made": run.progress.done,
    }  # fmt: skip


def _shot(folder: Path) -> str:
    return (folder / "bunraku/Flag.toml").read_text()


def made_and_saved(folder: Path) -> dict[str, Any]:
    """An object with settings of every kind is run, and the .blend saved."""
    sets.scene(folder, (1, 4), fps=25)
    flag = sets.waved(sets.sheet())
    told = flag.bunraku
    told.scale, told.metres, told.levels, told.seed, told.strength = "METRES", 0.4, 2, 3, 0.9
    told.material.preset, told.material.use_young, told.material.young = "denim", True, 3e5
    told.substeps, told.contact, told.friction = 3, True, 0.25
    group = flag.vertex_groups.new(name="hem")
    group.add([0, 1, 2, 3, 4], 1.0, "REPLACE")
    told.pinned, told.pin_to = "hem", "start"
    said = sets.run(flag)
    sets.save(folder)
    return {"said": said}


def opened_and_made_again(folder: Path) -> dict[str, Any]:
    """The saved .blend is opened by another Blender and run again; both takes can be shown."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / "shot.blend"))
    flag = bpy.data.objects["Flag"]
    shown = flag.bunraku.result
    loaded = sets.points(shown, 4)
    said = sets.run(flag)
    return {
        "said": said, "same_object": flag.bunraku.result == shown, "take": shown.bunraku_result.take,
        "objects": len(bpy.data.objects), "caches": [one.filepath for one in bpy.data.cache_files],
        "moved": float(np.abs(sets.points(shown, 4) - loaded).max()),
    }  # fmt: skip


def versions(folder: Path) -> dict[str, Any]:
    """Two takes of different meshes; the older one is chosen again, undone, and another's folder is opened."""
    sets.scene(folder, (1, 3))
    flag = sets.waved(sets.sheet())
    flag.data.materials.append(bpy.data.materials.new("Red"))
    flag.data.materials.append(bpy.data.materials.new("Blue"))
    flag.data.polygons[3].material_index = 1
    counts = []
    for levels in (1, 2):
        flag.bunraku.levels = levels
        sets.run(flag)
        shown = flag.bunraku.result
        shown.modifiers.new("mine", "SOLIDIFY") if levels == 1 else None
        counts.append(len(shown.data.vertices))
    material = [one.material_index for one in shown.data.polygons]
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.bunraku.show_take(take="Flag/v001")
    bpy.ops.ed.undo_push(message="shown")
    shown = bpy.data.objects["Flag"].bunraku.result
    chosen = [shown.bunraku_result.take, len(shown.data.vertices), len(sets.points(shown, 2))]
    bpy.ops.ed.undo()
    shown = bpy.data.objects["Flag"].bunraku.result
    undone = [shown.bunraku_result.take, len(shown.data.vertices)]
    from importlib import import_module

    takes = import_module(f"{sets.EXTENSION}.bridge").versions(folder / "bunraku/takes", ["Flag", "Flag-quick"])
    bpy.context.view_layer.objects.active = shown  # the result stands for its guide
    bpy.ops.bunraku.open_take(directory=str(folder / "bunraku/takes/Flag/v001"))
    return {
        "counts": counts, "chosen": chosen, "undone": undone, "takes": takes,
        "modifiers": [one.type for one in shown.modifiers],
        "materials": [slot.material.name for slot in shown.material_slots], "blue": sum(material),
        "opened": shown.bunraku_result.take,
    }  # fmt: skip


def sent_to_a_farm(folder: Path, *, opened: bool = False) -> dict[str, Any]:
    """A shot is run here, and the run undone; later the take of another machine is opened, of which Blender knows
    nothing."""
    if opened:
        bpy.ops.wm.open_mainfile(filepath=str(folder / "shot.blend"))
        flag = bpy.data.objects["Flag"]
        before = flag.bunraku.result
        bpy.context.view_layer.objects.active = flag
        bpy.ops.bunraku.open_take(directory=str(folder / "farm/takes/Flag/v001"))
        shown = flag.bunraku.result
        gap = float(np.abs(sets.points(shown, 3) - sets.points(flag, 3)).max())
        return {"before": before, "file": shown.modifiers[0].cache_file.filepath, "gap": gap}
    sets.scene(folder, (1, 3))
    flag = sets.waved(sets.sheet())
    flag.bunraku.levels = 0
    bpy.ops.ed.undo_push(message="before the run")
    found: dict[str, Any] = {"said": sets.run(flag), "shown": flag.bunraku.result.name}
    bpy.ops.ed.undo()
    flag = bpy.data.objects["Flag"]
    found |= {"undone": flag.bunraku.result, "objects": len(bpy.data.objects), "levels": flag.bunraku.levels}
    sets.save(folder)
    bpy.ops.ed.redo()
    flag = bpy.data.objects["Flag"]
    return found | {"redone": flag.bunraku.result.name, "points": len(sets.points(flag.bunraku.result, 2))}


def refused(folder: Path) -> dict[str, Any]:
    """What cannot work is said in a sentence: by Blender's side, and by bunraku."""
    job = sets.job()
    flag = sets.waved(sets.sheet())
    found: dict[str, Any] = {"unsaved": sets.run(flag)}
    sets.scene(folder, (1, 3))
    told = flag.bunraku
    told.scale = "GROUPS"
    found["groups"] = sets.run(flag)
    flag.vertex_groups.new(name="region").add([0, 1], 0.5, "REPLACE")
    found["faint"] = sets.run(flag)
    zones = flag.data.attributes.new("zones", "INT", "POINT")
    zones.data.foreach_set("value", [2 * (vertex.co.x > 0.1) for vertex in flag.data.vertices])
    told.scale, told.attribute = "ATTRIBUTE", "zones"
    fine = flag.modifiers.new("fine", "SUBSURF")
    found["mixed"] = sets.run(flag)
    flag.modifiers.remove(fine)
    told.scale, told.count = "COUNT", 5000
    found["bunraku"] = sets.run(flag)
    found["panel"] = list(job.last.lines)
    told.count = 4
    preferences = bpy.context.preferences.addons[sets.EXTENSION].preferences
    program, preferences.interpreter = preferences.interpreter, "/nowhere/python"
    found["interpreter"] = sets.run(flag)
    import sys

    preferences.interpreter = sys.executable  # a Python, but without bunraku
    found["without"] = sets.run(flag)
    preferences.interpreter = program
    build = flag.modifiers.new("build", "BUILD")
    build.frame_start, build.frame_duration = -2, 10
    found["changing"] = sets.run(flag)
    flag.modifiers.remove(build)
    triangles = flag.modifiers.new("triangles", "TRIANGULATE")
    triangles.quad_method = "SHORTEST_DIAGONAL"
    flag.shape_key_add()
    moved = flag.shape_key_add(name="moved")
    moved.slider_min = -1.0
    moved.data[6].co.x += 0.1
    moved.data[6].co.y += 0.1
    for frame, value in ((1, -1.0), (2, 1.0)):
        moved.value = value
        moved.keyframe_insert("value", frame=frame)
    found["faces"] = sets.run(flag)
    flag.modifiers.remove(triangles)
    flag.shape_key_clear()
    told_of = bpy.context.scene.bunraku
    told_of.folder = ""
    found["folder"] = sets.run(flag)
    told_of.folder = "//bunraku"
    preferences.source = str(folder)
    found["offline"] = _install()
    found["objects"] = len(bpy.data.objects)
    found["files"] = [one for one in sets.files(folder) if "takes" in one]
    return found


def _install() -> str:
    try:
        bpy.ops.bunraku.install(wait=True)
    except RuntimeError as error:
        return str(error)
    return ""


def quick(folder: Path) -> dict[str, Any]:
    """A look at the regions of settings with contact, a quick preview, and then the final."""
    sets.scene(folder, (1, 3))
    flag = sets.waved(sets.sheet())
    flag.bunraku.levels, flag.bunraku.contact, flag.bunraku.scale, flag.bunraku.count = 1, True, "COUNT", 5
    said = [sets.run(flag, way="REGIONS")]
    shown = flag.bunraku.result
    regions = [shown.data.color_attributes.active_color.name, shown.bunraku_result.take]
    labels, colours = sets.attribute(shown, "bunraku_regions", 1), sets.attribute(shown, "bunraku_regions_colour", 2)
    said.append(sets.run(flag, way="QUICK"))
    first = flag.bunraku.result.bunraku_result.take
    said.append(sets.run(flag))
    return {
        "labels": sorted(set(labels.tolist())), "colours": len(np.unique(colours, axis=0)), "regions": regions,
        "said": said, "takes": [first, flag.bunraku.result.bunraku_result.take],
        "quick": (folder / "bunraku/Flag-quick.toml").read_text(), "final": (folder / "bunraku/Flag.toml").read_text(),
    }  # fmt: skip


def renamed(folder: Path) -> dict[str, Any]:
    """A guide gets another name between two runs; while the second goes on, a scene of centimetres is looked at."""
    sets.scene(folder, (1, 2))
    flag = sets.waved(sets.sheet())
    flag.bunraku.levels = 0
    sets.run(flag)
    flag.name = "Banner"
    job, other = sets.job(), bpy.data.scenes.new("Other")
    other.unit_settings.scale_length = 0.01
    bpy.ops.bunraku.run()
    job.current.run.wait()
    with bpy.context.temp_override(scene=other):
        job.tick()
    gap = float(np.abs(sets.points(flag.bunraku.result, 2) - sets.points(flag, 2)).max())
    from importlib import import_module

    panel = import_module(f"{sets.EXTENSION}.panel")
    duplicate = flag.copy()
    duplicate.name = "Copy"
    return {
        "takes": sorted(panel._takes(bpy.context, flag)), "gap": gap, "scenes": _scenes(flag.bunraku.result),
        "duplicate": panel._takes(bpy.context, duplicate),
    }  # fmt: skip


def _scenes(thing: Any) -> list[str]:
    return [one.name for one in thing.users_scene]


def meanwhile(folder: Path) -> dict[str, Any]:
    """While a run goes on its guide gets another name; while a second one does, another .blend is opened."""
    sets.scene(folder, (1, 3))
    flag = sets.waved(sets.sheet())
    flag.bunraku.levels = 1
    job = sets.job()
    bpy.ops.bunraku.run()
    flag.name = "Banner"
    job.current.run.wait()
    with bpy.context.temp_override(window=None):  # as a timer has it
        job.tick()
    found: dict[str, Any] = {"renamed": flag.bunraku.result.bunraku_result.take, "lines": list(job.last.lines)}
    flag.name = "Flag"
    bpy.ops.bunraku.run()
    bpy.ops.wm.read_homefile(use_empty=True)
    ended = job.wait()
    return found | {"opened": list(ended.lines), "objects": len(bpy.data.objects), "folder": str(ended.folder)}


def duplicated(folder: Path) -> dict[str, Any]:
    """A duplicate of a guide is run, whose name has no letter that folders may have; and a take whose file is spoilt
    is chosen."""
    sets.scene(folder, (1, 2))
    flag = sets.waved(sets.sheet())
    flag.bunraku.levels = 0
    sets.run(flag)
    other = flag.copy()
    other.name = "旗"
    bpy.context.scene.collection.objects.link(other)
    said = sets.run(other)
    takes = [one.bunraku.result.bunraku_result.take for one in (flag, other)]
    bad = shutil.copytree(folder / "bunraku/takes/Flag/v001", folder / "bunraku/takes/Flag/v007")
    (bad / "Flag.usdc").write_text("nothing")
    try:
        bpy.ops.bunraku.open_take(directory=str(bad))
        spoilt = ""
    except RuntimeError as error:
        spoilt = str(error)
    return {"said": said, "takes": takes, "spoilt": spoilt, "objects": len(bpy.data.objects)}


def linked(folder: Path) -> dict[str, Any]:
    """A guide from another .blend, as it is and as a library override that is kept; in a folder with spaces and letters
    that was opened by way of a link."""
    sets.scene(folder, (1, 2))
    sets.waved(sets.sheet())
    sets.save(folder)
    (folder / "wirklich").mkdir()
    (folder / "Mäntel 旗").symlink_to("wirklich")
    file = str(folder / "Mäntel 旗/shot 1.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.frame_end = 2
    with bpy.data.libraries.load(str(folder / "shot.blend"), link=True) as (_, chosen):
        chosen.objects = ["Flag"]
    flag = bpy.data.objects["Flag"]
    bpy.context.scene.collection.objects.link(flag)
    bpy.ops.wm.save_as_mainfile(filepath=file)
    found = {"linked": sets.run(flag)}
    own = flag.override_create(remap_local_usages=True)
    own.bunraku.levels, own.bunraku.material.preset = 1, "denim"
    found["said"] = sets.run(own)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=file)
    own = bpy.data.objects["Flag", None]
    shown = own.bunraku.result
    return found | {
        "version": list(bpy.app.version), "levels": own.bunraku.levels, "preset": own.bunraku.material.preset,
        "shown": shown is not None and shown.bunraku_result.take,
        "files": [one.filepath for one in bpy.data.cache_files], "points": len(sets.points(shown, 2)) if shown else 0,
    }  # fmt: skip


def installed(folder: Path) -> dict[str, Any]:
    """Install, with Blender allowed online, from a wheel that only says its name; and a run of what that is."""
    wheel = folder / "bunraku-0.0.1-py3-none-any.whl"
    info = "bunraku-0.0.1.dist-info"
    texts = {
        "bunraku/__init__.py": "",
        "bunraku/__main__.py": "import sys\nprint('a small bunraku' if '--version' in sys.argv else 'no event')\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: bunraku\nVersion: 0.0.1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*texts, f"{info}/RECORD"]))
    preferences = bpy.context.preferences.addons[sets.EXTENSION].preferences
    preferences.interpreter = ""
    sets.scene(folder, (1, 3))
    flag = sets.waved(sets.sheet())
    found: dict[str, Any] = {"none": sets.run(flag)}
    bpy.context.preferences.system.use_online_access = True
    preferences.source = ""
    found["nowhere"] = _install()
    preferences.source = str(wheel)
    found["said"], found["lines"] = _install(), list(sets.job().last.lines)
    found["run"] = sets.run(flag)
    return found
