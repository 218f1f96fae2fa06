"""The shape a body would like to have at every time: its own, then one key after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import ContentStore, Points, Vector
from bunraku.geometry import TetMesh
from bunraku.materials import SolidMaterial

from .interpolate import Transition, transition


@dataclass(frozen=True, eq=False)
class KeyedRest:
    """Shapes at times and the ways between them; a `ShapeMotion`.

    The way from one to the next begins and ends without a jerk. After the last the last stays.
    """

    body: TetMesh
    material: SolidMaterial
    damping: float
    times: Vector
    """(k,) increasing [s]"""
    shapes: Sequence[Points]
    """(k,) of (n, 3) [m]"""
    cache: ContentStore | None = None
    """where the ways between shapes are kept"""

    @property
    def constant(self) -> bool:
        """Whether there is one shape only."""
        return all(shape is self.shapes[0] or np.array_equal(shape, self.shapes[0]) for shape in self.shapes)

    def at(self, time: float) -> Points:
        """(n, 3) rest points at a time [s]."""
        k = int(np.searchsorted(self.times, time, side="right")) - 1
        if k < 0:
            return self.shapes[0]
        if k >= len(self.times) - 1:
            return self.shapes[-1]
        u = float((time - self.times[k]) / (self.times[k + 1] - self.times[k]))
        return self.shapes[k] if u == 0.0 else self.ways[k].at(u * u * (3.0 - 2.0 * u))

    @cached_property
    def ways(self) -> list[Transition]:
        """(k − 1,) between neighbouring shapes."""
        pairs = zip(self.shapes[:-1], self.shapes[1:], strict=True)
        return [transition(self.body, a, b, self.material, self.damping, self.cache) for a, b in pairs]
