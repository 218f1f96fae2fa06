"""Swatches: a square of every preset laid over a round stand, let fall and drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import PhysicsStopped, Points, input_error
from bunraku.direction import Pin
from bunraku.direction.track import tracking_job
from bunraku.geometry import TriMesh
from bunraku.materials import PRESETS, preset
from bunraku.motion import Animation
from bunraku.render import STUDIO, Camera, Image, burn_in, framing, picture, picture_grid, write_png
from bunraku.scenes import on_the_stand, stand_mesh, swatch_mesh

RATE = 24.0
SECONDS = 2.0  # [s] until the lightest hang still
_SINK = 0.3  # [m/s] how fast cloth sinks in the swatches' thick air: only where it ends is shown, without tangles
_STEPS = 8  # small steps with one Newton iteration each: the fall is only a way to where it ends
_COLUMNS = 5
_STAND = (0.30, 0.30, 0.32)

COLOURS: dict[str, tuple[float, float, float]] = {
    "silk": (0.80, 0.68, 0.70), "cotton": (0.82, 0.80, 0.75), "denim": (0.28, 0.38, 0.56),
    "wool": (0.45, 0.44, 0.46), "canvas": (0.70, 0.63, 0.48), "nylon": (0.86, 0.45, 0.22),
    "felt": (0.42, 0.58, 0.40), "leather": (0.50, 0.30, 0.18), "vinyl": (0.62, 0.14, 0.16),
    "rubber": (0.25, 0.25, 0.26), "paper": (0.90, 0.89, 0.86), "cellophane": (0.66, 0.78, 0.80),
    "foil": (0.72, 0.73, 0.75),
}  # fmt: skip
"""what each is dyed, so that they are told apart at a glance"""


@dataclass(frozen=True)
class SwatchSettings:
    """How finely the swatches are made."""

    names: tuple[str, ...] = tuple(PRESETS)
    cells: int = 34
    """of the square's side"""
    seconds: float = SECONDS
    side: int = 420
    """[pixels] of each picture"""
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in self.names:
            preset(name)
        for name, low, high in (("cells", 4, 300), ("seconds", 1.0 / RATE, 60.0), ("side", 16, 4096)):
            if not low <= getattr(self, name) <= high:
                raise input_error(f"{name} is out of range", got=getattr(self, name), allowed=f"{low:g} to {high:g}")
        if not self.names:
            raise input_error("swatches need at least one preset", allowed=", ".join(PRESETS))


def draped(name: str, settings: SwatchSettings) -> tuple[TriMesh, Points]:
    """A swatch of a preset and where its points (n, 3) [m] have come to rest; the warp runs towards the camera."""
    mesh = swatch_mesh(settings.cells)
    frames = max(round(settings.seconds * RATE), 1) + 1
    still = Animation(mesh, np.arange(frames) / RATE, np.repeat(mesh.rest[None], frames, axis=0))
    material = preset(name)
    pressure = 9.81 * material.areal_mass  # [Pa]
    job = tracking_job(
        still, mesh, None, material=replace(material, drag=pressure / _SINK), pins=Pin(on_the_stand(mesh)),
        warp=(0.0, 0.0, 1.0), substeps=_STEPS, iterations=1, velocity="zero", threads=settings.threads,
    )  # fmt: skip
    try:
        *_, last = job.frames()
    except PhysicsStopped as error:
        raise PhysicsStopped(f"the swatch of {name}: {error}") from error
    return mesh, last.points


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
    for name, image in swatch_pictures(settings):
        made.append(image)
        tell(f"{len(made)} of {len(settings.names)}: {name}")
    write_png(path, picture_grid(_in_rows(made)))


def _in_rows(images: Sequence[Image]) -> list[list[Image]]:
    return [list(images[k : k + _COLUMNS]) for k in range(0, len(images), _COLUMNS)]
