# SPDX-License-Identifier: GPL-3.0-or-later
"""A take as an object beside its guide, played from disk by a Mesh Sequence Cache. The guide is never touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

from .bridge import Refusal, Take, named, prim_name, with_hints
from .capture import MATERIAL
from .colouring import MODIFIER as COLOURS
from .colouring import colour_by
from .scene import scene_space, shot_names

CACHE = "bunraku take"
"""name of the modifier"""


def show_take(
    context: bpy.types.Context, guide: bpy.types.Object, take: Take, painted: Sequence[str] = ()
) -> bpy.types.Object:  # fmt: skip
    """The guide's result, playing the take; made where there is none yet. `painted`: names of its regions, where they
    are known."""
    file, prim = _own_animation(guide, take)
    fresh = _imported(context, file, prim)
    if take.unit is not None:
        fresh.matrix_world = Matrix.Scale(take.unit / scene_space(_scene(context, guide)).unit, 4) @ fresh.matrix_world
    shown = guide.bunraku.result
    if shown is None or not shown.users_scene or shown.type != "MESH" or shown.bunraku_result.guide != guide:
        shown = _placed(context, guide, fresh)  # a duplicate of a guide names the other's result
    else:
        _switched(shown, fresh, guide)
    told = shown.bunraku_result
    told.guide, told.take = guide, take.name
    told.shots = "\n".join(dict.fromkeys([*told.shots.splitlines(), take.folder.parent.name]))
    told.said = "\n".join(with_hints([named(one, painted) for one in take.sentences]))
    told.force, told.residual = (take.largest.get(name, 0.0) for name in ("force", "residual"))
    if take.folder.parent.name == shot_names(guide)["REGIONS"]:
        colour_by(shown, "regions")
    elif COLOURS in shown.modifiers:  # another take may say other things, or nothing
        shown.modifiers.remove(shown.modifiers[COLOURS])
    guide.bunraku.result = shown
    return shown


def _scene(context: bpy.types.Context, guide: bpy.types.Object) -> bpy.types.Scene:
    """The guide's: another may be looked at by the time that its take is there."""
    there = guide.users_scene
    return context.scene if context.scene in there or not there else there[0]


def _own_animation(guide: bpy.types.Object, take: Take) -> tuple[Path, str]:
    """That of the guide where several objects were simulated."""
    own = prim_name(guide.name)
    return take.animations[own] if own in take.animations else next(iter(take.animations.values()))


def _imported(context: bpy.types.Context, file: Path, prim: str) -> bpy.types.Object:
    """The prim as Blender's own importer makes it, with its modifier; nothing else of the stage."""
    known = {
        "import_materials": False, "import_guide": True, "import_cameras": False, "import_lights": False,
        "set_frame_range": False, "relative_path": False, "import_visible_only": False, "import_subdiv": False,
        # of later Blenders: points are as they are
        "import_subdivision": False, "apply_unit_conversion_scale": False, "merge_parent_xform": True,
    }  # fmt: skip
    offered = bpy.ops.wm.usd_import.get_rna_type().properties.keys()
    before = set(bpy.data.objects)
    try:
        with _selection_kept(context):
            bpy.ops.wm.usd_import(
                filepath=str(file),
                prim_path_mask=prim,
                **{key: value for key, value in known.items() if key in offered},
            )
    except RuntimeError as error:
        said = " ".join(str(error).split())
        raise Refusal(f"{file}: Blender's importer cannot read it ({said}); try: another take") from error
    made = [one for one in bpy.data.objects if one not in before]
    found = [one for one in made if one.type == "MESH" and _cache_of(one) is not None]
    for one in made:
        if one not in found[:1]:
            bpy.data.objects.remove(one)
    if not found:
        raise Refusal(f"{file}: Blender's importer finds no moving mesh {prim} in it; try: another take")
    _tidy(found[0], file)
    return found[0]


