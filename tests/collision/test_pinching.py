"""Obstacles that leave no room: what is between them follows both, and the shot goes on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from closing import SIZE, Closing, balls, box, boxes, layers, look, pressed_to_floor, times, wedge
from pairs import DT, REACH, STIFFNESS, single, triangles
from solver_way import recorded_way, straight

from bunraku.collision import Obstacle, Plane, Surfaces, Touch, sphere
from bunraku.collision.pinching import CLEAR
from bunraku.collision.releasing import _meeting
from bunraku.contracts import Points, State
from bunraku.direction import Frame
from bunraku.direction.track import painted
from bunraku.geometry import TriMesh
from bunraku.motion import Animation
from bunraku.testing import sheet

UP = np.array([0.0, 0.0, 1.0])
BETWEEN = triangles([[0.1, 0.1, 0.0], [0.3, 0.1, 0.0], [0.1, 0.3, 0.0]])
"""a small triangle"""
PLATE = triangles([[-2.0, -2.0, 0.0], [4.0, -2.0, 0.0], [-2.0, 4.0, 0.0]])
"""a large one"""


def plates(upper: Points, lower: Points, away: float = 0.6 * REACH, *, gap: float = 0.004) -> Touch:
    """A triangle between two plates that go these ways (3,) [m] in a step; `away` beyond the gap they are."""
    lift = (gap + away) * UP
    mesh = [TriMesh(PLATE.rest + side * lift, PLATE.faces) for side in (1.0, -1.0)]
    ways = [np.asarray(way) for way in (upper, lower)]
    moving = [Obstacle(m, lambda t, m=m, way=way: m.rest + (t / DT) * way) for m, way in zip(mesh, ways, strict=True)]
    surfaces = Surfaces(BETWEEN, moving, reach=REACH, gap=gap)
    x = BETWEEN.rest.reshape(-1)
    return surfaces.at(State(0.0, x, np.zeros(9), {"contact.stiffness": np.array(STIFFNESS)}), DT)


@pytest.mark.parametrize(
    ("upper", "lower", "pinched"),
    [
        ([0, 0, -0.9 * REACH], [0, 0, 0.25 * REACH], True),  # of 1.2 reaches to spare, 0.05 are left
        ([0, 0, -0.9 * REACH], [0, 0, 0.15 * REACH], False),  # 0.15
        ([0, 0, -9.0 * REACH], [0, 0, 0.0], True),  # through and far beyond
        ([0, 0, -9.0 * REACH], [0, 0, -9.0 * REACH], False),  # together
        ([0, 0, 9.0 * REACH], [0, 0, -9.0 * REACH], False),  # apart
        ([9.0, 0, 0], [-9.0, 0, 0], False),  # past each other
    ],
)
def test_room_is_what_is_left_at_the_end_of_the_step(upper: Points, lower: Points, pinched: bool) -> None:
    """Less than a tenth of the reach beyond twice the gap is none."""
    touch = plates(upper, lower)
    assert touch.pinches.vertices.tolist() == ([0, 1, 2] if pinched else [])
    if pinched:
        assert np.sort(touch.pinches.faces, axis=1).tolist() == [[0, 1]] * 3
        assert touch.report(BETWEEN.rest) == {"pairs": 0, "closest": 0.0, "pinched": 3}
        assert touch.max_step(BETWEEN.rest, np.zeros((3, 3))) == 1.0  # nothing is in the obstacles' way
        assert touch.memory()["contact.pinched"].shape == (3, 5)
    else:
        assert "contact.pinched" not in touch.memory()


def test_a_plate_between_is_no_pinch() -> None:
    """A sheet around the rim of a thin plate feels it from both sides, and nothing squeezes it."""
    thin = box([1.0, 1.0, 0.1 * REACH], 0)
    fold = triangles([[0.3, 0.0, 0.5 * REACH], [0.505, 0.0, 0.0], [0.3, 0.2, 0.5 * REACH]],
                     [[0.3, 0.0, -0.5 * REACH], [0.3, 0.2, -0.5 * REACH], [0.505, 0.0, 0.0]])  # fmt: skip
    rest = np.delete(fold.rest, 5, axis=0)
    shell = TriMesh(rest, np.array([[0, 1, 2], [3, 4, 1]]))
    for way in ([0.0, 0.0, -0.2], [-0.1, 0.0, 0.0], [0.3, 0.2, 0.1]):
        moving = Obstacle(thin, lambda t, way=way: thin.rest + (t / DT) * np.array(way))
        surfaces = Surfaces(shell, [moving], reach=REACH)
        touch = surfaces.at(State(0.0, rest.reshape(-1), np.zeros(15)), DT)
        assert touch.busy(rest)
        assert not len(touch.pinches)


def test_what_is_pinched_is_held_in_the_middle() -> None:
    """The force vanishes half-way between the plates wherever they are, also deep in each other, and its derivatives
    are those of the energy."""
    upper, lower = -5.0 * REACH * UP, 1.0 * REACH * UP
    touch = plates(upper, lower, 0.3 * REACH)
    for gone in (0.0, 0.5):
        touch.advance(gone)
        middle = BETWEEN.rest + 0.5 * gone * (upper + lower)
        assert touch.gradient(middle) == pytest.approx(np.zeros((3, 3)), abs=1e-12)
        x = middle + 0.2 * REACH * np.random.default_rng(1).normal(size=(3, 3))
        way = np.random.default_rng(2).normal(size=(3, 3))
        slope, steps = float(np.sum(touch.gradient(x) * way)), (1e-3, 1e-4)
        for h in steps:  # a quadratic: differences are exact
            found = (touch.value(x + h * way) - touch.value(x - h * way)) / (2 * h)
            assert found == pytest.approx(slope, rel=1e-9)
        h = 1e-4
        on_way = (touch.value(x, 0.5 + h) - touch.value(x, 0.5 - h)) / (2 * h)
        assert touch.on_obstacles(x, 0.5) == pytest.approx(on_way, rel=1e-7)
        before = touch.gradient(x)
        driven = touch.drive(x)
        corners, blocks = touch.blocks(x)
        assert corners.tolist() == [[k, -1, -1, -1] for k in range(3)]
        moved = touch.gradient(x + way) - before
        assert moved == pytest.approx(np.einsum("kij,kj->ki", blocks[:, :3, :3], way), rel=1e-9)
    touch.advance(1.0)
    assert touch.gradient(x) - before == pytest.approx(driven, rel=1e-9)
    assert np.linalg.norm(driven) > 0.0


def test_let_go_only_where_nothing_is_crossed() -> None:
    """Plates that part let go; not while they are in each other, nor while the triangle is on the wrong side of one."""
    touch = plates(-5.0 * REACH * UP, 0.0 * UP)
    rows = touch.pinches.rows
    surfaces = touch.surfaces

    def again(x: Points, time: float) -> int:
        memory = {"contact.stiffness": np.array(STIFFNESS), "contact.pinched": rows}
        return len(surfaces.at(State(time, x.reshape(-1), np.zeros(9), memory), -0.05 * DT).pinches)

    x = BETWEEN.rest
    assert again(x, DT) == 3  # the upper plate is far below
    assert again(x - 5.0 * REACH * UP, DT) == 3
    assert again(x, 0.0) == 0
    assert again(x + 3.0 * REACH * UP, 0.0) == 3  # above the upper plate: parted, but not where it was
    assert again(x + 0.58 * REACH * UP, 0.0) == 3  # beyond the gap by 0.02 of the reach only
    assert again(x + 0.5 * REACH * UP, 0.0) == 0
    tilted = x + np.array([[0, 0, 0], [0, 0, 0], [0, 0, 3.0 * REACH]])
    assert again(tilted, 0.0) == 1  # crosses the upper plate: the one that is beyond


@pytest.mark.parametrize(("share", "meets"), [(0.5 * CLEAR, True), (2.0 * CLEAR, False)])
def test_what_is_let_go_keeps_clear_of_planes_too_but_not_of_itself(share: float, meets: bool) -> None:
    """Elements of the shell that are nearer to an obstacle than they must be when they are let go."""
    scene = single("vertex, plane", 0.004, share)
    found = _meeting(scene.surfaces, scene.x)
    assert found.tolist() == ([[0, -1, -1, -1]] if meets else [])
    for kind in ("vertex, vertex", "vertex, face", "edges"):
        own = single(kind, 0.004, share)
        assert not len(_meeting(own.surfaces, own.x))


def short() -> Closing:
    """The fastest whole scene."""
    return boxes(n=6, frames=7, carried=lambda t: 0.04 * np.sin(4.0 * np.pi * t) * UP)


def test_boxes_close_and_part() -> None:
    """The sheet goes with the mean plane of the boxes while they are in each other; it never crosses itself, nor a box
    after they have parted, and a resumed run gives the same bytes."""
    scene = short()
    frames = list(scene.job().frames())
    seen = look(scene, frames)
    assert seen.pinched[3] > 0 and seen.caught > 0
    assert seen.own == seen.free == 0
    assert seen.pinched[-1] == 0
    told = np.array([int(frame.report["pinched"]) for frame in frames])
    assert (told >= seen.pinched).all()  # also what a step between frames let go again
    assert (told[1:] <= np.maximum(seen.pinched[1:], seen.pinched[:-1])).all()  # which here was so on one of the two
    # What holds a vertex is ten times as stiff as the mean of mass/dt² and shell, so that of the way a dt² by which the
    # plane leaves its last velocity at most a tenth is missed.
    missed = 0.04 * (4.0 * np.pi / 48.0) ** 2 / 10.0
    for frame in frames:
        held = scene.pinched(frame)
        plane = 0.04 * np.sin(4.0 * np.pi * frame.time)
        assert np.abs(frame.points[held, 2] - plane).max(initial=0.0) < missed
    for begin in (2, 4):
        again = list(scene.job().frames(after=frames[begin]))
        assert all(a.points.tobytes() == b.points.tobytes() for a, b in zip(again, frames[begin + 1 :], strict=True))


def test_nothing_is_pinched_in_a_drape() -> None:
    """A sheet that falls on a ball on its way, with folds pressed against it."""
    shell = sheet(6, 6, length=SIZE)
    ball = sphere(shell.rest.mean(axis=0) - [0.0, 0.0, 0.1], 0.08, 0.04)
    rising = Obstacle(ball, lambda t: ball.rest + [0.2 * t, 0.0, 0.5 * t])
    scene = Closing(shell, times(5), [rising])
    frames = list(scene.job(gravity=(0.0, 0.0, -9.81), friction=0.3).frames())
    assert max(int(frame.report["pairs"]) for frame in frames) > 20
    assert not any("contact.pinched" in frame.state.memory for frame in frames)


LONG: dict[str, tuple[Callable[[], Closing], dict]] = {
    "boxes": (boxes, {}),
    "deep": (lambda: boxes(deep=0.06), {}),
    "small boxes": (lambda: boxes(size=(0.02, 0.02, 0.08)), {}),
    "in seven frames": (lambda: boxes(frames=7), {}),
    "balls": (lambda: balls(n=8, edge=0.02), {}),
    "balls without thickness that rub": (lambda: balls(n=8, edge=0.02), {"friction": 0.5, "gap": 0.0}),
    "balls in seven frames": (lambda: balls(frames=7), {}),
    "armpit": (lambda: wedge(n=8), {}),
    "armpit, arms in each other": (lambda: wedge(n=8, closed=-0.3), {"friction": 0.5}),
    "foot and floor": (lambda: pressed_to_floor(n=8), {"friction": 0.5}),
    "three layers": (lambda: layers(n=5), {}),
}


def test_a_shell_pinched_everywhere_over_a_floor() -> None:
    """Nothing of it is left to feel the floor, and the shot goes on."""
    closing = boxes(n=3, frames=9, size=(0.5, 0.5, 0.08))
    scene = Closing(closing.shell, closing.times, [*closing.things, Plane(-UP, UP)])
    frames = list(scene.job(substeps=1, tolerance=4e-4).frames())
    pinched = [int(frame.report["pinched"]) for frame in frames]
    assert max(pinched) == scene.shell.point_count
    assert len(frames) == 9 and pinched[-1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_the_shot_goes_on(name: str) -> None:
    """Every frame is made; nothing crosses itself, nothing crosses an obstacle but what is reported, and in the end
    nothing is."""
    make, knobs = LONG[name]
    scene = make()
    frames = list(scene.job(**knobs).frames())
    seen = look(scene, frames)
    assert len(frames) == len(scene.times)
    assert seen.pinched.max() > 0 and seen.caught > 0
    assert seen.own == seen.free == 0
    assert seen.pinched[-1] == 0


@pytest.mark.slow
def test_regions_give_way_where_they_are_pinched() -> None:
    """A guide that carries a sheet away while its middle is pinched: regions give way there, those around it less and
    the corners least, as none pulls harder than it may; those that do are told, and soon after it all are met."""
    frames, scene = _carried_away()
    seen = look(scene, frames)
    assert seen.own == seen.free == 0 and seen.pinched.max() > 0
    size, corners, inner = scene.shell.size, [0, 3, 12, 15], [5, 6, 9, 10]  # of 4 × 4 regions
    sides = np.setdiff1d(np.arange(16), [*corners, *inner])
    for frame in frames:
        missed = frame.report["residual"] > 1e-6 * size
        assert not (missed & (frame.report["gave_way"] == 0)).any()
        assert not missed.any() or frame.index < 20
    most = frames[12].report["residual"]
    assert scene.pinched(frames[12]).any()
    assert most[inner].min() > 0.02  # of three centimetres
    assert most[corners].max() < most[sides].min()
    assert most[sides].max() < 0.5 * most[inner].min()


def _carried_away() -> tuple[list[Frame], Closing]:
    scene = boxes(n=12, frames=37)
    shell = scene.shell
    scene = Closing(shell, times(37), boxes(n=12, frames=25).things)
    lift = np.sin(np.pi * np.clip(scene.times / scene.times[24], 0.0, 1.0)) ** 2
    guide = Animation(shell, scene.times, shell.rest + 0.03 * lift[:, None, None] * UP)
    centres = shell.rest[shell.faces].mean(axis=1)
    labels = np.floor(4.0 * centres[:, 0] / SIZE) * 4 + np.floor(4.0 * centres[:, 1] / SIZE)
    tests = painted(shell, labels.astype(int), shell, labels.astype(int))
    return list(scene.job(guide=guide, tests=tests).frames()), scene


@pytest.mark.slow
def test_a_shot_may_begin_pinched() -> None:
    """Boxes that are in each other on the first frame: the sheet is led there with them, and is known to be pinched."""
    shell, up = sheet(6, 6, length=SIZE), 0.04 * UP
    mesh = box((0.12, 0.12, 0.08))
    centre = shell.rest.mean(axis=0)
    apart = [TriMesh(mesh.rest + centre + side * 2.0 * up, mesh.faces) for side in (1.0, -1.0)]

    def moving(side: float, own: TriMesh) -> Callable[[float], Points]:
        return lambda t: own.rest + side * min(max(24.0 * t, 0.0), 4.0) / 4.0 * 0.06 * UP - side * 0.05 * UP

    things = [Obstacle(own, moving(side, own)) for own, side in zip(apart, (1.0, -1.0), strict=True)]
    scene = Closing(shell, times(5), things)
    label = np.zeros(len(shell.faces), dtype=int)
    frames = list(scene.job(tests=painted(shell, label, shell, label)).frames())
    seen = look(scene, frames)
    assert seen.pinched[0] > 0 and seen.caught > 0
    assert seen.own == seen.free == 0
    assert seen.pinched[-1] == 0
    assert int(frames[0].report["pinched"]) == seen.pinched[0]


def test_the_last_resort() -> None:
    """What one surface alone presses, and does not evade, goes with it at half the reach beyond the gap."""
    gap, down = 0.004, np.array([0.0, 0.0, -3.0 * REACH])
    for away, comes in ((0.05 * REACH, True), (0.2 * REACH, False)):
        touch = plates(down, 3.0 * down, away, gap=gap)  # the other goes away
        x = BETWEEN.rest
        assert not touch.pinch(x)
        assert touch.pinch(x, last=True) == comes
        assert touch.pinches.faces.tolist() == ([[0, 0]] * 3 if comes else [])
        if comes:
            held = x + (gap + away - (gap + 0.5 * REACH)) * UP
            assert touch.gradient(held) == pytest.approx(np.zeros((3, 3)), abs=1e-9)
            touch.advance(1.0)
            assert touch.gradient(held + down) == pytest.approx(np.zeros((3, 3)), abs=1e-9)


@pytest.mark.slow
def test_a_stack_between_boxes_does_not_stop_the_shot() -> None:
    """Of six layers none feels both boxes: what holds these up is let through them, and told. They are thrown aside
    within a frame, so that nothing passes on the way they go, but may on the straight one."""
    scene = layers(n=3, count=6, frames=9)
    with recorded_way() as way:
        frames = list(scene.job().frames())
    seen = look(scene, frames, straight(way))
    assert seen.pinched.max() > 0
    assert seen.own == seen.free == 0
