"""Least squares where the curvature of rows is known: quadratic at residuals that stay, and harmless far away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.contracts import Outcome
from bunraku.numerics import SquaresProblem, SquaresSettings, gauss_newton

INF = np.inf


def chain(goal: tuple[float, float], weight: float, links: int = 40, sign: float = 1.0) -> SquaresProblem:
    """A chain of bending links, its end drawn to a goal; `sign` −1 tells a wrong curvature."""

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angle = np.cumsum(z)
        end = np.array([np.cos(angle).mean(), np.sin(angle).mean()])
        turned = np.array([-np.sin(angle), np.cos(angle)])[:, ::-1]
        return end - goal, np.cumsum(turned, axis=1)[:, ::-1] / links

    def bend(z: np.ndarray, forces: np.ndarray) -> np.ndarray:
        angle = np.cumsum(z)
        pull = -(forces[0] * np.cos(angle) + forces[1] * np.sin(angle)) / links
        later = np.cumsum(pull[::-1])[::-1]  # both angles turn all links after the later one
        return sign * later[np.maximum.outer(np.arange(links), np.arange(links))]

    return SquaresProblem(0.1 * np.eye(links), np.zeros(links), np.full(2, weight), rows, bend)


def bent(seed: int = 0, links: int = 40) -> np.ndarray:
    return 0.05 * np.random.default_rng(seed).normal(size=links)


def missing(weight: float) -> SquaresProblem:
    """A curve (z, z²) drawn to a point beside it, which it cannot reach, and a third row that leaves more."""

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([z[0] - 1.0, z[0] ** 2 - 3.0, z[1] + z[0] * z[1] - 2.0, z[1] + 1.0]), np.array(
            [[1.0, 0.0], [2.0 * z[0], 0.0], [z[1], 1.0 + z[0]], [0.0, 1.0]]
        )

    def bend(_: np.ndarray, forces: np.ndarray) -> np.ndarray:
        return np.array([[2.0 * forces[1], forces[2]], [forces[2], 0.0]])

    return SquaresProblem(np.eye(2), np.zeros(2), np.full(4, weight), rows, bend)


def test_the_curvatures_of_these_tests_are_those_of_differences() -> None:
    r = np.random.default_rng(3)
    for problem, z in ((chain((0.5, 0.5), 1.0), bent(1)), (missing(1.0), np.array([0.7, -0.4]))):
        forces, along, h = r.normal(size=len(problem.weights)), r.normal(size=len(z)), 1e-5
        assert problem.bend is not None
        change = (problem.rows(z + h * along)[1] - problem.rows(z - h * along)[1]).T @ forces / (2 * h)
        assert problem.bend(z, forces) @ along == pytest.approx(change, abs=1e-8)


def test_convergence_is_quadratic_where_residuals_stay() -> None:
    """Gauss–Newton without curvature is only linear here, however near it begins."""
    problem, plain = missing(1e4), replace(missing(1e4), bend=None)
    best = gauss_newton(problem, np.array([1.5, 0.0]))
    assert best.outcome is Outcome.CONVERGED and best.stats["gradient"] < 1e-9 * 1e4
    assert np.abs(problem.at(best.value).residual).min() > 0.05
    errors = []
    for limit in (2, 3, 4):  # the first step is always Gauss–Newton's
        found = gauss_newton(problem, best.value + [0.03, -0.05], SquaresSettings(limit=limit))
        errors.append(np.abs(found.value - best.value).max())
    assert 1e-3 > errors[0] > 1e-9
    assert errors[1] <= 10.0 * errors[0] ** 2 + 1e-14 and errors[2] <= 1e-12
    assert best.stats["iterations"] < gauss_newton(plain, np.array([1.5, 0.0])).stats["iterations"]


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1.0, 1e3, 1e6, 1e10, INF])
@pytest.mark.parametrize("goal", [(0.5, 0.5), (0.0, 0.0), (0.999, 0.0), (-0.6, 0.3), (1.5, 0.0)])
def test_known_curvature_finds_what_learnt_curvature_finds(goal: tuple[float, float], weight: float) -> None:
    """Far away, where it is indefinite; also for hard rows, and for ones that cannot be met."""
    problem = chain(goal, weight)
    known, learnt = gauss_newton(problem, bent()), gauss_newton(replace(problem, bend=None), bent())
    assert known.outcome is (Outcome.CONDITIONS_CONFLICT if goal[0] > 1.0 and weight == INF else Outcome.CONVERGED)
    if known.outcome is Outcome.CONVERGED:
        assert known.stats["objective"] <= learnt.stats["objective"] * (1.0 + 1e-9)
        assert known.stats["missed"] < 1e-9


def test_the_curvature_far_away_is_indeed_indefinite() -> None:
    problem = chain((-0.6, 0.3), 1e6)
    point = problem.at(bent())
    assert problem.bend is not None
    whole = problem.hessian + (point.jacobian.T * point.weights) @ point.jacobian
    values = np.linalg.eigvalsh(whole + problem.bend(point.z, point.weights * point.residual))
    assert values[0] < -1e3


@pytest.mark.parametrize("goal", [(0.55, 0.45), (0.5, 0.5), (0.6, 0.6)])
def test_an_edit_takes_a_few_iterations_at_any_weight(goal: tuple[float, float]) -> None:
    for weight in (1e2, 1e4, 1e6, 1e8, INF):
        start = gauss_newton(chain((0.6, 0.4), weight), bent()).value
        problem = chain(goal, weight)
        found, learnt = gauss_newton(problem, start), gauss_newton(replace(problem, bend=None), start)
        assert found.outcome is Outcome.CONVERGED and found.stats["iterations"] <= 8
        assert found.stats["iterations"] <= learnt.stats["iterations"]


def test_a_wrong_or_broken_curvature_costs_iterations_alone() -> None:
    right = gauss_newton(chain((0.6, 0.4), 10.0), bent())
    wrong = gauss_newton(chain((0.6, 0.4), 10.0, sign=-1.0), bent())
    none = replace(chain((0.6, 0.4), 10.0), bend=lambda z, _: np.full((len(z), len(z)), np.nan))
    for found in (wrong, gauss_newton(none, bent())):
        assert found.outcome is Outcome.CONVERGED
        assert found.stats["objective"] == pytest.approx(right.stats["objective"], rel=1e-10)


def test_the_same_bytes_twice() -> None:
    problem = chain((-0.6, 0.3), 1e6)
    one, other = gauss_newton(problem, bent()), gauss_newton(problem, bent())
    assert np.array_equal(one.value, other.value) and one.stats["evaluations"] == other.stats["evaluations"]


def test_a_start_that_is_told_to_be_near_is_not_left_for_softer_rows() -> None:
    """Its way is crooked, so all weights at once are tried only when told; that finds a minimum, if not the best."""
    problem = chain((0.5, 0.5), 1.0)
    far, near = gauss_newton(problem, bent()), gauss_newton(problem, bent(), SquaresSettings(near=True))
    assert near.outcome is far.outcome is Outcome.CONVERGED
    assert near.stats["iterations"] <= 10 < far.stats["iterations"] and near.stats["gradient"] < 1e-9


def valley(weight: float = 1.0) -> SquaresProblem:
    """(z₁² − 1, z₀ − 2) beside a weak energy: on the line z₁ = 0 nothing pulls aside, and the best lies beside it."""

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([z[1] ** 2 - 1.0, z[0] - 2.0]), np.array([[0.0, 2.0 * z[1]], [1.0, 0.0]])

    bend = lambda _, forces: np.diag([0.0, 2.0 * forces[0]])  # noqa: E731
    return SquaresProblem(1e-3 * np.eye(2), np.zeros(2), np.full(2, weight), rows, bend)


@pytest.mark.parametrize("weight", [1.0, 1e6, 1e12])
def test_a_saddle_is_no_end(weight: float) -> None:
    found = gauss_newton(valley(weight), np.array([0.3, 0.0]))
    assert found.outcome is Outcome.CONVERGED
    assert np.abs(found.value) == pytest.approx([2.0, 1.0], abs=2e-3)
    blind = gauss_newton(replace(valley(weight), bend=None), np.array([0.3, 0.0]))
    assert blind.value[1] == 0.0 and blind.stats["objective"] > 100.0 * found.stats["objective"]


def test_what_rounding_hides_is_not_searched_for() -> None:
    """Rows that are differences of large numbers: once they are as small as rounding lets them, that is the end."""
    r = np.random.default_rng(5)
    a, far = r.normal(size=(9, 6)), 1e6 * r.normal(size=9)

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (far + a @ z) - far, a

    for z in (np.zeros(6), 1e-11 * r.normal(size=6)):
        problem = SquaresProblem(np.eye(6), np.zeros(6), np.full(9, 1e8), rows, lambda z, _: np.zeros((6, 6)))
        told = replace(problem, rounding=2.0**-52 * np.abs(far))
        found = gauss_newton(told, z)
        assert found.outcome is Outcome.CONVERGED and found.stats["iterations"] <= 2
        assert np.abs(found.value).max() < 1e-9


@pytest.mark.parametrize("goal", [(0.5, 0.5), (0.6, 0.2)])
def test_more_hard_rows_than_unknowns_leave_nothing_to_choose(goal: tuple[float, float]) -> None:
    """A chain of two links and four rows that agree: every unknown is settled by them."""
    problem = chain(goal, INF, links=2)

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, jacobian = problem.rows(z)
        return np.concatenate([value, 2.0 * value]), np.concatenate([jacobian, 2.0 * jacobian])

    assert problem.bend is not None
    bend = lambda z, forces: problem.bend(z, forces[:2] + 2.0 * forces[2:])  # type: ignore[misc]  # noqa: E731
    more = SquaresProblem(problem.hessian, problem.linear, np.full(4, INF), rows, bend)
    found = gauss_newton(more, np.array([0.3, 0.4]))
    assert found.outcome is Outcome.CONVERGED and found.stats["missed"] < 1e-10


def test_a_run_without_stages_begins_with_all_weights() -> None:
    problem, near = chain((-0.6, 0.3), 1e6), SquaresSettings(staged=False, limit=3)
    assert gauss_newton(problem, bent(), near).stats["iterations"] == 3
    best = gauss_newton(problem, bent())
    again = gauss_newton(problem, best.value + 1e-4, SquaresSettings(staged=False))
    assert again.outcome is Outcome.CONVERGED and again.stats["iterations"] <= 6
    assert again.stats["objective"] == pytest.approx(best.stats["objective"], rel=1e-9)


@pytest.mark.parametrize(("goal", "share"), [((-0.5, 0.3), 0.95), ((0.2, 0.9), 0.7)], ids=["near", "steps fail"])
def test_derivatives_are_asked_for_only_where_a_step_is_taken(goal: tuple[float, float], share: float) -> None:
    """A problem that tells its rows alone ends where it ends without, with fewer Jacobians than iterations: far fewer
    where every other step fails."""
    given, asked = chain(goal, 1e4), [0]

    def slopes(z: np.ndarray) -> np.ndarray:
        asked[0] += 1
        return given.rows(z)[1]

    def rows(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return given.rows(z)[0], slopes(z)

    split = replace(given, rows=rows, values=lambda z: given.rows(z)[0], slopes=slopes)
    found, plain = gauss_newton(split, bent()), gauss_newton(given, bent())
    assert found.outcome is Outcome.CONVERGED and np.array_equal(found.value, plain.value)
    assert found.stats["evaluations"] == plain.stats["evaluations"] > asked[0] + 3
    assert asked[0] < share * found.stats["iterations"]
