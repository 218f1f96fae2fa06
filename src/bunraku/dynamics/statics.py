"""Equilibria: the state a system settles into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.contracts import Outcome, Solution, State, Stepper


def settle(stepper: Stepper, state: State, *, tolerance: float, limit: int = 60) -> Solution[State]:
    """Let `state` relax to equilibrium at its own time, keeping its velocity for the motion that follows.

    Each round is one long implicit step from rest, twice as long as the one before: a proximal-point
    iteration, which no lack of stiffness can make blow up. Converged when a round moves no
    coordinate by more than `tolerance` [m] for a step of ten seconds or more.
    """
    dt, moved, now = 0.05, np.inf, replace(state, velocity=np.zeros_like(state.velocity))
    for _ in range(limit):
        # The step ends at state.time, so goals are those of the moment we settle at.
        solution = stepper.step(replace(now, time=state.time - dt), dt)
        if not solution.outcome.usable:
            return Solution(state, solution.outcome, solution.stats, solution.evidence)
        moved = float(np.abs(solution.value.q - now.q).max(initial=0.0))
        now = replace(solution.value, time=state.time, velocity=np.zeros_like(state.velocity))
        if moved <= tolerance and dt >= 10.0:
            break
        dt = min(2.0 * dt, 1e3)
    outcome = Outcome.CONVERGED if moved <= tolerance else Outcome.NOT_CONVERGED
    return Solution(replace(now, velocity=state.velocity), outcome, {"moved": moved})
