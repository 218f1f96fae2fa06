"""Stable equilibria on linear conditions: minima of the energy, not places where forces merely vanish.

Newton's method with the full Hessian. On J x = c its saddle matrix has exactly as many negative pivots as there are
conditions (and unknowns that energies eliminate) if and only if the energy is convex there; where it has more, a share
of the mass matrix is added until it has not. A flat sheet under pressure is in balance, but on a ridge of the energy:
what is found with the wrong number of pivots is left along the direction that falls most, and the search goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from bunraku.contracts import (
    WHY,
    Array,
    Energy,
    LinearRows,
    Outcome,
    Points,
    Solution,
    Sparse,
    State,
    Stencil,
    Vector,
    input_error,
)
from bunraku.numerics import FactorisationError, SaddleSystem, choose

from .system import System, mean_stiffness, shifted_stencils

_LONG = 2.0**20
"""[s] of a step in which nothing that depends on rates is felt; rounding moves its end by 1e-10 s"""
_LEAST_SHIFT, _MORE, _MOST_SHIFTS = 1e-12, 10.0, 16
"""of the mean stiffness: the first share of mass that is added (thin sheets bend a billion times more easily than they
stretch), how much more the next time, and how often"""
_NEUTRAL = 1e-13
"""of the mean stiffness: what resists less moves freely, to rounding"""
_ARMIJO, _HALVINGS = 1e-4, 40
_POWERS, _SETTLED = 200, 1e-3
"""inverse iterations towards the direction that falls most, at most, and the change of its curvature that ends them"""
_NOISE = 1e-8
"""share of the energy below which what it should fall may drown in rounding"""
_FARTHEST = 1e3
"""times the settings' length: beyond, what falls has no bottom"""
_MOST_RETURNS = 5
"""whole steps to conditions that are linear: one meets them, but for rounding"""


@dataclass(frozen=True)
class EquilibriumSettings:
    """How far to iterate."""

    tolerance: float = 1e-8
    """converged when Newton's step is below this times `length`"""
    length: float = 1.0
    """a length to compare with: the size of the body [m]"""
    limit: int = 200
    """stop after this many iterations"""
    nudge: float = 1e-3
    """share of `length` by which a ridge is left at first"""
    stable: bool = True
    """False: content where forces vanish, on a ridge too (for comparison)"""


