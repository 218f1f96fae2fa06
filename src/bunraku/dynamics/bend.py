"""How forces on functionals of a warped body bend: second derivatives in modal coordinates, in closed form.

forces · (what is observed) is the sum of Λ : (G(u) − I) by volume, where Λ is the gradient of one field, the
forces carried back through the Laplacian. Its Hessian needs that of each tetrahedron (`bend_kernels.py`) and the nine
numbers of the modes, which are constant. However many functionals are pulled at, it is one field.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Points, Vector, alike

from .bend_kernels import fill_bends
from .groups import Groups
from .warp_kernels import fill_numbers


@dataclass(frozen=True, eq=False)
class Bends:
    """Second derivatives of functionals of a warped body in the modes of a basis."""

    groups: Groups
    basis: Array
    """(n, 3, d) modes"""
    turns: Array
    """(m, 3, d) the modes' rotation vectors in every tetrahedron"""
    stretches: Array
    """(m, 6, d) and their stretches"""

    @classmethod
    def of(cls, groups: Groups, basis: Array) -> Bends:
        """Of the modes of a basis (n, 3, d)."""
        modes, one = basis.shape[2], np.empty((len(groups.tets), 9))
        turns, stretches = np.empty((len(one), 3, modes)), np.empty((len(one), 6, modes))
        for k in range(modes):
            fill_numbers(np.ascontiguousarray(basis[:, :, k]), alike(groups.tets), groups.gradients, one)
            turns[:, :, k], stretches[:, :, k] = one[:, :3], one[:, 3:]
        return cls(groups, basis, turns, stretches)

    def __call__(self, q: Vector, pulls: Points, along: Vector | None = None) -> Array:
        """(d, d) the Hessian, at q (d,), of what a field of pulls (k, 3) at the groups' vertices pulls at.

        With `along` (d,), how that changes where q changes at this speed.
        """
        given, modes = self.groups, len(q)
        flat = self.basis.reshape(-1, modes)
        u = (flat @ q).reshape(-1, 3)
        v = u if along is None else (flat @ along).reshape(-1, 3)
        half = np.empty_like(self.turns)
        fill_bends(
            along is not None, u, v, given.tets, given.gradients, given.volumes, given.places, pulls, self.turns,
            self.stretches, half,
        )  # fmt: skip
        found = self.turns.reshape(-1, modes).T @ half.reshape(-1, modes)
        return found + found.T
