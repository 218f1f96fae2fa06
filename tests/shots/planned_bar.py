"""An upright bar of tetrahedra as files, and shots that plan its motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bunraku import TriMesh
from bunraku.geometry import TetMesh, tet_bar
from bunraku.io import write_mesh
from bunraku.shots import Shot

BAR = tet_bar((1, 4, 1), (0.25, 1.0, 0.25))
SKIN = BAR.surface()
FOOT = np.flatnonzero(SKIN.rest[:, 1] < 1e-9)
HEAD = np.flatnonzero(SKIN.rest[:, 1] > 1.0 - 1e-9)
LEAN: dict[str, Any] = {"frame": 13, "region": "head", "move": [0.2, -0.05, 0.0], "rotate": [0.0, 0.0, -30.0]}
HOP: list[dict[str, Any]] = [
    {"frames": 12, "fixed": ["foot"], "keys": [{"frame": 12, "velocity": [0.4, 1.5, 0.0]}]},
    {"flight": {"region": "foot"}},
    {"frames": 12, "fixed": ["foot"], "rest": True},
]


def write_bar(folder: Path, name: str = "bar", by: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
    """NAME.obj and NAME.msh, the bar moved."""
    write_mesh(folder / f"{name}.obj", TriMesh(SKIN.rest + by, SKIN.faces))
    write_mesh(folder / f"{name}.msh", TetMesh(BAR.rest + by, BAR.tets))


def bar(name: str = "bar", **table: Any) -> dict[str, Any]:
    """The table of an object."""
    return {
        "role": "plan", "surface": {"file": f"{name}.obj", "unit": "m"}, "tets": {"file": f"{name}.msh", "unit": "m"},
        "material": {"preset": "rubber", "young": 2e5}, "modes": 14, "fixed": ["foot"],
        "regions": {"foot": {"vertices": FOOT.tolist()}, "head": {"vertices": HEAD.tolist()}}, **table,
    }  # fmt: skip


def planned(
    folder: Path, frames: tuple[int, int] | None = (1, 25), physics: dict[str, Any] | None = None,
    others: dict[str, Any] | None = None, **table: Any,
) -> Shot:  # fmt: skip
    """A shot of one bar."""
    settings: dict[str, Any] = {"object": {"bar": bar(**table), **(others or {})}, "output": {"preview": False}}
    settings |= {"shot": {"frames": list(frames)}} if frames else {}
    settings |= {"physics": physics} if physics else {}
    return Shot.of(settings, folder=folder, source=folder / "bar.toml")


def chained(folder: Path, phases: list[dict[str, Any]] | None = None, **given: Any) -> Shot:
    """A shot of one bar that goes through phases."""
    return planned(folder, **{"frames": None, "fixed": [], "phases": phases or HOP, **given})
