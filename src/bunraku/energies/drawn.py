"""Points of a body drawn to places: Σ k/2 |Σ_a w_a x_a − p|², each place held by the corners of one tetrahedron.

A surface that goes along with a body says in this way what the body must look like. Places of one tetrahedron come
together in one 4 × 4 matrix, so thousands of them cost no more than the tetrahedra do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bunraku.contracts import Array, Integers, Points, State, Stencil, Vector
from bunraku.numerics import Scatter

from .membrane import point_unknowns


@dataclass(frozen=True, eq=False)
class DrawnEnergy:
    """Springs from places in tetrahedra to goals. A quadratic, so its Hessian never changes."""

    tets: Integers
    """(m, 4)"""
    owners: Integers
    """(s,) which of the tetrahedra each place is in"""
    weights: Array
    """(s, 4) of its corners"""
    goals: Points
    """(s, 3) [m]"""
    stiffness: Vector
    """(s,) [N/m]"""
    scatter: Scatter = field(repr=False)

    auxiliary_count = 0

    @classmethod
    def of(
        cls, tets: Integers, count: int, owners: Integers, weights: Array, goals: Points, stiffness: Vector
    ) -> DrawnEnergy:
        """For a body of `count` nodes."""
        return cls(tets, owners, weights, goals, stiffness, Scatter.of(tets, count))

    def value(self, x: Points) -> float:
        """[J]"""
        away = self._away(x)
        return float(0.5 * self.stiffness @ np.sum(away * away, axis=1))

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        pull = (self.stiffness[:, None] * self.weights)[:, :, None] * self._away(x)[:, None, :]
        local = np.zeros((len(self.tets), 4, 3))
        np.add.at(local, self.owners, pull)
        return self.scatter.sum(local)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """One 12 × 12 block a tetrahedron."""
        return (Stencil(point_unknowns(self.tets)),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Positive semi-definite as they are."""
        small = np.zeros((len(self.tets), 4, 4))
        np.add.at(
            small, self.owners, self.stiffness[:, None, None] * np.einsum("si,sj->sij", self.weights, self.weights)
        )
        return (np.einsum("mij,ab->miajb", small, np.eye(3)).reshape(-1, 12, 12),)

    def at(self, state: State, dt: float) -> DrawnEnergy:
        """Goals do not move."""
        return self

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing."""
        return {}

    def _away(self, x: Points) -> Points:
        return np.einsum("si,sij->sj", self.weights, x[self.tets[self.owners]]) - self.goals
