"""A block stretches, twists and tilts, a statue dances: keys, bases, ends, and what nobody asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.bench.plan import PAPER
from bunraku.contracts import Array
from bunraku.direction.plan import Motion
from bunraku.geometry import TetMesh, intersecting_faces, tet_volumes, tetrahedralise
from bunraku.scenes.planned_bodies import block, statue
from bunraku.shots import PLAN_DEMOS, plan_demos, write_demo
from bunraku.shots.plan_demo_blocks import BLOCKS
from bunraku.shots.plan_demos import filled
from bunraku.shots.prepare_plan import prepare_plan

MOVES = ("stretch", "twist", "tilt")
KEYED = 32 / 24
"""[s] when the head is keyed"""


def test_all_of_them_are_among_the_demos_with_the_sizes_of_the_table() -> None:
    assert set(BLOCKS) == {*MOVES, "statue"} and all(PLAN_DEMOS[name] is one for name, one in BLOCKS.items())
    for name, one in BLOCKS.items():
        assert one.tets == pytest.approx(PAPER[name].tets, rel=0.02) and one.moments[0] == 0
        assert len(one.table["keys"]) == (3 if name == "statue" else 1)


@pytest.mark.slow
def test_the_bodies_are_closed_and_stand_on_the_ground(checks: Any) -> None:
    for body, tall in ((block(), 1.0), (statue(0.03), 1.02)):
        checks.body(body, borders=0)
        assert body.rest[:, 1].min() == pytest.approx(0.0, abs=2e-3)
        assert body.rest[:, 1].max() == pytest.approx(tall, abs=6e-3)


def _planned(name: str, body: TetMesh, folder: Path) -> Motion:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_demos, "filled", lambda *_: body)
        shot = write_demo(name, folder)
    motion = prepare_plan(shot, keeping=False).plans[0].motion
    assert isinstance(motion, Motion)
    return motion


@pytest.fixture(scope="module")
def bar() -> TetMesh:
    """One block for all its demos."""
    return filled(block(), BLOCKS["twist"])


@pytest.fixture(scope="module", params=MOVES)
def moved(request: pytest.FixtureRequest, bar: TetMesh, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Motion]:
    return request.param, _planned(request.param, bar, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def dance(tmp_path_factory: pytest.TempPathFactory) -> Motion:
    """The statue in fewer tetrahedra than the demo's 77,000, which take minutes to be made."""
    return _planned("statue", tetrahedralise(statue(), edge=0.045), tmp_path_factory.mktemp("statue"))


def _check(name: str, motion: Motion, frames: int) -> Array:
    """Size, keys and base are as they should be, nothing is inside out or in itself; (t, n, 3) its frames."""
    report, printed, body = motion.report, PAPER[name], motion.mesh
    assert name == "statue" or len(body.tets) == pytest.approx(printed.tets, rel=0.05)
    assert (report["modes"], report["dimension"]) == (printed.modes, printed.dimension)
    assert report["met"] and not report["sentences"] and len(motion.keys) == (3 if name == "statue" else 1)
    assert report["iterations"] <= 30  # as many as the paper's searches took at most
    points = np.stack([motion.points(float(t)) for t in np.linspace(0.0, motion.duration, frames)])
    assert np.abs(points[:, motion.body.fixed] - body.rest[motion.body.fixed]).max() < 1e-12
    grown = np.array([tet_volumes(x, body.tets) for x in points]) / body.volumes
    assert grown.min() > 0.0
    assert not any(intersecting_faces(x, body.surface_faces).any() for x in points)
    return points


@pytest.mark.slow
def test_one_key_of_the_head_is_met_from_rest_to_rest(moved: tuple[str, Motion]) -> None:
    name, motion = moved
    points = _check(name, motion, 61)
    assert np.abs(points[[0, -1]] - motion.mesh.rest).max() < 1e-12
    assert max(np.abs(motion.velocities(t)).max() for t in (0.0, motion.duration)) < 1e-12
    key = motion.keys[0]
    assert key.time == pytest.approx(KEYED) and key.positions is not None and key.vertices is not None
    assert np.abs(motion.points(KEYED)[key.vertices] - key.positions).max() < 3e-3


@pytest.mark.slow
def test_before_its_key_the_head_goes_the_other_way(moved: tuple[str, Motion]) -> None:
    """Nobody asked for it: it crouches before it shoots up, winds up before it twists, leans back before it tilts."""
    name, motion = moved
    head = motion.keys[0].vertices
    assert head is not None
    rest = motion.mesh.rest[head]
    before = [motion.points(float(t))[head] for t in np.linspace(0.0, KEYED, 41)]
    if name == "stretch":
        assert min(x[:, 1].mean() for x in before) < rest[:, 1].mean() - 0.12
    elif name == "tilt":
        assert min(x[:, 0].mean() for x in before) < rest[:, 0].mean() - 0.12
    else:
        assert min(_turned(rest, x) for x in before) < -0.3 < 2.0 < _turned(rest, motion.points(KEYED)[head])


def _turned(rest: Array, x: Array) -> float:
    """[rad] about the upright."""
    a, b = (one - one.mean(axis=0) for one in (rest, x))
    return float(
        np.arctan2((a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]).sum(), (a[:, 0] * b[:, 0] + a[:, 2] * b[:, 2]).sum())
    )


@pytest.mark.slow
def test_the_statue_dances_and_goes_on_as_it_began(dance: Motion) -> None:
    _check("statue", dance, 31)
    begin, end = (dance.spline(np.array([t])) for t in (0.0, dance.duration * (1.0 - 1e-9)))
    for here, there in ((begin.position, end.position), (begin.velocity, end.velocity), (begin.force, end.force)):
        assert np.abs(here - there).max() < 1e-6 * np.abs(here).max()  # force and state are the acceleration
    step = 1e-4
    after, before = dance.velocities(step), dance.velocities(dance.duration - step)
    here = dance.velocities(0.0)
    assert np.abs(after - 2.0 * here + before).max() < 1e-2 * np.abs(after - before).max()


@pytest.mark.slow
def test_the_head_of_the_statue_swings_once_more_than_its_keys_ask(dance: Motion) -> None:
    """Right, left and middle are asked for, which is to and fro once; it follows through and comes back once more."""
    head = np.flatnonzero(dance.mesh.rest[:, 1] > 0.85)
    times = np.linspace(0.0, dance.duration, 61)[:-1]
    way = np.array([dance.points(float(t))[head, 0].mean() for t in times])
    side = way > 0.0
    assert np.ptp(way) > 0.3 and (side != np.roll(side, 1)).sum() == 4  # times it passes the middle
