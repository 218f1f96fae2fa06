"""What is given, refused in one sentence where it is of the wrong kind or out of range."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from .arrays import Array
from .errors import input_error


def need(kind: type, name: str, given: object, *, remedy: str = "") -> None:
    """Refuse what is not of a kind."""
    if not isinstance(given, kind):
        raise input_error(f"must be a {kind.__name__}", where=name, got=type(given).__name__, remedy=remedy)


def whole_number(name: str, given: object, *, least: int = 0) -> int:
    """A whole number from `least` on, such as a seed or a count."""
    if not isinstance(given, Integral) or isinstance(given, bool) or int(given) < least:
        allowed = f"{least}, {least + 1}, {least + 2}, …"
        raise input_error("must be a whole number", where=name, got=repr(given), allowed=allowed)
    return int(given)


def real_array(given: object) -> Array:
    """A copy in float64. TypeError or ValueError where it is none: of words, truth values or complex numbers, masked,
    or of lists of different lengths; the caller knows what to say."""
    found = np.asanyarray(given)
    if found.dtype.kind in "bcSUmM" or np.ma.is_masked(found):
        raise TypeError("not real numbers")
    try:
        return np.array(found, dtype=np.float64)
    except OverflowError as error:  # whole numbers that no float holds
        raise ValueError(str(error)) from error


def is_between(given: object, low: float, high: float) -> bool:
    """Whether it is a number from `low` to `high`, both included; NaN is not, nor is True, nor what is no float."""
    if not isinstance(given, Real) or isinstance(given, bool):
        return False
    try:
        return low <= float(given) <= high
    except OverflowError:
        return False
