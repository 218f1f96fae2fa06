"""Two knobs of a material against each other: takes of the twisting box on one sheet [Bergou 2007, fig. 8]."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import PhysicsStopped, Points, State, Vector, input_error
from bunraku.direction import Frame
from bunraku.direction.track import hierarchy, tracking_job
from bunraku.energies import Bending
from bunraku.geometry import TriMesh, face_areas
from bunraku.materials import MaterialBlend, ShellMaterial
from bunraku.motion import Animation
from bunraku.render import (
    GAP,
    PAPER,
    STUDIO,
    Camera,
    Image,
    burn_in,
    footed,
    framing,
    heat,
    legend,
    picture,
    picture_grid,
    write_png,
)
from bunraku.scenes import shaken_box, twisting_box, wrung_box

from .demos import DEMOS
from .findings import nearest

_log = logging.getLogger(__name__)
_MOST = 9
_LINE = 36  # [pixels] height of the legend and of the line below
_PLAIN = replace(STUDIO, back=(0.34, 0.31, 0.28))  # the inside shows where folds pass through one another: quietly


@dataclass(frozen=True)
class Knob:
    """A quantity with its range, and how a value becomes fields of a material."""

    title: str
    """as in 'bending x 10'; letters the pictures' font has"""
    low: float
    high: float
    fields: Callable[[float], Mapping[str, float]]
    unit: str = ""
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
    guide: Callable[[], Animation]
    seconds: float
    """[s] the moment that is shown"""
    levels: int = 4
    """how fine the box is, where the settings do not say"""
    steps: int = 2
    """a frame; sheets that bend easily and hardly stretch snap, and need more"""
    exposure: float = 0.0
    """[s] before it that the picture is exposed: what still swings is blurred; 0: a moment"""


_BOX: dict[str, Any] = dict(DEMOS["box"].settings["material"])


def _scaled(*names: str) -> Callable[[float], Mapping[str, float]]:
    return lambda factor: {name: factor * float(_BOX[name]) for name in names}


AXES: dict[str, Axes] = {
    "bending": Axes(
        "stretching against bending stiffness, at the height of the twist",
        # Twice the modulus at half the scale: stretching alone changes.
        Knob("stretching x", 0.1, 10.0, lambda a: {"young": a * _BOX["young"], "bend_scale": 1.0 / a}),
        Knob("bending x", 0.25, 9.0, lambda a: {"bend_scale": a}), twisting_box, 1.5, steps=4,
    ),
    "plastic": Axes(
        "where it begins to set against how creases harden, after the twist is undone",
        Knob("yield", 2.0, 18.0, lambda a: {"yield_curvature": a}, "/m"),
        Knob("hardening", 0.0, 0.1, lambda a: {"hardening": a}, " m", even=True), wrung_box, 3.2,
    ),
    "damping": Axes(
        "damping against density, exposed for a quarter of a second just after the sudden stop",
        Knob("damping x", 1.0, 400.0, _scaled("stretch_damping", "bend_damping")),
        Knob("density x", 1.0, 16.0, _scaled("density")), shaken_box, 1.3, levels=3, steps=4, exposure=0.25,
    ),
}  # fmt: skip
"""by name; each picture tells how far the shell is bent from its rest shape or, of an exposure, how fast it moves, and
shows where (dark: not at all)"""


@dataclass(frozen=True)
class AxesSettings:
    """How finely a sheet is made."""

    grid: int = 3
    levels: int | None = None
    """None: the axes' own"""
    side: int = 420
    """[pixels] of each picture"""
    seconds: float | None = None
    """[s] the moment to show; None: the axes' own"""
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, low, high in (("grid", 1, _MOST), ("levels", 0, 6), ("side", 16, 4096)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or not low <= value <= high):
                raise input_error(f"{name} is out of range", got=value, allowed=f"a whole number from {low} to {high}")


def axes_of(name: str) -> Axes:
    """The axes of that name; a misspelt one is answered with the nearest."""
    if name not in AXES:
        raise input_error("there are no such axes", got=name, allowed=", ".join(AXES), remedy=nearest(name, AXES))
    return AXES[name]


def material_at(axes: Axes, row: float, column: float) -> ShellMaterial:
    """The box's material with both knobs turned; what both scale is multiplied."""
    first, second = axes.rows.fields(row), axes.columns.fields(column)
    both = {name: first.get(name, 1.0) * second.get(name, 1.0) for name in {**first, **second}}
    return ShellMaterial(**{**_BOX, **both})


@dataclass(frozen=True, eq=False)
class Shown:
    """One take of a sheet."""

    shell: TriMesh
    poses: tuple[Points, ...]
    """what the picture is exposed to, each (n, 3) [m]"""
    said: str
    """its number, or a word where physics stopped before"""
    swing: Vector | None = None
    """(f,) of an exposure: how fast each face moves [m/s]"""


