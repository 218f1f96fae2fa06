"""Runs through the real command: progress, numbering, endings and their exit codes."""

from __future__ import annotations

import errno
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku import __version__
from bunraku.cli.shows import BarShow, PlainShow
from bunraku.contracts import Outcome, Solution, State
from bunraku.dynamics import ImplicitEuler
from bunraku.io import read_animation, read_clip, write_mesh
from bunraku.scenes import box_mesh
from bunraku.shots import DEMOS, Demo, FrameDone


def test_a_run_tells_where_the_take_is_what_is_in_it_and_what_was_met(folder, bunraku):
    code, out, err = bunraku("run", "box.toml")
    assert code == 0
    take = folder.path / "takes/box/v001"
    assert str(take) in out and "Direction met on all 6 frames" in out
    for name in ("box.usdc", "index.html", "report.json", "frames"):
        assert re.search(rf"^  {re.escape(name)} +[\d.]+ k?B  \w", out, re.MULTILINE)
    lines = [line for line in err.splitlines() if line.startswith("frame ")]
    assert [line.split(",")[0] for line in lines] == [f"frame {k} ({k}/6)" for k in range(1, 7)]
    assert re.fullmatch(r"frame 6 \(6/6\), residual [\d.e-]+ m, [\d.e+]+ frames/s, 0:00 left", lines[-1])
    assert "\r" not in err and "\x1b" not in err
    solver = json.loads((take / "provenance.json").read_text())["solver"]
    assert f"solver: {solver}\n" in err and err.index("solver: ") < err.index("frame 1 ")


def test_takes_are_numbered_and_latest_points_to_the_newest(folder, bunraku):
    for expected in ("v001", "v002"):
        assert bunraku("run", "box.toml", "--frames", "1-2")[0] == 0
        assert (folder.path / "takes/box/latest").resolve().name == expected
    (folder.path / "takes/box/v007").mkdir()
    assert bunraku("run", "box.toml", "--frames", "1-2")[0] == 0
    assert (folder.path / "takes/box/latest").resolve().name == "v008"
    assert not any((folder.path / "takes/box/v007").iterdir())


def test_json_progress_is_one_object_a_line(folder, bunraku):
    code, out, _ = bunraku("run", "box.toml", "--progress", "json")
    events = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    kinds = [event["event"] for event in events]
    assert "thread" in next(event for event in events if event["event"] == "start")["solver"]
    assert kinds.count("frame") == 6 and kinds.count("start") == 1 and kinds[-1] == "done"
    frames = [event for event in events if event["event"] == "frame"]
    assert [event["frame"] for event in frames] == [1, 2, 3, 4, 5, 6]
    assert [event["index"] for event in frames] == [0, 1, 2, 3, 4, 5]
    assert all(event["count"] == 6 and event["residual"] < 1e-12 for event in frames)
    assert frames[0]["eta_s"] is None and frames[3]["eta_s"] > 0 and frames[-1]["eta_s"] == 0
    done = events[-1]
    assert done["exit_code"] == 0 and done["direction_met"] and done["folder"].endswith("v001")


def test_json_errors_and_warnings_are_events(folder, bunraku):
    code, out, err = bunraku("run", "gone.toml", "--progress", "json")
    assert code == 2 and "no such file" in err
    assert json.loads(out)["event"] == "error" and json.loads(out)["exit_code"] == 2
    text = (folder.path / "guide.usda").read_text()
    (folder.path / "guide.usda").write_text(re.sub(r"\n *metersPerUnit = [^\n]*", "", text))
    folder.shot("[object.box]\nguide = { file = 'guide.usda' }\nmesh = { levels = 0 }\n[output]\npreview = false")
    code, out, _ = bunraku("run", "box.toml", "--progress", "json", "--dry-run")
    warnings = [json.loads(line) for line in out.splitlines() if '"warning"' in line]
    assert code == 0 and "does not say its unit" in warnings[0]["text"]
    assert bunraku("run", "box.toml", "--progress", "json")[0] == 0
    assert "does not say its unit" in (folder.path / "takes/box/v001/run.log").read_text()


