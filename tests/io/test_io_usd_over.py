"""A take over the guide's own stage: the prim moved, or one beside it; nothing skinned twice, nothing lost."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdShade, UsdSkel, UsdValidation
from usd_scenes import BODY, FRAMES, character, character_points

from bunraku.contracts import InputError
from bunraku.direction.track import hierarchy
from bunraku.geometry import TriMesh
from bunraku.io import Clip, Outgoing, read_clip, write_animation, write_frames
from bunraku.motion import Animation


@pytest.fixture
def clip(tmp_path: Path) -> Clip:
    return read_clip(character(tmp_path))


def finer(clip: Clip, levels: int = 2) -> Animation:
    shell, tests = hierarchy(clip.mesh, levels)
    return Animation(shell, clip.animation.times, np.stack([tests.prolongation @ x for x in clip.animation.points]))


def complaints(path: Path) -> list[str]:
    """What `usdchecker` says."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    found = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(path)))
    return [f"{one.GetName()}: {one.GetMessage()}" for one in found]


def local_points(path: Path, prim: str, frame: float) -> np.ndarray:
    stage = Usd.Stage.Open(str(path))
    return np.array(UsdGeom.Mesh(stage.GetPrimAtPath(prim)).GetPointsAttr().Get(frame))


def test_the_character_is_read_as_worked_out_by_hand(clip: Clip) -> None:
    assert clip.prim_path == BODY and clip.frames.tolist() == list(FRAMES)
    for frame, points in zip(FRAMES, clip.animation.points, strict=True):
        assert np.abs(points - character_points(frame)).max() < 2e-7


def test_the_same_topology_moves_the_prim_and_is_not_skinned_twice(clip: Clip, tmp_path: Path) -> None:
    moved = Animation(clip.mesh, clip.animation.times, clip.animation.points + [0.0, 0.1, 0.0])
    path = tmp_path / "take.usdc"
    write_animation(path, moved, like=clip)
    again = read_clip(path)
    assert again.prim_path == BODY
    assert np.abs(again.animation.points - moved.points).max() < 2e-7
    stage = Usd.Stage.Open(str(path))
    body = stage.GetPrimAtPath(BODY)
    UsdSkel.BakeSkinning(Usd.PrimRange(stage.GetPrimAtPath("/World/hero")))
    baked = np.array(UsdGeom.Mesh(body).GetPointsAttr().Get(7.0))
    assert np.array_equal(baked, local_points(path, BODY, 7.0))
    assert body.GetAttribute("studio:note").Get() == "keep me"
    assert len(UsdGeom.Mesh(body).GetFaceVertexCountsAttr().Get()) == 16
    assert complaints(path) == []
    assert [complaints(tmp_path / name) for name in ("asset.usda", "shot.usda")] == [[], []]


