"""How much a sheet grows over time, alike everywhere or by a map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import Faces, Vector, input_error, real_array

from .curve import Curve, CurveLike

LEAST_GROWTH, MOST_GROWTH = -0.9, 10.0
"""of its lengths: to a tenth of them, or to eleven times"""


@dataclass(frozen=True, eq=False, init=False)
class Growth:
    """By which share the lengths of a sheet at rest grow, g = map × amount; below zero it shrinks.

    Every direction grows alike, and the sheet becomes neither thicker nor thinner.
    """

    amount: Curve
    """g at times [s]"""
    map: Vector | None
    """(n,) by which it is multiplied at each vertex; None: 1 everywhere"""

    def __init__(self, amount: CurveLike, map: ArrayLike | None = None, *, name: str = "growth") -> None:
        curve = Curve.of(amount)
        object.__setattr__(self, "amount", curve)
        object.__setattr__(self, "map", None if map is None else _map(map))
        ends = np.array([1.0]) if self.map is None else np.array([self.map.min(), self.map.max()])
        found = np.outer(curve.values, ends)
        if found.min() < LEAST_GROWTH or found.max() > MOST_GROWTH:
            raise input_error(
                "lengths at rest grow by too much", where=name, got=f"{found.min():.3g} to {found.max():.3g}",
                allowed=f"{LEAST_GROWTH:g} to {MOST_GROWTH:g} of all lengths",
            )  # fmt: skip

    @classmethod
    def of(cls, given: CurveLike | Growth) -> Growth:
        """From a growth, or from anything that a curve is made of."""
        return given if isinstance(given, Growth) else cls(given)

    @property
    def constant(self) -> bool:
        """Whether it is the same at all times."""
        return self.amount.constant

    def check(self, count: int) -> None:
        """Refuse a map of another number of vertices."""
        if self.map is not None and len(self.map) != count:
            raise input_error(
                "a map of growth has a number for each vertex", where="growth.map", got=len(self.map),
                allowed=str(count),
            )  # fmt: skip

    def on_faces(self, time: float, faces: Faces) -> Vector:
        """(f,) g at a time [s], the mean of each face's corners."""
        amount = self.amount.at(time)
        if self.map is None:
            return np.full(len(faces), amount)
        return amount * self.map[faces].mean(axis=1)


def _map(given: ArrayLike) -> Vector:
    try:
        found = real_array(given)
    except (TypeError, ValueError):
        found = np.zeros((0, 0))
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise input_error(
            "a map of growth has a finite number for each vertex", where="growth.map", got=f"shape {found.shape}",
            allowed="(n,)",
        )  # fmt: skip
    return found
