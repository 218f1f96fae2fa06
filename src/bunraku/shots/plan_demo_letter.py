"""The letter X walks, does a handspring and jumps, from keys of its soles, its palms and its centre of mass
[Schulz 2014, figs. 1, 3 and 4]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bunraku.scenes.letter_x import TALL, letter_x

from .looks import dyed
from .plan_demo import Box, PlanDemo

_EDGE, _TETS = 0.0595, 3002
"""[m] of tetrahedra, and how many of them [Schulz 2014, table 1]"""
_SOLES, _PALMS = 0.03, 0.04
"""[m] how much of a limb's end is one"""
_GROUND = -0.003
"""[m] the ground is at 0, but nodes of the tetrahedra stand out of the soles by up to two millimetres"""
_LOOK = dyed((0.16, 0.36, 0.66), sheen=0.35)


def _box(low: float, high: float, x: tuple[float, float] = (-1.0, 1.0)) -> Box:
    """All between two heights, on one side or on both."""
    return (x[0], low, -1.0), (x[1], high, 1.0)


_SOLE, _PALM = (-0.1, _SOLES), (TALL - _PALMS, TALL + 0.1)
_REGIONS = {
    "left": _box(*_SOLE, (0.0, 1.0)), "right": _box(*_SOLE, (-1.0, 0.0)), "feet": _box(*_SOLE), "hands": _box(*_PALM),
}  # fmt: skip


def _letter(title: str, regions: tuple[str, ...], table: Mapping[str, Any], moments: tuple[int, ...]) -> PlanDemo:
    own = {name: _REGIONS[name] for name in regions}
    whole = {"ground": _GROUND, **table}
    return PlanDemo(title, letter_x, _EDGE, own, whole, _TETS, moments=moments, view=(-0.9, -0.16, -0.4), style=_LOOK)


def _rubber(young: float, damping: float) -> dict[str, Any]:
    """Soft rubber; damping is of the stiffness [s]."""
    return {"material": {"preset": "rubber", "young": young, "density": 300.0}, "damping": [0.2, damping]}


_STEP, _PASSING = 12, 4  # frames: when a foot comes down, and when it has come up
_STRIDE, _LIFT = 0.35, 0.12  # [m] from foot to foot, and by which one is lifted


def _lifted(foot: str, since: float, to: float) -> dict[str, Any]:
    """The key of a sole that passes the other foot."""
    return {"frame": _PASSING, "region": foot, "move": [0.0, _LIFT, 0.5 * (since + to)]}


def _step(k: int) -> dict[str, Any]:
    """The foot that is behind is put down ahead of the other."""
    moves, stands = ("left", "right") if k % 2 else ("right", "left")
    since, to = max(k - 1, 0) * _STRIDE, (k + 1) * _STRIDE
    down = {"frame": _STEP, "region": moves, "move": [0.0, 0.0, to], "velocity": [0.0, -1.0, 0.0]}
    return {"frames": _STEP, "fixed": [stands], "keys": [_lifted(moves, since, to), down]}


_HALT = {"frames": 20, "fixed": ["right"], "keys": [_lifted("left", 4 * _STRIDE, 5 * _STRIDE)], "rest": True}
_WALK = {**_rubber(1e5, 0.03), "phases": [*map(_step, range(5)), _HALT]}

_OVER = 0.57  # [m] from feet to hands: about as far as the letter reaches when it bends to half a circle
_HANDS = {
    "frame": 18, "region": "hands", "move": [0.0, -TALL + _PALMS, _OVER], "rotate": [180.0, 0.0, 0.0],
    "velocity": [0.0, -3.0, 0.0], "weight": 6.0,
}  # fmt: skip
_FEET = {
    "frame": 14, "region": "feet", "move": [0.0, 0.0, 2.0 * _OVER], "rotate": [360.0, 0.0, 0.0],
    "velocity": [0.0, -4.0, 0.0], "weight": 6.0,
}  # fmt: skip
_HANDSPRING = {
    **_rubber(1e5, 0.02),
    "phases": [
        {"frames": 18, "fixed": ["feet"], "keys": [_HANDS]},
        {"frames": 14, "fixed": ["hands"], "keys": [_FEET]},
        {"frames": 24, "fixed": ["feet"], "rest": True},
    ],
}

_JUMP = {
    **_rubber(4e4, 0.012),
    "phases": [
        {"frames": 11, "fixed": ["feet"], "keys": [{"frame": 11, "velocity": [0.0, 2.7, 1.3]}]},
        {"flight": {"region": "feet", "move": [0.0, 0.0, 0.0], "velocity": [0.0, 0.0, 0.0]}},
        {"frames": 26, "fixed": ["feet"], "rest": True},
    ],
}

LETTER: dict[str, PlanDemo] = {
    "x_walk": _letter(
        "the letter X walks: five steps, each from where the foot comes down; a sixth brings it to rest",
        ("left", "right"), _WALK, (0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 52, 60, 64, 80),
    ),
    "x_handspring": _letter(
        "the letter X does a handspring: hands down, feet down, up again",
        ("feet", "hands"), _HANDSPRING, (0, 6, 10, 14, 16, 18, 20, 22, 24, 27, 30, 32, 35, 38, 46, 56),
    ),
    "x_jump": _letter(
        "the letter X jumps: one velocity of its centre of mass, a landing of its feet; it crouches by itself",
        ("feet",), _JUMP, (0, 4, 6, 8, 10, 12, 14, 16, 20, 24, 26, 28, 31, 34, 40, 48),
    ),
}  # fmt: skip
