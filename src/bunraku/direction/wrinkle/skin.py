"""A thin skin on a soft interior that is somewhere: in balance with itself and with what holds it.

At coarse scale the skin is where the interior is, on average [Remillard 2013, §3.1]. Below that scale the interior has
no unknowns, but it does resist: the foundation's energy says by how much, and so materials decide how long waves are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass, pin_jacobian
from bunraku.contracts import Array, Energy, EnergySource, Integers, Points, Solution, Sparse, State, Vector
from bunraku.direction.track.test_functions import TestFunctions
from bunraku.dynamics import LONG_STEP, Equilibrium, EquilibriumSettings, Mass, System
from bunraku.energies import Bending, Foundation, Membrane
from bunraku.geometry import TriMesh, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial, SkinOnSoft, VaryingSkin
from bunraku.motion import Growth

from .varying import areal_masses

Places = Callable[[float], Points]
"""time [s] → (n, 3) where the interior has the skin's points [m]"""
ENOUGH = 1e-6
"""of the thickness: steps of a search that are shorter end it"""


@dataclass(frozen=True, eq=False)
class Skin:
    """A skin, what it is on, and where that is."""

    mesh: TriMesh
    """at rest"""
    layers: SkinOnSoft
    places: Places
    tests: TestFunctions
    """what is coupled on average: it holds the skin in place"""
    foundation: bool = True
    """whether the interior resists below that scale; False is the thesis's way, in which the tests' spacing alone
    decides how long waves are"""
    held: Sequence[tuple[Integers, tuple[int, ...]]] = ()
    """vertices that are where the interior is, and along which axes"""
    tied: Sequence[tuple[Integers, Integers, tuple[int, ...]]] = ()
    """vertices, others, and axes along which the first go as the second do: at a plane of symmetry, say"""
    density: float = 1000.0
    """[kg/m³] of the skin: it weighs the averages, and nothing else"""
    threads: int | None = None
    limit: int = EquilibriumSettings.limit
    """iterations of a search"""
    growth: Growth | None = None
    """of its lengths at rest, the interior's staying as they are"""
    blend: MaterialBlend | None = None
    """its materials on every face, where they differ; `layers` has then those with the shortest waves"""
    before: Places | None = None
    """where it is drawn back to; None: it remembers nothing"""
    coherence: Callable[[float], float] | None = None
    """time [s] → how many times as much as the interior resists"""

    def at(
        self, time: float, before: Points | None = None, memory: Mapping[str, Array] | None = None
    ) -> Solution[State]:
        """In balance at a time [s]; `before` (n, 3) [m] is how the search begins, else where the interior is, and
        `memory` which branches its angles are on."""
        places = self.places(time)
        first = places if before is None else before
        return self._equilibrium.find(replace(self._state(time, first), memory=memory or {}))

    def stable_where_the_interior_is(self, time: float) -> bool:
        """Whether a skin that follows the interior to the letter would stay so."""
        return self._equilibrium.stable_at(self._state(time, self.places(time)))

    def energy(self, time: float, x: Points) -> float:
        """[J] of skin and foundation at a time [s], with the skin at x (n, 3)."""
        return self._equilibrium.energy(self._state(time, x))

    @cached_property
    def averages(self) -> Sparse:
        """(k, n) what is coupled, as weights of the vertices."""
        return self.tests.averages(self.mesh, self.mesh)[1]

    @staticmethod
    def _state(time: float, x: Points) -> State:
        return State(time, x.reshape(-1).copy(), np.zeros(x.size))

    @cached_property
    def _equilibrium(self) -> Equilibrium:
        settings = EquilibriumSettings(ENOUGH, self.layers.thickness, self.limit)
        return Equilibrium(self._system, settings, threads=self.threads)

    @cached_property
    def elastic(self) -> tuple[EnergySource, ...]:
        """What makes it a thin elastic sheet."""
        layers, blend = self.layers, self.blend
        if blend is None:
            material = ShellMaterial(layers.young, layers.poisson, layers.thickness, self.density)
            blend = MaterialBlend.uniform(material, len(self.mesh.faces))
        return Membrane(self.mesh, blend, growth=self.growth), Bending(self.mesh, blend, growth=self.growth)

    def elastic_at(self, state: State) -> list[Energy]:
        """What makes it a sheet, as it is at a state's time and on its branches; it is not viscous."""
        before = replace(state, time=state.time - LONG_STEP, velocity=np.zeros_like(state.velocity))
        return [one.at(before, LONG_STEP) for one in self.elastic]

    @property
    def resistance(self) -> tuple[Vector, Vector]:
        """K [N/m³] and b [N/m] of what is under each face (f,)."""
        layers = self.layers
        if self.blend is not None:
            varying = VaryingSkin(self.blend.at(0.0), layers.under, layers.poisson_under)
            return varying.lift, varying.slope
        lift, slope = (np.full(len(self.mesh.faces), one) for one in (layers.lift, layers.slope))
        return lift, slope

    @property
    def thickest(self) -> float:
        """[m]"""
        return self.layers.thickness if self.blend is None else float(self.blend.at(0.0).thickness.max())

    @property
    def areal_mass(self) -> Vector | float:
        """[kg/m²], of each face (f,) where they differ."""
        return self.density * self.layers.thickness if self.blend is None else areal_masses(self.blend)

    @cached_property
    def _system(self) -> System:
        mesh = self.mesh
        under = [Foundation(mesh, *self.resistance, self.places)] if self.foundation else []
        if self.before is not None:
            lift, slope = self.resistance
            under.append(Foundation(mesh, lift, slope, self.before, strength=self.coherence))
        mass = Mass(lumped_mass(mesh, self.areal_mass))
        return System(mass, (*self.elastic, *under), tuple(self._conditions(mass)))

    def _conditions(self, mass: Mass) -> list[LinearConstraint]:
        count = self.mesh.point_count
        rows = [pin_jacobian(np.asarray(which), np.asarray(axes), count) for which, axes in self.held]
        for one, other, axes in self.tied:
            first, second = (pin_jacobian(np.asarray(which), np.asarray(axes), count) for which in (one, other))
            rows.append(sparse.csr_array(first - second))
        rows.append(average_jacobian(self.averages))
        return [self._condition(one, mass) for one in rows]

    def _condition(self, jacobian: Sparse, mass: Mass) -> LinearConstraint:
        count = jacobian.shape[0]
        return LinearConstraint(
            jacobian, lambda time: jacobian @ self.places(time).reshape(-1), lambda time: np.ones(count),
            felt_mass(jacobian, mass.lumped),
        )  # fmt: skip