def test_the_bar_shows_frame_rate_time_left_and_residual(folder, bunraku):
    code, out, err = bunraku("run", "box.toml", "--progress", "bar")
    last = err.split("\r")[-1]
    assert "solver: " in err
    assert code == 0 and "Direction met" in out
    assert re.search(r"frame 6: 100%.*6/6 \[.*frame/s, residual [\d.]+e-\d+ m\]", last)


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    before = sorted(folder.path.rglob("*"))
    code, out, _ = bunraku("run", "box.toml", "--dry-run", "--frames", "2-4")
    assert code == 0 and "frames 2 to 4 at 24 frames/s" in out and "shell of 26 vertices, 8 regions" in out
    assert f"would write box.usdc and the report to {folder.path / 'takes/box/v001'}" in out
    assert sorted(folder.path.rglob("*")) == before
    monkeypatch.setenv("BUNRAKU_SOLVER", "superlu")
    assert "solver: SciPy SuperLU, 1 thread\n" in bunraku("run", "box.toml", "--dry-run")[1]
    monkeypatch.setenv("BUNRAKU_SOLVER", "foo")
    code, out, err = bunraku("run", "box.toml", "--dry-run")
    assert (code, out) == (2, "") and "unknown or missing linear solver (got 'foo')" in err
    monkeypatch.delenv("BUNRAKU_SOLVER")
    assert bunraku("run", "box.toml", "--dry-run", "--out", "guide.usda")[0] == 2


