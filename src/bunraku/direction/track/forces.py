"""The forces of a tracked shell: what its material does, its weight, and the air."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import EnergySource, Flags, Vector
from bunraku.energies import Bending, GravityEnergy, Membrane, StrainLimit
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend
from bunraku.motion import RestShapes

from .air import Air
from .settings import TrackSettings


@dataclass(frozen=True, eq=False)
class Forces:
    """One of each kind."""

    membrane: Membrane
    bending: Bending
    weight: GravityEnergy
    limit: StrainLimit | None
    """of the material, if it has one"""
    air: Air

    @classmethod
    def of(
        cls, shell: TriMesh, blend: MaterialBlend, knobs: TrackSettings, mass: Vector, held: Flags, air: Air
    ) -> Forces:
        """Of a shell with lumped masses (n,) [kg] whose vertices `held` (n,) go exactly where they are told."""
        rest = RestShapes([knobs.rest], [1.0]) if isinstance(knobs.rest, np.ndarray) else knobs.rest
        rigid = np.all(held[shell.faces], axis=1)  # they move as told and must not bend like the rest
        return cls(
            Membrane(shell, blend, rest),
            Bending(shell, blend, plate=knobs.bending == "plate", rigid=rigid, rest=rest),
            GravityEnergy(mass, np.asarray(knobs.gravity, dtype=np.float64)),
            StrainLimit(shell, blend, rest) if blend.limited else None,
            air,
        )

    @property
    def all(self) -> tuple[EnergySource, ...]:
        """In the order in which the matrix takes them."""
        return (self.membrane, *self._bends, self.weight, *self._limits, *self.air.energies)

    @property
    def elastic(self) -> tuple[EnergySource, ...]:
        """Those of the material alone."""
        return (self.membrane, *self._bends, *self._limits)

    @property
    def _bends(self) -> Sequence[Bending]:
        return [self.bending] if self.bending.hinge_count else []  # single triangles have nothing to bend about

    @property
    def _limits(self) -> Sequence[StrainLimit]:
        return [self.limit] if self.limit else []
