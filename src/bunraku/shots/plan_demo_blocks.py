"""What stands and moves above its base: a block stretched, twisted and tilted by one key of its head, and a statue
that dances round and round [Schulz 2014, figs. 2 and 6]."""

from __future__ import annotations

from typing import Any

from bunraku.scenes.planned_bodies import block, statue

from .looks import dyed
from .plan_demo import PlanDemo, Triple

_FAR = 9.0
_ENDS = {"foot": ((-_FAR, -_FAR, -_FAR), (_FAR, 0.08, _FAR)), "head": ((-_FAR, 0.93, -_FAR), (_FAR, _FAR, _FAR))}
_STATUE = {
    "plinth": ((-_FAR, -_FAR, -_FAR), (_FAR, 0.12, _FAR)), "belly": ((-0.04, 0.44, 0.10), (0.04, 0.49, _FAR))
}  # fmt: skip
_EDGE, _TETS = 0.0735, 2015
"""[m] of the block's tetrahedra, and how many of them [Schulz 2014, table 1]"""


def _moved(frame: int, move: Triple, rotate: Triple = (0.0, 0.0, 0.0), region: str = "head") -> dict[str, Any]:
    """A key of a part: moved [m] and turned [°]."""
    return {"frame": frame, "region": region, "move": list(move), "rotate": list(rotate)}


def _block(title: str, young: float, key: dict[str, Any], colour: Triple, view: Triple) -> PlanDemo:
    """The block, its base fixed, with one key: as stiff [Pa] as swings well in the time there is."""
    material = {"young": young, "poisson": 0.33, "density": 400.0}
    table = {"material": material, "damping": [0.3, 4e-3], "fixed": ["foot"], "keys": [key]}
    return PlanDemo(
        title, block, _EDGE, _ENDS, table, _TETS, (1, 61), _MOMENTS, view, style=dyed(colour, sheen=0.4)
    )  # fmt: skip


_MOMENTS = (0, 6, 12, 16, 20, 24, 28, 32, 36, 40, 46, 52)

BLOCKS: dict[str, PlanDemo] = {
    "stretch": _block(
        "a rubber block crouches, shoots up and swings back to rest: one key of its head, all else is planned",
        7e3, _moved(33, (0.0, 0.38, 0.0)), (0.62, 0.24, 0.18), (-0.5, -0.15, -1.0),
    ),
    "twist": _block(
        "a rubber block winds up, spirals upwards and swings back to rest: one key of its head, all else is planned",
        1.4e4, _moved(33, (0.0, 0.32, 0.0), (0.0, 145.0, 0.0)), (0.20, 0.45, 0.42), (-0.5, -0.15, -1.0),
    ),
    "tilt": _block(
        "a rubber block leans back, stretches and bows to the side: one key of its head, all else is planned",
        1e5, _moved(33, (0.49, 0.08, 0.0), (0.0, 0.0, -50.0)), (0.24, 0.36, 0.60), (-0.2, -0.15, -1.0),
    ),
    "statue": PlanDemo(
        "a statue on its plinth dances round and round: three keys of its belly, all else is planned",
        statue, 0.0218, _STATUE,
        {
            "material": {"young": 5e4, "poisson": 0.4, "density": 400.0}, "damping": [0.5, 4e-3], "modes": 10,
            "fixed": ["plinth"], "circular": True,
            "keys": [
                _moved(1, (0.07, -0.01, 0.02), (4.0, -10.0, -18.5), "belly"),
                _moved(21, (-0.07, -0.01, 0.02), (4.0, 10.0, 18.5), "belly"),
                _moved(41, (0.0, 0.03, -0.06), (-14.0, 0.0, 0.0), "belly"),
            ],
        },
        77642, (1, 61), tuple(range(0, 60, 5)), (-0.15, -0.12, -1.0), style=dyed((0.55, 0.44, 0.26), sheen=0.5),
    ),
}  # fmt: skip
