"""Newton's method on linear conditions, with conjugate directions.

The Hessian used is the positive semi-definite one (compressive stress and the angles' curvature left out), so it is
too stiff where a shell buckles, and plain Newton converges slowly there. Treated as the preconditioner of nonlinear
conjugate gradients (Polak–Ribière) with a secant line search, the same matrices need 40 % fewer factorisations on the
twisting box; where Newton is good the conjugate part vanishes by itself.
"""

from __future__ import annotations

from collections.abc import Callable
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
    limit: int = 40
    """stop after this many iterations; accepted if the last step was below 100 tolerances"""
    single: bool = True
    """factorise in single precision, refine in double"""


class Problem(Protocol):
    """A function to minimise on linear conditions."""

    def value(self, x: Points) -> float: ...

    def gradient(self, x: Points) -> Points: ...


Direction = Callable[[Points, Points], tuple[Points, Vector]]
"""(x, gradient) → Newton's step to the conditions, and the multipliers"""


@dataclass
class Progress:
    """What a run has found and spent; filled as it goes."""

    x: Points
    iterations: int = 0
    multipliers: Vector = field(default_factory=lambda: np.zeros(0))
    last_step: float = np.inf
    """largest coordinate of the last Newton step [m]"""


def take_steps(problem: Problem, direction: Direction, run: Progress, count: int) -> Outcome:
    """Exactly `count` whole Newton steps, without looking at the energy."""
    for _ in range(count):
        step, run.multipliers = direction(run.x, problem.gradient(run.x))
        run.x, run.iterations, run.last_step = run.x + step, run.iterations + 1, _largest(step)
    return Outcome.ITERATION_LIMIT if np.isfinite(run.x).all() else Outcome.NOT_FINITE


def minimise(problem: Problem, direction: Direction, run: Progress, settings: NewtonSettings) -> Outcome:
    """To convergence. The first step is taken whole: it meets the conditions, and later ones stay on them."""
    small = settings.tolerance * settings.length
    if take_steps(problem, direction, run, 1) is Outcome.NOT_FINITE:
        return Outcome.NOT_FINITE
    value = problem.value(run.x)
    before: tuple[Points, Points, Points] | None = None  # gradient, Newton step, direction
    while run.iterations < settings.limit:
        if not np.isfinite(value):
            return Outcome.NOT_FINITE
        gradient = problem.gradient(run.x)
        step, run.multipliers = direction(run.x, gradient)
        run.iterations, run.last_step = run.iterations + 1, _largest(step)
        if not np.isfinite(run.last_step):
            return Outcome.NOT_FINITE
        along = _conjugate(gradient, step, before)
        found = _search(problem, run.x, along, gradient, value)
        if found is None:  # nothing lowers the energy: rounding level, or a real failure
            return Outcome.CONVERGED if run.last_step <= small else Outcome.LINE_SEARCH_FAILED
        before = gradient, step, along
        run.x, value = found
        if run.last_step <= small:
            return Outcome.CONVERGED
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


def _search(
    problem: Problem, x: Points, along: Points, gradient: Points, value: float
) -> tuple[Points, float] | None:
    """Where the slope vanishes by one secant, then halved until the energy does not rise."""
    slope, far = float(np.sum(along * gradient)), float(np.sum(along * problem.gradient(x + along)))
    fraction = float(np.clip(-slope / (far - slope), 0.05, 4.0)) if far > slope else 2.0
    for _ in range(25):
        trial = x + fraction * along
        new = problem.value(trial)
        if new <= value:
            return trial, new
        fraction *= 0.5
    return None
