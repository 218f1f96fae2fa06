"""A wedge on a tiny shot, by a crew in this process: its takes, its book, what is never made twice, what dies."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from inline_crew import InlineCrew
from test_shots_run import frame_bytes
from turning import turning

from bunraku import InputError
from bunraku.direction import Job
from bunraku.numerics import FactorisationError
from bunraku.shots import (
    Book,
    Event,
    FrameDone,
    Noticed,
    OfTake,
    Remarked,
    TakeEnded,
    WedgeBegun,
    WedgeSettings,
    find_wedge_takes,
    open_take,
    parse_varied,
    read_book,
    read_shot,
    run_wedge,
    table_of,
)

YOUNG, LEVELS = "object.box.material.young=1e5,1e6", "object.box.mesh.levels=0,1"
BESIDE = "takes/box/alone/c001"
"""as deep as a wedge's takes: files say where their guide is from there"""


class Wedge:
    """A shot file that is made into wedges."""

    def __init__(self, path: Path) -> None:
        self.path, self.told = path, list[Event]()

    def run(self, *texts: str, crew: InlineCrew | None = None, resume: bool = False, **how: Any) -> Book:
        self.told.clear()
        settings = WedgeSettings(self.path, parse_varied(texts), **{"preview": False, **how})
        return run_wedge(settings, (crew or InlineCrew()).hire, resume=resume, progress=self._hear)

    def said(self, kind: type[Noticed] | type[Remarked]) -> list[str]:
        return [event.text for event in self.told if isinstance(event, kind)]

    def _hear(self, event: Event) -> None:
        self.told.append(event)


@pytest.fixture
def wedge(files) -> Wedge:
    return Wedge(files())


def test_each_combination_is_an_ordinary_take(wedge: Wedge, files, tmp_path: Path):
    book = wedge.run(YOUNG, LEVELS)
    assert book.folder == tmp_path / "takes/box/wedge_v001" and not (book.folder / "latest").exists()
    assert [one.name for one in book.entries] == ["c001", "c002", "c003", "c004"]
    assert {one.outcome for one in book.entries} == {"finished"}
    assert read_book(book.folder) == book
    alone = read_shot(files(box={"material": {"young": 1e6}, "mesh": {"levels": 1}})).run(tmp_path / BESIDE, threads=1)
    assert frame_bytes(book.entries[3].folder) == frame_bytes(alone.folder)
    assert (book.entries[3].folder / "box.usdc").read_bytes() == (alone.folder / "box.usdc").read_bytes()
    assert frame_bytes(book.entries[1].folder) != frame_bytes(alone.folder)
    assert [one for one in wedge.told if isinstance(one, WedgeBegun)] == [WedgeBegun("box", book.folder, 24, 0, 4)]
    frames = [one.take for one in wedge.told if isinstance(one, OfTake) and isinstance(one.event, FrameDone)]
    assert {name: frames.count(name) for name in frames} == {"c001": 6, "c002": 6, "c003": 6, "c004": 6}


def test_what_was_made_is_not_made_again(wedge: Wedge, tmp_path: Path):
    ordinary = read_shot(wedge.path).run(threads=1)
    crew = InlineCrew()
    book = wedge.run(LEVELS, crew=crew)  # the shot itself says one level
    assert crew.made == ["c001"] and book.entries[1].folder == ordinary.folder and book.entries[1].reused
    assert "c002: the same take stands already, ../v001" in wedge.said(Remarked)
    crew = InlineCrew()
    second = wedge.run("object.box.mesh.levels=0,1,2", crew=crew)
    assert crew.made == ["c003"] and second.folder.name == "wedge_v002"
    assert [one.folder for one in second.entries] == [
        book.folder / "c001", ordinary.folder, second.folder / "c003",
    ]  # fmt: skip


def test_a_take_of_another_version_does_not_stand_for_one(wedge: Wedge):
    first = wedge.run(LEVELS)
    path = first.entries[0].folder / "provenance.json"
    origin = json.loads(path.read_text())
    older = {**origin, "versions": {**origin["versions"], "bunraku": "0.0.1"}}
    change = {"done": 3, "differences": ["versions.bunraku was 0.0.1, is 0.0.2"], "made": "2026-01-01T00:00:00+00:00"}
    for made_by in (older, {**origin, "resumed": [change]}):
        path.write_text(json.dumps(made_by))
        crew = InlineCrew()
        wedge.run(LEVELS, crew=crew)
        assert crew.made == ["c001"]
        shutil.rmtree(wedge.path.parent / "takes" / "box" / "wedge_v002")


def test_two_names_for_one_shot_are_one_take(wedge: Wedge, tmp_path: Path):
    (tmp_path / "copy.usda").write_bytes((tmp_path / "guide.usda").read_bytes())
    crew = InlineCrew()
    book = wedge.run("object.box.guide.file=guide.usda,copy.usda", crew=crew)
    assert crew.made == ["c001"] and book.entries[1].like == "c001"
    assert book.entries[1].folder == book.entries[0].folder and book.entries[1].outcome == "finished"


