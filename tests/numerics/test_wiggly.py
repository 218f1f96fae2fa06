"""Oscillators moved by the least force: against as many digits as asked for, against time steps, and by their laws."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from exact_oscillator import ExactSegment, reached, some
from scipy.linalg import expm

from bunraku.contracts import InputError
from bunraku.numerics import Oscillators
from bunraku.numerics.wiggly_kernels import response

R = np.random.default_rng(11)

# damping δT and stiffness λT², without units
CASES = {
    "free": (0.0, 0.0),
    "free, damped": (0.7, 0.0),
    "free, stopped at once": (1e4, 0.0),
    "a ten-thousandth of a turn": (0.0, (2e-4 * np.pi) ** 2),
    "a thousand turns": (0.0, (2e3 * np.pi) ** 2),
    "a thousand damped turns": (0.3, (2e3 * np.pi + 1.0) ** 2),
    "half a turn": (0.0, np.pi**2),
    "underdamped": (0.8, 30.0),
    "critical": (3.0, 9.0),
    "just above critical": (3.0, 9.0 * (1.0 - 1e-14)),
    "just below critical": (3.0, 9.0 * (1.0 + 1e-14)),
    "much damped, critical": (1e4, 1e8),
    "overdamped": (40.0, 30.0),
    "creeping": (1e4, 1e-3),
    "rounded rigid": (0.0, -1e-13),
    "falls over": (0.4, -20.0),
    "falls over fast": (1.0, -2e3),
    "driven": (-2.0, 25.0),
    "driven and falling": (-1.0, -4.0),
    "driven hard": (-30.0, 25.0),
}


def digits(damping: float, stiffness: float) -> int:
    """Enough for what grows before it cancels."""
    growth = 2.0 * np.sqrt(max(-stiffness, 0.0)) + 2.0 * max(-damping, 0.0)
    return 80 + int(2.0 * growth)


def made(case: str, length: float, load: float = 0.0) -> tuple[Oscillators, ExactSegment]:
    d, k = CASES[case]
    damping, stiffness = d / length, k / length**2
    exact = ExactSegment(damping, stiffness, load, length, digits(d, k))
    return some(np.array([stiffness]), np.array([damping]), np.array([load])), exact


@pytest.mark.parametrize("length", [1.0 / 24.0, 3.0])
@pytest.mark.parametrize("case", CASES)
def test_energy_and_motion_agree_with_many_digits(case: str, length: float) -> None:
    """To 1e-13 of what is natural: of the largest entry that a position or a velocity has, of the largest position."""
    load = 0.7 / length**2
    few, exact = made(case, length, load)
    found, wanted = few.energy(length), exact.hessian()
    unit = np.tile(np.sqrt(np.maximum(np.diag(wanted)[:2], np.diag(wanted)[2:])), 2)
    assert np.abs((found.hessian[0] - wanted) / np.outer(unit, unit)).max() < 1e-13
    ends = np.array([0.3, 1.1 / length, -0.8, 0.4 / length])
    scale = np.abs(unit * ends).max() ** 2 + load**2 * length
    value = 0.5 * ends @ found.hessian[0] @ ends + found.linear[0] @ ends + found.constant[0]
    assert abs(value - exact.energy(ends)) < 1e-13 * scale
    assert abs(few.spent(length, ends[None, None])[0, 0] - exact.energy(ends)) < 1e-13 * scale
    rate = max(1.0 / length, abs(few.damping[0]), np.sqrt(abs(few.stiffness[0])))
    for s in length * np.array([0.0, 1e-5, 0.3, 0.9, 1.0 - 1e-5, 1.0]):
        q, v, f = exact.at(float(s), ends)
        got = few.between(length, s, ends[None])
        size = max(1.0, abs(q))
        assert abs(got.position[0, 0] - q) < 1e-13 * size
        assert abs(got.velocity[0, 0] - v) < 1e-13 * size * rate
        assert abs(got.force[0, 0] - f) < 2e-13 * (size * rate**2 + load)


def test_kernels_agree_with_many_digits_everywhere() -> None:
    """Random damping and stiffness over sixteen orders, near critical, and on the borders of the closed forms."""
    from decimal import Decimal, localcontext

    pairs = [(10.0 ** R.uniform(-4, 4), 10.0 ** R.uniform(-8, 8)) for _ in range(60)]
    pairs += [(d, d * d * (1.0 + s * 10.0 ** R.uniform(-16, 0))) for d, _ in pairs[:20] for s in (-1, 1)]
    pairs += [(d, k) for d in (np.nextafter(1, 0), 1.0, 0.3) for k in (0.0, 0.5, np.nextafter(0.5, 1), 2.0, 1.09)]
    for d, k in pairs:
        with localcontext() as context:
            context.prec = 60
            done = reached(d, k, Decimal(1))
        free, gramian = np.array(done.free, dtype=float), np.array(done.gramian, dtype=float)
        wanted = [free[0, 1], free[1, 1], free[0, 0], float(done.pushed[0]), gramian[0, 0], gramian[1, 1]]
        natural = [max(abs(wanted[0]), 1.0 / max(1.0, d, np.sqrt(k))), 1.0, 1.0, max(wanted[3], 1.0 / max(k, 1.0))]
        natural = np.array([*natural, wanted[4], wanted[5]])
        assert np.all(np.abs(np.array(response(d, k, 1.0)) - wanted) < 2e-15 * natural), (d, k)


@pytest.mark.parametrize("case", CASES)
def test_the_energy_is_symmetric_and_positive(case: str) -> None:
    few, _ = made(case, 0.5)
    hessian = few.energy(0.5).hessian[0]
    assert np.array_equal(hessian, hessian.T)
    unit = np.tile(np.sqrt(np.maximum(np.diag(hessian)[:2], np.diag(hessian)[2:])), 2)
    values = np.linalg.eigvalsh(hessian / np.outer(unit, unit))
    assert values[0] > -2e-15 and values[-1] > 0.5


def brute(few: Oscillators, length: float, ends: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
    """The least ½ ∫ f² of a time discretisation: energy and positions at `steps` + 1 times."""
    dt, (k,), (d,), (g,) = length / steps, few.stiffness, few.damping, few.load
    stencil = np.array([1 / dt**2 - d / dt, k - 2 / dt**2, 1 / dt**2 + d / dt])  # at times 1 … steps − 1, and beyond
    # Ghost points stand for the velocities; ends count half, as in the trapezoidal rule.
    rows = np.zeros((steps + 1, steps + 3))
    for i in range(steps + 1):
        rows[i, i : i + 3] = stencil * np.sqrt(dt * (0.5 if i in (0, steps) else 1.0))
    right = -g * np.sqrt(dt) * np.where(np.isin(np.arange(steps + 1), (0, steps)), np.sqrt(0.5), 1.0)
    known = np.zeros(steps + 3)
    known[1], known[-2] = ends[0], ends[2]
    known[0], known[-1] = -2 * dt * ends[1], 2 * dt * ends[3]  # q₋₁ = q₁ − 2 dt v₀ and q₊₁ = q₋₁ + 2 dt v₁
    matrix = rows[:, 2:-2].copy()
    matrix[:, 0] += rows[:, 0]
    matrix[:, -1] += rows[:, -1]
    free, *_ = np.linalg.lstsq(matrix, right - rows @ known, rcond=None)
    left = matrix @ free + rows @ known - right
    return 0.5 * float(left @ left), np.concatenate([[ends[0]], free, [ends[2]]])


@pytest.mark.parametrize(("stiffness", "damping"), [(40.0, 0.6), (0.0, 0.0), (0.0, 1.5), (4.0, 3.0), (-3.0, 0.4)])
def test_time_steps_converge_to_it_with_second_order(stiffness: float, damping: float) -> None:
    few = some([stiffness], [damping], [1.3])
    length, ends = 1.4, np.array([0.2, -0.5, 0.9, 1.0])
    energy = few.spent(length, ends[None, None])[0, 0]
    errors = []
    for steps in (80, 160, 320):
        found, path = brute(few, length, ends, steps)
        curve = few.between(length, np.linspace(0, length, steps + 1), ends[None]).position[:, 0]
        errors.append((abs(found - energy) / energy, np.abs(path - curve).max()))
    for first, second in pairwise(errors):
        assert 3.5 < first[0] / second[0] < 4.8 and 3.5 < first[1] / second[1] < 4.8


def test_ends_follow_from_free_motion_at_no_cost() -> None:
    few = some([50.0, 0.0, 9.0], [0.4, 0.0, 3.0], [2.0, 9.81, 1.0])
    for j in range(3):
        a = np.array([[0.0, 1.0], [-few.stiffness[j], -2 * few.damping[j]]])
        whole = np.zeros((3, 3))
        whole[:2, :2], whole[1, 2] = a, -few.load[j]
        state = expm(0.8 * whole) @ [0.3, -1.0, 1.0]
        ends = np.zeros((3, 4))
        ends[j] = [0.3, -1.0, *state[:2]]
        assert few.spent(0.8, ends[None])[0, j] < 1e-26
        assert np.abs(few.between(0.8, [0.0, 0.4, 0.8], ends).force[:, j]).max() < 1e-12


@pytest.mark.parametrize("case", CASES)
def test_the_force_is_the_one_that_the_motion_needs(case: str) -> None:
    """Acceleration by differences of the velocity, and the energy by the quadrature of the force."""
    few, _ = made(case, 2.0, 0.4)
    ends = np.array([[0.3, 1.1, -0.8, 0.4]])
    rate = max(0.5, abs(few.damping[0]), np.sqrt(abs(few.stiffness[0])))
    h = 1e-4 / rate
    at = np.linspace(2 * h, 2.0 - 2 * h, 41)
    middle = few.between(2.0, at, ends)
    before, after = few.between(2.0, at - h, ends), few.between(2.0, at + h, ends)
    size = np.abs(middle.position).max() + np.abs(middle.velocity).max() / rate
    assert np.abs((after.position - before.position) / (2 * h) - middle.velocity).max() < 1e-7 * size * rate
    slope = (after.velocity - before.velocity) / (2 * h)
    assert np.abs(slope - middle.acceleration).max() < 1e-7 * size * rate**2
    needed = middle.acceleration + 2 * few.damping * middle.velocity + few.stiffness * middle.position + few.load
    assert np.abs(needed - middle.force).max() < 1e-12 * (size * rate**2 + 1.0)


@pytest.mark.parametrize("case", [name for name in CASES if "thousand" not in name and CASES[name][0] < 1e3])
def test_the_energy_is_half_the_integral_of_the_squared_force(case: str) -> None:
    few, _ = made(case, 2.0, 0.4)
    ends = np.array([[0.3, 1.1, -0.8, 0.4]])
    nodes, weights = np.polynomial.legendre.leggauss(30)
    cuts = np.linspace(0.0, 2.0, 61)
    at = (cuts[:-1, None] + np.diff(cuts)[:, None] * 0.5 * (nodes + 1.0)).ravel()
    force = few.between(2.0, at, ends).force[:, 0]
    total = 0.5 * np.sum(np.tile(weights, 60) * (1.0 / 60.0) * force**2)
    assert total == pytest.approx(few.spent(2.0, ends[None])[0, 0], rel=1e-11)


def test_curves_solve_the_euler_lagrange_equation() -> None:
    """q'''' + 2(λ − 2δ²) q'' + λ² q + λ g = 0, the second derivative of the acceleration by differences."""
    few = some([6.0, 0.0, 2.0, -3.0], [0.5, 0.8, 2.0, 0.6], [1.0, 2.0, -1.0, 0.5])
    ends = np.random.default_rng(3).normal(size=(4, 4))
    at = np.linspace(0.2, 0.8, 7)
    errors, fourth = [], np.zeros(1)
    for h in (0.04, 0.02):
        parts = [few.between(1.0, at + shift, ends).acceleration for shift in (-h, 0.0, h)]
        fourth = (parts[0] - 2 * parts[1] + parts[2]) / h**2
        q = few.between(1.0, at, ends).position
        rest = 2 * (few.stiffness - 2 * few.damping**2) * parts[1] + few.stiffness**2 * q + few.stiffness * few.load
        errors.append(np.abs(fourth + rest).max())
    assert errors[1] < 2e-3 * np.abs(fourth).max() and 3.8 < errors[0] / errors[1] < 4.2


def test_backwards_is_forwards_with_the_damping_reversed() -> None:
    stiffness, damping, load = np.array([30.0, 0.0, -2.0, 5.0]), np.array([0.7, 0.3, 0.2, 4.0]), np.ones(4)
    forward, backward = some(stiffness, damping, load), some(stiffness, -damping, load)
    ends = R.normal(size=(4, 4))
    turned = ends[:, [2, 3, 0, 1]] * [1, -1, 1, -1]
    assert backward.spent(1.3, turned[None]) == pytest.approx(forward.spent(1.3, ends[None]), rel=1e-13)
    s = np.linspace(0, 1.3, 9)
    one, other = forward.between(1.3, s, ends), backward.between(1.3, 1.3 - s, turned)
    assert other.position == pytest.approx(one.position, abs=1e-13)
    assert other.velocity == pytest.approx(-one.velocity, abs=1e-12)
    assert other.force == pytest.approx(one.force, abs=1e-11)


def test_nothing_jumps_across_critical_damping_nor_across_zero_stiffness() -> None:
    near = np.concatenate([[0.0], 10.0 ** np.arange(-17.0, -6.0)])
    near = np.concatenate([-near[::-1], near])
    for stiffness, damping in ((4.0 * (1.0 + near), np.full(len(near), 2.0)), (near, np.full(len(near), 0.3))):
        few = some(stiffness, damping, np.full(len(near), 1.5))
        found = few.energy(1.1)
        for part in found:
            apart = np.abs(part - part[len(near) // 2]).reshape(len(near), -1).max(axis=1) / np.abs(part).max()
            assert np.all(apart <= 1e-14 + 3.0 * np.abs(near))


@pytest.mark.parametrize(
    ("damping", "stiffness"), [(1e9, 1e3), (1e4, -1e9), (0.0, 1e16), (1e-300, 1e-300), (0.0, -1e12)]
)
def test_extremes_stay_finite(damping: float, stiffness: float) -> None:
    few, ends = some([stiffness], [damping], [1.0]), np.array([[1.0, 2.0, -1.0, 0.5]])
    assert all(np.isfinite(part).all() for part in few.energy(1.0))
    assert all(np.isfinite(part).all() for part in few.between(1.0, np.linspace(0, 1, 17), ends))


def test_nothing_feels_a_translation_of_what_is_free() -> None:
    """Exactly: no damping and no length of a segment rounds a body at rest into motion."""
    few = some(np.zeros(200), 10.0 ** R.uniform(-4, 4, size=200), np.zeros(200))
    for length in (1.0 / 24.0, 0.9, 7.0):
        ends = np.tile([7.3, 0.0, 7.3, 0.0], (1, 200, 1))
        assert np.array_equal(few.spent(length, ends), np.zeros((1, 200)))


def test_many_segments_at_once_are_the_same_as_one_by_one() -> None:
    few = some([3.0, 0.0], [0.1, 0.0], [0.0, 1.0])
    both = few.energy([0.5, 2.0])
    for i, length in enumerate((0.5, 2.0)):
        for part, one in zip(both, few.energy(length), strict=True):
            assert np.array_equal(part[i], one)


def test_refusals() -> None:
    few = some([1.0], [0.0], [0.0])
    with pytest.raises(InputError, match="one damping each"):
        some([1.0, 2.0], [0.0], [0.0, 0.0])
    with pytest.raises(InputError, match="must be finite"):
        some([np.nan], [0.0], [0.0])
    for length in (0.0, -1.0, np.inf):
        with pytest.raises(InputError, match="above zero"):
            few.energy(length)
    with pytest.raises(InputError, match="lie in the segment"):
        few.between(1.0, [1.5], np.zeros((1, 4)))
    with pytest.raises(InputError, match="two ends"):
        few.spent(1.0, np.zeros((1, 2, 4)))


def test_coming_from_rest_is_the_limit_of_a_long_segment() -> None:
    """Under-, over- and critically damped, loaded: from balance, and without a spring from steady falling anywhere."""
    three = Oscillators(np.array([4.0, 9.0, 16.0]), np.array([0.3, 4.0, 4.0]), np.array([1.0, 2.0, -3.0]))
    square, linear = three.from_rest()
    long = three.energy(np.array([80.0]))
    hessian, balance = long.hessian[0], np.stack([-three.load / three.stiffness, np.zeros(3)], axis=1)
    assert hessian[:, 2, 2] == pytest.approx(square[:, 0], rel=1e-12)
    assert hessian[:, 3, 3] == pytest.approx(square[:, 1], rel=1e-12) and np.abs(hessian[:, 2, 3]).max() < 1e-12
    slope = long.linear[0][:, 2:] + np.einsum("dij,dj->di", hessian[:, 2:, :2], balance)
    assert slope == pytest.approx(linear, abs=1e-12)


def test_what_is_not_damped_comes_from_rest_for_nothing_and_what_has_no_spring_from_anywhere() -> None:
    square, linear = Oscillators(np.array([4.0, 0.0]), np.array([0.0, 0.2]), np.array([1.0, 0.5])).from_rest()
    assert square.tolist() == [[0.0, 0.0], [0.0, 0.8]] and linear.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert -linear[1, 1] / square[1, 1] == pytest.approx(-0.5 / (2 * 0.2))  # the speed at which drag balances the load
