"""The sheets every tool simulates, and what is measured on them.

*Hanging*: a unit square held at one edge and let go level. It swings down and passes below its pins: the moment its
centre of mass does so is a quarter of its swing period, the depth of the centre then its sag. Too few steps damp the
swing (the moment is late), too few iterations let the sheet stretch (the sag is deep), so the two together are the
error of a setting. Both hardly depend on the mesh.

*Draping*: the same square falls onto a ball. Folds do not come out alike in two tools, but how far the sheet has sunk
after a quarter of a second, before they touch, does: at their finest the three agree within 2 %.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bunraku.bench.step import sheet
from bunraku.collision import sphere
from bunraku.contracts import Array, Points, Vector
from bunraku.geometry import TriMesh, lumped_mass

RATE = 24.0
"""frames a second"""
HANGING_FRAMES = 13
"""enough to pass below the pins"""
DRAPING_FRAMES = 6
"""a quarter of a second"""
_RADIUS, _ABOVE = 0.3, 0.003  # of the ball, and how far above it the sheet begins [m]


@dataclass(frozen=True)
class Setting:
    """How finely a tool computes."""

    substeps: int
    """steps a frame"""
    iterations: int = 1
    """of a step, where the tool has them"""


@dataclass(frozen=True)
class Cloth:
    """The sheet's material: a knit so soft that tools of few iterations have a chance, yet stretched by only 0.1 % by
    its own weight."""

    weight: float = 0.2
    """mass per area [kg/m²]"""
    stretching: float = 1000.0
    """Young's modulus × thickness [N/m]"""
    poisson: float = 0.3
    bending: float = 1e-5
    """bending rigidity [N·m]"""
    thickness: float = 1e-3
    """[m], as contact feels it"""
    friction: float = 0.3


@dataclass(frozen=True)
class Ball:
    """An obstacle: as a ball, and as the triangles of it."""

    centre: tuple[float, float, float]
    """[m]"""
    radius: float
    """[m]"""
    points: list[list[float]]
    """[m]"""
    faces: list[list[int]]


@dataclass(frozen=True)
class Order:
    """All a tool must know to simulate a sheet; SI units, Y up. Lists rather than arrays: it travels as JSON."""

    points: list[list[float]]
    faces: list[list[int]]
    cell: float
    """edge of the mesh's squares [m]"""
    pins: list[int]
    setting: Setting
    frames: int
    """to make after the first; the first of them warms up and is not timed"""
    cloth: Cloth = Cloth()
    ball: Ball | None = None
    self_collision: bool = False
    gravity: float = 9.81
    """downwards [m/s²]"""
    rate: float = RATE
    fastest: float = 8.0
    """speed no vertex exceeds for long [m/s], for tools that must know how far to look for what it may meet"""
    threads: int | None = None
    limit: float = 60.0
    """[s]: no frame is begun after that"""
    out: str = ""
    """file (.npy) for the points of all frames (t, n, 3) [m]"""

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Order:
        """From text."""
        given: dict[str, Any] = json.loads(text)
        ball: Mapping[str, Any] | None = given.pop("ball")
        found = cls(**{**given, "setting": Setting(**given["setting"]), "cloth": Cloth(**given["cloth"])})
        return found if ball is None else replace(found, ball=Ball(**{**ball, "centre": tuple(ball["centre"])}))

    @property
    def mesh(self) -> TriMesh:
        """The sheet."""
        return TriMesh(np.array(self.points, dtype=float), np.array(self.faces, dtype=np.int64))


def hanging(side: int, setting: Setting, frames: int = HANGING_FRAMES) -> Order:
    """A sheet of side² vertices held at one edge."""
    mesh = sheet(side)
    pins = np.flatnonzero(mesh.rest[:, 0] == 0.0)
    return Order(mesh.rest.tolist(), mesh.faces.tolist(), 1.0 / (side - 1), pins.tolist(), setting, frames)


def draping(side: int, setting: Setting, frames: int = DRAPING_FRAMES) -> Order:
    """A sheet of side² vertices above a ball."""
    mesh = sheet(side)
    centre = (0.5, -_RADIUS - _ABOVE, 0.5)
    ball = sphere(centre, _RADIUS, 0.03)
    obstacle = Ball(centre, _RADIUS, ball.rest.tolist(), ball.faces.tolist())
    return Order(
        mesh.rest.tolist(), mesh.faces.tolist(), 1.0 / (side - 1), [], setting, frames, ball=obstacle, fastest=3.0
    )


@dataclass(frozen=True)
class Swing:
    """What a hanging sheet has done."""

    quarter: float
    """[s] until its centre of mass passes below the pins: a quarter of its period; infinite if it never did"""
    sag: float
    """[m] of the centre below the pins then"""

    def error(self, reference: Swing) -> float:
        """The larger of the relative errors of the two."""
        if not np.isfinite(self.quarter):
            return float("inf")
        return max(abs(self.quarter / reference.quarter - 1.0), abs(self.sag / reference.sag - 1.0))


def swing(mesh: TriMesh, frames: Array, rate: float = RATE) -> Swing:
    """Of frames (t, n, 3), a straight line between two of them."""
    centre = centres(mesh, frames)
    passed = np.flatnonzero(centre[:, 0] <= 0.0)
    if not len(passed) or passed[0] == 0 or not np.isfinite(centre).all():
        return Swing(float("inf"), float("nan"))
    k = int(passed[0])
    share = centre[k - 1, 0] / (centre[k - 1, 0] - centre[k, 0])
    depth = (1.0 - share) * centre[k - 1, 1] + share * centre[k, 1]
    return Swing(float(k - 1 + share) / rate, -float(depth))


def limit_of(coarse: Swing, fine: Swing) -> Swing:
    """What steps of no length would give, from runs with steps of one length and of half of it: implicit Euler's error
    is proportional to the step."""
    return Swing(2.0 * fine.quarter - coarse.quarter, 2.0 * fine.sag - coarse.sag)


def centres(mesh: TriMesh, frames: Array) -> Points:
    """(t, 3) centres of mass."""
    mass: Vector = lumped_mass(mesh, np.ones(len(mesh.faces)))
    return np.einsum("tnk,n->tk", frames, mass / mass.sum())


def sunk(mesh: TriMesh, frames: Array) -> float:
    """How far the centre of mass has come down [m] by the frame where draping sheets are compared, or by the last."""
    centre = centres(mesh, frames[: DRAPING_FRAMES + 1])
    return float(centre[0, 1] - centre[-1, 1])


@dataclass(frozen=True)
class Truth:
    """What the sheets really do."""

    swing: Swing
    sunk: float
    """[m]"""
