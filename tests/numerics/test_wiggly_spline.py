"""Splines of least force through nodes: smooth where free, best of all, and the ends as told."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from exact_oscillator import some

from bunraku.contracts import InputError
from bunraku.numerics import WigglySpline, interpolating, joined_energy
from bunraku.numerics.wiggly_spline import _Nodes

TIMES = np.array([0.0, 0.4, 0.55, 1.3, 2.0])
FEW = some([60.0, 9.0, 0.0, 0.0, -1.0, 200.0], [0.2, 3.0, 0.0, 0.8, 0.1, 20.0], [1.0, 0.0, 9.81, 0.5, 0.3, 0.0])
ENDS = ("clamped", "natural", "circular")


def through(ends: str, seed: int = 2) -> WigglySpline:
    q = np.random.default_rng(seed).normal(size=(len(TIMES), FEW.count))
    if ends == "circular":
        q[-1] = q[0]
    return interpolating(FEW, TIMES, q, ends=ends)  # type: ignore[arg-type]


@pytest.mark.parametrize("ends", ENDS)
def test_it_passes_its_nodes_and_is_smooth_there(ends: str) -> None:
    """C²: just before and just after a node the accelerations differ by the third derivative times the time between."""
    spline = through(ends)
    assert np.array_equal(spline(TIMES).position, spline.positions)
    assert np.array_equal(spline(TIMES).velocity, spline.velocities)
    inner = TIMES[1:-1]
    size = np.abs(spline(np.linspace(0, 2, 200)).acceleration).max()
    jumps = [np.abs(spline(inner + h).acceleration - spline(inner - h).acceleration).max() / size for h in (1e-5, 1e-6)]
    assert jumps[0] < 1e-2 and 9.0 < jumps[0] / jumps[1] < 11.0


def test_a_given_velocity_is_kept_and_breaks_only_the_acceleration() -> None:
    wanted = np.full((len(TIMES), FEW.count), np.nan)
    wanted[2, :3] = [1.0, -2.0, 3.0]
    spline = interpolating(FEW, TIMES, through("clamped").positions, wanted)
    assert np.array_equal(spline.velocities[2, :3], [1.0, -2.0, 3.0])
    assert np.array_equal(spline.velocities[[0, -1]], np.zeros((2, FEW.count)))
    before, after = spline([TIMES[2] - 1e-8]), spline([TIMES[2] + 1e-8])
    jump = np.abs(after.acceleration - before.acceleration)[0]
    assert np.all(jump[:3] > 0.1) and np.all(jump[3:] < 1e-3)
    assert np.abs(after.velocity - before.velocity).max() < 1e-4
    before, after = spline(TIMES[[1, 3]] - 1e-8), spline(TIMES[[1, 3]] + 1e-8)
    assert np.abs(after.acceleration - before.acceleration).max() < 1e-3


def test_ends_are_as_told() -> None:
    assert np.array_equal(through("clamped").velocities[[0, -1]], np.zeros((2, FEW.count)))
    natural = through("natural")
    most = np.abs(natural(np.linspace(0, 2, 300)).force).max(axis=0)
    assert np.all(np.abs(natural([0.0, 2.0]).force) < 1e-10 * most)
    circular = through("circular")
    assert np.array_equal(circular.velocities[0], circular.velocities[-1])
    before, after = circular([2.0 - 1e-7]), circular([1e-7])
    assert np.abs(before.acceleration - after.acceleration).max() < 1e-4 * np.abs(circular.positions).max() * 200
    later, now = circular([2.7, -1.3, 4.7]), circular([0.7])
    assert np.abs(later.position - now.position).max() < 1e-13 and np.abs(later.force - now.force).max() < 1e-9


def test_natural_costs_least_and_clamped_most() -> None:
    loop = through("circular")
    natural = interpolating(FEW, TIMES, loop.positions, ends="natural")
    clamped = interpolating(FEW, TIMES, loop.positions, ends="clamped")
    assert natural.energy < loop.energy and natural.energy < clamped.energy


@pytest.mark.parametrize("ends", ENDS)
def test_no_other_velocities_cost_less(ends: str) -> None:
    spline, r = through(ends), np.random.default_rng(5)
    for size in (1e-3, 1.0):
        for _ in range(20):
            other = spline.velocities + size * r.normal(size=spline.velocities.shape)
            if ends == "clamped":
                other[[0, -1]] = 0.0
            if ends == "circular":
                other[-1] = other[0]
            assert WigglySpline(FEW, TIMES, spline.positions, other, ends == "circular").energy > spline.energy


@pytest.mark.parametrize("ends", ENDS)
def test_the_joined_energy_is_that_of_the_spline_and_has_its_minimum_there(ends: str) -> None:
    spline, circular = through(ends), ends == "circular"
    joined = joined_energy(FEW, TIMES, circular=circular)
    z = np.stack([spline.positions, spline.velocities], axis=1)
    z = z[:-1] if circular else z
    slope = (joined.hessian @ z.ravel() + joined.linear).reshape(z.shape)
    value = 0.5 * z.ravel() @ joined.hessian @ z.ravel() + joined.linear @ z.ravel() + joined.constant
    assert value == pytest.approx(spline.energy, rel=1e-11)
    assert np.array_equal(joined.hessian, joined.hessian.T)
    free = slope[1:-1, 1] if ends == "clamped" else slope[:, 1]
    assert np.abs(free).max() < 1e-10 * np.abs(slope[:, 0]).max()


def test_the_energy_is_half_the_integral_of_the_squared_force() -> None:
    spline = through("clamped")
    nodes, weights = np.polynomial.legendre.leggauss(60)
    total = 0.0
    for begin, end in pairwise(TIMES):
        force = spline(begin + 0.5 * (end - begin) * (nodes + 1.0)).force
        total += 0.5 * (end - begin) * 0.5 * float(weights @ (force**2).sum(axis=1))
    assert total == pytest.approx(spline.energy, rel=1e-12)


def test_a_free_point_is_a_cubic_spline() -> None:
    from scipy.interpolate import CubicSpline

    q = np.random.default_rng(3).normal(size=(len(TIMES), 1))
    spline = interpolating(some([0.0], [0.0], [0.0]), TIMES, q, ends="natural")
    at = np.linspace(0, 2, 50)
    assert spline(at).position == pytest.approx(CubicSpline(TIMES, q, bc_type="natural")(at), abs=1e-13)


def test_outside_it_is_held_where_it_ends() -> None:
    spline = through("natural")
    held = spline([-1.0, 3.0])
    assert np.array_equal(held.position, spline.positions[[0, -1]])
    assert not held.velocity.any() and not held.acceleration.any()
    assert held.force == pytest.approx(FEW.stiffness * held.position + FEW.load)


@pytest.mark.parametrize("ends", ENDS)
def test_nodes_that_an_oscillator_would_pass_anyway_are_no_trouble(ends: str) -> None:
    """Undamped, held at every half turn: its swing there costs nothing, so the smallest is taken."""
    few = some([np.pi**2], [0.0], [0.0])
    spline = interpolating(few, np.arange(5.0), np.zeros((5, 1)), ends=ends)  # type: ignore[arg-type]
    assert np.abs(spline.velocities).max() < 1e-12 and spline.energy < 1e-24
    bent = interpolating(few, np.arange(5.0), np.array([[0.0], [1.0], [0.0], [1.0], [0.0]]), ends=ends)  # type: ignore[arg-type]
    assert np.abs(bent.velocities).max() < 10.0 and np.isfinite(bent.energy)


def test_velocities_that_die_before_they_matter_are_zero_at_a_natural_start() -> None:
    few = some([1600.0], [40.0], [0.0])
    spline = interpolating(few, [0.0, 1.0, 2.0], [[1.0], [0.0], [1.0]], ends="natural")
    assert np.isfinite(spline.velocities).all() and abs(spline.velocities[0, 0]) < 1.0


def test_circles_of_one_and_two_segments() -> None:
    few = some([5.0, 0.0], [0.4, 0.0], [1.0, 0.0])
    for times, q in (([0.0, 1.5], [[1.0, 2.0]] * 2), ([0.0, 0.6, 1.5], [[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])):
        spline = interpolating(few, times, q, ends="circular")
        joined = joined_energy(few, times, circular=True)
        z = np.stack([spline.positions, spline.velocities], axis=1)[:-1]
        slope = (joined.hessian @ z.ravel() + joined.linear).reshape(z.shape)
        assert np.abs(slope[:, 1]).max() < 1e-12 * np.abs(joined.hessian).max()


def test_a_circle_of_one_node_meets_itself_twice() -> None:
    """(3 − 2 · ½) v = 4; by symmetry a spline's own right-hand side is always zero there."""
    nodes = _Nodes(np.array([[3.0]]), np.array([[-0.5]]), np.array([[4.0]]), np.array([[3.0]]), circular=True)
    assert nodes.solve(np.array([[np.nan]])) == pytest.approx(np.array([[2.0]]))


def test_the_same_bytes_twice() -> None:
    at = np.linspace(-0.5, 2.5, 77)
    for one, other in zip(through("natural")(at), through("natural")(at), strict=True):
        assert np.array_equal(one, other)


def test_refusals() -> None:
    q = np.zeros((2, 6))
    with pytest.raises(InputError, match="times that increase"):
        interpolating(FEW, [0.0, 0.0], q)
    with pytest.raises(InputError, match="at least two times"):
        interpolating(FEW, [0.0], q[:1])
    with pytest.raises(InputError, match="finite positions"):
        interpolating(FEW, [0.0, 1.0], np.full((2, 6), np.nan))
    with pytest.raises(InputError, match="or NaN where free"):
        interpolating(FEW, [0.0, 1.0], q, np.full((2, 6), np.inf))
    with pytest.raises(InputError, match="unknown ends"):
        interpolating(FEW, [0.0, 1.0], q, ends="free")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be the first"):
        interpolating(FEW, [0.0, 1.0], np.arange(12.0).reshape(2, 6), ends="circular")
    with pytest.raises(InputError, match="last velocities"):
        interpolating(FEW, [0.0, 1.0], q, [[1.0] * 6, [2.0] * 6], ends="circular")
