"""Linear conditions on points: averages over regions, and pins.

A condition J x = c(t) is held with a *strength* s from 0 to 1. At 1 it is hard. Below, it is a critically damped
spring between the points and the moving goal, with stiffness k = s²/(1 − s) · m/T², m the mass the condition
feels and T a fixed time: s may be keyed down to 0 and back, and force and velocity stay continuous.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bunraku.contracts import Integers, LinearRows, Sparse, State, Vector

FADE_TIME = 0.02
"""T [s]: how quickly a half-held condition pulls"""
HARD = 1.0 - 1e-4
"""strength from which a condition is hard: a spring that stiff is met to its rounding errors and no better"""


@dataclass(frozen=True, eq=False)
class LinearConstraint:
    """J x = goals(t), held with strength(t)."""

    jacobian: Sparse
    """(r, 3n) CSR"""
    goals: Callable[[float], Vector]
    """time [s] → (r,)"""
    strength: Callable[[float], Vector]
    """time [s] → (r,) in [0, 1]"""
    mass: Vector
    """(r,) mass each row feels, 1/(J M⁻¹ Jᵀ) [kg]"""
    changing: Callable[[float], Sparse] | None = None
    """time [s] → J with the pattern of `jacobian`, where it varies"""
    caps: Callable[[float], Vector] | None = None
    """time [s] → (r/3,) the largest force of each three rows, hard or springs [N]"""
    press: Callable[[float], Vector] | None = None
    """time [s] → (r/3,) how hard each three rows may press surfaces against each other [N]; None: not asked to"""
    differential: bool = False
    """hold J v = goals′(t) instead (for comparison): what is missed once stays missed, and errors add up"""

    @property
    def capped(self) -> bool:
        """Whether there are caps, or conditions may yield to contact."""
        return self.caps is not None or self.press is not None

    def jacobian_at(self, time: float) -> Sparse:
        """(r, 3n) at a time [s]."""
        return self.jacobian if self.changing is None else self.changing(time)

    def residual(self, state: State) -> Vector:
        """(r,) how far a state misses what is directed at its time."""
        return self.jacobian_at(state.time) @ state.q - self.goals(state.time)

    def at(self, state: State, dt: float) -> LinearRows:
        """The conditions at `state.time + dt`."""
        time = state.time + dt
        jacobian, goals = self.jacobian_at(time), self.goals(time)
        if self.differential:
            goals = jacobian @ state.q + goals - self.goals(state.time)
        strength = np.clip(self.strength(time), 0.0, 1.0)
        strength = np.where(strength >= HARD, 1.0, strength)
        stiffness = np.full(len(goals), np.inf)
        soft = strength < 1.0
        anchors = goals
        if soft.any():
            s, m = strength[soft], self.mass[soft]
            spring = s**2 / (1.0 - s) * m / FADE_TIME**2
            dashpot = 2.0 * np.sqrt(spring * m) / dt
            before = self.residual(state)[soft]
            total = spring + dashpot
            anchors = goals.copy()
            anchors[soft] += np.divide(dashpot, total, out=np.zeros_like(total), where=total > 0) * before
            stiffness[soft] = total
        if not self.capped:
            return LinearRows(jacobian, goals, stiffness, anchors)
        caps = np.full(len(goals) // 3, np.inf) if self.caps is None else self.caps(time)
        stiffness[np.repeat(caps == 0.0, 3)] = 0.0  # no force at all is no condition at all
        return LinearRows(jacobian, goals, stiffness, anchors, caps, None if self.press is None else self.press(time))


def average_jacobian(weights: Sparse) -> Sparse:
    """(3k, 3n) rows that average points with weights (k, n); rows 3i, 3i+1, 3i+2 are x, y, z of average i."""
    return sparse.kron(weights, sparse.eye_array(3), format="csr")


def pin_jacobian(vertices: Integers, axes: Integers, point_count: int) -> Sparse:
    """(v·a, 3n) rows that pick axes (a,) of vertices (v,), vertex-major."""
    columns = (3 * np.asarray(vertices)[:, None] + np.asarray(axes)[None, :]).reshape(-1)
    rows = np.arange(len(columns))
    return sparse.csr_array((np.ones(len(columns)), (rows, columns)), shape=(len(columns), 3 * point_count))


def felt_mass(jacobian: Sparse, point_mass: Vector) -> Vector:
    """(r,) 1/(J M⁻¹ Jᵀ) for lumped point masses (n,) [kg]."""
    inverse = np.repeat(1.0 / point_mass, 3)
    return 1.0 / (jacobian.multiply(jacobian) @ inverse)
