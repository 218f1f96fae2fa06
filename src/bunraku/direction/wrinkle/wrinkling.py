"""A skin that wrinkles on an interior that moves, step by step: first the interior goes on, then its skin is balanced.

One way: the interior carries the skin's weight and does not feel its stiffness; unless it is kicked (`kicks.py`). The
skin has no inertia, so what it
does at a moment depends on the interior then, and on the waves it had before: each balance is looked for from the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from bunraku.contracts import (
    WHY,
    Array,
    Faces,
    Outcome,
    PhysicsStopped,
    Points,
    Solution,
    Sparse,
    State,
    Stepper,
    Vector,
)
from bunraku.geometry import vertex_normals

from .interior import Interior
from .kicks import Kicks
from .skin import Skin

WENT = "wrinkle.went"
"""[s] how long the last step was, in a state's memory"""
_COHERENT = 1.0 / 24.0
"""[s] in which a skin of coherence 1 is drawn back as much as the interior resists; in less, by more"""


class Wrinkling:
    """Steps of an interior with its skin. The state's coordinates are the skin's, its memory has the interior."""

    def __init__(self, interior: Interior, skin: Skin, coherence: float = 0.0, kicks: Kicks | None = None) -> None:
        """`skin` says how it is; where its interior is, is told step by step. With `kicks` the interior feels it."""
        self.interior, self._places, self._before = interior, interior.surface.rest, interior.surface.rest
        self._strength, self.kicks = 0.0, kicks
        self.skin = self._drawn_back = replace(skin, places=lambda time: self._places)
        if coherence:
            self._drawn_back = replace(
                self.skin, before=lambda time: self._before, coherence=lambda time: coherence * self._strength
            )

    @property
    def averages(self) -> Sparse:
        """All that is coupled."""
        return self.skin.averages

    def missed(self, state: State) -> Vector:
        """Of the interior."""
        return self.interior.missed(state.memory, state.time)

    def near(self, state: State, steps: Sequence[Solution[State]]) -> Mapping[str, Array]:
        """Nothing is felt."""
        return {}

    def pulls(self, steps: Sequence[Solution[State]]) -> Mapping[str, Array]:
        """Handles hold nodes: how hard is not told."""
        return {}

    def start(self, time: float = 0.0) -> Solution[State]:
        """In balance on the interior as it begins. Raises PhysicsStopped where there is nothing to begin with."""
        memory = self.interior.start(time)
        self._places = self.interior.places(memory, time)
        found = self.skin.at(time)
        if not found.outcome.usable and found.outcome is not Outcome.NOT_CONVERGED:
            raise PhysicsStopped(found.evidence.get(WHY, found.outcome.value), index=0, time=time)
        stats = {**found.stats, "interior_iterations": 0, "converged": found.outcome is Outcome.CONVERGED}
        return replace(
            found, value=replace(found.value, time=time, memory={**found.value.memory, **memory}), stats=stats
        )

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        """From a state on by dt [s]; `last` takes a balance that was looked for as long as is allowed."""
        before = self.interior.places(state.memory, state.time)
        kicks = self.kicks
        inside = kicks.step(state, dt) if kicks else self.interior.step(state.memory, state.time, dt)
        if not inside.outcome.usable:
            seen = {
                key: value for key, value in inside.evidence.items() if key != "vertex"
            }  # of a node, not the skin's
            return Solution(state, inside.outcome, inside.stats, seen)
        time, memory = state.time + dt, {**state.memory, **inside.value, WENT: np.array(dt)}
        x = state.q.reshape(-1, 3)
        places = self.interior.places(memory, time)
        faces = self.interior.surface.faces
        had, guess = (
            places + _carried(waves, before, places, faces) for waves in (x - before, self._going_on(state, before, dt))
        )
        self._places, self._before, self._strength = places, had, _COHERENT / dt
        found = self._drawn_back.at(time, guess, memory)
        after = found.value.q.reshape(-1, 3)
        value = State(time, found.value.q, ((after - x) / dt).reshape(-1), {**memory, **found.value.memory})
        converged = found.outcome is Outcome.CONVERGED
        outcome = Outcome.ITERATION_LIMIT if last and found.outcome is Outcome.NOT_CONVERGED else found.outcome
        stats = {**found.stats, "interior_iterations": inside.stats["iterations"], "converged": converged}
        return Solution(value, outcome, stats, found.evidence)

    def _going_on(self, state: State, places: Points, dt: float) -> Points:
        """(n, 3) [m] of the skin from its interior, after a step in which waves grow as they did in the last one."""
        x = state.q.reshape(-1, 3)
        if WENT not in state.memory:
            return x - places
        went = float(state.memory[WENT])
        earlier = self.interior.earlier(state.memory, state.time, went)
        waves = x - went * state.velocity.reshape(-1, 3) - earlier
        waves = _carried(waves, earlier, places, self.interior.surface.faces)
        return grown_on(x - places, waves, self.skin.layers.thickness, dt / went)


