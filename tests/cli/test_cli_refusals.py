"""Every bad input through the real command: exit code 2, sentences, nothing written."""

# pxr comes without types
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from bunraku import Animation
from bunraku.io import read_animation, write_mesh
from bunraku.scenes import box_mesh

BOX = "[object.box]\nguide = { file = 'guide.usda' }\n"


def refused(folder, bunraku, *words: str, code: int = 2) -> str:
    """Run; checks the exit code and that nothing but the inputs is there afterwards. Returns what was said."""
    before = sorted(folder.path.rglob("*"))
    got, out, err = bunraku("run", "box.toml", *words)
    assert (got, out) == (code, "")
    assert sorted(folder.path.rglob("*")) == before
    said = [line for line in err.splitlines() if line.startswith("bunraku: ")]
    assert said
    return "\n".join(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "box.toml: object: is missing"),
        ("[object.box\n", "box.toml: is not TOML: line 1"),
        ("[object.box]\nguide = { file = 'gone.usda' }", "object.box.guide.file: "),
        ("[object.box]\nguide = { file = 'guid.usda' }", "did you mean 'guide.usda'?"),
        ("[object.box]\nguide = { file = '.' }", "no numbered file fits"),
        ("[object.box]\nguide = { file = 'guide.usda', prim = '/bax' }", "did you mean '/box'?"),
        (f"{BOX}material = 'vynil'", "object.box.material: unknown material (got 'vynil'); allowed: silk"),
        (f"{BOX}material = {{ preset = 'vinyl', thickness = 0 }}", "object.box.material.thickness: is out of range"),
        (f"{BOX}material = {{ preset = 'vinyl', thickness = -1e-3 }}", "thickness: is out of range (got -0.001)"),
        (f"{BOX}role = 'obstacle'", "object.box.guide: unknown key (got 'guide'); allowed: role, source"),
        (f"{BOX}[shot]\nrate = 0", "shot.rate: is out of range (got 0)"),
        (f"{BOX}[shot]\nrate = -24.0", "shot.rate: is out of range (got -24.0)"),
        (f"{BOX}[shot]\nframes = [3, 99]", "shot.frames: the guide has no such frames"),
    ],
)  # fmt: skip
def test_bad_shot_files(folder, bunraku, text: str, said: str):
    folder.shot(text)
    assert said in refused(folder, bunraku)


def test_a_guide_in_the_place_of_a_shot_is_answered_with_a_shot_that_runs(folder, bunraku):
    code, _, err = bunraku("run", "guide.usda")
    assert code == 2 and "guide.usda: is a guide, not a shot" in err
    lines = [line.removeprefix("bunraku:   ") for line in err.splitlines() if line.startswith("bunraku:   ")]
    assert "write these lines to guide.toml" in err and len(lines) == 3
    (folder.path / "guide.toml").write_text("\n".join(lines))
    assert bunraku("run", "guide.toml", "--dry-run")[0] == 0
    assert "write these lines to guide_shot.toml" in bunraku("run", "guide.usda")[2]  # that one is there now
    (folder.path / "walk.bvh").write_text("HIERARCHY")
    assert 'rig = { skeleton = "walk.bvh", fit = true }' in bunraku("run", "walk.bvh")[2]
    assert "no such file" in bunraku("run", "gone.usda")[2]
    os.mkfifo(folder.path / "pipe.toml")
    assert "is no ordinary file" in bunraku("run", "pipe.toml")[2]


def test_misspelt_keys_are_all_told_with_the_nearest(folder, bunraku):
    folder.box("matreial = 'vinyl'\ntrak = { strength = 1 }", tables="[phisics]\n[shot]\nframse = [1, 2]")
    lines = refused(folder, bunraku).splitlines()
    near = ["'physics'", "'frames'", "'material'", "'track'"]
    assert [line.rsplit("try: ", 1)[1] for line in lines] == near


def test_a_shot_that_is_missing_or_a_folder(folder, bunraku):
    for name, said in (("gone.toml", "there is no such file"), (".", "is a folder")):
        code, _, err = bunraku("run", name)
        assert code == 2 and said in err


