"""A shot file that is edited while others may edit it too: the file is the truth, and an edit is whole or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from turning import turning

from bunraku.contracts import InputError, OutputError
from bunraku.io import write_animation
from bunraku.shots import EditedShot, Superseded, read_shot

STRENGTH = ("object", "box", "track", "strength")
TEXT = """\
[shot]
frames = [1, 6]

[object.box]
guide = { file = "guide.usda" }
material = "cotton"  # for now
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_animation(tmp_path / "guide.usda", turning(6), rate=24.0, prim="/box")
    (tmp_path / "box.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path / "box.toml"


@pytest.fixture
def shot(path: Path) -> EditedShot:
    return EditedShot(path)


def test_an_edit_is_in_the_file_and_undone_to_the_letter(shot: EditedShot, path: Path) -> None:
    diff = shot.edit(1, [(STRENGTH, 0.5)], about="strength", by="one")
    assert diff.splitlines()[2:] == [
        "@@ -5,2 +5,3 @@", ' guide = { file = "guide.usda" }', ' material = "cotton"  # for now',
        "+track = { strength = 0.5 }",
    ]  # fmt: skip
    assert read_shot(path).shells["box"].track.strength == 0.5
    assert (shot.revision, shot.by, shot.can_undo, shot.diff) == (2, "one", "strength", diff)
    assert "-track = { strength = 0.5 }" in shot.undo(2)
    assert path.read_text() == TEXT and shot.diff == "" and shot.can_redo == "strength"
    shot.redo(3)
    assert read_shot(path).shells["box"].track.strength == 0.5 and not shot.can_redo


def test_what_the_shot_refuses_changes_nothing(shot: EditedShot, path: Path) -> None:
    with pytest.raises(InputError, match=r"box\.toml: object\.box\.track\.strength: is out of range \(got 7\)"):
        shot.edit(1, [(("physics", "substeps"), 3), (STRENGTH, 7)])
    with pytest.raises(InputError, match="unknown material"):
        shot.edit(1, [(("object", "box", "material", "preset"), "vinly")])
    assert path.read_text() == TEXT and shot.revision == 1 and not shot.can_undo


def test_an_edit_for_an_older_revision_is_refused(shot: EditedShot, path: Path) -> None:
    shot.edit(1, [(STRENGTH, 0.5)], by="one")
    with pytest.raises(Superseded, match="in another window"):
        shot.edit(1, [(STRENGTH, 0.7)], by="two")
    path.write_text(TEXT + "[physics]\nsubsteps = 4\n", encoding="utf-8")
    with pytest.raises(Superseded, match="outside of this page"):
        shot.undo(2)
    assert shot.look() == 3 and shot.by == "" and not shot.can_undo
    assert shot.settings["physics"] == {"substeps": 4} and "+substeps = 4" in shot.diff


def test_what_somebody_else_broke_is_told_and_left_alone(shot: EditedShot, path: Path) -> None:
    path.write_text(TEXT + "substeps = ", encoding="utf-8")
    assert shot.look() == 2 and "is not TOML" in shot.problems[0] and shot.objects
    with pytest.raises(InputError, match="cannot be run as somebody else left it"):
        shot.edit(2, [(STRENGTH, 0.5)])
    path.unlink()
    assert shot.look() == 3 and "there is no such file" in shot.problems[0]
    path.write_text(TEXT, encoding="utf-8")
    assert shot.look() == 4 and shot.problems == ()
    assert shot.edit(4, [(STRENGTH, 0.5)])


def test_a_file_that_was_only_touched_is_no_news(shot: EditedShot, path: Path) -> None:
    shot.edit(1, [(STRENGTH, 0.5)])
    os.utime(path, ns=(1, 1))
    assert shot.look() == 2 and shot.can_undo


def test_edits_of_one_gesture_are_one_step(shot: EditedShot, path: Path) -> None:
    for revision, strength in enumerate((0.9, 0.6, 0.3), start=1):
        shot.edit(revision, [(STRENGTH, strength)], gesture="drag", about=f"strength {strength}")
    shot.edit(4, [(STRENGTH, 0.2)], gesture="another drag")
    shot.undo(5)
    assert read_shot(path).shells["box"].track.strength == 0.3 and shot.can_undo == "strength 0.3"
    shot.undo(6)
    assert path.read_text() == TEXT
    shot.redo(7)
    assert read_shot(path).shells["box"].track.strength == 0.3
    shot.undo(8)
    with pytest.raises(InputError, match="nothing to take back"):
        shot.undo(9)


def test_an_edit_that_changes_nothing_is_no_step(shot: EditedShot) -> None:
    assert shot.edit(1, [(("shot", "frames"), [1, 6])]) == "" and shot.revision == 1 and not shot.can_undo


def test_arrays_beside_the_shot_go_with_its_steps(shot: EditedShot, path: Path) -> None:
    beside = path.with_name("box.coat.bkarrays")
    shot.edit(1, [], files={"coat": b"one"}, gesture="stroke")
    shot.edit(2, [(STRENGTH, 0.5)], files={"coat": b"two"}, gesture="stroke")
    shot.edit(3, [], files={"coat": b"three"})
    shot.undo(4)
    assert beside.read_bytes() == b"two"
    shot.undo(5)
    assert not beside.exists() and path.read_text() == TEXT
    shot.redo(6)
    assert beside.read_bytes() == b"two"
    with pytest.raises(InputError, match="out of range"):
        shot.edit(7, [(STRENGTH, 7)], files={"coat": b"four", "hat": b"five"})
    assert beside.read_bytes() == b"two" and not path.with_name("box.hat.bkarrays").exists()
    with pytest.raises(InputError, match="short name"):
        shot.edit(7, [], files={"../coat": b"six"})


def test_what_somebody_writes_while_an_edit_is_looked_at_is_kept(shot: EditedShot, path: Path) -> None:
    theirs = TEXT.replace("cotton", "denim")

    def saved_meanwhile(found: object) -> None:
        path.write_text(theirs)

    with pytest.raises(Superseded, match="outside of this page"):
        shot.edit(1, [(STRENGTH, 0.5)], files={"coat": b"one"}, check=saved_meanwhile)
    assert path.read_text() == theirs and not shot.arrays_path("coat").exists()
    assert shot.look() == 2 and not shot.can_undo
    shot.edit(2, [(STRENGTH, 0.5)])
    assert path.read_text() == theirs + "track = { strength = 0.5 }\n"


def test_arrays_of_a_link_are_where_its_shot_looks_for_them(path: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    link = tmp_path / "mine" / "again.toml"
    path.write_text(TEXT.replace("guide.usda", str(tmp_path / "guide.usda")))
    link.symlink_to(path)
    shot = EditedShot(link)
    labels = {"file": shot.arrays_path("box").name, "names": ["lid"]}
    shot.edit(1, [(("object", "box", "labels"), labels)], files={"box": b"one"})
    assert (tmp_path / "mine" / "again.box.bkarrays").read_bytes() == b"one"
    assert link.is_symlink()


def test_the_file_keeps_its_mark_its_mode_and_its_link(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    path.chmod(0o640)
    link = tmp_path / "link.toml"
    link.symlink_to(path)
    EditedShot(link).edit(1, [(STRENGTH, 0.5)])
    assert link.is_symlink() and path.read_bytes().startswith(b"\xef\xbb\xbf[shot]")
    assert path.stat().st_mode & 0o777 == 0o640 and read_shot(path).shells["box"].track.strength == 0.5


def test_a_read_only_file_is_refused(shot: EditedShot, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs the tests may be allowed everything
    with pytest.raises(OutputError, match="the file is read-only"):
        shot.edit(1, [(STRENGTH, 0.5)])
    assert path.read_text() == TEXT and shot.revision == 1


@pytest.mark.parametrize(("data", "why"), [(b"\xff", "UTF-8"), (b"x = ", "TOML"), (b"", "object")])
def test_what_is_no_shot_is_refused_as_a_run_does(path: Path, data: bytes, why: str) -> None:
    path.write_bytes(data)
    with pytest.raises(InputError, match=why):
        EditedShot(path)
    with pytest.raises(InputError, match="no such file"):
        EditedShot(path.with_name("none.toml"))


def test_stages_are_edited_where_they_stand(path: Path) -> None:
    path.write_text(TEXT.replace("[shot]", "[stage.dress.shot]").replace("[object.", "[stage.dress.object."))
    shot = EditedShot(path)
    assert [one.path for one in shot.objects] == [("stage", "dress", "object", "box")]
    diff = shot.edit(1, [(("stage", "dress", *STRENGTH), 0.5), (("physics", "substeps"), 3)])
    added = [line for line in diff.splitlines() if line.startswith("+")]
    assert "+track = { strength = 0.5 }" in added and added[-2:] == ["+[physics]", "+substeps = 3"]
    with pytest.raises(InputError, match=r"stage\.dress\.object\.box\.track\.strength: is out of range"):
        shot.edit(2, [(("stage", "dress", *STRENGTH), 5)])
