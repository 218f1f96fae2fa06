# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist painted on a mesh, as numbers on its points and polygons: regions, and what is pinned."""

from __future__ import annotations

import bpy
import numpy as np

from .bridge import Painted, Refusal
from .bridge.shot import PIN, REGIONS

_HALF = 0.5
"""of a weight, above which a point belongs to a group"""
_MIXING = ("SUBSURF", "MULTIRES")
"""modifiers that put a point of region 1 between points of regions 0 and 2"""


def paint_guide(thing: bpy.types.Object, mesh: bpy.types.Mesh) -> list[Painted]:
    """The regions and the pinned points that an object's settings name."""
    told, found = thing.bunraku, []
    if told.scale == "GROUPS":
        found.append(Painted(REGIONS, "int", "vertex", group_regions(thing, mesh)))
    elif told.scale == "ATTRIBUTE":
        found.append(_attribute(thing, mesh, told.attribute))
    if told.pinned:
        found.append(Painted(PIN, "float", "vertex", group_weights(thing, mesh, told.pinned)))
    return found


def group_names(thing: bpy.types.Object) -> list[str]:
    """The vertex groups that are regions."""
    return [group.name for group in thing.vertex_groups if group.name.startswith(thing.bunraku.prefix)]


def group_regions(thing: bpy.types.Object, mesh: bpy.types.Mesh) -> np.ndarray:
    """(n,) the number of the heaviest group of those whose names begin so, −1 where none weighs more than a half."""
    numbers = {thing.vertex_groups[name].index: k for k, name in enumerate(group_names(thing))}
    if not numbers:
        prefix = thing.bunraku.prefix
        raise Refusal(f"{thing.name!r} has no vertex group whose name begins with {prefix!r}; try: paint some")
    labels = np.full(len(mesh.vertices), -1, dtype=np.int32)
    for vertex in mesh.vertices:
        own = [
            (one.weight, -numbers[one.group]) for one in vertex.groups if one.group in numbers and one.weight > _HALF
        ]
        if own:
            labels[vertex.index] = -max(own)[1]
    if (labels < 0).all():
        raise Refusal(
            f"no point of {thing.name!r} weighs more than {_HALF} in a vertex group whose name begins with "
            f"{thing.bunraku.prefix!r}; try: paint their weights, 1 for what belongs to a region"
        )
    return labels


def group_weights(thing: bpy.types.Object, mesh: bpy.types.Mesh, name: str) -> np.ndarray:
    """(n,) the weights of a vertex group."""
    group = thing.vertex_groups.get(name)
    if group is None:
        raise Refusal(f"{thing.name!r} has no vertex group {name!r}; try: one of {_names(thing)}")
    weights = np.zeros(len(mesh.vertices))
    for vertex in mesh.vertices:
        for one in vertex.groups:
            if one.group == group.index:
                weights[vertex.index] = one.weight
    return weights


def _names(thing: bpy.types.Object) -> str:
    return ", ".join(repr(one.name) for one in thing.vertex_groups) or "none, it has no groups"


def _attribute(thing: bpy.types.Object, mesh: bpy.types.Mesh, name: str) -> Painted:
    """Whole numbers on points or faces."""
    found = mesh.attributes.get(name)
    if found is None or found.data_type not in ("INT", "INT8") or found.domain not in ("POINT", "FACE"):
        had = "there is none" if found is None else f"it is {found.data_type} on {found.domain}"
        raise Refusal(
            f"{thing.name!r}: the attribute {name!r} has no whole numbers on points or faces ({had}); "
            "try: Attributes, Add, Integer, on Vertex or Face"
        )
    mixing = [one.name for one in thing.modifiers if one.type in _MIXING and one.show_viewport]
    if mixing and found.domain == "POINT":
        raise Refusal(
            f"{thing.name!r}: the modifier {mixing[0]!r} mixes the numbers of {name!r} between points; "
            "try: the attribute on Face, or vertex groups"
        )
    values = np.empty(len(found.data), dtype=np.int32)
    found.data.foreach_get("value", values)
    return Painted(REGIONS, "int", "vertex" if found.domain == "POINT" else "uniform", values)
