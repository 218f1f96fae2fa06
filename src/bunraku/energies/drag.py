"""Air drag of a shell as its material is keyed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bunraku.contracts import Array, State, Vector
from bunraku.geometry import TriMesh, lumped_mass
from bunraku.materials import MaterialBlend

from .external import DragEnergy


@dataclass(frozen=True, eq=False)
class Drag:
    """Resistance of still or steadily moving air: force per area = drag × (wind − velocity)."""

    mesh: TriMesh
    material: MaterialBlend
    wind: Vector = field(default_factory=lambda: np.zeros(3))
    """(3,) velocity of the air [m/s]"""

    def at(self, state: State, dt: float) -> DragEnergy:
        """The energy of the step to `state.time + dt`."""
        drag = self.material.at(state.time + dt).drag
        return DragEnergy(lumped_mass(self.mesh, drag), state.q.reshape(-1, 3) + dt * self.wind, dt)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing."""
        return {}
