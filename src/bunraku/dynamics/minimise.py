"""Newton's method on linear conditions, with conjugate directions.

The Hessian used is the positive semi-definite one (compressive stress and the angles' curvature left out), so it is
too stiff where a shell buckles, and plain Newton converges slowly there. Treated as the preconditioner of nonlinear
conjugate gradients (Polak–Ribière), the same matrices need 40 % fewer factorisations on the twisting box, and a factor
may serve a few iterations; where Newton is good the conjugate part vanishes by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from bunraku.contracts import Outcome, Points, Vector


@dataclass(frozen=True)
class NewtonSettings:
    """How far to iterate."""

    iterations: int | None = None
    """exactly this many full Newton steps (1: the paper's single step), or None: to convergence with line search"""
    tolerance: float = 2e-4
    """converged when the largest Newton step is below this times `length`"""
    length: float = 1.0
    """a length to compare with: the size of the body [m]"""
    limit: int = 150
    """stop after this many iterations; accepted if the last step was below 100 tolerances"""
    reuse: int = 3
    """iterations that share one factorisation"""
    single: bool = True
    """factorise in single precision, refine in double"""


class Problem(Protocol):
    """A function to minimise on linear conditions."""

    def value(self, x: Points) -> float: ...

    def gradient(self, x: Points) -> Points: ...


class Direction(Protocol):
    """Newton's step from x to the conditions, and the multipliers."""

    def __call__(self, x: Points, gradient: Points, *, fresh: bool, exact: bool) -> tuple[Points, Vector]:
        """`fresh`: factorise at x, else use the last factor; `exact`: refine to full precision."""
        ...


@dataclass
class Progress:
    """What a run has found and spent; filled as it goes."""

    x: Points
    iterations: int = 0
    factorisations: int = 0
    multipliers: Vector = field(default_factory=lambda: np.zeros(0))
    last_step: float = np.inf
    """largest coordinate of the last Newton step [m]"""


def take_steps(problem: Problem, direction: Direction, run: Progress, count: int) -> Outcome:
    """Exactly `count` whole Newton steps, without looking at the energy."""
    for _ in range(count):
        step, run.multipliers = direction(run.x, problem.gradient(run.x), fresh=True, exact=True)
        run.x, run.last_step = run.x + step, _largest(step)
        run.iterations, run.factorisations = run.iterations + 1, run.factorisations + 1
    return Outcome.ITERATION_LIMIT if np.isfinite(run.x).all() else Outcome.NOT_FINITE


def minimise(problem: Problem, direction: Direction, run: Progress, settings: NewtonSettings) -> Outcome:
    """To convergence. The first step is taken whole: it meets the conditions, and later ones stay on them."""
    small = settings.tolerance * settings.length
    if take_steps(problem, direction, run, 1) is Outcome.NOT_FINITE:
        return Outcome.NOT_FINITE
    value = problem.value(run.x)
    before: tuple[Points, Points, Points] | None = None  # gradient, Newton step, direction
    age = settings.reuse
    while run.iterations < settings.limit:
        if not np.isfinite(value):
            return Outcome.NOT_FINITE
        gradient = problem.gradient(run.x)
        fresh = age >= settings.reuse
        step, run.multipliers = direction(run.x, gradient, fresh=fresh, exact=False)
        age = 1 if fresh else age + 1
        run.iterations, run.factorisations = run.iterations + 1, run.factorisations + fresh
        run.last_step = _largest(step)
        if not np.isfinite(run.last_step):
            return Outcome.NOT_FINITE
        if run.last_step <= small:  # one last step, to full precision
            step, run.multipliers = direction(run.x, gradient, fresh=False, exact=True)
            run.x = run.x + step
            return Outcome.CONVERGED
        along = _conjugate(gradient, step, before)
        found = _search(problem, run.x, along, gradient, value)
        if found is None:
            if fresh:
                return Outcome.LINE_SEARCH_FAILED
            age, before = settings.reuse, None  # the old factor misled: try again with a new one
            continue
        before = gradient, step, along
        run.x, value = found
    return _stopped(problem, direction, run, small)


def _stopped(problem: Problem, direction: Direction, run: Progress, small: float) -> Outcome:
    """At the iteration limit: bring the conditions to full precision, and judge."""
    step, run.multipliers = direction(run.x, problem.gradient(run.x), fresh=False, exact=True)
    run.x = run.x + step
    return Outcome.ITERATION_LIMIT if run.last_step <= 100.0 * small else Outcome.NOT_CONVERGED


def _largest(step: Points) -> float:
    return float(np.abs(step).max(initial=0.0))


def _conjugate(gradient: Points, step: Points, before: tuple[Points, Points, Points] | None) -> Points:
    """Polak–Ribière with the Newton step as preconditioned gradient; never uphill."""
    if before is None:
        return step
    old_gradient, old_step, old_along = before
    scale = float(np.sum(old_gradient * old_step))
    if scale == 0.0:
        return step
    share = float(np.sum((gradient - old_gradient) * step)) / scale
    along = step + max(0.0, share) * old_along
    return along if float(np.sum(along * gradient)) < 0.0 else step


def _search(problem: Problem, x: Points, along: Points, gradient: Points, value: float) -> tuple[Points, float] | None:
    """The whole step where a parabola through what is known agrees with it, else its minimum; halved until Φ falls."""
    slope = float(np.sum(along * gradient))
    whole = x + along
    at_whole = problem.value(whole)
    fraction = _parabola_minimum(slope, at_whole - value)
    if at_whole <= value and 0.7 < fraction < 1.4:
        return whole, at_whole
    for _ in range(25):
        other = x + fraction * along
        at_other = problem.value(other)
        if at_whole <= value and not at_other < at_whole:
            return whole, at_whole
        if at_other <= value:
            return other, at_other
        fraction *= 0.5
    return None


def _parabola_minimum(slope: float, rise: float) -> float:
    """Where the parabola with p(0) = 0, p'(0) = slope, p(1) = rise is lowest; kept between 0.1 and 4."""
    if not np.isfinite(rise):
        return 0.5
    bend = rise - slope
    return float(np.clip(-slope / (2.0 * bend), 0.1, 4.0)) if bend > 0.0 else 2.0
