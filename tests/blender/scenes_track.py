"""Scenes of Track, played inside Blender by `act.py`; tests look at what they return."""

# pyright: reportMissingImports=false

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import sets

EXTENSION = sets.EXTENSION


def twice(folder: Path) -> dict[str, Any]:
    """The extension is disabled and enabled again, and again."""

    def known() -> list[bool]:
        return [
            hasattr(bpy.types.Object, "bunraku"),
            hasattr(bpy.types, "BUNRAKU_PT_main"),
            "run" in dir(bpy.ops.bunraku),
        ]

    found = [known()]
    for _ in range(2):
        bpy.ops.preferences.addon_disable(module=EXTENSION)
        found.append(known())
        bpy.ops.preferences.addon_enable(module=EXTENSION)
        found.append(known())
    thing = sets.sheet()
    thing.bunraku.count = 7
    return {"known": found, "count": thing.bunraku.count}


def tracked_character(folder: Path) -> dict[str, Any]:
    """An armature bends a limb on frames 1001 to 1004 at 23.976 frames/s; its subdivided shell obeys it in regions."""
    sets.scene(folder, (1001, 1004), fps=24, base=1.001)
    body, _ = sets.character()
    guide_points = [sets.points(body, k) for k in range(1001, 1005)]
    told = body.bunraku
    told.scale, told.levels, told.material.preset = "VERTICES", 1, "rubber"
    said, frame = sets.run(body), bpy.context.scene.frame_current
    shown = told.result
    result_points = [sets.points(shown, k) for k in range(1001, 1005)]
    report = json.loads((folder / "bunraku/takes/Hero/v001/report.json").read_text())
    return {
        "said": said, "modifier": shown.modifiers[0].type, "file": shown.modifiers[0].cache_file.filepath,
        "rate": report["facts"]["rate"], "frames": report["frames"], "polygons": len(shown.data.polygons),
        "gap": [_gap(body, g, x) for g, x in zip(guide_points, result_points, strict=True)],
        "free": float(np.abs(result_points[-1][: len(guide_points[-1])] - guide_points[-1]).max()),
        "untouched": [one.type for one in body.modifiers], "collections": [c.name for c in shown.users_collection],
        "frame": frame,
    }  # fmt: skip


def _gap(body: Any, guide: np.ndarray, shell: np.ndarray) -> float:
    """[m] The largest distance between the averages of guide and shell around the guide's vertices, measured here from
    nothing but the two meshes: integrals of hat functions over the rest surface."""
    faces = np.array([tuple(one.vertices) for one in body.data.polygons])
    rest = sets.points(body, bpy.context.scene.frame_start)
    fine, children, hats = _split(faces, len(rest))
    fine_rest = hats @ rest
    coarse = sets.averages(rest, faces, np.eye(len(rest)), guide)
    return float(np.linalg.norm(coarse - sets.averages(fine_rest, children, hats, shell[fine]), axis=1).max())


def _split(faces: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each triangle in four as the take's mesh has them: its order of points, triangles, and hats (fine, coarse)."""
    shown = bpy.data.objects["Hero"].bunraku.result.data
    children = np.array([tuple(one.vertices) for one in shown.polygons])
    rest = np.array([tuple(one.co) for one in bpy.data.objects["Hero"].data.vertices])
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    weights = np.concatenate([np.eye(count), 0.5 * (np.eye(count)[edges[:, 0]] + np.eye(count)[edges[:, 1]])])
    rows = np.array([value.vector for value in shown.attributes["rest"].data])
    nearest = np.linalg.norm(rows[:, None] - (weights @ rest)[None], axis=2)
    assert nearest.min(axis=1).max() < 1e-6 and len(np.unique(nearest.argmin(axis=1))) == len(weights)
    return np.arange(len(rows)), children, weights[nearest.argmin(axis=1)]


def at_rest(folder: Path, *, by: str) -> dict[str, Any]:
    """The rest position of an armature is asked for that deforms by a modifier, or as a parent of the old kind; and of
    none at all. The character is bent on the first frame already."""
    sets.scene(folder, (6, 8))
    body, rig = sets.character()
    rig.animation_data_clear()
    rig.pose.bones["bone1"].rotation_mode = "XYZ"
    rig.pose.bones["bone1"].rotation_euler.x = 0.6
    if by != "modifier":
        body.modifiers.clear()
    if by == "parent":
        body.parent, body.parent_type = rig, "ARMATURE"
    body.bunraku.rest, body.bunraku.levels, body.bunraku.scale = "POSE", 0, "VERTICES"
    unbent = np.array([tuple(one.co) for one in body.data.vertices])
    found: dict[str, Any] = {"said": sets.run(body), "bent": float(np.abs(sets.points(body, 6) - unbent).max())}
    if body.bunraku.result is not None:
        (stage,) = (folder / "bunraku/inputs").iterdir()
        rest = json.loads(stage.read_text().split("points = ")[1].split("\n")[0].translate({40: 91, 41: 93}))
        found["gap"] = float(np.abs(np.array(rest) - unbent).max())
    return found


def figure(folder: Path) -> dict[str, Any]:
    """The figure of Add, Mesh."""
    bpy.ops.bunraku.add_figure()
    body = bpy.context.active_object
    mesh = bmesh.new()
    mesh.from_mesh(body.data)
    closed = all(len(edge.link_faces) == 2 for edge in mesh.edges) and mesh.calc_volume() > 0.0
    mesh.free()
    first, later = sets.points(body, 1), sets.points(body, 25)
    low = [float(sets.points(body, k)[:, 2].min()) for k in range(1, 25)]
    return {
        "closed": closed, "points": len(first), "ahead": (later - first).mean(axis=0).tolist(),
        "low": [min(low), max(low)], "height": float(np.ptp(first[:, 2])),
        "weights": min(sum(one.weight for one in vertex.groups) for vertex in body.data.vertices),
        "menu": "bunraku.add_figure" in _menu(),
    }  # fmt: skip


def _menu() -> list[str]:
    """What the extension adds to Add, Mesh."""
    from types import SimpleNamespace

    said: list[str] = []
    layout = SimpleNamespace(operator=lambda name, **more: said.append(name))
    for draw in bpy.types.VIEW3D_MT_mesh_add.draw._draw_funcs:
        if draw.__module__.startswith(EXTENSION):
            draw(SimpleNamespace(layout=layout), bpy.context)
    return said
