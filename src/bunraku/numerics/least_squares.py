"""Nonlinear least squares beside a quadratic energy, some rows met exactly: a few hundred unknowns, dense.

    minimise ½ zᵀ H z + h·z + ½ Σ w r(z)²,   r(z) = 0 for rows of weight ∞

Gauss–Newton with the model of `squares_model`, made safe by five means:

* Far away Levenberg's damping makes steps shorter until a merit falls as promised. Near the end there is none, and
  convergence is quadratic where residuals vanish.
* The merit counts a row by its square only up to a price, a force somewhat larger than the row will need in the end,
  and linearly beyond (a hard row linearly at once). Its minimum is the same, but it does not forbid to leave stiff rows
  for a while: they need not be followed in tiny steps.
* Where rows do not do what their derivatives foretell, half-way along the first whole step, they are at first no
  stiffer than the energy, then stiffer and stiffer: so a chain folds instead of winding itself up.
* A step that the rows' curvature spoils is corrected once by what its end shows, before it is judged.
* Where residuals do not vanish, or hard rows pull, the rows' curvature belongs to the Hessian. It is learnt from the
  Jacobians passed on the way (symmetric rank one, sized as in [Dennis 1981]) and used while it foretells better.

Where the problem knows its rows' curvature (`bend`), every step but the first has it, of the forces that rows are
foretold to need in the end, not of those that they have now: stiff rows that are still far from their goals would make
all else count for nothing. Convergence is then quadratic whatever is left of residuals. So most starts with all weights
end well after a handful of steps; one that does not is given up soon, and softer rows are taken first, until they have
been followed and all weights lead on from there. Where steps have
become small but the energy bends down beside them, as symmetric problems make it, that is a saddle: it is left to the
side that wins more. Where rows are differences of large numbers, what their rounding asks for is not searched for.

H is asked for a product and for the sum H + Jᵀ w J only. Where many nodes in time make H block tridiagonal and rows see
one node each, the sum is banded too: `SquaresModel` is then the one place to change, its Cholesky and its basis Z (node
by node), and the curvature a block for each node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import Array, Outcome, Solution, Vector

from .squares_model import SquaresModel, SquaresStep
from .squares_problem import SquaresForces, SquaresPoint, SquaresProblem

ROUNDING = 1e-13
"""share of the energy's terms below which a change of their sum says nothing"""
_ENOUGH = 0.25  # share of its promise that a step must keep: larger than for descent alone, or it jumps to far valleys
_STRAIGHT = 0.1  # how far rows may be beside the foretold, of the way foretold, for a start with all weights
_NEARLY_STRAIGHT = 0.8  # the same where their curvature is known: for a start that is given up where steps fail
_STAGES = (3.0, 3e1, 3e2, 3e3, 3e4, 1e6)  # weights of the softer problems, in those at which row and energy are equals
_FOLLOWED = 30.0  # of these, after which all weights are tried again, once, where the rows' curvature is known
_LOOSE, _STAGE_LIMIT = 1e-2, 30  # tolerance and iterations of each
_FEW, _PATIENCE = 14, 3  # iterations, and steps that fail, after which a start with all weights is given up
_MOST_RAISES = 20  # of prices, threefold each
_MOST_SADDLES, _SADDLE_TRIES = 5, 10  # that are left in a run, and lengths of steps for each
_FIRST_DAMPING, _NO_DAMPING, _MOST_DAMPING = 1e-3, 1e-6, 1e30


@dataclass(frozen=True)
class SquaresSettings:
    """How far to iterate."""

    tolerance: float = 1e-8
    """converged when the next step would win less than this, squared, times the energy's terms, and moves by less than
    this, relative, to meet the hard rows; the step is still taken"""
    limit: int = 400
    """stop after this many iterations"""
    near: bool = False
    """whether the start is a minimum of a problem nearby: where the rows' curvature is known, all weights are tried at
    once then, however crooked the way is"""
    staged: bool = True
    """whether softer rows are taken first where all weights at once do not lead there"""


