"""What moves: masses, energies and conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.contracts import (
    Array,
    Constraint,
    ContactSource,
    Energy,
    EnergySource,
    Integers,
    Points,
    Sparse,
    State,
    Stencil,
    Vector,
)

LONG_STEP = 2.0**20
"""[s] of a step in which nothing that depends on rates is felt; rounding moves its end by 1e-10 s"""


@dataclass(frozen=True, eq=False)
class Mass:
    """A mass matrix, the same for x, y and z: lumped (diagonal) or consistent."""

    lumped: Vector
    """(n,) mass at each point [kg]"""
    consistent: Sparse | None = None
    """(n, n) CSR, symmetric, with row sums `lumped`; None for a lumped matrix"""

    def times(self, v: Points) -> Points:
        """(n, 3) M v."""
        return self.lumped[:, None] * v if self.consistent is None else self.consistent @ v

    def stencil(self) -> Stencil:
        """Where `blocks` land."""
        if self.consistent is None:
            return Stencil(np.arange(3 * len(self.lumped))[:, None])
        upper = self._upper
        return Stencil(_pair_unknowns(np.stack([upper.row, upper.col], axis=1).astype(np.int64)))

    def blocks(self, factor: float) -> Array:
        """The matrix times a number, as local blocks."""
        return factor * self._unit_blocks

    @cached_property
    def _upper(self) -> Any:
        return sparse.triu(self.consistent).tocoo()

    @cached_property
    def _unit_blocks(self) -> Array:
        if self.consistent is None:
            return np.repeat(self.lumped, 3).reshape(-1, 1, 1)
        upper = self._upper
        same = upper.row == upper.col
        block = np.zeros((len(upper.data), 2, 2))
        block[same, 0, 0] = upper.data[same]
        block[~same, 0, 1] = block[~same, 1, 0] = upper.data[~same]
        return np.repeat(block, 3, axis=0)


def _pair_unknowns(pair: Integers) -> Integers:
    """(3m, 2) coordinates of vertex pairs (m, 2); a vertex paired with itself appears once, then −1."""
    out = (3 * pair[:, None, :] + np.arange(3)[None, :, None]).reshape(-1, 2)
    out[out[:, 0] == out[:, 1], 1] = -1
    return out


def mean_stiffness(stencils: Sequence[Stencil], blocks: Sequence[Array], unknowns: int) -> float:
    """The mean of a matrix's diagonal over its first unknowns, from its local blocks [N/m]."""
    diagonal = np.zeros(unknowns)
    for stencil, block in zip(stencils, blocks, strict=True):
        if stencil.columns is None:
            kept = (stencil.rows >= 0) & (stencil.rows < unknowns)
            diagonal += np.bincount(stencil.rows[kept], np.diagonal(block, axis1=1, axis2=2)[kept], unknowns)
    return float(diagonal.mean())


def shifted_stencils(energies: Sequence[Energy], points: int, *, psd: bool) -> list[Stencil]:
    """Of the blocks of energies, whose own unknowns come one after another behind those of the points."""
    out, size = [], 3 * points
    for energy in energies:
        out.extend(_shifted(stencil, 3 * points, size) for stencil in energy.stencils(psd))
        size += energy.auxiliary_count
    return out


def _shifted(stencil: Stencil, point_unknowns: int, first: int) -> Stencil:
    """An energy numbers its auxiliary unknowns from 3n; move them to `first`."""

    def move(unknowns: Integers) -> Integers:
        return np.where(unknowns >= point_unknowns, unknowns + (first - point_unknowns), unknowns)

    return Stencil(move(stencil.rows), None if stencil.columns is None else move(stencil.columns))


@dataclass(frozen=True, eq=False)
class System:
    """Masses, energies and conditions on one set of points."""

    mass: Mass
    energies: tuple[EnergySource, ...]
    constraints: tuple[Constraint, ...] = field(default_factory=tuple)
    contact: ContactSource | None = None

    @property
    def point_count(self) -> int:
        """Number of points n."""
        return len(self.mass.lumped)

    @property
    def jacobian(self) -> Sparse:
        """(r, 3n) all conditions, stacked."""
        if not self.constraints:
            return sparse.csr_array((0, 3 * self.point_count))
        return sparse.vstack([constraint.jacobian for constraint in self.constraints], format="csr")

    def remember(self, state: State) -> Mapping[str, Array]:
        """The memory every energy wants to carry on from `state`."""
        return {key: value for source in self.energies for key, value in source.remember(state).items()}
