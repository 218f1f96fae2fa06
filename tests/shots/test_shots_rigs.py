"""A guide made from a mesh and a skeleton's motion: in a shot file, its take, its provenance."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import tomli_w

import bunraku as bk
from bunraku.cli import main
from bunraku.contracts import InputError
from bunraku.geometry import TriMesh
from bunraku.io import write_mesh
from bunraku.shots.prepare import prepare
from bunraku.shots.provenance import settings

HEAD = """HIERARCHY
ROOT low { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT high { OFFSET 0 50 0 CHANNELS 3 Zrotation Yrotation Xrotation
    End Site { OFFSET 0 50 0 } } }
MOTION
"""


def post() -> TriMesh:
    """A closed square post, one metre high, of six storeys."""
    ring = 0.1 * np.array([[1, 0, 1], [1, 0, -1], [-1, 0, -1], [-1, 0, 1.0]])
    storeys = [ring + [0, y, 0] for y in np.linspace(0, 1, 7)]
    faces = []
    for k in range(6):
        for j in range(4):
            a, b = 4 * k + j, 4 * k + (j + 1) % 4
            faces += [[a, b, a + 4], [b, b + 4, a + 4]]
    faces += [[0, 2, 1], [0, 3, 2], [24, 25, 26], [24, 26, 27]]
    return TriMesh(np.concatenate(storeys), np.array(faces))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """post.obj and bend.bvh: six frames at 24/s in which the upper half bends and the whole walks."""
    write_mesh(tmp_path / "post.obj", post())
    rows = [f"{2 * k} 0 0 0 0 0 {8 * k} 0 0" for k in range(6)]
    motion = "\n".join([f"Frames: {len(rows)}", "Frame Time: 0.0416667", *rows])
    (tmp_path / "bend.bvh").write_text(HEAD + motion + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shot(folder: Path, rig: dict | None = None, **tables: dict) -> bk.Shot:
    path = folder / "post.toml"
    told = {
        "file": "post.obj",
        "unit": "m",
        "rig": {"skeleton": "bend.bvh", "unit": "cm", **(rig or {})},
    }
    body = {"guide": told, "mesh": {"levels": 1}, "material": "vinyl"}
    path.write_text(tomli_w.dumps({"object": {"post": body}, "output": {"preview": False}, **tables}))
    return bk.read_shot(path)


def test_the_guide_is_the_skinned_mesh(folder: Path) -> None:
    prepared = prepare(shot(folder))
    rig = bk.bind(bk.read_mesh("post.obj", unit="m"), bk.read_skeleton("bend.bvh", unit="cm"))
    expected = rig.animation()
    assert prepared.clip.rate == 24.0 and prepared.numbers.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(prepared.guide.points + prepared.origin, expected.points, atol=1e-12)
    top, foot = expected.points[5, 24:].mean(axis=0), expected.points[5, :4].mean(axis=0)
    np.testing.assert_allclose(foot, [0.1, 0, 0], atol=0.03)  # walked by 10 cm
    assert top[0] < -0.15  # and bent by 40 degrees to the left


def test_a_run_makes_a_take_from_mesh_and_motion(folder: Path) -> None:
    result = shot(folder).run(out=folder / "take")
    report = json.loads((result.folder / "report.json").read_text())
    assert report["outcome"] == "finished"
    moved = bk.read_animation(result.folder / "post.usdc")
    assert moved.frame_count == 6 and np.abs(moved.points[5] - moved.points[0]).max() > 0.1
    again = bk.read_shot(result.folder / "shot.toml")
    assert again.shells["post"].guide.rig == shot(folder).shells["post"].guide.rig
    kept = json.loads((result.folder / "provenance.json").read_text())
    assert {one["key"]: Path(one["path"]).name for one in kept["inputs"]} == {
        "object.post.guide": "post.obj", "object.post.guide.rig": "bend.bvh",
    }  # fmt: skip


def test_another_motion_is_another_take(folder: Path) -> None:
    before = settings(prepare(shot(folder)))
    (folder / "bend.bvh").rename(folder / "other.bvh")
    assert settings(prepare(shot(folder, {"skeleton": "other.bvh"}))) == before  # names do not count, content does
    (folder / "bend.bvh").write_text((folder / "other.bvh").read_text().replace("8 0 0", "9 0 0"))
    assert settings(prepare(shot(folder))) != before


def test_frames_rate_bind_frame_and_fit(folder: Path) -> None:
    assert prepare(shot(folder, shot={"frames": [1, 4]})).numbers.tolist() == [1, 2, 3, 4]
    slow = prepare(shot(folder, shot={"rate": 12.0}))
    assert slow.clip.rate == 12.0 and slow.numbers.tolist() == [0, 1, 2]
    fitted = prepare(shot(folder, {"fit": True, "unit": "ft"}))  # whatever the unit, it is as tall as the post
    assert np.ptp(fitted.clip.animation.points[0], axis=0)[1] == pytest.approx(1.0, abs=0.02)
    bound = prepare(shot(folder, {"bind_frame": 5}))
    np.testing.assert_allclose(bound.clip.animation.points[5], bound.clip.mesh.rest, atol=1e-12)


def test_frames_that_are_not_there_are_counted_at_the_rate_of_the_shot(folder: Path, caplog) -> None:
    with pytest.raises(
        InputError, match=r"allowed: 0 to 2 at 12 frames/s; try: count frames at shot\.rate, not at the"
    ):
        prepare(shot(folder, shot={"rate": 12.0, "frames": [1, 5]}))
    assert "no sample" not in caplog.text  # of frames that are refused nothing else is said


@pytest.mark.parametrize(
    ("rig", "guide", "words"),
    [
        ({"skeleton": "gone.bvh"}, {}, "no such file"),
        ({"skeleton": "post.obj"}, {}, "holds no skeleton"),
        ({"bind_frame": 6}, {}, "0 to 5"),
        ({"clip": "walk"}, {}, "leave clip out"),
        ({"fits": True}, {}, "did you mean 'fit'|fit"),
        ({"unit": "mile"}, {}, "unknown word"),
        ({}, {"unit": None}, "does not say its unit"),
    ],
)
def test_what_does_not_fit_is_refused(folder: Path, rig: dict, guide: dict, words: str) -> None:
    told = {key: value for key, value in {"unit": "m", **guide}.items() if value is not None}
    with pytest.raises(InputError, match=words):
        path = folder / "post.toml"
        body = {"guide": {"file": "post.obj", **told, "rig": {"skeleton": "bend.bvh", "unit": "cm", **rig}}}
        path.write_text(tomli_w.dumps({"object": {"post": body}}))
        prepare(bk.read_shot(path))


def test_a_skeleton_without_a_unit_is_asked_for_it(folder: Path) -> None:
    path = folder / "post.toml"
    body = {"guide": {"file": "post.obj", "unit": "m", "rig": {"skeleton": "bend.bvh"}}}
    path.write_text(tomli_w.dumps({"object": {"post": body}}))
    with pytest.raises(InputError, match=r"bend\.bvh: the file does not say its unit.*fit = true, or unit = 'cm'"):
        prepare(bk.read_shot(path))
    odd = (folder / "bend.bvh").read_text().replace("OFFSET 0 50 0", "OFFSET 0 13 0")  # 26 units, as the CMU files
    (folder / "bend.bvh").write_text(odd)
    with pytest.raises(InputError, match=r"try: fit = true$"):  # in inches it would be two feet tall
        prepare(bk.read_shot(path))


def test_a_skeleton_much_smaller_than_its_mesh_is_said(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    prepare(shot(folder))
    assert not caplog.text
    prepare(shot(folder, {"unit": 0.0066}))
    assert "its bind pose is 0.66 m tall and the mesh 1 m" in caplog.text and "try: fit = true" in caplog.text
    caplog.clear()
    prepare(shot(folder, {"unit": 0.0066, "fit": True}))
    assert not caplog.text


def test_a_skeleton_that_stands_along_z_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    lying = (folder / "bend.bvh").read_text().replace("OFFSET 0 50 0", "OFFSET 0 0 50")
    (folder / "bend.bvh").write_text(lying)
    assert main(["check", "bend.bvh"]) == 0
    assert "larger along Z (50 units) than along Y (0): if Z is up, say --up-axis Z." in capsys.readouterr().out
    assert main(["check", "bend.bvh", "--up-axis", "Z"]) == 0
    assert "larger along Z" not in capsys.readouterr().out
    prepare(shot(folder, {"up_axis": "Z"}))
    assert not caplog.text
    bk.read_skeleton("bend.bvh", unit="cm")
    assert "if Z is up, say up_axis = 'Z'" in caplog.text


def test_motion_alone_is_no_guide(folder: Path) -> None:
    (folder / "bare.toml").write_text('[object.post]\nguide = { file = "bend.bvh" }\n')
    with pytest.raises(InputError, match="rig = "):
        bk.read_shot(folder / "bare.toml")


def test_the_page_about_rigs_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "rigs.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(snippet, "rigs.md", "exec"), {})
    assert capsys.readouterr().out == "('low', 'high') (6, 28, 3) ()\n"
    (shot_text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (folder / "hero.toml").write_text(shot_text.replace("man.obj", "post.obj").replace("walk.bvh", "bend.bvh")
                                      .replace("[1, 60]", "[1, 4]"))  # fmt: skip
    assert prepare(bk.read_shot(folder / "hero.toml")).numbers.tolist() == [1, 2, 3, 4]


def test_check_says_what_a_skeleton_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bend.bvh"]) == 0
    said = capsys.readouterr().out
    for words in ("2 joints", "6 frames at 24 frames/s", "does not say its unit", "--unit cm"):
        assert words in said, said
    assert main(["check", "bend.bvh", "--json", "--unit", "cm"]) == 0
    assert json.loads(capsys.readouterr().out)["skeleton"]["joints"] == ["low", "high"]
    assert main(["check", "bend.bvh", "--repair", "out.obj"]) == 2
