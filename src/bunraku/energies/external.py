"""Gravity and air drag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Points, State, Stencil, Vector
from bunraku.numerics import inner


@dataclass(frozen=True, eq=False)
class GravityEnergy:
    """Weight: −Σ m g·x. Linear, so it has no Hessian."""

    mass: Vector
    """(n,) lumped [kg]"""
    acceleration: Vector
    """(3,) g [m/s²]"""

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        return -inner(self.mass, x @ self.acceleration)

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        return self._gradient

    @cached_property
    def _gradient(self) -> Points:
        out = -self.mass[:, None] * self.acceleration
        out.setflags(write=False)
        return out

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """None."""
        return ()

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """None."""
        return ()

    def at(self, state: State, dt: float) -> GravityEnergy:
        """Gravity does not change."""
        return self

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing."""
        return {}


@dataclass(frozen=True, eq=False)
class DragEnergy:
    """Air drag of one step: Σ c/(2 dt) |x − xₙ − dt w|², whose force is −c (v − w) at each vertex."""

    coefficient: Vector
    """(n,) drag × area [N·s/m]"""
    previous: Points
    """(n, 3) where the air would carry each vertex in this step: xₙ + dt w [m]"""
    dt: float
    """[s]"""

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        moved = x - self.previous
        return inner(self.coefficient, np.sum(moved * moved, axis=1)) / (2.0 * self.dt)

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        return (self.coefficient / self.dt)[:, None] * (x - self.previous)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """The diagonal."""
        return (Stencil(np.arange(3 * len(self.coefficient))[:, None]),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """The diagonal."""
        return (np.repeat(self.coefficient / self.dt, 3).reshape(-1, 1, 1),)
