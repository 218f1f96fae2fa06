"""Run by Blender's Python: import a USD file, or an OBJ moved by the PC2 cache beside it, and print its meshes on some
frames as json. The cache starts at the first of the frames."""

# pyright: reportMissingImports=false

from __future__ import annotations

import json
import sys

import bpy


def main(path: str, frames: list[float]) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.endswith(".obj"):
        bpy.ops.wm.obj_import(filepath=path)
        (thing,) = bpy.data.objects
        cache = thing.modifiers.new("cache", "MESH_CACHE")
        cache.cache_format, cache.filepath, cache.frame_start = "PC2", path.replace(".obj", ".pc2"), frames[0]
    else:
        known = bpy.ops.wm.usd_import.get_rna_type().properties.keys()
        own = {"apply_unit_conversion_scale": False} if "apply_unit_conversion_scale" in known else {}
        bpy.ops.wm.usd_import(filepath=path, import_guide=False, **own)  # later Blenders make metres of centimetres
    found: dict[str, dict] = {}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
        graph = bpy.context.evaluated_depsgraph_get()
        for thing in (one for one in bpy.data.objects if one.type == "MESH"):
            shown = thing.evaluated_get(graph)
            mesh = shown.to_mesh()
            known = found.setdefault(thing.name, {"points": []})
            known["points"].append([list(shown.matrix_world @ vertex.co) for vertex in mesh.vertices])
            known["polygons"] = [list(polygon.vertices) for polygon in mesh.polygons]
            known["uv"] = [layer.name for layer in mesh.uv_layers]
            known["materials"] = [slot.name for slot in thing.material_slots]
            known["modifiers"] = [one.type for one in thing.modifiers]
    print(json.dumps(found))


main(sys.argv[1], json.loads(sys.argv[2]))
