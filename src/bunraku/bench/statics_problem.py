"""One balance of a slab's skin as plain matrices, for solvers that are compared: forces, stiffness, conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass, pin_jacobian
from bunraku.contracts import Array, Energy, EnergySource, Points, Sparse, State, Stencil, Vector
from bunraku.dynamics import Equilibrium, EquilibriumSettings, Mass, System
from bunraku.dynamics.system import shifted_stencils
from bunraku.energies import Bending, Foundation, Membrane
from bunraku.geometry import lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.scenes.slab import Slab

_LONG = 2.0**20
"""[s] of a step in which nothing that depends on rates is felt"""


@dataclass(frozen=True, eq=False)
class Balance:
    """A slab at the end of its pressing: min E(x) on H x = c."""

    slab: Slab

    @property
    def force(self) -> float:
        """[N] to compare with: what stretches an edge to twice its length."""
        layers = self.slab.layers
        return layers.young * layers.thickness * self.slab.length / self.slab.columns

    @cached_property
    def equilibrium(self) -> Equilibrium:
        """Ours, on the same energies and conditions."""
        mass = Mass(lumped_mass(self.slab.mesh, 1000.0 * self.slab.layers.thickness))
        held = LinearConstraint(
            self.rows, lambda time: self.goals, lambda time: np.ones(len(self.goals)),
            felt_mass(self.rows, mass.lumped),
        )  # fmt: skip
        settings = EquilibriumSettings(length=self.slab.layers.thickness)
        return Equilibrium(System(mass, tuple(self._sources), (held,)), settings, threads=self.slab.threads)

    @cached_property
    def rows(self) -> Sparse:
        """(r, 3n) H: what is held, tied, and coupled on average."""
        skin, count = self.slab.skin, self.slab.mesh.point_count
        out = [pin_jacobian(np.asarray(which), np.asarray(axes), count) for which, axes in skin.held]
        for one, other, axes in skin.tied:
            first, second = (pin_jacobian(np.asarray(which), np.asarray(axes), count) for which in (one, other))
            out.append(sparse.csr_array(first - second))
        return sparse.csr_array(sparse.vstack([*out, average_jacobian(skin.averages)], format="csr"))

    @cached_property
    def goals(self) -> Vector:
        """(r,) c"""
        return self.rows @ self.slab.places(1.0).reshape(-1)

    def flat(self) -> Vector:
        """(3n,) where the interior has it: in balance, on a ridge."""
        return self.slab.places(1.0).reshape(-1)

    def seeded(self, height: float) -> Vector:
        """(3n,) with a bump of a height [m] in the middle, half a wave wide: what a small load would leave."""
        x = self.slab.places(1.0)
        away = (x[:, 0] - x[:, 0].mean()) / (0.25 * self.slab.layers.wavelength)
        return (x + np.outer(height * np.exp(-(away**2)), [0.0, 1.0, 0.0])).reshape(-1)

    def waved(self, height: float) -> Vector:
        """(3n,) with waves of theory's length and a height [m], fading at the ends."""
        x, rest = self.slab.places(1.0), self.slab.mesh.rest[:, 0]
        wave = np.sin(self.slab.layers.wave_number * rest) * np.sin(np.pi * rest / self.slab.length)
        return (x + np.outer(height * wave, [0.0, 1.0, 0.0])).reshape(-1)

    def state(self, x: Vector) -> State:
        """At the end of the pressing."""
        return State(1.0, x.copy(), np.zeros_like(x))

    def value(self, x: Vector) -> float:
        """[J]"""
        return sum(one.value(x.reshape(-1, 3)) for one in self.energies)

    def gradient(self, x: Vector) -> Vector:
        """(3n,) [N]"""
        return np.sum([one.gradient(x.reshape(-1, 3)) for one in self.energies], axis=0).reshape(-1)

    def stiffness(self, x: Vector) -> Callable[[Vector], Vector]:
        """The full Hessian at x times vectors; the plate's moments are eliminated by a solve with its compliance."""
        whole, count = self.bordered(x), len(x)
        own, border = sparse.csr_array(whole[:count, :count]), sparse.csr_array(whole[count:, :count])
        solve = self._compliance(whole[count:, count:])
        back = sparse.csr_array(border.T)
        return lambda v: own @ v + back @ solve.solve(border @ v)

    def bordered(self, x: Vector) -> Sparse:
        """[K Jᵀ; J −C] (3n + m, 3n + m), the plate's moments kept as unknowns."""
        blocks = [block for one in self.energies for block in one.blocks(x.reshape(-1, 3), psd=False)]
        size = len(x) + sum(one.auxiliary_count for one in self.energies)
        stencils = shifted_stencils(self.energies, len(x) // 3, psd=False)
        parts = [_spread(stencil, block, size) for stencil, block in zip(stencils, blocks, strict=True)]
        return sparse.csr_array(sum(parts[1:], start=parts[0]))

    @cached_property
    def energies(self) -> list[Energy]:
        """Stretching, bending and the foundation, at the end of the pressing."""
        before = State(1.0 - _LONG, self.flat(), np.zeros(3 * self.slab.mesh.point_count))
        return [source.at(before, _LONG) for source in self._sources]

    @cached_property
    def _sources(self) -> list[EnergySource]:
        layers, mesh = self.slab.layers, self.slab.mesh
        blend = MaterialBlend.uniform(ShellMaterial(layers.young, layers.poisson, layers.thickness), len(mesh.faces))
        lift, slope = (np.full(len(mesh.faces), value) for value in (layers.lift, layers.slope))
        places: Points = self.slab.places(1.0)
        return [Membrane(mesh, blend), Bending(mesh, blend), Foundation(mesh, lift, slope, lambda time: places)]

    def _compliance(self, negative: Sparse) -> linalg.SuperLU:
        """Of the plate: it never changes, so its factor is made once."""
        if "compliance" not in self.__dict__:
            self.__dict__["compliance"] = linalg.splu(sparse.csc_array(-negative))
        return self.__dict__["compliance"]


def _spread(stencil: Stencil, block: Array, size: int) -> Sparse:
    """Local blocks (m, a, b) as a matrix; of those beside the diagonal the transpose too."""
    columns = stencil.rows if stencil.columns is None else stencil.columns
    rows = np.broadcast_to(stencil.rows[:, :, None], block.shape).reshape(-1)
    across = np.broadcast_to(columns[:, None, :], block.shape).reshape(-1)
    kept = (rows >= 0) & (across >= 0)
    out = sparse.csr_array((block.reshape(-1)[kept], (rows[kept], across[kept])), shape=(size, size))
    return out if stencil.columns is None else sparse.csr_array(out + out.T)