def test_another_topology_stands_beside_and_carries_everything(clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "take.usda"
    write_animation(path, finer(clip), like=clip)
    again = read_clip(path)  # the guide is purpose guide now, so there is no question which mesh
    assert again.prim_path == f"{BODY}_bunraku"
    assert np.abs(again.animation.points - finer(clip).points).max() < 2e-7
    stage = Usd.Stage.Open(str(path))
    body, fine = stage.GetPrimAtPath(BODY), stage.GetPrimAtPath(f"{BODY}_bunraku")
    assert UsdGeom.Imageable(body).GetPurposeAttr().Get() == "guide"
    assert UsdGeom.Imageable(fine).GetPurposeAttr().Get() == "default"
    zone = np.array(UsdGeom.PrimvarsAPI(fine).GetPrimvar("zone").Get())
    assert zone.tolist() == np.repeat(np.arange(16), 32).tolist()
    assert list(UsdGeom.PrimvarsAPI(fine).GetPrimvar("word").Get())[31:33] == ["w0", "w1"]
    st = np.array(UsdGeom.PrimvarsAPI(fine).GetPrimvar("st").ComputeFlattened())
    corners = np.array(UsdGeom.Mesh(fine).GetFaceVertexIndicesAttr().Get())
    rest = np.array(UsdGeom.PrimvarsAPI(fine).GetPrimvar("rest").Get())
    assert np.allclose(st, rest[corners][:, :2] / 80, atol=1e-6)
    sleeve = UsdGeom.Subset(stage.GetPrimAtPath(f"{BODY}_bunraku/sleeve"))
    assert list(sleeve.GetIndicesAttr().Get()) == list(range(3 * 32))
    for prim in (fine, sleeve.GetPrim()):
        bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        assert str(bound.GetPath()) == "/World/hero/cloth"
    assert fine.GetAttribute("studio:note").Get() == "keep me"
    assert UsdGeom.Mesh(fine).GetDoubleSidedAttr().Get() is True
    assert "SkelBindingAPI" not in fine.GetAppliedSchemas()
    assert complaints(path) == []


@pytest.mark.parametrize("levels", [0, 1])
def test_every_sample_has_extent_normals_and_velocities_of_the_prims_own_space(
    clip: Clip, tmp_path: Path, levels: int
) -> None:
    path, prim = tmp_path / "take.usdc", BODY if levels == 0 else f"{BODY}_bunraku"
    write_animation(path, finer(clip, levels), like=clip)
    stage = Usd.Stage.Open(str(path))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(prim))
    assert mesh.GetNormalsInterpolation() == "vertex"
    for frame in (2.0, 5.0):
        points = np.array(mesh.GetPointsAttr().Get(frame))
        assert np.array_equal(mesh.GetExtentAttr().Get(frame), [points.min(axis=0), points.max(axis=0)])
        assert np.abs(np.linalg.norm(mesh.GetNormalsAttr().Get(frame), axis=1) - 1).max() < 1e-6
        # The parent turns, so local rates are not the world's: they must be the slope of the local points.
        after, before = (np.array(mesh.GetPointsAttr().Get(frame + step)) for step in (1, -1))
        slope = (after - before) / 2 * 24
        rates = np.array(mesh.GetVelocitiesAttr().Get(frame))
        assert np.abs(rates - slope).max() < 0.02 * np.abs(slope).max()
        assert np.abs(rates[0]).max() < 0.02 * np.abs(slope).max()  # hangs on the joint that stands still


def test_shutter_samples_lie_on_the_curve_and_whole_frames_stay(clip: Clip, tmp_path: Path) -> None:
    going = Outgoing.of(clip)
    samples = [
        going.sample(f, x, clip.animation.velocity(f / 24))
        for f, x in zip(clip.frames, clip.animation.points, strict=True)
    ]
    path = tmp_path / "take.usdc"
    write_frames(path, going.surface, samples, rate=24.0, up_axis="Z", unit="cm", onto=going.onto, shutter=(-0.25, 0.5))
    again = read_clip(path)
    assert again.frames[:6].tolist() == [0.75, 1.0, 1.5, 1.75, 2.0, 2.5] and again.frames[-1] == 10.5
    whole = np.isin(again.frames, clip.frames)
    assert np.abs(again.animation.points[whole] - clip.animation.points).max() < 2e-7
    between = again.animation.points[again.frames.tolist().index(4.5)]
    assert np.abs(between - clip.animation.at(4.5 / 24)).max() < 3e-7


@pytest.mark.parametrize("levels", [0, 1])
def test_value_clips_hold_a_frame_each_and_read_the_same(clip: Clip, tmp_path: Path, levels: int) -> None:
    going, motion = Outgoing.of(clip, levels), finer(clip, levels)
    samples = [going.sample(f, x * 1.01, None) for f, x in zip(clip.frames, motion.points, strict=True)]
    path = tmp_path / "heavy.usda"
    write_frames(path, going.surface, samples, rate=24.0, up_axis="Z", unit="cm", onto=going.onto, clips=True)
    assert len(list((tmp_path / "heavy_clips").glob("frame.*.usdc"))) == 10
    again = read_clip(path)
    assert again.frames.tolist() == clip.frames.tolist()
    assert np.abs(again.animation.points - motion.points * 1.01).max() < 2e-7
    prim = BODY if levels == 0 else f"{BODY}_bunraku"
    middle = 0.5 * (local_points(path, prim, 3.0) + local_points(path, prim, 4.0))
    assert np.abs(local_points(path, prim, 3.5) - middle).max() < 1e-5  # interpolated across files
    assert complaints(path) == []


def still_stage(folder: Path) -> tuple[Usd.Stage, UsdGeom.Mesh]:
    """guide.usda with one quad, two frames; the stage must be kept as long as the mesh."""
    stage = Usd.Stage.CreateNew(str(folder / "guide.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Y")
    mesh = UsdGeom.Mesh.Define(stage, "/quad")
    mesh.CreateFaceVertexCountsAttr([4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3])
    for frame in (1, 2):
        mesh.CreatePointsAttr().Set([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.1 * frame)], frame)
    return stage, mesh


