"""The demo of several hands on one figure, written out as the files an artist would bring: `puppet.toml` in stages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from bunraku.geometry import Attribute, Scope, Surface, TriMesh, tetrahedralise
from bunraku.io import write_mesh, write_text
from bunraku.scenes.puppet import CAPE_GRID, TALL, cape, puppet

STAGE_DEMOS: dict[str, str] = {
    "puppet": "a jelly puppet leaps as planned, is squashed as keyed, in a cape, in a skin: four stages, one file",
}
"""name → what it shows"""
_EDGE = 0.045
"""[m] of the tetrahedra"""
_SOLES, _SHOULDERS, _CHIN = 0.018, 0.215, 0.33
"""[m] what is below is of the feet, what is above of the shoulders and what they carry, or of the head"""
_PATCHES, _HELD = (3, 5), 0.45
"""how many patches of the cape are directed, down and across, and how much of its length"""
_SETTINGS = Path(__file__).with_name("puppet.toml")


def stage_demo_files(name: str) -> tuple[str, ...]:
    """Names of the file of stages and of all that belongs to it."""
    return f"{name}.toml", f"{name}_rest.usdc", f"{name}.msh", f"{name}_cape.usdc"


def write_stage_demo(name: str, folder: Path) -> None:
    """Write the puppet, its tetrahedra, its cape and the file of stages; files that are there already are kept."""
    settings, rest, tets, coat = (folder / one for one in stage_demo_files(name))
    if not rest.exists():
        write_mesh(rest, _painted(puppet(), feet=(0.0, _SOLES), shoulders=(_SHOULDERS, TALL), head=(_CHIN, TALL)))
    if not tets.exists():
        write_mesh(tets, tetrahedralise(puppet(), edge=_EDGE))
    if not coat.exists():
        write_mesh(coat, _cape())
    if not settings.exists():
        write_text(settings, _SETTINGS.read_text(encoding="utf-8"))


def _painted(mesh: TriMesh, **parts: tuple[float, float]) -> Surface:
    """The surface with a weight for each part, which lies between two heights [m]."""
    high = mesh.rest[:, 1]
    weights = [
        Attribute(name, Scope.POINT, ((high >= low) & (high <= top)).astype(np.float32))
        for name, (low, top) in parts.items()
    ]
    return replace(Surface.of(mesh), attributes=tuple(weights))


def _cape() -> Surface:
    """The cape with its collar painted on it, and the patches that are directed, below zero where it is free."""
    mesh, (rows, columns) = cape(), CAPE_GRID
    down, across = (one.reshape(-1) for one in np.mgrid[0:rows, 0:columns])
    band = np.floor(down / (rows - 1) / _HELD * _PATCHES[0]).astype(np.int32)
    strip = np.minimum(across * _PATCHES[1] // columns, _PATCHES[1] - 1).astype(np.int32)
    patches = np.where(band < _PATCHES[0], band * _PATCHES[1] + strip, -1).astype(np.int32)
    collar = (down == 0).astype(np.float32)
    painted = (Attribute("collar", Scope.POINT, collar), Attribute("patches", Scope.POINT, patches))
    return replace(Surface.of(mesh), attributes=painted)
