"""Checks of the knobs that several instruments have."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TypeVar

import numpy as np

from bunraku.contracts import input_error, need

_Kind = TypeVar("_Kind")
MOST_SUBSTEPS = 10_000
"""steps a frame; more are a slip, and take longer than anybody waits"""
MOST_ITERATIONS = 10_000
"""Newton iterations a step: so many are done, needed or not"""


def direction(name: str, given: object) -> tuple[float, float, float]:
    """Three finite numbers, as gravity is."""
    try:
        x, y, z = (float(part) for part in given)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        x = y = z = float("nan")
    if not np.isfinite([x, y, z]).all():
        raise input_error(f"{name} must be three finite numbers", got=given, allowed="(x, y, z) in m/s²")
    return x, y, z


def whole(name: str, value: object, *, or_none: bool = False) -> None:
    """Refuse what is no whole number above zero."""
    if value is None and or_none:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        allowed = "1, 2, 3, …" + (" or None" if or_none else "")
        raise input_error(f"{name} must be a whole number above zero", got=value, allowed=allowed)


def check_substeps(value: object) -> None:
    """Refuse what is no number of steps a frame."""
    whole("substeps", value)
    if isinstance(value, Integral) and int(value) > MOST_SUBSTEPS:
        raise input_error("substeps are too many", got=value, allowed=f"1 to {MOST_SUBSTEPS}")


def check_iterations(value: object) -> None:
    """Refuse what is no number of Newton iterations a step."""
    whole("iterations", value, or_none=True)
    if isinstance(value, Integral) and int(value) > MOST_ITERATIONS:
        raise input_error("iterations are too many", got=value, allowed=f"1 to {MOST_ITERATIONS}, or None")


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse what is none of the names."""
    if not isinstance(value, str) or value not in allowed:
        raise input_error(f"unknown {name}", got=value, allowed=", ".join(allowed))


def listed(kind: type[_Kind], name: str, given: Sequence[_Kind] | _Kind) -> tuple[_Kind, ...]:
    """One or several of a kind."""
    if isinstance(given, kind):
        return (given,)
    if not isinstance(given, Sequence):
        raise input_error(
            f"{name} must be one or several of a kind", where=name, got=type(given).__name__,
            allowed=f"a {kind.__name__}, or a list of them; () for none",
        )  # fmt: skip
    for k, one in enumerate(given):
        need(kind, f"{name}[{k}]", one)
    return tuple(given)
