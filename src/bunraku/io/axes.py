"""Units and axes of files: inside bunraku metres and Y-up, in files whatever they declare."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from bunraku.contracts import Array, Points, as_float, input_error

UP_AXES = ("Y", "Z")
UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}
"""name: length [m]"""
_WORDS = {"m": "metres", "dm": "decimetres", "cm": "centimetres", "mm": "millimetres", "in": "inches", "ft": "feet"}
_LARGEST, _SMALLEST = 4.0, 0.02  # [m] garments and characters lie between; beyond, the unit is doubted
_SMALL_BODY, _BODY, _LARGE_BODY = 1.0, 1.7, 2.3  # [m] across a standing person's joints, children to arms spread wide


def length_of(unit: str | float, where: str = "unit") -> float:
    """[m] of a unit given by its name or its length."""
    if isinstance(unit, str):
        if unit not in UNITS:
            raise input_error("unknown unit", where=where, got=unit, allowed=", ".join(UNITS) + ", or metres")
        return UNITS[unit]
    if not isinstance(unit, Real) or isinstance(unit, bool):
        raise input_error("no unit", where=where, got=unit, allowed=", ".join(UNITS) + ", or metres")
    check_units(as_float(unit), "Y", where)
    return float(unit)


def unit_name(meters_per_unit: float) -> str:
    """'cm', or '0.3 m' for a length without a name."""
    return next((name for name, length in UNITS.items() if math.isclose(length, meters_per_unit)),
                f"{meters_per_unit:g} m")  # fmt: skip


def doubt_about_unit(x: Points, meters_per_unit: float) -> str:
    """'' or a sentence where a shape (n, 3) [m] is of a size no garment or character has, with a guess of the unit."""
    sizes = np.ptp(x, axis=0) if len(x) else np.zeros(3)
    size = float(sizes.max())
    if not np.isfinite(size) or size == 0.0 or _SMALLEST <= size <= _LARGEST:
        return ""
    inside = {name: size / meters_per_unit * length for name, length in UNITS.items() if length != meters_per_unit}
    name = min(inside, key=lambda one: abs(math.log(inside[one])))
    return (
        f"is {size:.3g} m large if its unit is {unit_name(meters_per_unit)}; "
        f"in {_WORDS[name]} it would be {inside[name]:.2g} m: if so, say unit = '{name}'"
    )


def doubt_about_body(x: Points) -> str:
    """'' or a sentence where the joints (n, 3) of a skeleton, read as metres, are of a size no body has.

    A unit is only named that makes it as large as a person or a large animal; else nobody can tell, and it is fitted.
    """
    size = float(np.ptp(x, axis=0).max()) if len(x) else 0.0
    if not np.isfinite(size) or size == 0.0 or _SMALLEST <= size <= _LARGEST:
        return ""
    inside = {name: size * length for name, length in UNITS.items() if _SMALL_BODY <= size * length <= _LARGE_BODY}
    told = f"is {size:.3g} m large if its unit is m"
    if not inside:
        return (
            f"{told}, and in no common unit as large as a person: say fit = true, or the length of its unit in metres"
        )
    name = min(inside, key=lambda one: abs(math.log(inside[one] / _BODY)))
    return f"{told}; in {_WORDS[name]} it would be {inside[name]:.2g} m: if so, say unit = '{name}'"


def check_units(meters_per_unit: float, up_axis: str, where: str) -> None:
    """Refuse a unit that is not a positive length, or an axis that is neither Y nor Z."""
    if not (math.isfinite(meters_per_unit) and meters_per_unit > 0):
        raise input_error(
            "the unit must be a positive length",
            where=where,
            got=meters_per_unit,
            remedy="1.0 is metres, 0.01 cm",
        )
    if not isinstance(up_axis, str) or up_axis not in UP_AXES:
        raise input_error("unknown upAxis", where=where, got=up_axis, allowed="'Y', 'Z'")


def to_metres(x: Array, meters_per_unit: float, up_axis: str) -> Array:
    """File coordinates (…, 3) → metres, Y-up. Z-up turns about X: (x, y, z) → (x, z, −y)."""
    turned = np.stack([x[..., 0], x[..., 2], -x[..., 1]], axis=-1) if up_axis == "Z" else x
    return turned * meters_per_unit


def from_metres(x: Array, meters_per_unit: float, up_axis: str) -> Array:
    """Metres, Y-up (…, 3) → file coordinates; undoes `to_metres`."""
    turned = np.stack([x[..., 0], -x[..., 2], x[..., 1]], axis=-1) if up_axis == "Z" else x
    return turned / meters_per_unit
