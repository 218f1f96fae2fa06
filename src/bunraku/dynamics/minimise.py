"""Newton's method on linear conditions, with conjugate directions.

The Hessian used is the positive semi-definite one (compressive stress and the angles' curvature left out), so it is
too stiff where a shell buckles, and plain Newton converges slowly there. Treated as the preconditioner of nonlinear
conjugate gradients (Polak–Ribière) the same matrices go further, and a factor may serve a few iterations; where Newton
is good the conjugate part vanishes by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bunraku.contracts import Outcome, Points, Vector


@dataclass(frozen=True)
class NewtonSettings:
    """How far to iterate."""

    iterations: int | None = None
    """exactly this many full Newton steps (1: the paper's single step), or None: to convergence with line search"""
    tolerance: float = 3e-5
    """converged when the largest Newton step is below this times `length`"""
    length: float = 1.0
    """a length to compare with: the size of the body [m]"""
    limit: int = 150
    """stop after this many iterations; accepted if the last step was below ten tolerances"""
    contact_limit: int = 40
    """stop after this many iterations that surfaces in the way have cut short; what is reached then is free of
    intersections and is taken"""
    reuse: int = 5
    """iterations that share one factorisation, of one step: that of the step before would do for bodies that only move
    along (`bunraku bench steer`: half the time), for nothing that turns, and a resumed run would give other bytes"""
    single: bool = True
    """factorise in single precision, refine in double"""
    balance: float = 0.0
    """with contact, converged also when what is left is below this share of the error that the step itself makes"""


class Problem(Protocol):
    """A function Φ to minimise on linear conditions J x = c.

    With estimates λ of the multipliers, Φ + λ·(J x − c) equals Φ on the conditions but has a gradient that vanishes
    at the solution: rounding errors of a step, which leave the conditions a little, are then not mistaken for energy.
    """

    def value(self, x: Points, multipliers: Vector) -> float:
        """Φ + λ·(J x − c)."""
        ...

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        """(n, 3) ∇Φ + Jᵀλ."""
        ...

    def distance(self, x: Points) -> float:
        """The largest |J x − c|."""
        ...

    def follow(self, x: Points) -> object:
        """Take x for where the run has come to."""
        ...

    def revise(self, x: Points, multipliers: Vector) -> bool:
        """Take another look at which conditions hold, now that their multipliers are known; whether any changed."""
        ...


class Direction(Protocol):
    """Newton's step from x to the conditions, and the new multipliers."""

    def __call__(
        self, x: Points, gradient: Points, multipliers: Vector, *, fresh: bool, exact: bool
    ) -> tuple[Points, Vector]:
        """`fresh`: factorise at x, else use the last factor; `exact`: refine to full precision."""
        ...


@dataclass
class Progress:
    """What a run has found and spent; filled as it goes."""

    x: Points
    multipliers: Vector
    iterations: int = 0
    factorisations: int = 0
    last_step: float = np.inf
    """largest coordinate of the last Newton step [m]"""


def take_steps(problem: Problem, direction: Direction, run: Progress, count: int) -> Outcome:
    """Exactly `count` whole Newton steps, without looking at the energy."""
    for _ in range(count):
        _newton(problem, direction, run, fresh=True, exact=True)
        run.iterations, run.factorisations = run.iterations + 1, run.factorisations + 1
    return Outcome.ITERATION_LIMIT if np.isfinite(run.x).all() else Outcome.NOT_FINITE


def _newton(
    problem: Problem, direction: Direction, run: Progress, *, fresh: bool, exact: bool, gradient: Points | None = None
) -> None:
    """One whole step, on the conditions that hold with its own multipliers; `gradient` (n, 3) where it is known."""
    while True:
        gradient = problem.gradient(run.x, run.multipliers) if gradient is None else gradient
        step, run.multipliers = direction(run.x, gradient, run.multipliers, fresh=fresh, exact=exact)
        if not problem.revise(run.x, run.multipliers):
            break
        fresh, gradient, run.factorisations = True, None, run.factorisations + 1
    run.x, run.last_step = run.x + step, _largest(step)


def minimise(problem: Problem, direction: Direction, run: Progress, settings: NewtonSettings) -> Outcome:
    """To convergence. The first step is taken whole: it meets the conditions, and later ones stay on them; the last
    one brings them to full precision.
    """
    small = settings.tolerance * settings.length
    _newton(problem, direction, run, fresh=True, exact=False)
    run.iterations, run.factorisations = 1, run.factorisations + 1
    _meet(problem, direction, run, small)
    if not np.isfinite(run.x).all():
        return Outcome.NOT_FINITE
    before: tuple[Points, Points, Points] | None = None  # gradient, Newton step, direction
    # A short first step has not left the place where its factor was made. Whether a long one has, the second tells.
    age, close = 1, np.inf if run.last_step <= 1e3 * small else max(_CLOSE * run.last_step, small)
    returns = turns = 0
    while run.iterations < settings.limit:
        gradient = problem.gradient(run.x, run.multipliers)
        fresh = age >= settings.reuse
        step, multipliers = direction(run.x, gradient, run.multipliers, fresh=fresh, exact=False)
        if not fresh and not _largest(step) <= close:
            fresh = True
            step, multipliers = direction(run.x, gradient, run.multipliers, fresh=True, exact=False)
        age, close = 1 if fresh else age + 1, np.inf
        run.iterations, run.factorisations = run.iterations + 1, run.factorisations + fresh
        run.last_step = _largest(step)
        if not np.isfinite(run.last_step):
            return Outcome.NOT_FINITE
        if problem.revise(run.x, multipliers):
            age, before, run.multipliers = settings.reuse, None, multipliers
            continue
        if run.last_step <= small:
            _newton(problem, direction, run, fresh=False, exact=True, gradient=gradient)
            return Outcome.CONVERGED
        along = conjugate(gradient, step, before)
        found = _search(problem, run, along, gradient)
        if found is not None:
            before = gradient, step, along
            cut_short = _largest(found - run.x) < _CUT_SHORT * _largest(along)
            run.x, run.multipliers = found, multipliers
            if cut_short:
                problem.follow(run.x)  # of an angle's branch the end may be near: see below
        elif returns < _MOST_RETURNS and _meet(problem, direction, run, small):
            returns, before = returns + 1, None  # what looked uphill was the way back to the conditions
        elif fresh and before is None:
            if turns == _MOST_TURNS:
                return Outcome.LINE_SEARCH_FAILED
            # A face that turns over stands at the end of its angle's branch: the energy jumps there unless followed.
            turns, age = turns + 1, settings.reuse
            problem.follow(run.x)
        else:
            age, before = settings.reuse, None  # an old factor or direction misled: try again with new ones
    _newton(problem, direction, run, fresh=False, exact=True)
    return Outcome.ITERATION_LIMIT if run.last_step <= 10.0 * small else Outcome.NOT_CONVERGED


def _meet(problem: Problem, direction: Direction, run: Progress, small: float) -> bool:
    """Go back to the conditions where rounding has left them by a good part of a converged step; whether it had.

    The energy cannot judge such a step: it is not downhill but where the conditions are.
    """
    if not problem.distance(run.x) > _NEAR * small:
        return False
    _newton(problem, direction, run, fresh=False, exact=True)
    run.iterations += 1
    return True


_CLOSE = 0.02  # of the first step: a second one that long or shorter with the same factor needs no other
_MOST_RETURNS = 5  # where rounding keeps the conditions away, the line search has the last word
_CUT_SHORT = 0.05  # share of a step; less looks like a jump of the energy on the way
_MOST_TURNS = 4  # faces that turn over in one step
_NEAR = 0.1
"""share of a converged step by which conditions may be missed on the way"""


def _largest(step: Points) -> float:
    return float(np.abs(step).max(initial=0.0))


def conjugate(gradient: Points, step: Points, before: tuple[Points, Points, Points] | None) -> Points:
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


def _search(problem: Problem, run: Progress, along: Points, gradient: Points) -> Points | None:
    """The whole step where a parabola through what is known agrees with it, else its minimum; halved until Φ falls."""
    value = problem.value(run.x, run.multipliers)
    slope = float(np.sum(along * gradient))
    whole = run.x + along
    at_whole = problem.value(whole, run.multipliers)
    fraction = parabola_minimum(slope, at_whole - value)
    if at_whole <= value and 0.7 < fraction < 1.4:
        return whole
    if abs(slope) <= _ROUNDING * abs(value):
        flat = _flatter(problem, run, along, slope)
        if flat is not None:
            return flat
    for _ in range(25):
        other = run.x + fraction * along
        at_other = problem.value(other, run.multipliers)
        if at_whole <= value and not at_other < at_whole:
            return whole
        if at_other <= value:
            return other
        fraction *= 0.5
    return None


_ROUNDING = 1e-8
"""share of Φ below which a predicted gain may drown in rounding, so that slopes decide instead of values"""


def _flatter(problem: Problem, run: Progress, along: Points, slope: float) -> Points | None:
    """Where the slope is clearly smaller: at the whole step (the approximate Wolfe condition of Hager and Zhang), or
    where slopes say that it vanishes. A stressed body that hardly turns is far softer than the Hessian has it."""
    fraction = 1.0
    for _ in range(_SECANTS):
        other = run.x + fraction * along
        there = float(np.sum(along * problem.gradient(other, run.multipliers)))
        if abs(there) <= 0.5 * abs(slope):
            return other
        fraction = float(np.clip(fraction * slope / (slope - there), 0.1, _FARTHEST)) if there > slope else _FARTHEST
    return None


_SECANTS = 4  # slopes looked at along one direction
_FARTHEST = 1e3  # steps


def parabola_minimum(slope: float, rise: float) -> float:
    """Where the parabola with p(0) = 0, p'(0) = slope, p(1) = rise is lowest; kept between 0.1 and 4."""
    if not np.isfinite(rise):
        return 0.5
    bend = rise - slope
    return float(np.clip(-slope / (2.0 * bend), 0.1, 4.0)) if bend > 0.0 else 2.0
