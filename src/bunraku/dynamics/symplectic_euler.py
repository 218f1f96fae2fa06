"""Symplectic Euler: speeds by the forces where the points are, then places by the new speeds.

    v' = v + dt M⁻¹ f(x, v)        x' = x + dt v'

Nothing is solved for: a step costs one look at the forces. It keeps linear and angular momentum to rounding, and its
energy swings about what it was where that of implicit Euler falls. In return a step must be short. With K and C the
derivatives of the forces by places and speeds, oscillations stay what they are while dt² K + 2 dt C has no eigenvalue
above 4 M; so they do for all steps up to 4/(c + √(c² + 4 k)), k and c the largest eigenvalues of M⁻¹K and M⁻¹C, and
for no longer one where C is a multiple of K, or nothing damps. Hard conditions are met by the least impulse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, eigsh

from bunraku.contracts import Array, Energy, Outcome, Points, Solution, State, Vector, input_error

from .system import LONG_STEP, System

_APART, _TOLERANCE = 1e-6, 1e-3
"""of the body's size, between places of which forces are compared; and of an eigenvalue"""


class SymplecticEuler:
    """Steps a system of lumped masses and hard conditions, without contact."""

    order = 1

    def __init__(self, system: System) -> None:
        if system.contact is not None:
            raise input_error("explicit steps do not keep surfaces apart", where="contact", allowed="none")
        if system.mass.consistent is not None:
            raise input_error("explicit steps need lumped masses", where="mass", allowed="lumped")
        self._system = system

    def step(self, state: State, dt: float, *, last: bool = False, pull: Points | None = None) -> Solution[State]:
        """One step of length dt [s], with a pull (n, 3) [N] beside the energies' own forces. It may be too long: ask
        `longest`."""
        x, v = state.q.reshape(-1, 3), state.velocity.reshape(-1, 3)
        stats: Mapping[str, object] = {"iterations": 0}
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                energies = self._energies(state, dt)
                force = -_gradient(energies, x)
                speed = v + dt * (force if pull is None else force + pull) / self._system.mass.lumped[:, None]
                speed = speed + self._impulse(state, dt, x + dt * speed)
                there = x + dt * speed
        except np.linalg.LinAlgError:
            return Solution(state, Outcome.FACTORISATION_FAILED, stats)
        if not np.isfinite(there).all():
            return Solution(state, Outcome.NOT_FINITE, stats)
        branches = {key: value for one in energies for key, value in one.follow(there).items()}
        after = State(state.time + dt, there.reshape(-1), speed.reshape(-1), {**state.memory, **branches})
        after = replace(after, memory={**after.memory, **self._system.remember(after)})
        return Solution(after, Outcome.CONVERGED, stats)

    def longest(self, state: State, carried: Callable[[Points], Points] | None = None) -> float:
        """[s] the longest step that is stable at a state; `carried` gives the gradient (n, 3) [N] at points (n, 3) of
        what else moves along."""
        still = replace(state, velocity=np.zeros_like(state.velocity))
        long, short = self._energies(still, LONG_STEP), self._energies(still, 1.0)

        def stiffness(x: Points) -> Points:
            own = _gradient(long, x)
            return own if carried is None else own + carried(x)

        x = state.q.reshape(-1, 3)
        k = self._largest(stiffness, x)
        c = self._largest(lambda x: _gradient(short, x) - _gradient(long, x), x)
        return 4.0 / (c + np.sqrt(c * c + 4.0 * k)) if k + c > 0.0 else np.inf

    def _energies(self, state: State, dt: float) -> list[Energy]:
        """Of a step that led to a state: what is viscous feels its speed."""
        before = replace(state, time=state.time - dt, q=state.q - dt * state.velocity)
        return [source.at(before, dt) for source in self._system.energies]

    def _impulse(self, state: State, dt: float, there: Points) -> Points:
        """(n, 3) [m/s] the change of speed, least in energy, that leads to the conditions instead of to x (n, 3)."""
        rows = [one.at(state, dt) for one in self._system.constraints]
        if not rows:
            return np.zeros_like(there)
        if any(one.caps is not None or not np.isinf(one.stiffness).all() for one in rows):
            raise input_error("explicit steps have hard conditions only", where="constraints")
        missed = np.concatenate([one.residual(there) for one in rows])
        pressing = cho_solve(self._felt, missed)
        each = (self._system.jacobian.T @ pressing).reshape(-1, 3)
        return -each / self._system.mass.lumped[:, None] / dt

    @cached_property
    def _felt(self) -> tuple[Array, bool]:
        """Cholesky's factor of J M⁻¹ Jᵀ."""
        jacobian = self._system.jacobian
        light = np.repeat(1.0 / self._system.mass.lumped, 3)
        return cho_factor(np.asarray((jacobian.multiply(light) @ jacobian.T).todense()))

    def _largest(self, gradient: Callable[[Points], Points], x: Points) -> float:
        """[1/s² or 1/s] the largest eigenvalue of M⁻¹ times the derivative of a gradient at x (n, 3)."""
        light = 1.0 / np.sqrt(self._system.mass.lumped)[:, None]
        near = _APART * float(np.ptp(x, axis=0).max())

        def times(u: Vector) -> Vector:
            way = light * u.reshape(-1, 3)
            share = near / max(float(np.abs(way).max()), np.finfo(float).tiny)
            change = gradient(x + share * way) - gradient(x - share * way)
            return (light * change).reshape(-1) / (2.0 * share)

        begin = np.random.default_rng(0).normal(size=x.size)
        if not np.abs(times(begin)).max():
            return 0.0
        operator = LinearOperator((x.size, x.size), matvec=times, dtype=np.float64)  # type: ignore[call-arg]
        found = eigsh(operator, 1, which="LA", v0=begin, tol=_TOLERANCE, return_eigenvectors=False)  # type: ignore[arg-type]
        return max(float(found[0]), 0.0) * (1.0 + _TOLERANCE)


def _gradient(energies: list[Energy], x: Points) -> Points:
    return sum((one.gradient(x) for one in energies), np.zeros_like(x))
