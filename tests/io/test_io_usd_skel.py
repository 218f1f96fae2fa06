"""UsdSkel characters, baked: against linear blend skinning written out here in NumPy."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

from bunraku.io import read_clip, read_mesh

TIMES = [1.0, 3.0, 4.5]
WEIGHTS = np.array([[1, 0], [1, 0], [0.5, 0.5], [0.25, 0.75], [0, 1], [0, 1.0]])
POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 2, 0], [0, 2, 0.0]])
BEND = {1.0: 0.0, 3.0: 60.0, 4.5: 90.0}
"""degrees of the second joint about x at a time code"""
ELBOW = np.array([0, 1, 0.0])
BIND = np.array([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0.5, 0, 0, 1.0]])
"""geomBindTransform: twice as large, half a unit along x"""


def about_x(degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[1, 0, 0, 0], [0, c, s, 0], [0, -s, c, 0], [0, 0, 0, 1.0]])


def shift(by: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[3, :3] = by
    return matrix


def skinned(points: np.ndarray, bend: float, bind: np.ndarray = BIND, weights: np.ndarray = WEIGHTS) -> np.ndarray:
    """Σ w p G B⁻¹ J of row vectors: the first joint stays, the second turns about the elbow."""
    p = np.column_stack([points, np.ones(len(points))]) @ bind
    joints = np.stack([np.eye(4), shift(-ELBOW) @ about_x(bend) @ shift(ELBOW)])
    return np.einsum("nj,ni,jik->nk", weights, p, joints)[:, :3]


def character(path: Path, *, moves: bool = True, method: str | None = None, rigid: bool = False) -> Usd.Stage:
    """A mesh of two quads on two joints, below a SkelRoot and a parent; the mesh's own transform is a red herring."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Y")
    UsdSkel.Root.Define(stage, "/hero")
    skeleton = UsdSkel.Skeleton.Define(stage, "/hero/rig")
    joints = Vt.TokenArray(["upper", "upper/lower"])
    bind = Vt.Matrix4dArray([Gf.Matrix4d(1), Gf.Matrix4d(1).SetTranslate(Gf.Vec3d(*ELBOW))])
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateBindTransformsAttr(bind)
    skeleton.CreateRestTransformsAttr(bind)
    if moves:
        animation = UsdSkel.Animation.Define(stage, "/hero/rig/walk")
        animation.CreateJointsAttr(joints)
        animation.CreateTranslationsAttr(Vt.Vec3fArray([(0, 0, 0), tuple(ELBOW)]))
        animation.CreateScalesAttr(Vt.Vec3hArray([(1, 1, 1), (1, 1, 1)]))
        rotations = animation.CreateRotationsAttr()
        for time, degrees in BEND.items():
            half = np.radians(degrees) / 2
            turn = Gf.Quatf(float(np.cos(half)), float(np.sin(half)), 0, 0)
            rotations.Set(Vt.QuatfArray([Gf.Quatf(1), turn]), time)
        UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/hero/rig/walk"])
    body = UsdGeom.Xform.Define(stage, "/hero/body")
    body.AddTranslateOp().Set(Gf.Vec3d(100, 0, 0))
    UsdSkel.BindingAPI.Apply(body.GetPrim()).CreateSkeletonRel().SetTargets(["/hero/rig"])  # inherited by the mesh
    mesh = UsdGeom.Mesh.Define(stage, "/hero/body/coat")
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(POINTS.astype(np.float32)))
    mesh.CreateFaceVertexCountsAttr([4, 4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3, 3, 2, 4, 5])
    skin = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    influences = np.tile([0, 1], 1 if rigid else 6)
    weights = np.array([0.5, 0.5]) if rigid else WEIGHTS.reshape(-1)
    skin.CreateJointIndicesPrimvar(rigid, 2).Set(Vt.IntArray(influences.tolist()))
    skin.CreateJointWeightsPrimvar(rigid, 2).Set(Vt.FloatArray(weights.tolist()))
    skin.CreateGeomBindTransformAttr(Gf.Matrix4d(BIND.tolist()))
    if method:
        skin.CreateSkinningMethodAttr(method)
    return stage


