"""Least squares beside an energy: minima that nothing nearby undercuts, hard rows met, contradictions told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bunraku.contracts import InputError, Outcome, Solution
from bunraku.numerics import SquaresProblem, SquaresSettings, bfgs, gauss_newton

INF = np.inf
Rows = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def chain(goal: tuple[float, float], weight: float, links: int = 40) -> SquaresProblem:
    """A chain of bending links, its end drawn to a goal: rows turn, as a body's do."""

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angle = np.cumsum(z)
        end = np.array([np.cos(angle).mean(), np.sin(angle).mean()])
        turned = np.array([-np.sin(angle), np.cos(angle)])[:, ::-1]
        return end - goal, np.cumsum(turned, axis=1)[:, ::-1] / links

    return SquaresProblem(0.1 * np.eye(links), np.zeros(links), np.full(2, weight), rows)


def bent(seed: int = 0, links: int = 40) -> np.ndarray:
    return 0.05 * np.random.default_rng(seed).normal(size=links)


def best_nearby(problem: SquaresProblem, found: Solution[np.ndarray], count: int = 300) -> None:
    """No admissible point nearby is lower: perturbations are brought back to the hard rows."""
    r, point = np.random.default_rng(1), problem.at(found.value)
    for k in range(count):
        z = found.value + 10.0 ** -(1 + k % 4) * r.normal(size=len(found.value))
        for _ in range(20):
            there = problem.at(z)
            z = z - np.linalg.pinv(there.conditions) @ there.missed if len(there.missed) else z
        assert problem.at(z).value >= point.value - 1e-12 * abs(point.value)


def test_a_linear_problem_takes_one_step_and_equals_the_normal_equations() -> None:
    r = np.random.default_rng(0)
    a, c, h = r.normal(size=(9, 12)), r.normal(size=9), r.normal(size=12)
    root = r.normal(size=(12, 12))
    hessian, weights = root @ root.T, 10.0 ** r.uniform(-2, 4, size=9)
    found = gauss_newton(SquaresProblem(hessian, h, weights, lambda z: (a @ z - c, a)), np.zeros(12))
    wanted = np.linalg.solve(hessian + (a.T * weights) @ a, (a.T * weights) @ c - h)
    assert found.outcome is Outcome.CONVERGED and found.stats["iterations"] <= 2
    assert found.value == pytest.approx(wanted, abs=1e-11)


def test_linear_hard_rows_equal_the_saddle_point() -> None:
    r = np.random.default_rng(1)
    a, c, h = r.normal(size=(5, 12)), r.normal(size=5), r.normal(size=12)
    root = r.normal(size=(12, 12))
    weights = np.array([INF, 3.0, INF, 0.0, INF])
    hard, soft = np.isinf(weights), ~np.isinf(weights)
    hessian = root @ root.T
    found = gauss_newton(SquaresProblem(hessian, h, weights, lambda z: (a @ z - c, a)), r.normal(size=12))
    b = hessian + (a[soft].T * weights[soft]) @ a[soft]
    saddle = np.block([[b, a[hard].T], [a[hard], np.zeros((3, 3))]])
    wanted = np.linalg.solve(saddle, np.concatenate([(a[soft].T * weights[soft]) @ c[soft] - h, c[hard]]))
    assert found.value == pytest.approx(wanted[:12], abs=1e-11)
    assert found.stats["multipliers"] == pytest.approx(wanted[12:], abs=1e-9)
    assert found.stats["missed"] < 1e-13


def test_rosenbrock_from_far_away_and_quadratically_near() -> None:
    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([10 * (z[1] - z[0] ** 2), 1 - z[0]]), np.array([[-20 * z[0], 10.0], [-1.0, 0.0]])

    problem = SquaresProblem(np.zeros((2, 2)), np.zeros(2), np.ones(2), rows)
    for start in ([-1.2, 1.0], [50.0, -30.0]):
        found = gauss_newton(problem, np.array(start))
        assert found.outcome is Outcome.CONVERGED and found.value == pytest.approx([1.0, 1.0], abs=1e-12)
    errors = []
    for limit in (1, 2, 3):
        found = gauss_newton(problem, np.array([1.05, 1.05**2 + 0.02]), SquaresSettings(limit=limit))
        errors.append(np.abs(found.value - 1.0).max())
    assert errors[2] <= 10.0 * errors[1] ** 2 + 1e-15


