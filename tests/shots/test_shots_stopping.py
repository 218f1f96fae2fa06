"""A run is asked to stop by a file in its folder, looked at after every frame, and ends as at Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bunraku.shots import FrameDone, PictureDone, StopAsked, ask_to_stop, read_shot
from bunraku.shots.lock import is_held, locked
from bunraku.shots.stopping import STOP

Files = Callable[..., Path]


def test_a_run_that_is_asked_stops_after_its_frame_and_can_be_resumed(files: Files, tmp_path: Path) -> None:
    shot, folder = read_shot(files()), tmp_path / "takes/box/v001"
    answers: list[bool] = []

    def ask(event: object) -> None:
        if isinstance(event, FrameDone) and event.frame == 3:
            answers.append(ask_to_stop(folder))

    with pytest.raises(StopAsked, match="asked to stop from outside"):
        shot.run(progress=ask)
    assert answers == [True] and len(list((folder / "frames").iterdir())) == 3
    assert not (folder / STOP).exists() and not is_held(folder)
    assert "interrupted after 3 of 6 frames, asked to stop from outside" in (folder / "run.log").read_text()
    assert shot.run(resume=True).report.met


def test_pictures_are_left_out_when_it_is_asked_then(files: Files, tmp_path: Path) -> None:
    folder, pictures = tmp_path / "takes/box/v001", []

    def ask(event: object) -> None:
        if isinstance(event, PictureDone):
            pictures.append(event.index)
            ask_to_stop(folder)

    with pytest.raises(StopAsked):
        read_shot(files(output={"preview": True})).run(progress=ask)
    assert pictures == [0] and not (folder / "preview.mp4").exists() and not (folder / "report.json").exists()


def test_nobody_is_asked_where_no_run_writes(tmp_path: Path) -> None:
    assert not ask_to_stop(tmp_path) and not (tmp_path / STOP).exists()
    (tmp_path / ".lock").write_text("999999999 elsewhere-not\n")  # another machine's, which may live
    assert ask_to_stop(tmp_path)
    (tmp_path / STOP).unlink()
    (tmp_path / "x").mkdir()
    with locked(tmp_path / "x"):
        assert is_held(tmp_path / "x") and ask_to_stop(tmp_path / "x")
    assert not is_held(tmp_path / "x")


def test_a_folder_is_held_by_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for name, other in (("real", "link"), ("link", "real")):
        with locked(tmp_path / name):
            assert is_held(tmp_path / other) and is_held(tmp_path / name)
        assert not is_held(tmp_path / other)


def test_what_an_earlier_run_was_asked_is_forgotten(files: Files, tmp_path: Path) -> None:
    folder = tmp_path / "chosen"
    folder.mkdir()
    (folder / STOP).touch()
    result = read_shot(files()).run(out=folder)
    assert result.report.met and not (folder / STOP).exists()