def moved_and_read(folder: Path, guide: Usd.Stage) -> tuple[Clip, UsdGeom.Mesh, Usd.Stage]:
    guide.Save()
    clip = read_clip(folder / "guide.usda")
    shifted = Animation(clip.mesh, clip.animation.times, clip.animation.points + [0.0, 0.25, 0.0])
    write_animation(folder / "take.usda", shifted, like=clip)
    again = read_clip(folder / "take.usda")
    assert np.abs(again.animation.points - shifted.points).max() < 1e-6
    stage = Usd.Stage.Open(str(folder / "take.usda"))
    return again, UsdGeom.Mesh(stage.GetPrimAtPath("/quad")), stage


def test_a_subdivision_surface_stays_one(tmp_path: Path) -> None:
    guide, mesh = still_stage(tmp_path)
    mesh.CreateSubdivisionSchemeAttr("catmullClark")
    _, written, _stage = moved_and_read(tmp_path, guide)
    assert written.GetSubdivisionSchemeAttr().Get() == "catmullClark"
    assert not written.GetNormalsAttr().HasAuthoredValue()


def test_far_points_keep_their_digits(tmp_path: Path) -> None:
    guide, mesh = still_stage(tmp_path)
    for frame in (1, 2):
        mesh.GetPointsAttr().Set([(3e5 + x, y, 0.5 * frame) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))], frame)
    _, written, _stage = moved_and_read(tmp_path, guide)
    assert np.abs(np.array(written.GetPointsAttr().Get(1.0))).max() < 2.0


def test_mirrored_parents_and_left_handed_meshes_keep_their_sense(tmp_path: Path) -> None:
    guide, mesh = still_stage(tmp_path)
    mesh.CreateSubdivisionSchemeAttr("none")
    mesh.CreateOrientationAttr("leftHanded")
    mesh.AddScaleOp().Set(Gf.Vec3f(-1, 1, 1))
    again, written, _stage = moved_and_read(tmp_path, guide)
    assert again.surface.left_handed is False  # twice mirrored
    normal = np.array(written.GetNormalsAttr().Get(1.0))[0]
    points = np.array(written.GetPointsAttr().Get(1.0))
    wound = np.cross(points[1] - points[0], points[2] - points[0])
    assert normal @ wound < 0  # clockwise is outward in a left-handed mesh


def test_a_root_prim_makes_the_result_the_default(tmp_path: Path) -> None:
    guide, mesh = still_stage(tmp_path)
    guide.SetDefaultPrim(mesh.GetPrim())
    guide.Save()
    clip = read_clip(tmp_path / "guide.usda")
    write_animation(tmp_path / "take.usda", finer(clip, 1), like=clip)
    stage = Usd.Stage.Open(str(tmp_path / "take.usda"))
    assert str(stage.GetDefaultPrim().GetPath()) == "/quad_bunraku"
    assert stage.GetRootLayer().subLayerPaths[0] == "./guide.usda"


