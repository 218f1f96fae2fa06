"""The soft interior under a skin: a lattice that moves by its own mechanics, or an animation that is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bunraku.constraints import LinearConstraint
from bunraku.contracts import (
    WHY,
    Array,
    EnergySource,
    InputError,
    Outcome,
    PhysicsStopped,
    Points,
    Solution,
    State,
    Vector,
)
from bunraku.dynamics import Equilibrium, EquilibriumSettings, ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import Contraction, GravityEnergy, LatticeSolid, PointDamping
from bunraku.geometry import Lattice, TriMesh
from bunraku.materials import SolidMaterial
from bunraku.motion import Animation, Curve

from .followed import Followed
from .handles import Handle, Held
from .muscles import Muscle

POINTS, VELOCITY = "interior", "interior_velocity"
"""in a state's memory: (n, 3) nodes [m] and their rates [m/s]"""
Memory = Mapping[str, Array]
_SOON = 1e-3
"""[s] over which the speed of a first pose is taken"""


class Interior(Protocol):
    """What is under a skin: where it has the skin's points, and how it goes on."""

    @property
    def surface(self) -> TriMesh:
        """The skin at rest."""
        ...

    def start(self, time: float) -> Memory:
        """What is kept of it in a state, at the beginning."""
        ...

    def step(self, memory: Memory, time: float, dt: float) -> Solution[Memory]:
        """From a time [s] on by dt."""
        ...

    def places(self, memory: Memory, time: float) -> Points:
        """(n, 3) where it has the skin's points [m]."""
        ...

    def earlier(self, memory: Memory, time: float, dt: float) -> Points:
        """(n, 3) where they were before the step of length dt [s] that led there."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """What a report should say of it once."""
        ...

    def missed(self, memory: Memory, time: float) -> Vector:
        """(h,) [m] how far handles are from where they are to be."""
        ...

    def unshaped(self, memory: Memory, time: float) -> Vector:
        """(m,) [m] root mean square distances of muscles' matter from the shapes they are to have."""
        ...

    def inside_out(self, memory: Memory) -> int:
        """How many of its cells are inside out somewhere."""
        ...


@dataclass(frozen=True, eq=False)
class AnimatedInterior:
    """A body that was animated elsewhere: a character, a face, a take."""

    animation: Animation

    @property
    def surface(self) -> TriMesh:
        """The animation's mesh."""
        return self.animation.mesh

    def start(self, time: float) -> Memory:
        """Nothing is kept."""
        return {}

    def step(self, memory: Memory, time: float, dt: float) -> Solution[Memory]:
        """Nothing is to be solved."""
        return Solution(memory, Outcome.CONVERGED, {"iterations": 0})

    def places(self, memory: Memory, time: float) -> Points:
        """As animated."""
        return self.animation.at(time)

    def earlier(self, memory: Memory, time: float, dt: float) -> Points:
        """As animated."""
        return self.animation.at(time - dt)

    def facts(self) -> Mapping[str, Any]:
        """It is what it is."""
        return {"interior": "animated"}

    def missed(self, memory: Memory, time: float) -> Vector:
        """There are no handles."""
        return np.zeros(0)

    def unshaped(self, memory: Memory, time: float) -> Vector:
        """There are no muscles."""
        return np.zeros(0)

    def inside_out(self, memory: Memory) -> int:
        """There are no cells."""
        return 0


