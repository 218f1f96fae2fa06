"""The ground as an inequality: what would dip below it is lifted, and nothing is pulled down onto it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.contracts import InputError, Outcome
from bunraku.direction.plan import Key, Motion, looking, plan, solving
from bunraku.direction.plan.ground import ALLOWED, moments_of
from bunraku.direction.plan.looking import looked_at, looked_at_all, unseen
from bunraku.direction.steer import Grip
from bunraku.geometry import tet_bar

BAR = tet_bar((8, 2, 2), (1.2, 0.2, 0.2))
LEFT, RIGHT = (np.flatnonzero(np.abs(BAR.rest[:, 0] - x) < 1e-9) for x in (0.0, 1.2))
RAISED = Key.posed(BAR, 0.6, Grip(RIGHT, move=(-0.1, 0.4, 0.0), rotate=(0.0, 0.0, 0.6)))


def swung(ground: float | None) -> Motion:
    """A bar, held at one end, whose other end is raised: it takes a swing downwards first."""
    material = {"preset": "rubber", "young": 2e6}
    return plan(BAR, RAISED, fixed=LEFT, material=material, duration=1.0, modes=15, damping=(0.1, 0.001), ground=ground)


def lowest(motion: Motion) -> float:
    return float(motion.take(rate=240).animation.points[..., 1].min())


@pytest.fixture(scope="module")
def free() -> Motion:
    return swung(None)


def test_what_dips_below_the_ground_is_lifted(free: Motion) -> None:
    deep = lowest(free)
    level = 0.5 * deep
    lifted = swung(level)
    assert deep < -0.02 and lowest(lifted) > level - 1.5 * ALLOWED * BAR.size
    assert lifted.report["above_ground"] and lifted.report["below_ground"] <= ALLOWED * BAR.size
    assert lifted.report["met"] and lifted.energy > free.energy  # the key still is, at a price


@pytest.mark.slow
def test_a_key_below_the_ground_is_told_with_its_moment_and_depth() -> None:
    """The key is met, as it outweighs a touch; what that costs is said."""
    sunk = Key.posed(BAR, 0.6, Grip(RIGHT, move=(0.0, -0.3, 0.0)), weight=np.inf)
    material = {"preset": "rubber", "young": 2e6}
    motion = plan(BAR, sunk, fixed=LEFT, material=material, duration=1.0, modes=15, attach=True, ground=-0.05)
    report = motion.report
    assert report["above_ground"] is False and report["met"] is False
    assert report["below_ground"] == pytest.approx(0.25, abs=0.05) and report["lowest_at"] == pytest.approx(
        0.6, abs=0.1
    )
    assert any("m below the ground at 0.6" in text for text in report["sentences"]), report["sentences"]


def test_ground_that_nothing_touches_changes_nothing(free: Motion) -> None:
    level = lowest(free) - 0.05
    assert np.array_equal(swung(level).points(0.3), free.points(0.3))


def test_ground_is_a_height() -> None:
    with pytest.raises(InputError, match="ground must be a height"):
        plan(BAR, RAISED, fixed=LEFT, ground="floor")  # type: ignore[arg-type]


def test_a_ground_that_cannot_be_kept_makes_nothing_worse() -> None:
    """Half of the bar is below it at rest: the rounds of lifting go astray, and the least of their depths is kept."""
    key = Key.posed(BAR, 0.5, Grip(RIGHT, move=(0.0, 0.05, 0.0)))
    plain = plan(BAR, key, fixed=LEFT, duration=1.0, modes=8)
    moments, free = np.linspace(0.0, 1.0, 121), np.setdiff1d(np.arange(BAR.point_count), LEFT)
    level = float(BAR.rest[free, 1].min()) + 0.25
    deep = max(level - plain.points(time)[free, 1].min() for time in moments)
    report = plan(BAR, key, fixed=LEFT, duration=1.0, modes=8, ground=level).report
    assert report["above_ground"] is False and report["below_ground"] <= deep + 1e-9


def test_the_ground_of_a_long_motion_is_looked_at_at_so_many_moments_only() -> None:
    assert len(moments_of(1.0, 100)) == 121
    assert len(moments_of(1e5, 100)) == 20_001 and len(moments_of(1e5, 10**5)) == 201


def test_a_lifted_motion_that_did_not_converge_says_so(free: Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "_LIMIT", 1)
    report = swung(0.5 * lowest(free)).report
    assert report["outcome"] is Outcome.NOT_CONVERGED
    assert any("the ground" in text and "had not converged" in text for text in report["sentences"]), report[
        "sentences"
    ]


@pytest.mark.parametrize("share", [-0.5, 0.3, 0.9, 1.2])
def test_a_first_look_misses_nothing_below_the_ground(free: Motion, share: float) -> None:
    """At all moments at which something is below the level heights are those of the motion itself."""
    level, times = share * lowest(free), moments_of(1.0, BAR.point_count)
    seen = looked_at(free.body, free.place, free.spline, times, level)
    true = np.array([free.points(time)[seen.vertices, 1] for time in times])
    below = (true <= level).any(axis=1)
    np.testing.assert_allclose(seen.values[below], true[below], atol=1e-12)
    assert (seen.values[~below] > level).all()
    closely = np.abs(seen.values - true).max(axis=1) < 1e-12
    assert share < 1.0 or closely.mean() < 0.5  # of a level that is far below little is looked at


@pytest.mark.parametrize("share", [0.9, 1.2])
def test_no_moment_is_looked_at_twice(free: Motion, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at all moments after one at some of them sees what a look at all of them sees."""
    times, asked = moments_of(1.0, BAR.point_count), list[float]()
    whole = looked_at_all(unseen(free.body, times), free.body, free.place, free.spline)
    real = looking._heights

    def noted(body: Any, place: Any, spline: Any, moments: Any, vertices: Any) -> Any:
        asked.extend(moments.tolist())
        return real(body, place, spline, moments, vertices)

    monkeypatch.setattr(looking, "_heights", noted)
    some = looked_at(free.body, free.place, free.spline, times, share * lowest(free))
    seen = looked_at_all(some, free.body, free.place, free.spline)
    assert not some.whole and seen.whole and sorted(asked) == times.tolist()
    np.testing.assert_allclose(seen.values, whole.values, atol=1e-12)


