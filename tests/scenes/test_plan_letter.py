"""The letter X walks, does a handspring and jumps: keys, feet, ground, flight, and that it really gets there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.contracts import Array
from bunraku.direction.plan import Chain, Motion
from bunraku.geometry import TetMesh, tet_volumes
from bunraku.scenes.letter_x import TALL, letter_x
from bunraku.shots import PLAN_DEMOS, plan_demos, write_demo
from bunraku.shots.plan_demo_letter import LETTER
from bunraku.shots.plan_demos import filled
from bunraku.shots.prepare_plan import prepare_plan

SPLINES = {"x_walk": 6, "x_handspring": 3, "x_jump": 3}
MOMENTS = 41  # of each motion that are looked at


@pytest.mark.slow
def test_the_letter_stands_flat_on_both_feet_and_has_flat_palms(checks: Any) -> None:
    letter = letter_x()
    checks.body(letter, borders=0)
    x, y, _ = letter.rest.T
    assert y.min() == pytest.approx(0.0, abs=1e-5) and y.max() == pytest.approx(TALL, abs=1e-5)
    for flat in (y < 1e-4, y > TALL - 1e-4):
        assert min((flat & (x > 0.2)).sum(), (flat & (x < -0.2)).sum()) > 10 and not (flat & (abs(x) < 0.15)).any()


def test_all_of_it_is_among_the_demos() -> None:
    assert set(SPLINES) == set(LETTER) and all(PLAN_DEMOS[name] is one for name, one in LETTER.items())
    for name, one in LETTER.items():
        assert len(one.table["phases"]) == SPLINES[name] and one.moments[0] == 0


@pytest.fixture(scope="module")
def body() -> TetMesh:
    """One for all demos: to fill it takes longer than to plan."""
    return filled(letter_x(), LETTER["x_walk"])


@pytest.fixture(scope="module")
def planned(body: TetMesh, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Chain]:
    """A demo by its name, planned once."""
    return cache(lambda name: _planned(name, body, tmp_path_factory.mktemp(name)))


@pytest.fixture(scope="module", params=list(SPLINES))
def demo(request: pytest.FixtureRequest, planned: Callable[[str], Chain]) -> tuple[str, Chain]:
    return request.param, planned(request.param)


def _planned(name: str, body: TetMesh, folder: Path) -> Chain:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_demos, "filled", lambda *_: body)
        shot = write_demo(name, folder)
    motion = prepare_plan(shot, keeping=False).plans[0].motion
    assert isinstance(motion, Chain)
    return motion


@cache  # asked for by every law
def _seen(motion: Motion) -> Array:
    """(t, n, 3) the motion at many moments, its ends among them."""
    return motion.frames(np.linspace(0.0, motion.duration, MOMENTS)).animation.points


def _centre(motion: Motion, x: Array) -> Array:
    return np.einsum("...ni,n->...i", x, motion.body.mass) / motion.body.mass.sum()


@pytest.mark.slow
def test_it_has_as_many_tetrahedra_as_the_papers(body: TetMesh) -> None:
    assert len(body.tets) == pytest.approx(3002, rel=0.05)


@pytest.mark.slow
def test_keys_are_met_and_nothing_goes_below_the_ground(demo: tuple[str, Chain]) -> None:
    name, chain = demo
    assert len(chain.motions) == SPLINES[name] and all(one.report["modes"] <= 32 for one in chain.motions)
    assert chain.report["met"] and not chain.report["sentences"]
    assert max(LETTER[name].moments) <= np.ceil(24.0 * chain.duration - 1e-6)
    # A thousandth of the size is allowed at the moments that are looked at; between them it may be half as much more.
    allowed = LETTER[name].table["ground"] - 1.5e-3 * chain.mesh.size
    assert min(_seen(one)[..., 1].min() for one in chain.motions) > allowed


@pytest.mark.slow
def test_what_stands_does_not_move_and_nothing_is_turned_inside_out(demo: tuple[str, Chain]) -> None:
    for motion in demo[1].motions:
        points, fixed = _seen(motion), motion.body.fixed
        assert np.abs(points[:, fixed] - points[0, fixed]).max(initial=0.0) < 1e-12
        grown = np.array([tet_volumes(x, motion.mesh.tets) for x in points]) / motion.mesh.volumes
        assert grown.min() > 0.0


@pytest.mark.slow
def test_nothing_jumps_but_the_velocity_of_what_the_ground_catches(demo: tuple[str, Chain]) -> None:
    chain = demo[1]
    for before, after in zip(chain.motions[:-1], chain.motions[1:], strict=True):
        (x, v), (y, w) = before(before.duration), after(0.0)
        assert np.abs(x - y).max() < 1e-8 * chain.mesh.size
        caught = np.isin(np.arange(chain.mesh.point_count), after.body.fixed)
        assert np.abs(v - w)[~caught].max() < 1e-6 * np.abs(v).max()


@pytest.mark.slow
def test_it_begins_and_ends_at_rest_in_the_rest_shape_and_has_got_on(demo: tuple[str, Chain]) -> None:
    name, chain = demo
    far = {"x_walk": 1.75, "x_handspring": 1.14, "x_jump": 0.73}[name]
    rest = chain.mesh.rest
    assert np.abs(chain.points(0.0) - rest).max() < 1e-12 and np.abs(chain.velocities(0.0)).max() < 1e-12
    moved, speed = chain.points(chain.duration) - rest, chain.motions[-1].velocities(chain.motions[-1].duration)
    assert moved.mean(axis=0) == pytest.approx([0.0, 0.0, far], abs=0.05)
    assert np.abs(moved - moved.mean(axis=0)).max() < 0.01 and np.abs(speed).max() < 1e-9


@pytest.mark.slow
def test_the_walk_puts_one_foot_before_the_other_and_lifts_it(planned: Callable[[str], Chain]) -> None:
    chain = planned("x_walk")
    for k, motion in enumerate(chain.motions[:5]):
        moving = chain.motions[k + 1].body.fixed  # it stands on this foot next
        points = _seen(motion)[:, moving].mean(axis=1)
        assert points[:, 1].max() > 0.08 and (points[-1] - points[0])[2] == pytest.approx(0.7 if k else 0.35, abs=0.01)
        assert motion.velocities(motion.duration)[moving, 1].mean() == pytest.approx(-1.0, abs=0.01)


@pytest.mark.slow
def test_the_handspring_goes_over_its_hands(planned: Callable[[str], Chain]) -> None:
    chain = planned("x_handspring")
    feet, hands = chain.motions[0].body.fixed, chain.motions[1].body.fixed
    over = _seen(chain.motions[1])
    assert (
        over[:, hands, 1].min() < 0.01 and over[:, hands, 1].max() < 0.1 and over[:, feet, 1].mean(axis=1).max() > 0.9
    )
    assert chain.motions[1].place.wound == pytest.approx([np.pi, 0.0, 0.0], abs=0.05)
    assert chain.motions[2].place.wound == pytest.approx([2.0 * np.pi, 0.0, 0.0], abs=0.05)


@pytest.mark.slow
def test_the_jump_crouches_flies_as_gravity_says_and_gives_way_as_it_lands(planned: Callable[[str], Chain]) -> None:
    crouch, flight, landing = planned("x_jump").motions
    upright = _centre(crouch, crouch.mesh.rest)[1]
    assert _centre(crouch, _seen(crouch))[:, 1].min() < upright - 0.08
    assert _centre(crouch, crouch.velocities(crouch.duration)) == pytest.approx([0.0, 2.7, 1.3], abs=1e-4)
    times = np.linspace(0.0, flight.duration, MOMENTS)[:, None]
    begin, speed = (_centre(flight, one) for one in flight(0.0))
    parabola = begin + times * speed + 0.5 * times**2 * [0.0, -9.81, 0.0]
    assert np.abs(_centre(flight, _seen(flight)) - parabola).max() < 1e-9
    assert _seen(flight)[MOMENTS // 2, :, 1].min() > 0.15
    assert _centre(landing, _seen(landing))[:, 1].min() < upright - 0.05
