"""What is written comes back: USD (text and crate), OBJ, PC2, for any mesh and motion."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bunraku.contracts import InputError
from bunraku.geometry import COLOUR, Attribute, Scope, Subset, TriMesh, of_triangles, unit_colours
from bunraku.io import (
    FrameCache,
    Sample,
    read_animation,
    read_clip,
    read_mesh,
    read_poses,
    read_surface,
    write_animation,
    write_frames,
    write_mesh,
)  # fmt: skip
from bunraku.motion import Animation

FLOAT32 = st.floats(-1000, 1000, width=32)
FLOAT64 = st.floats(-1e6, 1e6)


@st.composite
def moving(draw: st.DrawFn, numbers: st.SearchStrategy[float], *, even: bool = False) -> tuple[Animation, np.ndarray]:
    """An animation and its whole, increasing frame numbers."""
    n, f, t = draw(st.integers(3, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    faces = draw(hnp.arrays(np.int64, (f, 3), elements=st.integers(0, n - 1)))
    points = draw(hnp.arrays(np.float64, (t, n, 3), elements=numbers))
    rest = draw(hnp.arrays(np.float64, (n, 3), elements=numbers))
    assume(np.ptp(rest, axis=0).max() > 1e-3 and np.ptp(points, axis=1).max(axis=1).min() > 1e-3)
    steps = np.full(t, draw(st.integers(1, 3))) if even else draw(hnp.arrays(np.int64, t, elements=st.integers(1, 9)))
    frames = draw(st.integers(-50, 2000)) + np.cumsum(steps).astype(float)
    return Animation(TriMesh(rest, faces), frames / 24.0, points), frames


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
@settings(max_examples=20, deadline=None)
@given(case=moving(FLOAT32))
def test_usd_keeps_float32_exactly(suffix: str, case: tuple, tmp_path_factory: pytest.TempPathFactory) -> None:
    animation, frames = case
    path = tmp_path_factory.getbasetemp() / f"round{suffix}"
    write_animation(path, animation, frames=frames, rate=24.0, origin=(0, 0, 0))
    numbers, points = read_poses(path)
    assert np.array_equal(points, animation.points)
    assert np.array_equal(numbers, frames)
    surface = read_surface(path)
    assert np.array_equal(surface.points, animation.mesh.rest)
    assert np.array_equal(surface.corners.reshape(-1, 3), animation.mesh.faces)


@settings(max_examples=20, deadline=None)
@given(case=moving(FLOAT64))
def test_obj_sequence_keeps_float64_exactly(case: tuple, tmp_path_factory: pytest.TempPathFactory) -> None:
    animation, frames = case
    folder = tmp_path_factory.mktemp("sequence")
    write_animation(folder / "a.####.obj", animation, frames=frames)
    numbers, points = read_poses(folder / "a.####.obj", rate=24)
    assert np.array_equal(points, animation.points)
    assert np.array_equal(read_surface(folder).corners.reshape(-1, 3), animation.mesh.faces)
    assert np.array_equal(numbers, frames)


@settings(max_examples=20, deadline=None)
@given(case=moving(FLOAT32, even=True))
def test_pc2_keeps_float32_exactly(case: tuple, tmp_path_factory: pytest.TempPathFactory) -> None:
    animation, frames = case
    path = tmp_path_factory.getbasetemp() / "round.pc2"
    path.with_suffix(".obj").unlink(missing_ok=True)  # another mesh beside it would be spared
    write_animation(path, animation, frames=frames)
    numbers, points = read_poses(path, rate=24)
    assert np.array_equal(points, animation.points)
    assert np.array_equal(read_surface(path).points, animation.mesh.rest)
    assert np.array_equal(numbers, frames)


@pytest.mark.parametrize(("up_axis", "unit"), [("Z", 0.01), ("Y", 0.0254), ("Z", 1.0)])
@pytest.mark.parametrize("name", ["a.usdc", "a.pc2", "a.####.obj"])
def test_units_and_axes_written_are_read_back(
    wave: Animation, tmp_path: Path, up_axis: str, unit: float, name: str
) -> None:
    write_animation(tmp_path / name, wave, up_axis=up_axis, unit=unit)
    if name == "a.usdc":
        again = read_animation(tmp_path / name)
    else:
        again = read_animation(tmp_path / name, rate=24, unit=unit, up_axis=up_axis)
    assert np.allclose(again.points, wave.points, rtol=0, atol=1e-6)
    assert np.allclose(again.times, wave.times, rtol=0, atol=1e-12)


def test_mesh_written_is_read_back(quad: TriMesh, tmp_path: Path) -> None:
    write_mesh(tmp_path / "quad.obj", quad, up_axis="Z", unit=0.01)
    again = read_mesh(tmp_path / "quad.obj", up_axis="Z", unit=0.01)
    assert np.allclose(again.rest, quad.rest, rtol=0, atol=1e-15)
    assert np.array_equal(again.faces, quad.faces)


def test_folder_of_objs_is_made_and_read(wave: Animation, tmp_path: Path) -> None:
    write_animation(tmp_path / "take", wave)
    assert sorted(file.name for file in (tmp_path / "take").iterdir())[0] == "take.1001.obj"
    write_animation(tmp_path / "take", wave)  # again, into the folder that exists now
    assert np.array_equal(read_clip(tmp_path / "take").frames, np.arange(1001, 1009))


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
def test_the_same_animation_gives_the_same_bytes(wave: Animation, tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / "elsewhere" / f"second{suffix}"
    second.parent.mkdir()
    write_animation(first, wave)
    write_animation(second, wave)
    assert first.read_bytes() == second.read_bytes()
    assert list(tmp_path.glob(".*")) == [] and [file.name for file in second.parent.iterdir()] == [second.name]


def test_a_take_resumed_after_a_kill_is_the_same_bytes(wave: Animation, tmp_path: Path) -> None:
    def stitched(cache: FrameCache, path: Path) -> bytes:
        loaded = (cache.load(k) for k in cache.indices())
        samples = (Sample(meta["frame"], arrays["x"], arrays["v"]) for arrays, meta in loaded)
        write_frames(path, wave.mesh, samples, rate=24)
        return path.read_bytes()

    def run(cache: FrameCache, frames: range) -> None:
        for k in frames:
            x, v = wave.points[k] / 3, wave.velocity(wave.times[k])
            cache.store(k, {"x": x, "v": v}, {"frame": 1001.0 + k})

    straight, killed = FrameCache(tmp_path / "straight"), FrameCache(tmp_path / "killed")
    run(straight, range(8))
    run(killed, range(5))
    (tmp_path / "killed" / "frame_000004.bkframe").write_bytes(b"cut short")
    resumed = FrameCache(tmp_path / "killed")
    done = len(resumed.indices())
    assert done == 4
    run(resumed, range(done, 8))
    for file in (tmp_path / "straight").iterdir():
        assert file.read_bytes() == (tmp_path / "killed" / file.name).read_bytes()
    assert stitched(straight, tmp_path / "a.usdc") == stitched(resumed, tmp_path / "b.usdc")
    assert np.allclose(read_animation(tmp_path / "b.usdc").points, wave.points / 3, atol=1e-6)


def test_reading_sees_a_file_that_was_replaced_while_open_elsewhere(wave: Animation, tmp_path: Path) -> None:
    from pxr import Usd

    path = tmp_path / "a.usdc"
    write_animation(path, wave)
    held = Usd.Stage.Open(str(path))
    moved = Animation(wave.mesh, wave.times, wave.points + 1.0)
    write_animation(path, moved)
    assert np.allclose(read_animation(path).points, moved.points, atol=1e-6)
    assert held.GetRootLayer() is not None


@pytest.mark.parametrize("name", ["far.usdc", "far.usda", "far.pc2"])
def test_what_single_precision_cannot_hold_is_refused_and_not_written(tmp_path: Path, name: str):
    mesh = TriMesh(np.eye(3), np.array([[0, 1, 2]]))
    still = Animation(mesh, np.arange(2) / 24.0, np.stack([mesh.rest, mesh.rest]))
    for points, velocities in ((mesh.rest * 1e39, None), (mesh.rest, mesh.rest * 1e39)):
        samples = [Sample(1.0, mesh.rest, mesh.rest), Sample(2.0, points, velocities)]
        with pytest.raises(InputError, match=r"frame 2: .* too large for the file's single precision"):
            write_frames(tmp_path / name, mesh, samples, rate=24.0)
    with pytest.raises(InputError, match="the rest shape is too large"):
        write_frames(tmp_path / name, mesh.with_rest(mesh.rest * 1e39), [Sample(1.0, mesh.rest)], rate=24.0)
    assert not any(tmp_path.iterdir())
    write_animation(tmp_path / name, still)


def test_an_empty_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    mesh = TriMesh(np.eye(3), np.array([[0, 1, 2]]))
    with pytest.raises(InputError, match="the name of the file to write is empty"):
        write_animation("", Animation(mesh, np.arange(2) / 24.0, np.stack([mesh.rest, mesh.rest])))
    with pytest.raises(InputError, match="the name of the file to write is empty"):
        write_frames("", mesh, [Sample(1.0, mesh.rest)], rate=24.0)
    assert not any(tmp_path.iterdir())


def test_an_input_is_never_written_over(tmp_path: Path) -> None:
    for k in (1, 2):
        (tmp_path / f"a.{k:04d}.obj").write_text(f"v 0 0 {k}\nv 1 0 0\nv 0 1 0\nf 1 2 3\n# mine\n")
    clip = read_clip(tmp_path / "a.####.obj")
    with pytest.raises(InputError, match=r"a\.0001\.obj: would overwrite a file the clip was read from"):
        write_animation(tmp_path / "a.####.obj", clip.animation, like=clip)
    (tmp_path / "coat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n# the artist's own\n")
    with pytest.raises(InputError, match=r"coat\.obj: another mesh stands where the cache's rest shape goes"):
        write_animation(tmp_path / "coat.mdd", clip.animation)
    assert "the artist's own" in (tmp_path / "coat.obj").read_text() and not (tmp_path / "coat.mdd").exists()


def test_frames_of_an_mdd_are_whole_where_they_were(quad: TriMesh, tmp_path: Path) -> None:
    frames = np.arange(1001.0, 1009.0)
    motion = Animation(quad, frames / 24, np.repeat(quad.rest[None], 8, axis=0))
    write_animation(tmp_path / "a.mdd", motion, frames=frames, rate=24.0)
    assert read_clip(tmp_path / "a.mdd", rate=24.0).frames.tolist() == frames.tolist()


def test_a_far_glb_keeps_its_digits(quad: TriMesh, tmp_path: Path) -> None:
    far = quad.rest * 1e-3 + [20_000.0, 0.0, 0.0]
    motion = Animation(quad.with_rest(far), np.arange(2) / 24, np.stack([far, far + [0.0, 1e-3, 0.0]]))
    write_animation(tmp_path / "far.glb", motion)
    assert np.abs(read_poses(tmp_path / "far.glb", rate=24.0)[1] - motion.points).max() < 1e-8


@pytest.mark.parametrize("name", ["a.usda", "a.glb", "a.obj"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_colours_are_the_same_in_every_file(tmp_path: Path, name: str, dtype: type) -> None:
    most = np.iinfo(dtype).max
    colours = np.array([[most, most // 2, 0], [0, 0, most], [0, most, 0]], dtype=dtype)
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    surface = of_triangles(points, np.array([[0, 1, 2]]), [Attribute(COLOUR, Scope.POINT, colours)])
    write_mesh(tmp_path / name, surface)
    found = read_surface(tmp_path / name, unit="m").attribute(COLOUR)
    assert found is not None and np.abs(unit_colours(found.flat())[:, :3] - unit_colours(colours)).max() < 3e-3


def test_subsets_keep_their_names_through_usd(tmp_path: Path) -> None:
    subsets = (Subset("cuff", np.array([0])), Subset("denim", np.array([0, 1]), "material"))
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    surface = replace(of_triangles(points, np.array([[0, 1, 2], [1, 3, 2]])), subsets=subsets)
    for name in ("a.usda", "b.usda"):
        write_mesh(tmp_path / name, surface)
        surface = read_surface(tmp_path / name)
    assert {(one.name, one.family, tuple(one.polygons)) for one in surface.subsets} == {
        ("cuff", "group", (0,)), ("denim", "material", (0, 1))
    }  # fmt: skip


def test_numbers_usd_cannot_hold_are_left_out_with_a_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    big = Attribute("id", Scope.POINT, np.array([2**33, 1, 2]))
    small = Attribute("zone", Scope.POINT, np.array([5, 6, 7]))
    write_mesh(tmp_path / "a.usda", of_triangles(points, np.array([[0, 1, 2]]), [big, small]))
    found = read_surface(tmp_path / "a.usda")
    assert found.attribute("id") is None and "'id'" in caplog.text
    zone = found.attribute("zone")
    assert zone is not None and zone.flat().tolist() == [5, 6, 7]
