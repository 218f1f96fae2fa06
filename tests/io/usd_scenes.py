"""Stages as a pipeline makes them: a skinned character in an asset file, referenced as an instance into a shot."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt

COLUMNS, ROWS = 9, 3
FRAMES = range(1, 11)
BEND = 5.0  # [degree/frame] of the second joint
BODY = "/World/hero/body"


def strip_points() -> np.ndarray:
    """(27, 3) [cm] a strip along x, flat in z."""
    return np.array([(10.0 * i, 10.0 * j, 0.0) for i in range(COLUMNS) for j in range(ROWS)])


def _strip(stage: Usd.Stage, path: str) -> UsdGeom.Mesh:
    """16 quads with texture coordinates, labels, words, a material and a subset."""
    mesh = UsdGeom.Mesh.Define(stage, path)
    quads = [
        (a, a + ROWS, a + ROWS + 1, a + 1) for a in (i * ROWS + j for i in range(COLUMNS - 1) for j in range(ROWS - 1))
    ]
    points = strip_points()
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points.astype(np.float32)))
    mesh.CreateFaceVertexCountsAttr([4] * len(quads))
    mesh.CreateFaceVertexIndicesAttr([k for quad in quads for k in quad])
    mesh.CreateSubdivisionSchemeAttr("none")
    mesh.CreateDoubleSidedAttr(True)
    primvars = UsdGeom.PrimvarsAPI(mesh)
    st = primvars.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "faceVarying")
    st.Set([Gf.Vec2f(*(points[k, :2] / 80)) for quad in quads for k in quad])
    primvars.CreatePrimvar("zone", Sdf.ValueTypeNames.IntArray, "uniform").Set(list(range(len(quads))))
    primvars.CreatePrimvar("word", Sdf.ValueTypeNames.StringArray, "uniform").Set([f"w{k}" for k in range(len(quads))])
    mesh.GetPrim().CreateAttribute("studio:note", Sdf.ValueTypeNames.String, custom=True).Set("keep me")
    cloth = UsdShade.Material.Define(stage, "/char/cloth")
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(cloth)
    sleeve = UsdGeom.Subset.CreateGeomSubset(mesh, "sleeve", "face", Vt.IntArray([0, 1, 2]), "materialBind")
    UsdGeom.Subset.SetFamilyType(mesh, "materialBind", "nonOverlapping")
    UsdShade.MaterialBindingAPI.Apply(sleeve.GetPrim()).Bind(cloth)
    return mesh


def _skeleton(stage: Usd.Stage, mesh: UsdGeom.Mesh) -> None:
    """Two joints; the second bends about y. Columns before the fifth hang on the first."""
    joints = ["a", "a/b"]
    bind = [Gf.Matrix4d(1), Gf.Matrix4d(1).SetTranslate((40, 0, 0))]
    skeleton = UsdSkel.Skeleton.Define(stage, "/char/skel")
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateBindTransformsAttr(bind)
    skeleton.CreateRestTransformsAttr(bind)
    motion = UsdSkel.Animation.Define(stage, "/char/anim")
    motion.CreateJointsAttr(joints)
    for frame in FRAMES:
        turn = Gf.Quatf(Gf.Rotation(Gf.Vec3d(0, 1, 0), -BEND * (frame - 1)).GetQuat())
        motion.CreateTranslationsAttr().Set([Gf.Vec3f(0), Gf.Vec3f(40, 0, 0)], frame)
        motion.CreateRotationsAttr().Set([Gf.Quatf(1), turn], frame)
        motion.CreateScalesAttr().Set([Gf.Vec3h(1), Gf.Vec3h(1)], frame)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/char/anim"])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/char/skel"])
    first = strip_points()[:, 0] < 40
    binding.CreateJointIndicesPrimvar(False, 2).Set([0, 1] * len(first))
    binding.CreateJointWeightsPrimvar(False, 2).Set([w for one in first for w in ((1.0, 0.0) if one else (0.0, 1.0))])
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1))


def character(folder: Path) -> Path:
    """shot.usda, cm and Z-up: asset.usda as an instance at (100, 0, 50) that turns by 3° a frame about z."""
    for name in ("asset.usda", "shot.usda"):
        stage = Usd.Stage.CreateNew(str(folder / name))
        UsdGeom.SetStageUpAxis(stage, "Z")
        UsdGeom.SetStageMetersPerUnit(stage, 0.01)
        stage.SetTimeCodesPerSecond(24)
        if name == "asset.usda":
            root = UsdSkel.Root.Define(stage, "/char")
            _skeleton(stage, _strip(stage, "/char/body"))
        else:
            root = UsdGeom.Xform.Define(stage, "/World")
            stage.SetStartTimeCode(FRAMES[0])
            stage.SetEndTimeCode(FRAMES[-1])
            hero = stage.DefinePrim("/World/hero")
            hero.GetReferences().AddReference("./asset.usda")
            hero.SetInstanceable(True)
            place = UsdGeom.Xformable(hero)
            place.AddTranslateOp().Set((100, 0, 50))
            turn = place.AddRotateZOp()
            for frame in FRAMES:
                turn.Set(3.0 * frame, frame)
        stage.SetDefaultPrim(root.GetPrim())
        stage.Save()
    return folder / "shot.usda"


def character_points(frame: float) -> np.ndarray:
    """(27, 3) [m, Y-up] of the character's strip, worked out by hand."""
    local = strip_points()
    bent = local[:, 0] >= 40
    angle = np.radians(-BEND * (frame - 1))
    c, s = np.cos(angle), np.sin(angle)
    reach = local[bent, 0] - 40
    local[bent, 0], local[bent, 2] = 40 + c * reach, -s * reach
    c, s = np.cos(np.radians(3.0 * frame)), np.sin(np.radians(3.0 * frame))
    world = np.stack([c * local[:, 0] - s * local[:, 1] + 100, s * local[:, 0] + c * local[:, 1], local[:, 2] + 50], 1)
    return np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1) / 100
