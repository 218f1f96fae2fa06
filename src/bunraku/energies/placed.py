"""Energies of one body among several: its points are some of all points, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import Array, Energy, EnergySource, Integers, Points, State, Stencil


@dataclass(frozen=True, eq=False)
class PlacedEnergy:
    """An energy of points `first` to `first + count` of all `total`."""

    energy: Energy
    first: int
    count: int
    total: int

    @property
    def auxiliary_count(self) -> int:
        """As many as the energy has."""
        return self.energy.auxiliary_count

    def value(self, x: Points) -> float:
        """[J]"""
        return self.energy.value(self._own(x))

    def gradient(self, x: Points) -> Points:
        """(total, 3) [N]"""
        out = np.zeros((self.total, 3))
        out[self.first : self.first + self.count] = self.energy.gradient(self._own(x))
        return out

    def follow(self, x: Points) -> Mapping[str, Array]:
        """As the energy does."""
        return self.energy.follow(self._own(x))

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """Those of the energy, elsewhere."""
        return tuple(self._moved(one) for one in self.energy.stencils(psd))

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Those of the energy."""
        return self.energy.blocks(self._own(x), psd)

    def _own(self, x: Points) -> Points:
        return x[self.first : self.first + self.count]

    def _moved(self, one: Stencil) -> Stencil:
        own = 3 * self.count  # from here on an energy numbers what it eliminates itself

        def moved(rows: Integers) -> Integers:
            return np.where(rows < 0, rows, rows + np.where(rows < own, 3 * self.first, 3 * self.total - own))

        return Stencil(moved(one.rows), None if one.columns is None else moved(one.columns))


@dataclass(frozen=True, eq=False)
class Placed:
    """A source of such energies, which remembers nothing: gives each step its `PlacedEnergy`."""

    source: EnergySource
    first: int
    count: int
    total: int

    def at(self, state: State, dt: float) -> PlacedEnergy:
        """The energy of the step to `state.time + dt`."""
        return PlacedEnergy(self.source.at(self.own(state), dt), self.first, self.count, self.total)

    def remember(self, state: State) -> Mapping[str, Array]:
        """As the source does."""
        return self.source.remember(self.own(state))

    def own(self, state: State) -> State:
        """The state of its own points alone."""
        chosen = slice(3 * self.first, 3 * (self.first + self.count))
        return replace(state, q=state.q[chosen], velocity=state.velocity[chosen])
