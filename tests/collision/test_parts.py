"""Gap and friction of single pairs of things: parts of the shell, obstacles, planes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pairs import DT, REACH, Scene, crowd, dense, triangles

from bunraku.collision import Between, Obstacle, Plane, Surfaces
from bunraku.collision.barrier import slope
from bunraku.collision.pinching import Pinches
from bunraku.contracts import InputError, Points
from bunraku.geometry import TriMesh
from bunraku.testing import falls_as

GAP, THICK, ROUGH = 0.002, 0.015, 0.8
THINGS = ("low", "high", "ball", "floor", "wall")
EVERY = [
    pair for pair in [*combinations(THINGS, 2), ("low", "low"), ("high", "high")] if {"low", "high"} & set(pair)
]  # fmt: skip


def named_crowd(friction: float, between: list[Between]) -> Scene:
    """Two sheets, `low` and `high`, on a ball, a floor and a wall."""
    scene = crowd(friction=friction, gap=GAP)
    plain, half = scene.surfaces, scene.surfaces.count // 2
    planes = [replace(one, name=name) for one, name in zip(plain.planes, ("floor", "wall"), strict=True)]
    named = {"low": np.arange(half), "high": half + np.arange(half)}
    obstacles = [replace(one, name="ball") for one in plain.obstacles]
    return Scene(replace(plain, obstacles=obstacles, planes=planes, named=named, between=between), scene.x)


@pytest.mark.parametrize("pinched", [[], [0, 7, 13]])
@pytest.mark.parametrize("seed", range(6))
def test_every_pair_is_felt_once_whatever_is_said_of_it(seed: int, pinched: list[int]) -> None:
    """What is said of some pairs, in another order and equal to what holds anyway, changes nothing."""
    generator = np.random.default_rng(seed)
    chosen = [EVERY[k] for k in generator.permutation(len(EVERY))[: seed + 3]]
    said = [Between(a, b, friction=0.4, thickness=GAP if k % 2 else None) for k, (a, b) in enumerate(chosen)]
    scenes = [named_crowd(0.4, some) for some in ([], said)]
    x = scenes[0].x + 0.02 * REACH * generator.uniform(-1.0, 1.0, scenes[0].x.shape)
    found = []
    for scene in scenes:
        points = scene.surfaces.together(x, 0.0)
        pairings = scene.surfaces.pairings_without(np.array(pinched, dtype=np.int64))
        corners = np.concatenate([one.near(points[:size]).pairs().corners for one, size in pairings])
        found.append(np.array(sorted(map(tuple, np.sort(corners, axis=1).tolist()))))
    assert len(found[0]) > 100
    np.testing.assert_array_equal(found[0], found[1])
    if pinched:
        return
    touches = [scene.touch() for scene in scenes]
    plain, other = (touch.gradient(x) for touch in touches)
    assert other == pytest.approx(plain, rel=1e-9, abs=1e-12 * np.abs(plain).max())
    assert touches[1].value(x) == pytest.approx(touches[0].value(x), rel=1e-12)
    matrices = [dense(scene, *touch.blocks(x)) for scene, touch in zip(scenes, touches, strict=True)]
    assert matrices[1] == pytest.approx(matrices[0], abs=1e-9 * np.abs(matrices[0]).max())


@pytest.mark.parametrize("seed", range(3))
def test_gradient_with_gaps_and_frictions_of_many_pairs(seed: int) -> None:
    said = [
        Between("low", "high", friction=0.9, thickness=0.5 * GAP), Between("low", "ball", friction=0.1),
        Between("high", "floor", thickness=0.7 * GAP), Between("low", "floor", friction=0.0),
        Between("high", "high", friction=0.6),
    ]  # fmt: skip
    scene, generator = named_crowd(0.4, said), np.random.default_rng(seed)
    touch = scene.touch()
    x = scene.x + 0.02 * REACH * generator.uniform(-1.0, 1.0, scene.x.shape)
    way = generator.uniform(-1.0, 1.0, x.shape)
    wanted, steps = float(np.sum(touch.gradient(x) * way)), [1e-3 * REACH * h for h in (1 / 256, 1 / 512, 1 / 1024)]
    errors, floors = [], []
    for h in steps:
        high, low = touch.value(x + h * way), touch.value(x - h * way)
        errors.append(abs((high - low) / (2 * h) - wanted))
        floors.append(1e-15 / (0.1 * REACH) * high * 10 / h)  # as in test_touch
    assert abs(wanted) > 1e3 * errors[-1]
    assert falls_as(2, steps, errors, floors)


def over(kind: str, away: float) -> tuple[Surfaces, Points]:
    """A triangle of part `a` whose lowest corner is `away` [m] above something named `b`."""
    own = [[0.0, 0.0, away], [0.3, 0.0, away + 0.05], [0.0, 0.3, away + 0.05]]
    flat = [[-1.0, -1.0, 0.0], [2.0, -1.0, 0.0], [-1.0, 2.0, 0.0]]
    knobs: dict[str, Any] = {"reach": REACH, "gap": GAP, "friction": 0.3, "still": 0.05}
    if kind == "itself":  # two pieces of one part
        mesh = triangles(own, flat)
        return Surfaces(mesh, named={"a": np.arange(6)}, **knobs), mesh.rest
    if kind == "part":
        mesh = triangles(own, flat)
        return Surfaces(mesh, named={"a": np.arange(3), "b": np.arange(3, 6)}, **knobs), mesh.rest
    mesh = triangles(own)
    if kind == "plane":
        plane = Plane(np.zeros(3), np.array([0.0, 0.0, 1.0]), "b")
        return Surfaces(mesh, (), [plane], named={"a": np.arange(3)}, **knobs), mesh.rest
    obstacle = Obstacle(triangles(flat), name="b", thickness=0.001, friction=0.5)
    return Surfaces(mesh, [obstacle], named={"a": np.arange(3)}, **knobs), mesh.rest


KINDS = ("part", "itself", "obstacle", "plane")


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_keeps_its_own_gap_and_rubs_as_is_said_of_it(kind: str) -> None:
    surfaces, x = over(kind, THICK + 0.4 * REACH)
    said = Between("b" if kind != "itself" else "a", "a", friction=ROUGH, thickness=THICK)
    touch = Scene(replace(surfaces, between=[said]), x).touch()
    push = touch.stiffness(THICK) * slope(THICK + 0.4 * REACH, THICK, REACH)
    assert touch.pressure(x)[0] == pytest.approx([0.0, 0.0, push]) and push < 0.0
    assert Scene(surfaces, x).touch().pressure(x) == pytest.approx(np.zeros_like(x))  # thin, it is far away
    # Half a millimetre along, which is more than counts as still: µ times the normal force against the way.
    moved = np.array(x)
    moved[:3, 0] += 0.5 * DT * 0.1
    rub = touch.gradient(moved) - touch.pressure(moved)
    assert rub[0] == pytest.approx([-ROUGH * push, 0.0, 0.0], rel=1e-9)
    # Its stiffness is its force over the way.
    smooth = Scene(replace(surfaces, between=[replace(said, friction=0.0)]), x).touch()
    scene = Scene(surfaces, x)
    stiffness = dense(scene, *touch.blocks(moved)) - dense(scene, *smooth.blocks(moved))
    assert (stiffness @ (moved - x).reshape(-1)).reshape(-1, 3) == pytest.approx(rub, abs=1e-9 * np.abs(rub).max())
    # Down by more than there is: a tenth of the room beyond the pair's own gap is left.
    down = np.zeros_like(x)
    down[:3, 2] = -0.1
    assert touch.max_step(x, down) == pytest.approx(0.9 * 0.4 * REACH / 0.1, rel=1e-3)


@pytest.mark.parametrize("kind", ["obstacle", "plane"])
def test_what_is_not_said_stays_as_it_is(kind: str) -> None:
    """Only friction is particular: the gap is the obstacle's own, or the common one of a plane."""
    gap = 0.001 if kind == "obstacle" else GAP
    surfaces, x = over(kind, gap + 0.4 * REACH)
    touch = Scene(replace(surfaces, between=[Between("a", "b", friction=ROUGH)]), x).touch()
    push = touch.stiffness(gap) * slope(gap + 0.4 * REACH, gap, REACH)
    assert touch.pressure(x)[0, 2] == pytest.approx(push) and push < 0.0
    only = replace(surfaces, between=[Between("a", "b", thickness=THICK)]).parts.particular
    assert [one.friction for one in only] == [0.5 if kind == "obstacle" else 0.3]


