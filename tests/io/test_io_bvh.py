"""BVH files: the grammar, the poses it means, the files of the wild, and broken ones."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hostile import mutations, survive
from scipy.spatial.transform import Rotation

import bunraku as bk
from bunraku.contracts import InputError
from bunraku.io import record_skeleton

FILES = {
    "cmu_88_01_backflip": (31, 96, 203, 120), "cmu_90_28_breakdance": (31, 96, 771, 120),
    "cmu_02_01_walk": (31, 96, 344, 120), "cmu_09_01_run": (31, 96, 149, 120),
    "cmu_13_11_forward_jump": (31, 96, 416, 120), "cmu_140_01_get_up": (31, 96, 831, 120),
    "fair_zombie_zup": (27, 84, 779, 30), "rokoko_dance": (60, 183, 1007, 100),
}  # fmt: skip
"""joints, channels, frames, frames per second"""

ARM = """\
HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Arm
  {
    OFFSET 1 0 0
    CHANNELS 3 Yrotation Zrotation Xrotation
    End Site
    {
      OFFSET 0.5 0 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.5
1 2 3 10 20 30 40 50 60
4 5 6 0 0 0 0 0 90
"""


def write(folder: Path, text: str, name: str = "arm.bvh") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_turns_come_in_the_order_of_the_channels(tmp_path: Path) -> None:
    skeleton = bk.read_skeleton(write(tmp_path, ARM), unit="m")
    assert skeleton.names == ("Hips", "Arm") and skeleton.parents.tolist() == [-1, 0] and skeleton.rate == 2.0
    hips, arm = skeleton.pose(0.0)
    np.testing.assert_allclose(hips[:3, 3], [1, 2, 3], atol=1e-15)  # position channels stand for the offset
    np.testing.assert_allclose(
        hips[:3, :3], Rotation.from_euler("ZYX", [10, 20, 30], degrees=True).as_matrix(), atol=1e-14
    )
    turn = Rotation.from_euler("YZX", [40, 50, 60], degrees=True).as_matrix()
    np.testing.assert_allclose(arm[:3, :3], hips[:3, :3] @ turn, atol=1e-14)
    np.testing.assert_allclose(arm[:3, 3], hips[:3, 3] + hips[:3, 0], atol=1e-14)


def test_the_bind_pose_is_that_of_the_offsets(tmp_path: Path) -> None:
    skeleton = bk.read_skeleton(write(tmp_path, ARM), unit="cm")
    np.testing.assert_allclose(skeleton.bind[:, :3, 3], [[0, 0.01, 0], [0.01, 0.01, 0]])
    assert (skeleton.bind[:, :3, :3] == np.eye(3)).all()
    bones = skeleton.bones()
    assert bones.joints.tolist() == [0, 1]
    np.testing.assert_allclose(bones.tails, [[0.01, 0.01, 0], [0.015, 0.01, 0]])


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("  ", "\t"),
        lambda text: text.replace("\n", "\n\n  \n"),
        lambda text: text.lower().replace("hips", "Hips").replace("arm", "Arm"),
        lambda text: text.upper().replace("HIPS", "Hips").replace("ARM", "Arm").replace("END SITE", "End site"),
        lambda text: re.sub(r"\n\s*\{", " {", text),
        lambda text: text.replace("Frames: 2", "Frames:2").replace("Frame Time: 0.5", "Frame Time:\t5.0e-1"),
        lambda text: text.replace("OFFSET 1 0 0", "OFFSET 1.0E+00 0e5 -0"),
        lambda text: "\ufeff" + text,
    ],
    ids=["crlf", "cr", "tabs", "blank lines", "small", "large", "braces", "header", "exponents", "mark"],
)  # fmt: skip
def test_the_same_in_other_spellings(tmp_path: Path, change) -> None:
    plain = bk.read_skeleton(write(tmp_path, ARM), unit="m")
    other = bk.read_skeleton(write(tmp_path, change(ARM), "other.bvh"), unit="m")
    assert other.names == plain.names and other.rate == plain.rate
    assert (other.worlds(other.times) == plain.worlds(plain.times)).all() and (other.tips == plain.tips).all()


def test_several_roots_names_of_words_and_joints_of_any_channels(tmp_path: Path) -> None:
    text = """HIERARCHY ROOT left hand { OFFSET 1 0 0 CHANNELS 1 Yposition JOINT a { OFFSET 0 1 0 CHANNELS 0 }
    JOINT b { OFFSET 0 2 0 } } ROOT prop { OFFSET 0 0 3 CHANNELS 2 Zrotation Xposition End Site { OFFSET 0 1 0 } }
    MOTION
    Frames: 1
    Frame Time: 0.0083333
    7 90 5
    """
    skeleton = bk.read_skeleton(write(tmp_path, text), unit="m")
    assert skeleton.names == ("left hand", "a", "b", "prop") and skeleton.parents.tolist() == [-1, 0, 0, -1]
    np.testing.assert_allclose(skeleton.pose(0.0)[:, :3, 3], [[1, 7, 0], [1, 8, 0], [1, 9, 0], [5, 0, 3]])
    np.testing.assert_allclose(skeleton.pose(0.0)[3, :3, 0], [0, 1, 0], atol=1e-15)
    assert skeleton.rate == 120.0


@pytest.mark.parametrize(
    ("written", "rate"),
    [("0.0333333", 30), ("0.033367", 30000 / 1001), ("0.0416667", 24), ("0.04", 25), ("0.0333", 30),
     ("1.7e-2", 1 / 0.017), ("0.017", 60), ("0.01700", 1 / 0.017), ("0.5", 2), ("0.0166833", 60000 / 1001)],
)  # fmt: skip
def test_the_rate_is_a_usual_one_where_the_digits_allow_it(tmp_path: Path, written: str, rate: float) -> None:
    skeleton = bk.read_skeleton(write(tmp_path, ARM.replace("0.5\n1", f"{written}\n1")), unit="m")
    assert skeleton.rate == pytest.approx(rate, rel=1e-12)


def test_a_file_without_frames_rests(tmp_path: Path) -> None:
    skeleton = bk.read_skeleton(write(tmp_path, ARM.split("Frames")[0] + "Frames: 0\nFrame Time: 0.5\n"), unit="m")
    assert (skeleton.pose(0.0) == skeleton.bind).all() and len(skeleton.times) == 1


def test_z_up_turns_bind_pose_and_motion(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    plain, turned = bk.read_skeleton(path, unit="cm"), bk.read_skeleton(path, unit="cm", up_axis="Z")
    turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0.0]])
    for a, b in ((plain.bind, turned.bind), (plain.pose(0.2), turned.pose(0.2))):
        np.testing.assert_allclose(b[:, :3], turn @ a[:, :3], atol=1e-15)


BROKEN = {
    "unclosed": (lambda text: text.replace("  }\n}\n", "}\n"), "line 14", "'Hips' is opened on line 2"),
    "one brace too many": (lambda text: text.replace("}\nMOTION", "}\n}\nMOTION"), "line 16", "too many"),
    "unknown channel": (
        lambda text: text.replace("Yrotation Zrotation", "Wrotation Zrotation"), "line 9", "unknown channel"),
    "channel twice": (lambda text: text.replace("Yrotation Zrotation", "Zrotation Zrotation"), "line 9", "twice"),
    "too many channels": (lambda text: text.replace("CHANNELS 3", "CHANNELS 7"), "line 9", "number"),
    "fewer channels than said": (lambda text: text.replace("CHANNELS 3", "CHANNELS 4"), "line 10", "unknown channel"),
    "joint first": (lambda text: text.replace("ROOT", "JOINT"), "line 2", "before any ROOT"),
    "root inside": (lambda text: text.replace("JOINT", "ROOT"), "line 6", "inside 'Hips'"),
    "no offset": (lambda text: text.replace("    OFFSET 1 0 0\n", ""), "line 13", "'Arm' of line 6 has no OFFSET"),
    "two offsets": (lambda text: text.replace("OFFSET 1 0 0", "OFFSET 1 0 0 OFFSET 1 0 0"), "line 8", "second OFFSET"),
    "short offset": (lambda text: text.replace("OFFSET 1 0 0", "OFFSET 1 0"), "line 9", "OFFSET needs"),
    "offset nan": (lambda text: text.replace("OFFSET 1 0 0", "OFFSET 1 nan 0"), "line 8", "OFFSET needs"),
    "tip with channels": (
        lambda text: text.replace("OFFSET 0.5 0 0", "OFFSET 0.5 0 0\nCHANNELS 1 Xrotation"), "line 13", "no channels"),
    "tip with a joint": (
        lambda text: text.replace("OFFSET 0.5 0 0", "OFFSET 0.5 0 0\nJOINT b { }"), "line 13", "nothing but"),
    "no name": (lambda text: text.replace("JOINT Arm", "JOINT"), "line 6", "needs a name"),
    "unknown word": (lambda text: text.replace("  JOINT Arm", "  SCALE 2\n  JOINT Arm"), "line 6", "unknown word"),
    "short row": (lambda text: text.replace("4 5 6 0", "4 5 6"), "line 20", "frame 1"),
    "long row": (lambda text: text.replace("50 60", "50 60 70"), "line 19", "frame 0"),
    "fewer rows": (lambda text: text.replace("Frames: 2", "Frames: 3"), "line 17", "number of frames"),
    "more rows": (lambda text: text.replace("Frames: 2", "Frames: 1"), "line 17", "number of frames"),
    "two thousand million frames": (lambda text: text.replace("Frames: 2", "Frames: 2000000000"), "line 17", "frames"),
    "no count": (lambda text: text.replace("Frames: 2", "Frames: two"), "line 17", "whole number"),
    "minus frames": (lambda text: text.replace("Frames: 2", "Frames: -2"), "line 17", "whole number"),
    "nan": (lambda text: text.replace("4 5 6", "4 nan 6"), "line 20", "finite"),
    "infinite": (lambda text: text.replace("4 5 6", "4 1e999 6"), "line 20", "finite"),
    "a word": (lambda text: text.replace("4 5 6", "4 x 6"), "line 20", "not a number"),
    "no time": (lambda text: text.replace("Time: 0.5", "Time: 0"), "line 18", "frame time"),
    "time backwards": (lambda text: text.replace("Time: 0.5", "Time: -1"), "line 18", "frame time"),
    "no motion": (lambda text: text.split("MOTION")[0], "line 16", "no MOTION"),
    "no header": (lambda text: text.split("Frames")[0], "line 17", "followed by"),
    "no hierarchy": (lambda text: text.replace("HIERARCHY", "HIERARKY"), "line 1", "HIERARCHY"),
    "no root": (lambda text: "HIERARCHY\n" + text[text.index("MOTION"):], "line 1", "no ROOT"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_with_their_line(tmp_path: Path, name: str) -> None:
    change, line, words = BROKEN[name]
    text = change(ARM)
    assert text != ARM
    with pytest.raises(InputError) as refusal:
        bk.read_skeleton(write(tmp_path, text), unit="m")
    said = str(refusal.value)
    assert words in said and f"arm.bvh, {line}" in said and "\n" not in said, said


@pytest.mark.parametrize("data", [b"", b" \n", b"\0\xff\x80" * 100, b"HIERARCHY"])
def test_empty_files_and_junk_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "junk.bvh"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"junk\.bvh"):
        bk.read_skeleton(path)


def test_ten_thousand_levels_are_read(tmp_path: Path) -> None:
    depth = 10_000
    text = "HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 1 Xposition\n"
    text += "JOINT b { OFFSET 0 1e-3 0\n" * depth + "}" * (depth + 1)
    skeleton = bk.read_skeleton(write(tmp_path, text + "\nMOTION\nFrames: 1\nFrame Time: 1\n2\n"), unit="m")
    assert skeleton.joint_count == depth + 1
    np.testing.assert_allclose(skeleton.pose(0.0)[-1, :3, 3], [2, 1e-3 * depth, 0], rtol=1e-9)


def test_too_many_poses_for_a_small_file_are_refused(tmp_path: Path) -> None:
    joints, frames = 10_000, 5_000
    text = "HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 1 Xposition\n" + "JOINT b { OFFSET 0 0 0 }\n" * joints + "}\n"
    with pytest.raises(InputError, match="too many frames and joints"):
        bk.read_skeleton(write(tmp_path, text + f"MOTION\nFrames: {frames}\nFrame Time: 1\n" + "2\n" * frames))


@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_broken_bytes_give_sentences(tmp_path: Path, count: int) -> None:
    refused = survive(lambda path: bk.read_skeleton(path, unit="m"), tmp_path / "mutant.bvh", ARM.encode(), count)
    assert refused > count // 2


def test_other_readers_point_here(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    for read in (bk.read_animation, bk.read_mesh, bk.read_clip):
        with pytest.raises(InputError, match="read_skeleton"):
            read(path)
    with pytest.raises(InputError, match="holds no skeleton"):
        bk.read_skeleton(tmp_path / "a.obj")
    with pytest.raises(InputError, match="no such file"):
        bk.read_skeleton(tmp_path / "arms.bvh")
    with pytest.raises(InputError, match="leave clip out"):
        bk.read_skeleton(path, clip="walk")


@pytest.mark.parametrize("name", FILES)
def test_files_of_the_wild(data: Path, name: str) -> None:
    joints, channels, frames, rate = FILES[name]
    path = data / "mocap" / f"{name}.bvh"
    found = record_skeleton(path)
    skeleton = found.skeleton
    assert (skeleton.joint_count, len(skeleton.times), skeleton.rate) == (joints, frames, float(rate))
    assert sum(int(n) for n in re.findall(r"CHANNELS (\d)", path.read_text())) == channels
    assert found.meters_per_unit is None
    worlds = skeleton.worlds(skeleton.times)
    np.testing.assert_allclose(np.linalg.det(worlds[..., :3, :3]), 1.0, atol=1e-12)
    # Bones keep their length: only roots have position channels here.
    child = np.flatnonzero(skeleton.parents >= 0)
    places = worlds[..., :3, 3]
    span = np.linalg.norm(places[:, child] - places[:, skeleton.parents[child]], axis=2)
    np.testing.assert_allclose(span, np.broadcast_to(span[:1], span.shape), atol=1e-10)


def test_people_stand_upright(data: Path) -> None:
    """The head above the hips, on the first frame: axes and orders are those of the file."""
    for name, unit, up in (
        ("cmu_02_01_walk", 0.0564, "Y"),
        ("fair_zombie_zup", 0.0254, "Z"),
        ("rokoko_dance", "cm", "Y"),
    ):
        skeleton = bk.read_skeleton(data / "mocap" / f"{name}.bvh", unit=unit, up_axis=up)
        pose = skeleton.pose(skeleton.times[1])[:, :3, 3]
        head, hips = (pose[next(k for k, one in enumerate(skeleton.names) if one == part)] for part in ("Head", "Hips"))
        rise = head - hips
        assert 0.35 < rise[1] < 0.9 and rise[1] > 0.9 * np.linalg.norm(rise), (name, rise)


def test_broken_skins_give_sentences(data: Path, tmp_path: Path) -> None:
    """Mutations of the JSON of a skinned glTF file, its bytes kept: one sentence or a skeleton."""
    whole = (data / "sequences/fox.glb").read_bytes()
    length = int.from_bytes(whole[12:16], "little")
    text, rest = whole[20 : 20 + length], whole[20 + length :]
    skins = text.index(b'"skins"')
    path, refused = tmp_path / "fox.glb", 0
    for number, part in enumerate(mutations(text[max(0, skins - 3000) : skins + 3000], 150, 5)):
        mutant = text[: max(0, skins - 3000)] + part + text[skins + 3000 :]
        mutant += b" " * (-len(mutant) % 4)
        size = 20 + len(mutant) + len(rest)
        head = whole[:8] + size.to_bytes(4, "little") + len(mutant).to_bytes(4, "little") + whole[16:20]
        path.write_bytes(head + mutant + rest)
        for read in (bk.read_skeleton, bk.read_rig):
            try:
                read(path, clip="Walk")
            except InputError as error:
                refused += 1
                assert "\n" not in str(error), (number, str(error))
    assert refused > 50


def test_one_joint_that_only_turns_is_a_skeleton(tmp_path: Path) -> None:
    path = tmp_path / "wheel.bvh"
    path.write_text(
        "HIERARCHY\nROOT hub { OFFSET 0 0 0 CHANNELS 1 Zrotation End Site { OFFSET 0 1 0 } }\n"
        "MOTION\nFrames: 2\nFrame Time: 0.5\n0\n90\n"
    )
    skeleton = bk.read_skeleton(path, unit="m")
    assert skeleton.joint_count == 1
    assert np.allclose(skeleton.pose(0.5)[0, :3, 1], [-1.0, 0.0, 0.0], atol=1e-12)
