"""Newton's method among surfaces that must not pass through each other.

Every point set it goes through is free of intersections: a step is cut where something would touch on the way, and the
obstacles take the same share of their way. Conditions and obstacles therefore arrive together, over several steps;
until then the merit is Φ + Σ w |J x − c| with weights w above the multipliers, which Newton's direction lowers.
Conditions are linear: a step of share α leaves exactly 1 − α of what was missed, and one whole step meets them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bunraku.contracts import Outcome, Points, Touching, Vector

from .minimise import Direction, NewtonSettings, Progress, conjugate, parabola_minimum

_BACK_OFF = 0.9  # of the share at which something would touch
_MOST_CUTS = 12
_MOST_RESORTS = 12
_MOST_APPROACHES = 6  # of obstacles, each leaving a tenth of what is free
_ASTRAY = 3.0  # sizes of the body
_HELD_UP = 0.5  # share of a step below which obstacles on their way are asked whether they leave room
_ROUNDING = 1e-9  # share of the merit that rounding may take
_ABOVE = 1.1  # weight of a condition in the merit over its multiplier
_WHOLE = 0.7  # of a share, or more up to twice that, which a parabola asks for: all of it will do
_MOST_LOOKS = 3  # for a lower place between
_HARDLY = 1e-4  # share of the size: a condition missed by less may yet be met
_DECIDED = 1e-8  # share of the size by which such a condition may still move
_CROWDED = 0.2  # share of a step below which obstacles wait for the shell to make room


class Problem(Protocol):
    """What `minimise` minimises, with contact."""

    def value(self, x: Points, multipliers: Vector, ahead: float = 0.0) -> float:
        """Φ + λ·(J x − c), the obstacles that share further."""
        ...

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        """(n, 3) ∇Φ + Jᵀλ."""
        ...

    def missing(self, x: Points) -> Vector:
        """(r,) J x − c of hard conditions, 0 for others."""
        ...

    def left(self, gradient: Points, step: Points) -> float:
        """[m] how far x is from the minimum, in the mean, by Newton's step (n, 3) from it."""
        ...

    def own_error(self, x: Points) -> float:
        """[m] the error, in the mean, that a step to x makes however well it is solved."""
        ...

    def undecided(self, x: Points, step: Points, within: float) -> float:
        """[m] the most that a step (n, 3) moves a condition that yields by less than `within` [m]."""
        ...

    def revise(self, x: Points, multipliers: Vector, step: Points | None = None) -> bool:
        """Take another look at which conditions hold, with the multipliers of a step (n, 3); whether any changed."""
        ...


def minimise_apart(
    problem: Problem, touch: Touching, direction: Direction, run: Progress, settings: NewtonSettings, *,
    last: bool = False,
) -> Outcome:  # fmt: skip
    """From a point set without intersections.

    Stops at the limit too: then what is reached is free of intersections, and what was missed is told by the report.
    As the `last` resort what holds obstacles up is let through them, as often as it takes.
    """
    outcome = _minimise(problem, touch, direction, run, settings)
    for _ in range(_MOST_RESORTS if last else 0):
        if outcome is not Outcome.NOT_CONVERGED:
            break
        if not _pinched_alone(touch, run.x):
            return Outcome.ITERATION_LIMIT if touch.arrived else outcome
        run.iterations = 0
        outcome = _minimise(problem, touch, direction, run, settings)
    return outcome


def _pinched_alone(touch: Touching, x: Points) -> bool:
    """Whether obstacles that go on while the shell stands at x (n, 3) come to press on it, and it is pinched. Each time
    they leave a little of the way that is free, which is long where they are fast: they come up to it in several."""
    for _ in range(_MOST_APPROACHES):
        touch.go_alone(x)
        if touch.arrived:
            return False
        if touch.pinch(x, last=True):
            return True
    return False


def _minimise(
    problem: Problem, touch: Touching, direction: Direction, run: Progress, settings: NewtonSettings
) -> Outcome:
    small = settings.tolerance * settings.length
    age, before = settings.reuse, None  # how often the factor has served; gradient, Newton step and direction
    cut = 0  # steps that surfaces on the way cut short
    while run.iterations < settings.limit and cut < settings.contact_limit:
        gradient = problem.gradient(run.x, run.multipliers)
        whole = gradient + touch.drive(run.x)
        fresh = age >= settings.reuse
        step, multipliers = direction(run.x, whole, run.multipliers, fresh=fresh, exact=False)
        age = 1 if fresh else age + 1
        run.iterations, run.factorisations = run.iterations + 1, run.factorisations + fresh
        run.last_step = float(np.abs(step).max(initial=0.0))
        if not np.isfinite(run.last_step):
            return Outcome.NOT_FINITE
        if run.last_step > _ASTRAY * settings.length and not touch.arrived:
            if fresh:  # what is crushed knows no direction, and to look along such a way takes minutes
                return Outcome.NOT_CONVERGED
            age, before = settings.reuse, None
            continue
        if problem.revise(run.x, multipliers, step):
            age, before, run.multipliers = settings.reuse, None, multipliers
            continue
        on_the_way = not touch.arrived or float(np.abs(problem.missing(run.x)).max(initial=0.0)) > small
        if run.last_step <= small and touch.arrived and not touch.slows:
            exact, multipliers = direction(run.x, whole, run.multipliers, fresh=False, exact=True)
            if touch.max_step(run.x, exact) >= 1.0:
                run.x, run.multipliers = run.x + exact, multipliers
                return Outcome.CONVERGED
        elif not (on_the_way or touch.slows) and _is_well_solved(problem, run.x, gradient, step, settings):
            if _end(problem, touch, direction, run, multipliers):
                return Outcome.CONVERGED
        along = step if on_the_way else conjugate(gradient, step, before)
        slope = None if on_the_way else float(np.sum(along * gradient))
        share, free = _search(problem, touch, run, along, multipliers, slope)
        if (share is None or share < _HELD_UP) and touch.pinch(run.x):
            age, before = settings.reuse, None
            continue
        if share is None:
            if fresh and before is None:
                break
            age, before = settings.reuse, None  # an old factor or direction misled: try again with new ones
            continue
        cut += share < _HELD_UP
        if free:  # if such a step is cut, then by its energy, which slowing what comes near would not help
            touch.ease()
        elif share < _CROWDED:
            touch.slow(run.x, along)
        run.x, run.multipliers = run.x + share * along, multipliers
        touch.advance(share)
        touch.waits = not touch.arrived and share < _CROWDED
        before = None if on_the_way or share < _CROWDED else (gradient, step, along)
        if touch.busy(run.x):
            age = settings.reuse  # surfaces that come near or part are not what the factor knows
    if not touch.arrived:
        # What holds the shell up may be the shell itself: then the obstacles need not wait for it.
        touch.go_alone(run.x)
    return Outcome.ITERATION_LIMIT if touch.arrived else Outcome.NOT_CONVERGED


