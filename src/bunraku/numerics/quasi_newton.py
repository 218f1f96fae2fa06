"""BFGS for least-squares problems without hard rows, begun with a given Hessian [Schulz 2014, sec. 8].

One gradient an iteration and no factorisation; `gauss_newton` needs far fewer iterations where Jacobians are at hand.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bunraku.contracts import Array, Outcome, Solution, Vector, input_error

from .least_squares import ROUNDING, SquaresSettings
from .squares_problem import SquaresPoint, SquaresProblem

_ARMIJO, _WOLFE = 1e-4, 0.9
_MOST_TRIES = 40


def bfgs(
    problem: SquaresProblem, start: Vector, hessian: Array, settings: SquaresSettings | None = None
) -> Solution[Vector]:  # fmt: skip
    """Minimise from `start` (n,), with a positive definite `hessian` (n, n) to begin with.

    Statistics: iterations, evaluations, objective, gradient (its largest entry).
    """
    if problem.hard.any():
        raise input_error(
            "BFGS has no rows of infinite weight", got=f"{int(problem.hard.sum())} of them", remedy="gauss_newton"
        )
    settings = settings or SquaresSettings()
    inverse = _inverse(hessian)
    point, evaluations, iterations = problem.at(np.array(start, dtype=np.float64)), 1, 0
    outcome = Outcome.NOT_CONVERGED if point.finite else Outcome.NOT_FINITE
    while point.finite and iterations < settings.limit:
        direction = -inverse @ point.gradient
        fall = -float(point.gradient @ direction)
        if fall <= 2.0 * settings.tolerance**2 * point.terms:
            outcome = Outcome.CONVERGED
            break
        iterations += 1
        after, tries = _searched(problem, point, direction, fall)
        evaluations += tries
        if after is None:  # rounding hides what is left, or there is no way down
            outcome = Outcome.CONVERGED if fall <= ROUNDING * point.terms else Outcome.LINE_SEARCH_FAILED
            break
        inverse = _updated(inverse, after.z - point.z, after.gradient - point.gradient)
        point = after
    stats = {"iterations": iterations, "evaluations": evaluations, "objective": point.value}
    stats["gradient"] = float(np.abs(point.gradient).max(initial=0.0))
    return Solution(point.z, outcome, stats)


def _inverse(hessian: Array) -> Array:
    """(n, n), refused where it is none."""
    try:
        return cho_solve(cho_factor(hessian, lower=True), np.eye(len(hessian)))
    except LinAlgError:
        raise input_error("BFGS must begin with a positive definite matrix", remedy="adding to its diagonal") from None


def _searched(
    problem: SquaresProblem, point: SquaresPoint, direction: Vector, fall: float
) -> tuple[SquaresPoint | None, int]:  # fmt: skip
    """A point along a direction, first its end, where the energy fell and its slope flattened (Wolfe); and tries."""
    low, high, share, lowest = 0.0, np.inf, 1.0, None
    # Where rounding hides the fall of the energy, that of its slope is enough [Hager 2005].
    blur = ROUNDING * point.terms if fall < ROUNDING * point.terms else 0.0
    for tries in range(1, _MOST_TRIES + 1):
        trial = problem.at(point.z + share * direction)
        if not trial.finite or trial.value > point.value - _ARMIJO * share * fall + blur:
            high = share
        elif float(trial.gradient @ direction) < -_WOLFE * fall:
            low, lowest = share, trial
        else:
            return trial, tries
        share = 0.5 * (low + high) if np.isfinite(high) else 2.0 * share
    return lowest, _MOST_TRIES


def _updated(inverse: Array, step: Vector, change: Vector) -> Array:
    """The inverse Hessian that also maps `change` of the gradient to `step`."""
    along = float(step @ change)
    if along <= 0.0:
        return inverse
    image = inverse @ change
    mixed = np.outer(image, step) / along
    return inverse - mixed - mixed.T + (1.0 + float(change @ image) / along) * np.outer(step, step) / along
