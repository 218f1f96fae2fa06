"""Readers that go away: a run goes on without telling, whatever its show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes")

RUN = [sys.executable, "-m", "bunraku", "run", "box.toml", "--progress"]


def finished(folder: Path) -> bool:
    return json.loads((folder / "takes/box/v001/report.json").read_text())["outcome"] == "finished"


def gone() -> int:
    """A pipe that no one reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@pytest.mark.parametrize("way", ["bar", "plain", "json"])
def test_broken_pipes_do_not_stop_a_run(folder, way: str):
    pipe = gone()
    done = subprocess.run([*RUN, way], cwd=folder.path, stdout=pipe, stderr=pipe, check=False)
    os.close(pipe)
    assert done.returncode == 0 and finished(folder.path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    "way", ["bar", pytest.param("plain", marks=pytest.mark.slow), pytest.param("json", marks=pytest.mark.slow)]
)
def test_a_full_device_does_not_stop_a_run(folder, way: str):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*RUN, way], cwd=folder.path, stdout=full, stderr=full, check=False)
    assert done.returncode == 0 and finished(folder.path)


@pytest.mark.parametrize("way", ["bar", "json"])
def test_closed_streams_do_not_stop_a_run(folder, way: str):
    words = " ".join([*RUN, way])
    done = subprocess.run(f"{words} <&- 2>&-", cwd=folder.path, shell=True, stdout=subprocess.PIPE, check=False)
    assert done.returncode == 0 and finished(folder.path)
    lines = done.stdout.decode().splitlines()
    if way == "json":
        assert all("event" in json.loads(line) for line in lines)
    else:
        assert lines[0].startswith("Direction met")  # and nothing that was meant for the other stream


@pytest.mark.parametrize("way", ["json", pytest.param("plain", marks=pytest.mark.slow)])
def test_a_refusal_with_no_one_to_hear_it_keeps_its_exit_code(folder, way: str):
    pipe = gone()
    words = [sys.executable, "-m", "bunraku", "run", "gone.toml", "--progress", way]
    done = subprocess.run(words, cwd=folder.path, stdout=pipe, stderr=pipe, check=False)
    assert done.returncode == 2
    os.close(pipe)
