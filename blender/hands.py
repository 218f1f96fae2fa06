# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks as hands: each takes the points it hooks, on the frames on which its object is keyed."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from .bridge import Hand, Refusal, prim_name
from .painting import group_weights

_HALF = 0.5


def hooks(thing: bpy.types.Object) -> list[bpy.types.HookModifier]:
    """An object's hooks that are on."""
    return [one for one in thing.modifiers if one.type == "HOOK" and one.show_viewport and one.object is not None]


def keyed(found: Sequence[bpy.types.HookModifier]) -> list[bpy.types.HookModifier]:
    """Those whose objects are keyed. An object that is keyed once stands there on all frames, so that at rest they are
    let go: else the body would be born where it is asked to go."""
    return [one for one in found if keyed_frames(one.object)]


class StillRecord:
    """Objects of hooks that are not keyed: they hold their points, and so they must not be moved by something else."""

    def __init__(self, found: Sequence[bpy.types.HookModifier]) -> None:
        self._held = [one for one in found if not keyed_frames(one.object)]
        self._first: dict[str, np.ndarray] = {}

    def note(self, graph: bpy.types.Depsgraph) -> None:
        """Where they are now."""
        for one in self._held:
            now = np.array(one.object.evaluated_get(graph).matrix_world, dtype=np.float64)
            if not np.allclose(now, self._first.setdefault(one.name, now), rtol=1e-5, atol=1e-6):
                raise Refusal(
                    f"the hook {one.name!r} is to hold its points, for {one.object.name!r} is not keyed, but that is "
                    f"moved by something else on frame {graph.scene.frame_current}; try: Object, Animation, Bake Action"
                )


def hands(
    thing: bpy.types.Object, mesh: bpy.types.Mesh, hooking: Sequence[bpy.types.HookModifier]
) -> list[Hand]:  # fmt: skip
    """One for each of an object's hooks, on its evaluated mesh."""
    found: list[Hand] = []
    for modifier in hooking:
        name = prim_name(modifier.name)
        taken = {one.name for one in found}
        name = name if name not in taken else f"{name}_{len(found)}"
        found.append(Hand(name, _hooked(thing, mesh, modifier), keyed_frames(modifier.object)))
    return found


def _hooked(thing: bpy.types.Object, mesh: bpy.types.Mesh, hook: bpy.types.HookModifier) -> list[int]:
    """Numbers of the points."""
    if hook.vertex_group:
        chosen = np.flatnonzero(group_weights(thing, mesh, hook.vertex_group) > _HALF).tolist()
    elif len(mesh.vertices) == len(thing.data.vertices):
        chosen = sorted(hook.vertex_indices)
    else:
        raise Refusal(
            f"{thing.name!r}: the hook {hook.name!r} says points of a mesh that other modifiers change; "
            "try: give it a vertex group"
        )
    if not chosen:
        raise Refusal(f"{thing.name!r}: the hook {hook.name!r} hooks no point; try: assign some in edit mode")
    return chosen


def keyed_frames(thing: bpy.types.ID) -> list[int]:
    """Whole frames on which something of an object is keyed, in order."""
    return sorted({round(key.co.x) for curve in curves_of(thing) for key in curve.keyframe_points})


def curves_of(thing: bpy.types.ID) -> list[bpy.types.FCurve]:
    """Those of its action, which from Blender 4.4 on may hold others' as well."""
    animation = thing.animation_data
    if animation is None or animation.action is None:
        return []
    if not hasattr(animation, "action_slot"):
        return list(animation.action.fcurves)
    strips = (strip for layer in animation.action.layers for strip in layer.strips)
    bags = (strip.channelbag(animation.action_slot) for strip in strips if animation.action_slot is not None)
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def shape_frames(thing: bpy.types.Object) -> list[int]:
    """Those on which its shape keys are."""
    keys = thing.data.shape_keys
    return [] if keys is None else keyed_frames(keys)
