"""The barrier's derivatives and scale, against differences and against the toolkit's own."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest

from bunraku.collision import activation_stiffness
from bunraku.collision.barrier import bend, slope
from bunraku.testing import falls_as

REACH = 0.01
STEPS = (1 / 256, 1 / 512, 1 / 1024)


def value(distance: float, gap: float) -> float:
    """b as its definition says."""
    s, whole = distance**2 - gap**2, (gap + REACH) ** 2 - gap**2
    return -((s - whole) ** 2) * np.log(s / whole) if s < whole else 0.0


@pytest.mark.parametrize("gap", [0.0, 1e-4, 0.004, 0.05])
@pytest.mark.parametrize("share", [0.03, 0.2, 0.5, 0.9])
def test_derivatives(gap: float, share: float) -> None:
    """Central differences of b and of b' have errors that fall as h²."""
    away = share * REACH
    distance = gap + away
    for wanted, function in ((slope(distance, gap, REACH), value), (bend(distance, gap, REACH), _slope)):
        steps = [min(away, REACH - away) * step for step in STEPS]
        errors, floors = [], []
        for h in steps:
            high, low = function(distance + h, gap), function(distance - h, gap)
            errors.append(abs((high - low) / (2 * h) - wanted))
            # s = d² − g² loses as many digits as the gap is larger than what is left beyond it.
            floors.append(4e-16 * (1 + distance / away) * max(abs(high), abs(low)) * 10 / h)
        assert wanted != 0.0
        assert falls_as(2, steps, errors, floors)


def _slope(distance: float, gap: float) -> float:
    return slope(distance, gap, REACH)


@pytest.mark.parametrize("gap", [0.0, 0.004])
def test_the_same_barrier_as_the_toolkit(gap: float) -> None:
    """b(d²) of the toolkit, by the chain rule: b' = 2 d b_s, b'' = 4 d² b_ss + 2 b_s."""
    barrier = ipctk.ClampedLogBarrier()
    whole = REACH * (2 * gap + REACH)
    for share in (0.05, 0.4, 0.95):
        distance = gap + share * REACH
        s = distance**2 - gap**2
        first, second = barrier.first_derivative(s, whole), barrier.second_derivative(s, whole)
        assert slope(distance, gap, REACH) == pytest.approx(2 * distance * first, rel=1e-12)
        assert bend(distance, gap, REACH) == pytest.approx(4 * distance**2 * second + 2 * first, rel=1e-12)


def test_nothing_is_felt_beyond_the_reach() -> None:
    for gap in (0.0, 0.004):
        for beyond in (1.0, 1.001, 3.0):
            assert slope(gap + beyond * REACH, gap, REACH) == pytest.approx(0.0, abs=1e-22)
            assert bend(gap + beyond * REACH + 1e-12, gap, REACH) == 0.0


@pytest.mark.parametrize("gap", [0.0, 1e-3, 0.02])
def test_a_pair_half_way_is_as_stiff_as_asked(gap: float) -> None:
    """And the force grows without bound towards the gap."""
    stiffness = activation_stiffness(70.0, gap, REACH)
    assert stiffness * bend(gap + 0.5 * REACH, gap, REACH) == pytest.approx(70.0, rel=1e-12)
    forces = [-slope(gap + share * REACH, gap, REACH) for share in (0.9, 0.5, 0.1, 1e-3, 1e-6)]
    assert np.all(np.diff(forces) > 0.0)
    assert forces[-1] > 1e3 * forces[1]
