"""Figure 9 of [Schulz 2014]: keys met by what is seen, by what is linear, by what is linear and warped afterwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.contracts import Points
from bunraku.direction.plan import Key, Motion, plan
from bunraku.direction.steer import Grip
from bunraku.geometry import TetMesh, tet_bar, tet_lumped_mass, tet_volumes
from bunraku.materials import SolidMaterial
from bunraku.motion import Animation

from .study import Panel, Study

_SIZE = (0.3, 1.0, 0.3)  # [m]
_RATE, _DURATION, _AT, _LANDS = 24.0, 2.0, 0.75, 1.25
_RUBBER = SolidMaterial(young=2e5, poisson=0.4, density=400.0, stiffness_damping=2e-3)
_COLUMNS = ("place missed, of size", "velocity missed m/s", "largest volume", "smallest volume")


def keyed_block(cells: tuple[int, int, int] = (5, 14, 5)) -> tuple[TetMesh, list[Key], np.ndarray]:
    """A block on its base; its head is bent over at one moment, and has a velocity at another."""
    body = tet_bar(cells, _SIZE)
    foot, head = (np.flatnonzero(np.abs(body.rest[:, 1] - y) < 1e-9) for y in (0.0, _SIZE[1]))
    bent = Key.posed(body, _AT, Grip(head, move=(0.34, -0.16, 0.0), rotate=(0.0, 0.0, -1.1)))
    flung = Key(_LANDS, head, None, np.tile([-1.2, 0.4, 0.0], (len(head), 1)))
    return body, [bent, flung], foot


def linear_then_warped(linear: Motion) -> Motion:
    """The same modal motion, seen through the warp, for which it was not planned."""
    return replace(linear, body=replace(linear.body, warped=True))


def plan_ways(threads: int | None = None, cells: tuple[int, int, int] = (5, 14, 5)) -> Study:
    """Three motions from the same keys, and how far each is off them."""
    body, keys, foot = keyed_block(cells)
    known = {"fixed": foot, "material": _RUBBER, "duration": _DURATION, "modes": 30, "threads": threads}
    nonlinear, linear = plan(body, keys, **known), plan(body, keys, warp=False, **known)
    ways = {"nonlinear": nonlinear, "linear": linear, "linear, then warped": linear_then_warped(linear)}
    panels, rows = [], []
    for name, motion in ways.items():
        take = motion.take(_RATE)
        assert take.surface is not None
        panels.append(Panel(name, take.surface))
        rows.append((name, (*key_errors(motion), *_volumes(take.animation))))
    return Study(tuple(panels), _COLUMNS, tuple(rows), (0, 9, 14, 18, 22, 30, 38))


def key_errors(motion: Motion) -> tuple[float, float]:
    """How far the first key's places are missed, of the body's size, and the second's velocities [m/s]; roots of mean
    squares by mass, of what is seen."""
    mass, (place, speed) = tet_lumped_mass(motion.mesh, 1.0), motion.keys
    assert place.positions is not None and speed.velocities is not None
    at, to = np.asarray(place.vertices), np.asarray(speed.vertices)
    off = motion.points(place.time)[at] - place.positions
    beside = motion.velocities(speed.time)[to] - speed.velocities
    return _mean(off, mass[at]) / motion.mesh.size, _mean(beside, mass[to])


def _mean(field: Points, mass: np.ndarray) -> float:
    return float(np.sqrt(np.sum(mass[:, None] * field**2) / mass.sum()))


def _volumes(take: Animation[TetMesh]) -> tuple[float, float]:
    """Largest and smallest volume of the body on its way, of that at rest."""
    whole = [float(tet_volumes(x, take.mesh.tets).sum()) for x in take.points]
    return max(whole) / whole[0], min(whole) / whole[0]
