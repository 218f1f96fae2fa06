"""Rows of planned keys: values without derivatives, derivatives shared, curvature as differences have it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bunraku.contracts import Outcome
from bunraku.direction.plan.keys import Key
from bunraku.direction.plan.nodes import Ends
from bunraku.direction.plan.problem import Problem, linearised
from bunraku.direction.plan.reduced import Reduced, Stock
from bunraku.direction.plan.solving import lay_out, solve, straight
from bunraku.direction.steer import Grip
from bunraku.geometry import tet_bar
from bunraku.materials import as_solid
from bunraku.numerics import bfgs, gauss_newton
from bunraku.testing import falls_as


@cache
def body() -> Reduced:
    """A bar that stands on its base, in eight modes."""
    mesh = tet_bar((2, 8, 2), (0.25, 1.0, 0.25))
    fixed = np.flatnonzero(mesh.rest[:, 1] < 1e-9)
    stock = Stock(mesh, (as_solid("rubber"),), None, ((0.1, 0.001),), np.zeros(3))
    return stock.reduced(fixed, 8, warped=True)


def top() -> np.ndarray:
    return np.flatnonzero(body().mesh.rest[:, 1] > 1.0 - 1e-9)


def turned(time: float, angle: float, **more) -> Key:
    grip = Grip(top(), move=(0.1, 0.2, 0.0), rotate=(0.0, angle, 0.3))
    return Key.posed(body().mesh, time, grip, **more)


def ends() -> Ends:
    still = np.zeros(body().modes.count)
    return Ends((still, still), (still, still))


def problems() -> dict[str, Problem]:
    middle = Key(0.5, None, (0.0, 0.5, 0.1), (0.2, 0.0, 0.0))
    return {
        "one place": lay_out(body(), [turned(1.0, 1.0)], 2.0, ends()),
        "places and speeds of one set at once": lay_out(body(), [turned(1.0, 1.0, velocities=(1, 0, 0))], 2.0, ends()),
        "two sets at one time, another time": lay_out(
            body(), [turned(1.0, 0.5), Key(1.0, None, velocities=(0, 1, 0)), middle], 2.0, ends()
        ),
        "a circle": lay_out(body(), [turned(0.0, 0.5), middle], 2.0, Ends(circular=True)),
    }


def somewhere(problem: Problem, seed: int = 0) -> np.ndarray:
    """Unknowns at which the body is well bent."""
    soft = 1.0 / np.sqrt(body().modes.stiffness)
    z = np.random.default_rng(seed).normal(size=(problem.nodes.dimension // len(soft), len(soft))) * soft
    return (z * 4.0).reshape(-1)


@pytest.mark.parametrize("name", problems())
def test_rows_are_the_same_by_themselves_together_and_without_derivatives(name: str) -> None:
    problem = problems()[name]
    z = somewhere(problem)
    value, jacobian = problem.residuals(z)
    alone = [problem.of(row, z) for row in problem.rows]
    assert value == pytest.approx(np.concatenate([one[0] for one in alone]), abs=1e-13)
    assert jacobian == pytest.approx(np.concatenate([one[1] for one in alone]), abs=1e-13)
    assert problem.values(z) == pytest.approx(value, abs=1e-13)
    assert np.abs(value).min(initial=1.0) > 0.0


@pytest.mark.parametrize("name", problems())
def test_the_curvature_of_rows_is_that_of_differences(name: str) -> None:
    problem = problems()[name]
    z, along = somewhere(problem), somewhere(problem, 1)
    forces = np.random.default_rng(2).normal(size=len(problem.weights))
    bend = problem.bend(z, forces)
    assert bend == pytest.approx(bend.T, abs=1e-12 * np.abs(bend).max())
    steps, errors = [2e-3, 1e-3, 5e-4], []
    for h in steps:
        change = (problem.residuals(z + h * along)[1] - problem.residuals(z - h * along)[1]).T @ forces / (2 * h)
        errors.append(np.abs(change - bend @ along).max())
    size = np.abs(bend @ along).max()
    assert size > 0.0 and falls_as(2, steps, errors, [1e-9 * size] * 3)


def test_a_turn_makes_a_key_no_firmer_than_the_way_it_asks_for() -> None:
    """The chord of a turn has parts that modes hardly do; they must not set its weight."""
    small, large = (lay_out(body(), [turned(1.0, angle)], 2.0, ends()).weights[0] for angle in (0.1, 2.5))
    assert 0.05 < large / small < 20.0


@pytest.mark.parametrize(("angle", "weight"), [(0.3, 1.0), (1.0, 0.01), (1.5, 1e-4)])
def test_bfgs_with_the_hessian_of_rest_finds_the_same_motion(angle: float, weight: float) -> None:
    """The paper's alternative, in many more iterations."""
    problem = lay_out(body(), [turned(1.0, angle, weight=weight)], 2.0, ends())
    squares, start = problem.squares, straight(linearised(problem)).value
    rest = squares.at(np.zeros(len(start)))
    found = bfgs(squares, start, squares.hessian + (rest.jacobian.T * rest.weights) @ rest.jacobian)
    newton = gauss_newton(squares, start)
    assert found.outcome is newton.outcome is Outcome.CONVERGED
    assert found.stats["objective"] == pytest.approx(newton.stats["objective"], rel=1e-8)
    assert found.stats["iterations"] > 2 * newton.stats["iterations"]


@pytest.mark.parametrize("angle", [0.3, 1.5, 3.0])
def test_a_turn_takes_few_iterations(angle: float) -> None:
    motion = solve(body(), [turned(1.0, angle)], 2.0, ends())
    assert motion.report["keys"][0].near and motion.report["iterations"] <= 10
    edited = solve(body(), [turned(1.0, angle + 0.2)], 2.0, ends(), before=motion)
    assert edited.report["keys"][0].near and edited.report["iterations"] <= 8