def test_what_a_finished_take_lacks_is_added_to_it(wedge: Wedge, files):
    first = wedge.run(LEVELS)
    files(output={"preview": False, "formats": ["usdc", "pc2"]})
    crew = InlineCrew()
    second = wedge.run(LEVELS, crew=crew)
    assert crew.made == ["c001", "c002"] and second.entries[0].folder == first.entries[0].folder
    assert (first.entries[0].folder / "box.pc2").exists()
    assert not any(isinstance(one, OfTake) and isinstance(one.event, FrameDone) for one in wedge.told)


def test_a_worker_that_dies_is_replaced_and_the_bytes_are_the_same(wedge: Wedge, tmp_path: Path, files):
    crew = InlineCrew(deaths={"c001": [3.0, 5.0]})
    book = wedge.run(LEVELS, crew=crew)
    assert crew.made == ["c001", "c002", "c001", "c001"] and book.entries[0].outcome == "finished"
    assert wedge.said(Noticed)[0] == "c001: its worker died; another worker carries on"
    assert "its worker died; another worker carries on" in (book.folder / "run.log").read_text()
    alone = read_shot(files(box={"mesh": {"levels": 0}})).run(tmp_path / BESIDE, threads=1)
    assert frame_bytes(book.entries[0].folder) == frame_bytes(alone.folder)
    for name in ("report.json", "box.usdc"):
        assert (book.entries[0].folder / name).read_bytes() == (alone.folder / name).read_bytes()


def test_a_scheduler_that_replaces_the_dead_by_itself_is_noticed(wedge: Wedge):
    wedge.run(LEVELS, crew=InlineCrew(deaths={"c002": [2.0]}, silent=True))
    assert wedge.said(Noticed)[0] == "c002: the worker at it is gone (here); here carries on"


def test_who_dies_again_and_again_does_not_stop_the_others(wedge: Wedge):
    book = wedge.run(LEVELS, crew=InlineCrew(deaths={"c001": [2.0, 3.0, 4.0]}))
    assert [one.outcome for one in book.entries] == ["lost", "finished"]
    assert "3 workers died at it" in book.entries[0].why
    again = wedge.run(LEVELS, resume=True)
    assert again.folder == book.folder and [one.outcome for one in again.entries] == ["finished", "finished"]


def test_an_interrupted_wedge_is_carried_on(wedge: Wedge, monkeypatch):
    crew = InlineCrew()
    settings = WedgeSettings(wedge.path, parse_varied([LEVELS, YOUNG]), preview=False)

    def interrupt(event: Event) -> None:
        if isinstance(event, TakeEnded) and event.take == "c002":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_wedge(settings, crew.hire, progress=interrupt)
    book = read_book(wedge.path.parent / "takes/box/wedge_v001")
    assert [one.outcome for one in book.entries] == ["finished", "finished", "waiting", "waiting"]
    assert "not made yet" in book.page.read_text()
    crew = InlineCrew()
    done = wedge.run(LEVELS, YOUNG, crew=crew, resume=True)
    assert done.folder == book.folder and crew.made == ["c003", "c004"]
    crew = InlineCrew()
    assert wedge.run(LEVELS, YOUNG, crew=crew, resume=True).folder == book.folder and crew.made == []


def test_a_wedge_of_other_values_or_inputs_is_not_carried_on(wedge: Wedge, files):
    with pytest.raises(InputError, match="there is no wedge to resume"):
        wedge.run(LEVELS, resume=True)
    wedge.run(LEVELS)
    with pytest.raises(InputError, match=r"no wedge of these values .*the newest varies object\.box\.mesh\.levels=0,1"):
        wedge.run(YOUNG, resume=True)
    files(physics={"substeps": 3})
    with pytest.raises(InputError, match=r"the shot has changed since: physics\.substeps was .*is 3"):
        wedge.run(LEVELS, resume=True)
    files(guide=turning(6, 0.1))
    with pytest.raises(InputError, match=r"guide \(its file\) has changed"):
        wedge.run(LEVELS, resume=True)


def test_a_shot_file_may_be_edited_while_its_wedge_is_made_but_not_what_it_reads(wedge: Wedge, files):
    settings = WedgeSettings(wedge.path, parse_varied(["object.box.mesh.levels=0,1,2"]), preview=False)

    def meddle(event: Event) -> None:
        if isinstance(event, TakeEnded) and event.take == "c001":
            files(physics={"substeps": 5})
        if isinstance(event, TakeEnded) and event.take == "c002":
            files(guide=turning(6, 0.1))

    book = run_wedge(settings, InlineCrew().hire, progress=meddle)
    assert [one.outcome for one in book.entries] == ["finished", "finished", "refused"]
    assert "what the shot reads has changed while the wedge was made" in book.entries[2].why


