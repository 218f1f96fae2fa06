# SPDX-License-Identifier: GPL-3.0-or-later
"""What a take says at its points, as the colours that Blender shows.

A mesh that is played from a file shows its first colour attribute, whichever is chosen on the object. So a modifier
behind the cache puts the chosen one in its place.
"""

from __future__ import annotations

import bpy

from .bridge import Refusal

MODIFIER = GROUP = "bunraku colours"
_FROM, _TO = "From", "To"


def colours(shown: bpy.types.Object) -> list[str]:
    """Those of 'force', 'residual' and 'regions' that a result's take says at its points."""
    return [of for of in ("force", "residual", "regions") if _name(of) in shown.data.color_attributes]


def colour_by(shown: bpy.types.Object, of: str) -> None:
    """Colour a result by one of `colours` wherever Blender shows colours of meshes."""
    name = _name(of)
    there = sorted(one.name for one in shown.data.color_attributes if one.name.startswith("bunraku_"))
    if name not in there:
        raise Refusal(
            f"this take says nothing of the {of} at its points (it says: {', '.join(colours(shown)) or 'nothing'}); "
            "try: a take with a direction, or Result"
        )
    shown.data.color_attributes.active_color = shown.data.color_attributes[name]
    modifier = shown.modifiers.get(MODIFIER)
    if modifier is None:
        modifier = shown.modifiers.new(MODIFIER, "NODES")
        shown.modifiers.move(len(shown.modifiers) - 1, 1)  # the artist's own come behind it
    modifier.node_group = _group()
    for socket in modifier.node_group.interface.items_tree:
        if socket.name in (_FROM, _TO):
            modifier[socket.identifier] = name if socket.name == _FROM else there[0]
    modifier.show_viewport = modifier.show_render = name != there[0]
    shown.update_tag()


def _name(of: str) -> str:
    return f"bunraku_{of}_colour"


def _group() -> bpy.types.NodeTree:
    """Nodes that copy one colour attribute to another's name."""
    found = bpy.data.node_groups.get(GROUP)
    if found is not None:
        return found
    group = bpy.data.node_groups.new(GROUP, "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    for name in (_FROM, _TO):
        group.interface.new_socket(name, in_out="INPUT", socket_type="NodeSocketString")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    given, result = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    read = group.nodes.new("GeometryNodeInputNamedAttribute")
    store = group.nodes.new("GeometryNodeStoreNamedAttribute")
    read.data_type = store.data_type = "FLOAT_COLOR"
    store.domain = "POINT"
    group.links.new(given.outputs["Geometry"], store.inputs["Geometry"])
    group.links.new(given.outputs[_FROM], read.inputs["Name"])
    group.links.new(given.outputs[_TO], store.inputs["Name"])
    group.links.new(read.outputs["Attribute"], store.inputs["Value"])
    group.links.new(store.outputs["Geometry"], result.inputs["Geometry"])
    return group