def write_axes(path: Path, name: str, settings: AxesSettings, tell: Callable[[str], None] = lambda line: None) -> None:
    """Run every combination and write one PNG with a title a row and a column; `tell` hears of each take."""
    axes = axes_of(name)
    guide = axes.guide()
    moment, end = axes.seconds if settings.seconds is None else settings.seconds, float(guide.times[-1])
    if not 0.0 < moment <= end:
        raise input_error("the moment is not in the box's motion", got=moment, allowed=f"above 0, up to {end:.2f} s")
    rows, columns = axes.rows.values(settings.grid), axes.columns.values(settings.grid)
    takes: list[list[Shown]] = []
    for i, row in enumerate(rows):
        takes.append([])
        for j, column in enumerate(columns):
            takes[i].append(shown(guide, material_at(axes, row, column), axes, settings))
            done = i * len(columns) + j + 1
            titles = f"{_title(axes.rows, row)}, {_title(axes.columns, column)}"
            tell(f"{done} of {len(rows) * len(columns)}: {titles}: {takes[i][j].said}")
    camera = framing([x for line in takes for take in line for x in take.poses], ground=0.0, aspect=1.0)
    sheet = picture_grid(
        [[_drawn(take, camera, settings.side, _fastest(takes)) for take in line] for line in takes],
        row_titles=[_title(axes.rows, row) for row in rows],
        column_titles=[_title(axes.columns, column) for column in columns],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_png(path, _explained(sheet, axes, takes))


def _explained(sheet: Image, axes: Axes, takes: Sequence[Sequence[Shown]]) -> Image:
    """The sheet with a line about what is multiplied, and the scale of the colours where there are any."""
    width = sheet.shape[1] - 2 * GAP
    if axes.exposure:
        sheet = footed(sheet, legend(width, _LINE, "0 m/s", f"moves {_fastest(takes):.3g} m/s"))
    return footed(sheet, burn_in(np.full((_LINE, width, 3), PAPER, dtype=np.uint8), top_left=own_sheet(), letters=0.55))


def own_sheet() -> str:
    """The box's material, of which the knobs say multiples; letters the pictures' font has."""
    stiff, thick = f"{_BOX['young'] / 1e6:g} MPa", f"{1e3 * _BOX['thickness']:g} mm"
    heavy, damped = f"{_BOX['density']:g} kg/m^3", f"damping {1e3 * _BOX['bend_damping']:g} ms"
    return f"x 1 is the demo's box: {stiff}, {thick}, {heavy}, {damped}"


def _title(knob: Knob, value: float) -> str:
    return f"{knob.title} {value:.3g}{knob.unit}"


def shown(guide: Animation, material: ShellMaterial, axes: Axes, settings: AxesSettings) -> Shown:
    """The box at the moment shown, or over the time of the exposure."""
    shell, tests = hierarchy(guide.mesh, axes.levels if settings.levels is None else settings.levels)
    moment = axes.seconds if settings.seconds is None else settings.seconds
    last = max(int(np.searchsorted(guide.times, moment - 1e-9)), 1)
    since = int(np.searchsorted(guide.times, moment - axes.exposure - 1e-9)) if axes.exposure else last
    job = tracking_job(guide, shell, tests, material=material, substeps=axes.steps, threads=settings.threads)
    frames: list[Frame] = []
    try:
        for k, frame in enumerate(islice(job.frames(), last + 1)):
            frames = [*frames, frame] if k > max(since, 0) else [frame]
    except PhysicsStopped as error:
        _log.warning("%s", error)
        return Shown(shell, (frames[-1].points if frames else shell.rest,), "stopped")
    poses = tuple(frame.points for frame in frames)
    if axes.exposure:
        own = np.sqrt(np.mean([np.sum(frame.velocity**2, axis=1) for frame in frames], axis=0))
        said = f"moves {speed(frames, job.facts['mass']):.2g} m/s"
        return Shown(shell, poses, said, own[shell.faces].mean(axis=1))
    return Shown(shell, poses, f"bent {bent(shell, poses[-1]):.3g}/m")


def bent(shell: TriMesh, x: Points) -> float:
    """By how much a shell is bent from its rest shape [1/m]: the root mean square of its faces' largest curvatures."""
    areas = face_areas(shell.rest, shell.faces)
    plain = MaterialBlend.uniform(ShellMaterial(young=1.0), len(areas))
    state = State(0.0, x.reshape(-1), np.zeros(x.size))
    return float(np.sqrt(np.average(Bending(shell, plain).curvature(state) ** 2, weights=areas)))


def speed(frames: Sequence[Frame], mass: float) -> float:
    """Root mean square of a shell's speed over its frames [m/s]."""
    return float(np.sqrt(np.mean([2.0 * float(frame.report["kinetic"]) / mass for frame in frames])))


def _fastest(takes: Sequence[Sequence[Shown]]) -> float:
    """[m/s] of all faces of a sheet; one where nothing swings."""
    swings = [take.swing for line in takes for take in line if take.swing is not None]
    return max((float(one.max()) for one in swings), default=0.0) or 1.0


def _drawn(take: Shown, camera: Camera, side: int, fastest: float) -> Image:
    """Where the box still swings it is light, on one scale for the sheet."""
    faces, size = take.shell.faces, (side, side)
    paint = None if take.swing is None else heat(take.swing / fastest)
    moments = [picture(x, faces, camera, size=size, style=_PLAIN, ground=0.0, paint=paint) for x in take.poses]
    exposed = np.mean(moments, axis=0).round().astype(np.uint8)
    return burn_in(exposed, take.said, letters=1 / 16)
