"""Constrained implicit Euler [Bergou 2007, §4.3].

A step from (xₙ, vₙ) to xₙ₊₁ minimises

    Φ(x) = |x − y|²_M / (2 dt²) + Σ E(x),     y = xₙ + dt vₙ,

subject to the linear conditions at the *end* of the step; vₙ₊₁ = (xₙ₊₁ − xₙ)/dt. The conditions are linear, so the
first full Newton step meets them and every later one stays on them: from there Φ alone is the merit function.
A condition that would take more than its cap yields (`yielding.py`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.contracts import (
    Array,
    Energy,
    Flags,
    Integers,
    LinearRows,
    Outcome,
    Points,
    Solution,
    Sparse,
    State,
    Stencil,
    Vector,
)
from bunraku.numerics import FactorisationError, SaddleSystem, choose

from .minimise import NewtonSettings, Progress, minimise, take_steps
from .system import Mass, System
from .yielding import SHARPNESS, Yielding, capped_rows

MET = 1e-9
"""share of the body's size within which a hard condition counts as met"""
PARTS: tuple[str, ...] = ("assemble", "factor", "solve", "energy", "gradient")
"""what a step's seconds are counted by, besides their total: the matrix, its factors, solving with them, and the
line search's and Newton's look at the energies"""


@dataclass(frozen=True, eq=False)
class Frozen:
    """The minimisation of one step."""

    mass: Mass
    energies: Sequence[Energy]
    target: Points
    """(n, 3) y"""
    rows: Sequence[LinearRows]
    dt: float
    yielding: Yielding = field(default_factory=Yielding)
    """the conditions with a cap, and which of them yield just now"""

    def value(self, x: Points, multipliers: Vector) -> float:
        """Φ with the springs of conditions that are not hard, plus λ·(J x − c) of those that are."""
        away = x - self.target
        total = float(np.sum(away * self.mass.times(away))) / (2.0 * self.dt**2)
        total += sum(energy.value(x) for energy in self.energies)
        stretch, hard = self.stretch(x), self.hard
        spring = np.where(np.isinf(self.stiffness), 0.0, self.stiffness)
        total += 0.5 * float(spring @ stretch**2) + float(np.where(hard, multipliers, 0.0) @ stretch)
        return total + self.yielding.value(stretch)

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        """(n, 3) of Φ with the springs, plus Jᵀλ of the hard conditions."""
        out = self.mass.times(x - self.target) / self.dt**2
        for energy in self.energies:
            out += energy.gradient(x)
        if self.rows:
            pull = self.jacobian.T @ self.forces(x, multipliers)
            out += pull.reshape(-1, 3)
        return out

    def forces(self, x: Points, multipliers: Vector) -> Vector:
        """(r,) how hard each condition pulls: λ where it is hard, k (J x − anchor) where it is a spring."""
        stretch = self.stretch(x)
        spring = np.where(np.isinf(self.stiffness), 0.0, self.stiffness) * stretch
        return self.yielding.pull(stretch, np.where(np.isinf(self.stiffness), multipliers, spring))

    def follow(self, x: Points) -> dict[str, Array]:
        """Take x for where the solve has come to; returns what that changes in the state's memory."""
        return {key: value for energy in self.energies for key, value in energy.follow(x).items()}

    def revise(self, x: Points, multipliers: Vector) -> bool:
        """Let conditions yield that would pull harder than their caps, and hold those again that need not."""
        return self.yielding.revise(self.stretch(x), multipliers)

    @cached_property
    def jacobian(self) -> Sparse:
        """(r, 3n) of all conditions."""
        return sparse.vstack([rows.jacobian for rows in self.rows], format="csr")

    def blocks(self, x: Points) -> list[Array]:
        """Local blocks of the positive semi-definite Hessian."""
        out = [self.mass.blocks(1.0 / self.dt**2)]
        for energy in self.energies:
            out.extend(energy.blocks(x, psd=True))
        return out

    @cached_property
    def stiffness(self) -> Vector:
        """(r,) of all conditions; infinite also for springs with a cap, whose compliance `yielding` tells."""
        found = np.concatenate([np.zeros(0), *(rows.stiffness for rows in self.rows)])
        return np.where(self.yielding.springs(len(found)), np.inf, found)

    @property
    def hard(self) -> Flags:
        """(r,) conditions to be met exactly."""
        return np.isinf(self.stiffness) & ~self.yielding.rows_that_yield(len(self.stiffness))

    def stretch(self, x: Points) -> Vector:
        """(r,) of all conditions: how far each still has to go."""
        return np.concatenate([np.zeros(0), *(rows.stretch(x) for rows in self.rows)])

    def distance(self, x: Points) -> float:
        """[m] the largest distance of a hard condition."""
        return float(np.abs(self.stretch(x)[self.hard]).max(initial=0.0))

    def residual(self, x: Points) -> Vector:
        """(r,) of all conditions: how far each misses what was directed."""
        return np.concatenate([np.zeros(0), *(rows.residual(x) for rows in self.rows)])


