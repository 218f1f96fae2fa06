# SPDX-License-Identifier: GPL-3.0-or-later
"""What things are made of: a preset, and those of its numbers that are changed."""

from collections.abc import Mapping
from typing import Any

import bpy

from .bridge.presets import SHELL_NUMBERS, SHELLS, SKIN_NUMBERS, SKINS, SOLID_NUMBERS, SOLIDS, Presets
from .properties import BoolProperty, EnumProperty, FloatProperty
from .scene import single


def _group(name: str, presets: Presets, first: str, numbers: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """A preset, and for each number whether it is changed, and to what."""
    items = [(one, one.capitalize(), "") for one in presets]
    found: dict[str, Any] = {"preset": EnumProperty(name=name, items=items, default=first)}
    for key, (called, about) in numbers.items():
        found[f"use_{key}"] = BoolProperty(name=f"Own {called.lower()}")
        found[key] = FloatProperty(name=called, description=about, default=presets[first][key], min=0.0, precision=6)
    return found


class ShellMaterial(bpy.types.PropertyGroup):
    """Of a thin shell."""

    __annotations__ = _group("Material", SHELLS, "cotton", SHELL_NUMBERS)


class SkinMaterial(bpy.types.PropertyGroup):
    """Of a skin on something soft."""

    __annotations__ = _group("Skin", SKINS, "leather", SKIN_NUMBERS)


class SolidMaterial(bpy.types.PropertyGroup):
    """Of what is soft through and through."""

    __annotations__ = _group("Material", SOLIDS, "rubber", SOLID_NUMBERS)


_NUMBERS = {ShellMaterial: SHELL_NUMBERS, SkinMaterial: SKIN_NUMBERS, SolidMaterial: SOLID_NUMBERS}
_PRESETS = {ShellMaterial: SHELLS, SkinMaterial: SKINS, SolidMaterial: SOLIDS}


def numbers_of(material: bpy.types.PropertyGroup) -> Mapping[str, tuple[str, str]]:
    """Those that may be changed."""
    return _NUMBERS[type(material)]


def preset_value(material: bpy.types.PropertyGroup, key: str) -> float:
    """What its preset has."""
    return _PRESETS[type(material)][material.preset][key]


def change(material: bpy.types.PropertyGroup, key: str) -> None:
    """A number of the preset becomes the artist's own, and begins there; or the preset's again."""
    own = getattr(material, f"use_{key}")
    if not own:
        setattr(material, key, preset_value(material, key))
    setattr(material, f"use_{key}", not own)


def material_table(material: bpy.types.PropertyGroup) -> dict[str, Any]:
    """As a shot says it."""
    own = {key: single(getattr(material, key)) for key in numbers_of(material) if getattr(material, f"use_{key}")}
    return {"preset": material.preset} | own


def register() -> None:
    """The groups."""
    for one in _NUMBERS:
        bpy.utils.register_class(one)


def unregister() -> None:
    """The groups."""
    for one in _NUMBERS:
        bpy.utils.unregister_class(one)
