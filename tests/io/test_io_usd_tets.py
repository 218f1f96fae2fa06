"""USD TetMesh prims: as others write them, and our own back, still and moving; refusals."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, Vt

from bunraku.contracts import InputError
from bunraku.geometry import TetMesh
from bunraku.io import read_animation, read_body_poses, read_clip, read_mesh, read_tets, write_animation, write_mesh
from bunraku.motion import Animation

REST = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]) + 1 / 3
BODY = TetMesh(REST, np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))


def authored(path: Path, tets: np.ndarray, *, up: str = "Y", unit: float = 1.0) -> tuple[Usd.Stage, UsdGeom.TetMesh]:
    """A file as another program might write it."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, unit)
    prim = UsdGeom.TetMesh.Define(stage, "/World/jelly")
    prim.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(REST.astype(np.float32)))
    prim.CreateTetVertexIndicesAttr(Vt.Vec4iArray.FromNumpy(tets.astype(np.int32)))
    return stage, prim


@pytest.mark.parametrize("name", ["a.usda", "a.usdc", "a.usd"])
def test_a_body_comes_back_exactly(tmp_path: Path, name: str) -> None:
    """The rest shape in double precision, far from the origin too; the same bytes again."""
    body = BODY.with_rest(REST + [0, 1e4, 0])
    write_mesh(tmp_path / name, body, unit="cm", up_axis="Z")
    back = read_tets(tmp_path / name)
    assert back.rest == pytest.approx(body.rest, abs=1e-11) and np.array_equal(back.tets, body.tets)
    (tmp_path / "again").mkdir()
    write_mesh(tmp_path / "again" / name, body, unit="cm", up_axis="Z")
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_what_is_written_is_good_usd(tmp_path: Path) -> None:
    """The schema's own functions agree about the surface, and find nothing inside out."""
    write_mesh(tmp_path / "a.usda", BODY)
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    prim = UsdGeom.TetMesh(stage.GetDefaultPrim().GetChildren()[0])
    code = Usd.TimeCode(0.0)
    theirs = np.asarray(UsdGeom.TetMesh.ComputeSurfaceFaces(prim, code))
    ours = np.asarray(prim.GetSurfaceFaceVertexIndicesAttr().Get())
    turned = lambda faces: {tuple(np.roll(f, -int(np.argmin(f))).tolist()) for f in faces}  # noqa: E731
    assert turned(theirs) == turned(ours) and len(ours) == 6
    assert not UsdGeom.TetMesh.FindInvertedElements(prim, code)


def test_motion_is_written_and_read(tmp_path: Path) -> None:
    """Frames, velocities and extents; other formats get the surface."""
    times = np.arange(5) / 24.0
    points = REST[None] * (1.0 + times[:, None, None])
    moving = Animation(BODY, times, points)  # pyright: ignore[reportArgumentType]
    write_animation(tmp_path / "a.usdc", moving, frames=np.arange(1001, 1006), prim="/shot/jelly")
    body, frames, poses = read_body_poses(tmp_path / "a.usdc", "jelly")
    assert frames.tolist() == [1001, 1002, 1003, 1004, 1005] and np.array_equal(body.tets, BODY.tets)
    assert poses == pytest.approx(points, abs=1e-6) and body.rest == pytest.approx(REST, abs=1e-12)
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    prim = UsdGeom.TetMesh(stage.GetPrimAtPath("/shot/jelly"))
    assert np.asarray(prim.GetVelocitiesAttr().Get(1003)) == pytest.approx(REST, abs=1e-5)
    assert np.asarray(prim.GetExtentAttr().Get(1001)) == pytest.approx(np.array([REST.min(0), REST.max(0)]))
    write_animation(tmp_path / "a.pc2", moving)
    back = read_animation(tmp_path / "a.pc2", unit="m")
    assert back.points == pytest.approx(points, abs=1e-6) and len(back.mesh.faces) == 6
    with pytest.raises(InputError, match="leave `like` out"):
        write_animation(tmp_path / "b.usdc", moving, like=read_clip(tmp_path / "a.pc2", unit="m"))


def test_files_of_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Units, axes, transforms, a mirrored body, inside-out tetrahedra, unused points."""
    stage, prim = authored(tmp_path / "a.usda", np.array([[0, 1, 3, 2]]), up="Z", unit=0.01)
    prim.AddTranslateOp().Set(Gf.Vec3d(5, 0, 0))
    prim.AddScaleOp().Set(Gf.Vec3f(-1, 2, 2))
    stage.Save()
    body = read_tets(tmp_path / "a.usda")
    local = REST[:4] * [-1, 2, 2] + [5, 0, 0]
    assert body.rest == pytest.approx(np.stack([local[:, 0], local[:, 2], -local[:, 1]], axis=1) * 0.01, abs=1e-7)
    assert (body.volumes > 0).all() and "1 node belongs to no tetrahedron" in caplog.text
    assert read_tets(tmp_path / "a.usda", unit="m", up_axis="Y").rest == pytest.approx(local, abs=1e-5)


def test_several_bodies_are_asked_about(tmp_path: Path) -> None:
    stage, _ = authored(tmp_path / "a.usda", BODY.tets)
    other = UsdGeom.TetMesh.Define(stage, "/World/pudding")
    other.CreatePointsAttr(Vt.Vec3fArray.FromNumpy((2 * REST).astype(np.float32)))
    other.CreateTetVertexIndicesAttr(Vt.Vec4iArray.FromNumpy(BODY.tets.astype(np.int32)))
    stage.Save()
    with pytest.raises(InputError, match=r"holds several solids .*jelly.*pudding"):
        read_tets(tmp_path / "a.usda")
    assert read_tets(tmp_path / "a.usda", "pudding").rest == pytest.approx(2 * REST, abs=1e-6)
    with pytest.raises(InputError, match="has no such solid"):
        read_tets(tmp_path / "a.usda", "soup")


def test_refusals(tmp_path: Path) -> None:
    write_mesh(tmp_path / "surface.usda", BODY.surface())
    with pytest.raises(InputError, match=r"holds no body of tetrahedra .*tetrahedralise that"):
        read_tets(tmp_path / "surface.usda")
    write_mesh(tmp_path / "body.usda", BODY)
    with pytest.raises(InputError, match="holds no mesh"):
        read_mesh(tmp_path / "body.usda")
    authored(tmp_path / "empty.usda", np.zeros((0, 4)))[0].Save()
    with pytest.raises(InputError, match="holds no tetrahedra"):
        read_tets(tmp_path / "empty.usda")
    authored(tmp_path / "stray.usda", np.array([[0, 1, 2, 9]]))[0].Save()
    with pytest.raises(InputError, match="name nodes that are not there"):
        read_tets(tmp_path / "stray.usda")
    stage, prim = authored(tmp_path / "changing.usda", BODY.tets)
    for frame, tets in ((1, BODY.tets), (2, BODY.tets[:1])):
        prim.GetTetVertexIndicesAttr().Set(Vt.Vec4iArray.FromNumpy(tets.astype(np.int32)), frame)
    stage.Save()
    with pytest.raises(InputError, match="topology changes at frame 2"):
        read_tets(tmp_path / "changing.usda")
    for call, story in (
        (lambda: read_tets(tmp_path / "none.usda"), "there is no such file"),
        (lambda: read_tets(tmp_path / "x.obj"), r"tetrahedralise\(read_mesh"),
        (lambda: read_body_poses(tmp_path / "x.msh"), "holds no moving body"),
        (lambda: write_mesh(tmp_path / "x.obj", BODY), "cannot hold tetrahedra"),
    ):
        with pytest.raises(InputError, match=story):
            call()
