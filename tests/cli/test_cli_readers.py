"""Readers that go away: a run goes on without telling, whatever its show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

from bunraku.cli import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes")

RUN = [sys.executable, "-m", "bunraku", "run", "box.toml", "--progress"]


def finished(folder: Path) -> bool:
    return json.loads((folder / "takes/box/v001/report.json").read_text())["outcome"] == "finished"


def gone() -> int:
    """A pipe that no one reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def told_to(monkeypatch: pytest.MonkeyPatch, stream: TextIO | None, *names: str) -> None:
    """Let this process speak to that stream; what is printed of it goes there too."""
    for name in names:
        monkeypatch.setattr(sys, name, stream)


@pytest.mark.slow
def test_broken_pipes_do_not_stop_a_process(folder):
    """From its first word to the interpreter's own end, which flushes both streams."""
    pipe = gone()
    done = subprocess.run([*RUN, "json"], cwd=folder.path, stdout=pipe, stderr=pipe, check=False)
    os.close(pipe)
    assert done.returncode == 0 and finished(folder.path)


@pytest.mark.parametrize("way", ["bar", "plain", "json"])
def test_broken_pipes_do_not_stop_a_run(folder, monkeypatch: pytest.MonkeyPatch, way: str):
    with os.fdopen(gone(), "w") as pipe:
        told_to(monkeypatch, pipe, "stdout", "stderr")
        assert main(["run", "box.toml", "--progress", way]) == 0
    assert finished(folder.path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("way", ["bar", "plain", "json"])
def test_a_full_device_does_not_stop_a_run(folder, monkeypatch: pytest.MonkeyPatch, way: str):
    with open("/dev/full", "w") as full:
        told_to(monkeypatch, full, "stdout", "stderr")
        assert main(["run", "box.toml", "--progress", way]) == 0
    assert finished(folder.path)


@pytest.mark.slow
def test_closed_streams_do_not_stop_a_process(folder):
    words = " ".join([*RUN, "json"])
    done = subprocess.run(f"{words} <&- 2>&-", cwd=folder.path, shell=True, stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0 and finished(folder.path)
    assert all("event" in json.loads(line) for line in done.stdout.decode().splitlines())


def test_what_is_meant_for_a_closed_stream_goes_nowhere_else(folder, monkeypatch: pytest.MonkeyPatch, capsys):
    told_to(monkeypatch, None, "stdin", "stderr")
    assert main(["run", "box.toml", "--progress", "bar"]) == 0 and finished(folder.path)
    for nowhere in (sys.stdin, sys.stderr):
        nowhere.close()
    assert capsys.readouterr().out.startswith("Direction met")


@pytest.mark.parametrize("way", ["json", "plain"])
def test_a_refusal_with_no_one_to_hear_it_keeps_its_exit_code(folder, monkeypatch: pytest.MonkeyPatch, way: str):
    with os.fdopen(gone(), "w") as pipe:
        told_to(monkeypatch, pipe, "stdout", "stderr")
        assert main(["run", "gone.toml", "--progress", way]) == 2
