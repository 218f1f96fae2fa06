"""Demos: a guide made by code and the shot around it, written out so that they can be looked at and changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import input_error
from bunraku.io import output_error, write_animation
from bunraku.motion import Animation
from bunraku.scenes import twisting_box

from .findings import nearest
from .shot import Shot, read_shot

GUIDE = "guide.usda"


@dataclass(frozen=True)
class Demo:
    """A shot that needs no files of the artist's."""

    title: str
    guide: Callable[[], Animation]
    settings: Mapping[str, Any]
    """of the object, apart from its guide"""


DEMOS: dict[str, Demo] = {
    "box": Demo(
        "a soft box is twisted, shaken and stopped dead: 8 guide vertices direct 1,538 that wrinkle and swing",
        twisting_box,
        {
            "mesh": {"levels": 4},
            # A sheet of soft rubber: slack enough to wrinkle, heavy enough to keep swinging after the stop.
            "material": {
                "young": 2e5,
                "poisson": 0.3,
                "thickness": 0.009,
                "density": 280.0,
                "stretch_damping": 5e-4,
                "bend_damping": 5e-4,
            },
        },
    ),
}


def demo(name: str) -> Demo:
    """The demo of that name; a misspelt one is answered with the nearest."""
    if name in DEMOS:
        return DEMOS[name]
    raise input_error("there is no such demo", got=name, allowed=", ".join(DEMOS), remedy=nearest(name, DEMOS))


def demo_files(name: str) -> tuple[str, str]:
    """Names of the shot file and of the guide."""
    return f"{name}.toml", GUIDE


def write_demo(name: str, folder: Path) -> Shot:
    """Write guide and shot file to a folder and read them; files that are there already are kept."""
    chosen, (shot_name, guide_name) = demo(name), demo_files(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error
    if not (folder / guide_name).exists():
        guide = chosen.guide()
        frames = np.arange(1, guide.frame_count + 1)
        write_animation(folder / guide_name, guide, frames=frames, prim=f"/{name}")
    if not (folder / shot_name).exists():
        settings = {"object": {name: {"guide": {"file": guide_name, "prim": f"/{name}"}, **chosen.settings}}}
        heading = f"{chosen.title}\nChange it and run it again: bunraku run {shot_name}\nAll keys: bunraku run --help"
        Shot.of(settings, folder=folder, source=folder / shot_name).write(folder / shot_name, heading=heading)
    return read_shot(folder / shot_name)
