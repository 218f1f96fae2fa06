"""Figures: takes of one guide beside each other, as a sheet of pictures, a video, USD and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bunraku.contracts import input_error
from bunraku.io import output_error, write_animation
from bunraku.render import GUIDE, STUDIO, Camera, Image, burn_in, framing, picture, rows_sheet, write_png, write_video
from bunraku.scenes import Panel, Study, band, cloth_design, resolution, sheet, uneven

from .findings import nearest

SIZE = (480, 360)  # [pixels] of each picture


@dataclass(frozen=True)
class Figure:
    """A comparison that needs no files of the artist's."""

    title: str
    study: Callable[[int | None], Study]
    """number of threads, None for all → the takes"""
    view: tuple[float, float, float]
    """the direction in which the camera looks"""


FIGURES: dict[str, Figure] = {
    "cloth": Figure(
        "twenty coarse previews of a thrown cloth, one chosen: preview, naive fine run, tracked fine run (TRACKS 5.1)",
        lambda threads: cloth_design(threads=threads), (-0.3, -0.15, -1.0),
    ),
    "fig3": Figure("a rubber band is jerked: conditions at points, springs, averages", band, (0.05, -0.25, -1.0)),
    "fig4": Figure("a dome breathes rapidly: conditions at points, springs, averages", sheet, (-0.3, -0.45, -1.0)),
    "fig5": Figure("folds are longer where regions are coarser", uneven, (-0.3, -0.8, -1.0)),
    "fig6": Figure(
        "16, 64, 256 and 1024 regions: closer to the guide, finer wrinkles", resolution, (-0.3, -0.8, -1.0)
    ),
}  # fmt: skip


def figure(name: str) -> Figure:
    """The figure of that name; a misspelt one is answered with the nearest."""
    if name in FIGURES:
        return FIGURES[name]
    raise input_error("there is no such figure", got=name, allowed=", ".join(FIGURES), remedy=nearest(name, FIGURES))


def write_study(name: str, study: Study, folder: Path, *, video: bool = True) -> list[Path]:
    """Write NAME.png, NAME.txt, NAME.mp4 and a USD of every panel; returns what was written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / f"{name}.txt"]
        written[0].write_text("\n".join(study.table()) + "\n", encoding="utf-8")
    except OSError as error:
        raise output_error(folder, error) from error
    written.append(folder / f"{name}.png")
    write_png(written[-1], study_sheet(name, study))
    for panel in study.panels:
        written.append(folder / f"{name}_{_plain(panel.name)}.usdc")
        write_animation(written[-1], panel.animation, prim=f"/{_plain(panel.name)}")
    if video:
        times = study.panels[0].animation.times
        written.append(folder / f"{name}.mp4")
        write_video(written[-1], _film(study, _camera(name, study)), 1.0 / float(times[1] - times[0]))
    return written


def study_sheet(name: str, study: Study, *, width: int = 1920) -> Image:
    """A row of pictures for every panel, a column for every moment worth one."""
    camera = _camera(name, study, study.moments)
    rows = [[_drawn(panel, k, camera) for k in study.moments] for panel in study.panels]
    titles = [panel.name for panel in study.panels]
    return rows_sheet(rows, [f"frame {k + 1}" for k in study.moments], titles, width=width)


def _camera(name: str, study: Study, moments: tuple[int, ...] | None = None) -> Camera:
    """One that sees all panels at those moments, or at all."""
    chosen = slice(None) if moments is None else list(moments)
    seen = [panel.animation.points[chosen] for panel in study.panels]
    return framing(seen, aspect=SIZE[0] / SIZE[1], direction=figure(name).view)


def _drawn(panel: Panel, k: int, camera: Camera) -> Image:
    animation = panel.animation
    style = GUIDE if panel.is_guide else STUDIO
    return picture(animation.points[k], animation.mesh.faces, camera, size=SIZE, style=style)


def _film(study: Study, camera: Camera) -> Iterator[Image]:
    """All panels beside each other, frame by frame."""
    for k in range(study.panels[0].animation.frame_count):
        yield np.concatenate([burn_in(_drawn(one, k, camera), top_left=one.name) for one in study.panels], axis=1)


def _plain(name: str) -> str:
    """A name for files and prims: letters, digits and underscores, a letter first."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    return plain if plain[0].isalpha() else f"of_{plain}"