@dataclass(frozen=True, eq=False)
class _Watched:
    """A problem for Newton that counts what it takes to look at the energies."""

    problem: Frozen
    seconds: dict[str, float]

    def value(self, x: Points, multipliers: Vector) -> float:
        begin = time.perf_counter()
        found = self.problem.value(x, multipliers)
        self.seconds["energy"] += time.perf_counter() - begin
        return found

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        begin = time.perf_counter()
        found = self.problem.gradient(x, multipliers)
        self.seconds["gradient"] += time.perf_counter() - begin
        return found

    def distance(self, x: Points) -> float:
        return self.problem.distance(x)

    def follow(self, x: Points) -> object:
        return self.problem.follow(x)

    def revise(self, x: Points, multipliers: Vector) -> bool:
        return self.problem.revise(x, multipliers)


class ImplicitEuler:
    """Steps a system; the symbolic analysis is made once, with the first step."""

    order = 1

    def __init__(self, system: System, settings: NewtonSettings | None = None, *, threads: int | None = None) -> None:
        self._system = system
        self._settings = settings or NewtonSettings()
        self._threads = threads
        self._saddle: SaddleSystem | None = None

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
            earlier = replace(state, time=state.time - dt)
            ended = [constraint.at(earlier, dt) for constraint in self._system.constraints]
            return np.concatenate([one.residual(x) for one in ended])

        yielding = Yielding.of(rows, missed, SHARPNESS * self._settings.length)
        return Frozen(self._system.mass, energies, x + dt * v, rows, dt, yielding)

    def step(self, state: State, dt: float) -> Solution[State]:
        """One step of length dt [s]."""
        begin = time.perf_counter()
        problem = self.freeze(state, dt)
        run = Progress(problem.target, np.zeros(len(problem.stiffness)))
        seconds = dict.fromkeys(PARTS, 0.0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            outcome = self._solve(problem, run, seconds)
            x = run.x if np.isfinite(run.x).all() else state.q.reshape(-1, 3)
        after = State(state.time + dt, x.reshape(-1).copy(), (x.reshape(-1) - state.q) / dt, state.memory)
        residual = problem.residual(x)
        worst = float(np.abs(residual[problem.hard]).max(initial=0.0))
        if outcome.usable and worst > MET * self._settings.length:
            outcome = Outcome.CONDITIONS_CONFLICT
        if outcome.usable:
            after = replace(after, memory={**state.memory, **problem.follow(x)})
            after = replace(after, memory=self._system.remember(after))
        seconds["total"] = time.perf_counter() - begin
        stats = {
            "iterations": run.iterations,
            "factorisations": run.factorisations,
            "last_step": run.last_step,
            "multipliers": problem.forces(x, run.multipliers) if len(problem.yielding.triples) else run.multipliers,
            "residual": residual,
            "residual_hard": worst,
            "seconds": seconds,
        }
        return Solution(after, outcome, stats, self._evidence(problem, x, run, outcome))

    def _solve(self, problem: Frozen, run: Progress, seconds: dict[str, float]) -> Outcome:
        def direction(
            x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool
        ) -> tuple[Points, Vector]:
            if fresh:
                self.factorise(problem, x, seconds, multipliers)
            step, change = self.direct(problem, x, gradient, exact, seconds)
            return step, change + problem.forces(x, multipliers)

        watched = _Watched(problem, seconds)
        try:
            if self._settings.iterations is not None:
                return take_steps(watched, direction, run, self._settings.iterations)
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
        self, problem: Frozen, x: Points, seconds: dict[str, float], multipliers: Vector | None = None
    ) -> None:
        """Assemble and factorise at x; adds what it took to `seconds`."""
        begin = time.perf_counter()
        saddle = self._saddle or self._analyse(problem)
        blocks = problem.blocks(x)
        bend = None
        if len(problem.yielding.triples) and multipliers is not None:
            bend = problem.yielding.compliance(problem.stretch(x), multipliers)
        border = problem.jacobian.data if problem.rows else None
        saddle.assemble(blocks, problem.stiffness, border=border, compliance=bend)
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
        goal = np.where(problem.hard, -problem.residual(x), 0.0)
        result = self.saddle.solve(force, goal, rounds=12 if exact else 1)
        seconds["solve"] += time.perf_counter() - begin
        return result.primal[: x.size].reshape(-1, 3), result.multipliers

    def _analyse(self, problem: Frozen) -> SaddleSystem:
        size = 3 * self._system.point_count
        stencils = [self._system.mass.stencil()]
        for energy in problem.energies:
            stencils.extend(_shifted(stencil, 3 * self._system.point_count, size) for stencil in energy.stencils(True))
            size += energy.auxiliary_count
        single = self._settings.single
        factorisation = choose(threads=self._threads, single=single)
        self._saddle = SaddleSystem(
            stencils, size, self._system.jacobian, factorisation, single=single,
            triples=capped_rows([(c.jacobian.shape[0], c.capped) for c in self._system.constraints]),
            double=partial(choose, threads=self._threads, pivoting=True),
        )  # fmt: skip
        return self._saddle


def _shifted(stencil: Stencil, point_unknowns: int, first: int) -> Stencil:
    """An energy numbers its auxiliary unknowns from 3n; move them to `first`."""

    def move(unknowns: Integers) -> Integers:
        return np.where(unknowns >= point_unknowns, unknowns + (first - point_unknowns), unknowns)

    return Stencil(move(stencil.rows), None if stencil.columns is None else move(stencil.columns))
