"""Key shapes: the way between them, how near and how late they are passed, leads."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from steered import BAR, JELLY, LEFT, RIGHT, run, twisted

from bunraku.contracts import Array, Outcome, PhysicsStopped, Solution, State
from bunraku.direction import Pin
from bunraku.direction.steer import Body, KeyShape, approach, interpolate
from bunraku.direction.steer.interpolate import transition
from bunraku.direction.steer.lead import led
from bunraku.direction.steer.rigid import aligned, shape_distance
from bunraku.geometry import TetMesh, tet_bar, tet_lumped_mass, tet_volumes
from bunraku.materials import as_solid
from bunraku.motion import Path

MASS = tet_lumped_mass(BAR, JELLY.density)
STILL = Path(np.zeros(1), (MASS @ BAR.rest / MASS.sum())[None])
BENT = twisted(BAR.rest, 0.0, 70.0)


@pytest.mark.parametrize("material", ["rubber", "jelly"])
def test_the_way_between_shapes_keeps_its_volume(material: str) -> None:
    """A bar twisted by 240° and bent by 90°: half-way, ours within 5 % where a straight line loses more than 30 %."""
    bar = tet_bar((10, 2, 2), (1.0, 0.2, 0.2))
    key = twisted(bar.rest, 240.0, 90.0, 1.0)
    way = transition(bar, bar.rest, key, as_solid(material), 8.0)
    begin, end = bar.volumes.sum(), tet_volumes(key, bar.tets).sum()
    ours = [tet_volumes(way.at(s), bar.tets).sum() / (begin + s * (end - begin)) for s in np.linspace(0, 1, 21)]
    assert np.abs(np.array(ours) - 1.0).max() < 0.05
    mass = tet_lumped_mass(bar)
    straight = tet_volumes(0.5 * (bar.rest + aligned(key, bar.rest, mass)), bar.tets).sum()
    assert straight / (0.5 * (begin + end)) < 0.7
    assert (tet_volumes(way.at(0.5), bar.tets) > 0.5 * bar.volumes).all()  # no element is crushed either


def test_the_way_begins_and_ends_at_its_shapes_and_goes_forward() -> None:
    way = transition(BAR, BAR.rest, BENT, JELLY, 8.0)
    assert np.array_equal(way.at(0.0), BAR.rest) and shape_distance(way.at(1.0), BENT, MASS) < 1e-12
    left = [shape_distance(way.at(s), BENT, MASS) for s in np.linspace(0.0, 1.0, 31)]
    assert (np.diff(left) < 0.0).all()
    steps = np.diff([shape_distance(way.at(s), BAR.rest, MASS) for s in np.linspace(0.0, 1.0, 31)])
    assert steps.max() < 3.0 * steps.min()  # evenly
    assert transition(BAR, BAR.rest, BENT, JELLY, 8.0) is way  # found once


def test_ways_are_kept_by_content() -> None:
    class Store:
        def __init__(self) -> None:
            self.kept: dict[str, Any] = {}

        def load(self, key: str) -> Any:
            return self.kept.get(key)

        def store(self, key: str, arrays: Any) -> None:
            self.kept[key] = arrays

    store, shape = Store(), twisted(BAR.rest, 30.0, 20.0)
    way = transition(BAR, BAR.rest, shape, JELLY, 5.0, store)
    assert len(store.kept) == 1 and np.array_equal(next(iter(store.kept.values()))["shapes"], way.shapes)


def test_the_rest_shape_as_key_reproduces_rest() -> None:
    """And two identical keys are a fixed point, for the body's own shape and for a bent one."""
    own = run(keys=[KeyShape(0.25, BAR.rest), KeyShape(0.4, None)], path=STILL, gravity=(0, 0, 0))
    assert np.abs(own.animation.points - BAR.rest).max() < 1e-12
    assert all(one.reached for one in own.facts["approaches"])
    assert not any("not reached" in text for text in own.facts["sentences"])
    bent = run(keys=[KeyShape(0.0, BENT), KeyShape(0.25, BENT)], path=STILL, gravity=(0, 0, 0))
    assert np.abs(bent.animation.points - bent.animation.points[0]).max() < 1e-9
    assert shape_distance(bent.animation.points[-1], BENT, MASS) < 1e-9
    assert bent.report["key_distance"].max() < 1e-9


