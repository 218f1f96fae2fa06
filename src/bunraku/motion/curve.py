"""A number that may be keyed over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import Array, Vector, as_float, input_error

EASES = ("linear", "smooth", "hold")


@dataclass(frozen=True, eq=False)
class Curve:
    """A keyed number: constant before the first and after the last key, never outside its keys' range.

    `eases[k]` says how key k leads to key k + 1: "linear", "smooth" (C¹ with zero slope at both
    keys) or "hold".
    """

    times: Vector
    """(k,) increasing [s]"""
    values: Vector
    """(k,)"""
    eases: tuple[str, ...]
    """(k,)"""

    def __post_init__(self) -> None:
        times, values = np.array(self.times, dtype=float), np.array(self.values, dtype=float)
        if times.ndim != 1 or len(times) == 0 or values.shape != times.shape or len(self.eases) != len(times):
            raise input_error("a curve needs as many times as values and eases", got=(times.shape, values.shape))
        if not np.isfinite(values).all():
            raise input_error("a keyed number must be finite", got=float(values[~np.isfinite(values)][0]))
        if not (np.isfinite(times).all() and (np.diff(times) > 0).all()):
            raise input_error("a curve's keys must be finite and increase in time", got=times.tolist())
        for ease in self.eases:
            if ease not in EASES:
                raise input_error("unknown ease", got=ease, allowed=", ".join(EASES))
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    @classmethod
    def of(cls, value: CurveLike) -> Curve:
        """A curve from a number, a curve, or keys [(time, value[, ease]), …]; ease tells how the key is reached.

        In keys the ease belongs to the segment that ends at the key, as an artist writes
        `[[1040, 1], [1052, 0, "smooth"]]`: smooth from 1040 to 1052.
        """
        if isinstance(value, Curve):
            return value
        if isinstance(value, Real):
            return cls(np.zeros(1), np.array([as_float(value)]), ("linear",))
        try:
            keys: list[tuple[Any, ...]] = [tuple(key) for key in cast(Iterable[Any], value)]
            reached = [str(key[2]) if len(key) > 2 else "linear" for key in keys]
            times, values = [float(key[0]) for key in keys], [float(key[1]) for key in keys]
        except (TypeError, ValueError, IndexError, OverflowError):
            raise input_error(
                "not a number, nor keys",
                got=value,
                allowed="a number, a Curve, or [(time, value), (time, value, ease), …]",
            ) from None
        for ease in reached[:1]:  # the first key's leads nowhere, but a misspelt one is a mistake
            if ease not in EASES:
                raise input_error("unknown ease", got=ease, allowed=", ".join(EASES))
        return cls(np.array(times), np.array(values), (*reached[1:], "linear"))

    def at(self, time: float) -> float:
        """The value at a time [s]."""
        if time <= self.times[0]:
            return float(self.values[0])
        if time >= self.times[-1]:
            return float(self.values[-1])
        k = int(np.searchsorted(self.times, time, side="right") - 1)
        u = (time - self.times[k]) / (self.times[k + 1] - self.times[k])
        ease = self.eases[k]
        if ease == "hold":
            u = 0.0
        elif ease == "smooth":
            u = u * u * (3.0 - 2.0 * u)
        a, b = float(self.values[k]), float(self.values[k + 1])
        return min(max(a + u * (b - a), min(a, b)), max(a, b))  # a + (b − a) may round beyond b

    @property
    def constant(self) -> bool:
        """Whether the value never changes."""
        return bool((self.values == self.values[0]).all())

    def scaled(self, factor: float) -> Curve:
        """The curve times a number."""
        return Curve(self.times, self.values * factor, self.eases)


CurveLike = float | int | Curve | Sequence[Sequence[float | str]]
"""Anything that `Curve.of` understands."""


def ease(time: ArrayLike, start: float, end: float) -> Array:
    """0 before `start`, 1 after `end`; rises with no jump in speed or acceleration."""
    u = np.clip((np.asarray(time, dtype=np.float64) - start) / (end - start), 0.0, 1.0)
    return u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)
