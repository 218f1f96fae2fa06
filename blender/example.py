# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure that walks, made by code, to try the instruments on: Add, Mesh, Walking Figure."""

from __future__ import annotations

import math
from itertools import pairwise

import bpy
import numpy as np

from .hands import curves_of

_SIDES = (("L", 1.0), ("R", -1.0))
_TRUNK = {"hips": (0.0, 0.0, 0.92), "chest": (0.0, 0.0, 1.2), "neck": (0.0, 0.0, 1.46), "top": (0.0, -0.01, 1.72)}
_LIMBS = {
    "shoulder": (0.19, 0.0, 1.38), "elbow": (0.42, 0.02, 1.2), "hand": (0.62, -0.02, 1.02),
    "hip": (0.11, 0.0, 0.88), "knee": (0.13, -0.01, 0.5), "ankle": (0.14, 0.02, 0.1), "toe": (0.15, -0.17, 0.06),
}  # fmt: skip
"""[m] joints of the left side; it stands on z = 0 and looks along −y"""
_THICK = {
    "hips": 0.15, "chest": 0.16, "neck": 0.065, "top": 0.13, "shoulder": 0.09, "elbow": 0.065, "hand": 0.06,
    "hip": 0.12, "knee": 0.085, "ankle": 0.06, "toe": 0.055,
}  # fmt: skip
_BONES = {
    "hips": ("hips", "chest", None), "chest": ("chest", "neck", "hips"), "head": ("neck", "top", "chest"),
    "arm": ("shoulder", "elbow", "chest"), "forearm": ("elbow", "hand", "arm"),
    "thigh": ("hip", "knee", "hips"), "shin": ("knee", "ankle", "thigh"), "foot": ("ankle", "toe", "shin"),
}  # fmt: skip
"""bone → from, to, parent"""
_CYCLE = 24  # frames of two steps
_STEP = 0.62  # [m]
_SWING, _BEND, _ARM = 0.42, 0.75, 0.5  # [rad]
_VOXEL = 0.036  # [m] edges of the figure's polygons


def add_figure(context: bpy.types.Context) -> bpy.types.Object:
    """The figure and its armature, in front of everybody; it walks from frame 1 on."""
    joints = _joints()
    rig = _armature(context, joints)
    body = _body(context, joints)
    _weigh(body, joints)
    body.modifiers.new("Armature", "ARMATURE").object = rig
    body.parent = rig
    _walk(rig)
    body.rotation_euler = (0.0, 0.0, 0.0)
    for one in context.selected_objects:
        one.select_set(False)
    body.select_set(True)
    context.view_layer.objects.active = body
    return body


def _joints() -> dict[str, np.ndarray]:
    """All joints, those of the sides with '.L' and '.R' behind."""
    found = {name: np.array(place) for name, place in _TRUNK.items()}
    for side, sign in _SIDES:
        found |= {f"{name}.{side}": np.array(place) * [sign, 1.0, 1.0] for name, place in _LIMBS.items()}
    return found


def _bones() -> dict[str, tuple[str, str, str | None]]:
    """Every bone: from, to, parent."""
    found: dict[str, tuple[str, str, str | None]] = {}
    for name, (begin, end, parent) in _BONES.items():
        if begin in _TRUNK:
            found[name] = begin, end, parent
            continue
        for side, _ in _SIDES:
            above = parent if parent in (None, "hips", "chest") else f"{parent}.{side}"
            found[f"{name}.{side}"] = f"{begin}.{side}", f"{end}.{side}", above
    return found


