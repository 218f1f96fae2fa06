"""Runs that are asked for: what happens to one whose process goes before it was told of a shot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bunraku.studio import runs


def test_a_run_that_is_cancelled_before_it_was_told_of_its_shot_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> subprocess.Popen[str]:
        words = [sys.executable, "-S", "-c", ""]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin is not None
        process.stdin.close()  # as cancelling does
        return process

    monkeypatch.setattr(runs, "_process", gone)
    found = runs.Runs(lambda folder: 0)
    found.start("", Path("box.toml"))
    listener = found._listener
    assert listener is not None
    listener.join(10.0)
    assert not found.running and not found.failed and "said nothing" in found.saying
