"""Small bodies with their modes and warps, for the tests of warping."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from bunraku.dynamics import LinearBody, Modes, Warp, natural_modes
from bunraku.energies import linear_stiffness, solid_mass
from bunraku.geometry import TetMesh, tet_bar
from bunraku.materials import SolidMaterial

RUBBER = SolidMaterial(young=1e5, poisson=0.35, density=1000.0)


@dataclass(frozen=True, eq=False)
class Warped:
    """A body, its modes and its warp."""

    mesh: TetMesh
    mass: np.ndarray
    modes: Modes
    warp: Warp

    def pose(self, angle: float, seed: int = 0) -> np.ndarray:
        """Modal coordinates at which tetrahedra are turned by an angle [rad], in the mean."""
        weight = np.random.default_rng(seed).normal(size=self.modes.count)
        q = weight / np.sqrt(np.maximum(self.modes.stiffness, 0.1 * self.modes.stiffness.max()))
        turned = self.warp.numbers(self.modes.displacements(q))[:, :3]
        return q * angle / np.sqrt(np.mean(np.sum(turned**2, axis=1)))


@cache
def bar(held: bool, cells: tuple[int, int, int] = (8, 3, 3), count: int = 8) -> Warped:
    """A bar along x, in a wall or free."""
    mesh = tet_bar(cells, (0.1 * cells[0], 0.1 * cells[1], 0.1 * cells[2]))
    mass, fixed = solid_mass(mesh, RUBBER), np.flatnonzero((mesh.rest[:, 0] < 1e-9) & held)
    modes = natural_modes(LinearBody(mesh.rest, linear_stiffness(mesh, RUBBER), mass, fixed), count)
    return Warped(mesh, mass, modes, Warp(mesh, mass, fixed))