def test_the_artists_files_are_untouched(tmp_path: Path) -> None:
    path = character(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    clip = read_clip(path)
    write_animation(tmp_path / "take.usda", clip.animation, like=clip)
    assert {file: file.read_bytes() for file in before} == before


def test_a_layer_never_replaces_what_it_lies_over(clip: Clip, tmp_path: Path) -> None:
    for name in ("shot.usda", "asset.usda"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(InputError, match=f"{name}: (would overwrite|the layer would replace)"):
            write_animation(tmp_path / name, clip.animation, like=clip)
        assert (tmp_path / name).read_bytes() == before


def test_a_far_rest_shape_at_the_default_time_is_read_back(tmp_path: Path) -> None:
    guide, mesh = still_stage(tmp_path)
    corners = ((0, 0), (1, 0), (1, 1), (0, 1))
    mesh.GetPointsAttr().Set([(1000 + x, y, 0) for x, y in corners])
    for frame in (1, 2):
        mesh.GetPointsAttr().Set([(1000 + x, y, 0.5 * frame) for x, y in corners], frame)
    again, _, _stage = moved_and_read(tmp_path, guide)
    assert np.allclose(again.mesh.rest, [(1000 + x, y, 0) for x, y in corners])


def test_a_prim_carried_by_its_parent_has_no_velocity_of_its_own(tmp_path: Path) -> None:
    """The parent moves by 1 m a frame, also on the first and the last; the prim's own points stand still in it."""
    stage = Usd.Stage.CreateNew(str(tmp_path / "guide.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Y")
    parent = UsdGeom.Xform.Define(stage, "/car")
    slide = parent.AddTranslateOp()
    for frame in range(1, 6):
        slide.Set((float(frame), 0, 0), frame)
    mesh = UsdGeom.Mesh.Define(stage, "/car/flag")
    mesh.CreateFaceVertexCountsAttr([3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2])
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    stage.Save()
    clip = read_clip(tmp_path / "guide.usda")
    write_animation(tmp_path / "take.usda", clip.animation, like=clip)
    written = Usd.Stage.Open(str(tmp_path / "take.usda"))
    flag = UsdGeom.Mesh(written.GetPrimAtPath("/car/flag"))
    for frame in range(1, 6):
        assert np.abs(np.array(flag.GetVelocitiesAttr().Get(frame))).max() < 1e-4, frame  # [m/s] of 24


def test_another_rate_does_not_stretch_the_guides_time(clip: Clip, tmp_path: Path) -> None:
    faster = read_clip(clip.path, rate=30.0)
    write_animation(tmp_path / "take.usda", faster.animation, like=faster)
    again = read_clip(tmp_path / "take.usda")
    assert again.rate == 24.0 and again.frames.tolist() == clip.frames.tolist()
    assert np.abs(again.animation.points - clip.animation.points).max() < 2e-7


@pytest.mark.parametrize("levels", [0, 1])
def test_inherited_joints_do_not_move_the_result_again(tmp_path: Path, levels: int) -> None:
    path = character(tmp_path)
    asset = Usd.Stage.Open(str(tmp_path / "asset.usda"))
    body, root = asset.GetPrimAtPath("/char/body"), asset.GetPrimAtPath("/char")
    binding = UsdSkel.BindingAPI.Apply(root)
    binding.CreateSkeletonRel().SetTargets(["/char/skel"])
    binding.CreateJointIndicesPrimvar(True, 1).Set([1])
    binding.CreateJointWeightsPrimvar(True, 1).Set([1.0])
    for name in ("skel:skeleton", "primvars:skel:jointIndices", "primvars:skel:jointWeights"):
        body.RemoveProperty(name)
    asset.Save()
    clip = read_clip(path)
    moved = finer(clip, levels)
    write_animation(tmp_path / "take.usda", moved, like=clip)
    again = read_clip(tmp_path / "take.usda")
    assert np.abs(moved.points[-1] - moved.points[0]).max() > 0.05
    assert np.abs(again.animation.points - moved.points).max() < 1e-6
    assert complaints(tmp_path / "take.usda") == []


def test_a_flattened_prim_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    guide, mesh = still_stage(tmp_path)
    UsdGeom.Xformable(mesh).AddScaleOp().Set(Gf.Vec3f(1, 0, 1))
    guide.Save()
    clip = read_clip(tmp_path / "guide.usda")
    with pytest.raises(InputError, match=r"guide\.usda </quad>, frame 1: the transforms above the prim flatten it"):
        Outgoing.of(clip).check_place(clip.frames)


def test_a_mesh_wired_differently_is_not_written_like_the_clip(clip: Clip, tmp_path: Path) -> None:
    mesh = clip.mesh
    shuffled = TriMesh(mesh.rest[::-1], mesh.point_count - 1 - mesh.faces)
    other = Animation(shuffled, clip.animation.times, clip.animation.points[:, ::-1])
    with pytest.raises(InputError, match="is not that of `like`, nor a subdivision of it"):
        write_animation(tmp_path / "take.usda", other, like=clip)


def test_the_guides_accelerations_are_blocked(tmp_path: Path) -> None:
    guide, mesh = still_stage(tmp_path)
    mesh.CreateAccelerationsAttr([(9, 9, 9)] * 4)
    _, written, _stage = moved_and_read(tmp_path, guide)
    assert written.GetAccelerationsAttr().Get(1.0) is None


def test_the_default_prim_stays_the_guides_own(tmp_path: Path) -> None:
    guide, _ = still_stage(tmp_path)
    guide.SetDefaultPrim(UsdGeom.Xform.Define(guide, "/World").GetPrim())
    guide.Save()
    clip = read_clip(tmp_path / "guide.usda")
    write_animation(tmp_path / "take.usda", finer(clip, 1), like=clip)
    stage = Usd.Stage.Open(str(tmp_path / "take.usda"))
    assert str(stage.GetDefaultPrim().GetPath()) == "/World"