def test_where_a_key_is_and_how_it_is_turned_does_not_matter() -> None:
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    one = run(keys=KeyShape(0.25, BENT), path=STILL)
    other = run(keys=KeyShape(0.25, BENT @ turn.T + [3.0, 2.0, 1.0]), path=STILL)
    assert np.abs(one.animation.points - other.animation.points).max() < 1e-4 * BAR.size


def test_a_key_is_passed_near_and_said_how() -> None:
    take = run(keys=[KeyShape(0.25, BENT)], path=STILL, gravity=(0, 0, 0))
    (near,) = take.facts["approaches"]
    assert near.distance < 0.2 * near.way and 0.0 <= near.frames < 4.0
    assert "the key at 0.25 s was passed" in take.facts["sentences"][0]
    assert take.report["key_distance"].shape == (13, 1)
    assert take.report["key_distance"].argmin() >= 6


def test_a_lead_brings_the_nearest_moment_to_the_key(caplog: pytest.LogCaptureFixture) -> None:
    """A softer bar is late; told earlier it is on time. The runs it takes repeat no warnings."""
    soft: dict[str, Any] = {"material": {"preset": "jelly", "young": 3e3}, "duration": 1.0, "gravity": (0, 0, 0)}
    keys = [KeyShape(0.5, twisted(BAR.rest, 0.0, 40.0)), KeyShape(0.8, None), KeyShape(0.9, None)]
    late = run(keys=keys, path=STILL, **soft).facts["approaches"][0]
    caplog.clear()
    took = run(keys=keys, path=STILL, lead=True, **soft)
    assert caplog.text.count("comes 2.4 frames after the key at 0.8 s") == 1
    found = took.facts["approaches"][0]
    assert late.frames > 1.0 and abs(found.frames) <= 0.5 and took.facts["told_at"][1] < 0.5
    given = run(keys=keys, path=STILL, lead=0.1, **soft)
    assert given.facts["told_at"] == pytest.approx([0.0, 0.4, 0.7, 0.8])


def test_leads_that_do_not_help_are_not_taken() -> None:
    """Of runs that get worse the first is kept."""

    class Fake:
        def __init__(self, delay: float) -> None:
            self.facts = {"approaches": [approach.Approach(1.0, 0.1, 0.1, 1.0 + delay, delay, delay * 24, 1.0)]}

    runs: list[Array] = []

    def run_with(leads: Array) -> Any:
        runs.append(leads)
        return Fake(0.1 + leads[0])

    best = led(run_with, [Body(BAR, keys=KeyShape(0.5, BENT), lead=True)], 24.0)
    assert best[1].facts["approaches"][0].delay == 0.1 and len(runs) > 1


def test_a_body_that_stays_near_a_key_counts_from_when_it_came() -> None:
    times = np.arange(9) / 24.0
    distance = np.array([1.0, 0.8, 0.4, 0.1, 0.05, 0.04, 0.03, 0.02, 0.01])[:, None]
    (near,) = approach.approaches(times, distance, [0.1], [1.0], 1.0, 24.0)
    assert 3 <= near.time * 24 <= 5


def test_a_key_for_a_part_pulls_the_rest_along() -> None:
    """Both ends say how the bar is bent; what lies between follows elastically."""
    ends = np.concatenate([LEFT, RIGHT])
    take = run(keys=KeyShape(0.3, BENT[ends], ends), path=STILL, gravity=(0, 0, 0))
    assert take.facts["approaches"][0].distance < 0.01
    bent = take.animation.points[-1]
    assert shape_distance(bent, BENT, MASS) < 0.3 * shape_distance(BAR.rest, BENT, MASS)


