# SPDX-License-Identifier: GPL-3.0-or-later
"""What things are made of: a preset, and those of its numbers that are changed."""

from typing import Any

import bpy

from .bridge.presets import SHELL_NUMBERS, SHELLS, SKIN_NUMBERS, SKINS, SOLID_NUMBERS, SOLIDS
from .properties import BoolProperty, EnumProperty, FloatProperty
from .scene import single


def _named(presets: tuple[str, ...]) -> list[tuple[str, str, str]]:
    return [(one, one.capitalize(), "") for one in presets]


def _sliders(numbers: dict[str, tuple[str, str, float]]) -> dict[str, Any]:
    """For each number whether it is changed, and to what."""
    found: dict[str, Any] = {}
    for key, (name, about, first) in numbers.items():
        found[f"use_{key}"] = BoolProperty(name=f"Own {name.lower()}")
        found[key] = FloatProperty(name=name, description=about, default=first, min=0.0, precision=6)
    return found


class ShellMaterial(bpy.types.PropertyGroup):
    """Of a thin shell."""

    preset: EnumProperty(name="Material", items=_named(SHELLS), default="cotton")
    __annotations__ |= _sliders(SHELL_NUMBERS)


class SkinMaterial(bpy.types.PropertyGroup):
    """Of a skin on something soft."""

    preset: EnumProperty(name="Skin", items=_named(SKINS), default="leather")
    __annotations__ |= _sliders(SKIN_NUMBERS)


class SolidMaterial(bpy.types.PropertyGroup):
    """Of what is soft through and through."""

    preset: EnumProperty(name="Material", items=_named(SOLIDS), default="rubber")
    __annotations__ |= _sliders(SOLID_NUMBERS)


_NUMBERS = {ShellMaterial: SHELL_NUMBERS, SkinMaterial: SKIN_NUMBERS, SolidMaterial: SOLID_NUMBERS}


def numbers_of(material: bpy.types.PropertyGroup) -> dict[str, tuple[str, str, float]]:
    """Those that may be changed."""
    return _NUMBERS[type(material)]


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
