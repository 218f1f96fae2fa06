"""Swatches: a square of every preset laid over a round stand, let fall and drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import PhysicsStopped, Points, input_error
from bunraku.direction import Pin
from bunraku.direction.track import tracking_job
from bunraku.geometry import TriMesh, crinkle
from bunraku.materials import PRESETS, ShellMaterial, preset
from bunraku.motion import Animation, Curve
from bunraku.render import STUDIO, Camera, Image, burn_in, framing, picture, picture_grid, write_png
from bunraku.scenes import SWATCH_SIDE, on_the_stand, stand_mesh, swatch_mesh

RATE = 24.0
SECONDS = 2.0  # [s] until the lightest hang still
_SINK = 0.3  # [m/s] how fast cloth sinks in the swatches' thick air: only where it ends is shown, without tangles
_STEPS = 4  # a frame, with one Newton iteration each: the fall is only a way to where it ends
_STIFF = 1e4  # [N/m] Young's modulus times thickness from where one iteration is not enough
_FINEST, _COARSEST = 60, 36  # cells of a side
_MOST_CELLS, _LONGEST = 200, 20.0  # [s]
_BROAD = 0.06  # [m] bending length at the start of the fall
_CRUMPLED = {"foil": (0.008, 0.04)}  # [m] depth and wavelength of creases that are there from the start
_COLUMNS = 5
_STAND = (0.30, 0.30, 0.32)

COLOURS: dict[str, tuple[float, float, float]] = {
    "silk": (0.80, 0.68, 0.70), "cotton": (0.82, 0.80, 0.75), "denim": (0.28, 0.38, 0.56),
    "wool": (0.45, 0.44, 0.46), "canvas": (0.70, 0.63, 0.48), "nylon": (0.86, 0.45, 0.22),
    "felt": (0.42, 0.58, 0.40), "leather": (0.50, 0.30, 0.18), "vinyl": (0.62, 0.14, 0.16),
    "rubber": (0.34, 0.34, 0.36), "paper": (0.90, 0.89, 0.86), "cellophane": (0.66, 0.78, 0.80),
    "foil": (0.72, 0.73, 0.75),
}  # fmt: skip
"""what each is dyed, so that they are told apart at a glance"""


@dataclass(frozen=True)
class SwatchSettings:
    """How finely the swatches are made."""

    names: tuple[str, ...] = tuple(PRESETS)
    cells: int | None = None
    """of the square's side; None: half a bending length each, as far as a picture shows it"""
    seconds: float = SECONDS
    side: int = 420
    """[pixels] of each picture"""
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in self.names:
            preset(name)
        found = [] if self.names else ["no names"]
        found += [] if self.cells is None or 4 <= self.cells <= _MOST_CELLS else [f"{self.cells} cells"]
        found += [] if 0.0 < self.seconds <= _LONGEST else [f"{self.seconds:g} s"]
        found += [] if 16 <= self.side <= 4096 else [f"{self.side} pixels"]
        if found:
            raise input_error(
                "swatches cannot be made so", got=", ".join(found),
                allowed=f"4 to {_MOST_CELLS} cells, up to {_LONGEST:g} s, 16 to 4096 pixels",
            )  # fmt: skip


def bending_length(material: ShellMaterial) -> float:
    """(D/weight)^⅓ [m] along the warp: the overhang at which a strip begins to droop."""
    young, scale = (Curve.of(value).at(0.0) for value in (material.young, material.bend_scale))
    rigidity = scale * young * material.thickness**3 / 12.0 / (1.0 - material.poisson**2)
    return float((rigidity / material.areal_mass / 9.81) ** (1 / 3))