def test_close_keys_and_shapeless_ones_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        keys = [KeyShape(0.25, BENT), KeyShape(0.25 + 3 / 24, BAR.rest[RIGHT] + [0.1, 0, 0], RIGHT)]
        take = run(keys=keys, path=STILL)
    said = "\n".join(take.facts["warnings"])
    assert "comes 3 frames after the key at 0.25 s" in said and "only moves its part as a whole" in said
    assert "comes 3 frames after" in caplog.text


def test_keys_hold_copies() -> None:
    """What the artist does to her array later does not matter."""
    given = BENT.copy()
    key = KeyShape(0.2, given)
    given[:] = 0.0
    assert key.points is not None and np.array_equal(key.points, BENT)


def test_each_piece_of_a_body_comes_to_its_own_shape(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing draws pieces to where a key has them to each other: that is no shape, and is not counted as missed."""
    small = tet_bar((2, 1, 1), (0.2, 0.1, 0.1))
    body = TetMesh(np.concatenate([small.rest, small.rest + 0.5]), np.concatenate([small.tets, small.tets + 12]))
    tall = small.rest * [1.0, 1.3, 1.0]
    key = KeyShape(0.25, np.concatenate([tall, tall + [2.0, 0.5, 0.5]]))
    take = run(body, keys=key, gravity=(0, 0, 0))
    near = take.facts["approaches"][0]
    assert near.reached and near.distance < 0.1 * near.way < 0.01 and "does not end" not in caplog.text
    assert "keys say the shape of each, not how they lie to each other" in take.facts["warnings"][0]
    second, even = take.animation.points[-1][12:], np.ones(12)
    assert shape_distance(second, tall, even) < 0.1 * shape_distance(small.rest, tall, even)
    assert np.abs(second.mean(axis=0) - body.rest[12:].mean(axis=0)).max() < 0.01


def test_keys_that_are_not_reached_are_said_so_and_led_by_nothing() -> None:
    """A pinned bar so soft that it hangs down: it is warned of, and its key has no moment it was passed at."""
    soft: dict[str, Any] = {"material": {"preset": "jelly", "young": 500.0}, "pins": Pin(LEFT), "duration": 0.5}
    take = run(keys=KeyShape(0.25, twisted(BAR.rest, 0.0, 8.0)), lead=True, **soft)
    assert any("its own weight strains it" in one for one in take.facts["warnings"])
    assert not take.facts["approaches"][0].reached and "was not reached" in take.facts["sentences"][0]
    assert take.facts["told_at"] == [0.0, 0.25]


def test_a_key_that_is_the_shape_before_is_passed_on_its_own_frame() -> None:
    """A body that waits in its own shape until the key says so again is not ten frames early."""
    times = np.arange(24) / 24.0
    distance = np.stack([np.full(24, 1e-16), np.abs(times - 20 / 24)], axis=1)
    same, other = approach.approaches(times, distance, [10 / 24, 20 / 24], [0.0, 0.5], 1.0, 24.0)
    assert same.frames == 0.0 and "on its frame" in str(same)
    assert abs(other.frames) < 0.1


def test_the_last_and_smallest_of_halved_steps_between_keys_counts() -> None:
    class Reluctant:
        """Takes no step until it is halved so often."""

        def __init__(self, halved: int) -> None:
            self.left = halved

        def step(self, state: State, dt: float) -> Solution[State]:
            self.left -= 1
            return Solution(state, Outcome.CONVERGED if self.left < 0 else Outcome.NOT_CONVERGED)

    state = State(0.0, np.zeros(3), np.zeros(3))
    most = interpolate._MOST_HALVINGS
    assert interpolate._step(Reluctant(most), state, 1.0) is state  # type: ignore[arg-type]
    with pytest.raises(PhysicsStopped, match="no way was found"):
        interpolate._step(Reluctant(most + 1), state, 1.0)  # type: ignore[arg-type]
