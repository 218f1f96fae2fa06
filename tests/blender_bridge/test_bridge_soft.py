"""Shots of soft bodies, as the extension writes them, are shots that bunraku takes; turns are told as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bridge import (
    Hand,
    Held,
    Plan,
    Shared,
    Source,
    Space,
    StageMesh,
    Steer,
    Wrinkle,
    in_shot,
    plan_tables,
    rigid,
    stage_text,
    steer_tables,
    toml_text,
    wrinkle_tables,
)
from scipy.spatial.transform import Rotation

from bunraku import TriMesh, sphere
from bunraku.shots import Shot, read_shot

FRAMES, NOT, UP = [1, 2, 3], (0.0, 0.0, 0.0), (0.0, 0.1, 0.0)


@pytest.fixture
def ball(tmp_path: Path) -> TriMesh:
    """A ball of 20 cm in a file of centimetres, and a flat one."""
    mesh = sphere((0.0, 0.0, 0.0), 0.2, edge=0.08)
    points = 100.0 * np.stack([mesh.rest[:, 0], -mesh.rest[:, 2], mesh.rest[:, 1]], axis=1)
    still = StageMesh("ball", np.full(len(mesh.faces), 3), mesh.faces.reshape(-1), points)
    flat = replace(still, rest=points * [1.2, 1.2, 0.7])
    moving = replace(still, frames=FRAMES, points=[points + [0, 0, k] for k in FRAMES])
    for name, one in (("ball", still), ("flat", flat), ("moving", moving)):
        (tmp_path / f"{name}.usda").write_text(stage_text(one, Space(24.0, 0.01)))
    return mesh


def source(name: str) -> Source:
    return Source(f"{name}.usda", "/ball")


def written(folder: Path, tables: dict[str, Any]) -> Shot:
    (folder / "ball.toml").write_text(toml_text(tables))
    return read_shot(folder / "ball.toml")


def shared(**more: Any) -> Shared:
    told: dict[str, Any] = {"name": "ball", "frames": (1, 3), "gravity": (0.0, -9.81, 0.0), "substeps": 2}
    return Shared(**(told | more))


def sides(ball: TriMesh) -> tuple[Hand, Hand]:
    y = ball.rest[:, 1]
    return Hand("top", np.flatnonzero(y > 0.12).tolist(), [2]), Hand("foot", np.flatnonzero(y < -0.12).tolist())


@pytest.mark.parametrize("quick", [False, True])
def test_a_steered_body(tmp_path: Path, ball: TriMesh, quick: bool) -> None:
    ask = Steer(
        source("ball"), {"preset": "jelly", "young": 8e3}, 0.1, [(2, source("flat"))],
        [[1, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [3, 0.1, 1.1, 0.0, 0.0, 20.0, 0.0]], True, [sides(ball)[1]],
    )  # fmt: skip
    found = written(tmp_path, steer_tables("ball", ask, shared(quick=quick, contact=True)))
    (body,) = found.bodies.values()
    assert body.keys[0].frame == 2 and body.lead is True and body.tets.edge == 0.1 and body.path[0].turns
    assert body.pins[0].region == "foot" and (found.physics.contact is False) is quick


def test_a_planned_body(tmp_path: Path, ball: TriMesh) -> None:
    top, foot = sides(ball)
    ask = Plan(
        source("ball"), {"preset": "rubber"}, None, 12,
        [(top, Held(3, UP, NOT, NOT)), (top, Held(2, NOT, (0.0, 30.0, 0.0), UP, (0.0, 1.0, 0.0)))], [foot],
        exact=True, attach=True, free=True, ground=-0.5,
    )  # fmt: skip
    (body,) = written(tmp_path, plan_tables("ball", ask, shared())).plans.values()
    assert [one.frame for one in body.keys] == [2, 3] and body.keys[0].velocity == (0.0, 1.0, 0.0)
    assert (body.keys[0].rotate, body.keys[0].pivot) == ((0.0, 30.0, 0.0), (0.0, 0.1, 0.0))
    assert body.keys[1].pivot is None and body.keys[1].move == (0.0, 0.1, 0.0)
    assert body.keys[0].weight == "exact" and body.fixed == ("foot",) and body.modes == 12 and body.ground == -0.5


@pytest.mark.parametrize("animated", [False, True])
def test_a_wrinkling_skin(tmp_path: Path, ball: TriMesh, animated: bool) -> None:
    top, foot = sides(ball)
    moves = [(k, (0.0, -0.01 * (k - 1), 0.0), (0.0, 5.0 * k, 0.0)) for k in FRAMES]
    still = [(k, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)) for k in FRAMES]
    ask = Wrinkle(
        source("moving" if animated else "ball"), animated, {"preset": "leather"}, {"preset": "foam"}, 0.06,
        None if animated else 0.1, [] if animated else [(top, moves), (foot, still)],
    )  # fmt: skip
    (skin,) = written(tmp_path, wrinkle_tables("ball", ask, shared())).wrinkles.values()
    assert skin.wavelength == 0.06 and skin.skin.preset == "leather" and skin.interior.preset == "foam"
    if not animated:
        assert [len(one.keys) for one in skin.handles] == [3, 0] and skin.handles[0].keys[2].rotate == (0.0, 15.0, 0.0)


@pytest.mark.parametrize("angle", [0.0, 1e-3, 40.0, 120.0, 179.9, 180.0])
def test_turns_of_points_are_found(angle: float) -> None:
    rng = np.random.default_rng(4)
    rest, axis = rng.normal(size=(7, 3)), np.array([0.6, -0.48, 0.64])
    turned = Rotation.from_rotvec(np.radians(angle) * axis).apply(rest - rest.mean(axis=0)) + rest.mean(axis=0)
    move, turn = rigid(rest, turned + [0.1, -0.2, 0.3])
    np.testing.assert_allclose(move, [0.1, -0.2, 0.3], atol=1e-9)
    sign = -1.0 if angle == 180.0 and np.dot(turn, axis) < 0.0 else 1.0  # half a turn has two names
    np.testing.assert_allclose(np.array(turn) * sign, angle * axis, atol=1e-6)


def test_blenders_points_are_turned_upright() -> None:
    np.testing.assert_allclose(in_shot(np.array([[1.0, 2.0, 3.0]]), 0.01), [[0.01, 0.03, -0.02]])
