"""A cactus that jumps: up, and three times forward [Schulz 2014, figs. 5 and 7]."""

from __future__ import annotations

from typing import Any

from bunraku.scenes.planned_bodies import cactus

from .looks import dyed
from .plan_demo import PlanDemo, Triple

_FAR = 9.0
_EDGE, _TETS = 0.0433, 8370
"""[m] of tetrahedra, and how many of them [Schulz 2014, table 1]"""
_GROUND = -0.003
"""[m] the ground is at 0, but nodes of the tetrahedra stand out of the foot by a millimetre or two"""
_REGIONS = {"foot": ((-_FAR, -_FAR, -_FAR), (_FAR, 0.03, _FAR))}


def _leap(frames: float, velocity: Triple) -> dict[str, Any]:
    """Standing on its foot until the centre of mass takes off with a velocity [m/s]."""
    return {"frames": frames, "fixed": ["foot"], "keys": [{"frame": frames, "velocity": list(velocity)}]}


_FLIGHT = {"flight": {"region": "foot", "move": [0.0, 0.0, 0.0], "velocity": [0.0, 0.0, 0.0]}}
"""it lands on a flat foot, which stands still about the centre of mass"""


def _landing(frames: float) -> dict[str, Any]:
    """Standing on its foot until it is at rest again."""
    return {"frames": frames, "fixed": ["foot"], "rest": True}


def _cactus(title: str, young: float, phases: list[dict[str, Any]], moments: tuple[int, ...]) -> PlanDemo:
    """The cactus, as stiff [Pa] as lets it crouch and swing its arms in the time there is: softer, or slower, and it
    would rather bow than crouch, as that takes less force."""
    material = {"young": young, "poisson": 0.4, "density": 400.0}
    table = {"material": material, "damping": [1.0, 1e-2], "ground": _GROUND, "phases": phases}
    style = dyed((0.24, 0.47, 0.25), sheen=0.25)
    return PlanDemo(
        title, cactus, _EDGE, _REGIONS, table, _TETS, moments=moments, view=(-0.1, -0.1, -1.0), style=style
    )  # fmt: skip


_FORWARD = (0.8, 2.1, 0.0)

CACTUS: dict[str, PlanDemo] = {
    "cactus_up": _cactus(
        "a cactus swings its arms, jumps up and lands: how fast it takes off and a flat foot, all else is planned",
        6e4, [_leap(9.0, (0.0, 2.25, 0.0)), _FLIGHT, _landing(28.0)], (0, 4, 6, 8, 10, 12, 15, 18, 21, 23, 26, 34),
    ),
    "cactus_forward": _cactus(
        "a cactus leaps forward three times: a velocity for each leap and a flat foot, all else is planned",
        1.3e5,
        [
            _leap(8.0, _FORWARD), _FLIGHT, _leap(5.0, _FORWARD), _FLIGHT, _leap(5.0, _FORWARD), _FLIGHT, _landing(28.0),
        ],
        (0, 5, 7, 9, 12, 17, 20, 23, 26, 30, 33, 35, 38, 42, 47, 52),
    ),
}  # fmt: skip