def _tidy(thing: bpy.types.Object, file: Path) -> None:
    """Its modifier by a name, its file beside the .blend where that is possible, its polygons' materials."""
    modifier = _cache_of(thing)
    modifier.name = CACHE
    modifier.cache_file.name = f"{file.parent.parent.name} {file.parent.name}"
    modifier.cache_file.filepath = _beside(file)
    index = thing.data.attributes.get(MATERIAL)
    if index is not None and index.domain == "FACE":
        values = np.empty(len(index.data), dtype=np.int32)
        index.data.foreach_get("value", values)
        thing.data.polygons.foreach_set("material_index", values)
        thing.data.update()


def _beside(file: Path) -> str:
    """From the .blend, so that both can be moved; also where the .blend was opened by way of a link."""
    if not bpy.data.filepath:
        return str(file)
    here = Path(bpy.data.filepath).parent
    if file.resolve().is_relative_to(here.resolve()):
        return f"//{file.resolve().relative_to(here.resolve()).as_posix()}"
    try:
        return bpy.path.relpath(str(file))
    except ValueError:  # another drive
        return str(file)


def _placed(context: bpy.types.Context, guide: bpy.types.Object, fresh: bpy.types.Object) -> bpy.types.Object:
    """A new result in the guide's collections, with its materials."""
    fresh.name = fresh.data.name = f"{guide.name} bunraku"
    for collection in list(fresh.users_collection):
        collection.objects.unlink(fresh)
    for collection in guide.users_collection or [context.scene.collection]:
        collection.objects.link(fresh)
    _dress(fresh.data, _materials(_simulated(guide)))
    return fresh


def _switched(shown: bpy.types.Object, fresh: bpy.types.Object, guide: bpy.types.Object) -> None:
    """The result with another take's mesh and file; what the artist did to it stays."""
    old, materials = shown.data, _materials(shown)
    if materials in [_materials(one) for one in (guide, guide.bunraku.shell) if one is not None]:
        materials = _materials(_simulated(guide))  # which may be another since
    modifier, new = _cache_of(shown), _cache_of(fresh)
    if modifier is None:
        modifier = shown.modifiers.new(CACHE, "MESH_SEQUENCE_CACHE")
        shown.modifiers.move(len(shown.modifiers) - 1, 0)
    before = modifier.cache_file
    _dress(fresh.data, materials)
    shown.data = fresh.data
    shown.data.name = shown.name
    modifier.cache_file, modifier.object_path, modifier.read_data = new.cache_file, new.object_path, new.read_data
    shown.matrix_world = fresh.matrix_world
    bpy.data.objects.remove(fresh)
    if old.users == 0:
        bpy.data.meshes.remove(old)
    if before is not None and before.users == 0:
        bpy.data.batch_remove([before])


def _simulated(guide: bpy.types.Object) -> bpy.types.Object:
    """What the result is of: the guide subdivided, or the shell that lies on it."""
    told = guide.bunraku
    other = told.instrument == "TRACK" and told.use_shell and told.shell is not None
    return told.shell if other else guide


def _materials(thing: bpy.types.Object) -> list[bpy.types.Material | None]:
    return [slot.material for slot in thing.material_slots]


def _dress(mesh: bpy.types.Mesh, materials: list[bpy.types.Material | None]) -> None:
    """Materials in the slots of a mesh that has none."""
    for material in materials:
        mesh.materials.append(material)


def _cache_of(thing: bpy.types.Object) -> bpy.types.MeshSequenceCacheModifier | None:
    return next((one for one in thing.modifiers if one.type == "MESH_SEQUENCE_CACHE"), None)


@contextmanager
def _selection_kept(context: bpy.types.Context) -> Iterator[None]:
    """The importer selects what it made."""
    layer = context.view_layer
    active, chosen = layer.objects.active, [one for one in layer.objects if one.select_get()]
    try:
        yield
    finally:
        for one in layer.objects:
            one.select_set(one in chosen)
        layer.objects.active = active
