"""The shots of the page about plans are read, and run to what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bunraku.geometry import tet_bar
from bunraku.io import write_mesh
from bunraku.shots import dry_run, read_shot

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plan.md"
BLOCK = tet_bar((1, 4, 1), (0.25, 1.0, 0.25))


@pytest.mark.parametrize("k", [0, 1])
def test_the_shots_of_the_page_are_planned(k: int, tmp_path: Path) -> None:
    skin = BLOCK.surface()
    write_mesh(tmp_path / "block.usdc", skin)
    write_mesh(tmp_path / "block.msh", BLOCK)
    text = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[k]
    low = [point for point in range(skin.point_count) if skin.rest[point, 1] < 1e-9]
    high = [point for point in range(skin.point_count) if skin.rest[point, 1] > 1.0 - 1e-9]
    text = text.replace("[0, 1, 2, 3]", str(low)).replace("[16, 17, 18, 19]", str(high))
    (tmp_path / "block.toml").write_text(text, encoding="utf-8")
    told = dry_run(read_shot(tmp_path / "block.toml"))
    assert any("3 keys" in line for line in told) and not any("would miss" in line for line in told), told
