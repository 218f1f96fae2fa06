"""A soft bar, and ways to bend it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bunraku.contracts import Points
from bunraku.direction import Take
from bunraku.direction.steer import Body, steer
from bunraku.geometry import TetMesh, tet_bar
from bunraku.materials import SolidMaterial

LENGTH = 0.6
BAR = tet_bar((6, 2, 2), (LENGTH, 0.2, 0.2))
JELLY = SolidMaterial(young=2e4, poisson=0.4, density=1000.0, stiffness_damping=0.01)
LEFT = np.flatnonzero(BAR.rest[:, 0] < 1e-9)
RIGHT = np.flatnonzero(BAR.rest[:, 0] > LENGTH - 1e-9)
MIDDLE = BAR.tets[np.argmin(np.linalg.norm(BAR.rest[BAR.tets].mean(axis=1) - BAR.rest.mean(axis=0), axis=1))]
"""the tetrahedron next to the centre"""
TOSSED = np.cross([1.0, 2.0, 3.0], BAR.rest - BAR.rest.mean(axis=0)) + [0.5, 3.0, 0.0]
TOSSED[:, 1] += 3.0 * BAR.rest[:, 0] ** 2
"""(n, 3) [m/s] that turns the bar about all axes and sets it swinging"""


def run(body: TetMesh | Sequence[Body] = BAR, **given: Any) -> Take[TetMesh]:
    """A short shot with one thread."""
    return steer(body, **{"material": JELLY, "duration": 0.5, "threads": 1, **given})


def twisted(rest: Points, twist: float, bend: float, length: float = LENGTH) -> Points:
    """A bar along x twisted about its axis and bent into an arc, both in degrees from end to end."""
    share = rest[:, 0] / length
    across = rest[:, 1:] - rest[:, 1:].mean(axis=0)
    angle = np.radians(twist) * share
    y = np.cos(angle) * across[:, 0] - np.sin(angle) * across[:, 1]
    z = np.sin(angle) * across[:, 0] + np.cos(angle) * across[:, 1]
    if not bend:
        return np.stack([rest[:, 0], y, z], axis=1)
    radius, arc = length / np.radians(bend), np.radians(bend) * share
    return np.stack([(radius - y) * np.sin(arc), radius - (radius - y) * np.cos(arc), z], axis=1)
