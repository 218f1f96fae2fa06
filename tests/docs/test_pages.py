"""Pages that say what the code does, compared with what it does."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku import Animation
from bunraku.cli import main
from bunraku.cli.shows import JsonShow
from bunraku.io import write_animation
from bunraku.scenes import box_mesh
from bunraku.shots import PictureDone, region_sheet

DOCS = Path(__file__).resolve().parents[2] / "docs"
SHOT = """\
[object.box]
guide = { file = "guide.usda" }
mesh = { levels = 1 }
[output]
preview = false
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with shot.toml and its guide of three frames; also the current one."""
    mesh = box_mesh()
    points = np.repeat(mesh.rest[None], 3, axis=0)
    points[:, 4:, 0] += 0.01 * np.arange(3)[:, None]
    write_animation(tmp_path / "guide.usda", Animation(mesh, np.arange(1, 4) / 24.0, points), rate=24.0, prim="/box")
    (tmp_path / "shot.toml").write_text(SHOT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_of_the_shot_file_is_the_generated_one() -> None:
    spec = importlib.util.spec_from_file_location("make_shot_page", DOCS / "make_shot_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "shot.md").read_text(encoding="utf-8") == module.page()


def test_every_public_name_is_on_the_python_page() -> None:
    names = importlib.import_module("bunraku").__all__
    assert len(names) > 15
    shown = re.findall(r"^::: bunraku\.(\w+)$", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert sorted(shown) == sorted(names)


def table_of_events() -> dict[str, set[str]]:
    """What the pipeline page says: fields by event."""
    text = (DOCS / "pipeline.md").read_text()
    rows = text.split("| event | fields |")[1].split("\n\n")[0].splitlines()[2:]
    found = {}
    for row in rows:
        _, event, fields, _ = row.split("|")
        plain = re.sub(r"\([^)]*\)", "", fields)  # remarks
        found[event.strip().strip("`")] = set(re.findall(r"`(\w+)`", plain))
    return found


def test_the_table_of_events_is_what_a_run_emits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "shot.toml", "--progress", "json"]) == 0
    assert main(["run", "gone.toml", "--progress", "json"]) == 2
    JsonShow().tell(PictureDone(0, 2))
    JsonShow().warn("a warning")
    emitted: dict[str, set[str]] = {}
    for line in capsys.readouterr().out.splitlines():
        fields = json.loads(line)
        kind = fields.pop("event")
        assert emitted.setdefault(kind, set(fields)) == set(fields)
    assert emitted == table_of_events()


def test_the_python_of_the_pipeline_page_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", (DOCS / "pipeline.md").read_text(), re.DOTALL)
    exec(compile(snippet, "pipeline.md", "exec"), {})
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [float(number) for number, _ in lines] == [1, 2, 3]
    assert all(float(residual) <= 1e-9 for _, residual in lines)
    result = bunraku.read_shot("shot.toml").run(out="folder")  # what the page says next
    assert result.folder == folder / "folder" and (folder / "folder/report.json").is_file()


@pytest.mark.slow
def test_every_command_of_the_first_guide_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(region_sheet, "SIZE", (120, 120))
    page = (DOCS / "first_guide.md").read_text(encoding="utf-8")
    (snippet,), (shot,) = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "toml"))
    exec(compile(snippet, "first_guide.md", "exec"), {})
    (tmp_path / "flag.toml").write_text(shot)
    commands = re.findall(r"^bunraku (.*)$", page, re.MULTILINE)
    assert commands == ["check flag.usda", "run flag.toml --dry-run", "regions flag.toml", "run flag.toml"]
    for words in commands[:-1]:
        assert main(words.split()) == 0
    out, err = capsys.readouterr()
    assert "[warn" not in out + err and "warning" not in err  # nothing on the page is unlikely to be meant
    assert "24 frames, 1 to 24" in out and re.search(r"shell of \d+ vertices, \d+ regions obey", out)
    assert (tmp_path / "flag_regions.png").exists()
    assert main([*commands[-1].split(), "--frames", "1-2", "--no-preview", "--strict"]) == 0
    assert (tmp_path / "takes/flag/v001/flag.usdc").exists() and (tmp_path / "takes/flag/v001/index.html").exists()


def test_pages_link_to_pages_that_exist_and_the_first_one_to_the_ones_an_artist_needs() -> None:
    for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]:
        for target in re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), f"{page.name} links to {target}"
    first = (DOCS / "index.md").read_text(encoding="utf-8")
    named = re.findall(r"^  - .*: (\w+\.md)$", (DOCS.parent / "mkdocs.yml").read_text(), re.MULTILINE)
    assert {page.name for page in DOCS.glob("*.md")} == set(named)
    for page in ("first_guide", "direction", "materials", "rigs", "files"):
        assert f"({page}.md)" in first


def test_the_doctor_says_what_the_page_of_files_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "files.md").read_text(encoding="utf-8")
    scrap, said = re.findall(r"^```\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (words,) = re.findall(r"gives with `bunraku (.*)`", page)
    (tmp_path / "scrap.obj").write_text(scrap)
    assert main(words.split()) == 0
    assert capsys.readouterr().out == said


def test_tracked_pages_and_code_name_nothing_outside_the_project() -> None:
    files = [
        path
        for part in ("src", "tests", "docs")
        for path in (DOCS.parent / part).rglob("*")
        if path.suffix in (".py", ".md")
    ]
    wrong = [
        str(path)
        for path in files
        if re.search(r"\bnotes/\w|\bdesign\.md", path.read_text()) and path != Path(__file__)
    ]
    assert len(files) > 100 and wrong == []
