"""The page of elastic bodies shows the presets as they are."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from bunraku.energies import SMALLEST_STRETCH
from bunraku.materials import SOLID_PRESETS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_presets_of_the_page_are_the_generated_ones() -> None:
    spec = importlib.util.spec_from_file_location("make_solids_page", DOCS / "make_solids_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (DOCS / "solids.md").read_text(encoding="utf-8")
    assert text == module.page()
    for name, one in SOLID_PRESETS.items():
        (young,) = re.findall(rf"^\| {name} \| (\S+) \|", text, re.MULTILINE)
        assert abs(1e3 * float(young) / one.material.young - 1) < 1e-6
    assert f"principal stretches below {SMALLEST_STRETCH:g} count as {SMALLEST_STRETCH:g}" in text
