"""A soft body that follows an animation of its surface on average, and is free below that scale.

As a tracked shell follows its guide: averages over overlapping bumps some cells apart are those of the animation. What
the animation does below that is left to mechanics, so that the body gives way to its skin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Points, Sparse, Vector
from bunraku.direction.track import gaussians
from bunraku.geometry import Lattice
from bunraku.motion import Animation

SPACING = 2.0
"""cells between the averages: nearer ones would ask the nodes for more than they can do"""


@dataclass(frozen=True, eq=False)
class Followed:
    """An animation of a surface, and the size of what of it is kept [m]."""

    animation: Animation
    spacing: float

    @cached_property
    def averages(self) -> Sparse:
        """(k, n_surface) weights."""
        mesh = self.animation.mesh
        return gaussians(mesh, self.spacing).averages(mesh, mesh)[1]

    def constraint(self, lattice: Lattice, masses: Vector) -> LinearConstraint:
        """For nodes of lumped masses (n,) [kg]."""
        jacobian = average_jacobian(sparse.csr_array(self.averages @ lattice.embedding))
        count = jacobian.shape[0]
        return LinearConstraint(
            jacobian, lambda time: np.asarray(self.averages @ self.animation.at(time)).reshape(-1),
            lambda time: np.ones(count), felt_mass(jacobian, masses),
        )  # fmt: skip

    def missed(self, surface: Points, time: float) -> Vector:
        """(k,) [m] how far each average of the surface (n, 3) is from the animation's."""
        return np.linalg.norm(self.averages @ (surface - self.animation.at(time)), axis=1)

    def affine(self, lattice: Lattice, time: float) -> Points:
        """(n, 3) [m] nodes moved by the affine motion that fits the animation at a time [s] best."""
        ones = np.ones((lattice.surface.point_count, 1))
        moved = np.linalg.lstsq(np.hstack([lattice.surface.rest, ones]), self.animation.at(time), rcond=None)[0]
        return np.hstack([lattice.rest, np.ones((lattice.point_count, 1))]) @ moved