@pytest.mark.parametrize("weight", [1.0, 1e3, 1e6, 1e10, INF])
@pytest.mark.parametrize("goal", [(0.5, 0.5), (0.0, 0.0), (0.999, 0.0)])
def test_a_chain_reaches_its_goal_at_any_weight(goal: tuple[float, float], weight: float) -> None:
    problem = chain(goal, weight)
    found = gauss_newton(problem, bent())
    assert found.outcome is Outcome.CONVERGED
    assert np.abs(problem.rows(found.value)[0]).max() <= max(1.0 / weight, 1e-12)
    if weight == INF:
        assert found.stats["missed"] < 1e-12
    point = problem.at(found.value)
    assert found.stats["gradient"] < 1e-5 * (1.0 + np.abs(point.weights * point.residual).sum() + weight * 1e-9)


@pytest.mark.parametrize("weight", [10.0, INF])
def test_nothing_nearby_is_lower(weight: float) -> None:
    problem = chain((0.3, 0.6), weight)
    best_nearby(problem, gauss_newton(problem, bent(2)))


def test_large_weights_converge_to_the_hard_row() -> None:
    hard = gauss_newton(chain((0.5, 0.5), INF), bent()).value
    apart = [np.abs(gauss_newton(chain((0.5, 0.5), w), bent()).value - hard).max() for w in (1e3, 1e5, 1e7)]
    assert apart[0] / apart[1] > 50 and apart[1] / apart[2] > 50


def test_hard_rows_whose_curvature_counts() -> None:
    """The point of a circle nearest to (3, 1): Gauss–Newton alone overshoots, the row's pull must be learnt."""

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([z @ z - 1.0, z[0] - 3.0, z[1] - 1.0]), np.vstack([2 * z, np.eye(2)])

    problem = SquaresProblem(np.zeros((2, 2)), np.zeros(2), np.array([INF, 1.0, 1.0]), rows)
    for start in ([100.0, -50.0], [0.01, 0.0], [-1.0, -0.3], [0.0, 0.0]):
        found = gauss_newton(problem, np.array(start))
        assert found.outcome is Outcome.CONVERGED
        assert found.value == pytest.approx(np.array([3.0, 1.0]) / np.sqrt(10.0), abs=1e-11)


def test_contradicting_rows_are_missed_least_and_told() -> None:
    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        jacobian = np.array([[1.0, 0, 0], [1, 0, 0], [-2 * z[0], 1, 0], [0, 0, 1]])
        return np.array([z[0] - 1, z[0] - 2, z[1] - z[0] ** 2, z[2]]), jacobian

    problem = SquaresProblem(0.1 * np.eye(3), np.zeros(3), np.array([INF, INF, 1.0, 1.0]), rows)
    found = gauss_newton(problem, np.zeros(3))
    assert found.outcome is Outcome.CONDITIONS_CONFLICT
    assert found.value == pytest.approx([1.5, 1.5**2 / 1.1, 0.0], abs=1e-10)
    assert found.evidence["row"] in (0, 1) and abs(found.evidence["missed"]) == pytest.approx(0.5)


def test_the_same_row_twice_is_no_contradiction() -> None:
    a = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])
    problem = SquaresProblem(np.eye(3), np.ones(3), np.full(2, INF), lambda z: (a @ z - [1.0, 2.0], a))
    found = gauss_newton(problem, np.zeros(3))
    assert found.outcome is Outcome.CONVERGED and found.stats["missed"] < 1e-14
    assert found.value == pytest.approx([-0.2, 0.6, -1.0], abs=1e-13)