@pytest.mark.parametrize("name", ["empty.usda", "empty.obj", "empty.usdc", "empty.txt"])
def test_empty_guide_files(folder, bunraku, name: str):
    (folder.path / name).touch()
    folder.box(guide=f"{{ file = '{name}' }}")
    said = refused(folder, bunraku)
    assert "box.toml: object.box.guide" in said and str(folder.path / name) in said


def obj(folder, first: str, second: str | None = None) -> None:
    """A sequence of two triangles whose first vertex is given."""
    (folder.path / "seq").mkdir()
    for k, vertex in ((1, first), (2, second or first)):
        (folder.path / "seq" / f"a.{k}.obj").write_text(f"v {vertex}\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    folder.box(guide="{ file = 'seq', unit = 'm' }")


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("0 0", None, "a vertex needs three coordinates"),
        ("nan 0 0", None, "coordinates are not finite"),
        ("0 0 0", "inf 0 0", "coordinates are not finite"),
        ("1e12 0 0", None, "coordinates are too large"),
        ("0 0 zero", None, "a vertex must be three numbers"),
    ],
)
def test_broken_coordinates_in_obj(folder, bunraku, first: str, second: str | None, said: str):
    obj(folder, first, second)
    assert said in refused(folder, bunraku)


def test_nan_huge_and_tiny_coordinates_in_usd_are_named_by_frame(folder, bunraku, guide_points):
    for change, said in (
        (lambda x: x.__setitem__((3, 5, 0), np.nan), "frame 4, vertices 5: coordinates are not finite"),
        (lambda x: x.__imul__(1e12), "frame 1: coordinates are too large"),
        (lambda x: x.__imul__(1e-12), "frame 1: the shape is too small"),
    ):
        guide_points(change)
        text = refused(folder, bunraku)
        assert "box.toml: object.box.guide: " in text and said in text


@pytest.fixture
def guide_points(folder):
    """Write the guide with its points changed in place, past the writer that refuses such points."""
    from pxr import Usd, UsdGeom, Vt

    (folder.path / "guide.usda").rename(folder.path / "original.usda")

    def write(change) -> None:
        animation = read_animation(folder.path / "original.usda")
        points = animation.points.copy()
        change(points)
        path = folder.path / "guide.usda"
        path.unlink(missing_ok=True)
        stage = Usd.Stage.CreateInMemory()
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        mesh = UsdGeom.Mesh.Define(stage, "/box")
        mesh.CreateFaceVertexCountsAttr([3] * 12)
        mesh.CreateFaceVertexIndicesAttr(animation.mesh.faces.reshape(-1).tolist())
        for k, pose in enumerate(points):
            mesh.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy(pose.astype(np.float32)), k + 1)
        stage.GetRootLayer().Export(str(path))

    return write


def test_a_mesh_that_does_not_lie_on_the_guide(folder, bunraku):
    mesh = box_mesh()
    fewer = type(mesh)(mesh.rest[:7] + [9.0, 0.0, 0.0], mesh.faces[(mesh.faces < 7).all(axis=1)])
    write_mesh(folder.path / "less.obj", fewer)
    folder.box("mesh = { file = 'less.obj', unit = 'm' }")
    text = refused(folder, bunraku)
    assert "object.box.mesh: the mesh does not lie on the guide at rest (got '9 m away')" in text


