"""Elastic lattices: the soft interior of a body, on few unknowns [Remillard 2013, §5.2].

The laws are those of `solid.py`, corotational by default (the thesis's rotated linear law, robust to inversion by the
signed SVD), evaluated at 27 places of each element and once more, very thinly, at 27 of its whole cell where the body
does not fill it. What of an element is empty has neither mass nor stiffness but for that. Matter that swells or shrinks
has all its lengths at rest longer or shorter, and so its volume; its mass stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.contracts import Array, Integers, Points, State, Stencil, Vector
from bunraku.geometry import Lattice
from bunraku.geometry.gradients import own_points
from bunraku.geometry.lattice import whole_weights
from bunraku.materials import SolidMaterial
from bunraku.motion import Curve
from bunraku.numerics import Scatter

from .lattice_solid_kernels import PLACES, fill_blocks, fill_energies, fill_forces, fill_strains
from .membrane import point_unknowns


@dataclass(frozen=True, eq=False)
class LatticeSolidEnergy:
    """Elastic and viscous energy of one step. Without damping zero and stationary at rest; rigid motion is free."""

    elements: Integers
    """(m, a) nodes"""
    values: Array
    """(m + 1, 3, 3, k) functions along each axis at the places of each element's box; the last of the whole cell"""
    slopes: Array
    """(m + 1, 3, 3, k) their slopes [1/m]"""
    volumes: Array
    """(m, 27) of what each place stands for [m³]"""
    least: Vector
    """(m,) volume of the little matter that is everywhere in the cell [m³]"""
    mu: float
    """Lamé's µ [Pa]"""
    lam: float
    """Lamé's λ [Pa]"""
    neohookean: bool
    """the law: stable Neo-Hookean, else corotational"""
    viscosity: float
    """τ/dt"""
    previous: Array
    """(m, 2, 27, 6) Green strain at the start of the step, at the places of the box and of the cell"""
    scatter: Scatter = field(repr=False)
    whole: Vector = field(repr=False)
    """(27,) weights of the places of a whole cell"""

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        return float(np.sum(self.energies(x)))

    def energies(self, x: Points) -> Vector:
        """(m,) energy of each element [J]."""
        out = np.empty(len(self.elements))
        fill_energies(own_points(x), *self._given, out)
        return out

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        local = np.empty((*self.elements.shape, 3))
        fill_forces(own_points(x), *self._given, local)
        return self.scatter.sum(local)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """One block an element: 81 × 81, or 24 × 24 with trilinear functions."""
        return (Stencil(point_unknowns(self.elements)),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """With psd, modes of negative stiffness and compressive viscous stresses are left out at every place."""
        out = np.empty((len(self.elements), 3 * self.elements.shape[1], 3 * self.elements.shape[1]))
        fill_blocks(own_points(x), *self._given, psd, out)
        return (out,)

    @property
    def _given(self) -> tuple[Integers, Array, Array, Array, Vector, Vector, tuple[float, float, float, bool], Array]:
        """What every kernel takes after the points."""
        law = (self.mu, self.lam, self.viscosity, self.neohookean)
        return self.elements, self.values, self.slopes, self.volumes, self.least, self.whole, law, self.previous


@dataclass(frozen=True, eq=False)
class LatticeSolid:
    """An elastic body on a lattice: gives each step its `LatticeSolidEnergy`. The points are the lattice's nodes.

    Mass is `Lattice.masses`, and gravity a `GravityEnergy` with it. The material's `mass_damping` is not its matter.
    """

    lattice: Lattice
    material: SolidMaterial
    swelling: Curve | None = None
    """by which share its lengths at rest are longer, over time; below zero it shrinks"""
    _fixed: LatticeSolidEnergy = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lattice, (shear, bulk) = self.lattice, self.material.lame
        values, slopes = lattice.tables()
        energy = LatticeSolidEnergy(
            lattice.elements, values, slopes, lattice.volumes, lattice.least, shear, bulk,
            self.material.law == "neohookean", 0.0, np.zeros((len(lattice.elements), 2, PLACES, 6)),
            Scatter.of(lattice.elements, lattice.point_count), whole_weights(),
        )  # fmt: skip
        object.__setattr__(self, "_fixed", energy)

    def elastic(self, time: float = 0.0) -> LatticeSolidEnergy:
        """The energy without damping, at a time [s]."""
        base = self._fixed
        if self.swelling is None:
            return base
        longer = 1.0 + self.swelling.at(time)
        more = longer**3
        return replace(base, slopes=base.slopes / longer, volumes=base.volumes * more, least=base.least * more)

    def at(self, state: State, dt: float) -> LatticeSolidEnergy:
        """The energy of the step to `state.time + dt`."""
        base = self.elastic(state.time + dt)
        if not self.material.stiffness_damping:
            return base
        previous = np.empty_like(base.previous)
        fill_strains(
            own_points(state.q.reshape(-1, 3)), base.elements, base.values, base.slopes, base.least, previous
        )  # fmt: skip
        return replace(base, viscosity=self.material.stiffness_damping / dt, previous=previous)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing: strain is a function of the points."""
        return {}