def grown_on(waves: Points, before: Points, most: float, ahead: float = 1.0) -> Points:
    """(n, 3) waves that grow as they did from `before`, over a step `ahead` times as long; of those that jumped farther
    than `most` [m] no more is known than where they are."""
    grown = ahead * (waves - before)
    return waves + grown if np.abs(grown).max(initial=0.0) <= most else waves


def _carried(away: Points, before: Points, places: Points, faces: Faces) -> Points:
    """How far the skin was from the interior (n, 3), turned with the interior's normals: waves go along."""
    first, second = vertex_normals(before, faces), vertex_normals(places, faces)
    height = np.sum(away * first, axis=1, keepdims=True)
    return height * second + (away - height * first)


class Wrinkled(Stepper, Protocol):
    """A skin on its interior, one way or two."""

    @property
    def interior(self) -> Interior: ...

    @property
    def skin(self) -> Skin: ...

    @property
    def averages(self) -> Sparse:
        """(k, n) what of the skin is where the interior is, as weights of its vertices."""
        ...

    def missed(self, state: State) -> Vector:
        """(h,) [m] how far handles are from where they are to be, or averages of an animation that is followed."""
        ...

    def near(self, state: State, steps: Sequence[Solution[State]]) -> Mapping[str, Array]:
        """What a frame says of contact, where there is any."""
        ...

    def pulls(self, steps: Sequence[Solution[State]]) -> Mapping[str, Array]:
        """What the steps to a frame say of how hard handles hold the skin, where they do."""
        ...

    def start(self, time: float = 0.0) -> Solution[State]:
        """How it begins."""
        ...


@dataclass(frozen=True, eq=False)
class WrinkleReport:
    """What a frame says of itself."""

    wrinkling: Wrinkled
    start: Solution[State]
    """what the first frame tells of"""

    def report(self, state: State, steps: list[Solution[State]]) -> Mapping[str, Array]:
        """`height` (n,) [m] of the skin over the interior along its normals, `residual` (k,) [m] of the averages,
        `handle_residual` (h,) and `muscle_residual` (m,) [m], `handle_force` (h, 3) [N] where handles hold the skin;
        how many cells of the interior are `inverted`, inside out somewhere;
        iterations, whether all steps converged, and ridges that were left."""
        near, pulls = self.wrinkling.near(state, steps), self.wrinkling.pulls(steps)
        interior, x, steps = self.wrinkling.interior, state.q.reshape(-1, 3), steps or [self.start]
        places = interior.places(state.memory, state.time)
        normals = vertex_normals(places, interior.surface.faces)
        missed: Vector = np.linalg.norm(self.wrinkling.averages @ (x - places), axis=1)
        return {
            "height": np.sum((x - places) * normals, axis=1),
            "interior": places,
            "residual": missed,
            "handle_residual": self.wrinkling.missed(state),
            "muscle_residual": interior.unshaped(state.memory, state.time),
            "inverted": np.array(interior.inside_out(state.memory)),
            "iterations": np.array(sum(one.stats["iterations"] for one in steps)),
            "interior_iterations": np.array(sum(one.stats["interior_iterations"] for one in steps)),
            "ridges": np.array(sum(one.stats["ridges"] for one in steps)),
            "converged": np.array(all(one.stats["converged"] for one in steps)),
            **near,
            **pulls,
        }