def draped(name: str, settings: SwatchSettings) -> tuple[TriMesh, Points]:
    """A swatch of a preset and where its points (n, 3) [m] have come to rest; the warp runs towards the camera."""
    material = preset(name)
    fine = int(np.clip(np.ceil(2.0 * SWATCH_SIDE / bending_length(material)), _COARSEST, _FINEST))
    mesh = swatch_mesh(settings.cells or fine)
    frames = max(round(settings.seconds * RATE), 1) + 1
    still = Animation(mesh, np.arange(frames) / RATE, np.repeat(mesh.rest[None], frames, axis=0))
    stiff = Curve.of(material.young).at(0.0) * material.thickness > _STIFF
    rest = _crumpled(name, mesh)
    job = tracking_job(
        still, mesh, None, material=_let_down(material, settings.seconds), pins=Pin(on_the_stand(mesh)),
        warp=(0.0, 0.0, 1.0), substeps=_STEPS // 2 if stiff else _STEPS, iterations=3 if stiff else 1, rest=rest,
        start=rest, velocity="zero", threads=settings.threads,
    )  # fmt: skip
    try:
        *_, last = job.frames()
    except PhysicsStopped as error:
        raise PhysicsStopped(f"the swatch of {name}: {error}") from error
    return mesh, last.points


def _crumpled(name: str, mesh: TriMesh) -> Points:
    """(n, 3) the shape without stress [m]: flat, but for what has been crumpled and smoothed out again."""
    if name not in _CRUMPLED:
        return mesh.rest
    depth, wavelength = _CRUMPLED[name]
    return crinkle(mesh, depth=depth, wavelength=wavelength, seed=1)


def _let_down(material: ShellMaterial, seconds: float) -> ShellMaterial:
    """The material in thick air, at first as stiff in bending as one that hangs in broad folds.

    Cloth let fall buckles in the shortest folds it can make, a few cells wide, and they stay: they lock one another,
    and where there is no contact they pass through one another. Broad folds that slowly grow finer do not.
    """
    drag = 9.81 * material.areal_mass / _SINK
    scale = Curve.of(material.bend_scale).at(0.0)
    most = (_BROAD / bending_length(material)) ** 3
    if most <= 1.0:
        return replace(material, drag=drag)
    times, factors = np.linspace(0.0, 0.6 * seconds, 13), np.geomspace(most, 1.0, 13)
    keys = [[float(time), float(scale * factor), "hold"] for time, factor in zip(times, factors, strict=True)]
    return replace(material, drag=drag, bend_scale=Curve.of(keys))


def swatch_picture(name: str, mesh: TriMesh, points: Points, camera: Camera, side: int) -> Image:
    """The swatch on its stand, with its name."""
    stand = stand_mesh()
    colour = COLOURS.get(name, STUDIO.front)
    paint = np.vstack([np.tile(colour, (len(mesh.faces), 1)), np.tile(_STAND, (len(stand.faces), 1))])
    faces = np.vstack([mesh.faces, stand.faces + mesh.point_count])
    style = replace(STUDIO, back=tuple(0.72 * one for one in colour))
    drawn = picture(
        np.vstack([points, stand.rest]), faces, camera, size=(side, side), style=style, paint=paint, ground=0.0
    )
    return burn_in(drawn, top_left=name, letters=1 / 14)


def swatch_pictures(settings: SwatchSettings) -> Iterator[tuple[str, Image]]:
    """A picture of each preset, one by one."""
    flat = swatch_mesh(4)
    camera = framing([flat.rest, stand_mesh().rest], aspect=1.0, direction=(-0.35, -0.42, -1.0), margin=0.0)
    for name in settings.names:
        mesh, points = draped(name, settings)
        yield name, swatch_picture(name, mesh, points, camera, settings.side)


def write_swatches(path: Path, settings: SwatchSettings, tell: Callable[[str], None] = lambda line: None) -> None:
    """Write one PNG with a swatch of each preset; `tell` hears of each."""
    made: list[Image] = []
    tell(f"letting down {len(settings.names)} swatches, some seconds each")
    for name, image in swatch_pictures(settings):
        made.append(image)
        tell(f"{len(made)} of {len(settings.names)}: {name}")
    sheet = picture_grid(_in_rows(made))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_png(path, sheet)


def _in_rows(images: Sequence[Image]) -> list[list[Image]]:
    return [list(images[k : k + _COLUMNS]) for k in range(0, len(images), _COLUMNS)]