class Equilibrium:
    """Finds equilibria of a system without contact; the symbolic analysis is made once."""

    def __init__(
        self, system: System, settings: EquilibriumSettings | None = None, *, threads: int | None = None
    ) -> None:
        if system.contact is not None:
            raise input_error("balance is not looked for among surfaces that touch", where="contact", allowed="none")
        self._system, self._threads = system, threads
        self._settings = settings or EquilibriumSettings()
        self._saddle: SaddleSystem | None = None
        self._mean = 1.0

    def find(self, state: State, guess: Points | None = None) -> Solution[State]:
        """The equilibrium at `state.time`, looked for from the state, or from a `guess` (n, 3) [m]."""
        search = self._begun(state if guess is None else replace(state, q=guess.reshape(-1).copy()))
        try:
            outcome = self._run(search)
        except FactorisationError:
            outcome = Outcome.FACTORISATION_FAILED
        finite = bool(np.isfinite(search.x).all())
        x = search.x if finite else state.q.reshape(-1, 3)
        stats = {
            "iterations": search.iterations, "factorisations": search.factorisations, "ridges": search.ridges,
            "last_step": search.last_step, "residual": search.missed(x), "multipliers": search.multipliers,
            "stable": search.stable, "energy": search.value(x),
        }  # fmt: skip
        memory = {**state.memory, **(search.follow() if finite else {})}
        return Solution(replace(state, q=x.reshape(-1).copy(), memory=memory), outcome, stats, search.evidence)

    def stable_at(self, state: State) -> bool:
        """Whether the energy is convex at a state, on the conditions of its time: whether nothing buckles there."""
        return self._factor(self._begun(state), _NEUTRAL)

    def _begun(self, state: State) -> _Search:
        """A search that stands at a state."""
        before = replace(state, time=state.time - _LONG, velocity=np.zeros_like(state.velocity))
        energies = [source.at(before, _LONG) for source in self._system.energies]
        rows = [constraint.at(before, _LONG) for constraint in self._system.constraints]
        if any(one.caps is not None or one.press is not None or not np.isinf(one.stiffness).all() for one in rows):
            raise input_error("balance is looked for on hard conditions only", where="constraints")
        return _Search(energies, rows, state.q.reshape(-1, 3).copy())

    def _run(self, search: _Search) -> Outcome:
        """To the settings' tolerance."""
        settings, shift, returns = self._settings, 0.0, 0
        small = settings.tolerance * settings.length
        while search.iterations < settings.limit:
            gradient = search.gradient(search.x)
            shift = self._convex(search, shift)
            step, multipliers = self._direction(search, gradient)
            search.iterations += 1
            search.last_step = float(np.abs(step).max(initial=0.0))
            if not np.isfinite(search.last_step):
                return Outcome.NOT_FINITE
            if search.away() > small:  # the conditions first: they are linear, so that one whole step meets them
                if returns == _MOST_RETURNS:
                    return search.conflict()
                returns, search.x, search.multipliers = returns + 1, search.x + step, multipliers
            elif search.last_step <= small:
                search.x, search.multipliers = search.x + step, multipliers
                if search.stable or (not settings.stable and search.imbalance() <= small * self._mean):
                    return Outcome.CONVERGED
                shift = self._convex(search, 0.0)  # the least: what came before may have taken more
                left = self._leave(search, shift) if settings.stable and not search.stable else None
                if left is not None:
                    return left
            elif not search.descend(step, gradient, multipliers):
                return Outcome.LINE_SEARCH_FAILED
            search.follow()
        return Outcome.NOT_CONVERGED

    def _convex(self, search: _Search, shift: float) -> float:
        """Factorise with as little of the mass matrix as makes the energy convex, or about; returns that share.

        `shift` is what the iteration before took.
        """
        tried = shift / _MORE if shift > _LEAST_SHIFT else 0.0
        for _ in range(_MOST_SHIFTS):
            if self._factor(search, tried):
                search.stable = tried == 0.0
                return tried
            tried = max(_LEAST_SHIFT, _MORE * tried)
        raise FactorisationError("no share of the mass makes the energy convex")

    def _factor(self, search: _Search, shift: float) -> bool:
        """Factorise with a share of the mass matrix; whether the number of negative pivots is right."""
        saddle = self._saddle or self._analyse(search)
        blocks = search.blocks()
        mass = self._system.mass
        added = mass.blocks(shift * self._mean / float(mass.lumped.mean()))
        border = search.jacobian.data if search.rows else None
        saddle.factor([added, *blocks], search.stiffness, border=border)
        search.factorisations += 1
        positive, negative = saddle.inertia()
        expected = search.auxiliary + len(search.stiffness)
        return negative == expected and positive + negative == saddle.size + len(search.stiffness)

    def _direction(self, search: _Search, gradient: Points) -> tuple[Points, Vector]:
        """Newton's step to the conditions with the last factor, and the new multipliers."""
        saddle = self._saddle
        assert saddle is not None
        force = np.zeros(saddle.size)
        force[: gradient.size] = -gradient.reshape(-1)
        found = saddle.solve(force, -search.missed(search.x))
        return found.primal[: gradient.size].reshape(-1, 3), search.multipliers + found.multipliers

    def _leave(self, search: _Search, shift: float) -> Outcome | None:
        """Go down from a ridge along the direction that falls most; an outcome where there is none."""
        along, curvature = self._falling_most(search, shift)
        if curvature > -_NEUTRAL * self._mean:
            search.evidence = {
                WHY: "nothing holds the body in place along some direction; hold it by a pin or an average"
            }
            return Outcome.NOT_CONVERGED
        search.ridges += 1
        length = self._settings.length
        if search.fall(along, self._settings.nudge * length, _FARTHEST * length):
            return None
        return Outcome.LINE_SEARCH_FAILED

    def _falling_most(self, search: _Search, shift: float) -> tuple[Points, float]:
        """The direction (n, 3), its largest entry 1, and the curvature [N/m] along it, of mass one on average, by
        inverse iteration with the last factor."""
        saddle, mass = self._saddle, self._system.mass
        assert saddle is not None
        mean = float(mass.lumped.mean())
        along = np.random.default_rng(0).normal(size=search.x.shape)
        none, curvature = np.zeros(len(search.stiffness)), np.inf
        for _ in range(_POWERS):
            along /= np.sqrt(np.sum(along * mass.times(along)) / mean)
            force = np.zeros(saddle.size)
            force[: along.size] = mass.times(along).reshape(-1) / mean
            found = saddle.solve(force, none).primal[: along.size].reshape(-1, 3)
            before, curvature = curvature, 1.0 / float(np.sum(found * mass.times(along)) / mean) - shift * self._mean
            along = found
            if curvature < 0.0 and abs(curvature - before) <= _SETTLED * abs(curvature):
                break
        return along / along.reshape(-1)[np.abs(along).argmax()], curvature

    def _analyse(self, search: _Search) -> SaddleSystem:
        count = self._system.point_count
        stencils: list[Stencil] = [self._system.mass.stencil()]
        stencils += shifted_stencils(search.energies, count, psd=False)
        size = 3 * count + search.auxiliary
        # Pivots keep their signs whatever their order (Sylvester), so there is no need to look for others than the
        # pattern's own: that would take a new analysis each time, and three times as long.
        self._saddle = SaddleSystem(stencils, size, self._system.jacobian, choose(threads=self._threads))
        # Of the positive part: what is pressed together has a full Hessian whose diagonal may be anything.
        stiff = [block for one in search.energies for block in one.blocks(search.x, psd=True)]
        self._mean = mean_stiffness(shifted_stencils(search.energies, count, psd=True), stiff, 3 * count)
        return self._saddle


