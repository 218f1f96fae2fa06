"""A block that stands, and what is asked of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.direction.plan import Key, Motion, plan
from bunraku.direction.steer import Grip
from bunraku.geometry import tet_bar
from bunraku.materials import SolidMaterial

BLOCK = tet_bar((2, 6, 2), (0.3, 0.9, 0.3))
BASE = np.flatnonzero(BLOCK.rest[:, 1] < 1e-9)
TOP = np.flatnonzero(BLOCK.rest[:, 1] > 0.9 - 1e-9)
RUBBER = SolidMaterial(young=1e5, poisson=0.3, density=1000.0, stiffness_damping=0.002, mass_damping=0.1)
PULLED, TILTED = Grip(TOP, move=(0.0, 0.2, 0.0)), Grip(TOP, move=(0.25, -0.05, 0.0), rotate=(0.0, 0.0, -0.7))
TWISTED = Grip(TOP, rotate=(0.0, 2.0, 0.0))
ASKEW = Grip(TOP, move=(0.2, -0.03, 0.08), rotate=(0.3, 0.4, -0.6))
"""which no mirror maps to itself: of two mirrored motions that cost the same either may be found"""


def block(*keys: Key, **given: Any) -> Motion:
    """A motion of one second of the block with its base fixed."""
    return plan(BLOCK, keys, **{"fixed": BASE, "material": RUBBER, "duration": 1.0, "modes": 20, **given})


def posed(time: float, grip: Grip, **given: Any) -> Key:
    return Key.posed(BLOCK, time, grip, **given)
