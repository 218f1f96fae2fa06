"""Elastic solids: linear tetrahedra, corotational or stable Neo-Hookean, with Kelvin–Voigt damping.

With F = R S the polar decomposition of an element's deformation gradient (R a rotation, never a mirror, so that S may
have one negative principal stretch), the energy per rest volume is

    corotational   µ |S − I|² + λ/2 tr²(S − I),
    neohookean     µ′/2 (|F|² − 3) − ¾ µ′ (J − 1) + λ′/2 (J − 1)² − µ′/2 ln((|F|² + 1)/4),   J = det F,

the second that of [Smith 2018, eq. 14] less a constant, with µ′ = 4µ/3 and λ′ = λ + 5µ/6, which make it stationary at
rest with Lamé's µ and λ to first order. Both are finite, with finite forces, for elements that are flat or inside out,
and push them back; the corotational one has a kink where two principal stretches are opposite.

A step from strains Eₙ (Green's, E = ½(FᵀF − I)) adds the potential (τ/dt)/2 (E − Eₙ):𝔻(E − Eₙ) per volume,
𝔻E = 2µE + λ tr(E) I. Strain does not see rigid motion, so neither does the damping: not for any finite rotation. Where
the rest shape moves, both strains are measured from the rest shape at the end of the step: damping sees what moves, not
what is wished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.contracts import Array, Integers, Points, State, Stencil, Vector
from bunraku.geometry import TetMesh, tet_gradients
from bunraku.geometry.gradients import own_points
from bunraku.materials import SolidMaterial
from bunraku.motion import ShapeMotion
from bunraku.numerics import Scatter

from .membrane import point_unknowns
from .solid_kernels import fill_energies, fill_forces, fill_strains
from .solid_rest import SolidRest
from .solid_tangent import fill_blocks


@dataclass(frozen=True, eq=False)
class SolidEnergy:
    """Elastic and viscous energy of one step. Without damping zero and stationary at rest; rigid motion is free."""

    tets: Integers
    """(m, 4)"""
    gradients: Array
    """(m, 3, 3) rest gradients of the functions of corners 1, 2, 3 [1/m]"""
    volumes: Vector
    """(m,) rest volumes [m³]"""
    mu: Vector
    """(m,) Lamé's µ [Pa]"""
    lam: Vector
    """(m,) Lamé's λ [Pa]"""
    neohookean: bool
    """the law: stable Neo-Hookean, else corotational"""
    viscosity: Vector
    """(m,) τ/dt"""
    previous: Array
    """(m, 6) Green strain at the start of the step"""
    scatter: Scatter = field(repr=False)

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        return float(np.sum(self.energies(x)))

    def energies(self, x: Points) -> Vector:
        """(m,) energy of each tetrahedron [J]."""
        out = np.empty(len(self.tets))
        fill_energies(own_points(x), *self._given, out)
        return out

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        local = np.empty((len(self.tets), 4, 3))
        fill_forces(own_points(x), *self._given, local)
        return self.scatter.sum(local)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """One 12 × 12 block a tetrahedron."""
        return (Stencil(point_unknowns(self.tets)),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """With psd, modes of negative stiffness and compressive viscous stresses are left out."""
        out = np.empty((len(self.tets), 12, 12))
        fill_blocks(own_points(x), *self._given, psd, out)
        return (out,)

    @property
    def _given(self) -> tuple[Integers, Array, Vector, Vector, Vector, bool, Vector, Array]:
        """What every kernel takes after the points."""
        return (
            self.tets, self.gradients, self.volumes, self.mu, self.lam, self.neohookean, self.viscosity, self.previous
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Solid:
    """An elastic body whose rest shape may move: gives each step its `SolidEnergy`. Mass damping is `MassDamping`'s."""

    mesh: TetMesh
    material: SolidMaterial
    rest: ShapeMotion | None = None
    """by default the mesh's own"""
    firmness: Vector | None = None
    """(m,) how many times as stiff as the material each tetrahedron is; by default once"""
    _shape: SolidRest = field(init=False, repr=False)
    _fixed: SolidEnergy = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_shape", SolidRest(self.mesh, self.rest))
        count = len(self.mesh.tets)
        shear, bulk = (np.full(count, one) for one in self.material.lame)
        if self.firmness is not None:
            shear, bulk = shear * self.firmness, bulk * self.firmness
        gradients, volumes = (
            self._shape.at(0.0) if self._shape.constant else tet_gradients(self.mesh.rest, self.mesh.tets)
        )
        energy = SolidEnergy(
            self.mesh.tets, gradients, volumes, shear, bulk,
            self.material.law == "neohookean", np.zeros(count), np.zeros((count, 6)),
            Scatter.of(self.mesh.tets, self.mesh.point_count),
        )  # fmt: skip
        object.__setattr__(self, "_fixed", energy)

    def elastic(self, time: float) -> SolidEnergy:
        """The energy without damping at a time [s]."""
        if self._shape.constant:
            return self._fixed
        gradients, volumes = self._shape.at(time)
        return replace(self._fixed, gradients=gradients, volumes=volumes)

    def at(self, state: State, dt: float) -> SolidEnergy:
        """The energy of the step to `state.time + dt`."""
        base = self.elastic(state.time + dt)
        if not self.material.stiffness_damping:
            return base
        previous = tet_strains(state.q.reshape(-1, 3), base.tets, base.gradients)
        viscosity = np.full(len(base.tets), self.material.stiffness_damping / dt)
        return replace(base, viscosity=viscosity, previous=previous)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing: strain is a function of the points."""
        return {}


def tet_strains(x: Points, tets: Integers, gradients: Array) -> Array:
    """(m, 6) Green strains (E₁₁, E₂₂, E₃₃, E₂₃, E₁₃, E₁₂) from rest gradients (m, 3, 3)."""
    out = np.empty((len(tets), 6))
    fill_strains(own_points(x), tets, gradients, out)
    return out
