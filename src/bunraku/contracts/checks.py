"""What is given, refused in one sentence where it is of the wrong kind or out of range."""

from __future__ import annotations

from numbers import Integral, Real

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


def is_between(given: object, low: float, high: float) -> bool:
    """Whether it is a number from `low` to `high`, both included; NaN is not, nor is True."""
    return isinstance(given, Real) and not isinstance(given, bool) and low <= float(given) <= high