def _body(context: bpy.types.Context, joints: dict[str, np.ndarray]) -> bpy.types.Object:
    """An even surface about the bones: balls of their thickness along them, melted into one by Blender's Remesh."""
    spine = [("hips", "chest"), ("chest", "neck"), ("neck", "top")]
    sides = [
        tuple(f"{name}.{side}" if name in _LIMBS else name for name in pair)
        for side, _ in _SIDES
        for chain in (("chest", "shoulder", "elbow", "hand"), ("hips", "hip", "knee", "ankle", "toe"))
        for pair in pairwise(chain)
    ]
    ball = bpy.data.metaballs.new("Figure")
    ball.resolution = ball.render_resolution = 0.5 * _VOXEL
    for begin, end in (*spine, *sides):
        a, b = joints[begin], joints[end]
        thick = [_THICK[name.split(".")[0]] for name in (begin, end)]
        for share in np.linspace(0.0, 1.0, 1 + max(2, math.ceil(np.linalg.norm(b - a) / 0.05))):
            element = ball.elements.new()
            element.co = (1.0 - share) * a + share * b
            element.radius = 1.35 * ((1.0 - share) * thick[0] + share * thick[1])
    lump = bpy.data.objects.new("Figure lump", ball)
    context.scene.collection.objects.link(lump)
    context.view_layer.update()
    rough = bpy.data.meshes.new_from_object(lump.evaluated_get(context.evaluated_depsgraph_get()))
    body = bpy.data.objects.new("Figure", rough)
    context.collection.objects.link(body)
    remesh = body.modifiers.new("remesh", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", _VOXEL
    smooth = body.modifiers.new("smooth", "SMOOTH")
    smooth.iterations = 4
    context.view_layer.update()
    body.data = bpy.data.meshes.new_from_object(body.evaluated_get(context.evaluated_depsgraph_get()))
    body.data.name = "Figure"
    body.modifiers.clear()
    bpy.data.objects.remove(lump)
    bpy.data.metaballs.remove(ball)
    bpy.data.meshes.remove(rough)
    for polygon in body.data.polygons:
        polygon.use_smooth = True
    return body


def _weigh(body: bpy.types.Object, joints: dict[str, np.ndarray]) -> None:
    """Every point goes with the bones near it, the nearest most."""
    points = np.array([tuple(vertex.co) for vertex in body.data.vertices])
    bones = _bones()
    away = np.stack([_distance(points, joints[a], joints[b]) for a, b, _ in bones.values()], axis=1)
    weights = (away / away.min(axis=1, keepdims=True)) ** -6.0
    weights[weights < 0.02] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    for name, column in zip(bones, weights.T, strict=True):
        group = body.vertex_groups.new(name=name)
        for index in np.flatnonzero(column):
            group.add([int(index)], float(column[index]), "REPLACE")


def _distance(points: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    along = np.clip((points - a) @ (b - a) / float((b - a) @ (b - a)), 0.0, 1.0)
    return np.maximum(np.linalg.norm(points - a - along[:, None] * (b - a), axis=1), 1e-3)


def _armature(context: bpy.types.Context, joints: dict[str, np.ndarray]) -> bpy.types.Object:
    data = bpy.data.armatures.new("Figure rig")
    rig = bpy.data.objects.new("Figure rig", data)
    context.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (begin, end, parent) in _bones().items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = joints[begin], joints[end]
        bone.align_roll((0.0, -1.0, 0.0))  # their X axes run from side to side
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _walk(rig: bpy.types.Object) -> None:
    """Two steps in a cycle that goes on for ever: legs and arms swing against each other, the hips rise and fall."""
    for one in rig.pose.bones:
        one.rotation_mode = "XYZ"
    for k in range(9):
        frame, phase = 1 + k * _CYCLE / 8, 2.0 * math.pi * k / 8
        rig.location = (0.0, -2.0 * _STEP * k / 8, -0.02 + 0.02 * math.cos(2.0 * phase))
        rig.keyframe_insert("location", frame=frame)
        turns = {"hips": (0.0, 0.08 * math.sin(phase), 0.0), "chest": (0.06, -0.2 * math.sin(phase), 0.0)}
        for side, sign in _SIDES:
            swing = sign * math.sin(phase)
            lift = max(0.0, sign * math.cos(phase))
            turns |= {
                f"thigh.{side}": (_SWING * swing + 0.25 * lift, 0.0, 0.0),
                f"shin.{side}": (-_BEND * lift - 0.06, 0.0, 0.0),
                f"foot.{side}": (0.2 * lift - 0.25 * _SWING * swing, 0.0, 0.0),
                f"arm.{side}": (-_ARM * swing, 0.0, 0.0),
                f"forearm.{side}": (0.3 - 0.25 * swing, 0.0, 0.0),
            }
        for name, turn in turns.items():
            rig.pose.bones[name].rotation_euler = turn
            rig.pose.bones[name].keyframe_insert("rotation_euler", frame=frame)
    for curve in curves_of(rig):
        ahead = curve.data_path == "location" and curve.array_index == 1
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR" if ahead else "BEZIER"
        cycle = curve.modifiers.new("CYCLES")
        cycle.mode_before = cycle.mode_after = "REPEAT_OFFSET" if ahead else "REPEAT"
