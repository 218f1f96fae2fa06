"""What each frame of a tracked shell reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.collision import Pinches
from bunraku.constraints import LinearConstraint
from bunraku.contracts import Array, Outcome, Points, Solution, State, Vector
from bunraku.direction.contact import near_at_first
from bunraku.dynamics import System

from .forces import Forces

LED_AWAY = "led_away"
"""in a first state's memory: (c,) whether contact kept conditions from their goals on the way to it"""


@dataclass(frozen=True, eq=False)
class TrackReport:
    """Residuals, forces of direction and energies of a frame."""

    system: System
    forces: Forces
    regions: int
    conditions: tuple[LinearConstraint, ...]
    """the averages, if there are any, then the pins, then the seams"""
    pins: int = 0
    """how many of the conditions are pins"""

    def report(self, state: State, steps: list[Solution[State]]) -> dict[str, Array]:
        x, v = state.q.reshape(-1, 3), state.velocity.reshape(-1, 3)
        rows = 3 * self.regions
        last = steps[-1].stats if steps else None
        residual = self._residual(state) if last is None or self._drifting else last["residual"]
        force = -last["multipliers"][:rows] if last else np.zeros(rows)
        return {
            "residual": np.linalg.norm(residual[:rows].reshape(-1, 3), axis=1),
            **self._of_pins(residual[rows:]),
            "force": force.reshape(-1, 3),
            **self._held(state.time),
            "kinetic": np.array(0.5 * float(np.sum(v * self.system.mass.times(v)))),
            "stretching": np.array(self._stretching(state.time, x)),
            "bending": np.array(self.forces.bending.elastic(state.time, state.memory).value(x)),
            "gravity": np.array(self.forces.weight.value(x)),
            **self.forces.air.report(state),
            **({"yielded": np.array(self.forces.bending.yielded(state.memory))} if self.forces.bending.yields else {}),
            **self._contact(state, steps),
            "iterations": np.array(sum(step.stats["iterations"] for step in steps)),
            "converged": np.array(all(step.outcome is Outcome.CONVERGED for step in steps)),
            "last_step": np.array(max((step.stats["last_step"] for step in steps), default=0.0)),
            "seconds": np.array(sum(step.stats["seconds"]["total"] for step in steps)),
        }

    def _held(self, time: float) -> dict[str, Array]:
        """How firmly each region is held, and with which cap [N] where there is one."""
        if not self.regions:
            return {"held": np.zeros(0)}
        averages = self.conditions[0]
        held = np.clip(averages.strength(time)[::3], 0.0, 1.0)
        if averages.caps is None:
            return {"held": held}
        caps = averages.caps(time)
        return {"held": np.where(caps > 0.0, held, 0.0), "cap": caps}

    def _contact(self, state: State, steps: list[Solution[State]]) -> dict[str, Array]:
        """Where surfaces may touch: near pairs, the least distance among them [m], regions that give way, and how many
        vertices are pinched, or were in one of the steps that led here: an obstacle may be through them by now."""
        if self.system.contact is None:
            return {}
        last = steps[-1].stats if steps else None
        pinched = [len(Pinches.of(step.value.memory)) for step in steps] or [len(Pinches.of(state.memory))]
        near = last["contact"] if last else near_at_first(self.system.contact, state)
        led = np.asarray(state.memory.get(LED_AWAY, np.zeros(self.regions)), dtype=bool)
        gave_way = (last["gives_way"] if last else led)[: self.regions]
        return {
            "pairs": np.array(near["pairs"]), "closest": np.array(near["closest"]),
            "gave_way": gave_way, "pinched": np.array(max(pinched)),
        }  # fmt: skip

    def _stretching(self, time: float, x: Points) -> float:
        """[J] of the material and of its strain limit."""
        own = self.forces.membrane.elastic(time).value(x)
        limit = self.forces.limit
        return own if limit is None else own + limit.elastic(time).value(x)

    @property
    def _drifting(self) -> bool:
        """Whether steps meet something else than what was directed (rates, for comparison)."""
        return any(condition.differential for condition in self.conditions)

    def _residual(self, state: State) -> Vector:
        return np.concatenate([np.zeros(0), *(condition.residual(state) for condition in self.conditions)])

    def _of_pins(self, residual: Vector) -> dict[str, Vector]:
        """(p,) and (s,) the largest distance of a coordinate from its goal, per pin and per seam [m]."""
        sizes = [pin.jacobian.shape[0] for pin in self.conditions[1 if self.regions else 0 :]]
        parts = np.split(residual, np.cumsum(sizes)[:-1]) if sizes else []
        most = np.array([np.abs(part).max(initial=0.0) for part in parts])
        seams = most[self.pins :]
        return {"pin_residual": most[: self.pins], **({"seam_residual": seams} if len(seams) else {})}
