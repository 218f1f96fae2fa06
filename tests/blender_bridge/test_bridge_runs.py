"""Processes that tell of themselves, takes on disk, and files that are taken back."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from bridge import Desk, Refusal, Run, install, read_take, running, versions

START = {"event": "start", "shot": "a", "folder": "takes/a/v001", "count": 4, "done": 0, "solver": ""}
FRAME = {"event": "frame", "frame": 1.0, "index": 0, "count": 4, "preroll": False, "eta_s": 3.5}
DONE = {"event": "done", "exit_code": 0, "sentences": ["Met."], "folder": "takes/a/v001", "direction_met": True}


def talking(folder: Path, *facts: Any, then: str = "", desk: Desk | None = None) -> Run:
    """A process that says facts, line by line, and then does something."""
    text = "".join(f"print({json.dumps(json.dumps(one))}, flush=True)\n" for one in facts)
    (folder / "talk.py").write_text(f"import sys, time\n{text}{then}\n")
    return Run([sys.executable, str(folder / "talk.py")], folder, desk)


def test_a_run_is_heard(tmp_path: Path) -> None:
    seen = []
    run = talking(
        tmp_path, {"event": "stage", "text": "reading"}, START, {"event": "warning", "text": "thin"}, FRAME, DONE
    )
    ended = run.wait(lambda progress: seen.append(progress))
    assert (ended.how, ended.lines, ended.met) == ("done", ("Met.",), True)
    assert run.progress.warnings == ("thin",) and run.progress.text == "frame 1" and run.progress.share == 0.25
    assert run.progress.seconds_left == 3.5 and ended.warnings == ("thin",)


def test_a_crash_at_work_is_not_the_interpreters(tmp_path: Path) -> None:
    ended = talking(tmp_path, {"event": "stage", "text": "reading"}, then="sys.exit('no memory')").wait()
    assert ended.lines[0].endswith("ended with code 1 before its work was done (no memory)")


def test_a_refusal_is_passed_on(tmp_path: Path) -> None:
    message = "a.toml: shot.frames: wrong\na.toml: x: unknown"
    ended = talking(tmp_path, {"event": "error", "exit_code": 2, "message": message}, then="sys.exit(2)").wait()
    assert ended.how == "failed" and list(ended.lines) == message.splitlines() and ended.folder is None


def test_what_physics_stopped_has_a_take_to_show(tmp_path: Path) -> None:
    (tmp_path / "takes/a/v001").mkdir(parents=True)
    (tmp_path / "takes/a/v001/report.json").write_text("{}")
    start = START | {"folder": str(tmp_path / "takes/a/v001")}
    stop = {"event": "error", "exit_code": 3, "message": "it blew up"}
    ended = talking(tmp_path, start, stop, then="sys.exit(3)").wait()
    assert ended.folder == tmp_path / "takes/a/v001" and ended.lines == ("it blew up",)


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (
            "raise RuntimeError('memory')",
            "ended with code 1 before its work was done (RuntimeError: memory); try",
        ),
        ("sys.exit('x: No module named bunraku')", "this Python has no bunraku"),
        ("", "ended with code 0 before its work was done (it said nothing)"),
    ],
)
def test_a_crash_is_a_sentence(tmp_path: Path, then: str, said: str) -> None:
    ended = talking(tmp_path, then=then).wait()
    assert ended.how == "failed" and said in ended.lines[0]


def test_events_of_another_version_are_no_crash(tmp_path: Path) -> None:
    ended = talking(tmp_path, {"event": "frame", "number": 3}, {"event": "done", "ok": True}).wait()
    assert ended.how == "failed" and "ended with code 0 before its work was done" in ended.lines[0]


def test_files_beside_the_shot_are_not_run(tmp_path: Path) -> None:
    """A folder that came with somebody's .blend may hold a numpy.py."""
    (tmp_path / "beside.py").write_text('print(\'{"event": "stage", "text": "run"}\')')
    run = Run([sys.executable, "-m", "beside"], tmp_path)
    assert "No module named beside" in run.wait().lines[0] and run.progress.text == "starting bunraku"


@pytest.mark.parametrize("code", [0, 1])
def test_an_environment_is_replaced_by_one_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int
) -> None:
    environment = tmp_path / "environment"
    environment.mkdir()
    (environment / "old").touch()

    def make(folder: Path, **more: Any) -> None:
        folder.mkdir()
        (folder / "new").touch()

    monkeypatch.setattr(install.venv, "create", make)
    monkeypatch.setattr(install.subprocess, "run", lambda words, **more: CompletedProcess(words, code, "1.0", "no"))
    assert install.main(environment, "there") == 2 * code
    assert [one.name for one in environment.iterdir()] == (["old"] if code else ["new"])
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["event"] == ("error" if code else "done")


def test_what_is_in_the_making_goes_where_it_is_called_off(tmp_path: Path) -> None:
    (tmp_path / "environment.part").mkdir()
    (tmp_path / "talk.py").write_text("import time; time.sleep(60)")
    run = Run([sys.executable, str(tmp_path / "talk.py")], tmp_path, scratch=tmp_path / "environment.part")
    run.cancel()
    assert run.wait().how == "cancelled" and not (tmp_path / "environment.part").exists()