def test_physics_that_stops_one_does_not_stop_the_others(wedge: Wedge, monkeypatch):
    frames = Job.frames

    def some(self: Job, after: Any = None) -> Any:
        for frame in frames(self, after):
            if frame.index == 2 and len(frame.state.q) > 24:
                raise FactorisationError("zero pivot")
            yield frame

    monkeypatch.setattr(Job, "frames", some)
    book = wedge.run(LEVELS)
    assert [one.outcome for one in book.entries] == ["finished", "stopped"]
    rows = table_of(book).rows
    assert (rows[1].verdict, rows[1].tone, rows[1].cells["frames"]) == ("stopped by physics", "missed", 2)


def test_what_only_files_tell_is_refused_before_anything_runs(wedge: Wedge, tmp_path: Path):
    with pytest.raises(InputError) as refused:
        wedge.run("object.box.pins=[{vertices = [0]}],[{vertices = [700]}]", LEVELS)
    assert "object.box.pins[0]" in str(refused.value) and "700" in str(refused.value)
    assert "(with object.box.pins = " in str(refused.value)
    assert not (tmp_path / "takes").exists()


def test_a_fault_of_ours_is_told_and_does_not_stop_the_others(wedge: Wedge, monkeypatch):
    monkeypatch.setattr("bunraku.shots.run.write_scene", lambda *args: 1 / 0)
    book = wedge.run(LEVELS)
    assert {one.outcome for one in book.entries} == {"fault"}
    assert book.entries[0].why == "unexpected ZeroDivisionError: division by zero"
    assert "in run_shot" in (book.folder / "run.log").read_text()


def test_the_table_says_what_the_reports_say(wedge: Wedge):
    book = wedge.run(YOUNG, LEVELS)
    rows = list(csv.DictReader(book.table.read_text(encoding="utf-8").splitlines()))
    assert [row["take"] for row in rows] == ["c001", "c002", "c003", "c004"]
    assert [float(row["young"]) for row in rows] == [1e5, 1e5, 1e6, 1e6]
    for row, one in zip(rows, book.entries, strict=True):
        report = json.loads((one.folder / "report.json").read_text())
        assert float(row["largest force [N]"]) == max(report["per_frame"]["force_N"])
        assert float(row["missed by [m]"]) == max(report["per_frame"]["residual_m"])
        assert float(row["Newton iterations, mean"]) == pytest.approx(sum(report["per_frame"]["iterations"]) / 6)
        assert row["verdict"] == "direction met" and row["folder"] == one.name
    names = [one.name for one in table_of(book).telling()]
    assert "frames" not in names and "missed" not in names  # the same for all


@pytest.mark.slow
def test_the_gallery_leads_to_the_takes_and_hides_nothing(wedge: Wedge):
    book = wedge.run(LEVELS, preview=True)
    page = book.page.read_text(encoding="utf-8")
    for one in book.entries:
        assert f'href="{one.name}/index.html"' in page and f'src="pictures/{one.name}.mp4"' in page
        assert (book.pictures / f"{one.name}.png").stat().st_size > 1000
        assert (book.pictures / f"{one.name}.mp4").stat().st_size > 1000
    assert "http" not in page.replace("http-equiv", "") and page.count('<figure class="tile"') == 2
    stamps = {path: path.stat().st_mtime_ns for path in book.pictures.glob("c*")}
    wedge.run(LEVELS, preview=True, resume=True)
    assert {path: path.stat().st_mtime_ns for path in book.pictures.glob("c*")} == stamps  # nothing to film anew


def test_words_of_others_are_text_on_the_page(wedge: Wedge, tmp_path: Path):
    (tmp_path / "<b>&'.usda").write_bytes((tmp_path / "guide.usda").read_bytes())
    book = wedge.run('object.box.guide.file="<b>&\'.usda"')
    page = book.page.read_text(encoding="utf-8")
    assert "&lt;b&gt;&amp;&#x27;.usda" in page and "<b>&'" not in page


def test_a_wedge_is_looked_at_like_its_takes(wedge: Wedge):
    book = wedge.run(LEVELS)
    takes = find_wedge_takes(book.folder)
    assert takes == [book.folder / "c001", book.folder / "c002"]
    assert [open_take(one).name for one in takes] == ["box c001", "box c002"]


def test_a_damaged_book_is_one_sentence(wedge: Wedge):
    book = wedge.run(LEVELS)
    (book.folder / "wedge.json").write_text("{}")
    with pytest.raises(InputError, match=r"wedge\.json: is not what a wedge writes"):
        read_book(book.folder)
    with pytest.raises(InputError, match="there is no wedge to resume"):
        wedge.run(LEVELS, resume=True)
