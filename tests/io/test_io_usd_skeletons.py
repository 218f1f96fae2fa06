"""Skeletons and rigs of USD files, against the points USD itself skins."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom
from test_io_usd_skel import BEND, ELBOW, TIMES, character

import bunraku as bk
from bunraku.contracts import InputError


@pytest.fixture
def hero(tmp_path: Path) -> Path:
    """A character below a parent that moves, turns and scales, in centimetres, Z up."""
    path = tmp_path / "hero.usda"
    stage = character(path)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, "Z")
    stage.SetTimeCodesPerSecond(30.0)
    root = UsdGeom.Xformable(stage.GetPrimAtPath("/hero"))
    root.ClearXformOpOrder()
    root.AddTranslateOp().Set(Gf.Vec3d(3, 1, 2))
    turn = root.AddRotateXYZOp()
    turn.Set(Gf.Vec3f(10, 20, 30), 1.0)
    turn.Set(Gf.Vec3f(40, 20, -30), 4.5)
    root.AddScaleOp().Set(Gf.Vec3f(2, 2, 2))
    stage.Save()
    return path


def test_the_files_weights_give_the_points_usd_skins(hero: Path) -> None:
    rig, baked = bk.read_rig(hero), bk.read_animation(hero)
    found = rig.animation()
    np.testing.assert_allclose(found.times, baked.times, atol=1e-15)
    assert set(np.round(found.times * 30.0, 9)) >= set(TIMES)
    assert np.abs(found.points - baked.points).max() < 1e-6 * baked.mesh.size  # USD skins in float32
    assert np.abs(found.points - found.points[0]).max() > 0.1 * baked.mesh.size
    np.testing.assert_allclose(rig.mesh.rest, baked.mesh.rest, atol=1e-6 * baked.mesh.size)


def test_a_skeleton_has_names_parents_and_poses(tmp_path: Path) -> None:
    path = tmp_path / "plain.usda"
    character(path).Save()
    skeleton = bk.read_skeleton(path)
    assert skeleton.names == ("upper", "lower") and skeleton.parents.tolist() == [-1, 0] and skeleton.rate == 24.0
    np.testing.assert_allclose(skeleton.bind[:, :3, 3], np.stack([np.zeros(3), ELBOW]), atol=1e-12)
    for code, degrees in BEND.items():
        turn = skeleton.pose(code / 24.0)[1, :3, :3]
        assert np.degrees(np.arctan2(turn[2, 1], turn[1, 1])) == pytest.approx(degrees, abs=1e-4)
    assert bk.read_skeleton(path, prim="/hero/rig").names == skeleton.names


def test_what_has_no_skeleton_is_refused(tmp_path: Path, hero: Path) -> None:
    empty = tmp_path / "empty.usda"
    stage = Usd.Stage.CreateNew(str(empty))
    UsdGeom.Mesh.Define(stage, "/a")
    stage.Save()
    with pytest.raises(InputError, match="holds no skeleton"):
        bk.read_skeleton(empty)
    with pytest.raises(InputError, match="no skeleton carries"):
        bk.read_rig(empty)
    with pytest.raises(InputError, match="no such skeleton"):
        bk.read_skeleton(hero, prim="/hero/rag")
    with pytest.raises(InputError, match="holds no rig"):
        bk.read_rig(tmp_path / "a.bvh")
