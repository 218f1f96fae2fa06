"""How forces on functionals of a warped body bend: second derivatives in modal coordinates, in closed form.

forces · (what is observed) is the sum of Λ : (G(u) − I) by volume, where Λ is the gradient of one field, the
forces carried back through the Laplacian. Its Hessian needs that of each tetrahedron (`bend_kernels.py`) and the nine
numbers of the modes, which are constant. However many functionals are pulled at, it is one field.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Points, Vector, alike

from .bend_kernels import SLOTS, fill_bends, fill_mode_numbers
from .groups import Groups


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
        count, modes = len(groups.tets), basis.shape[2]
        turns, stretches = np.empty((count, 3, modes)), np.empty((count, 6, modes))
        fill_mode_numbers(basis, alike(groups.tets), groups.gradients, turns, stretches)
        return cls(groups, basis, turns, stretches)

    def __call__(self, q: Vector, pulls: Points, along: Vector | None = None) -> Array:
        """(d, d) the Hessian, at q (d,), of what a field of pulls (k, 3) at the groups' vertices pulls at.

        With `along` (d,), how that changes where q changes at this speed.
        """
        if along is None:
            return self._summed(q, pulls, None, q, mixed=False)[0]
        return self._summed(q, None, pulls, along, mixed=False)[0]

    def joined(
        self, q: Vector, v: Vector, still: Points | None, moving: Points | None, *, mixed: bool
    ) -> tuple[Array, Array | None]:
        """(d, d) the Hessian by q of what pulls (k, 3) on places, and others on velocities, pull at where q (d,)
        changes at v (d,); and, where it is asked for, (d, d) that of velocities by q and by v."""
        return self._summed(q, still, moving, v, mixed=mixed and moving is not None)

    def _summed(
        self, q: Vector, still: Points | None, moving: Points | None, v: Vector, *, mixed: bool
    ) -> tuple[Array, Array | None]:
        given, modes, none = self.groups, len(q), np.zeros((0, 3))
        flat = self.basis.reshape(-1, modes)
        u, slots = (flat @ q).reshape(-1, 3), min(SLOTS, len(given.tets))
        speed = u if moving is None else (flat @ v).reshape(-1, 3)
        own, other = np.empty((slots, modes, modes)), np.empty((slots if mixed else 0, modes, modes))
        fill_bends(
            u, speed, given.tets, given.gradients, given.volumes, given.places, none if still is None else still,
            none if moving is None else moving, self.turns, self.stretches, own, other,
        )  # fmt: skip
        return _whole(own), _whole(other) if mixed else None


def _whole(sums: Array) -> Array:
    """(d, d) of halves (s, d, d)."""
    found = sums.sum(axis=0)
    return found + found.T
