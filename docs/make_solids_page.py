"""Writes the table of presets in docs/solids.md from the presets themselves, so that no number is typed twice.

.venv/bin/python docs/make_solids_page.py
"""

from __future__ import annotations

from pathlib import Path

from bunraku.materials import SOLID_PRESETS, SolidMaterial

PAGE = Path(__file__).parent / "solids.md"
_BEGIN = "## Presets\n"


def page() -> str:
    """The text of the page: what is written there, and the presets."""
    written = PAGE.read_text(encoding="utf-8").split(_BEGIN)[0]
    head = "| preset | young kPa | poisson | density kg/m³ | τ ms | mass damping 1/s | law |\n|" + "---|" * 7
    rows = "\n".join(_row(name, one.material) for name, one in SOLID_PRESETS.items())
    sources = "\n".join(f"* **{name}** — {one.source}." for name, one in SOLID_PRESETS.items())
    return f"{written}{_BEGIN}\n{head}\n{rows}\n\nWhere the numbers come from:\n\n{sources}\n"


def _row(name: str, material: SolidMaterial) -> str:
    cells = [
        name, f"{1e-3 * material.young:g}", f"{material.poisson:g}", f"{material.density:g}",
        f"{1e3 * material.stiffness_damping:g}", f"{material.mass_damping:g}", material.law,
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