class _Search:
    """One search: where it is, and what it has spent."""

    def __init__(self, energies: Sequence[Energy], rows: Sequence[LinearRows], x: Points) -> None:
        self.energies, self.rows, self.x = energies, rows, x
        self.jacobian: Sparse = (
            sparse.vstack([one.jacobian for one in rows], format="csr") if rows else sparse.csr_array((0, x.size))
        )
        self.stiffness: Vector = np.concatenate([np.zeros(0), *(one.stiffness for one in rows)])
        self.goals: Vector = np.concatenate([np.zeros(0), *(one.goals for one in rows)])
        self.multipliers = np.zeros(len(self.goals))
        self.auxiliary = sum(one.auxiliary_count for one in energies)
        self.iterations = self.factorisations = self.ridges = 0
        self.last_step, self.stable = np.inf, False
        self.evidence: dict[str, object] = {}
        self._blocks: tuple[Points, list[Array]] | None = None

    def value(self, x: Points) -> float:
        """[J] of the energies, plus λ·(J x − c), zero on the conditions."""
        return sum(one.value(x) for one in self.energies) + float(self.multipliers @ self.missed(x))

    def gradient(self, x: Points) -> Points:
        """(n, 3) of `value` [N]"""
        out = (self.jacobian.T @ self.multipliers).reshape(-1, 3)
        for one in self.energies:
            out = out + one.gradient(x)
        return out

    def missed(self, x: Points) -> Vector:
        """(r,) J x − c"""
        return self.jacobian @ x.reshape(-1) - self.goals

    def imbalance(self) -> float:
        """[N] the largest force that nothing balances; a step may be small for the mass that was added to it."""
        return float(np.abs(self.gradient(self.x)).max(initial=0.0))

    def away(self) -> float:
        """The largest distance from the conditions."""
        return float(np.abs(self.missed(self.x)).max(initial=0.0))

    def blocks(self) -> list[Array]:
        """Local blocks of the full Hessian; asked for again with each share of mass that is tried."""
        if self._blocks is None or self._blocks[0] is not self.x:
            self._blocks = self.x, [block for one in self.energies for block in one.blocks(self.x, psd=False)]
        return self._blocks[1]

    def conflict(self) -> Outcome:
        """Conditions that cannot be met together, and the worst of them."""
        missed = np.abs(self.missed(self.x))
        self.evidence = {"row": int(missed.argmax()), "missed": float(missed.max())}
        return Outcome.CONDITIONS_CONFLICT

    def follow(self) -> dict[str, Array]:
        """Take x for where the search has come to; returns what that changes in the state's memory."""
        return {key: value for one in self.energies for key, value in one.follow(self.x).items()}

    def descend(self, step: Points, gradient: Points, multipliers: Vector) -> bool:
        """Go along a step as far as the energy falls as it should; whether it does anywhere."""
        slope, begin = float(np.sum(step * gradient)), self.value(self.x)
        share = 1.0
        for _ in range(_HALVINGS):
            there = self.x + share * step
            falls = slope < 0.0 and self.value(there) <= begin + _ARMIJO * share * slope
            if falls or self._flatter(there, step, slope, begin):
                self.x, self.multipliers = there, multipliers
                return True
            share *= 0.5
        return False

    def _flatter(self, there: Points, step: Points, slope: float, begin: float) -> bool:
        """Whether what the energy should fall drowns in rounding, and its slope has become clearly smaller."""
        if abs(slope) > _NOISE * abs(begin):
            return False
        return abs(float(np.sum(step * self.gradient(there)))) <= 0.5 * abs(slope)

    def fall(self, along: Points, first: float, farthest: float) -> bool:
        """Go along a direction or against it while the energy falls, beginning with a length; whether it falls and has
        a bottom nearer than `farthest` [m]."""
        begin, length = self.value(self.x), first
        while length > 1e-9 * first:
            for way in (along, -along):
                if self.value(self.x + length * way) < begin:
                    return self._down(way, length, farthest)
            length *= 0.25
        return False

    def _down(self, way: Points, length: float, farthest: float) -> bool:
        while self.value(self.x + 2.0 * length * way) < self.value(self.x + length * way):
            length *= 2.0
            if length > farthest:
                return False
        self.x = self.x + length * way
        return True
