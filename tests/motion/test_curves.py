"""Keyed numbers: bounds, eases, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bunraku.contracts import InputError
from bunraku.motion import EASES, Curve

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
KEYS = st.lists(
    st.tuples(st.floats(-1e3, 1e3), NUMBERS, st.sampled_from(EASES)), min_size=1, max_size=6, unique_by=lambda k: k[0]
).map(sorted)


@given(KEYS, st.floats(-2e3, 2e3))
@example([(0.0, -0.6986940147774009, "linear"), (1.0, 0.6944133006344873, "smooth")], 1.0 - 1e-12)  # a + (b − a) > b
def test_a_curve_never_leaves_the_range_of_its_keys(keys: list, time: float) -> None:
    """Nor that of the two keys around the moment: a strength keyed to 1 is never 1 + ε."""
    curve = Curve.of(keys)
    value = curve.at(time)
    k = int(np.clip(np.searchsorted(curve.times, time, side="right") - 1, 0, len(keys) - 1))
    around = curve.values[k : k + 2]
    assert around.min() <= value <= around.max()


@given(KEYS)
def test_a_curve_passes_through_its_keys(keys: list) -> None:
    curve = Curve.of(keys)
    assert [curve.at(key[0]) for key in keys] == [key[1] for key in keys]
    assert curve.at(keys[0][0] - 1.0) == keys[0][1]
    assert curve.at(keys[-1][0] + 1.0) == keys[-1][1]


@given(KEYS, st.floats(-2e3, 2e3), st.floats(-8, 8))
def test_scaling_scales_every_value(keys: list, time: float, factor: float) -> None:
    curve = Curve.of(keys)
    size = np.abs(curve.values).max()
    assert curve.scaled(factor).at(time) == pytest.approx(factor * curve.at(time), abs=1e-12 * (1 + size))


def test_the_ease_belongs_to_the_segment_that_ends_at_its_key() -> None:
    curve = Curve.of([[0, 1], [1, 3, "hold"], [2, 5, "smooth"], [4, 9, "linear"]])
    assert [curve.at(t) for t in (0.5, 0.999, 1.0)] == [1.0, 1.0, 3.0]
    assert curve.at(1.25) == pytest.approx(3 + 2 * (3 * 0.25**2 - 2 * 0.25**3), rel=1e-15)
    assert curve.at(3.0) == pytest.approx(7.0, rel=1e-15)


def test_a_smooth_ease_is_c1() -> None:
    """s = u²(3 − 2u): slope 6u(1 − u)/T, zero at both keys; linear is not C¹ there."""
    curve = Curve.of([[1, 0], [1.5, 2, "smooth"]])
    h = 1e-6

    def rate(time: float) -> float:
        return (curve.at(time + h) - curve.at(time - h)) / (2 * h)

    for time in (1.1, 1.25, 1.4):
        u = (time - 1) / 0.5
        assert rate(time) == pytest.approx(2 * 6 * u * (1 - u) / 0.5, abs=1e-8)
    # At a key half of the difference sees the ease: 2 · 3 (h/T)² / (2h) = 3h/T².
    assert abs(rate(1.0)) <= 4 * h / 0.5**2 and abs(rate(1.5)) <= 4 * h / 0.5**2
    kinked = Curve.of([[1, 0], [1.5, 2]])
    assert (kinked.at(1.0 + h) - kinked.at(1.0 - h)) / (2 * h) == pytest.approx(2.0, rel=1e-6)


def test_numbers_and_curves_are_curves_already() -> None:
    constant = Curve.of(3)
    assert constant.constant and constant.at(-7.0) == 3.0
    assert Curve.of(constant) is constant
    assert not Curve.of([[0, 1], [1, 2]]).constant


@pytest.mark.parametrize(
    ("times", "values", "eases", "story"),
    [
        ([], [], (), "as many times"),
        ([0, 1], [1], ("linear", "linear"), "as many times"),
        ([0, 1], [1, 2], ("linear",), "as many times"),
        ([1, 0], [1, 2], ("linear", "linear"), "increase in time"),
        ([0, 0], [1, 2], ("linear", "linear"), "increase in time"),
        ([0, np.nan], [1, 2], ("linear", "linear"), "finite"),
        ([0, 1], [1, np.inf], ("linear", "linear"), "finite"),
        ([0, 1], [1, 2], ("linear", "bouncy"), "unknown ease .*'bouncy'.*smooth"),
    ],
)
def test_what_is_no_curve_is_refused(times: list, values: list, eases: tuple, story: str) -> None:
    with pytest.raises(InputError, match=story):
        Curve(np.array(times), np.array(values), eases)
