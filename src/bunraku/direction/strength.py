"""How firmly a direction is held."""

from __future__ import annotations

from bunraku.contracts import input_error
from bunraku.motion import Curve, CurveLike


def strength_curve(name: str, given: CurveLike) -> Curve:
    """A keyed number between 0 and 1."""
    curve = Curve.of(given)
    if curve.values.min() < 0 or curve.values.max() > 1:
        raise input_error(f"{name} must lie between 0 and 1", got=curve.values.tolist())
    return curve
