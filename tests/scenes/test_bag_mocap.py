"""The bag driven by a skeleton: a simple one made here, and a backflip of the CMU library where it lies beside."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku import Animation, Contact, InputError, ShellMaterial, Skeleton, hierarchy, read_skeleton, track
from bunraku.cli import main
from bunraku.geometry import intersecting_faces
from bunraku.scenes import bag_mesh, mocap_bag
from bunraku.shots import DEMOS, write_demo

MOCAP = Path(__file__).parents[3] / "shared/data/mocap"
BACKFLIP = MOCAP / "cmu_88_01_backflip.bvh"

BVH = """\
HIERARCHY
ROOT Hips
{
 OFFSET 0 90 0
 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
 JOINT Spine1 { OFFSET 0 40 0 CHANNELS 3 Zrotation Xrotation Yrotation
  JOINT LeftHand { OFFSET 60 10 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 10 0 0 } }
  JOINT RightHand { OFFSET -60 10 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET -10 0 0 } }
 }
 JOINT LeftFoot { OFFSET 10 -90 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 0 10 } }
 JOINT RightFoot { OFFSET -10 -90 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 0 10 } }
}
MOTION
Frames: 3
Frame Time: 0.0416666666667
"""


def _skeleton(folder: Path, roots: list[str]) -> Skeleton:
    path = folder / "tiny.bvh"
    path.write_text(BVH + "".join(f"{root} {'0 ' * 15}\n" for root in roots))
    return read_skeleton(path, unit="cm")


def test_a_body_that_only_moves_carries_the_bag_as_it_is(tmp_path: Path) -> None:
    """Hips 0.9 m up become hips at two fifths of the bag's height; everything shrinks alike."""
    guide = mocap_bag(_skeleton(tmp_path, ["0 90 0 0 0 0", "0 90 9 0 0 0", "0 99 18 0 0 0"]))
    rest = bag_mesh().rest
    scale = 0.4 * np.ptp(rest[:, 1]) / 0.9
    assert guide.frame_count == 3 and guide.times == pytest.approx(np.arange(3) / 24.0)
    for points, move in zip(guide.points, ([0, 0, 0], [0, 0, 0.09], [0, 0.09, 0.18]), strict=True):
        assert points == pytest.approx(rest + scale * np.array(move), abs=1e-9)