def test_a_plane_with_a_thickness_and_a_friction_of_its_own_is_as_if_that_were_said_of_it() -> None:
    """Beside another plane, which keeps to what contact says."""
    surfaces, x = over("plane", THICK + 0.4 * REACH)
    (floor,) = surfaces.planes
    wall = replace(floor, name="wall", point=floor.point - 10.0 * floor.normal)
    said = replace(surfaces, planes=[wall, floor], between=[Between("a", "b", friction=ROUGH, thickness=THICK)])
    own = replace(surfaces, planes=[wall, replace(floor, thickness=THICK, friction=ROUGH)])
    moved = np.array(x)
    moved[:3, 0] += 0.5 * DT * 0.1
    wanted, found = Scene(said, x).touch(), Scene(own, x).touch()
    assert np.abs(wanted.gradient(moved) - wanted.pressure(moved)).max() > 0.0
    assert np.array_equal(found.gradient(moved), wanted.gradient(moved))
    assert own.parts.gaps[1].tolist() == said.parts.gaps[1].tolist() == [GAP, GAP, GAP, THICK]
    assert replace(own, friction=0.0).rubs and not replace(own, friction=0.0).without_friction().rubs
    # What is said of a pair comes first, and what is not said of it is the plane's own.
    (one,) = replace(own, between=[Between("a", "b", friction=0.1)]).parts.particular
    assert (one.gap, one.friction) == (THICK, 0.1)


