"""Animations: samples exact, quadratics exact in time, velocity the derivative of position."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.geometry import TriMesh
from bunraku.motion import Animation
from bunraku.testing import sheet

TIMES = np.array([0.0, 0.1, 0.25, 0.3, 0.7])  # uneven on purpose


@pytest.fixture
def wild(cloth: TriMesh) -> Animation:
    """Random samples."""
    return Animation(cloth, TIMES, np.random.default_rng(0).normal(size=(5, cloth.point_count, 3)))


def test_a_sample_is_returned_to_the_bit(wild: Animation) -> None:
    for linear in ("cubic", "linear"):
        moving = Animation(wild.mesh, wild.times, wild.points, linear)  # type: ignore[arg-type]
        for k, time in enumerate(TIMES):
            assert np.array_equal(moving.at(time), wild.points[k])


def test_outside_its_range_it_holds(wild: Animation) -> None:
    assert np.array_equal(wild.at(-1.0), wild.points[0]) and np.array_equal(wild.at(9.0), wild.points[-1])
    assert not wild.velocity(-1.0).any() and not wild.velocity(9.0).any()


def test_what_it_returns_is_a_copy(wild: Animation) -> None:
    wild.at(0.0)[:] = 99.0
    assert not (wild.points[0] == 99.0).any()


def test_cubic_reproduces_quadratics_in_time(cloth: TriMesh) -> None:
    """x = x₀ + v t + ½ a t² at every moment, and its rate v + a t: also at the ends, also with uneven samples."""
    v, a = np.random.default_rng(1).normal(size=(2, cloth.point_count, 3))
    moving = Animation(cloth, TIMES, cloth.rest + TIMES[:, None, None] * v + 0.5 * TIMES[:, None, None] ** 2 * a)
    for t in np.linspace(0.0, 0.7, 29):
        assert moving.at(t) == pytest.approx(cloth.rest + t * v + 0.5 * t**2 * a, abs=1e-14)
        assert moving.velocity(t) == pytest.approx(v + t * a, abs=1e-12)


def test_what_stands_still_between_samples_stays_still(cloth: TriMesh) -> None:
    """A start and a sudden stop: no motion before the first moved sample, none past the stop, no velocity at rest."""
    heights = np.array([0.0, 0.0, 0.1, 0.3, 0.3, 0.3])
    moving = Animation(cloth, np.arange(6) / 24.0, cloth.rest + heights[:, None, None])
    assert np.abs(moving.velocity(0.0)).max() == 0.0
    for t in np.linspace(0.0, 1.0, 9) / 24.0:
        assert moving.at(t) == pytest.approx(cloth.rest, abs=1e-15)
        assert moving.at(3 / 24.0 + 2 * t) == pytest.approx(cloth.rest + 0.3, abs=1e-15)
    assert moving.at(1.5 / 24.0)[0, 1] > 0.01


def test_two_samples_move_straight(cloth: TriMesh) -> None:
    moving = Animation(cloth, np.array([0.0, 2.0]), np.stack([cloth.rest, cloth.rest + 4.0]))
    assert moving.at(0.5) == pytest.approx(cloth.rest + 1.0, abs=1e-15)
    assert moving.velocity(0.5) == pytest.approx(np.full_like(cloth.rest, 2.0), abs=1e-14)


def test_velocity_is_the_derivative(wild: Animation) -> None:
    """Central differences of a cubic err by h² x‴/6; x‴ ≤ 12 |jump|/T³ for the shortest segment."""
    h = 1e-5
    bound = h**2 / 6 * 12 * 4 * np.abs(np.diff(wild.points, axis=0)).max() / np.diff(TIMES).min() ** 3 + 1e-9
    for t in (0.03, 0.17, 0.26, 0.29, 0.5, 0.69):
        slope = (wild.at(t + h) - wild.at(t - h)) / (2 * h)
        assert np.abs(wild.velocity(t) - slope).max() <= bound


def test_cubic_is_c1_at_its_samples(wild: Animation) -> None:
    h = 1e-9
    for t in TIMES[1:-1]:
        assert wild.velocity(t - h) == pytest.approx(wild.velocity(t + h), abs=1e-4)


def test_linear_moves_straight_between_samples(wild: Animation) -> None:
    moving = Animation(wild.mesh, wild.times, wild.points, "linear")
    assert moving.at(0.5) == pytest.approx(0.5 * wild.points[3] + 0.5 * wild.points[4], abs=1e-15)
    assert moving.velocity(0.5) == pytest.approx((wild.points[4] - wild.points[3]) / 0.4, abs=1e-14)


def test_one_sample_stands_still(cloth: TriMesh) -> None:
    still = Animation(cloth, np.array([2.0]), cloth.rest[None])
    assert np.array_equal(still.at(5.0), cloth.rest) and not still.velocity(2.0).any()
    assert still.frame_count == 1


MESH = sheet(1, 1)
FOUR = np.zeros((2, 4, 3))


@pytest.mark.parametrize(
    ("times", "points", "how", "story"),
    [
        ([], FOUR[:0], "cubic", "at least one"),
        ([0, 1, 2], FOUR, "cubic", r"points must have shape .*allowed: \(3, 4, 3\)"),
        ([0, 1], FOUR[:, :3], "cubic", "points must have shape"),
        ([1, 0], FOUR, "cubic", "sample 1: times must increase"),
        ([0, np.nan], FOUR, "cubic", "at least one finite number"),
        ([0, 1], FOUR, "quintic", "unknown interpolation"),
    ],
)
def test_what_is_no_animation_is_refused(times: list, points: np.ndarray, how: str, story: str) -> None:
    with pytest.raises(InputError, match=story):
        Animation(MESH, np.array(times, dtype=float), points, how)  # type: ignore[arg-type]


def test_a_bad_frame_is_named(cloth: TriMesh) -> None:
    points = np.tile(cloth.rest, (4, 1, 1))
    points[2, 5, 1] = np.nan
    with pytest.raises(InputError, match=r"guide, frame 2, vertices 5: .*not finite"):
        Animation(cloth, np.arange(4.0), points).check("guide")