def test_a_guide_whose_vertex_count_changes(folder, bunraku):
    obj(folder, "0 0 0")
    (folder.path / "seq" / "a.3.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    assert "the topology changes at frame 3" in refused(folder, bunraku)


def test_one_frame_only(folder, bunraku):
    mesh = box_mesh()
    folder.guide(Animation(mesh, np.array([1 / 24]), mesh.rest[None]))
    assert "holds one frame only (got 'frame 1')" in refused(folder, bunraku)


def test_an_output_that_would_overwrite_or_hold_an_input(folder, bunraku):
    assert "would overwrite an input" in refused(folder, bunraku, "--out", "guide.usda")
    assert "would overwrite an input" in refused(folder, bunraku, "--out", "box.toml")
    assert "holds an input of the shot" in refused(folder, bunraku, "--out", ".")
    assert "holds an input of the shot" in refused(folder, bunraku, "--out", "..")


def test_an_output_inside_an_input_folder(folder, bunraku):
    obj(folder, "0 0 0")
    folder.shot("[object.box]\nguide = { file = 'seq', unit = 'm' }\n[output]\nfolder = 'seq/takes'")
    assert "inside an input folder" in refused(folder, bunraku)


def test_an_output_folder_that_is_full_or_a_file(folder, bunraku):
    (folder.path / "full").mkdir()
    (folder.path / "full" / "mine.txt").touch()
    assert "the folder is not empty (got mine.txt)" in refused(folder, bunraku, "--out", "full")
    (folder.path / "file").touch()
    assert "a file stands where" in refused(folder, bunraku, "--out", "file")
    folder.shot("[object.box]\nguide = { file = 'guide.usda' }\n[output]\nfolder = 'file'")
    assert "output.folder: a file stands where a folder is needed" in refused(folder, bunraku)


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_folder(folder, bunraku, monkeypatch: pytest.MonkeyPatch, code: int):
    def read_only(self: Path, *args: object, **kwargs: object) -> None:
        raise OSError(code, os.strerror(code), str(self))

    monkeypatch.setattr(Path, "mkdir", read_only)
    said = refused(folder, bunraku)
    assert said.count("\n") == 0 and "takes/box: cannot be written: " in said and "try: choose another folder" in said


def test_a_folder_without_permission_is_refused_before_the_simulation(folder, bunraku, monkeypatch):
    (folder.path / "locked").mkdir()
    (folder.path / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
    if os.access(folder.path / "locked", os.W_OK):  # root may write anywhere
        monkeypatch.setattr("bunraku.shots.folder.os.access", lambda path, mode: "locked" not in str(path))
    folder.shot("[object.box]\nguide = { file = 'guide.usda' }\n[output]\nfolder = 'locked/takes'")
    assert "locked is read-only" in refused(folder, bunraku)


@pytest.mark.parametrize("words", [["--frames", "a-b"], ["--threads", "0"], ["--progress", "loud"], ["--nonsense"]])
def test_wrong_words(folder, bunraku, words: list[str]):
    code, _, err = bunraku("run", "box.toml", *words)
    assert code == 2 and words[0] in err
    assert not (folder.path / "takes").exists()


def test_no_command_shows_the_help(bunraku):
    code, out, err = bunraku()
    assert code == 2 and out == "" and "bunraku demo" in err


@pytest.mark.slow
def test_damaged_files_of_a_take_are_never_a_fault_of_ours(folder, bunraku):
    assert bunraku("run", "box.toml")[0] == 0
    take = folder.path / "takes/box/v001"
    for name in ("report.json", "timings.json", "provenance.json"):
        before = (take / name).read_text()
        for text in ("[]", "{}", "null", '"x"', "{", ""):
            (take / name).write_text(text)
            code, _, err = bunraku("run", "box.toml", "--resume")
            expected = 2 if name == "provenance.json" else 0
            assert code == expected, (name, text, err)
        (take / name).write_text(before)


def test_a_fault_before_the_first_frame_leaves_no_folder_but_a_story(folder, bunraku, monkeypatch, tmp_path):
    stories = tmp_path / "stories"
    stories.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(stories))

    def broken(*args: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("bunraku.shots.march.keep", broken)
    code, _, err = bunraku("run", "box.toml")
    assert code == 1 and "unexpected ZeroDivisionError: oops" in err and not (folder.path / "takes").exists()
    (story,) = stories.iterdir()
    assert str(story) in err and "Traceback" in story.read_text()


def test_nothing_asked_is_not_missed_under_strict(folder, bunraku):
    folder.box("mesh = { levels = 0 }\ntrack = { strength = 0.5 }")
    code, out, _ = bunraku("run", "box.toml", "--strict", "--progress", "json")
    assert code == 0 and json.loads(out.splitlines()[-1])["direction_met"] is None
