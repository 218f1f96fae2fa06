"""A small tracked shot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bunraku.direction import Take
from bunraku.direction.track import hierarchy, track
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation
from bunraku.scenes import box_mesh

RUBBER = ShellMaterial(young=2e5, poisson=0.3, thickness=4e-3, density=800.0, stretch_damping=2e-3, bend_damping=4e-3)


@pytest.fixture
def twist() -> Animation:
    """The box, its top turning, sinking and speeding up: six frames."""
    box = box_mesh()
    times = np.arange(6) / 24.0
    return Animation(box, times, np.stack([_pose(box.rest, 2.0 * t, -0.5 * t**2) for t in times]))


def _pose(rest: np.ndarray, angle: float, lift: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    top = (rest[:, 1] > 0.1)[:, None]
    turned = rest @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + np.array([0.0, lift, 0.0])
    return np.where(top, turned, rest)


@pytest.fixture
def shoot(twist: Animation) -> Callable[..., Take]:
    """Track the twisting box two levels finer: 98 vertices."""

    def run(guide: Animation = twist, levels: int = 2, material: ShellMaterial | str = RUBBER, **settings: Any) -> Take:
        shell, tests = hierarchy(guide.mesh, levels)
        return track(guide, shell, tests, material=material, threads=1, **settings)

    return run
