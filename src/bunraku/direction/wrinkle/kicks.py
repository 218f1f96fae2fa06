"""Explicit steps of an interior that feels its skin [Remillard 2013, §6.3]: the skin is in balance, the body is kicked.

The skin has no inertia of its own: its mass is the nodes', and at every moment it is in balance on the interior, with
the energy E*(q) = min over x of E(x, q). By the envelope theorem its force on the nodes is that of its own energy where
it is, −Bᵀ ∇E(x), for what holds it on average and below goes by x − B q alone. E* is at most the energy of a skin that
is carried along from where it is in balance, so that Bᵀ K B, which is no good as a tangent of steps (it takes waves to
be as stiff as the flat skin), is a sure bound for how long they may be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from bunraku.contracts import WHY, Outcome, Points, Solution, State
from bunraku.dynamics import Mass, SymplecticEuler, System
from bunraku.energies import GravityEnergy

from .interior import POINTS, VELOCITY, LatticeInterior, Memory
from .skin import Skin


class Kicks:
    """Steps of the nodes from a state of the skin, whose memory has them."""

    def __init__(self, interior: LatticeInterior, skin: Skin) -> None:
        self._interior, self._skin = interior, skin

    def step(self, state: State, dt: float) -> Solution[Memory]:
        """Of length dt [s]; not taken where it would be too long."""
        longest = self.longest(state)
        if dt > longest:
            why = {WHY: f"explicit steps were no longer stable: up to {longest:.2g} s, and this one has {dt:.2g} s"}
            return Solution(state.memory, Outcome.NOT_CONVERGED, {"iterations": 0}, why)
        pull = -self._carried(state)(self._nodes(state).q.reshape(-1, 3))
        found = self._stepper.step(self._nodes(state), dt, pull=pull)
        after = {POINTS: found.value.q.reshape(-1, 3), VELOCITY: found.value.velocity.reshape(-1, 3)}
        return Solution(after, found.outcome, found.stats, found.evidence)

    def longest(self, state: State) -> float:
        """[s] the longest step that is stable."""
        return self._stepper.longest(self._nodes(state), self._carried(state))

    def _carried(self, state: State) -> Callable[[Points], Points]:
        """Nodes (n, 3) → the gradient (n, 3) [N] of a skin that goes along with them from where it is."""
        x, lattice = state.q.reshape(-1, 3), self._interior.lattice
        energies, before = self._skin.elastic_at(state), lattice.points(state.memory[POINTS])

        def gradient(nodes: Points) -> Points:
            there = x + lattice.points(nodes) - before
            return np.asarray(lattice.embedding.T @ sum(one.gradient(there) for one in energies))

        return gradient

    @staticmethod
    def _nodes(state: State) -> State:
        return State(state.time, state.memory[POINTS].reshape(-1), state.memory[VELOCITY].reshape(-1))

    @cached_property
    def _stepper(self) -> SymplecticEuler:
        interior = self._interior
        masses = interior.loaded_mass
        energies = (*interior.elastic, GravityEnergy(masses, interior.gravity))
        return SymplecticEuler(System(Mass(masses), energies, interior.conditions(masses)))
