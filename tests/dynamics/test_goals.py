"""Goals among surfaces that touch: how fast conditions catch up, and what they may need without contact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from bunraku.contracts import LinearRows, Vector
from bunraku.dynamics.goals import FREE_FORCE, Goals

DT, LEAST = 0.02, 1e-3
MASS = np.array([2.0, 6.0])
X = np.zeros((2, 3))
DIES = 1.0 - np.exp(-DT / 0.2)


def rows(*goals: float, stiffness: float = np.inf) -> LinearRows:
    """Each point to its own height, and one more region for their mean."""
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])[: len(goals)]
    wanted = np.array([[0.0, one, 0.0] for one in goals]).reshape(-1)
    count = len(goals)
    return LinearRows(
        sparse.csr_array(np.kron(weights, np.eye(3))), wanted, np.full(3 * count, stiffness), wanted,
        caps=np.full(count, np.inf), press=np.ones(count),
    )  # fmt: skip


def asked(now: LinearRows, begun: LinearRows) -> Vector:
    """Heights that are asked for of points at zero."""
    (out,) = Goals([now], [begun], [begun]).catching_up(X, LEAST, DT)
    return out.goals.reshape(-1, 3)[:, 1]


def test_goals_that_stand_still_are_neared_as_if_the_distance_died_out() -> None:
    assert asked(rows(0.5, -2.0), rows(0.5, -2.0)) == pytest.approx([0.5 * DIES, -2.0 * DIES], rel=1e-12)


def test_goals_that_move_are_followed_half_as_fast_again() -> None:
    """The first has moved by 0.2 and is 0.5 away: 0.3 of it."""
    assert asked(rows(0.5, -2.0), rows(0.3, -1.0)) == pytest.approx([0.3, -1.5], rel=1e-12)


def test_a_little_is_always_caught_up_and_no_more_than_all() -> None:
    near = 5e-4
    assert asked(rows(near, 2e-3), rows(near, 2e-3)) == pytest.approx([near, LEAST], rel=1e-12)


def test_what_was_met_when_the_step_began_follows_at_once() -> None:
    assert asked(rows(0.5, -2.0), rows(0.0, 1e-7)) == pytest.approx([0.5, -2.0], rel=0, abs=0.0)
    assert asked(rows(0.5, 2e-3), rows(0.4, 1.9e-3)) == pytest.approx([0.15, LEAST], rel=1e-9)


@pytest.mark.parametrize("change", [{"caps": None}, {"press": None}])
def test_what_contact_never_moves_is_asked_for_whole(change: dict[str, None]) -> None:
    now, begun = (replace(rows(0.5, -2.0), **change) for _ in range(2))
    (out,) = Goals([now], [begun], [begun]).catching_up(X, LEAST, DT)
    assert out is now
    spring = rows(0.5, -2.0, stiffness=30.0)
    assert asked(spring, spring) == pytest.approx([0.5, -2.0], rel=0, abs=0.0)


def test_a_free_force_is_what_was_taken_last_and_twice_what_a_jerk_takes() -> None:
    """Heights 0, 0, 0.004 in steps of 20 ms: 10 m/s², of 2 kg and of 6 kg; of their mean, 5 m/s² of 8 kg: half of both
    velocities must change, and (¼/2 + ¼/6)⁻¹ = 6 kg is what is felt."""
    now, begun, before = rows(0.004, 0.004, 0.002), rows(0.0, 0.0, 0.0), rows(0.0, 0.0, 0.0)
    goals = Goals([now], [begun], [before])
    jerk = np.array([2.0 * 2.0 * 10.0, 2.0 * 6.0 * 10.0, 2.0 * 6.0 * 5.0])
    assert goals.free_force({}, MASS, DT) == pytest.approx(jerk, rel=1e-12)
    taken = np.array([1.0, 2.0, 3.0])
    assert goals.free_force({FREE_FORCE: taken}, MASS, DT) == pytest.approx(taken + jerk, rel=1e-12)
    steady = Goals([rows(0.2, 0.4, 0.3)], [rows(0.1, 0.2, 0.15)], [rows(0.0, 0.0, 0.0)])
    assert steady.free_force({}, MASS, DT) == pytest.approx(np.zeros(3), abs=1e-10)
