"""A soft body and its skin as one system: the interior carries the skin, the skin pulls back.

The points are the lattice's nodes, then the skin's vertices. A step of implicit Euler minimises the energy of both with
their inertia at once, so the interior's step knows how the skin will give way, wrinkled or not: there is no tangent to
be guessed, and no step to be kept short for it. What is coupled on average is so exactly; below that scale the bond
pulls both ways. Each step ends in a minimum, in which no wrinkle is left out (`dynamics/equilibrium.py`); among
surfaces that touch it ends where the positive Hessian and what is in the way lead it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Array, Constraint, EnergySource, Outcome, Solution, Sparse, State, Stepper, Vector
from bunraku.direction.contact import Contact
from bunraku.dynamics import Equilibrium, EquilibriumSettings, ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import BondEnergy, GravityEnergy, Placed
from bunraku.geometry import TriMesh

from .interior import POINTS, VELOCITY, LatticeInterior
from .skin import Skin

_TOLERANCE = 1e-6
"""of the skin's thickness: a step is solved when Newton's is shorter"""


class TwoWay:
    """Steps of nodes and skin together. A state's coordinates are the skin's, its memory has the nodes."""

    def __init__(self, interior: LatticeInterior, skin: Skin, contact: Contact | None = None) -> None:
        self.interior, self.skin, self.contact = interior, skin, contact

    @property
    def nodes(self) -> int:
        """How many of the points are nodes."""
        return self.interior.lattice.point_count

    @property
    def total(self) -> int:
        """Number of all points."""
        return self.nodes + self.skin.mesh.point_count

    def start(self, time: float = 0.0) -> Solution[State]:
        """Where the interior begins; what is not in balance there moves in the first step."""
        memory = self.interior.start(time)
        places, speed = (self.interior.lattice.points(memory[key]) for key in (POINTS, VELOCITY))
        state = State(time, places.reshape(-1).copy(), speed.reshape(-1).copy(), memory)
        stats = {"iterations": 0, "interior_iterations": 0, "ridges": 0, "converged": True}
        return Solution(state, Outcome.CONVERGED, stats)

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        """From a state on by dt [s]."""
        found = self._stepper.step(self._joined(state), dt, last=last)
        converged = found.outcome is Outcome.CONVERGED
        stats: dict[str, Any] = {"ridges": 0, **found.stats, "interior_iterations": 0, "converged": converged}
        value = self._apart(found.value) if found.outcome.usable else state
        return Solution(value, found.outcome, stats, found.evidence)

    def _joined(self, state: State) -> State:
        """Of all points."""
        nodes = (state.memory[key].reshape(-1) for key in (POINTS, VELOCITY))
        q, velocity = (np.concatenate(both) for both in zip(nodes, (state.q, state.velocity), strict=True))
        return State(state.time, q, velocity, _without_nodes(state.memory))

    def _apart(self, joint: State) -> State:
        """Of the skin, with the nodes in its memory."""
        cut = 3 * self.nodes
        nodes = {POINTS: joint.q[:cut].reshape(-1, 3), VELOCITY: joint.velocity[:cut].reshape(-1, 3)}
        return replace(joint, q=joint.q[cut:], velocity=joint.velocity[cut:], memory={**joint.memory, **nodes})

    @cached_property
    def system(self) -> System:
        """Nodes and skin."""
        interior, skin = self.interior, self.skin
        masses = np.concatenate([interior.own_mass, interior.skin_mass])
        inside = [Placed(one, 0, self.nodes, self.total) for one in interior.elastic]
        outside = [Placed(one, self.nodes, skin.mesh.point_count, self.total) for one in skin.elastic]
        energies: list[EnergySource] = [*inside, *outside, GravityEnergy(masses, interior.gravity)]
        if skin.foundation:
            energies.append(BondEnergy.of(skin.mesh, interior.lattice.embedding, *skin.resistance))
        touching = None
        if self.contact is not None:
            rest = np.concatenate([interior.lattice.rest, skin.mesh.rest])
            touching = self.contact.surfaces(TriMesh(rest, skin.mesh.faces + self.nodes), None, 0.0)
        return System(Mass(masses), tuple(energies), self._conditions(masses), touching)

    def _conditions(self, masses: Vector) -> tuple[Constraint, ...]:
        """What is coupled on average, and what is asked of the nodes."""
        weights = sparse.hstack([-(self.skin.averages @ self.interior.lattice.embedding), self.skin.averages])
        coupled = average_jacobian(sparse.csr_array(weights))
        count = coupled.shape[0]
        still = LinearConstraint(
            coupled, lambda time: np.zeros(count), lambda time: np.ones(count), felt_mass(coupled, masses)
        )
        asked = self.interior.conditions(self.interior.own_mass)
        return (still, *(replace(one, jacobian=self._behind(one.jacobian)) for one in asked))

    def _behind(self, jacobian: Sparse) -> Sparse:
        """(r, all coordinates) from (r, those of the nodes)."""
        rows = jacobian.shape[0]
        return sparse.csr_array((jacobian.data, jacobian.indices, jacobian.indptr), shape=(rows, 3 * self.total))

    @cached_property
    def _stepper(self) -> Stepper:
        length, threads = self.skin.layers.thickness, self.skin.threads
        if self.contact is not None:
            settings = NewtonSettings(length=self.skin.mesh.size, balance=self.contact.balance)
            return ImplicitEuler(self.system, settings, threads=threads)
        return Equilibrium(self.system, EquilibriumSettings(_TOLERANCE, length), threads=threads)


def _without_nodes(memory: Mapping[str, Array]) -> dict[str, Array]:
    return {key: value for key, value in memory.items() if key not in (POINTS, VELOCITY)}
