"""The page of materials is made from the presets, and shows each of them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from bunraku.materials import PRESETS
from bunraku.shots.swatches import COLOURS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_materials_is_the_generated_one() -> None:
    spec = importlib.util.spec_from_file_location("make_materials_page", DOCS / "make_materials_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "materials.md").read_text(encoding="utf-8") == module.page()


def test_the_page_shows_every_preset_with_its_weight_source_and_picture() -> None:
    page = (DOCS / "materials.md").read_text(encoding="utf-8")
    for name, preset in PRESETS.items():
        (row,) = re.findall(rf"^\| {name} \| (\S+) \|", page, re.MULTILINE)
        weight = 1000 * preset.material.areal_mass
        assert abs(float(row) / weight - 1) < 0.005
        assert preset.source in page
    assert set(COLOURS) == set(PRESETS)
    for name in re.findall(r"\]\((pictures/\S+)\)", page):
        assert 10_000 < (DOCS / name).stat().st_size < 600_000