def gauss_newton(
    problem: SquaresProblem, start: Vector, settings: SquaresSettings | None = None
) -> Solution[Vector]:  # fmt: skip
    """Minimise from `start` (n,).

    The outcome is `CONDITIONS_CONFLICT` where hard rows contradict each other: then they are missed least, in squares,
    and the evidence names the worst. Statistics: iterations, evaluations, objective, gradient (largest entry of the
    Lagrangian's), missed (largest hard residual), multipliers (e,), rows (residuals (m,) and their Jacobian (m, n)).
    """
    settings = settings or SquaresSettings()
    point = problem.at(np.array(start, dtype=np.float64))
    if not point.finite:
        return Solution(point.z, Outcome.NOT_FINITE, {"iterations": 0, "evaluations": 1})
    run = _Run(problem, point, settings)
    if problem.hessian.any() and settings.staged:
        near = settings.near and problem.bend is not None
        crooked = 0.0 if near else run.crooked()
        if problem.bend is not None and crooked <= _NEARLY_STRAIGHT:
            found = run.attempt()
            if found is not None:
                return found
        if problem.bend is not None or crooked > _STRAIGHT:
            return _staged(run)
    return run.solution(run.minimise())


def _staged(run: _Run) -> Solution[Vector]:
    """What is found by way of softer problems, one after the other, until all weights lead on from there."""
    loosely = replace(run.settings, tolerance=_LOOSE, limit=_STAGE_LIMIT)
    trying = run.problem.bend is not None
    for share, softer in _softer(run.problem, run.model):
        before = _Run(softer, run.point.weighted(softer), loosely)
        before.minimise()
        run = run.resumed(before)
        if trying and share >= _FOLLOWED:  # rows that have followed so far have a small part of their way left
            trying, spent = False, run.iterations
            found = run.attempt()
            if found is not None:
                return found
            run.allow(run.iterations - spent)
    return run.solution(run.minimise())


def _softer(problem: SquaresProblem, model: SquaresModel) -> Iterator[tuple[float, SquaresProblem]]:
    """The problem with no row much stiffer than the energy lets it be felt, then stiffer and stiffer: by how much."""
    limits = model.yielding
    for share in _STAGES:
        weights = np.minimum(problem.weights, share * limits)
        if (weights < problem.weights).any():
            yield share, replace(problem, weights=weights)


