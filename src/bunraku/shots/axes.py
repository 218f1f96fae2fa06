"""Two knobs of a material against each other: takes of the twisting box on one sheet [Bergou 2007, fig. 8]."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import PhysicsStopped, Points, input_error
from bunraku.direction.track import hierarchy, tracking_job
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation
from bunraku.render import Camera, Image, burn_in, framing, picture, picture_grid, write_png
from bunraku.scenes import twisting_box

from .demos import DEMOS
from .findings import nearest

_log = logging.getLogger(__name__)
_MOST = 9


@dataclass(frozen=True)
class Knob:
    """A quantity with its range, and how a value becomes fields of a material."""

    title: str
    """as in 'bending x 10'; letters the pictures' font has"""
    low: float
    high: float
    fields: Callable[[float], Mapping[str, float]]
    even: bool = False
    """equal steps instead of equal ratios"""

    def values(self, count: int) -> list[float]:
        """`count` values from low to high; the middle one where there is only one."""
        if self.even:
            return np.linspace(self.low, self.high, count).tolist() if count > 1 else [0.5 * (self.low + self.high)]
        spread = np.geomspace(self.low, self.high, count) if count > 1 else [np.sqrt(self.low * self.high)]
        return [float(value) for value in spread]


@dataclass(frozen=True)
class Axes:
    """Rows and columns of a sheet."""

    about: str
    rows: Knob
    columns: Knob
    seconds: float
    """[s] the moment that is shown"""


_BOX: dict[str, Any] = dict(DEMOS["box"].settings["material"])


def _scaled(*names: str) -> Callable[[float], Mapping[str, float]]:
    return lambda factor: {name: factor * float(_BOX[name]) for name in names}


AXES: dict[str, Axes] = {
    "bending": Axes(
        "stretching against bending stiffness, at the height of the twist",
        # Twice the modulus at half the scale: stretching alone changes.
        Knob("stretching x", 0.1, 10.0, lambda a: {"young": a * _BOX["young"], "bend_scale": 1.0 / a}),
        Knob("bending x", 0.1, 10.0, lambda a: {"bend_scale": a}), 1.5,
    ),
    "plastic": Axes(
        "where it begins to crease against how creases harden, after the twist is undone",
        Knob("yield 1/m", 2.0, 32.0, lambda a: {"yield_curvature": a}),
        Knob("hardening", 0.0, 1.0, lambda a: {"hardening": a}, even=True), 2.4,
    ),
    "damping": Axes(
        "damping against density, just after the sudden stop",
        Knob("damping x", 0.1, 100.0, _scaled("stretch_damping", "bend_damping")),
        Knob("density x", 0.25, 4.0, _scaled("density")), 3.75,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class AxesSettings:
    """How finely a sheet is made."""

    grid: int = 3
    levels: int = 3
    side: int = 420
    """[pixels] of each picture"""
    seconds: float | None = None
    """[s] the moment to show; None: the axes' own"""
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, low, high in (("grid", 1, _MOST), ("levels", 0, 6), ("side", 16, 4096)):
            value = getattr(self, name)
            if not isinstance(value, int) or not low <= value <= high:
                raise input_error(f"{name} is out of range", got=value, allowed=f"a whole number from {low} to {high}")
        if self.seconds is not None and not 0.0 < self.seconds <= 4.9:
            raise input_error("the moment is not in the box's motion", got=self.seconds, allowed="up to 4.9 s")


def axes_of(name: str) -> Axes:
    """The axes of that name."""
    if name not in AXES:
        raise input_error("there are no such axes", got=name, allowed=", ".join(AXES), remedy=nearest(name, AXES))
    return AXES[name]


def material_at(axes: Axes, row: float, column: float) -> ShellMaterial:
    """The box's material with both knobs turned; what both scale is multiplied."""
    first, second = axes.rows.fields(row), axes.columns.fields(column)
    both = {name: first.get(name, 1.0) * second.get(name, 1.0) for name in {**first, **second}}
    return ShellMaterial(**{**_BOX, **both})


def write_axes(path: Path, name: str, settings: AxesSettings, tell: Callable[[str], None] = lambda line: None) -> None:
    """Run every combination and write one PNG with a title a row and a column; `tell` hears of each take."""
    axes = axes_of(name)
    guide = twisting_box()
    rows, columns = axes.rows.values(settings.grid), axes.columns.values(settings.grid)
    poses: list[list[tuple[TriMesh, Points, str]]] = []
    for i, row in enumerate(rows):
        poses.append([])
        for j, column in enumerate(columns):
            poses[i].append(_shown(guide, material_at(axes, row, column), axes, settings))
            done = i * len(columns) + j + 1
            titles = f"{_title(axes.rows, row)}, {_title(axes.columns, column)}"
            tell(f"{done} of {len(rows) * len(columns)}: {titles} {poses[i][j][2]}".rstrip())
    camera = framing([x for line in poses for _, x, _ in line], ground=0.0, aspect=1.0)
    sheet = picture_grid(
        [[_drawn(cell, camera, settings.side) for cell in line] for line in poses],
        row_titles=[_title(axes.rows, row) for row in rows],
        column_titles=[_title(axes.columns, column) for column in columns],
    )
    write_png(path, sheet)


def _title(knob: Knob, value: float) -> str:
    return f"{knob.title} {value:.3g}"


def _shown(
    guide: Animation, material: ShellMaterial, axes: Axes, settings: AxesSettings
) -> tuple[TriMesh, Points, str]:
    """The box at the moment shown, and a word where physics stopped before."""
    shell, tests = hierarchy(guide.mesh, settings.levels)
    moment = axes.seconds if settings.seconds is None else settings.seconds
    last = max(int(np.searchsorted(guide.times, moment - 1e-9)), 1)
    job = tracking_job(guide, shell, tests, material=material, threads=settings.threads)
    x, said = shell.rest, ""
    try:
        for frame in islice(job.frames(), last + 1):
            x = frame.points
    except PhysicsStopped as error:
        _log.warning("%s", error)
        said = "stopped"
    return shell, x, said


def _drawn(cell: tuple[TriMesh, Points, str], camera: Camera, side: int) -> Image:
    shell, x, said = cell
    return burn_in(picture(x, shell.faces, camera, size=(side, side), ground=0.0), said)