def blend(stage: Usd.Stage, inbetween: bool = False) -> None:
    """A blend shape that lifts point 4 by one along z, weighted 0, 1 and a half at the three times."""
    mesh = stage.GetPrimAtPath("/hero/body/coat")
    lift = UsdSkel.BlendShape.Define(stage, "/hero/body/coat/lift")
    lift.CreateOffsetsAttr(Vt.Vec3fArray([(0, 0, 1)]))
    lift.CreatePointIndicesAttr([4])
    if inbetween:
        half = lift.CreateInbetween("half")
        half.SetWeight(0.5)
        half.SetOffsets(Vt.Vec3fArray([(0, 3, 0)]))
    UsdSkel.BindingAPI(mesh).CreateBlendShapesAttr(["lift"])
    UsdSkel.BindingAPI(mesh).CreateBlendShapeTargetsRel().SetTargets([lift.GetPath()])
    animation = UsdSkel.Animation(stage.GetPrimAtPath("/hero/rig/walk"))
    animation.CreateBlendShapesAttr(["other", "lift"])
    for time, weight in zip(TIMES, (0.0, 1.0, 0.5), strict=True):
        animation.CreateBlendShapeWeightsAttr().Set(Vt.FloatArray([9.0, weight]), time)


def test_two_joints(tmp_path: Path) -> None:
    character(tmp_path / "a.usda").Save()
    before = (tmp_path / "a.usda").read_bytes()
    clip = read_clip(tmp_path / "a.usda")
    assert clip.prim_path == "/hero/body/coat"
    assert set(TIMES) <= set(clip.frames.tolist())
    for time in TIMES:
        k = clip.frames.tolist().index(time)
        assert np.allclose(clip.animation.points[k], skinned(POINTS, BEND[time]), atol=2e-6)
    assert (tmp_path / "a.usda").read_bytes() == before


def test_turns_keyed_sparsely_are_sampled_every_frame(tmp_path: Path) -> None:
    character(tmp_path / "a.usda").Save()
    clip = read_clip(tmp_path / "a.usda")
    assert clip.frames.tolist() == [1, 2, 3, 4, 4.5]
    assert np.allclose(clip.animation.points[1], skinned(POINTS, 30.0), atol=2e-6)


def test_the_rest_shape_is_the_bind_pose(tmp_path: Path) -> None:
    stage = character(tmp_path / "a.usda")
    UsdGeom.Xformable(stage.GetPrimAtPath("/hero")).AddTranslateOp().Set(Gf.Vec3d(0, 0, 7))
    blend(stage)
    stage.Save()
    expected = skinned(POINTS, 0.0) + [0, 0, 7]
    assert np.allclose(read_clip(tmp_path / "a.usda").mesh.rest, expected, atol=1e-6)
    assert np.allclose(read_mesh(tmp_path / "a.usda").rest, expected, atol=1e-6)


def test_a_blend_shape_comes_before_the_joints(tmp_path: Path) -> None:
    stage = character(tmp_path / "a.usda")
    blend(stage)
    stage.Save()
    clip = read_clip(tmp_path / "a.usda")
    for time, weight in zip(TIMES, (0.0, 1.0, 0.5), strict=True):
        lifted = POINTS + weight * np.array([[0], [0], [0], [0], [1], [0]]) * [0, 0, 1]
        k = clip.frames.tolist().index(time)
        assert np.allclose(clip.animation.points[k], skinned(lifted, BEND[time]), atol=2e-6)


def test_an_inbetween_is_met_halfway(tmp_path: Path) -> None:
    stage = character(tmp_path / "a.usda")
    blend(stage, inbetween=True)
    stage.Save()
    clip = read_clip(tmp_path / "a.usda")
    lifted = POINTS.copy()
    lifted[4] += [0, 3, 0]
    assert np.allclose(clip.animation.points[-1], skinned(lifted, 90.0), atol=2e-6)


def test_blend_shapes_alone_leave_the_mesh_where_it_is(tmp_path: Path) -> None:
    stage = character(tmp_path / "a.usda")
    blend(stage)
    mesh = stage.GetPrimAtPath("/hero/body/coat")
    for name in ("jointIndices", "jointWeights", "geomBindTransform"):
        mesh.RemoveProperty(f"primvars:skel:{name}")
    stage.Save()
    clip = read_clip(tmp_path / "a.usda")
    assert clip.frames.tolist() == TIMES
    assert np.allclose(clip.animation.points[1, 4], POINTS[4] + [100, 0, 1])


def test_a_moving_skeleton_root_carries_the_mesh(tmp_path: Path) -> None:
    stage = character(tmp_path / "a.usda", moves=False)
    lift = UsdGeom.Xformable(stage.GetPrimAtPath("/hero")).AddTranslateOp()
    for time in (1, 2, 4):
        lift.Set(Gf.Vec3d(0, time, 0), time)
    UsdGeom.Xformable(stage.GetPrimAtPath("/hero/rig")).AddScaleOp().Set(Gf.Vec3f(3, 3, 3))
    stage.Save()
    clip = read_clip(tmp_path / "a.usda")
    assert clip.frames.tolist() == [1, 2, 4]
    for k, time in enumerate(clip.frames):
        assert np.allclose(clip.animation.points[k], 3 * skinned(POINTS, 0.0) + [0, time, 0], atol=1e-5)


