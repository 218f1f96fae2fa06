"""OBJ: one file, numbered files, and every way they can be wrong."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from bunraku.contracts import InputError
from bunraku.geometry import TriMesh
from bunraku.io import input_files, read_animation, read_clip, read_mesh, write_animation, write_mesh
from bunraku.motion import Animation

SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def obj(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        SQUARE + "f 1 2 3\nf 1 3 4\n",
        SQUARE + "f 1 2 3 4",
        SQUARE.replace("\n", "\r\n") + "f 1/5/6 2//3 3/7 4\r\n",
        (SQUARE + "f -4 -3 -2 -1\n").replace("\n", "\r"),
        "# comment\nmtllib a.mtl\no thing\n" + SQUARE + "vt 0 0\nvn 0 0 1\nvp 1\ns off\nfo 1 2 3\nf 1 2 3 4 # last\n",
        "v 0 0 0 1\nv 1 0 0 1 # why\n v 1 1 0 1\n\tv 0 1 0 1\nf 1 2 \\\n3 4\n",
        "v 0 0 0 .5 .5 .5\nv 1 0 0 1 1 1\nv 1 1 0\nv 0 1 0\nl 1 2\nf 1 2 3 4\nseam 1\nstitch 2\n",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nf -3 -2 -1\nv 0 1 0\nf 1 -2 -1\n",
    ],
)
def test_dialects(tmp_path: Path, text: str) -> None:
    mesh = read_mesh(obj(tmp_path / "a.obj", text))
    assert mesh.rest.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_units_and_axis_are_the_caller_s(tmp_path: Path) -> None:
    path = obj(tmp_path / "a.obj", "v 0 0 0\nv 100 0 0\nv 0 0 100\nf 1 2 3\n")
    assert np.allclose(read_mesh(path, unit=0.01, up_axis="Z").rest[2], [0, 1, 0])


BROKEN = {
    "": "holds no vertices .got '0 bytes'",
    "hello": "holds no vertices",
    "v 0 0 0\nv 1 0 0\nv 1 1 0\n": "holds no faces",
    "v 0 0 0\nv 1 0\nv 1 1 0\nf 1 2 3": r"line 2: a vertex needs three coordinates \(got 'v 1 0'\)",
    "v 0 0 0\nv\nv 1 1 0\nf 1 2 3": "line 2: a vertex needs three coordinates",
    "v 0 0 0\nv 1 x 0\nv 1 1 0\nf 1 2 3": r"line 2: a vertex must be three numbers \(got 'v 1 x 0'\)",
    "v 0 0 0\nv 1 0 0\n# \nv 1 nan 0\nf 1 2 3": "vertices 2: coordinates are not finite",
    "v 0 0 0\nv 1 0 0\nv 1 inf 0\nf 1 2 3": "vertices 2: coordinates are not finite",
    SQUARE + "f 1 2\n": "line 5: a face needs three corners",
    SQUARE + "f\n": "line 5: a face needs three corners",
    SQUARE + "f 1 2 3\nf 1 2 b\n": "line 6: a face must be vertex numbers",
    SQUARE + "f 1 2 99999999999999999999999\n": "line 5: a face must be vertex numbers",
    SQUARE + "f 1 2 3\nf 1 2 5\n": "line 6: a face names vertex 5 of 4",
    SQUARE + "f 1 2 0\n": "line 5: a face names vertex 0 of 4",
    SQUARE + "f 1 2 -5\n": "line 5: a face names vertex -5 of 4",
    "v 0 0 0\nv 1 0 0\nv 1 1e12 0\nf 1 2 3": "too large .got '1e.12 m'",
    "v 0 0 0\nv 1e-12 0 0\nv 0 1e-12 0\nf 1 2 3": "too small",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_files_are_refused_with_file_and_line(tmp_path: Path, text: str) -> None:
    path = obj(tmp_path / "broken.obj", text)
    for read in (read_mesh, read_clip):
        with pytest.raises(InputError, match=BROKEN[text]) as caught:
            read(path)
        assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_prims_and_unreadable_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = obj(tmp_path / "a.obj", SQUARE + "f 1 2 3")
    with pytest.raises(InputError, match=r".obj files have no prim .got 'coat'"):
        read_mesh(path, "coat")
    with pytest.raises(InputError, match=r"b\.obj: there is no such file; try: did you mean 'a.obj'"):
        read_mesh(tmp_path / "b.obj")
    (tmp_path / "block1.toml").touch()  # near, but no mesh
    with pytest.raises(InputError, match=r"block\.obj: there is no such file; try: check the name"):
        read_mesh(tmp_path / "block.obj")
    (tmp_path / "block.ply").touch()  # the same in another format
    with pytest.raises(InputError, match=r"did you mean 'block\.ply'"):
        read_mesh(tmp_path / "block.obj")

    def forbidden(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    with pytest.raises(InputError, match=r"cannot be read .got 'Permission denied'"):
        read_mesh(path)
    with pytest.raises(InputError, match=r"cannot hold a mesh \(got '.abc'\)"):
        write_mesh(tmp_path / "a.abc", TriMesh(np.eye(3), np.array([[0, 1, 2]])))


def falling(folder: Path, frames: list[int], name: str = "fall.{:04d}.obj") -> Path:
    """Files of a square whose height is its frame number."""
    folder.mkdir(exist_ok=True)
    for frame in frames:
        obj(folder / name.format(frame), SQUARE.replace(" 0\n", f" {frame}\n") + "f 1 2 3 4\n")
    return folder


@pytest.mark.parametrize("how", ["", "fall.####.obj", "fall.%04d.obj", "fall.*.obj", "fall.0008.obj", "fall.#.obj"])
def test_a_sequence_may_be_named_in_many_ways(tmp_path: Path, how: str) -> None:
    folder = falling(tmp_path / "take", [8, 9, 10, 11])
    obj(folder / "notes.obj", "not numbered")
    path = folder / how if how else folder
    clip = read_clip(path, rate=30)
    assert clip.frames.tolist() == [8, 9, 10, 11]
    assert clip.animation.points[:, 0, 2].tolist() == [8, 9, 10, 11]
    assert clip.animation.times.tolist() == [8 / 30, 9 / 30, 10 / 30, 11 / 30]
    assert read_clip(path).rate == 24
    assert [file.name for file in input_files(path)] == [f"fall.{k:04d}.obj" for k in (8, 9, 10, 11)]
    if how != "fall.0008.obj":
        assert read_mesh(path).rest[0, 2] == 8


def test_a_first_file_starts_there(tmp_path: Path) -> None:
    folder = falling(tmp_path, [8, 9, 10])
    falling(tmp_path, [9, 11], "other{}.obj")
    assert read_clip(folder / "fall.0009.obj").frames.tolist() == [9, 10]
    assert read_mesh(folder / "fall.0009.obj").rest[0, 2] == 9


@pytest.mark.parametrize(
    ("name", "frames"),
    [("a.{:04d}.obj", [-2, -1, 0]), ("a-{:03d}.obj", [1, 2]), ("v2_{}_cloth.obj", [9, 10]), ("{}.OBJ", [1])],
)  # fmt: skip
def test_numbers_are_found_in_names(tmp_path: Path, name: str, frames: list[int]) -> None:
    assert read_clip(falling(tmp_path / "take", frames, name)).frames.tolist() == frames


def test_gaps_are_kept_and_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert read_clip(falling(tmp_path / "even", [0, 10, 20])).frames.tolist() == [0, 10, 20]
    assert caplog.text == ""
    assert read_clip(falling(tmp_path / "odd", [0, 1, 4, 5])).frames.tolist() == [0, 1, 4, 5]
    assert "missing after frame 1" in caplog.text


def test_one_file_is_one_frame(tmp_path: Path) -> None:
    path = obj(tmp_path / "still.obj", SQUARE + "f 1 2 3 4")
    assert read_animation(path).frame_count == 1
    assert read_clip(tmp_path).frames.tolist() == [0]


def test_topology_changes_are_refused_by_frame(tmp_path: Path) -> None:
    folder = falling(tmp_path / "take", [1, 2, 3])
    obj(folder / "fall.0003.obj", SQUARE + "v 5 5 5\nf 1 2 3 4")
    with pytest.raises(InputError, match=r"fall.0003.obj: the topology changes at frame 3 \(got '5 points"):
        read_clip(folder)
    obj(folder / "fall.0003.obj", SQUARE + "f 2 3 4 1")
    with pytest.raises(InputError, match=r"changes at frame 3 .*wired differently.*as in frame 1"):
        read_clip(folder)


def test_sequences_that_are_not_one_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for path in (empty, empty / "a.####.obj", empty / "a.*.obj", tmp_path / "no" / "a.####.obj"):
        with pytest.raises(InputError, match=r"no numbered file fits"):
            read_clip(path)
    folder = falling(falling(tmp_path / "two", [1, 2]), [1, 2], "body{}.obj")
    with pytest.raises(InputError, match=r"several sequences \(got 'body####.obj, fall.####.obj'\)"):
        read_clip(folder)
    folder = falling(falling(tmp_path / "twice", [1, 2]), [1], "fall.{}.obj")
    with pytest.raises(InputError, match=r"two files for frame 1 \(got 'fall.0001.obj, fall.1.obj'\)"):
        read_clip(folder)


def test_half_frames_have_no_file(wave: Animation, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.####\.obj: a file sequence has whole frame numbers only .got '500.5'"):
        write_animation(tmp_path / "a.####.obj", wave, rate=12)
    assert list(tmp_path.iterdir()) == []


def test_pc2_refusals(wave: Animation, tmp_path: Path) -> None:
    path = tmp_path / "a.pc2"
    write_animation(path, wave)
    whole = path.read_bytes()
    other = tmp_path / "other.obj"
    write_mesh(other, TriMesh(np.eye(3), np.array([[0, 1, 2]])))
    with pytest.raises(InputError, match=r"another vertex count than the mesh \(got 4\); allowed: 3 as other.obj has"):
        read_clip(path, faces=other)
    for broken, message in [
        (b"", "is not a PC2 file"),
        (b"POINTCACHE3" + whole[11:], "is not a PC2 file"),
        (whole[:-4], "is cut short .got '412 bytes'.; allowed: 416 bytes"),
        (whole[:28] + bytes(4) + whole[32:], "broken header"),
        (whole[:24] + bytes(4) + whole[28:], "broken header"),
    ]:
        path.write_bytes(broken)
        with pytest.raises(InputError, match=message):
            read_clip(path)
    path.with_suffix(".obj").unlink()
    with pytest.raises(InputError, match=r"a\.pc2: is a cache of points without faces.*faces = 'other.obj'"):
        read_clip(path)
    path.unlink()
    other.unlink()
    uneven = Animation(wave.mesh, np.array([0, 1, 3]) / 24, wave.points[:3])
    with pytest.raises(InputError, match=r"a\.pc2: PC2 samples must be evenly spaced"):
        write_animation(path, uneven)
    with pytest.raises(InputError, match=r"a\.abc: cannot hold an animation"):
        write_animation(tmp_path / "a.abc", wave)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "points", "faces"),
    [("meshes/horse", 6013, 12022), ("meshes/spot", 2930, 5856), ("garments/tshirt", 1921, 3726),
     ("garments/dress_sewing_panels", 15656, 29456), ("garments/makehuman_suit_male04", 1696, 3240)],
)  # fmt: skip
def test_real_meshes(data: Path, name: str, points: int, faces: int) -> None:
    mesh = read_mesh(data / f"{name}.obj")
    assert (mesh.point_count, len(mesh.faces)) == (points, faces)


def test_the_shirt_in_the_wind(data: Path) -> None:
    clip = read_clip(data / "sequences" / "tshirt_wind", rate=90)
    assert clip.frames.tolist() == list(range(0, 251, 10))
    assert clip.animation.points.shape == (26, 1426, 3)
    assert clip.animation.times[-1] == pytest.approx(250 / 90)


def test_the_kick(data: Path) -> None:
    folder = data / "sequences" / "kick_body"
    mesh = read_mesh(folder / "kick_body_frame0.obj")
    clip = read_clip(folder / "kick_body.pc2", rate=24, faces=folder / "kick_body_frame0.obj")
    assert clip.frames.tolist() == list(range(0, 61, 2)) and clip.animation.times[-1] == 2.5
    assert np.abs(clip.animation.points[0] - mesh.rest).max() < 1e-6
