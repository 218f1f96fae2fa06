"""A tiny shot on disk, and the command line run in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from turning import turning

from bunraku import Animation
from bunraku.cli import main
from bunraku.io import write_animation

SHOT = """\
[object.box]
guide = { file = "guide.usda", prim = "/box" }
mesh = { levels = 1 }
[output]
preview = false
"""


@dataclass(frozen=True)
class Folder:
    """Where the shot lies."""

    path: Path

    def guide(self, animation: Animation, name: str = "guide.usda") -> None:
        write_animation(self.path / name, animation, rate=24.0, prim="/box")

    def shot(self, text: str = SHOT, name: str = "box.toml") -> Path:
        (self.path / name).write_text(text, encoding="utf-8")
        return self.path / name

    def box(self, extra: str = "", *, tables: str = "", guide: str = '{ file = "guide.usda" }') -> Path:
        """box.toml with more keys for the box and more tables."""
        return self.shot(f"[object.box]\nguide = {guide}\n{extra}\n{tables}\n[output]\npreview = false\n")

    def frames(self, take: str) -> list[bytes]:
        return [file.read_bytes() for file in sorted((self.path / take / "frames").glob("frame_*.bkframe"))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A folder with guide.usda (six frames) and box.toml; also the current one."""
    monkeypatch.chdir(tmp_path)
    here = Folder(tmp_path)
    here.guide(turning(6))
    here.shot()
    return here


@pytest.fixture
def bunraku(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """bunraku('run', 'box.toml') → exit code, standard output, standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main(list(words))
        except SystemExit as wrong_words:
            code = int(wrong_words.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err + said.out
        return code, said.out, said.err

    return run