def test_a_full_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**more: str) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bridge.run.tempfile.mkdtemp", full)
    desk = Desk()
    desk.write(tmp_path / "shot.toml", "a")
    with pytest.raises(Refusal, match="cannot be started"):
        Run([sys.executable], tmp_path, desk)
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    desk = Desk()
    desk.write(tmp_path / "in/shot.toml", "a")
    with pytest.raises(Refusal, match="cannot be started"):
        Run([str(tmp_path / "nothing")], tmp_path, desk)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="a signal that is not heeded is one of POSIX")
@pytest.mark.parametrize("stubborn", [False, True])
def test_a_run_that_is_called_off_leaves_nothing(
    tmp_path: Path, stubborn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where it does not heed the signal."""
    monkeypatch.setattr("bridge.run.PATIENCE", 0.3)
    folder, take = tmp_path / "job", tmp_path / "job/takes/a/v001"
    folder.mkdir()
    (folder / "a.toml").write_text("before")
    desk = Desk()
    desk.write(folder / "a.toml", "after")
    desk.write(folder / "inputs/a.usda", "x")
    take.mkdir(parents=True)
    (take.parent / "latest").symlink_to("v001")
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if stubborn else ""
    say = f"print({json.dumps(json.dumps(START | {'folder': str(take)}))}, flush=True)\n"
    run = talking(tmp_path, then=f"{ignore}{say}time.sleep(60)", desk=desk)
    while run.progress.folder is None:
        run.poll()
        time.sleep(0.01)
    run.cancel()
    assert run.wait().how == "cancelled"
    shutil.rmtree(folder / "x", ignore_errors=True)
    assert [one.name for one in folder.iterdir()] == ["a.toml"] and (folder / "a.toml").read_text() == "before"


def test_what_was_done_before_it_was_called_off_is_done(tmp_path: Path) -> None:
    run = talking(tmp_path, START, DONE)
    run._process.wait()
    run.cancel()
    assert run.wait().how == "done"


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("same")
    before = (tmp_path / "a").stat().st_mtime_ns
    desk = Desk()
    desk.write(tmp_path / "a", "same")
    desk.undo()
    assert (tmp_path / "a").read_text() == "same" and (tmp_path / "a").stat().st_mtime_ns == before


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refusal, match="cannot be written"):
        Desk().write(tmp_path / "file/inputs/a.usda", "x")


def finished(folder: Path, **more: Any) -> Path:
    """A take's folder with a report."""
    folder.mkdir(parents=True)
    (folder / "coat.usdc").write_text("")
    report = {"outcome": "finished", "sentences": ["Met."], "animations": {"coat": ["coat.pc2", "coat.usdc"]},
              "prims": {"coat.usdc": "/coat"}, "per_frame": {"force_N": [0.0, 3.0], "residual_m": [0.1]}}  # fmt: skip
    (folder / "report.json").write_text(json.dumps(report | more))
    return folder


def test_a_take_is_read(tmp_path: Path) -> None:
    take = read_take(finished(tmp_path / "takes/coat/v002"))
    assert take.animations == {"coat": (tmp_path / "takes/coat/v002/coat.usdc", "/coat")}
    assert take.unit is None and read_take(finished(tmp_path / "b/v001", facts={"unit": 0.01})).unit == 0.01
    assert take.name == "coat/v002" and take.finished and take.largest == {"force": 3.0, "residual": 0.1}


def test_takes_are_found_newest_first(tmp_path: Path) -> None:
    for k, name in enumerate(["coat/v001", "coat-quick/v001", "coat/v002", "other/v001"]):
        os.utime(finished(tmp_path / name) / "report.json", (k, k))
    (tmp_path / "coat/v003").mkdir()  # in the making
    (tmp_path / "coat/latest").symlink_to("v002")
    assert versions(tmp_path, ["coat", "coat-quick", "nothing"]) == ["coat/v002", "coat-quick/v001", "coat/v001"]


@pytest.mark.parametrize(
    ("report", "said"), [(None, "is no finished take"), ("{", "cannot be read"), ("[]", "is not what bunraku writes")]
)
def test_what_is_no_take_is_refused(tmp_path: Path, report: str | None, said: str) -> None:
    if report is not None:
        (tmp_path / "report.json").write_text(report)
    with pytest.raises(Refusal, match=said):
        read_take(tmp_path)
    with pytest.raises(Refusal, match="no USD"):
        read_take(finished(tmp_path / "takes/a/v001", prims={}))


def test_the_words_that_run_a_shot() -> None:
    words = ["python", "-m", "bunraku", "run", str(Path("a/b.toml")), "--progress", "json"]
    assert running("python", Path("a/b.toml")) == words and running("python", Path("a/b.toml"), 3)[-2:] == [
        "--threads",
        "3",
    ]
