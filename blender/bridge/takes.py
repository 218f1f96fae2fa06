# SPDX-License-Identifier: GPL-3.0-or-later
"""Finished takes as they lie on disk: which there are, and where in one the animation is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .refusal import Refusal

VERSION = re.compile(r"v\d{3,}")
"""names of takes' folders"""


@dataclass(frozen=True)
class Take:
    """A take that can be shown."""

    folder: Path
    animations: Mapping[str, tuple[Path, str]]
    """object → its USD file and the prim in it"""
    finished: bool
    """False where physics stopped it"""
    sentences: tuple[str, ...]
    largest: Mapping[str, float]
    """"force" [N], "residual" [m] → the number with the lightest colour"""
    unit: float | None = None
    """[m] of its file's unit of length, where that is told"""

    @property
    def name(self) -> str:
        """'coat/v003'"""
        return f"{self.folder.parent.name}/{self.folder.name}"


def versions(takes: Path, names: Iterable[str]) -> list[str]:
    """The takes of some shots in the folder of takes, 'coat/v003' each, the newest first."""
    found = [
        folder
        for name in names
        if (takes / name).is_dir()
        for folder in (takes / name).iterdir()
        if VERSION.fullmatch(folder.name) and (folder / "report.json").is_file()
    ]
    found.sort(key=lambda one: ((one / "report.json").stat().st_mtime_ns, one.name), reverse=True)
    return [f"{one.parent.name}/{one.name}" for one in found]


def read_take(folder: Path) -> Take:
    """What a take's report says."""
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        what = f"{folder}: is no finished take, it has no report.json; try: a folder such as takes/coat/v001"
        raise Refusal(what) from None
    except (OSError, ValueError, RecursionError) as error:
        raise Refusal(f"{folder}: its report.json cannot be read ({error})") from error
    try:
        return _take(folder, report)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Refusal(f"{folder}: its report.json is not what bunraku writes") from error


def _take(folder: Path, report: Mapping[str, Any]) -> Take:
    prims: Mapping[str, str] = report["prims"]
    animations = {
        name: (folder / file, prims[file])
        for name, files in report["animations"].items()
        for file in files
        if file in prims and (folder / file).is_file()
    }
    if not animations:
        raise Refusal(f"{folder}: has no USD that Blender could play; try: formats = ['usdc'] in the shot's output")
    curves = report["per_frame"]
    ends = {"force": "force_N", "residual": "residual_m"}
    largest = {name: max(curves[key]) for name, key in ends.items() if curves.get(key)}
    told = tuple(str(one["text"] if isinstance(one, dict) else one) for one in report["sentences"])
    unit = report.get("facts", {}).get("unit")
    return Take(folder, animations, report["outcome"] == "finished", told, largest, unit)
