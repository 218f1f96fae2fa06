"""Constrained implicit Euler [Bergou 2007, §4.3].

A step from (xₙ, vₙ) to xₙ₊₁ minimises

    Φ(x) = |x − y|²_M / (2 dt²) + Σ E(x),     y = xₙ + dt vₙ,

subject to the linear conditions at the *end* of the step; vₙ₊₁ = (xₙ₊₁ − xₙ)/dt. The conditions are linear, so the
first full Newton step meets them and every later one stays on them: from there Φ alone is the merit function.
A condition that would take more than its cap yields (`yielding.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bunraku.contracts import (
    Array,
    Flags,
    Integers,
    LinearRows,
    Outcome,
    Points,
    Solution,
    State,
    Stencil,
    Vector,
)
from bunraku.numerics import FactorisationError, SaddleSystem, choose, distinct

from .apart import minimise_apart
from .frozen import Frozen, Stacked, Watched
from .goals import CATCH_UP, FREE_FORCE, Goals
from .minimise import NewtonSettings, Progress, minimise, take_steps
from .pressing import Presses
from .system import System, mean_stiffness, shifted_stencils
from .yielding import SHARPNESS, Yielding, capped_rows

PAIRS = "contact.pairs"
"""the key of State.memory for the point pairs the matrix has room for: a resumed run factorises in the same order"""
MET = 1e-9
"""share of the body's size within which a hard condition counts as met"""
PARTS: tuple[str, ...] = ("assemble", "factor", "solve", "energy", "gradient")
"""what a step's seconds are counted by, besides their total: the matrix, its factors, solving with them, and the
line search's and Newton's look at the energies"""


_MOST_ROOM = 3  # times the pairs that are likely now
_MOST_OUTSIDE = 0.1  # parts a near pair that may count on the diagonal before the matrix is analysed anew


