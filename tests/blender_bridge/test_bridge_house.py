"""The extension is a distribution of its own: neither side imports the other, and the bridge not even Blender."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import bridge
import pytest

from bunraku.materials import PRESETS, SOLID_PRESETS

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "blender"


def imported(file: Path) -> set[str]:
    """First names of all that a file imports by an absolute name."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_the_extension_does_not_import_bunraku() -> None:
    files = list(EXTENSION.rglob("*.py"))
    assert len(files) > 10
    assert [str(one) for one in files if "bunraku" in imported(one)] == []


def test_the_bridge_does_not_import_blender() -> None:
    blenders = {"bpy", "mathutils", "bmesh"}
    files = {one: imported(one) for one in EXTENSION.rglob("*.py")}
    assert any(blenders & names for names in files.values())
    assert [str(one) for one, names in files.items() if one.parent.name == "bridge" and blenders & names] == []


def test_the_wheel_holds_nothing_of_it() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["packages"] == ["src/bunraku"] and "blender" in build["sdist"]["exclude"]


def test_the_manifest_says_what_blender_asks_for() -> None:
    manifest = tomllib.loads((EXTENSION / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert (
        manifest["license"] == ["SPDX:GPL-3.0-or-later"] and "GNU GENERAL PUBLIC" in (EXTENSION / "LICENSE").read_text()
    )
    assert manifest["blender_version_min"] == "4.2.0" and set(manifest["permissions"]) == {"files", "network"}
    assert all(len(text) <= 64 and not text.endswith(".") for text in manifest["permissions"].values())


def test_files_stay_small() -> None:
    lengths = {one.name: len(one.read_text(encoding="utf-8").splitlines()) for one in EXTENSION.rglob("*.py")}
    assert {name: n for name, n in lengths.items() if n > 400} == {}


def test_what_the_page_names_is_in_the_extension() -> None:
    """What docs/blender.md sets in bold or italics in its ten steps and its words on installing is a label."""
    page = (ROOT / "docs/blender.md").read_text(encoding="utf-8")
    told = page[page.index("## Installing") : page.index("![The figure, its regions")]
    texts = {
        node.value.casefold()
        for file in EXTENSION.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    named = {" ".join(one.split()) for pair in re.findall(r"\*\*([^*]+)\*\*|\*([^*]+)\*", told) for one in pair if one}
    blenders = {"Add → Mesh → Walking Figure", "Edit → Preferences → Get Extensions", "Install from Disk"}
    blenders |= {"Color: Attribute", "Figure bunraku"}
    assert "Run" in named and blenders < named
    assert {one for one in named - blenders if one.casefold() not in texts} == set()


def test_materials_are_those_that_bunraku_has() -> None:
    for ours, theirs in ((bridge.presets.SHELLS, PRESETS), (bridge.presets.SOLIDS, SOLID_PRESETS)):
        assert set(ours) == set(theirs)
        for name, numbers in ours.items():
            meant = {key: getattr(theirs[name].material, key) for key in numbers}
            assert numbers == pytest.approx(meant, rel=1e-7), name
