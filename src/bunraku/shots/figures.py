"""Figures: takes of one guide beside each other, as a sheet of pictures, a video, USD and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from bunraku.contracts import Points, Vector, input_error
from bunraku.geometry import TriMesh
from bunraku.io import output_error, write_animation
from bunraku.render import (
    GUIDE,
    STUDIO,
    Camera,
    Image,
    Rounding,
    Style,
    burn_in,
    exposed,
    framing,
    picture,
    picture_grid,
    rows_sheet,
    write_png,
    write_video,
)
from bunraku.scenes import (
    Panel,
    Study,
    band,
    bar_study,
    bar_ways,
    buttons_study,
    cloth_design,
    cushion_study,
    frown_study,
    herringbone_study,
    jelly_study,
    key_study,
    letter_study,
    path_ways,
    plan_ways,
    resolution,
    rolling,
    seat_study,
    sheet,
    skins_study,
    slab_study,
    uneven,
)

from .findings import nearest
from .look_studies import looks, outfits
from .looks import BAG_LOOKS, WALKER_LOOKS, dyed
from .plan_demos import PLAN_DEMOS
from .plan_studies import plan_study
from .preview import OBSTACLE_PAINT
from .scenery import Scenery
from .stage_studies import JELLY, puppet_study

SIZE = (480, 360)  # [pixels] of each picture
_IN_A_ROW = 4  # moments of a single panel


@dataclass(frozen=True)
class Figure:
    """A comparison that needs no files of the artist's."""

    title: str
    study: Callable[[int | None], Study]
    """number of threads, None for all → the takes"""
    view: tuple[float, float, float]
    """the direction in which the camera looks"""
    size: tuple[int, int] = SIZE
    """[pixels] of each picture"""
    ground: float | None = None
    """[m] height of the ground, where there is one"""
    follows: bool = False
    """whether the camera goes along with the guide"""
    samples: int = 1
    """moments exposed on each picture of the sheet, while the shutter is open: a whole frame"""
    style: Style = STUDIO
    """of panels that have none of their own"""
    styles: Mapping[str, Style] = field(default_factory=dict)
    """of panels, by their names"""


_BAG_VIEW, _WALKER_VIEW = (-0.7, -0.25, -0.8), (-0.85, -0.2, -0.75)
_WIND_VIEW = (-0.9, -0.14, -0.55)
_PORTRAIT = (420, 480)
_RUBBER = dyed((0.70, 0.16, 0.12), sheen=0.3)
_LOOKS = {name: one.style for name, one in (BAG_LOOKS | WALKER_LOOKS).items()}
_ROLLERS = {
    "ball": dyed((0.80, 0.16, 0.12), sheen=0.35), "toy": dyed((0.26, 0.48, 0.72), sheen=0.2),
    "character": dyed((0.72, 0.48, 0.28), sheen=0.2),
}  # fmt: skip
_SKINS = {
    "linen": dyed((0.80, 0.74, 0.62)), "supple and thick": dyed((0.47, 0.27, 0.17), sheen=0.3),
    "rigid and thin": dyed((0.64, 0.66, 0.69), sheen=0.6), "the foam": dyed((0.72, 0.22, 0.17), sheen=0.05),
    "its cells": dyed((0.36, 0.53, 0.74)),
}  # fmt: skip
_WALK = (1, 31)
"""frames of the walker's first two steps"""