def _is_well_solved(problem: Problem, x: Points, gradient: Points, step: Points, settings: NewtonSettings) -> bool:
    """Whether what is left is little beside the error that the step makes by its length: halving the step would change
    more. Directions do not count by that measure: none may be about to be met."""
    if settings.balance == 0.0 or not problem.left(gradient, step) <= settings.balance * problem.own_error(x):
        return False  # also where either is no number
    return problem.undecided(x, step, _HARDLY * settings.length) <= _DECIDED * settings.length


def _end(problem: Problem, touch: Touching, direction: Direction, run: Progress, multipliers: Vector) -> bool:
    """Take the last step whole if that is free and lowers the energy, else only bring the conditions to full precision;
    whether the way was free."""
    none = np.zeros_like(multipliers)
    gradient = problem.gradient(run.x, run.multipliers)
    step, exact = direction(run.x, gradient, run.multipliers, fresh=False, exact=True)
    whole = touch.max_step(run.x, step) >= 1.0
    if whole and problem.value(run.x + step, none) <= problem.value(run.x, none):
        run.x, run.multipliers = run.x + step, exact
        return True
    step, _ = direction(run.x, np.zeros_like(step), none, fresh=False, exact=True)
    if touch.max_step(run.x, step) < 1.0:
        return False
    run.x, run.multipliers = run.x + step, multipliers
    return True


def _search(
    problem: Problem, touch: Touching, run: Progress, step: Points, multipliers: Vector, slope: float | None
) -> tuple[float | None, bool]:
    """The share of a step that can be gone and does not raise the merit, None if there is none; and whether all of the
    step is free. With the `slope` of the merit along the step, where that is known, the lowest point of a parabola is
    tried too.

    Obstacles on their way do work: the merit may rise by as much as they do, at the larger of their forces before and
    after. Where they come into reach of the shell only the latter is not zero.
    """
    none, missing = np.zeros_like(multipliers), problem.missing(run.x)
    missed = float(_ABOVE * np.abs(multipliers) @ np.abs(missing))
    before = problem.value(run.x, none) + missed
    pushing = max(touch.on_obstacles(run.x), 0.0)
    share = touch.max_step(run.x, step)
    free = share >= 1.0
    share = 1.0 if free else _BACK_OFF * share
    if slope is not None:
        share = _lowest(problem, touch, run, step, before, share, slope)
    for _ in range(_MOST_CUTS):
        x = run.x + share * step
        ahead = problem.value(x, none, share) + abs(1.0 - share) * missed
        if not np.isfinite(ahead):  # pressed to the gap, to rounding: there is no way back from there
            share *= 0.5
            continue
        if ahead <= before + _ROUNDING * abs(before):
            return share, free
        if not touch.arrived:
            work = share * max(pushing, touch.on_obstacles(x, share))
            if ahead <= before + work + _ROUNDING * abs(before):
                return share, free
        share *= 0.5
    return None, free


def _lowest(
    problem: Problem, touch: Touching, run: Progress, step: Points, before: float, share: float, slope: float
) -> float:
    """The share of a step at which a parabola says that Φ is lowest, where that is lower, and free; it may be more
    than the whole."""
    none = np.zeros_like(run.multipliers)
    rise = problem.value(run.x + share * step, none) - before
    fraction = parabola_minimum(share * slope, rise)
    if _WHOLE < fraction < 2.0 * _WHOLE or (fraction > 1.0 > share):
        return share
    other = fraction * share
    if fraction > 1.0 and touch.max_step(run.x, other * step) < 1.0:
        return share
    low = problem.value(run.x + other * step, none) - before
    if low >= min(rise, 0.0):
        return share
    # What comes near on the way makes the end of it steep, and says little of where the lowest place is.
    most = share
    for _ in range(_MOST_LOOKS if fraction < 1.0 else 0):
        further = min(other * parabola_minimum(other * slope, low), np.sqrt(other * most))
        if further < other / _WHOLE:
            break
        found = problem.value(run.x + further * step, none) - before
        other, low, most = (further, found, most) if found < low else (other, low, further)
    return other
