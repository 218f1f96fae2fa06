"""The examples of the page on steering run, and what it claims of them is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku import Animation, read_shot, write_animation
from bunraku.geometry import tet_bar
from bunraku.io import write_mesh

PAGE = Path(__file__).resolve().parents[2] / "docs" / "steer.md"


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    """The page's code, run in one go."""
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    return names


@pytest.mark.slow
def test_the_example_does_as_the_page_says(said: dict[str, Any]) -> None:
    take = said["take"]
    assert take.report["residual"].max() < 1e-9 and take.report["converged"].all()
    assert take.surface.mesh.point_count == said["ball"].point_count
    assert len(take.facts["sentences"]) == 2 and not take.facts["warnings"]
    near = take.facts["approaches"][0]
    assert near.distance < 0.5 * near.way


def test_its_edit_takes_frames_over(said: dict[str, Any]) -> None:
    """Up to the key at 1 s."""
    assert said["again"].facts["reused"] >= 24


def test_its_shot_is_one(tmp_path: Path) -> None:
    """Every key of it is known, and says what the page says."""
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    skin = tet_bar((2, 2, 2)).surface()
    write_animation(tmp_path / "jelly.usda", Animation(skin, np.zeros(1), skin.rest[None]), prim="/jelly")
    write_mesh(tmp_path / "squash.obj", skin)
    (tmp_path / "jelly.toml").write_text(text, encoding="utf-8")
    jelly = read_shot(tmp_path / "jelly.toml").bodies["jelly"]
    assert [key.frame for key in jelly.keys] == [12, 20, 26, 30] and jelly.keys[2].at == 22 and jelly.lead is True


def test_several_bodies_move_as_each_would_alone(said: dict[str, Any]) -> None:
    both, take = said["both"], said["take"]
    count = said["body"].point_count
    assert both.facts["bodies"][1]["vertices"] == [count, 2 * count]
    assert abs(both.animation.points[:, count:] - said["body"].rest - [1.5, 0.0, 0.0]).max() < 1e-9  # nothing moves it
    assert both.report["residual"].max() < 1e-9 and take.report["residual"].shape[1] == both.report["residual"].shape[1]
