"""The examples of the page on planning run, and what it claims of them is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plan.md"


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    """The page's code, run in one go."""
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    return names


def test_the_example_meets_its_key(said: dict[str, Any]) -> None:
    motion, body = said["motion"], said["block"]
    (met,) = motion.report["keys"]
    assert motion.report["met"] and met.missed < 1e-3 * body.size + met.unreachable
    assert np.abs(motion.points(2.0) - body.rest).max() < 1e-9


def test_its_jump_leaves_the_ground_and_lands(said: dict[str, Any]) -> None:
    jump, base = said["jump"], said["base"]
    assert jump.report["met"] and jump.points(0.5 + 0.5 * jump.motions[1].duration)[base, 1].min() > 0.05
    assert np.abs(jump.points(jump.duration)[base, 1]).max() < 5e-3


def test_its_edits_take_the_set_up(said: dict[str, Any]) -> None:
    draft, again = said["draft"], said["again"]
    assert (
        again.report["met"] and draft.motion.body is again.body and len(draft.keys) == 2 and draft.motion.report["met"]
    )


def test_its_chain_is_edited(said: dict[str, Any]) -> None:
    walk, first = said["walk"], said["first"]
    assert walk.chain.report["met"] and walk.chain.motions[0] is first
    assert np.abs(walk.chain.points(0.8) - said["jump"].points(0.8)).max() > 1e-3