def test_without_friction_nothing_rubs_at_all() -> None:
    surfaces, _ = over("obstacle", 0.01)
    rough = replace(surfaces, friction=0.0, between=[Between("a", "b", friction=ROUGH)])
    assert rough.rubs and not rough.without_friction().rubs


def test_pinched_vertices_are_held_at_the_gap_of_their_part() -> None:
    """Two pieces over one obstacle of which one part keeps more."""
    mesh = triangles([[0, 0, 0.1], [1, 0, 0.1], [0, 1, 0.1]], [[2, 0, 0.1], [3, 0, 0.1], [2, 1, 0.1]])
    below = TriMesh(np.array([[-9.0, -9, 0], [9, -9, 0], [0, 9, 0]]), np.array([[0, 1, 2]]))
    surfaces = Surfaces(
        mesh, [Obstacle(below, name="b")], gap=GAP, named={"a": np.arange(3)},
        between=[Between("a", "b", thickness=THICK)],
    )  # fmt: skip
    ground = surfaces.ground
    assert ground.gaps[ground.part].reshape(-1) == pytest.approx([THICK] * 3 + [GAP] * 3)
    alone = Pinches(np.array([[vertex, 0, 0, 1, 1] for vertex in (0, 3)]))  # one face, and both are above it
    held = ground.held(alone, mesh.rest, *[below.rest] * 3, beyond=0.001)
    assert np.abs(held.begin[:, 2]) == pytest.approx([THICK + 0.001, GAP + 0.001])


def test_gaps_are_the_same_from_both_sides_and_the_largest_is_that_of_what_stands_around() -> None:
    between = [Between("high", "low", thickness=9 * GAP), Between("low", "wall", thickness=5 * GAP)]
    parts = named_crowd(0.4, between).surfaces.parts
    low, high, wall = 1, 2, parts.plane(1)
    assert parts.gaps[low, high] == parts.gaps[high, low] == 9 * GAP
    assert parts.gaps[low, wall] == 5 * GAP and parts.gaps[high, wall] == parts.gaps[0, wall] == GAP
    assert parts.most == 5 * GAP  # of the shell's own parts none is attached to another


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"friction": -0.1}, r"between a and b: friction must be a number \(got -0.1\); allowed: 0 to 100"),
        ({"thickness": float("nan")}, "between a and b: thickness must be a number"),
        ({"thickness": -1e-3}, "between a and b: thickness must be a number"),
        ({}, "between a and b: says nothing; allowed: friction, thickness or both"),
    ],
)  # fmt: skip
def test_what_cannot_be_between_two_things_is_refused(given: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Between("a", "b", **given)
