"""Stable equilibria on linear conditions: minima of the energy, not places where forces merely vanish.

A search that begins near its end is Newton's method with the full Hessian: on J x = c its saddle matrix has exactly as
many negative pivots as there are conditions (and unknowns that energies eliminate) if and only if the energy is convex
there. Where it has more, the positive Hessian and conjugate directions (`minimise.py`) first lead down, several
iterations to a factorisation, until steps are small; where it still has more, a share of the mass matrix is added until
it has not. A flat sheet under pressure is in balance, but on a ridge of the energy: what is found with the wrong number
of pivots is left along the direction that falls most, and the search begins anew from there.

Factors are of single precision and serve for several steps, which gradients correct for what has changed since
(`secants.py`). That steps shrink says nothing of pivots: by symmetry, steps of a flat sheet have no part along what
buckles. So pivots are counted once more where a search ends, in double precision.

`step` does the same to the energy and inertia of a step of implicit Euler: where it ends is a minimum as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from bunraku.contracts import WHY, Outcome, Points, Solution, State, Stencil, Vector, input_error
from bunraku.numerics import FactorisationError, SaddleSystem, choose

from .balancing import Search
from .frozen import Frozen
from .implicit_euler import PARTS, ImplicitEuler
from .minimise import NewtonSettings, Progress
from .system import LONG_STEP, System, shifted_stencils

_ROUGH, _MOST_ROUGH, _REUSE = 1e-2, 60, 10
"""of `length`: steps with the positive Hessian that are this small lead to Newton's own; how many there may be, and how
many share a factor"""
_LEAST_SHIFT, _FIRST_SHIFT, _MORE, _LESS, _MOST_SHIFTS = 1e-12, 1e-4, 10.0, 3.0, 32
"""of the mean stiffness: the first share of mass that is added to find the way down from a ridge (thin sheets bend a
billion times more easily than they stretch), and on the way to a balance; how much more the next time, how much less
in the next iteration, and how often"""
_SHRINKS, _MOST_REUSES = 0.8, 8
"""share of the last step that each must be for a factor to serve once more, and how often"""
_CLOSE = 100.0
"""converged steps: within this of where a search ends pivots are counted"""
_ROUNDS = 1
"""of refinement: a step need not be better than the next one makes it, but must go to the conditions"""
_NEUTRAL = 1e-13
"""of the mean stiffness: what resists less moves freely, to rounding"""
_POWERS, _SETTLED = 200, 1e-3
"""inverse iterations towards the direction that falls most, at most, and the change of its curvature that ends them"""
_FARTHEST = 1e3
"""times the settings' length: beyond, what falls has no bottom"""
_MISSED, _FARTHEST_RETURN, _NEAR, _MOST_RETURNS = 0.1, 10.0, 0.1, 5
"""share of a converged step by which conditions may be missed: what leads back to them need not lead down, and no
energy can judge it; how much longer than the way to them, and of `length`, a whole step may be that forces have a part
in (after a longer one a factor does not serve); and how many whole steps may come no nearer: one meets conditions, but
for rounding"""


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
    loose: bool = False
    """whether a body may move freely along some direction, and then stays where it was; else that is said to be"""

    @property
    def least(self) -> float:
        """Of the mean stiffness: what is added before pivots are counted, so that rounding decides nothing."""
        return _NEUTRAL if self.loose else -_NEUTRAL