FIGURES: dict[str, Figure] = {
    "cloth": Figure(
        "a cloth thrown at a branch, the best of twenty coarse previews: preview, naive and tracked fine run",
        lambda threads: cloth_design(threads=threads), (-0.3, -0.15, -1.0), size=(360, 420),
    ),
    "fig3": Figure(
        "a rubber band is jerked: points, springs, velocities, averages", band, (0.05, -0.55, -1.0), style=_RUBBER
    ),
    "fig4": Figure(
        "a dome breathes rapidly: points, springs, velocities, averages", sheet, (-0.3, -0.45, -1.0), style=_RUBBER
    ),
    "fig5": Figure("folds are longer where regions are coarser", uneven, (-0.3, -0.8, -1.0)),
    "fig6": Figure(
        "16, 64, 256 and 1024 regions: closer to the guide, finer wrinkles", resolution, (-0.3, -0.8, -1.0)
    ),
    "fig9": Figure(
        "six looks of the bag from one guide: vinyl, flowy, accordion, ridges, crinkle, wind",
        lambda threads: looks(list(BAG_LOOKS), (4, 8, 13, 16, 19, 24, 29), threads), _BAG_VIEW,
        size=_PORTRAIT, ground=0.0, follows=True, styles=_LOOKS,
    ),
    "fig10": Figure(
        "the walker leans into a headwind, 16 moments on each picture: guide and take (without contact)",
        lambda threads: outfits(["walker"], (68,), None, threads), _WIND_VIEW,
        size=(720, 720), ground=0.0, follows=True, samples=16, styles=_LOOKS,
    ),
    "outfits": Figure(
        "one walk, four outfits: felt, paper, ribs, balloon (without contact)",
        lambda threads: outfits(list(WALKER_LOOKS), (5, 10, 15, 20, 25, 30), _WALK, threads), _WALKER_VIEW,
        size=_PORTRAIT, ground=0.0, follows=True, styles=_LOOKS,
    ),
    "slab": Figure(
        "three skins on one foam, pressed: the materials say how long waves are", slab_study, (-0.5, -0.55, -1.0),
        style=_RUBBER,
    ),
    "cushion": Figure(
        "a foam cushion with a thick soft skin, bent by its ends: the inner side wrinkles", cushion_study,
        (-0.35, -0.65, -1.0), style=dyed((0.45, 0.26, 0.16), sheen=0.35),
    ),
    "bar": Figure(
        "a bar bent in its middle: linear and smooth cells, spectral and local coupling, and with the foundation",
        bar_study, (-0.25, -0.6, -1.0), size=(380, 230), style=dyed((0.83, 0.45, 0.18), sheen=0.3),
    ),
    "buttons": Figure(
        "buttons are drawn into thick and into thin leather on foam: a flower of folds runs to each", buttons_study,
        (-0.25, -1.0, -0.75), style=dyed((0.45, 0.26, 0.16), sheen=0.35),
    ),
    "seat": Figure(
        "a ball is dropped on a leather seat, which folds around it: the foam, and with its skin", seat_study,
        (-0.35, -0.75, -1.0),
        style=dyed((0.45, 0.26, 0.16), sheen=0.35),
    ),
    "frown": Figure(
        "a head that frowns by three muscles, in three skins: procerus, corrugators and zygomatics", frown_study,
        (-0.22, -0.08, -1.0), size=_PORTRAIT, style=dyed((0.80, 0.60, 0.48), sheen=0.25),
    ),
    "herringbone": Figure(
        "a skin pressed along one direction and then along the other: straight ridges go in zigzag", herringbone_study,
        (-0.25, -1.0, -0.55), style=dyed((0.45, 0.26, 0.16), sheen=0.35),
    ),
    "skins": Figure(
        "a block of foam, pressed, bent and twisted, under linen, a thick and a thin skin; what is under them",
        skins_study, (-0.4, -0.55, -1.0), size=(480, 320), styles=_SKINS,
    ),
    "jelly": Figure(
        "a jelly lands, squashes as keyed, and bounces on along an arc",
        jelly_study, (-0.1, -0.22, -1.0), size=(480, 270), ground=0.0, style=dyed((0.80, 0.20, 0.30), sheen=0.45),
    ),
    "letter": Figure(
        "a soft letter hops over the letters of its word to its place in it",
        letter_study, (-0.1, -0.2, -1.0), size=(480, 270), ground=0.0, style=dyed((0.18, 0.47, 0.74), sheen=0.3),
    ),
    "shock": Figure(
        "the walker gets a shock, its rest shape between smooth and crinkled, and shakes it off (without contact)",
        lambda threads: outfits(["walker"], (80, 83, 85, 87, 95, 102, 108, 118), None, threads), _WALKER_VIEW,
        size=_PORTRAIT, ground=0.0, follows=True, styles=_LOOKS,
    ),
    "steer5": Figure(
        "from a bar to its twisted and bent key: points in straight lines, and the physics-oriented way",
        bar_ways, (-1.0, -0.25, -0.35), size=(360, 420), style=dyed((0.83, 0.45, 0.18), sheen=0.3),
    ),
    "steer6": Figure(
        "a soft star on a path: the whole of it, or one tetrahedron that pulls the rest along; each held both ways",
        path_ways, (0.0, -0.1, -1.0), size=(360, 330), follows=True, style=dyed((0.86, 0.62, 0.20), sheen=0.3),
    ),
    "steer7": Figure(
        "a soft ball bounces and rolls; its way and its spin are given to a toy and to a character",
        rolling, (-0.25, -0.3, -1.0), size=(360, 300), ground=0.0, follows=True, styles=_ROLLERS,
    ),
    "steer8": Figure(
        "a character is hit; four key shapes 8 frames apart; the keyed result, without and with lead; a new path",
        key_study, (-0.12, -0.16, -1.0), size=(360, 330), ground=0.0, style=dyed((0.72, 0.48, 0.28), sheen=0.2),
    ),
    "puppet": Figure(
        "a jelly puppet's leap is planned, its landing squashed by hand, then a cape and a skin are put on it",
        puppet_study, (-0.5, -0.24, -1.0), size=(320, 400), ground=0.0, follows=True, style=dyed(JELLY, sheen=0.4),
    ),
    "plan9": Figure(
        "one setup, planned for what is seen, for what is linear, and for what is linear and warped afterwards",
        plan_ways, (-0.3, -0.2, -1.0), size=(300, 360), ground=0.0,
        style=dyed((0.20, 0.45, 0.42), sheen=0.4, smooth=False),
    ),
    **{
        f"plan_{name}": Figure(
            one.title, lambda threads, name=name: plan_study(name, threads), one.view,
            ground=0.0 if one.ground else None, style=one.style,
        )
        for name, one in PLAN_DEMOS.items()
    },
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
        write_video(written[-1], _View.of(name, study).film(study), 1.0 / float(times[1] - times[0]))
    return written


def study_sheet(name: str, study: Study, *, width: int = 1920) -> Image:
    """A row of pictures for every panel, a column for every moment worth one; or one moment's panels in a row.

    The moments of a single panel go on from row to row.
    """
    view = _View.of(name, study, study.moments)
    captions = study.captions or [f"frame {k + 1}" for k in study.moments]
    if len(study.panels) == 1:
        named = zip(study.moments, captions, strict=True)
        pictures = [burn_in(view.still(study.panels[0], k), caption) for k, caption in named]
        return picture_grid([pictures[k : k + _IN_A_ROW] for k in range(0, len(pictures), _IN_A_ROW)])
    rows = [[view.still(panel, k) for k in study.moments] for panel in study.panels]
    titles = [panel.title for panel in study.panels]
    if len(study.moments) == 1:
        return rows_sheet([[row[0] for row in rows]], titles, captions, width=width)
    return rows_sheet(rows, captions, titles, width=width)


@dataclass(frozen=True, eq=False)
class _View:
    """How a figure's pictures are taken."""

    figure: Figure
    camera: Camera
    path: Points
    """(t, 3) [m] by which the camera moves"""
    times: Vector
    scenery: Scenery

    @staticmethod
    def of(name: str, study: Study, moments: tuple[int, ...] | None = None) -> _View:
        """One that sees all panels at those moments, or at all."""
        chosen, guide = figure(name), study.panels[0].animation
        path = guide.points.mean(axis=1) if chosen.follows else np.zeros((guide.frame_count, 3))
        picked = slice(None) if moments is None else list(moments)
        seen = [panel.animation.points[picked] - path[picked][:, None] for panel in study.panels]
        aspect = chosen.size[0] / chosen.size[1]
        camera = framing(seen, aspect=aspect, direction=chosen.view)
        return _View(chosen, camera, path, guide.times, Scenery(study.obstacles))

    def still(self, panel: Panel, k: int) -> Image:
        """Frame k, blurred by what moves while the shutter is open."""
        samples = self.figure.samples
        if samples == 1:
            return self.drawn(panel, panel.animation.points[k], k)
        length = float(self.times[1] - self.times[0])
        moments = self.times[k] + length * ((np.arange(samples) + 0.5) / samples - 0.5)
        return exposed(self.drawn(panel, panel.animation.at(float(time)), k) for time in moments)

    def drawn(self, panel: Panel, points: Points, k: int) -> Image:
        """Points (n, 3) seen by the camera as it stands at frame k."""
        style = GUIDE if panel.is_guide else self.figure.styles.get(panel.name, self.figure.style)
        place, ground = self.path[k], self.figure.ground
        things, others = self.scenery.around(points)
        own = panel.animation.mesh.faces
        paint = np.broadcast_to(style.front, own.shape) if panel.paint is None else panel.paint
        if panel.is_skin:
            rounding = _rounding(panel.animation.mesh)
            points, own, paint = rounding.points(points), rounding.faces, rounding.painted(paint)
        whole = np.concatenate([points, *(one.at(float(self.times[k])) for one in things)]) - place
        paint = np.concatenate([paint, np.broadcast_to(OBSTACLE_PAINT, others.shape)])
        return picture(
            whole, np.concatenate([own, others + len(points)]), self.camera, size=self.figure.size, style=style,
            paint=paint, ground=None if ground is None else ground - float(place[1]),
        )  # fmt: skip

    def film(self, study: Study) -> Iterator[Image]:
        """All panels beside each other, frame by frame, each sharp."""
        for k in range(study.panels[0].animation.frame_count):
            pictures = [self.drawn(one, one.animation.points[k], k) for one in study.panels]
            named = zip(pictures, study.panels, strict=True)
            yield np.concatenate([burn_in(image, top_left=one.title) for image, one in named], axis=1)


@lru_cache(maxsize=16)
def _rounding(mesh: TriMesh) -> Rounding:
    """Made once for all pictures of a mesh."""
    return Rounding.of(mesh.faces, mesh.point_count)


def _plain(name: str) -> str:
    """A name for files and prims: letters, digits and underscores, a letter first."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    return plain if plain[0].isalpha() else f"of_{plain}"
