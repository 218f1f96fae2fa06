"""Rest shapes that are swapped or blended over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Points, Vector, input_error

from .curve import Curve, CurveLike


@dataclass(frozen=True, eq=False)
class RestShapes:
    """Shapes (n, 3) [m] of one mesh, each with a weight that may be keyed; the weights are normalised.

    The shapes need not lie on each other: they are blended by what can be measured on the surface (squared edge
    lengths, dihedral angles), never by their points.
    """

    shapes: tuple[Points, ...]
    weights: tuple[Curve, ...]

    def __init__(self, shapes: Sequence[Points], weights: Sequence[CurveLike]) -> None:
        try:
            points = tuple(np.array(shape, dtype=np.float64) for shape in shapes)
            given = tuple(weights)
        except (TypeError, ValueError):
            raise input_error("rest shapes must be lists of points and of weights", got=type(shapes).__name__) from None
        for k, shape in enumerate(points):
            if shape.ndim != 2 or shape.shape != (len(points[0]), 3) or not np.isfinite(shape).all():
                raise input_error(
                    "a rest shape must be finite points, one row a vertex", where=f"rest shape {k}", got=shape.shape,
                    allowed=f"({len(points[0])}, 3)" if points[0].ndim == 2 else "(n, 3)",
                )  # fmt: skip
        curves = tuple(Curve.of(weight) for weight in given)
        if len(curves) != len(points) or not points:
            raise input_error("rest shapes need one weight each", got=f"{len(points)} shapes, {len(curves)} weights")
        if any((curve.values < 0.0).any() for curve in curves):
            raise input_error("weights of rest shapes must not be negative")
        # Between keys a curve stays within them, so a sum that is zero anywhere is zero at a key.
        moments = np.unique(np.concatenate([curve.times for curve in curves]))
        if any(sum(curve.at(float(time)) for curve in curves) <= 0.0 for time in moments):
            raise input_error("at some time every rest shape has weight zero")
        object.__setattr__(self, "shapes", points)
        object.__setattr__(self, "weights", curves)

    @classmethod
    def between(cls, first: Points, second: Points, amount: CurveLike) -> RestShapes:
        """`first` where the amount is 0, `second` where it is 1."""
        curve = Curve.of(amount)
        if (curve.values < 0.0).any() or (curve.values > 1.0).any():
            raise input_error("the amount between two rest shapes must lie from 0 to 1", got=curve.values.tolist())
        return cls((first, second), (Curve(curve.times, 1.0 - curve.values, curve.eases), curve))

    @property
    def constant(self) -> bool:
        """Whether nothing is keyed."""
        return all(curve.constant for curve in self.weights)

    def at(self, time: float) -> Vector:
        """(k,) weights at a time [s]; they sum to one."""
        values = np.array([curve.at(time) for curve in self.weights])
        if values.max() > 1e300:  # their sum may be beyond counting
            values /= values.max()
        return values / values.sum()
