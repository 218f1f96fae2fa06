"""What gradients tell of a Hessian that has changed since it was factorised."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bunraku.contracts import Array, Points, Vector
from bunraku.dynamics.secants import Secants

COUNT = 6


def _hessians(seed: int) -> tuple[Array, Array]:
    """Of today, and of when there was a factor."""
    random = np.random.default_rng(seed)
    now = random.normal(size=(3 * COUNT, 3 * COUNT))
    return now @ now.T + np.eye(3 * COUNT), np.diag(random.uniform(5.0, 30.0, 3 * COUNT))


def _newton(old: Array) -> Callable[[Points], tuple[Points, Vector]]:
    inverse = np.asarray(np.linalg.inv(old), dtype=np.float64)

    def step(gradient: Points) -> tuple[Points, Vector]:
        found: Points = -(inverse @ gradient.reshape(-1)).reshape(-1, 3)
        return found, np.zeros(0)

    return step


def test_without_anything_learnt_a_step_is_newtons() -> None:
    _, old = _hessians(0)
    gradient = np.random.default_rng(1).normal(size=(COUNT, 3))
    np.testing.assert_array_equal(Secants().corrected(gradient, _newton(old))[0], _newton(old)(gradient)[0])


def test_the_last_step_is_known_exactly() -> None:
    """The secant equation: a gradient that the last step made is undone by that step."""
    now, old = _hessians(2)
    secants, random = Secants(), np.random.default_rng(3)
    for _ in range(12):  # more than are kept
        step = random.normal(size=(COUNT, 3))
        change = (now @ step.reshape(-1)).reshape(-1, 3)
        secants.learn(step, change)
        np.testing.assert_allclose(secants.corrected(change, _newton(old))[0], -step, atol=1e-10)


def test_a_quadratic_is_minimised_in_as_many_steps_as_it_has_unknowns() -> None:
    """With exact searches along each step L-BFGS is the method of conjugate gradients, if it keeps all pairs."""
    now, old = _hessians(4)
    now, old = now[:6, :6], old[:6, :6]
    x, secants = np.ones((2, 3)), Secants()
    first = float(np.abs(now @ x.reshape(-1)).max())
    for _ in range(6):
        gradient = (now @ x.reshape(-1)).reshape(-1, 3)
        step, _ = secants.corrected(gradient, _newton(old))
        bend = float(step.reshape(-1) @ now @ step.reshape(-1))
        step = step * (-float(np.sum(step * gradient)) / bend)
        secants.learn(step, (now @ step.reshape(-1)).reshape(-1, 3))
        x = x + step
    assert np.abs(now @ x.reshape(-1)).max() < 1e-9 * first


def test_what_bends_the_wrong_way_is_not_learnt_and_a_new_factor_knows_all() -> None:
    _, old = _hessians(5)
    random = np.random.default_rng(6)
    step, gradient = random.normal(size=(COUNT, 3)), random.normal(size=(COUNT, 3))
    secants = Secants()
    secants.learn(step, -step)
    np.testing.assert_array_equal(secants.corrected(gradient, _newton(old))[0], _newton(old)(gradient)[0])
    secants.learn(step, 3.0 * step)
    assert np.abs(secants.corrected(gradient, _newton(old))[0] - _newton(old)(gradient)[0]).max() > 1e-3
    secants.forget()
    np.testing.assert_array_equal(secants.corrected(gradient, _newton(old))[0], _newton(old)(gradient)[0])
