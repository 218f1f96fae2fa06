"""What a demo is made of, and the looks of the bag and of the walker: one guide each, dressed several ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bunraku.contracts import Integers
from bunraku.motion import Animation
from bunraku.render import STUDIO, Style
from bunraku.rigs import Skeleton
from bunraku.scenes import BEATS, backflip_guide, mocap_bag, walker_regions, walking_x

Triple = tuple[float, float, float]
REGIONS = "regions"
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
    style: Style = STUDIO
    """how figures draw its take"""
    driven: Callable[[Skeleton], Animation] | None = None
    """skeleton → another guide for the same shot"""
    bodies: Mapping[str, Callable[[], Animation]] = field(default_factory=dict)
    """obstacles by name, each written to a file of its own"""


def dyed(colour: Triple, *, sheen: float = 0.2, smooth: bool = True) -> Style:
    """A surface of that colour (sRGB from 0 to 1), darker inside."""
    red, green, blue = (0.55 * one + 0.06 for one in colour)
    return replace(STUDIO, front=colour, back=(red, green, blue), sheen=sheen, smooth=smooth)


# Limp enough to wrinkle between the guide's vertices, damped enough to look like a sheet of plastic.
_VINYL = {
    "young": 1.5e5, "poisson": 0.3, "thickness": 0.006, "density": 250.0,
    "stretch_damping": 3e-3, "bend_damping": 3e-3,
}  # fmt: skip
_UNDAMPED = {"stretch_damping": 1e-4, "bend_damping": 1e-4}
_SILK = _VINYL | _UNDAMPED | {"young": 1.2e5, "thickness": 0.003, "density": 200.0}
_NYLON = _VINYL | {"young": 1.2e5, "thickness": 0.004, "density": 120.0}
_FILM = _VINYL | {"young": 4e5, "thickness": 0.005, "density": 150.0, "stretch_damping": 1e-3, "bend_damping": 1e-3}
_GALE = {"velocity": [-10.0, 1.0, -3.0], "turbulence": 0.5, "size": 0.4, "seed": 3, "shelter": False}


# Much thinner to the touch than the plastic is: its folds are tighter than that.
_TOUCH = {"thickness": 0.001, "balance": 0.2}
# Creases that stand in each other's way are no reason to give way: the guide presses harder.
_FIRM = {"contact": _TOUCH | {"press": 0.3}}


def _bag(title: str, style: Style, material: Mapping[str, Any], levels: int = 2, **more: Any) -> Demo:
    physics = {"contact": _TOUCH, **more.pop("physics", {})}
    settings = {"mesh": {"levels": levels}, "material": dict(material), **more}
    return Demo(title, backflip_guide, settings, physics=physics, style=style, driven=mocap_bag)


BAG_LOOKS: dict[str, Demo] = {
    "bag": _bag(
        "a bag does a backflip: 88 guide vertices direct 1,297 of vinyl", dyed((0.72, 0.10, 0.10), sheen=0.35), _VINYL
    ),
    "bag_flowy": _bag(
        "the same backflip in thin undamped silk: the landing sends waves through it", dyed((0.88, 0.47, 0.12)), _SILK,
        track={"method": "clusters", "count": 30},
    ),
    "bag_accordion": _bag(
        "the same backflip, folded like an accordion", dyed((0.45, 0.24, 0.62)), _VINYL,
        rest={"shape": "accordion", "depth": 0.05, "wavelength": 0.0775}, physics=_FIRM,
    ),
    "bag_ridges": _bag(
        "the same backflip, ribbed from rim to floor", dyed((0.80, 0.16, 0.32)), _VINYL,
        rest={"shape": "ridges", "depth": 0.05, "wavelength": 0.14}, physics=_FIRM,
    ),
    "bag_crinkle": _bag(
        "the same backflip in crinkled film", dyed((0.72, 0.83, 0.87), sheen=0.45, smooth=False), _FILM,
        rest={"shape": "crinkle", "depth": 0.09, "wavelength": 0.10, "seed": 1}, physics=_FIRM,
    ),
    "bag_wind": _bag(
        "the same backflip in a gale from the side", dyed((0.20, 0.50, 0.42)),
        _NYLON, track={"method": "clusters", "count": 20}, physics={"wind": _GALE},
    ),
}  # fmt: skip
"""the six looks of TRACKS figure 9, from one guide"""

# The skin of an empty cushion: thick and soft, so that it folds like felt.
_CUSHION = {
    "young": 5e4, "poisson": 0.3, "thickness": 0.008, "density": 150.0,
    "stretch_damping": 1e-2, "bend_damping": 1e-2,
}  # fmt: skip


def _walker(title: str, style: Style, material: Mapping[str, Any], **more: Any) -> Demo:
    # A millimetre, far below the finest region. At the default the first 24 frames of the walker converge too, but in
    # 18.5 iterations each instead of 4.7, to a surface 0.6 mm away (root mean square; a wrinkle differs by 17 mm).
    physics = {"tolerance": 1e-3, **more.pop("physics", {})}
    settings = {
        "mesh": {"levels": 0}, "material": dict(material), "track": {"method": "painted", "regions": REGIONS}, **more,
    }  # fmt: skip
    return Demo(f"{title} (without contact)", walking_x, settings, walker_regions, physics, style)


def _frame(time: float) -> int:
    """Number of the walker's frame at a time [s]."""
    return round(24.0 * time) + 1


def _headwind() -> dict[str, Any]:
    """A wind from the front while the walker leans into it."""
    start, end = (_frame(time) for time in BEATS["headwind"])
    gust = [[start - 4, 0.0], [start + 5, 1.0, "smooth"], [end - 5, 1.0], [end + 3, 0.0, "smooth"]]
    return {"velocity": [0.0, 0.5, -9.0], "gust": gust, "turbulence": 0.35, "size": 0.35, "seed": 2, "shelter": False}


def _shock() -> list[list[Any]]:
    """Amounts of crinkle: on and off every two frames through the shock, then out while it shakes itself."""
    start, end = (_frame(time) for time in BEATS["shock"])
    flicker = [[k, 1.0 if (k - start) % 4 < 2 else 0.3] for k in range(start + 1, end, 2)]
    return [[start - 1, 0.0], *flicker, [end, 0.6], [_frame(BEATS["shake"][1]), 0.0, "smooth"]]


_CRINKLED = {"shape": "crinkle", "depth": 0.05, "wavelength": 0.09, "seed": 4, "amount": _shock()}

WALKER_LOOKS: dict[str, Demo] = {
    "walker": _walker(
        "an X walks, leans into the wind, gets a shock and shakes it off: 280 painted regions, fine ones on the feet",
        dyed((0.82, 0.60, 0.20)), _CUSHION, rest=_CRINKLED, physics={"wind": _headwind()},
    ),
    "walker_paper": _walker(
        "the same walk, crumpled from paper", dyed((0.86, 0.82, 0.74), smooth=False), _CUSHION,
        rest=_CRINKLED | {"depth": 0.045, "wavelength": 0.08, "amount": 1.0}, physics={"wind": _headwind()},
    ),
    "walker_ribs": _walker(
        "the same walk, ribbed like a caterpillar", dyed((0.38, 0.58, 0.26)), _CUSHION,
        rest={"shape": "accordion", "depth": 0.035, "wavelength": 0.09}, physics={"wind": _headwind()},
    ),
    "walker_balloon": _walker(
        "the same walk, blown taut like a balloon", dyed((0.78, 0.22, 0.30), sheen=0.4), _CUSHION, pressure=900.0,
        physics={"wind": _headwind()},
    ),
}  # fmt: skip
"""outfits for one walk"""