DOWN = Key(0.3, RIGHT, velocities=(0.0, -1.0, 0.0))
ENDS: dict[str, tuple[list[Key], dict[str, Any], float]] = {
    "a free end": ([DOWN], {"free": (False, True)}, 0.4),
    "a free beginning": ([Key(0.1, RIGHT, velocities=(0.0, 1.0, 0.0))], {"free": (True, False)}, 0.0),
    "where a circle closes": (
        [Key(0.05, RIGHT, velocities=(0.0, 1.0, 0.0)), Key(0.35, RIGHT, velocities=(0.0, -1.0, 0.0))],
        {"circular": True},
        0.0,
    ),
}


@pytest.mark.parametrize("where", ENDS)
def test_what_is_lowest_at_an_end_that_nobody_gave_is_lifted(where: str) -> None:
    keys, more, moment = ENDS[where]
    given: dict[str, Any] = {"fixed": LEFT, "material": {"preset": "rubber", "young": 2e6}, "damping": (0.1, 0.001)}
    given |= {"duration": 0.4, "modes": 15, **more}
    plain = plan(BAR, keys, **given)
    low, level = lowest(plain), 0.5 * lowest(plain)
    assert low < -0.02 and plain.points(moment)[:, 1].min() == pytest.approx(low, rel=0.05)
    lifted = plan(BAR, keys, **given, ground=level)
    assert lifted.report["above_ground"] and lifted.report["met"], lifted.report["sentences"]
    assert lowest(lifted) > level - 1.5 * ALLOWED * BAR.size


NEARBY: dict[str, tuple[float, float, tuple[float, float, float], float, float]] = {
    "beside its own touch": (0.87, 0.337, (0.0, 0.475, 0.0), 0.0, -0.059),
    "beside its own touch, and bent": (0.79, 0.4976, (-0.006, 0.105, 0.062), 0.347, -0.0239),
    "beside the touch of another": (0.43883, 0.21925, (-0.084, 0.28464, -0.0145), 0.75362, -0.01158),
    "let go, and needed all the same": (1.04245, 0.6669, (-0.0365, 0.1345, 0.0623), 0.49, -0.034026),
}


@pytest.mark.parametrize("where", NEARBY)
def test_a_vertex_that_dips_beside_a_touch_is_lifted_there_too(where: str) -> None:
    seconds, time, move, angle, level = NEARBY[where]
    key = Key.posed(BAR, time, Grip(RIGHT, move=move, rotate=(0.0, 0.0, angle)))
    material = {"preset": "rubber", "young": 2e6}
    motion = plan(
        BAR, key, fixed=LEFT, material=material, duration=seconds, modes=15, damping=(0.1, 0.001), ground=level
    )
    assert motion.report["met"] and motion.report["above_ground"], motion.report["sentences"]
    assert lowest(motion) > level - 1.5 * ALLOWED * BAR.size


def test_rounds_of_lifting_end_where_nothing_more_can_be_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the key itself holds below the ground is not asked for again and again."""
    own, searches = solving.gauss_newton, list[int]()
    monkeypatch.setattr(solving, "gauss_newton", lambda *given: searches.append(1) or own(*given))
    key = Key(0.5, RIGHT[:1], BAR.rest[RIGHT[:1]] - [0.0, 0.1, 0.0], weight=1e3)
    report = plan(BAR, key, fixed=LEFT, material="rubber", duration=1.0, modes=8, ground=-0.09).report
    assert not report["above_ground"] and len(searches) < 6
