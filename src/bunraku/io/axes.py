"""Units and axes of files: inside bunraku metres and Y-up, in files whatever they declare."""

from __future__ import annotations

import math

import numpy as np

from bunraku.contracts import Array, input_error

UP_AXES = ("Y", "Z")


def check_units(meters_per_unit: float, up_axis: str, where: str) -> None:
    """Refuse a unit that is not a positive length, or an axis that is neither Y nor Z."""
    if not (math.isfinite(meters_per_unit) and meters_per_unit > 0):
        raise input_error(
            "metersPerUnit must be positive",
            where=where,
            got=meters_per_unit,
            remedy="1.0 is metres, 0.01 cm",
        )
    if up_axis not in UP_AXES:
        raise input_error("unknown upAxis", where=where, got=str(up_axis), allowed="'Y', 'Z'")


def to_metres(x: Array, meters_per_unit: float, up_axis: str) -> Array:
    """File coordinates (…, 3) → metres, Y-up. Z-up turns about X: (x, y, z) → (x, z, −y)."""
    turned = np.stack([x[..., 0], x[..., 2], -x[..., 1]], axis=-1) if up_axis == "Z" else x
    return turned * meters_per_unit


def from_metres(x: Array, meters_per_unit: float, up_axis: str) -> Array:
    """Metres, Y-up (…, 3) → file coordinates; undoes `to_metres`."""
    turned = np.stack([x[..., 0], -x[..., 2], x[..., 1]], axis=-1) if up_axis == "Z" else x
    return turned / meters_per_unit
