"""A skin bonded to an interior that moves: ½ ∫ (K |w|² + b |∇w|²), w = x − B q, of the skin's points x and the nodes q.

The same pull as `foundation.py` has it, felt by both: what the skin feels, the interior feels the other way round, so
that together they keep their momentum. Quadratic in all points, with one matrix for x, y and z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Points, Sparse, State, Stencil, Vector
from bunraku.geometry import TriMesh

from .foundation import foundation_stiffness, summed


@dataclass(frozen=True, eq=False)
class BondEnergy:
    """Between nodes and the skin's points, all in one set of points: first the nodes. It never changes."""

    embedding: Sparse
    """(n_skin, n_nodes) B"""
    stiffness: Sparse
    """(n_skin, n_skin) of the distances w [N/m]"""
    _own: tuple[Integers, Vector] = field(init=False, repr=False)
    _shared: tuple[Integers, Integers, Vector] = field(init=False, repr=False)

    auxiliary_count = 0

    def __post_init__(self) -> None:
        pull = self.stiffness @ self.embedding
        whole = sparse.block_array([[self.embedding.T @ pull, -pull.T], [-pull, self.stiffness]])
        upper = sparse.triu(whole).tocoo()
        row, column = upper.row.astype(np.int64), upper.col.astype(np.int64)
        own = row == column
        object.__setattr__(self, "_own", (row[own], upper.data[own]))
        object.__setattr__(self, "_shared", (row[~own], column[~own], upper.data[~own]))

    @classmethod
    def of(cls, skin: TriMesh, embedding: Sparse, lift: Vector, slope: Vector) -> BondEnergy:
        """Of a skin at rest, embedded by B, with K [N/m³] and b [N/m] of each face (f,)."""
        return cls(embedding, summed(skin, foundation_stiffness(skin, lift, slope)))

    def at(self, state: State, dt: float) -> BondEnergy:
        """It is the same at all times."""
        return self

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing."""
        return {}

    def value(self, x: Points) -> float:
        """[J]"""
        away = self._away(x)
        return 0.5 * float(np.sum(away * (self.stiffness @ away)))

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        pull = self.stiffness @ self._away(x)
        return np.concatenate([-(self.embedding.T @ pull), pull])

    def _away(self, x: Points) -> Points:
        nodes = self.embedding.shape[1]
        return x[nodes:] - self.embedding @ x[:nodes]

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """An entry at a time: the matrix is a sum over faces already."""
        (own, _), (row, column, _) = self._own, self._shared
        return Stencil(_three(own)), Stencil(_three(row), _three(column))

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Positive semi-definite as they are."""
        return tuple(np.repeat(values, 3)[:, None, None] for values in (self._own[-1], self._shared[-1]))


def _three(points: Integers) -> Integers:
    """(3m, 1) the coordinates of points (m,)."""
    return (3 * points[:, None] + np.arange(3)).reshape(-1, 1)
