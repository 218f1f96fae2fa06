"""Pairs that cut every step short are slowed.

To first order a pair that turns while it slides keeps its distance; to second order it meets long before the step ends,
and the whole body has to stop with it, step after step. Such pairs get a stiffness against moving their corners apart
or turning them, in Newton's matrix alone: the others go on, and what is slowed follows in later steps. It dies out as
steps are taken whole again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector

TIGHT = 0.3
"""share of a step below which a pair that meets there is slowed"""
_HARDER = 4.0  # than before, where that was too little
_EASES = 0.1  # what is left after a step that was not cut short
_LEAST = 0.01  # of a point's own stiffness: below, it has died out
_MOST = 1e6
_APART = np.eye(4) - 0.25  # of four corners: how each moves against their mean


@dataclass(frozen=True, eq=False)
class Slowed:
    """(m, 4) corners of pairs, and (m,) by how many times a point's own stiffness they are slowed."""

    corners: Integers
    by: Vector

    @classmethod
    def none(cls) -> Slowed:
        return cls(np.zeros((0, 4), np.int64), np.zeros(0))

    def __len__(self) -> int:
        return len(self.by)

    def and_also(self, corners: Integers, shares: Vector) -> Slowed:
        """With pairs (k, 4) that meet at shares (k,) of a step."""
        both = np.concatenate([self.corners, corners])
        unique, which = np.unique(both, axis=0, return_inverse=True)
        which = which.reshape(-1)
        old, new = np.zeros(len(unique)), np.zeros(len(unique))
        np.maximum.at(old, which[: len(self)], self.by)
        np.maximum.at(new, which[len(self) :], TIGHT / np.maximum(shares, TIGHT / _MOST))
        by = np.where(new > 0.0, np.maximum(new, _HARDER * old), old)
        return Slowed(unique, np.minimum(by, _MOST))

    def eased(self) -> Slowed:
        """After a step that was not cut short."""
        by = _EASES * self.by
        return Slowed(self.corners[by > _LEAST], by[by > _LEAST])

    def blocks(self, stiffness: float) -> Array:
        """(m, 12, 12) [N/m] of points as stiff as that: zero for corners that all go the same way."""
        return stiffness * self.by[:, None, None] * np.kron(_APART, np.eye(3))

    def forces(self, step: Points, stiffness: float) -> Points:
        """(n, 3) [N] with which points as stiff as that withstand a step (n, 3): what the blocks make of it."""
        out = np.zeros_like(step)
        np.add.at(out, self.corners, stiffness * self.by[:, None, None] * (_APART @ step[self.corners]))
        return out
