"""USD as other programs read it: what is authored, and where it cannot be written."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pxr import Tf, Usd, UsdGeom

from bunraku.contracts import InputError, OutputError
from bunraku.geometry import TriMesh
from bunraku.io import Sample, read_clip, write_animation, write_frames
from bunraku.io.usd import write
from bunraku.io.usd.stage import os_error
from bunraku.motion import Animation


def opened(path: Path, prim: str = "/bunraku/shell") -> tuple[Usd.Stage, UsdGeom.Mesh]:
    stage = Usd.Stage.Open(str(path))
    return stage, UsdGeom.Mesh(stage.GetPrimAtPath(prim))


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_metadata(wave: Animation, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    rate = 24000 / 1001
    ntsc = Animation(wave.mesh, np.arange(1001, 1009) / rate, wave.points)
    write_animation(path, ntsc, up_axis="Z", unit=0.01)
    stage, mesh = opened(path)
    assert stage.GetTimeCodesPerSecond() == rate and stage.GetFramesPerSecond() == rate
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (1001, 1008)
    assert (UsdGeom.GetStageUpAxis(stage), UsdGeom.GetStageMetersPerUnit(stage)) == ("Z", 0.01)
    assert stage.GetDefaultPrim().GetPath() == "/bunraku"
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    assert mesh.GetNormalsInterpolation() == "vertex"
    assert mesh.GetPointsAttr().GetTimeSamples() == [float(k) for k in range(1001, 1009)]


def test_every_sample_has_extent_normals_and_velocities_in_units_per_second(wave: Animation, tmp_path: Path) -> None:
    path = tmp_path / "a.usdc"
    write_animation(path, wave, unit=0.01)
    _, mesh = opened(path)
    for k, frame in enumerate(range(1001, 1009)):
        t = k / 24.0
        points = np.array(mesh.GetPointsAttr().Get(frame))
        assert np.allclose(points, 100 * (wave.mesh.rest + [0, 0.5 * t**2, 3 * t]), atol=1e-4)
        assert np.allclose(mesh.GetVelocitiesAttr().Get(frame), [0, 100 * t, 300], atol=1e-3)  # exact for parabolas
        assert np.allclose(mesh.GetNormalsAttr().Get(frame), [0, 0, 1])
        assert np.array_equal(mesh.GetExtentAttr().Get(frame), [points.min(axis=0), points.max(axis=0)])


def test_z_up_turns_points_normals_and_velocities(wave: Animation, tmp_path: Path) -> None:
    write_animation(tmp_path / "a.usda", wave, up_axis="Z")
    _, mesh = opened(tmp_path / "a.usda")
    assert np.allclose(mesh.GetPointsAttr().Get(1001)[3], [0, 0, 1])  # y = 1 is up
    assert np.allclose(mesh.GetNormalsAttr().Get(1001)[0], [0, -1, 0])
    assert np.allclose(mesh.GetVelocitiesAttr().Get(1001)[0], [0, -3, 0], atol=1e-6)


def test_velocities_given_are_written(wave: Animation, tmp_path: Path) -> None:
    given = np.random.default_rng(0).random(wave.points.shape)
    write_animation(tmp_path / "a.usdc", wave, velocities=given)
    _, mesh = opened(tmp_path / "a.usdc")
    assert np.allclose(mesh.GetVelocitiesAttr().Get(1004), given[3], atol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_a_stream_without_velocities_gets_those_of_the_animation(wave: Animation, tmp_path: Path, count: int) -> None:
    wild = Animation(
        wave.mesh, wave.times[:count], wave.points[:count] + np.random.default_rng(1).random((count, 4, 3))
    )
    write_frames(tmp_path / "a.usdc", wild.mesh, (Sample(1001 + k, wild.points[k]) for k in range(count)), rate=24)
    _, mesh = opened(tmp_path / "a.usdc")
    for k in range(count):
        assert np.allclose(mesh.GetVelocitiesAttr().Get(1001 + k), wild.velocity(wild.times[k]), atol=1e-4)


def test_samples_go_to_the_file_in_portions(wave: Animation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "_FLUSH_BYTES", 200)
    write_animation(tmp_path / "a.usdc", wave)
    assert np.allclose(read_clip(tmp_path / "a.usdc").animation.points, wave.points, atol=1e-6)


@pytest.mark.parametrize(("up_axis", "unit"), [("Y", 1.0), ("Z", 0.01)])
def test_far_from_the_origin_nothing_is_lost(quad: TriMesh, tmp_path: Path, up_axis: str, unit: float) -> None:
    place = np.array([1e6, -3e5, 7e5]) + 0.1234567
    points = np.stack([quad.rest + place, quad.rest + place + [0.01, 0.02, 0.03]])
    path = tmp_path / "far.usdc"
    write_animation(path, Animation(quad, np.array([0, 1 / 24]), points), up_axis=up_axis, unit=unit)
    again = read_clip(path)
    assert np.abs(again.animation.points - points).max() < 1e-6
    assert np.abs(again.mesh.rest - quad.rest).max() < 1e-6  # though the rest shape stayed at the world's origin
    _, mesh = opened(path)
    assert np.abs(mesh.GetPointsAttr().Get(0)).max() < 3 / unit
    assert mesh.GetPrim().GetAttribute("xformOp:translate").GetTypeName() == "double3"
    write_animation(path, Animation(quad, np.array([0, 1 / 24]), points), origin=(0, 0, 0))
    assert np.abs(read_clip(path).animation.points - points).max() > 1e-3  # what the origin is for


def test_near_the_origin_there_is_no_translation(wave: Animation, tmp_path: Path) -> None:
    write_animation(tmp_path / "a.usdc", wave)
    _stage, mesh = opened(tmp_path / "a.usdc")
    assert not mesh.GetOrderedXformOps()


def test_frames_and_rate_follow_from_the_times(wave: Animation, tmp_path: Path) -> None:
    path = tmp_path / "a.usdc"
    write_animation(path, wave)
    clip = read_clip(path)
    assert clip.frames.tolist() == list(range(1001, 1009)) and clip.rate == 24
    write_animation(path, wave, frames=2 * np.arange(8))
    assert read_clip(path).rate == 48
    write_animation(path, wave, rate=12)
    assert read_clip(path).frames.tolist() == [500.5 + k / 2 for k in range(8)]
    write_animation(path, Animation(wave.mesh, np.zeros(1), wave.points[:1]))
    assert read_clip(path).rate == 24
    write_animation(path, Animation(wave.mesh, np.array([0, 0.3, 0.7]), wave.points[:3]))
    assert np.allclose(read_clip(path).animation.times, [0, 0.3, 0.7], rtol=0, atol=1e-12)


def check_refused(message: str, path: Path, *args: object, **settings: object) -> None:
    """The write is refused and nothing is left at the path or beside it."""
    before = {file: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    with pytest.raises((InputError, OutputError), match=message) as caught:
        write_animation(path, *args, **settings)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert {file: file.read_bytes() for file in path.parent.iterdir() if file.is_file()} == before


def test_contradictory_requests_are_refused(wave: Animation, tmp_path: Path) -> None:
    path = tmp_path / "a.usdc"
    check_refused("frames and rate contradict", path, wave, frames=range(8), rate=30)
    check_refused("one finite number a time.*allowed: .8,", path, wave, frames=range(3))
    check_refused("one finite number a time", path, wave, frames=[np.nan] * 8)
    check_refused("frame rate must be positive", path, wave, rate=0)
    check_refused("frame numbers must increase", path, wave, frames=-np.arange(8.0))
    check_refused("the unit must be a positive length", path, wave, unit=-1)
    check_refused("unknown upAxis", path, wave, up_axis="X")
    check_refused("origin must be three finite numbers", path, wave, origin=(0, 0))
    check_refused("velocities must have the shape", path, wave, velocities=wave.points[:2])
    check_refused("is not a prim path.*try: '/my_shell'", path, wave, prim="my shell")
    check_refused("is not a prim path", path, wave, prim="/")
    check_refused("cannot hold an animation.*try: a.usdc", tmp_path / "a.usdz", wave)
    check_refused("cannot hold an animation.*try: a.####.obj", tmp_path / "a.obj", wave)


def test_points_that_are_not_finite_are_refused_by_frame(wave: Animation, tmp_path: Path) -> None:
    points = wave.points.copy()
    points[5, 2, 0] = np.nan
    (tmp_path / "a.usdc").write_text("what stood there before")
    check_refused("frame 1006: vertex 2 is not finite", tmp_path / "a.usdc", Animation(wave.mesh, wave.times, points))


def test_a_stream_of_nothing_or_of_another_mesh_is_refused(quad: TriMesh, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no frames to write"):
        write_frames(tmp_path / "a.usdc", quad, [], rate=24)
    samples = [Sample(1, quad.rest), Sample(2, quad.rest[:3])]
    with pytest.raises(InputError, match=r"frame 2: another vertex count \(got \(3, 3\)\); allowed: \(4, 3\)"):
        write_frames(tmp_path / "a.usdc", quad, samples, rate=24)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.usda", "a.usdc", "a.pc2", "a.####.obj", "folder"])
def test_an_interrupt_leaves_nothing(quad: TriMesh, tmp_path: Path, name: str) -> None:
    def interrupted() -> Iterator[Sample]:
        yield from (Sample(k, quad.rest) for k in range(5))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_frames(tmp_path / name, quad, interrupted(), rate=24)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.usda", "a.usdc", "a.pc2", "a.####.obj", "folder"])
def test_a_missing_folder_is_one_sentence(wave: Animation, tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"cannot be written: the folder does not exist; try"):
        write_animation(tmp_path / "nowhere" / name, wave)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.usda", "a.usdc", "a.pc2", "a.####.obj"])
def test_a_write_that_fails_half_way_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(0)
    mesh = TriMesh(rng.random((2000, 3)), rng.integers(0, 2000, (4000, 3)))
    big = Animation(mesh, np.arange(20) / 24.0, rng.random((20, 2000, 3)))
    target = tmp_path / name
    target.write_text("what stood there before")
    target = tmp_path / name if name != "a.####.obj" else tmp_path / "b.####.obj"
    resource = pytest.importorskip("resource")  # not on Windows
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(OutputError, match=r"cannot be written: the file would be larger than") as caught:
            write_animation(target, big)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "what stood there before"


def test_the_system_s_reason_is_found_in_usd_s() -> None:
    for code in (errno.ENOSPC, errno.EROFS, errno.EACCES):
        assert os_error(Tf.ErrorException(f"Error : 'Failed: {os.strerror(code)}'")).errno == code
    assert os_error(Tf.ErrorException("Error in 'f' : 'something else'")).strerror == "something else"
