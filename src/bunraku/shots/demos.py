"""Demos: a guide made by code and the shot around it, written out so that they can be looked at and changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import Integers, input_error
from bunraku.geometry import Attribute, Scope, Surface
from bunraku.io import Sample, output_error, write_animation, write_frames
from bunraku.motion import Animation
from bunraku.scenes import backflip_guide, twisting_box, walker_regions, walking_x

from .findings import nearest
from .shot import Shot, read_shot

_REGIONS = "regions"
"""the attribute a demo's painted regions are written as"""


@dataclass(frozen=True)
class Demo:
    """A shot that needs no files of the artist's."""

    title: str
    guide: Callable[[], Animation]
    settings: Mapping[str, Any]
    """of the object, apart from its guide"""
    regions: Callable[[Animation], Integers] | None = None
    """guide → (f,) labels of its faces, painted on the guide"""
    physics: Mapping[str, Any] = field(default_factory=dict)
    """the shot's physics"""


# Limp enough to wrinkle between the guide's vertices, damped enough to look like a sheet of plastic.
_BAG_VINYL = {
    "young": 1.5e5, "poisson": 0.3, "thickness": 0.006, "density": 250.0,
    "stretch_damping": 3e-3, "bend_damping": 3e-3,
}  # fmt: skip
_BAG_PHYSICS = {"tolerance": 3e-4}  # of its size, 0.3 mm; ten times finer, Newton's line search was seen to give up
# The skin of an empty cushion: thick and soft, so that it folds like felt.
_SOFT_CUSHION = {
    "young": 5e4, "poisson": 0.3, "thickness": 0.008, "density": 150.0,
    "stretch_damping": 1e-2, "bend_damping": 1e-2,
}  # fmt: skip

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
    "bag": Demo(
        "a bag does a backflip: 88 guide vertices direct 1,297 of vinyl (no contact yet)",
        backflip_guide,
        {"mesh": {"levels": 2}, "material": _BAG_VINYL},
        physics=_BAG_PHYSICS,
    ),
    "bag_flowy": Demo(
        "the same backflip in the same material, undamped: the landing sends waves through it (no contact yet)",
        backflip_guide,
        {"mesh": {"levels": 2}, "material": _BAG_VINYL | {"stretch_damping": 1e-4, "bend_damping": 1e-4}},
        physics=_BAG_PHYSICS,
    ),
    "walker": Demo(
        "an X walks, leans into the wind, gets a shock and shakes it off: 280 painted regions, fine ones on the feet",
        walking_x,
        {"mesh": {"levels": 0}, "material": _SOFT_CUSHION, "track": {"method": "painted", "regions": _REGIONS}},
        walker_regions,
        {"tolerance": 1e-3},  # of its size: a millimetre, far below the finest region
    ),
}


def demo(name: str) -> Demo:
    """The demo of that name; a misspelt one is answered with the nearest."""
    if name in DEMOS:
        return DEMOS[name]
    raise input_error("there is no such demo", got=name, allowed=", ".join(DEMOS), remedy=nearest(name, DEMOS))


def demo_files(name: str) -> tuple[str, str]:
    """Names of the shot file and of the guide."""
    return f"{name}.toml", "guide.usda" if demo(name).regions is None else "guide.usdc"


def write_demo(name: str, folder: Path) -> Shot:
    """Write guide and shot file to a folder and read them; files that are there already are kept."""
    chosen, (shot_name, guide_name) = demo(name), demo_files(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error
    if not (folder / guide_name).exists():
        _write_guide(chosen, folder / guide_name, f"/{name}")
    if not (folder / shot_name).exists():
        settings = {"object": {name: {"guide": {"file": guide_name, "prim": f"/{name}"}, **chosen.settings}}}
        settings |= {"physics": dict(chosen.physics)} if chosen.physics else {}
        heading = f"{chosen.title}\nChange it and run it again: bunraku run {shot_name}\nAll keys: bunraku run --help"
        Shot.of(settings, folder=folder, source=folder / shot_name).write(folder / shot_name, heading=heading)
    return read_shot(folder / shot_name)


def _write_guide(chosen: Demo, path: Path, prim: str) -> None:
    guide = chosen.guide()
    frames = np.arange(1, guide.frame_count + 1)
    if chosen.regions is None:
        write_animation(path, guide, frames=frames, prim=prim)
        return
    painted = Attribute(_REGIONS, Scope.POLYGON, chosen.regions(guide).astype(np.int32))
    samples = (Sample(float(k), x) for k, x in zip(frames, guide.points, strict=True))
    rate = 1.0 / float(guide.times[1] - guide.times[0])
    write_frames(path, replace(Surface.of(guide.mesh), attributes=(painted,)), samples, rate=rate, prim=prim)
