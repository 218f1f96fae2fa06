"""Checks of what `plan` and `chain` are both given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bunraku.contracts import Vector, input_error, is_between
from bunraku.direction.knobs import direction, whole

FASTEST = 1e6
"""[m/s] that a key may ask for, and [m/s²] of gravity: more is a slip, and numbers would overflow on the way"""


def check_knobs(flags: Mapping[str, object], ground: object, threads: object, cache: object) -> None:
    """Refuse what is not True or False, no height, no number of threads, and nothing to keep modes in."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise input_error(f"{name} must be True or False", got=repr(value)[:40])
    if ground is not None and not is_between(ground, -1e6, 1e6):
        raise input_error("ground must be a height", where="ground", got=repr(ground)[:40], allowed="a number, or None")
    whole("threads", threads, or_none=True)
    if cache is not None and not all(callable(getattr(cache, name, None)) for name in ("load", "store")):
        raise input_error(
            "nothing that modes could be kept in", where="cache", got=repr(cache)[:40],
            allowed="a bunraku.io.ContentCache, or None",
        )  # fmt: skip


def as_gravity(given: object) -> Vector:
    """(3,) [m/s²]"""
    gravity = np.array(direction("gravity", given))
    if not np.abs(gravity).max() <= FASTEST:
        raise input_error("gravity is beyond all bounds", got=given, allowed=f"up to {FASTEST:g} m/s²")
    return gravity
