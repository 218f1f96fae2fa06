"""`bunraku wedge` and `bunraku farm`: words, exit codes and what is shown, by a crew in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_crew import InlineCrew

from bunraku import shots
from bunraku.cli import view
from bunraku.direction import Job
from bunraku.numerics import FactorisationError

Bunraku = Callable[..., tuple[int, str, str]]
LEVELS = ("--vary", "object.box.mesh.levels=0,1")


@pytest.fixture
def crew(monkeypatch: pytest.MonkeyPatch) -> InlineCrew:
    """Whoever is hired is in this process."""
    inline = InlineCrew()
    for module in ("wedge", "farm"):
        monkeypatch.setattr(f"bunraku.cli.{module}.hire", lambda args: inline.hire)
    return inline


def test_a_wedge_is_told_line_by_line_and_as_a_table(folder, bunraku: Bunraku, crew: InlineCrew):
    code, out, err = bunraku("wedge", "box.toml", *LEVELS, "--no-preview")
    assert code == 0
    assert "2 combinations, one worker" in err and "c002: frame 6 (6/6), residual" in err and "c001: finished" in err
    lines = [line.split() for line in out.splitlines()]
    assert lines[0][:2] == ["take", "levels"] and lines[1][:2] == ["c001", "0"] and lines[2][:2] == ["c002", "1"]
    assert f"bunraku view {folder.path / 'takes/box/wedge_v001'}" in out


def test_a_bar_for_all_takes(folder, bunraku: Bunraku, crew: InlineCrew):
    code, _, err = bunraku("wedge", "box.toml", *LEVELS, "--no-preview", "--progress", "bar")
    assert code == 0 and "12/12" in err and "c001: finished" in err


def test_json_says_which_take(folder, bunraku: Bunraku, crew: InlineCrew):
    _, out, _ = bunraku("wedge", "box.toml", *LEVELS, "--no-preview", "--progress", "json")
    events = [json.loads(line) for line in out.splitlines()]
    frames = [(one["take"], one["index"]) for one in events if one["event"] == "frame"]
    assert frames == [("c001", k) for k in range(6)] + [("c002", k) for k in range(6)]
    (begun,) = [one for one in events if one["event"] == "wedge"]
    assert (begun["count"], begun["done"], begun["takes"]) == (12, 0, 2)
    done = events[-1]
    assert (done["event"], done["exit_code"], done["outcome"]) == ("done", 0, "finished")
    assert [one["values"] for one in done["takes"]] == [{"object.box.mesh.levels": k} for k in (0, 1)]
    assert done["takes"][0]["numbers"]["force_N"] > 0.0


def test_exit_codes_are_the_worst_takes(folder, bunraku: Bunraku, crew: InlineCrew, monkeypatch):
    frames = Job.frames

    def some(self: Job, after: Any = None) -> Any:
        for frame in frames(self, after):
            if frame.index == 2 and len(frame.state.q) > 24:
                raise FactorisationError("zero pivot")
            yield frame

    monkeypatch.setattr(Job, "frames", some)
    code, out, err = bunraku("wedge", "box.toml", *LEVELS, "--no-preview")
    assert code == 3 and "c002: stopped" in err and "stopped by physics" in out


def test_missed_direction_counts_where_it_is_asked_for(folder, bunraku: Bunraku, crew: InlineCrew):
    vary = ("--vary", "object.box.track.cap=0.5,1e9", "--no-preview")
    assert bunraku("wedge", "box.toml", *vary)[0] == 0
    code, out, _ = bunraku("wedge", "box.toml", *vary, "--strict", "--resume")
    assert code == 4 and "yielded to a cap" in out and "direction met" in out


def test_workers_that_die_are_our_fault(folder, bunraku: Bunraku, crew: InlineCrew):
    crew.deaths["c001"] = [2.0, 3.0, 4.0]
    code, out, err = bunraku("wedge", "box.toml", *LEVELS, "--no-preview")
    assert code == 1 and "warning: c001: its worker died; another worker carries on" in err
    assert "c001: 3 workers died at it" in out


def test_an_interruption_says_how_to_carry_on(folder, bunraku: Bunraku, crew: InlineCrew, monkeypatch):
    heard, rung = InlineCrew.heard, list[bool]()

    def interrupting(self: InlineCrew, seconds: float) -> Any:
        if self.made == ["c001"] and not rung:
            rung.append(True)
            raise KeyboardInterrupt
        return heard(self, seconds)

    monkeypatch.setattr(InlineCrew, "heard", interrupting)
    code, _, err = bunraku("wedge", "box.toml", *LEVELS, "--no-preview", "--frames", "1-3")
    wedge = folder.path / "takes/box/wedge_v001"
    assert code == 130
    assert f"interrupted; 1 of 2 takes are finished in {wedge}" in err
    assert "carry on with: bunraku wedge box.toml --resume --vary object.box.mesh.levels=0,1 --frames=1-3" in err
    code, _, err = bunraku("wedge", "box.toml", "--resume", "--no-preview", "--frames", "1-3")  # of whatever values
    assert code == 0 and crew.made == ["c001", "c002"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("wedge", "box.toml"), "a wedge needs something to vary"),
        (("wedge", "box.toml", "--resume"), "there is no wedge to resume"),
        (("wedge", "none.toml", *LEVELS), "none.toml: there is no such file"),
        (("wedge", "box.toml", *LEVELS, "--workers", "0"), "'0' is not a whole number above zero"),
        (("wedge", "box.toml", *LEVELS, "--workers", "2", "--address", "tcp://h:1"), "--workers is for this machine"),
        (("farm", "box.toml"), "a farm needs the scheduler's --address"),
    ],
)
def test_slips_are_refused(folder, bunraku: Bunraku, words: tuple[str, ...], said: str):
    code, _, err = bunraku(*words)
    assert code == 2 and said in err and not (folder.path / "takes").exists()


def test_without_dask_an_address_is_refused_and_this_machine_works(folder, bunraku: Bunraku, monkeypatch):
    monkeypatch.setattr("bunraku.shots.dask_crew.find_spec", lambda name: None)
    code, _, err = bunraku("wedge", "box.toml", *LEVELS, "--address", "tcp://127.0.0.1:8786")
    assert code == 2 and "--address needs Dask, which is not installed; try: pip install 'bunraku[cluster]'" in err
    hired: list[tuple[int, int]] = []
    monkeypatch.setattr(shots, "local_crew", lambda *how: hired.append(how) or InlineCrew().hire(1))
    assert bunraku("wedge", "box.toml", *LEVELS, "--no-preview", "--workers", "7", "--threads", "3")[0] == 0
    assert hired == [(2, 3)]  # no more than there are takes


def test_dask_is_imported_by_nobody_who_does_not_need_it(folder, bunraku: Bunraku, crew: InlineCrew):
    before = {name for name in sys.modules if name.startswith(("dask.", "distributed"))}
    bunraku("wedge", "box.toml", *LEVELS, "--no-preview")
    assert {name for name in sys.modules if name.startswith(("dask.", "distributed"))} == before


def test_a_farm_tells_what_a_run_tells(folder, bunraku: Bunraku, crew: InlineCrew):
    code, out, err = bunraku("farm", "box.toml", "--address", "tcp://h:1")
    take = folder.path / "takes/box/v001"
    assert code == 0 and "one worker" in err and "frame 6 (6/6), residual" in err
    assert "Direction met on all 6 frames" in out and str(take) in out and (take / "report.json").exists()
    assert bunraku("run", "box.toml", "--threads", "1")[0] == 0
    assert folder.frames("takes/box/v001") == folder.frames("takes/box/v002")
    code, out, _ = bunraku("farm", "box.toml", "--address", "tcp://h:1", "--resume")
    assert code == 0 and "v002 was finished already" in out


def test_a_farm_brings_refusals_and_exit_codes_back(folder, bunraku: Bunraku, crew: InlineCrew, monkeypatch):
    folder.box("pins = [{ vertices = [700] }]")
    code, _, err = bunraku("farm", "box.toml", "--address", "tcp://h:1")
    assert code == 2 and "object.box.pins[0]" in err and not (folder.path / "takes").exists()
    folder.box("track = { cap = 0.5 }")
    assert bunraku("farm", "box.toml", "--address", "tcp://h:1", "--strict")[0] == 4
    monkeypatch.setattr("bunraku.shots.run.write_scene", lambda *args: 1 / 0)
    code, _, err = bunraku("farm", "box.toml", "--address", "tcp://h:1")
    assert code == 1 and "ZeroDivisionError" in err
    assert sorted(one.name for one in (folder.path / "takes/box").iterdir()) == ["latest", "v001"]


def test_a_farm_whose_worker_sees_another_disk_or_version(folder, bunraku: Bunraku, crew: InlineCrew, monkeypatch):
    monkeypatch.setattr("bunraku.shots.farm.content_hash", lambda path: "0" * 64)
    code, _, err = bunraku("farm", "box.toml", "--address", "tcp://h:1")
    assert code == 2 and "sees another file there; try: a disk that all machines see" in err


def test_a_workers_version_must_be_ours(folder, bunraku: Bunraku, crew: InlineCrew, monkeypatch):
    monkeypatch.setattr("bunraku.shots.wedge_work.__version__", "9.9")
    code, _, err = bunraku("wedge", "box.toml", *LEVELS)
    assert code == 2 and "has bunraku 9.9, and the take is to be made by 0." in err


def test_the_folder_of_a_wedge_is_all_its_takes(folder, bunraku: Bunraku, crew: InlineCrew, capsys, monkeypatch):
    bunraku("wedge", "box.toml", *LEVELS, "--no-preview")
    wedge = str(folder.path / "takes/box/wedge_v001")
    assert [one.name for one in view._opened([wedge])] == ["box c001", "box c002"]
    monkeypatch.setattr(view, "_MOST", 1)
    assert [one.name for one in view._opened([wedge])] == ["box c001"]
    assert "the first 1 of 2 takes; all of them: " in capsys.readouterr().out


def test_a_wedge_without_frames_is_nothing_to_look_at(folder, bunraku: Bunraku, crew: InlineCrew):
    bunraku("wedge", "box.toml", *LEVELS, "--no-preview")
    wedge = folder.path / "takes/box/wedge_v001"
    for file in wedge.glob("c*/frames/*"):
        file.unlink()
    code, _, err = bunraku("view", str(wedge), "--no-open")
    assert code == 2 and "none of the wedge's takes has any frames yet" in err


def test_a_take_of_a_wedge_may_feed_another_shot(folder, bunraku: Bunraku, crew: InlineCrew):
    bunraku("wedge", "box.toml", *LEVELS, "--no-preview")
    text = '[object.coat]\nguide = { take = "box/wedge_v001/c002" }\nmesh = { levels = 0 }\n[output]\npreview = false\n'
    folder.shot(text, "coat.toml")
    assert bunraku("run", "coat.toml")[0] == 0
    assert Path(folder.path / "takes/coat/v001/report.json").exists()
