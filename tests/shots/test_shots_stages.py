"""Several shots in one file: each after what feeds it, and only where something it is made of has changed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import planned_bar
import pytest
import tomli_w
from soft_bar import FOAM, SKIN

import bunraku as bk
from bunraku.cli import main
from bunraku.cli.performance import Performance
from bunraku.contracts import InputError, Outcome, Solution, State
from bunraku.dynamics import ImplicitEuler
from bunraku.shots import Event, FrameDone, StagesResult, Started, read_shot, read_shot_or_stages, rehearse_stages
from bunraku.shots.prepare import prepare
from bunraku.shots.provenance import settings as made_of

_PLAN = planned_bar.bar(keys=[{"frame": 2, "region": "head", "move": [0.1, 0.0, 0.0]}], free=True)
_HEAD_DOWN = [{"region": "foot"}, {"region": "head", "move": [0.0, -0.1, 0.0]}]
_STEERED = {
    "role": "body", **{name: _PLAN[name] for name in ("surface", "tets", "material", "regions")},
    "path": [{"stage": "jump"}], "keys": [{"frame": 2, "stage": "jump"}, {"frame": 3, "grips": _HEAD_DOWN}],
}  # fmt: skip
_COAT = {"guide": {"stage": "land"}, "mesh": {"levels": 0}, "track": {"method": "clusters", "count": 4}}
_WRINKLED = {"role": "wrinkle", "guide": {"stage": "land"}, "skin": SKIN, "interior": FOAM}
_ONE_STEP = {"substeps": 1}
FIGURE: dict[str, Any] = {
    "shot": {"frames": [1, 3], "rate": 24},
    "output": {"preview": False},
    "stage": {  # the coat is written first, and made after what feeds it
        "coat": {"object": {"coat": _COAT}, "physics": _ONE_STEP},
        "jump": {"object": {"bar": _PLAN}},
        "land": {"object": {"bar": _STEERED}, "physics": _ONE_STEP},
        "skin": {"object": {"bar": _WRINKLED}, "physics": _ONE_STEP},
    },
}
ORDER = ("jump", "land", "coat", "skin")
Change = Callable[[dict[str, Any]], object]


def written(folder: Path, change: Change = lambda stage: None, name: str = "figure") -> Path:
    """The file, its stages changed."""
    settings = json.loads(json.dumps(FIGURE))
    change(settings["stage"])
    path = folder / f"{name}.toml"
    path.write_text(tomli_w.dumps(settings), encoding="utf-8")
    return path


def run(folder: Path, change: Change = lambda stage: None, **how: Any) -> StagesResult:
    return bk.read_stages(written(folder, change)).run(threads=1, **how)


def refusal(folder: Path, change: Change) -> str:
    with pytest.raises(InputError) as caught:
        bk.read_stages(written(folder, change))
    return str(caught.value).replace(os.path.relpath(folder) + os.sep, "").replace(str(folder) + os.sep, "")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StagesResult]:
    folder = tmp_path_factory.mktemp("stages")
    planned_bar.write_bar(folder)
    return folder, run(folder)


@pytest.fixture
def bar(tmp_path: Path) -> Path:
    planned_bar.write_bar(tmp_path)
    return tmp_path


def test_each_stage_is_a_take_made_after_what_feeds_it(made: tuple[Path, StagesResult]) -> None:
    folder, result = made
    assert tuple(result.takes) == ORDER == result.made and not result.unchanged and not result.left
    assert [one.folder for one in result.takes.values()] == [folder / f"takes/figure-{name}/v001" for name in ORDER]
    alone = read_shot(folder / "takes/figure-coat/v001/shot.toml")  # a take's own shot is complete without the file
    assert alone.shells["coat"].guide.take == "figure-land/v001"
    fed = json.loads((folder / "takes/figure-coat/v001/provenance.json").read_text())["inputs"][0]
    assert fed["path"] == str(folder / "takes/figure-land/v001/bar.usdc") and len(fed["sha256"]) == 64


def _wrinkle(stage: dict[str, Any]) -> None:
    stage["skin"]["object"]["bar"]["skin"] = {**SKIN, "young": 2e7}


def _landing(stage: dict[str, Any]) -> None:
    stage["land"]["object"]["bar"]["keys"][1]["grips"][1]["move"] = [0.0, -0.12, 0.0]


def _leap(stage: dict[str, Any]) -> None:
    stage["jump"]["object"]["bar"]["keys"][0]["move"] = [0.12, 0.0, 0.0]


@pytest.mark.slow
def test_an_edit_makes_what_depends_on_it_and_nothing_else(
    made: tuple[Path, StagesResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = made
    frames: list[Event] = []
    again = run(folder, progress=lambda one: frames.append(one) if isinstance(one, FrameDone) else None)
    assert again.unchanged == ORDER and not again.made and not frames
    assert run(folder, _wrinkle).made == ("skin",)
    assert run(folder, _landing).made == ("land", "coat", "skin")
    assert run(folder, _leap).made == ORDER
    monkeypatch.chdir(folder.parent)  # what a stage is made of does not depend on where it is started from
    back = run(folder)
    assert not back.made and {one.folder.name for one in back.takes.values()} == {"v001"}
    assert (folder / "takes/figure-skin/latest").resolve().name == "v001"
    assert sorted(one.name for one in (folder / "takes/figure-skin").glob("v*")) == ["v001", "v002", "v003", "v004"]


def test_what_is_fed_counts_by_its_content(bar: Path) -> None:
    """A change upstream that changes no byte of the take leaves all after it alone."""

    def two(stage: dict[str, Any]) -> None:
        del stage["coat"], stage["skin"]

    def named(stage: dict[str, Any]) -> None:
        two(stage)
        stage["jump"]["object"]["bar"]["regions"]["unused"] = {"vertices": [0]}

    run(bar, two)
    result = run(bar, named)
    assert result.made == ("jump",) and result.takes["jump"].folder.name == "v002"
    assert result.unchanged == ("land",)


def test_the_command_tells_what_was_made_and_what_was_not(
    made: tuple[Path, StagesResult], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = made
    path = str(written(folder))
    assert main(["run", path, "--threads", "1", "--progress", "json"]) == 0
    *_, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert last["event"] == "done" and last["already_finished"] and [one["stage"] for one in last["stages"]] == [*ORDER]
    assert main(["run", path, "--threads", "1", "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{name}: unchanged, v001" for name in ORDER]
    assert main(["run", path, "--threads", "1", "--progress", "plain"]) == 0
    told = capsys.readouterr()
    assert "jump: unchanged, v001" in told.err
    assert told.out.splitlines()[0].split() == ["jump", "unchanged", f"{folder}/takes/figure-jump/v001"]


def test_a_dry_run_says_what_waits_for_what(bar: Path) -> None:
    lines = rehearse_stages(bk.read_stages(written(bar)), threads=1)
    assert lines[0] == "jump: would be made" and lines[-3].startswith("land: would be made after jump")
    assert not (bar / "takes").exists()


def test_a_stage_that_fails_ends_the_run_in_one_sentence(bar: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(stage: dict[str, Any]) -> None:
        stage["land"]["object"]["bar"]["keys"][0]["at"] = 99

    assert main(["run", str(written(bar, missing)), "--threads", "1", "--progress", "plain"]) == 2
    *_, why, ending = capsys.readouterr().err.splitlines()  # what was done is finished: there is nothing to resume
    assert "figure.toml: stage.land.object.bar.keys[0]" in why
    assert ending == "bunraku: stage land failed; not run: coat, skin; done before it: jump"


def test_physics_that_stops_leaves_the_rest(
    bar: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = ImplicitEuler.step

    def failing(self: ImplicitEuler, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        solution = step(self, state, dt, last=last)
        return solution if state.time + dt < 1.5 / 24 else replace(solution, outcome=Outcome.NOT_CONVERGED)

    def both_on_the_jump(stage: dict[str, Any]) -> None:
        del stage["land"]
        stage["coat"]["object"]["coat"]["guide"]["stage"] = stage["skin"]["object"]["bar"]["guide"]["stage"] = "jump"

    monkeypatch.setattr(ImplicitEuler, "step", failing)
    assert main(["run", str(written(bar, both_on_the_jump)), "--threads", "1", "--progress", "plain"]) == 3
    *_, jump, coat, skin, ending = capsys.readouterr().out.splitlines()
    assert jump.split()[1] == "made" and coat.split()[1] == "stopped" and skin.split() == ["skin", "not", "run"]
    assert ending == "stage coat failed; not run: skin; done before it: jump"


def test_an_interrupted_stage_is_carried_on(bar: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, FrameDone) and event.index == 1 and (bar / "takes/figure-land").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(bar, progress=interrupt)
    result = run(bar, resume=True)
    assert result.unchanged == ("jump",) and result.takes["land"].folder.name == "v001"
    assert result.made == ("land", "coat", "skin")


def test_ctrl_c_tells_which_stage_it_met_and_how_to_go_on(
    bar: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell = Performance.tell

    def interrupted(self: Performance, event: Event) -> None:
        tell(self, event)
        if isinstance(event, Started) and event.shot == "figure-land":
            raise KeyboardInterrupt

    path = str(written(bar))
    monkeypatch.setattr(Performance, "tell", interrupted)
    assert main(["run", path, "--threads", "1", "--progress", "plain"]) == 130
    *_, which, how, again = capsys.readouterr().err.splitlines()
    assert which == "stage land was interrupted; not run: coat, skin; done before it: jump"
    assert how == "bunraku: interrupted before a take's first frame; finished takes are kept"
    assert again == f"bunraku: carry on with: bunraku run {path} --resume"
    assert not list((bar / "takes/figure-land").glob("v*"))


def test_why_a_stage_is_made_anew_is_told(made: tuple[Path, StagesResult], capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = made

    def deeper(stage: dict[str, Any]) -> None:
        stage["land"]["object"]["bar"]["keys"][1]["grips"][1]["move"] = [0.0, -0.07, 0.0]

    assert main(["run", str(written(folder, deeper)), "--threads", "1", "--dry-run"]) == 0
    told = capsys.readouterr().out.splitlines()
    why = "object.bar.keys[1].grips[1].move was [0.0, -0.1"  # or -0.12, where another test was before
    assert told[1].startswith("land: would be made: since v00") and why in told[1] and "is [0.0, -0.07, 0.0]" in told[1]


def test_a_stage_is_made_of_the_same_as_its_shot_alone(made: tuple[Path, StagesResult]) -> None:
    folder, _ = made

    def apart(stage: dict[str, Any]) -> None:
        stage["coat"]["object"]["bar"] = {"role": "obstacle", "source": {"stage": "land"}}
        stage["coat"]["physics"] = {"contact": True}

    shot = bk.read_stages(written(folder, apart)).stages["coat"].shot({"land": "figure-land/v001"})
    shot.write(folder / "alone.toml")
    assert made_of(prepare(shot)) == made_of(prepare(read_shot(folder / "alone.toml")))


def test_frames_and_a_folder_of_takes_can_be_told(bar: Path) -> None:
    def one(stage: dict[str, Any]) -> None:
        del stage["land"], stage["skin"]
        stage["coat"]["object"]["coat"]["guide"]["stage"] = "jump/bar"  # one object of a take

    result = run(bar, one, frames=(1, 2), out=bar / "quick")
    assert result.takes["coat"].folder == bar / "quick/figure-coat/v001"
    assert [len(one.report.arrays["kinetic"]) for one in result.takes.values()] == [2, 2]


def test_every_mistake_is_named_with_its_stage(bar: Path) -> None:
    def change(stage: dict[str, Any]) -> None:
        stage["coat"]["object"]["coat"]["guide"]["stage"] = "lnd"
        stage["jump"]["object"]["bar"]["keys"][0]["stage"] = "land"
        stage["skin"]["physics"]["substep"] = 1
        stage["land"]["shot"] = {"name": "x"}

    first = refusal(bar, change)
    assert first == (
        "figure.toml: stage.land.shot.name: is the same for all stages (got 'x'); try: name in [shot] of the file"
    )
    said = refusal(bar, lambda stage: (change(stage), stage["land"].pop("shot")))
    assert said.splitlines() == [
        "figure.toml: stage.coat.object.coat.guide.stage: unknown stage (got 'lnd'); allowed: jump, land, skin; "
        "try: 'land'",
        "figure.toml: stage.jump.object.bar.keys[0].stage: no stage can stand here (got 'land'); allowed: a guide, a "
        "surface, the source of an obstacle, a path, a key shape of a body",
        next(line for line in said.splitlines() if "stage.skin.physics.substep: unknown key" in line),
    ]


def test_circles_and_tables_that_are_none_are_refused(bar: Path) -> None:
    def circle(stage: dict[str, Any]) -> None:
        stage["jump"]["object"] = {
            "ground": {"role": "obstacle", "source": {"stage": "land"}},
            **stage["jump"]["object"],
        }

    assert "stages feed each other in a circle, so that none can be first (got 'land → jump → land')" in refusal(
        bar, circle
    )

    def itself(stage: dict[str, Any]) -> None:
        stage["coat"]["object"]["coat"]["guide"]["stage"] = "coat"

    assert "stage.coat.object.coat.guide.stage: a stage cannot feed itself (got 'coat')" in refusal(bar, itself)

    def both(stage: dict[str, Any]) -> None:
        stage["coat"]["object"]["coat"]["guide"]["take"] = "jump/v001"

    assert "stage.coat.object.coat.guide: is fed by a stage or by a take (got 'both')" in refusal(bar, both)
    assert "not 'jump' in other letters" in refusal(bar, lambda stage: stage.update(Jump=stage["jump"]))
    assert "figure.toml: stage.jump: must be a table (got 3)" in refusal(bar, lambda stage: stage.update(jump=3))
    settings = {"object": {}, "stge": 1, "stage": {}}
    with pytest.raises(InputError, match=r"object: belongs to a stage.*\n.*unknown key.*try: 'stage'\n.*of stages"):
        bk.Stages.of(settings, folder=bar)
    with pytest.raises(InputError, match=r"stage: stages are several shots; allowed: one shot; try: bunraku run"):
        read_shot(written(bar))
    assert isinstance(read_shot_or_stages(written(bar)), bk.Stages)


def test_what_stages_have_of_each_other_must_fit(bar: Path) -> None:
    def change(stage: dict[str, Any]) -> None:
        stage["land"]["shot"] = {"rate": 30}
        stage["coat"]["object"]["coat"]["guide"]["stage"] = "land/horse"

    assert refusal(bar, change).splitlines() == [
        "figure.toml: stage.coat.object.coat.guide.stage: the stage makes no such object (got 'land/horse'); allowed: "
        "land/bar",
        "figure.toml: stage.land.shot.rate: is not that of stage jump, which feeds it (got 30); allowed: "
        "24 frames/s; try: one rate in [shot] of the file",
    ]

    def untold(stage: dict[str, Any]) -> None:
        stage["jump"]["shot"] = {"rate": 30}

    assert "which feeds it (got 24); allowed: 30 frames/s" in refusal(bar, untold)

    def another(stage: dict[str, Any]) -> None:
        stage["land"]["object"]["twin"] = stage["land"]["object"]["bar"]

    assert "the stage makes several objects (got 'land'); allowed: land/bar, land/twin" in refusal(bar, another)
    with pytest.raises(InputError, match=r"^my bar!.toml: shot.name: names the takes of all stages.*name in \[shot\]$"):
        bk.Stages.of(FIGURE, folder=bar, source=Path("my bar!.toml"))
