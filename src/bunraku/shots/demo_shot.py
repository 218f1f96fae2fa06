"""The shot file of a demo, with what it shows on top."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .shot import Shot


def write_demo_shot(name: str, title: str, settings: Mapping[str, Any], folder: Path) -> None:
    """NAME.toml in a folder, checked."""
    file = folder / f"{name}.toml"
    heading = f"{title}\nChange it and run it again: bunraku run {file.name}\nAll keys: bunraku run --help"
    Shot.of(settings, folder=folder, source=file).write(file, heading=heading)