def test_what_cannot_be_reached_is_told() -> None:
    one = SquaresProblem(np.eye(1), np.zeros(1), np.array([INF]), lambda z: (z**2 + 1.0, 2.0 * z[:, None]))
    found = gauss_newton(one, np.array([3.0]))
    assert found.outcome is Outcome.CONDITIONS_CONFLICT and abs(found.value[0]) < 1e-4
    far = gauss_newton(chain((1.5, 0.0), INF), bent())
    assert far.outcome is Outcome.CONDITIONS_CONFLICT
    assert np.isfinite(far.value).all() and far.stats["missed"] == pytest.approx(0.5, abs=1e-6)


def test_what_nobody_sees_stays_where_it_is() -> None:
    problem = SquaresProblem(
        np.diag([1.0, 0.0]), np.zeros(2), np.ones(1), lambda z: (z[:1] - 2.0, np.array([[1.0, 0.0]]))
    )
    found = gauss_newton(problem, np.array([5.0, 7.0]))
    assert found.outcome is Outcome.CONVERGED and found.value == pytest.approx([1.0, 7.0], abs=1e-12)


def test_no_rows_and_no_unknowns() -> None:
    none: Rows = lambda z: (np.zeros(0), np.zeros((0, len(z))))  # noqa: E731
    found = gauss_newton(SquaresProblem(2 * np.eye(3), np.ones(3), np.zeros(0), none), np.zeros(3))
    assert found.value == pytest.approx([-0.5] * 3) and found.stats["objective"] == pytest.approx(-0.75)
    empty = gauss_newton(SquaresProblem(np.zeros((0, 0)), np.zeros(0), np.zeros(0), none), np.zeros(0))
    assert empty.outcome is Outcome.CONVERGED


def test_rows_that_fail_are_kept_away_from() -> None:
    """log z is no number below zero; a start where it is none is told."""

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(z) - 1.0, np.diag(1.0 / z)

    problem = SquaresProblem(np.zeros((1, 1)), np.zeros(1), np.ones(1), rows)
    assert gauss_newton(problem, np.array([30.0])).value == pytest.approx([np.e], abs=1e-12)
    assert gauss_newton(problem, np.array([-1.0])).outcome is Outcome.NOT_FINITE


def test_the_limit_is_told_and_the_same_bytes_come_twice() -> None:
    problem = chain((0.5, 0.5), 1e6)
    assert gauss_newton(problem, bent(), SquaresSettings(limit=3)).outcome is Outcome.NOT_CONVERGED
    one, other = gauss_newton(problem, bent()), gauss_newton(problem, bent())
    assert np.array_equal(one.value, other.value) and one.stats["evaluations"] == other.stats["evaluations"]


@pytest.mark.parametrize("goal", [(0.9, 0.2), (0.8, -0.2)])
def test_bfgs_finds_the_same_minimum(goal: tuple[float, float]) -> None:
    problem = chain(goal, 1.0)
    point = problem.at(bent())
    found = bfgs(problem, bent(), problem.hessian + point.jacobian.T @ point.jacobian)
    assert found.outcome is Outcome.CONVERGED
    assert found.stats["objective"] == pytest.approx(gauss_newton(problem, bent()).stats["objective"], rel=1e-12)
    assert found.stats["gradient"] < 1e-7


def test_refusals() -> None:
    with pytest.raises(InputError, match="fit its slope"):
        SquaresProblem(np.eye(2), np.zeros(3), np.ones(1), lambda z: (z, np.eye(2)))
    for bad in (-1.0, np.nan):
        with pytest.raises(InputError, match="from 0 to ∞"):
            SquaresProblem(np.eye(2), np.zeros(2), np.array([bad]), lambda z: (z, np.eye(2)))
    with pytest.raises(InputError, match="infinite weight"):
        bfgs(chain((0.5, 0.5), INF), bent(), np.eye(40))
    with pytest.raises(InputError, match="positive definite"):
        bfgs(chain((0.5, 0.5), 1.0), bent(), np.zeros((40, 40)))
