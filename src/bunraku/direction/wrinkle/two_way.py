"""A soft body and its skin as one system: the interior carries the skin, the skin pulls back.

The points are the lattice's nodes, then the skin's vertices. A step of implicit Euler minimises the energy of both with
their inertia at once, so the interior's step knows how the skin will give way, wrinkled or not: there is no tangent to
be guessed, and no step to be kept short for it. What is coupled on average is so exactly; below that scale the bond
pulls both ways. A handle has the skin's own vertices, exactly and whatever its motion. Each step ends in a minimum, in
which no wrinkle is left out (`dynamics/equilibrium.py`); among surfaces that touch it ends where the positive Hessian
and what is in the way lead it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.collision import Pinches, Surfaces
from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass, pin_jacobian
from bunraku.contracts import (
    Array,
    Constraint,
    EnergySource,
    Outcome,
    Solution,
    Sparse,
    State,
    Stepper,
    Vector,
    input_error,
)
from bunraku.direction.contact import Contact, near_at_first
from bunraku.direction.track.tangles import tangles, told
from bunraku.dynamics import Equilibrium, EquilibriumSettings, ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import BondEnergy, GravityEnergy, Placed
from bunraku.geometry import TriMesh

from .interior import POINTS, VELOCITY, LatticeInterior
from .skin import Skin

_TOLERANCE = 1e-6
"""of the skin's thickness: a step is solved when Newton's is shorter"""
_MOSTLY = 0.5
"""share of an average's weight on vertices of handles from which on it is left to them: nodes cannot follow a handle in
more averages than they are"""


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
        self._check_clear(state)
        stats = {"iterations": 0, "interior_iterations": 0, "ridges": 0, "converged": True}
        return Solution(state, Outcome.CONVERGED, stats)

    def _check_clear(self, state: State) -> None:
        """Refuse a first pose that cuts something, or is nearer to it than the thickness: there is no way out of it."""
        surfaces = self.system.contact
        if not isinstance(surfaces, Surfaces):
            return
        skin = replace(surfaces, shell=self.skin.mesh, named={}, between=())
        found = tangles(skin, state.q.reshape(-1, 3), state.time)
        if found:
            what, remedy = told(found, "skin")
            raise input_error("the first pose is in the way of something", where="contact", got=what, remedy=remedy)

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        """From a state on by dt [s]."""
        found = self._stepper.step(self._joined(state), dt, last=last)
        converged = found.outcome is Outcome.CONVERGED
        stats: dict[str, Any] = {"ridges": 0, **found.stats, "interior_iterations": 0, "converged": converged}
        value = self._apart(found.value) if found.outcome.usable else state
        return Solution(value, found.outcome, stats, self._of_the_skin(found.evidence))

    def _of_the_skin(self, evidence: Mapping[str, Any]) -> dict[str, Any]:
        """With the skin's own number of the worst vertex; of a node, which nobody sees, with none."""
        out = dict(evidence)
        if "vertex" in out:
            vertex = out.pop("vertex") - self.nodes
            out |= {"vertex": vertex} if vertex >= 0 else {}
        return out

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
        return System(Mass(masses), tuple(energies), self._conditions(masses), self._surfaces())

    def _surfaces(self) -> Surfaces | None:
        """What may touch: of all points the skin's faces alone."""
        if self.contact is None:
            return None
        if self.contact.parts or self.contact.layers:
            raise input_error(
                "parts and layers are for garments", where="contact.parts" if self.contact.parts else "contact.layers",
                allowed="none",
            )  # fmt: skip
        rest = np.concatenate([self.interior.lattice.rest, self.skin.mesh.rest])
        return self.contact.surfaces(TriMesh(rest, self.skin.mesh.faces + self.nodes), None, 0.0)

    @property
    def holds_skin(self) -> bool:
        """Whether handles take hold of the skin itself; without a foundation nothing else would take the body along,
        so they take hold of its nodes then."""
        return bool(self.interior.handles) and self.skin.foundation

    @cached_property
    def averages(self) -> Sparse:
        """(k, n) what is coupled on average: but for where handles have the skin, and the bond has the interior."""
        weights = self.skin.averages
        if not self.holds_skin:
            return weights
        held = np.zeros(self.skin.mesh.point_count)
        held[self.interior.held.vertices] = 1.0
        return weights[np.flatnonzero(weights @ held < _MOSTLY)]

    def missed(self, state: State) -> Vector:
        """How far the skin is from where handles have it, where they take hold of it; else how far the interior is."""
        if not self.holds_skin:
            return self.interior.missed(state.memory, state.time)
        return self.interior.held.farthest(state.q.reshape(-1, 3), state.time)

    def pulls(self, steps: Sequence[Solution[State]]) -> dict[str, Array]:
        """`handle_force` (h, 3) [N] with which each handle held the skin in the last step, where the skin is what they
        hold; zero where there was none, or it did not converge: what presses a handle that cannot go on then has any
        size. Averages come first in the conditions, then each vertex."""
        if not self.holds_skin:
            return {}
        held = self.interior.held
        if not steps or not steps[-1].stats["converged"]:
            return {"handle_force": np.zeros((len(held.handles), 3))}
        pressing = np.asarray(steps[-1].stats["multipliers"])[3 * self.averages.shape[0] :]
        return {"handle_force": -held.summed(pressing.reshape(-1, 3))}

    def near(self, state: State, steps: Sequence[Solution[State]]) -> dict[str, Array]:
        """Of surfaces that may touch: near `pairs`, the least distance `closest` [m] among them, and how many vertices
        were `pinched` in one of the steps that led to a state."""
        if self.contact is None:
            return {}
        found = steps[-1].stats["contact"] if steps else near_at_first(self.system.contact, self._joined(state))
        pinched = [len(Pinches.of(one.value.memory)) for one in steps]
        return {
            "pairs": np.array(int(found["pairs"])), "closest": np.array(float(found["closest"])),
            "pinched": np.array(max(pinched, default=0)),
        }  # fmt: skip

    def _conditions(self, masses: Vector) -> tuple[Constraint, ...]:
        """What is coupled on average, and what is asked of the skin or of the nodes."""
        weights = sparse.hstack([-(self.averages @ self.interior.lattice.embedding), self.averages])
        coupled = average_jacobian(sparse.csr_array(weights))
        out: list[Constraint] = [_hard(coupled, lambda time: np.zeros(coupled.shape[0]), masses)]
        if self.holds_skin:
            held = self.interior.held
            pinned = pin_jacobian(held.vertices + self.nodes, np.arange(3), self.total)
            return (*out, _hard(pinned, lambda time: held.goals(time).reshape(-1), masses))
        asked = self.interior.conditions(self.interior.own_mass)
        return (*out, *(replace(one, jacobian=self._behind(one.jacobian)) for one in asked))

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


def _hard(jacobian: Sparse, goals: Callable[[float], Vector], masses: Vector) -> LinearConstraint:
    """J x = goals(t), always."""
    count = jacobian.shape[0]
    return LinearConstraint(jacobian, goals, lambda time: np.ones(count), felt_mass(jacobian, masses))


def _without_nodes(memory: Mapping[str, Array]) -> dict[str, Array]:
    return {key: value for key, value in memory.items() if key not in (POINTS, VELOCITY)}
