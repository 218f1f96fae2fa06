"""A short foam bar with a skin as a file, and shots in which it wrinkles: few vertices, few frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bunraku.geometry import tet_bar
from bunraku.io import write_mesh
from bunraku.shots import Shot

BAR = tet_bar((8, 3, 3), (0.4, 0.15, 0.15)).surface()
LEFT, RIGHT = (np.flatnonzero(BAR.rest[:, 0] == x) for x in (0.0, 0.4))
SKIN: dict[str, Any] = {"young": 1e7, "poisson": 0.3, "thickness": 6e-3, "density": 1000.0}
FOAM: dict[str, Any] = {"young": 1e5, "poisson": 0.3, "density": 60.0}
PUSH: list[dict[str, Any]] = [
    {"region": "left"},
    {
        "region": "right",
        "keys": [{"frame": 1}, {"frame": 3, "move": [-0.04, 0.0, 0.0], "rotate": [20.0, 0.0, 0.0]}],
    },
]


def write_bar(folder: Path) -> None:
    """bar.obj."""
    write_mesh(folder / "bar.obj", BAR)


def bar(**table: Any) -> dict[str, Any]:
    """The table of an object; what is None is left out."""
    whole = {
        "role": "wrinkle", "surface": {"file": "bar.obj", "unit": "m"}, "skin": SKIN, "interior": FOAM, "cell": 0.1,
        "regions": {"left": {"vertices": LEFT.tolist()}, "right": {"vertices": RIGHT.tolist()}}, "handles": PUSH,
        **table,
    }  # fmt: skip
    return {name: value for name, value in whole.items() if value is not None}


def wrinkled(
    folder: Path, frames: tuple[int, int] | None = (1, 3), physics: dict[str, Any] | None = None,
    others: dict[str, Any] | None = None, output: dict[str, Any] | None = None, **table: Any,
) -> Shot:  # fmt: skip
    """A shot of one bar."""
    settings: dict[str, Any] = {
        "object": {"bar": bar(**table), **(others or {})}, "output": {"preview": False, **(output or {})},
        "physics": {"substeps": 1, "gravity": [0.0, 0.0, 0.0], **(physics or {})},
    }  # fmt: skip
    settings |= {"shot": {"frames": list(frames)}} if frames else {}
    return Shot.of(settings, folder=folder, source=folder / "bar.toml")