class Equilibrium:
    """Finds equilibria of a system without contact; symbolic analyses are made once."""

    order = 1

    def __init__(
        self, system: System, settings: EquilibriumSettings | None = None, *, threads: int | None = None
    ) -> None:
        if system.contact is not None:
            raise input_error("balance is not looked for among surfaces that touch", where="contact", allowed="none")
        self._system, self._threads = system, threads
        self._settings = settings or EquilibriumSettings()
        self._saddle: SaddleSystem | None = None

    def find(self, state: State, guess: Points | None = None) -> Solution[State]:
        """The equilibrium at `state.time`, looked for from the state, or from a `guess` (n, 3) [m]."""
        search = self._at_rest(state if guess is None else replace(state, q=guess.reshape(-1).copy()))
        outcome = self._searched(search)
        finite = bool(np.isfinite(search.x).all())
        x = search.x if finite else state.q.reshape(-1, 3)
        memory = {**state.memory, **(search.follow() if finite else {})}
        value = replace(state, q=x.reshape(-1).copy(), memory=memory)
        return Solution(value, outcome, self._stats(search, x), search.evidence)

    def step(self, state: State, dt: float, *, last: bool = False, guess: Points | None = None) -> Solution[State]:
        """A step of implicit Euler of length dt [s] to a minimum, looked for from a `guess` (n, 3) or from where
        inertia alone would lead; `last` takes what was found when the search came to its limit."""
        problem = self._hard(self._rough.freeze(state, dt))
        search = Search(problem, problem.target if guess is None else guess)
        outcome = self._searched(search)
        if not np.isfinite(search.x).all():
            return Solution(state, Outcome.NOT_FINITE, self._stats(search, state.q.reshape(-1, 3)), search.evidence)
        x = search.x.reshape(-1).copy()
        after = State(state.time + dt, x, (x - state.q) / dt, {**state.memory, **search.follow()})
        if last and outcome is Outcome.NOT_CONVERGED and WHY not in search.evidence:
            outcome = Outcome.ITERATION_LIMIT
        after = replace(after, memory={**after.memory, **self._system.remember(after)})
        return Solution(after, outcome, self._stats(search, search.x), search.evidence)

    def stable_at(self, state: State) -> bool:
        """Whether the energy is convex at a state, on the conditions of its time: whether nothing buckles there."""
        search = self._at_rest(state)
        return self._factor(search, _NEUTRAL, sure=True)

    def energy(self, state: State) -> float:
        """[J] at a state, whether conditions are met or not."""
        return self._at_rest(state).value(state.q.reshape(-1, 3))

    @staticmethod
    def _stats(search: Search, x: Points) -> dict[str, object]:
        return {
            "iterations": search.iterations, "factorisations": search.factorisations, "ridges": search.ridges,
            "last_step": search.last_step, "residual": search.missed(x), "multipliers": search.multipliers,
            "stable": search.stable and search.surely, "energy": search.value(x),
        }  # fmt: skip

    @cached_property
    def _rough(self) -> ImplicitEuler:
        """Goes down with the positive Hessian."""
        length, limit = self._settings.length, min(_MOST_ROUGH, self._settings.limit)
        settings = NewtonSettings(
            length=length, tolerance=max(_ROUGH, self._settings.tolerance), limit=limit, reuse=_REUSE
        )
        return ImplicitEuler(self._system, settings, threads=self._threads)

    def _at_rest(self, state: State) -> Search:
        """A search for balance that stands at a state."""
        before = replace(state, time=state.time - LONG_STEP, velocity=np.zeros_like(state.velocity))
        return Search(self._hard(self._rough.freeze(before, LONG_STEP)), state.q.reshape(-1, 3).copy())

    @staticmethod
    def _hard(problem: Frozen) -> Frozen:
        rows = problem.rows
        if any(one.caps is not None or one.press is not None or not np.isinf(one.stiffness).all() for one in rows):
            raise input_error("balance is looked for on hard conditions only", where="constraints")
        return problem

    def _searched(self, search: Search) -> Outcome:
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                return self._run(search)
        except FactorisationError:
            return Outcome.FACTORISATION_FAILED

    def _run(self, search: Search) -> Outcome:
        """To the settings' tolerance."""
        settings, returns = self._settings, 0
        small = settings.tolerance * settings.length
        while search.iterations < settings.limit:
            self._prepare(search)
            if search.iterations >= settings.limit:
                break
            gradient = search.gradient(search.x)
            search.learn(gradient)
            step, multipliers = self._direction(search, gradient)
            search.iterations += 1
            search.measure(step)
            if not np.isfinite(search.last_step):
                return Outcome.NOT_FINITE
            if search.away() > _MISSED * small:  # conditions first: linear ones, which one whole step meets
                if returns == _MOST_RETURNS:
                    return search.conflict()
                if search.last_step > max(_NEAR * settings.length, _FARTHEST_RETURN * search.away()):
                    step, multipliers = self._direction(search, None)
                returns += search.returned(step, multipliers, _NEAR * settings.length)
            elif search.last_step <= small:
                search.x, search.multipliers = search.x + step, multipliers
                ended = self._ended(search, small)
                if ended is not None:
                    return ended
            elif not search.descend(step, gradient, multipliers):
                if not search.reuses:
                    return Outcome.LINE_SEARCH_FAILED
                search.last_step = np.inf  # an old factor misled: try again with a new one
            search.follow()
        return Outcome.NOT_CONVERGED

    def _prepare(self, search: Search) -> None:
        """Have a factor that serves for a step. Where waves are those of before there is one at once; where the energy
        is not convex, the search goes down first."""
        close = _CLOSE * self._settings.tolerance * self._settings.length
        ends = search.last_step <= close < search.moved()
        if not ends and search.serves(_SHRINKS, _MOST_REUSES):
            return
        if (ends or not search.lowered) and self._factor(search, self._settings.least if ends else 0.0, sure=ends):
            search.stable, search.reuses, search.shift = True, 0, 0.0
            return
        if not search.lowered:
            self._go_down(search)
        search.shift = self._convex(search, _FIRST_SHIFT, search.shift / _LESS)

    def _ended(self, search: Search, small: float) -> Outcome | None:
        """What a search has come to whose steps are small; None where it goes on, down from a ridge."""
        settings = self._settings
        if search.stable and (search.moved() > _CLOSE * small or not search.surely):
            search.stable, search.reuses = self._factor(search, settings.least, sure=True), 0
            if search.stable:
                return None  # whether its own step is small as well, the next one tells
        if search.stable or (not settings.stable and search.imbalance() <= small * search.mean):
            return Outcome.CONVERGED
        search.shift = self._convex(search, _LEAST_SHIFT, sure=True)  # what came before may have taken more
        if settings.stable and not search.stable:
            left = self._leave(search, search.shift)
            if left is not None:
                return left
            self._go_down(search)
        return None

    def _go_down(self, search: Search) -> None:
        """Until steps are small; what comes to nothing leaves the search where it was."""
        run, search.lowered = Progress(search.x, search.multipliers), True
        self._rough.solve(search.problem, run, dict.fromkeys(PARTS, 0.0))
        search.iterations += run.iterations
        search.factorisations += run.factorisations
        if np.isfinite(run.x).all() and np.isfinite(search.problem.value(run.x, run.multipliers)):
            search.x, search.multipliers = run.x, run.multipliers
            search.follow()

    def _convex(self, search: Search, least: float, tried: float = 0.0, *, sure: bool = False) -> float:
        """Factorise with little of the mass matrix, but so much that the energy is convex; returns that share. The
        first that is `tried` is none where it would be less than the `least`."""
        tried = tried if tried > least / _MORE else (self._settings.least if sure else 0.0)
        for _ in range(_MOST_SHIFTS):
            if self._factor(search, tried, sure=sure):
                search.stable, search.reuses = tried <= _NEUTRAL, 0
                return tried
            tried = max(least, _LESS * tried if search.shift else _MORE * tried)
        raise FactorisationError("no share of the mass makes the energy convex")

    def _factor(self, search: Search, shift: float, *, sure: bool = False) -> bool:
        """Factorise with a share of the mass matrix; whether the number of negative pivots is right, `sure` to be that
        of the matrix itself."""
        saddle = self._saddle or self._analyse(search)
        problem, mass = search.problem, self._system.mass
        share = shift * search.mean / float(mass.lumped.mean()) if shift else 0.0
        added = mass.blocks(1.0 / problem.dt**2 + share)
        border = problem.jacobian.data if problem.rows else None
        saddle.factor([added, *search.blocks()], problem.stiffness, border=border, exact=sure)
        search.factored(sure=sure)
        return self._counts(search)

    def _counts(self, search: Search) -> bool:
        saddle, conditions = self._saddle, len(search.problem.stiffness)
        assert saddle is not None
        positive, negative = saddle.inertia()
        return negative == search.auxiliary + conditions and positive + negative == saddle.size + conditions

    def _direction(self, search: Search, gradient: Points | None) -> tuple[Points, Vector]:
        """Newton's step to the conditions with the last factor, and the new multipliers; without a gradient the way to
        them alone."""
        saddle = self._saddle
        assert saddle is not None
        missed = -search.missed(search.x)

        def newton(pull: Points) -> tuple[Points, Vector]:
            force = np.zeros(saddle.size)
            force[: pull.size] = -pull.reshape(-1)
            found = saddle.solve(force, missed, rounds=_ROUNDS)
            return found.primal[: pull.size].reshape(-1, 3), search.multipliers + found.multipliers

        if gradient is None:
            return newton(np.zeros_like(search.x))[0], search.multipliers
        return search.secants.corrected(gradient, newton)

    def _leave(self, search: Search, shift: float) -> Outcome | None:
        """Go down from a ridge along the direction that falls most; an outcome where there is none."""
        along, curvature = self._falling_most(search, shift)
        if curvature > -_NEUTRAL * search.mean:
            search.evidence = {
                WHY: "nothing holds the body in place along some direction; hold it by a pin or an average"
            }
            return Outcome.NOT_CONVERGED
        search.ridges += 1
        length = self._settings.length
        if search.fall(along, self._settings.nudge * length, _FARTHEST * length):
            return None
        return Outcome.LINE_SEARCH_FAILED

    def _falling_most(self, search: Search, shift: float) -> tuple[Points, float]:
        """The direction (n, 3), its largest entry 1, and the curvature [N/m] along it, of mass one on average, by
        inverse iteration with the last factor."""
        saddle, mass = self._saddle, self._system.mass
        assert saddle is not None
        mean = float(mass.lumped.mean())
        along = np.random.default_rng(0).normal(size=search.x.shape)
        none, curvature = np.zeros(len(search.problem.stiffness)), np.inf
        for _ in range(_POWERS):
            along /= np.sqrt(np.sum(along * mass.times(along)) / mean)
            force = np.zeros(saddle.size)
            force[: along.size] = mass.times(along).reshape(-1) / mean
            found = saddle.solve(force, none).primal[: along.size].reshape(-1, 3)
            before, curvature = curvature, 1.0 / float(np.sum(found * mass.times(along)) / mean) - shift * search.mean
            along = found
            if curvature < 0.0 and abs(curvature - before) <= _SETTLED * abs(curvature):
                break
        return along / along.reshape(-1)[np.abs(along).argmax()], curvature

    def _analyse(self, search: Search) -> SaddleSystem:
        count, energies = self._system.point_count, search.problem.energies
        stencils: list[Stencil] = [self._system.mass.stencil()]
        stencils += shifted_stencils(energies, count, psd=False)
        size = 3 * count + search.auxiliary
        # Pivots keep their signs whatever their order (Sylvester), so there is no need to look for others than the
        # pattern's own: that would take a new analysis each time, and three times as long.
        self._saddle = SaddleSystem(
            stencils, size, self._system.jacobian, choose(threads=self._threads, single=True), single=True,
            double=partial(choose, threads=self._threads),
        )  # fmt: skip
        return self._saddle
