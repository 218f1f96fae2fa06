"""What is given, refused in one sentence where it is of the wrong kind or out of range."""

from __future__ import annotations

import math
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np

from .arrays import Array
from .errors import input_error


def need(kind: type | UnionType, name: str, given: object, *, remedy: str = "") -> None:
    """Refuse what is not of a kind, or of one of several."""
    if not isinstance(given, kind):
        names = [kind.__name__] if isinstance(kind, type) else [one.__name__ for one in kind.__args__]
        raise input_error(f"must be a {' or a '.join(names)}", where=name, got=type(given).__name__, remedy=remedy)


def path_of(given: object, name: str = "path") -> Path:
    """The path that a word or a path names."""
    if not isinstance(given, str | Path):
        raise input_error("must be a path", where=name, got=type(given).__name__, allowed="a word or a pathlib.Path")
    return Path(given)


def as_float(given: Any) -> float:
    """A `Real` as a float; whole numbers that no float holds are infinite, and for the caller to refuse."""
    try:
        return float(given)
    except OverflowError:
        return math.inf if given > 0 else -math.inf


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


def numbers(what: str, given: object, *, where: str = "") -> Array:
    """A copy in float64, refused in a sentence that says `what` they are."""
    try:
        return real_array(given)
    except (TypeError, ValueError):
        raise input_error(f"{what} must be real numbers", where=where, got=given) from None


def is_between(given: object, low: float, high: float) -> bool:
    """Whether it is a number from `low` to `high`, both included; NaN is not, nor is True, nor what is no float."""
    if not isinstance(given, Real) or isinstance(given, bool):
        return False
    try:
        return low <= float(given) <= high
    except OverflowError:
        return False