def too_violent_after(monkeypatch: pytest.MonkeyPatch, time: float) -> None:
    """Let every step that ends later than `time` [s] fail, as a guide too violent for the solver would."""
    step = ImplicitEuler.step

    def failing(self: ImplicitEuler, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        solution = step(self, state, dt, last=last)
        if state.time + dt < time + 1e-9:
            return solution
        return replace(solution, outcome=Outcome.NOT_CONVERGED, evidence={"vertex": 3, "position": (0.0, 1.0, 2.0)})

    monkeypatch.setattr(ImplicitEuler, "step", failing)


def test_a_guide_too_violent_stops_with_frames_kept_and_a_reason(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    too_violent_after(monkeypatch, 4 / 24)
    code, out, _ = bunraku("run", "box.toml")
    assert code == 3
    report = json.loads((folder.path / "takes/box/v001/report.json").read_text())
    kept = report["frames"]
    assert report["outcome"] == "stopped" and kept == [1, 2, 3, 4]
    assert f"Stopped by physics at frame {kept[-1] + 1:g}: " in out and "try more substeps" in out
    assert "the largest imbalance is at vertex 3 (0, 1, 2)" in out
    assert "frame index" not in out
    assert read_clip(folder.path / "takes/box/v001/box.usdc").frames.tolist() == kept
    assert len(folder.frames("takes/box/v001")) == len(kept)
    assert "stopped by physics" in (folder.path / "takes/box/v001/index.html").read_text()
    again, out, _ = bunraku("run", "box.toml", "--resume")
    assert again == 3 and "v001" in out and not (folder.path / "takes/box/v002").exists()


def test_direction_that_is_missed_fails_only_under_strict(folder, bunraku):
    near = read_animation("guide.usda")
    folder.guide(replace(near, points=near.points + [1e5, 0.0, 0.0]))
    coarse, fine = (f"[output]\npreview = false\nformats = ['{kind}']" for kind in ("pc2", "usdc"))
    box = "[object.box]\nguide = { file = 'guide.usda' }\nmesh = { levels = 1 }\n"
    folder.shot(box + coarse)  # float32 about the world's origin: a centimetre at a hundred kilometres
    code, out, _ = bunraku("run", "box.toml")
    assert code == 0 and re.search(r"Direction missed on \d of 6 frames .* in memory, 0\.00\d+ m in ", out)
    assert bunraku("run", "box.toml", "--strict")[0] == 4
    folder.shot(box + fine)
    assert bunraku("run", "box.toml", "--strict")[0] == 0


def test_direction_that_yields_fails_under_strict_and_is_not_called_met(folder, bunraku):
    folder.box("mesh = { levels = 0 }\ntrack = { cap = 0.001 }")
    code, out, err = bunraku("run", "box.toml", "--strict", "--frames", "1-3")
    assert code == 4 and "Direction yielded on 2 of 3 frames (2–3)" in out
    assert "less than the shell's weight" in err
    report = json.loads(Path("takes/box/v001/report.json").read_text())
    assert report["direction_met"] is False and report["yielded_frames"] == [2, 3] and report["missed_frames"] == []
    assert len(report["yielded"]) == 8 and report["yielded"][0]["frames"] == [2, 3]
    assert report["yielded"][0]["max_m"] == pytest.approx(max(report["per_frame"]["residual_m"]))
    assert (
        '<span class="badge yielded">yielded on 2 of 3 frames</span>' in Path("takes/box/v001/index.html").read_text()
    )


def test_another_rest_shape_takes_nothing_from_the_direction(folder, bunraku):
    mesh = box_mesh()
    write_mesh(folder.path / "rest.obj", mesh.with_rest(mesh.rest * np.where(mesh.rest[:, 1:2] > 0.3, 1.02, 1.0)))
    folder.box("mesh = { file = 'rest.obj', levels = 1, unit = 'm' }")
    code, out, _ = bunraku("run", "box.toml", "--strict")
    assert code == 0 and "Direction met on all 6 frames" in out


def interrupt_at(monkeypatch: pytest.MonkeyPatch, frame: int, error: BaseException) -> None:
    tell = PlainShow.tell

    def told(self: PlainShow, event: object) -> None:
        tell(self, event)  # type: ignore[arg-type]
        if isinstance(event, FrameDone) and event.frame == frame:
            raise error

    monkeypatch.setattr(PlainShow, "tell", told)


def test_ctrl_c_keeps_the_frames_and_says_how_to_carry_on(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    (folder.path / "other/box").mkdir(parents=True)  # as deep: the layer names the guide relative to itself
    assert bunraku("run", "box.toml", "--out", "other/box/whole")[0] == 0
    with monkeypatch.context() as patch:
        interrupt_at(patch, 3, KeyboardInterrupt())
        code, out, err = bunraku("run", "box.toml")
    assert (code, out) == (130, "")
    assert f"interrupted; 3 of 6 frames are kept in {folder.path / 'takes/box/v001'}" in err
    words = re.search(r"carry on with: bunraku (.*)", err)
    assert words is not None and words.group(1) == "run box.toml --resume"
    code, out, err = bunraku(*words.group(1).split())
    assert code == 0 and "3 frames to make" in err
    assert folder.frames("takes/box/v001") == folder.frames("other/box/whole")
    for name in ("box.usdc", "report.json"):
        assert (folder.path / "takes/box/v001" / name).read_bytes() == (
            folder.path / "other/box/whole" / name
        ).read_bytes()
    code, out, _ = bunraku("run", "box.toml", "--resume")
    assert code == 0 and "was finished already" in out


def test_ctrl_c_before_the_first_frame_leaves_nothing(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bunraku.shots.run.provenance", interrupted)
    code, _, err = bunraku("run", "box.toml")
    assert code == 130 and "interrupted before the first frame" in err
    assert not (folder.path / "takes").exists()


def full_disk_after(monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
    """Let the disk be full after some frames."""
    write, left = Path.write_bytes, [writes]

    def write_bytes(self: Path, data: bytes) -> int:
        if self.suffix == ".bkframe":
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)


def test_a_full_disk_is_one_sentence_and_the_frames_carry_on_later(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        full_disk_after(patch, 4)
        code, out, err = bunraku("run", "box.toml")
    assert (code, out) == (2, "")
    assert "the disk is full" in err and "(4 of 6 frames are kept)" in err and "carry on with: " in err
    assert bunraku("run", "box.toml", "--resume")[0] == 0
    assert len(folder.frames("takes/box/v001")) == 6


def test_a_full_disk_at_the_first_frame_leaves_no_folder(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    full_disk_after(monkeypatch, 0)
    code, _, err = bunraku("run", "box.toml")
    assert code == 2 and err.count("bunraku: ") == 1 and "the disk is full" in err
    assert not (folder.path / "takes").exists()


def test_a_fault_of_ours_is_one_sentence_with_the_story_in_the_log(folder, bunraku, monkeypatch: pytest.MonkeyPatch):
    interrupt_at(monkeypatch, 3, ZeroDivisionError("oops"))
    code, _, err = bunraku("run", "box.toml")
    log = folder.path / "takes/box/v001/run.log"
    assert code == 1 and f"unexpected ZeroDivisionError: oops; the full story is in {log}" in err
    assert "Traceback" in log.read_text()


def test_a_fault_before_the_take_is_logged_elsewhere(folder, bunraku, monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def broken(path: str) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("bunraku.shots.read_shot_or_stages", broken)
    code, _, err = bunraku("run", "box.toml")
    found = re.search(r"the full story is in (\S+)", err)
    assert code == 1 and found is not None and "Traceback" in Path(found.group(1)).read_text()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, folder) -> None:
    guide = read_animation("guide.usda")
    settings = {"mesh": {"levels": 1}, "material": {"preset": "vinyl"}}
    monkeypatch.setitem(DEMOS, "box", Demo("a box", lambda: guide, settings))


def test_the_demo_writes_a_shot_that_can_be_changed_and_run(tiny, folder, bunraku):
    code, out, _ = bunraku("demo", "--no-preview")
    assert code == 0 and "demo/takes/box/v001" in out and "bunraku run demo/box.toml" in out
    text = (folder.path / "demo/box.toml").read_text()
    assert text.startswith("# a box\n") and 'file = "guide.usda"' in text
    (folder.path / "demo/box.toml").write_text(text.replace("levels = 1", "levels = 0"))
    assert bunraku("demo", "--no-preview")[0] == 0  # the changed file is kept
    assert json.loads((folder.path / "demo/takes/box/v002/report.json").read_text())["facts"]["vertices"] == 8
    assert bunraku("run", "demo/box.toml", "--no-preview")[0] == 0
    assert (folder.path / "demo/takes/box/v003").is_dir()


def test_the_demo_makes_the_folder_given_the_take(tiny, folder, bunraku):
    (folder.path / "look").mkdir()
    code, out, _ = bunraku("demo", "box", "--out", "look", "--no-preview")
    assert code == 0 and "the guide" in out
    names = {one.name for one in (folder.path / "look").iterdir()}
    assert {"box.toml", "guide.usda", "box.usdc", "report.json", "index.html", "shot.toml"} <= names
    code, _, err = bunraku("demo", "--out", "look")
    assert code == 2 and "the folder is not empty" in err
    assert bunraku("run", "look/box.toml", "--no-preview")[0] == 0
    assert (folder.path / "look/takes/box/v001/box.usdc").exists()
    code, out, _ = bunraku("run", "look/box.toml", "--resume", "--out", "look", "--no-preview")
    assert code == 0 and "was finished already" in out


def test_demos_are_listed_and_misspelt_ones_answered(bunraku):
    code, out, _ = bunraku("demo", "--list")
    assert code == 0 and out.startswith("box  ")
    code, _, err = bunraku("demo", "bax")
    assert code == 2 and "there is no such demo (got 'bax'); allowed: box, bag, bag_flowy, bag_accordion, " in err


def test_help_and_version(bunraku):
    assert bunraku("--version") == (0, f"bunraku {__version__}\n", "")
    code, out, _ = bunraku("run", "--help")
    assert code == 0 and "bunraku run box.toml --resume" in out
    assert "object.NAME.track.strength" in out and "steps per frame [2]" in out
    assert "bunraku demo --list" in bunraku("demo", "--help")[1]


def test_a_terminal_gets_the_bar(monkeypatch: pytest.MonkeyPatch):
    from bunraku.cli.shows import choose_show

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert isinstance(choose_show(None), BarShow)
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    assert isinstance(choose_show(None), PlainShow)