def test_rigid_influences(tmp_path: Path) -> None:
    character(tmp_path / "a.usda", rigid=True).Save()
    clip = read_clip(tmp_path / "a.usda")
    weights = np.full((6, 2), 0.5)
    assert np.allclose(clip.animation.points[-1], skinned(POINTS, 90.0, weights=weights), atol=2e-6)


def test_without_a_bind_transform(tmp_path: Path) -> None:
    stage = character(tmp_path / "a.usda")
    stage.GetPrimAtPath("/hero/body/coat").RemoveProperty("primvars:skel:geomBindTransform")
    stage.Save()
    clip = read_clip(tmp_path / "a.usda")
    assert np.allclose(clip.animation.points[-1], skinned(POINTS, 90.0, bind=np.eye(4)), atol=2e-6)


def test_joints_of_the_mesh_in_another_order(tmp_path: Path) -> None:
    stage = character(tmp_path / "a.usda")
    skin = UsdSkel.BindingAPI(stage.GetPrimAtPath("/hero/body/coat"))
    skin.CreateJointsAttr(["upper/lower", "upper"])
    stage.Save()
    clip = read_clip(tmp_path / "a.usda")
    assert np.allclose(clip.animation.points[-1], skinned(POINTS, 90.0, weights=WEIGHTS[:, ::-1]), atol=2e-6)


def test_dual_quaternions_keep_the_distance_to_the_elbow(tmp_path: Path) -> None:
    character(tmp_path / "a.usda", method="dualQuaternion").Save()
    clip = read_clip(tmp_path / "a.usda")
    bound = skinned(POINTS, 0.0) - ELBOW
    turned = np.column_stack([bound, np.ones(6)]) @ about_x(45.0)  # half and half: exactly half the turn
    assert np.allclose(clip.animation.points[-1, 2], turned[2, :3] + ELBOW, atol=2e-6)
    assert not np.allclose(clip.animation.points[-1, 2], skinned(POINTS, 90.0)[2], atol=1e-2)


def test_instanced_characters(tmp_path: Path) -> None:
    character(tmp_path / "hero.usda").Save()
    shot = Usd.Stage.CreateNew(str(tmp_path / "shot.usda"))
    UsdGeom.SetStageMetersPerUnit(shot, 1.0)
    for name, place in (("a", 10.0), ("b", 20.0)):
        copy = UsdGeom.Xform.Define(shot, f"/{name}")
        copy.AddTranslateOp().Set(Gf.Vec3d(0, 0, place))
        actor = shot.DefinePrim(f"/{name}/actor")
        actor.GetReferences().AddReference("hero.usda", "/hero", Sdf.LayerOffset(offset=100.0))
        actor.SetInstanceable(True)
    shot.Save()
    clip = read_clip(tmp_path / "shot.usda", "/b/actor/body/coat")
    assert clip.frames[-1] == 104.5
    assert np.allclose(clip.animation.points[-1], skinned(POINTS, 90.0) + [0, 0, 20], atol=4e-6)


def test_a_blocked_binding_leaves_the_points_as_they_are(tmp_path: Path) -> None:
    character(tmp_path / "hero.usda").Save()
    over = Usd.Stage.CreateNew(str(tmp_path / "over.usda"))
    over.GetRootLayer().subLayerPaths.append("hero.usda")
    UsdGeom.SetStageMetersPerUnit(over, 1.0)  # a sublayer's does not count
    UsdSkel.BindingAPI(over.OverridePrim("/hero/body/coat")).CreateSkeletonRel().SetTargets([])
    over.Save()
    clip = read_clip(tmp_path / "over.usda")
    assert np.allclose(clip.animation.points, POINTS + [100, 0, 0])


def test_a_binding_outside_a_skel_root_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stage = character(tmp_path / "a.usda")
    stage.GetPrimAtPath("/hero").SetTypeName("Xform")
    stage.Save()
    with caplog.at_level(logging.WARNING):
        clip = read_clip(tmp_path / "a.usda")
    assert "not below a SkelRoot" in caplog.text
    assert np.allclose(clip.animation.points[0], POINTS + [100, 0, 0])
