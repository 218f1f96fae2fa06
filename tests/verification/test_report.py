"""The generated document: every claim in it holds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from claims import Claim
from report import main


def test_a_claim_says_when_it_does_not_hold() -> None:
    assert Claim("a", "b", 1e-12, 1e-9).holds and "yes" in Claim("a", "b", 1e-12, 1e-9).line()
    assert not Claim("a", "b", 0.9, 0.03, 1.0).holds and "**no**" in Claim("a", "b", 0.9, 0.03, 1.0).line()


@pytest.mark.slow
def test_every_claim_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "verification.md"
    monkeypatch.setattr(sys, "argv", ["report.py", str(path)])
    assert main() == 0, path.read_text()
    assert "| claim | equation | measured | tolerance |" in path.read_text()