class ImplicitEuler:
    """Steps a system; the symbolic analysis is made once, with the first step."""

    order = 1

    def __init__(self, system: System, settings: NewtonSettings | None = None, *, threads: int | None = None) -> None:
        self._system = system
        self._settings = settings or NewtonSettings()
        self._threads = threads
        self._saddle: SaddleSystem | None = None
        self._pressing: Presses | None = None
        self._stacked: Stacked | None = None
        self._pairs = np.zeros((0, 2), np.int64)
        self._outside = 0  # parts of pairs that count on the diagonal of the last factor

    def with_settings(self, **changes: Any) -> ImplicitEuler:
        """The same system, solved another way."""
        return ImplicitEuler(self._system, replace(self._settings, **changes), threads=self._threads)

    @property
    def solver_name(self) -> str:
        """The linear solver in use."""
        return self._saddle.solver_name if self._saddle else "not started"

    @property
    def saddle(self) -> SaddleSystem:
        """The linear system; there once a step or `factorise` has run."""
        assert self._saddle is not None
        return self._saddle

    def freeze(self, state: State, dt: float) -> Frozen:
        """The minimisation that leads from `state` to `state.time + dt`."""
        x, v = state.q.reshape(-1, 3), state.velocity.reshape(-1, 3)
        rows = [constraint.at(state, dt) for constraint in self._system.constraints]
        energies = [source.at(state, dt) for source in self._system.energies]

        def missed() -> Vector:
            return np.concatenate([one.residual(x) for one in self._rows_at(state, state.time, dt)])

        sharpness = SHARPNESS * self._settings.length
        target = x + dt * v
        self._stacked = Stacked.of(rows, self._stacked) if rows else None
        if self._system.contact is None:
            yielding = Yielding.of(rows, missed, sharpness)
            return Frozen(self._system.mass, energies, target, rows, dt, yielding, stacked=self._stacked)
        goals = Goals(rows, *(self._rows_at(state, state.time - k * dt, dt) for k in range(2)))
        free = goals.free_force(state.memory, self._system.mass.lumped, dt)
        asked = goals.catching_up(x, CATCH_UP * self._settings.length, dt)
        yielding = Yielding.of(asked, missed, sharpness, free)
        problem = Frozen(
            self._system.mass, energies, target, asked, dt, yielding, rows, self._system.contact.at(state, dt),
            self._presses(yielding), self._stacked,
        )  # fmt: skip
        self._begin_contact(problem, state, x, missed)
        return problem

    def _rows_at(self, state: State, time: float, dt: float) -> list[LinearRows]:
        """The conditions that had to hold at a time [s]."""
        earlier = replace(state, time=time - dt)
        return [constraint.at(earlier, dt) for constraint in self._system.constraints]

    def _presses(self, yielding: Yielding) -> Presses | None:
        if self._pressing is None and len(yielding.triples):
            weights = self._system.jacobian[yielding.triples[:, 0]][:, ::3]
            self._pressing = Presses(weights, self._system.mass.lumped)
        return self._pressing

    def _begin_contact(self, problem: Frozen, state: State, x: Points, missed: Callable[[], Vector]) -> None:
        """Tell contact how stiff the body is, the matrix which pairs to expect, and conditions what they press on."""
        touch = problem.touch
        assert touch is not None
        if not touch.scales:
            # Elastic alone: inertia is another for steps of another length.
            touch.scale(mean_stiffness(self._stencils(problem)[1:], problem.blocks(x)[1:], x.size))
        touch.inertia = float(self._system.mass.lumped.mean()) / problem.dt**2
        saddle = self._saddle or self._analyse(problem)
        pairs = state.memory.get(PAIRS, np.zeros((0, 2)))  # a state that knows of none begins anew
        if not np.array_equal(pairs, self._pairs):
            self._pairs = np.asarray(pairs, dtype=np.int64)
            saddle.reserve(self._pairs)
        pressed = problem.pressed(x)
        if pressed is not None:
            away = np.linalg.norm(missed()[problem.yielding.triples], axis=1)
            problem.yielding.begin(away > 10.0 * SHARPNESS * self._settings.length, pressed)

    def step(self, state: State, dt: float, *, last: bool = False, guess: Points | None = None) -> Solution[State]:
        """One step of length dt [s]; as the `last` resort obstacles are let through rather than that it fails.

        Newton begins at a `guess` (n, 3) [m] of where it ends, or without one where inertia alone would lead.
        """
        begin = time.perf_counter()
        problem = self.freeze(state, dt)
        first = self._first_guess(problem, state, problem.target if guess is None else guess)
        run = Progress(first, np.zeros(len(problem.stiffness)))
        seconds = dict.fromkeys(PARTS, 0.0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            outcome = self.solve(problem, run, seconds, last)
            x = run.x if np.isfinite(run.x).all() else state.q.reshape(-1, 3)
        after = State(state.time + dt, x.reshape(-1).copy(), (x.reshape(-1) - state.q) / dt, state.memory)
        residual = problem.residual(x)
        worst = float(np.abs(residual[problem.hard]).max(initial=0.0))
        exact = problem.touch is None or outcome is Outcome.CONVERGED  # else what is missed is told
        if outcome.usable and exact and problem.directed is None and worst > MET * self._settings.length:
            outcome = Outcome.CONDITIONS_CONFLICT
        if outcome.usable:
            after = replace(after, memory={**state.memory, **problem.follow(x)})
            after = replace(after, memory={**self._system.remember(after), **self._carried(problem, x, run, state)})
        seconds["total"] = time.perf_counter() - begin
        stats = {
            "iterations": run.iterations,
            "factorisations": run.factorisations,
            "last_step": run.last_step,
            "multipliers": problem.forces(x, run.multipliers) if len(problem.yielding.triples) else run.multipliers,
            "residual": residual,
            "residual_hard": worst,
            "seconds": seconds,
            "contact": {} if problem.touch is None else problem.touch.report(x),
            "contact_seconds": {} if problem.touch is None else dict(problem.touch.seconds),
            "gives_way": problem.yielding.gives_way | problem.behind | self._left_behind(problem, x, outcome),
        }
        return Solution(after, outcome, stats, self._evidence(problem, x, run, outcome))

    def _left_behind(self, problem: Frozen, x: Points, outcome: Outcome) -> Flags:
        """(t,) conditions that a solve which came to its limit among surfaces that touch has not brought to their
        goals."""
        triples = problem.yielding.triples
        pressed = problem.pressed(x) if outcome is Outcome.ITERATION_LIMIT else None
        if pressed is None:
            return np.zeros(len(triples), dtype=bool)
        away = np.linalg.norm(problem.residual(x)[triples], axis=1)
        return pressed.touched & (away > 10.0 * SHARPNESS * self._settings.length)

    def _first_guess(self, problem: Frozen, state: State, guess: Points) -> Points:
        """Where Newton begins: a guess (n, 3), with contact as far towards it, moved onto the conditions, as the way is
        free."""
        touch = problem.touch
        if touch is None:
            return guess
        x = state.q.reshape(-1, 3)
        way = guess - x
        if problem.presses is not None:
            triples = problem.yielding.triples
            held = problem.hard[triples[:, 0]]
            missing = np.where(held[:, None], problem.stretch(guess)[triples], 0.0)
            way = way + problem.presses.onto(missing)
        share = touch.max_step(x, way)
        share = 1.0 if share >= 1.0 else 0.5 * share
        if not np.isfinite(touch.value(x + share * way, share)):  # pressed to the gap, to rounding
            share = 0.0
        touch.advance(share)
        return x + share * way

    def _carried(self, problem: Frozen, x: Points, run: Progress, state: State) -> dict[str, Array]:
        """What contact needs of this step in the next."""
        if problem.touch is None:
            return {}
        out = {**problem.touch.memory(), PAIRS: self._pairs}
        pressed = problem.pressed(x)
        if pressed is not None:
            forces = problem.forces(x, run.multipliers)[problem.yielding.triples]
            own = np.linalg.norm(forces - pressed.own, axis=1)
            before = state.memory.get(FREE_FORCE, own)
            out[FREE_FORCE] = np.where(problem.yielding.gives_way, before, own)
        return out

    def solve(self, problem: Frozen, run: Progress, seconds: dict[str, float], last: bool = False) -> Outcome:
        """Minimise a frozen problem from where `run` stands to where it then ends; adds to `seconds`, by `PARTS`."""

        def direction(
            x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool
        ) -> tuple[Points, Vector]:
            # On the diagonal a pair holds on to the world: the last step, which brings momentum back, has room for all.
            if fresh or (exact and self._outside):
                self.factorise(problem, x, seconds, multipliers, whole=exact)
            step, change = self.direct(problem, x, gradient, exact, seconds)
            return step, change + problem.forces(x, multipliers)

        watched = Watched(problem, seconds)
        try:
            if self._settings.iterations is not None and problem.touch is None:
                return take_steps(watched, direction, run, self._settings.iterations)
            if problem.touch is not None:
                return minimise_apart(watched, problem.touch, direction, run, self._settings, last=last)
            return minimise(watched, direction, run, self._settings)
        except FactorisationError:
            return Outcome.FACTORISATION_FAILED

    def _evidence(self, problem: Frozen, x: Points, run: Progress, outcome: Outcome) -> dict[str, object]:
        if outcome.usable:
            return {}
        with np.errstate(all="ignore"):
            pull = np.linalg.norm(problem.gradient(x, run.multipliers), axis=1)
        worst = int(np.nanargmax(pull)) if np.isfinite(pull).any() else 0
        return {"vertex": worst, "position": x[worst].tolist(), "imbalance": float(pull[worst])}

    def factorise(
        self, problem: Frozen, x: Points, seconds: dict[str, float], multipliers: Vector | None = None, *,
        whole: bool = False,
    ) -> None:  # fmt: skip
        """Assemble and factorise at x, with room for all pairs if `whole`; adds what it took to `seconds`."""
        begin = time.perf_counter()
        saddle = self._saddle or self._analyse(problem)
        blocks = problem.blocks(x)
        bend = None
        if len(problem.yielding.triples) and multipliers is not None:
            bend = problem.yielding.compliance(problem.stretch(x), multipliers)
        border = problem.jacobian.data if problem.rows else None
        loose = None if problem.touch is None else problem.touch.blocks(x)
        given = {"border": border, "compliance": bend, "loose": loose}
        self._outside = saddle.assemble(blocks, problem.stiffness, **given)
        allowed = 0.0 if whole or loose is None else _MOST_OUTSIDE * len(loose[0])
        if problem.touch is not None and self._outside > allowed:
            self._pairs = _with_room(self._pairs, problem.touch.likely(x))
            saddle.reserve(self._pairs)
            self._outside = saddle.assemble(blocks, problem.stiffness, **given)
        assembled = time.perf_counter()
        saddle.refactor()
        seconds["assemble"] += assembled - begin
        seconds["factor"] += time.perf_counter() - assembled

    def direct(
        self, problem: Frozen, x: Points, gradient: Points, exact: bool, seconds: dict[str, float]
    ) -> tuple[Points, Vector]:
        """Newton's step to the conditions with the last factor, and the change of their forces."""
        begin = time.perf_counter()
        force = np.zeros(self.saddle.size)
        force[: x.size] = -gradient.reshape(-1)
        # The springs' pull is part of the gradient already; only hard conditions have a distance left to go.
        goal = -problem.missing(x)
        result = self.saddle.solve(force, goal, rounds=12 if exact else 1)
        seconds["solve"] += time.perf_counter() - begin
        return result.primal[: x.size].reshape(-1, 3), result.multipliers

    def _stencils(self, problem: Frozen) -> list[Stencil]:
        """Of the blocks of a problem."""
        own = shifted_stencils(problem.energies, self._system.point_count, psd=True)
        return [self._system.mass.stencil(), *own]

    def _analyse(self, problem: Frozen) -> SaddleSystem:
        stencils = self._stencils(problem)
        size = 3 * self._system.point_count + sum(energy.auxiliary_count for energy in problem.energies)
        single = self._settings.single
        factorisation = choose(threads=self._threads, single=single)
        self._saddle = SaddleSystem(
            stencils, size, self._system.jacobian, factorisation, single=single,
            triples=capped_rows([(c.jacobian.shape[0], c.capped) for c in self._system.constraints]),
            double=partial(choose, threads=self._threads, pivoting=True),
        )  # fmt: skip
        return self._saddle


def _with_room(before: Integers, likely: Integers) -> Integers:
    """(p, 2) both, in order: surfaces that slide come back to pairs they had. What has grown to three times what is
    likely now is forgotten."""
    both, most = np.concatenate([before, likely]), 1 + max(before.max(initial=0), likely.max(initial=0))
    keys = distinct(both[:, 0] * most + both[:, 1])
    both = np.stack([keys // most, keys % most], axis=1)
    return both if len(both) <= _MOST_ROOM * len(likely) else likely
