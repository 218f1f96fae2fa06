"""How hard conditions press surfaces against each other.

Of a condition's multiplier λ contact causes the share λ̄ that balances the barrier's forces on its own: with C the
averages and M the masses, λ̄ = −(C M⁻¹ Cᵀ)⁻¹ C M⁻¹ ∇B. Contact within one region cancels in it. A condition that takes
more force than it is allowed to, and of that a good part because of contact, asks for what cannot be; one that merely
takes much force (a stiff shell bent hard) does not, whatever touches it. What slows pairs in Newton's matrix
(`collision/slowing.py`) is no force: the share of λ that overcomes it is found in the same way, and does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from bunraku.contracts import Flags, Points, Sparse, Vector

_REGULAR = 1e-9  # share of its diagonal added to C M⁻¹ Cᵀ: regions may overlap


@dataclass(frozen=True, eq=False)
class Pressed:
    """What contact does to conditions."""

    touched: Flags
    """(t,) whether something presses within reach of the condition: on it, or on conditions within two rings"""
    share: Vector
    """(t,) [N] the largest |λ̄| of the condition and of those around it"""
    own: Points
    """(t, 3) [N] λ̄"""
    around: Sparse
    """(t, t) which conditions are within two rings of each"""
    slowed: Points | None = None
    """(t, 3) [N] the share of λ that does nothing but overcome what is slowed; None: nothing is"""

    def beside(self, which: Flags) -> Flags:
        """(t,) conditions within two rings of some of `which` (t,)."""
        return np.asarray(self.around @ which.astype(np.int64)) > 0


class Presses:
    """Averages with weights C (t, n) on points of given masses (n,) [kg]."""

    def __init__(self, weights: Sparse, mass: Vector) -> None:
        self._weights: Sparse = sparse.csr_array(weights)
        self._lighter: Sparse = sparse.csr_array(weights @ sparse.diags_array(1.0 / mass))
        square = (self._lighter @ self._weights.T).tocsc()
        square = square + _REGULAR * sparse.diags_array(square.diagonal())
        self._factor = splu(square.tocsc())
        share = (self._weights != 0).astype(np.int64)
        ring: Sparse = ((share @ share.T) != 0).astype(np.int64)
        self._around: Sparse = sparse.csr_array((ring @ ring) != 0)

    def felt(self, pressure: Points, touched: Flags, slowing: Points | None = None) -> Pressed:
        """For the barrier's gradient (n, 3) [N], the points (n,) that something presses on, and what withstands a step
        because it is slowed (n, 3) [N]."""
        own = self._balancing(pressure)
        here = (abs(self._weights) @ touched.astype(float)) > 0.0
        around = self._around
        near = np.asarray(around @ here.astype(np.int64)) > 0
        size = np.linalg.norm(own, axis=1)
        largest = np.maximum.reduceat(size[around.indices], around.indptr[:-1]) if len(size) else size
        return Pressed(near, largest, own, around, None if slowing is None else self._balancing(slowing))

    def _balancing(self, forces: Points) -> Points:
        """(t, 3) [N] the multipliers that keep forces (n, 3) from moving the averages."""
        return -self._factor.solve(self._lighter @ forces)

    def onto(self, missing: Points) -> Points:
        """(n, 3) the least way, weighed by mass, that changes the averages by −missing (t, 3)."""
        return -self._lighter.T @ self._factor.solve(missing)
