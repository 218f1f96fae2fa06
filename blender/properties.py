# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's properties that a library override of a linked object may change, and keeps in the .blend."""

from functools import partial

import bpy

_OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}

BoolProperty = partial(bpy.props.BoolProperty, override=_OVERRIDABLE)
EnumProperty = partial(bpy.props.EnumProperty, override=_OVERRIDABLE)
FloatProperty = partial(bpy.props.FloatProperty, override=_OVERRIDABLE)
IntProperty = partial(bpy.props.IntProperty, override=_OVERRIDABLE)
PointerProperty = partial(bpy.props.PointerProperty, override=_OVERRIDABLE)
StringProperty = partial(bpy.props.StringProperty, override=_OVERRIDABLE)