@dataclass(frozen=True, eq=False)
class LatticeInterior:
    """A soft body on a lattice, moved by handles, muscles, averages of an animation that it follows, and gravity."""

    lattice: Lattice
    material: SolidMaterial
    handles: Sequence[Handle]
    gravity: Vector
    """(3,) [m/s²]"""
    skin_mass: Vector
    """(n_surface,) of the skin's vertices [kg]"""
    threads: int | None = None
    followed: Followed | None = None
    muscles: Sequence[Muscle] = ()
    swelling: Curve | None = None
    """as for `LatticeSolid`"""

    @property
    def surface(self) -> TriMesh:
        """What the lattice carries."""
        return self.lattice.surface

    def start(self, time: float) -> Memory:
        """At rest, as handles begin: what they ask for at once is met in the first step. A body that follows an
        animation begins where that does, as fast as it is."""
        if self.followed is None:
            return {POINTS: self.lattice.rest.copy(), VELOCITY: np.zeros_like(self.lattice.rest)}
        system = System(Mass(self.own_mass), self.elastic, self.conditions(self.own_mass))
        search = Equilibrium(system, EquilibriumSettings(length=self.lattice.cell, loose=True), threads=self.threads)
        first = self._balanced(search, time, self.followed.affine(self.lattice, time))
        soon = self._balanced(search, time + _SOON, first)
        return {POINTS: first, VELOCITY: (soon - first) / _SOON}

    @staticmethod
    def _balanced(search: Equilibrium, time: float, guess: Points) -> Points:
        """(n, 3) nodes at rest on the animation's averages at a time [s], without weight."""
        found = search.find(State(time, guess.reshape(-1), np.zeros(guess.size)))
        if not found.outcome.usable:
            why = found.evidence.get(WHY, found.outcome.value)
            raise PhysicsStopped(f"no first pose follows the animation: {why}", index=0, time=time)
        return found.value.q.reshape(-1, 3)

    def step(self, memory: Memory, time: float, dt: float) -> Solution[Memory]:
        """One step of implicit Euler, with the skin's weight but not its stiffness."""
        before = State(time, memory[POINTS].reshape(-1), memory[VELOCITY].reshape(-1))
        found = self._stepper.step(before, dt)
        after = {POINTS: found.value.q.reshape(-1, 3), VELOCITY: found.value.velocity.reshape(-1, 3)}
        return Solution(after, found.outcome, found.stats, found.evidence)

    def places(self, memory: Memory, time: float) -> Points:
        """Where the nodes take the surface."""
        return self.lattice.points(memory[POINTS])

    def earlier(self, memory: Memory, time: float, dt: float) -> Points:
        """They came from there with the velocity they have, as implicit Euler does."""
        return self.lattice.points(memory[POINTS] - dt * memory[VELOCITY])

    def facts(self) -> Mapping[str, Any]:
        """Its size."""
        return {
            "interior": "lattice", "cell": self.lattice.cell, "elements": len(self.lattice.elements),
            "nodes": self.lattice.point_count, "volume": float(self.lattice.volumes.sum()),
            "muscle_samples": [len(one.relaxed) for one in self.contractions],
            "muscle_ways": [_mean_way(one.contracted_all().away(self.lattice.rest)) for one in self.contractions],
        }  # fmt: skip

    def missed(self, memory: Memory, time: float) -> Vector:
        """How far handles are from where they are to be, or averages of an animation that is followed."""
        if self.followed is not None:
            return self.followed.missed(self.lattice.points(memory[POINTS]), time)
        return self.held.missed(memory[POINTS], time) if self.handles else np.zeros(0)

    def unshaped(self, memory: Memory, time: float) -> Vector:
        """How far muscles are from the shapes they are to have."""
        away = [one.at_time(time).away(memory[POINTS]) for one in self.contractions]
        return np.array([_mean_way(one) for one in away])

    def inside_out(self, memory: Memory) -> int:
        """Of its elements."""
        return int(self.lattice.inside_out(memory[POINTS]).sum())

    @cached_property
    def contractions(self) -> tuple[Contraction, ...]:
        """The muscles' springs on the lattice."""
        found, wrong = [], []
        for k, one in enumerate(self.muscles):
            try:
                found.append(one.embedded(self.lattice, self.material.young, f"muscles[{k}]"))
            except InputError as error:
                wrong.append(str(error))
        if wrong:  # all of them at once
            raise InputError("\n".join(wrong))
        return tuple(found)

    @cached_property
    def own_mass(self) -> Vector:
        """(n,) of the nodes, without the skin [kg]."""
        return self.lattice.masses(self.material.density)

    @property
    def elastic(self) -> tuple[EnergySource, ...]:
        """What makes the nodes a soft body, muscles included, but for gravity."""
        damping = PointDamping(self.material.mass_damping * self.own_mass)
        return LatticeSolid(self.lattice, self.material, self.swelling), damping, *self.contractions

    def conditions(self, masses: Vector) -> tuple[LinearConstraint, ...]:
        """Of the nodes, of masses (n,) [kg]."""
        if self.followed is not None:
            return (self.followed.constraint(self.lattice, masses),)
        return (self.held.constraint(masses),) if self.handles else ()

    @cached_property
    def held(self) -> Held:
        """All handles."""
        return Held(self.lattice, self.handles)

    @cached_property
    def loaded_mass(self) -> Vector:
        """(n,) of the nodes, with that of the skin they carry [kg]."""
        return self.own_mass + self.lattice.embedding.T @ self.skin_mass

    @cached_property
    def _stepper(self) -> ImplicitEuler:
        masses = self.loaded_mass
        energies = (*self.elastic, GravityEnergy(masses, self.gravity))
        settings = NewtonSettings(length=self.surface.size)
        return ImplicitEuler(System(Mass(masses), energies, self.conditions(masses)), settings, threads=self.threads)


def _mean_way(away: Points) -> float:
    """[m] root mean square length of ways (s, 3)."""
    return float(np.sqrt(np.mean(np.sum(away * away, axis=1))))
