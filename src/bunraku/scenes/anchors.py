"""Figures 3 and 4 of TRACKS: conditions at points tug, conditions on averages do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.direction import Take
from bunraku.direction.track import Tests, hierarchy, pointwise, track
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial
from bunraku.motion import Animation, ease

from .measures import mean_distance, tugging
from .study import Panel, Study, grid_mesh

RUBBER = ShellMaterial(young=2e5, poisson=0.3, thickness=0.002, density=1000.0, stretch_damping=2e-3, bend_damping=2e-3)
PENALTY = 0.98
"""strength of the springs that stand in for conditions at points"""


@dataclass(frozen=True)
class Way:
    """One way to obey the guide."""

    name: str
    averaged: bool
    strength: float = 1.0
    enforcement: Literal["position", "velocity"] = "position"


WAYS = (
    Way("points", False),
    Way("springs", False, PENALTY),
    Way("points, velocities", False, enforcement="velocity"),
    Way("averages, velocities", True, enforcement="velocity"),
    Way("averages", True),
)
"""the paper's own is the last; velocities hold the rates only, so that errors stay (§3.2)"""


Shape = Callable[[Points, float], Points]
"""(rest (n, 3), time [s]) → (n, 3): the motion the guide samples, for any points of the sheet"""


def band(threads: int | None = None) -> Study:
    """Figure 3: a rubber band takes the shape of a wave and is jerked upwards."""
    mesh = grid_mesh(np.linspace(-0.5, 0.5, 9), np.linspace(0.0, 0.03, 2))
    scene = _Scene(mesh, _wave, np.arange(25) / 48.0, levels=3, scale=0.125, moments=(8, 13, 14, 16))
    return _compared(scene, threads)


def _wave(rest: Points, time: float) -> Points:
    """The strip laid along a wave a little longer than itself; after 0.25 s it leaps half a metre in an eighth."""
    x = np.array(rest)
    x[:, 1] = 0.06 * np.sin(2.0 * np.pi * rest[:, 0] / 0.5) + 0.5 * float(ease(time, 0.23, 0.37))
    x[:, 0] *= 0.92
    return x


def sheet(threads: int | None = None) -> Study:
    """Figure 4: the guide of a sheet expands and contracts rapidly."""
    side = np.linspace(-0.5, 0.5, 5)
    scene = _Scene(grid_mesh(side, side), _breath, np.arange(25) / 48.0, levels=3, scale=0.25, moments=(9, 13, 17, 22))
    return _compared(scene, threads)


def _breath(rest: Points, time: float) -> Points:
    """A taut dome that swells and sinks six times a second."""
    strength = float(ease(time, 0.0, 0.12))
    breath = strength * np.sin(2.0 * np.pi * 6.0 * time)
    x = np.array(rest)
    x[:, 1] = (0.10 + 0.10 * breath) * np.cos(0.9 * np.pi * rest[:, 0]) * np.cos(0.9 * np.pi * rest[:, 2])
    x[:, [0, 2]] *= 1.10 + 0.06 * breath
    return x


@dataclass(frozen=True, eq=False)
class _Scene:
    mesh: TriMesh
    shape: Shape
    times: Vector
    levels: int
    scale: float
    """[m] distance of the anchors"""
    moments: tuple[int, ...]


def _compared(scene: _Scene, threads: int | None) -> Study:
    mesh = scene.mesh
    guide = Animation(mesh, scene.times, np.stack([scene.shape(mesh.rest, time) for time in scene.times]))
    shell, averages = hierarchy(mesh, scene.levels)
    smooth = np.stack([scene.shape(shell.rest, time) for time in scene.times])
    anchors = np.arange(mesh.point_count)  # a hierarchy keeps the guide's vertices first
    points = pointwise(mesh, shell, np.stack([anchors, anchors], axis=1))
    rows, panels = [], [Panel("guide", guide, is_guide=True)]
    for way in WAYS:
        take = _take(guide, shell, averages if way.averaged else points, way, smooth[0], threads)
        away = take.animation.points - smooth
        tug = np.array([tugging(shell, one, anchors, scene.scale) for one in away])
        far = [mean_distance(shell, one, np.zeros_like(one)) for one in away]
        rows.append((way.name, (1e6 * float(tug.max()), 1e6 * float(tug.mean()), 1e3 * float(np.mean(far)))))
        panels.append(Panel.of(way.name, take))
    largest, mean = (rows[0][1][k] / rows[-1][1][k] for k in (0, 1))
    remark = f"points tug {largest:.3g} times as much as averages at the worst moment, {mean:.3g} times in the mean"
    return Study(
        tuple(panels), ("largest tugging mm²", "mean tugging mm²", "from the guide mm"), tuple(rows), scene.moments,
        (remark,),
    )  # fmt: skip


def _take(
    guide: Animation, shell: TriMesh, tests: Tests, way: Way, start: Points, threads: int | None
) -> Take:  # fmt: skip
    return track(
        guide, shell, tests, material=RUBBER, gravity=(0.0, 0.0, 0.0), substeps=2, start=start, velocity="zero",
        strength=way.strength, enforcement=way.enforcement, threads=threads,
    )  # fmt: skip
