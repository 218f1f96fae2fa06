"""The part of Rayleigh's damping that sees rigid motion: a force −α M v, M the mass matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bunraku.contracts import Array, Integers, Points, Sparse, State, Stencil, Vector
from bunraku.geometry import TetMesh, tet_lumped_mass, tet_mass_matrix, tet_masses
from bunraku.materials import SolidMaterial

from .external import DragEnergy

_LOCAL = (np.ones((4, 4)) + np.eye(4)) / 20.0  # of a tetrahedron of mass 1


@dataclass(frozen=True, eq=False)
class MassDragEnergy:
    """Mass damping of one step with a consistent mass matrix M: α/(2 dt) |x − xₙ|²_M, whose force is −α M v."""

    tets: Integers
    """(m, 4)"""
    coefficient: Vector
    """(m,) α × mass of each tetrahedron [kg/s]"""
    matrix: Sparse
    """(n, n) α M [kg/s], the sum of theirs"""
    previous: Points
    """(n, 3) xₙ [m]"""
    dt: float
    """[s]"""

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        moved = x - self.previous
        return float(np.sum(moved * (self.matrix @ moved))) / (2.0 * self.dt)

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        return np.asarray(self.matrix @ (x - self.previous)) / self.dt

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """Each tetrahedron's corners, for x, y and z alike."""
        return (Stencil((3 * self.tets[:, None, :] + np.arange(3)[None, :, None]).reshape(-1, 4)),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Constant."""
        return (np.repeat(self.coefficient / self.dt, 3)[:, None, None] * _LOCAL,)


@dataclass(frozen=True, eq=False)
class PointDamping:
    """Gives each step the mass damping of points with masses of their own, whatever they are the points of."""

    coefficient: Vector
    """(n,) α × mass [kg/s]"""

    def at(self, state: State, dt: float) -> DragEnergy:
        """The energy of the step to `state.time + dt`."""
        return DragEnergy(self.coefficient, state.q.reshape(-1, 3), dt)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing."""
        return {}


@dataclass(frozen=True, eq=False)
class MassDamping:
    """Gives each step its mass damping, with the mass lumped at vertices or `consistent`, as inertia has it."""

    mesh: TetMesh
    material: SolidMaterial
    consistent: bool = False
    _lumped: Vector = field(init=False, repr=False)
    """(n,) [kg/s]"""
    _matrix: Sparse | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matrix = tet_mass_matrix(self.mesh, self._share) if self.consistent else None
        object.__setattr__(self, "_lumped", tet_lumped_mass(self.mesh, self._share))
        object.__setattr__(self, "_matrix", matrix)

    @property
    def _share(self) -> float:
        """[kg/m³/s]"""
        return self.material.mass_damping * self.material.density

    def at(self, state: State, dt: float) -> DragEnergy | MassDragEnergy:
        """The energy of the step to `state.time + dt`."""
        before = state.q.reshape(-1, 3)
        if self._matrix is None:
            return DragEnergy(self._lumped, before, dt)
        return MassDragEnergy(self.mesh.tets, tet_masses(self.mesh, self._share), self._matrix, before, dt)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing."""
        return {}