class _Run:
    """Where Gauss–Newton has come to."""

    def __init__(self, problem: SquaresProblem, point: SquaresPoint, settings: SquaresSettings) -> None:
        self.problem, self.point, self.settings = problem, point, settings
        self.iterations, self.evaluations = 0, 1
        self.limit, self.patience = settings.limit, np.inf
        """after how many iterations it is given up, or with how many more steps that fail"""
        self.saddles = 0
        """how many it has left"""
        self.damping = self.radius = 0.0
        """of steps, and how long they may be before they need it"""
        self.prices = SquaresForces(np.zeros(len(point.residual)), np.zeros(len(point.missed)))
        self.curvature = np.zeros_like(problem.hessian)
        self.model = SquaresModel(problem, point)
        self.reach = self.model.size or float(np.linalg.norm(self.model.whole.z / self.model.unit))
        """the length, scaled, of what the run is about"""
        self._before, self._growth = np.inf, 4.0  # the last decrement; what damping is next multiplied by
        self._sure = False  # whether the last step kept its promise: the next is likely to, so all is asked for at once
        self._failed = False  # whether the last step was not taken

    def resumed(self, before: _Run) -> _Run:
        """This run where another one has come to."""
        run = _Run(self.problem, before.point.weighted(self.problem), self.settings)
        run.reach = max(self.reach, run.model.size)
        run.iterations, run.evaluations = self.iterations + before.iterations, self.evaluations + before.evaluations - 1
        return run

    def allow(self, more: int) -> None:
        """So many iterations more than there were."""
        self.settings = replace(self.settings, limit=self.settings.limit + more)
        self.limit = self.settings.limit

    def minimise(self) -> Outcome:
        """Go on to the end."""
        while self.iterations < self.limit and self.damping <= _MOST_DAMPING and self.patience > 0:
            settled, nearly, point = self.settled(), self.nearly_settled(), self.point
            if (settled or nearly) and self.leave_saddle():
                continue
            self.advance(settled or nearly)
            if settled or (nearly and self.point is not point):
                return Outcome.CONVERGED
        return Outcome.NOT_CONVERGED

    def attempt(self) -> Solution[Vector] | None:
        """What a few iterations find with all weights at once; nothing where steps fail: that way lies a far valley."""
        run = _Run(self.problem, self.point, self.settings)
        run.iterations, run.reach, run.patience = self.iterations, self.reach, _PATIENCE
        run.limit = min(self.iterations + _FEW, self.limit)
        outcome = run.minimise()
        if outcome is not Outcome.CONVERGED and run.saddles:  # which is where all weights lead: it goes on from there
            run.patience, run.limit = np.inf, self.limit
            outcome = run.minimise()
        self.iterations, self.evaluations = run.iterations, self.evaluations + run.evaluations - 1
        if outcome is not Outcome.CONVERGED and run.iterations < self.settings.limit:
            return None
        run.evaluations = self.evaluations
        return run.solution(outcome)

    def crooked(self) -> float:
        """How far rows are, on the way of the whole step, beside what their derivatives foretell, of the way foretold.

        Looked at half-way: the end of a step that is far too long may lie near the goal by chance.
        """
        step = self.model.whole.halved(self.point)
        self.evaluations += 1
        residual, missed = self.problem.residuals(self.point.z + step.z)
        # Each by the energy that it takes to repair it, or to go it.
        hard, yielding = self.problem.hard, self.model.yielding
        soft, stiff = np.minimum(self.point.weights, yielding[~hard]), yielding[hard]
        bent = soft @ (residual - step.residual) ** 2 + stiff @ (missed - step.missed) ** 2
        foretold = soft @ (self.point.residual - step.residual) ** 2 + stiff @ (self.point.missed - step.missed) ** 2
        blur = np.concatenate(self.problem.blurred) ** 2 @ np.concatenate([soft, stiff])
        if foretold <= 1e2 * blur and bent <= 1e2 * blur:
            return 0.0
        ratio = float(np.sqrt(bent / max(float(foretold), np.finfo(np.float64).tiny)))
        return ratio if np.isfinite(ratio) else np.inf

    def settled(self) -> bool:
        """Whether the next step is the last one worth taking."""
        step, (small, met) = self.model.whole, self._small()
        # What rounding hides cannot be won: a step that is no shorter than the last, or has failed already, is no use.
        hidden = step.decrement**2 <= ROUNDING * self.point.terms
        stuck = hidden and (self._failed or step.decrement > 0.5 * self._before)
        still = step.decrement <= small or stuck
        return still and (step.met <= met or self.model.cornered(self.reach))

    def _small(self) -> tuple[float, float]:
        """Scaled lengths of steps along hard rows, and to meet them, that are not worth taking."""
        small = self.settings.tolerance * max(self.model.size, 1e-3 * self.reach)
        along, met = self.model.blur
        return max(small, along), max(small, met)

    def nearly_settled(self) -> bool:
        """Whether the step after the next would not be worth taking, as quadratic convergence foretells it."""
        step, (small, met) = self.model.whole, self._small()
        if self.model.curvature is None or self.problem.bend is None or step.decrement > 1e-2 * self._before:
            return False
        share = step.decrement / self._before if self._before > 0.0 else 0.0
        return step.decrement * share**2 <= small and step.met <= met

    def leave_saddle(self) -> bool:
        """Step down to a side where all steps along rows have become small but the energy bends down beside them."""
        way = self.model.way_down() if self.problem.bend is not None and self.saddles < _MOST_SADDLES else None
        if way is None:
            return False
        (along, bend), length = way, 0.1 * self.model.size
        self.saddles, self.iterations = self.saddles + 1, self.iterations + 1
        for _ in range(_SADDLE_TRIES):
            best = max((self._try(side * length * along) for side in (1.0, -1.0)), key=self._won)
            if self._won(best) >= -0.1 * bend * length**2 and best.finite:
                self._go(best, False, False)
                self._before = self.damping = 0.0
                return True
            length *= 0.125
        return False

    def advance(self, last: bool) -> None:
        """Take a step if it keeps its promise, else ask for a shorter one."""
        self.iterations += 1
        if self.problem.bend is not None and self.model.length(self.model.whole) <= self.radius:
            self.damping = 0.0
        step = self.model.whole if last or self.damping == 0.0 else self.model.step(self.damping)
        promise = self._promise(step)
        blur = ROUNDING * self._noise()
        trial = self._best_end(step, promise, blur)
        won = self._won(trial)
        learns = self.problem.bend is None and trial.finite
        curved = self._learn(trial, step, won, promise) if learns else False
        if not won >= _ENOUGH * max(promise, 0.0) - blur or not trial.finite:
            self._shorten(step)
            trial = self.point
        else:
            self._lengthen(step, won, promise, blur)
            if self._tension(trial) < 0.5 * self._tension(self.point):  # it fails now and then, but gets there
                self.patience = max(self.patience, _PATIENCE)
        self._go(trial, curved, last)

    def _shorten(self, step: SquaresStep) -> None:
        """After a step that failed."""
        self.patience, self._sure, self._failed = self.patience - 1, False, True
        if self.problem.bend is None:
            self.damping, self._growth = max(self._growth * self.damping, _FIRST_DAMPING), 2.0 * self._growth
            return
        self.radius = 0.25 * self.model.length(step)
        self.damping = self.model.damping_for(self.radius, max(2.0 * self.damping, _FIRST_DAMPING))

    def _lengthen(self, step: SquaresStep, won: float, promise: float, blur: float) -> None:
        """After a step that is taken, longer or shorter by what it kept of its promise."""
        # Beside steps that fail, one that is taken says little of the next, which may be four times as long.
        self._sure = won >= 0.5 * promise - blur and not self._failed
        self._before, self._growth, self._failed = step.decrement, 4.0, False
        if won >= 0.5 * promise - blur:
            self.damping = 0.1 * self.damping if self.damping > _NO_DAMPING else 0.0
            self.radius = 4.0 * self.model.length(step)
        elif won < 0.25 * promise:
            self.damping = max(4.0 * self.damping, _FIRST_DAMPING)
            self.radius = 0.5 * self.model.length(step)

    def _go(self, there: SquaresPoint, curved: bool, last: bool) -> None:
        """Take a point, which may be the one before, and its model; the last one needs no curvature."""
        if self.problem.bend is None:
            plain = SquaresModel(self.problem, there)
            self.model = plain.bent(self.curvature) if curved else plain
        elif there is not self.point:
            self.model = SquaresModel(self.problem, there)
            bend = None if last else self.problem.bend(there.z, self.model.forces.of(self.problem))
            if bend is not None and np.isfinite(bend).all():
                self.model = self.model.bent(bend)
        self.point = there
        self.reach = max(self.reach, self.model.size)

    def _promise(self, step: SquaresStep) -> float:
        """What the merit should win, prices being raised as far as the rows, or a promise at all, ask for it."""
        forces = self.model.forces
        soft = np.maximum(self.prices.soft, 2.0 * np.abs(forces.soft))
        hard = np.maximum(self.prices.hard, 2.0 * np.linalg.norm(forces.hard))
        cost, gain = step.elastic + step.curved, 0.0
        for _ in range(_MOST_RAISES):
            self.prices = SquaresForces(soft, hard)
            gain = self._tension(self.point) - self._tension(step)
            if cost < gain or gain <= ROUNDING * self._noise():
                break
            soft, hard = 3.0 * soft, 3.0 * hard
        return gain - cost

    def _noise(self) -> float:
        """The size of the merit's terms, and of those that cancel in rows."""
        unit, size = self.model.unit, self.model.size
        soft = float(self.prices.soft @ np.linalg.norm(self.point.jacobian * unit, axis=1))
        hard = float(self.prices.hard @ np.linalg.norm(self.model.conditions, axis=1))
        return abs(self.point.elastic) + self._tension(self.point) + size * (size + soft + hard)

    def _best_end(self, step: SquaresStep, promise: float, blur: float) -> SquaresPoint:
        """The end of a step, or of the corrected step where that is better."""
        trial = self._try(step.z, self._sure)
        if not trial.countable or self._won(trial) >= 0.5 * promise - blur:
            return trial
        again = self.model.correction(step, trial, self.damping)
        unit = self.model.unit
        near = np.linalg.norm(again / unit) <= 0.5 * np.linalg.norm(step.z / unit)
        other = self._try(step.z + again) if near else trial
        return other if self._won(other) > self._won(trial) else trial

    def _won(self, trial: SquaresPoint) -> float:
        """By how much the merit is lower there."""
        if not trial.countable:
            return -np.inf
        return self.point.elastic - trial.elastic + self._tension(self.point) - self._tension(trial)

    def _tension(self, there: SquaresPoint | SquaresStep) -> float:
        """What rows add to the merit: squares of soft ones up to the price, the length of hard ones.

        Of hard rows that contradict each other only that part counts which a step can change.
        """
        away, weights, price = np.abs(there.residual), self.point.weights, self.prices.soft
        force = weights * away
        beyond = price * (away - 0.5 * price / np.maximum(weights, np.finfo(np.float64).tiny))
        soft = float(np.where(force <= price, 0.5 * force * away, beyond).sum())
        return soft + float(self.prices.hard.max(initial=0.0)) * self.model.reducible(there.missed)

    def _learn(self, trial: SquaresPoint, step: SquaresStep, won: float, promise: float) -> bool:
        """Take in the curvature passed on the way; whether to use it in the next model."""
        unit, move = self.model.unit, trial.z - self.point.z
        seen, plain = self.curvature @ move, promise + step.curved
        known = bool(self.curvature.any())
        guess = plain - 0.5 * float(move @ seen)
        bend = self.point.bend(trial, self.model.forces)
        self.curvature = _rank_one(self.curvature, move / unit, bend * unit, seen * unit, unit)
        return abs(won - guess) < abs(won - plain) if known else won < 0.5 * promise

    def _try(self, step: Vector, sure: bool = False) -> SquaresPoint:
        self.evaluations += 1
        there = self.point.z + step
        return self.problem.at(there) if sure else self.problem.trial(there)

    def solution(self, outcome: Outcome) -> Solution[Vector]:
        """What was reached."""
        multipliers, worst, evidence = self.model.multipliers, self.model.worst, {}
        # The search for a place that does not exist may end by damping as well as by small steps.
        if worst is not None and (
            outcome is Outcome.CONVERGED or self.model.cornered(self.reach) or self.damping > _MOST_DAMPING
        ):
            outcome = Outcome.CONDITIONS_CONFLICT
            evidence = {"row": int(np.flatnonzero(self.problem.hard)[worst]), "missed": float(self.point.missed[worst])}
        slope = self.point.gradient + self.point.conditions.T @ multipliers
        stats = {
            "iterations": self.iterations,
            "evaluations": self.evaluations,
            "objective": self.point.value,
            "gradient": float(np.abs(slope).max(initial=0.0)),
            "missed": float(np.abs(self.point.missed).max(initial=0.0)),
            "multipliers": multipliers,
            "rows": self.point.rows,
        }
        return Solution(self.point.z, outcome, stats, evidence)


def _rank_one(curvature: Array, move: Vector, bend: Vector, seen: Vector, unit: Vector) -> Array:
    """The curvature (n, n) that maps a move to the bend observed; the last four are scaled, `seen` its image so far.

    What was learnt where residuals were larger is first made smaller, as far as this move tells [Dennis 1981].
    """
    along = abs(float(move @ seen))
    share = min(1.0, abs(float(move @ bend)) / along) if along > 0.0 else 1.0
    rest = bend - share * seen
    slope = float(rest @ move)
    if abs(slope) <= 1e-8 * float(np.linalg.norm(rest) * np.linalg.norm(move)):
        return share * curvature
    back = rest / unit
    return share * curvature + np.outer(back, back) / slope