def test_a_file_whose_z_is_up_is_refused_with_the_axis_and_read_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(x, y, z) of the file stands for (x, z, −y): the bag moves as by the same file with Y up."""
    plain = mocap_bag(_skeleton(tmp_path, ["0 90 0 0 0 0", "0 90 9 0 0 0", "0 99 18 0 0 0"]))
    offsets = re.compile(r"OFFSET (\S+) (\S+) (\S+)")
    turned = offsets.sub(lambda one: f"OFFSET {one[1]} {-float(one[3]):g} {one[2]}", BVH)
    path = tmp_path / "zup.bvh"
    path.write_text(
        turned + "".join(f"{root} {'0 ' * 15}\n" for root in ("0 0 90 0 0 0", "0 -9 90 0 0 0", "0 -18 99 0 0 0"))
    )
    with pytest.raises(InputError, match=r"does not stand upright along Y .*--up-axis Z"):
        write_demo("bag", tmp_path / "y", path)
    assert mocap_bag(read_skeleton(path, unit="cm", up_axis="Z")).points == pytest.approx(plain.points, abs=1e-9)
    write_demo("bag", tmp_path / "z", path, "Z")
    assert (tmp_path / "z/bag_mocap_guide.usda").exists()
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "bag", "--mocap", str(path)]) == 2


def test_it_begins_facing_the_front_whatever_the_unit_and_the_heading(tmp_path: Path) -> None:
    plain = mocap_bag(_skeleton(tmp_path, ["0 90 0 0 0 0", "0 90 5 0 20 0", "0 90 9 0 40 0"]))
    quarter = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    skeleton = _skeleton(tmp_path, ["0 90 0 0 0 0", "0 90 5 0 20 0", "0 90 9 0 40 0"])
    turned = replace(skeleton.turned(quarter).scaled(100.0), bind=skeleton.scaled(100.0).bind)
    assert mocap_bag(turned).points == pytest.approx(plain.points, abs=1e-9)
    assert np.ptp(plain.points[2] - plain.points[0], axis=0).max() > 0.1


def test_a_t_pose_put_before_the_motion_is_left_out(tmp_path: Path) -> None:
    guide = mocap_bag(_skeleton(tmp_path, ["0 90 0 0 0 0", "40 90 0 0 0 0", "40 90 5 0 0 0"]))
    assert guide.frame_count == 2


def test_joints_that_are_missing_are_named(tmp_path: Path) -> None:
    skeleton = _skeleton(tmp_path, ["0 90 0 0 0 0"] * 3)
    names = tuple("tail" if name == "LeftHand" else name for name in skeleton.names)
    with pytest.raises(InputError, match="is its left hand"):
        mocap_bag(replace(skeleton, names=names))


@pytest.mark.parametrize("wrong", [{"reach": 0.0}, {"reach": np.nan}, {"hands": -0.1}, {"hands": np.inf}])
def test_limbs_that_reach_nowhere_are_refused(tmp_path: Path, wrong: dict[str, float]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"'{name}' is not a number it can be"):
        mocap_bag(_skeleton(tmp_path, ["0 0 0 0 0 0"] * 3), **wrong)


def test_the_command_takes_a_skeleton(tmp_path, monkeypatch, capsys) -> None:
    _skeleton(tmp_path, ["0 90 0 0 0 0", "0 90 2 0 5 0", "0 90 4 0 10 0"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(DEMOS, "bag", replace(DEMOS["bag"], settings={"mesh": {"levels": 0}, "material": "rubber"}))
    assert main(["demo", "bag", "--mocap", "tiny.bvh", "--out", "look", "--no-preview"]) == 0
    assert {"bag_mocap.toml", "bag_mocap_guide.usda", "bag.usdc"} <= {one.name for one in Path("look").iterdir()}
    assert "driven by tiny.bvh" in Path("look/bag_mocap.toml").read_text()
    capsys.readouterr()
    assert main(["demo", "box", "--mocap", "tiny.bvh"]) == 2
    assert "cannot be driven by motion capture (got 'box'); allowed: bag, " in capsys.readouterr().err


@pytest.mark.skipif(not BACKFLIP.exists(), reason="the CMU backflip is not there: shared/data/mocap")
def test_the_cmu_backflip_turns_the_bag_over_once() -> None:
    guide = mocap_bag(read_skeleton(BACKFLIP))
    assert guide.frame_count == 41  # 1.68 s at 24 frames/s
    soles = guide.mesh.rest[:, 1] < 0.02
    low = guide.points[:, :, 1].min(axis=1)
    assert low.min() > -0.03 and low.max() > 0.25
    assert guide.points[-10:, soles, 1].min(axis=1) == pytest.approx(np.zeros(10), abs=0.02)  # it stands
    # Over once, backwards: the line from floor to rim turns through −2π about x.
    up = guide.points[:, :16].mean(axis=1) - guide.points[:, 64:].mean(axis=1)
    turned = np.unwrap(np.arctan2(up[:, 2], up[:, 1]))
    assert turned[-1] - turned[0] == pytest.approx(-2.0 * np.pi, abs=0.3)
    faces = guide.mesh.faces

    def area(x):
        return np.linalg.norm(np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]]), axis=1)

    ratios = np.stack([area(x) for x in guide.points]) / area(guide.mesh.rest)
    assert 0.35 < ratios.min() and ratios.max() < 1.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "frames", "limbs", "cut"),
    [("cmu_88_01_backflip", (26, 35), {"reach": 0.6, "hands": 1.0}, 6), ("cmu_90_28_breakdance", (84, 98), {}, 0)],
)
def test_no_frame_of_a_captured_motion_passes_through_itself(
    name: str, frames: tuple[int, int], limbs: dict[str, float], cut: int
) -> None:
    """Although a guide whose limbs go all of their way does on so many frames, refined as the shell is."""
    if not (MOCAP / f"{name}.bvh").exists():
        pytest.skip(f"{name} of the CMU library is not there: shared/data/mocap")
    demo, some = DEMOS["bag"], slice(*frames)
    whole = mocap_bag(read_skeleton(MOCAP / f"{name}.bvh"), **limbs)
    guide = Animation(whole.mesh, whole.times[some], whole.points[some])
    shell, tests = hierarchy(guide.mesh, levels=2)
    assert tests.prolongation is not None
    smooth = [tests.prolongation @ x for x in guide.points]
    assert sum(intersecting_faces(x, shell.faces).any() for x in smooth) == cut
    contact = Contact(**demo.physics["contact"])
    take = track(guide, shell, tests, material=ShellMaterial(**demo.settings["material"]), contact=contact)
    assert not any(intersecting_faces(x, shell.faces).any() for x in take.animation.points)
    assert take.report["pairs"].max() > 10
