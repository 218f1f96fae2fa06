"""A leather seat on foam: a deep button, whose folds make a flower, and a ball dropped on it [Remillard 2013, §7.4]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.collision import Obstacle, sphere
from bunraku.contracts import Integers, Points, Vector
from bunraku.direction.contact import Contact
from bunraku.direction.job import Take
from bunraku.direction.wrinkle import Handle, wrinkle
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial, SolidMaterial
from bunraku.motion import Animation

from .soft_shapes import rounded_bar
from .study import Panel, Study

HALF = (0.16, 0.05, 0.16)
"""[m] half of the seat's sides"""
FOAM = SolidMaterial(young=2e5, poisson=0.3, density=60.0, stiffness_damping=0.05)
COUCH = SolidMaterial(young=5e5, poisson=0.3, density=60.0, stiffness_damping=0.02)
CELL = 0.05
"""[m] of the seat's lattice"""
_BUTTON, DEPTH = 0.014, 0.045
"""[m] radius of a button, and how far it is drawn in"""
Place = tuple[float, float]
"""x and z [m]"""
FIVE: tuple[Place, ...] = ((0.0, 0.0), (-0.08, -0.08), (-0.08, 0.08), (0.08, -0.08), (0.08, 0.08))
"""of buttons, as on a chair"""
_BALL, _ABOVE, _SUNK = 0.045, 0.08, 0.07
"""[m] radius of a ball, how high above the seat it is let go, and how far it sinks in: half as far only dents the
leather; what is drawn in towards the ball is pressed along circles about it, and must be so beyond its onset"""
LANDED = 0.36
"""[s] from where the ball is let go until it has gone up again"""
GRIP = 0.2
"""friction of ball and leather"""
_MOST_FOLDS = 24


def leather(thickness: float) -> ShellMaterial:
    """A skin of a thickness [m]: 2 mm of it on couch foam have waves of 4 cm."""
    return ShellMaterial(young=4e7, poisson=0.3, thickness=thickness, density=900.0)


def seat(edge: float) -> TriMesh:
    """A square seat about the origin, facing up."""
    return rounded_bar(HALF, 0.03, edge)


def under(mesh: TriMesh) -> Integers:
    """(v,) vertices of the underside, on which the seat stands."""
    return np.flatnonzero(mesh.rest[:, 1] < -0.98 * HALF[1])


def _under(mesh: TriMesh) -> Handle:
    below = under(mesh)
    return Handle(below, lambda time: mesh.rest[below])


def button(mesh: TriMesh, x: float = 0.0, z: float = 0.0) -> Integers:
    """(v,) vertices of the top about a place, its middle where nothing is said."""
    away = mesh.rest - [x, 0.0, z]
    return np.flatnonzero((np.hypot(away[:, 0], away[:, 2]) < _BUTTON) & (away[:, 1] > 0.8 * HALF[1]))


def buttoned(
    thickness: float, edge: float, threads: int | None = None, frames: int = 8, places: Sequence[Place] = ((0.0, 0.0),)
) -> Take:
    """A seat whose buttons at places (x, z) are drawn in over a second."""
    mesh = seat(edge)

    def drawn(which: Integers) -> Handle:
        return Handle(which, lambda time: mesh.rest[which] - [0.0, DEPTH * min(time, 1.0), 0.0])

    handles = [_under(mesh), *(drawn(button(mesh, *one)) for one in places)]
    return wrinkle(
        mesh, skin=leather(thickness), interior=FOAM, cell=CELL, handles=handles, duration=1.0,
        rate=float(frames), gravity=(0.0, 0.0, 0.0), threads=threads,
    )  # fmt: skip


def around(mesh: TriMesh, x: Points, radius: float, wide: float) -> Vector:
    """(_MOST_FOLDS + 1,) [m] heights of waves of 0, 1, 2 … folds around the middle of the top, in a ring of the rest
    shape `wide` [m] across."""
    rest = mesh.rest
    ring = (np.abs(np.hypot(rest[:, 0], rest[:, 2]) - radius) < 0.5 * wide) & (rest[:, 1] > 0.9 * HALF[1])
    angle = np.arctan2(rest[ring, 2], rest[ring, 0])
    away = np.hypot(rest[ring, 0], rest[ring, 2]) - radius
    folds = np.arange(1, _MOST_FOLDS + 1)
    waves = np.concatenate([np.cos(np.outer(angle, folds)), np.sin(np.outer(angle, folds))], axis=1)
    slope = np.column_stack([np.ones(len(away)), away])  # the funnel itself
    found = np.linalg.lstsq(np.hstack([slope, waves]), x[ring, 1], rcond=None)[0]
    return np.concatenate([[0.0], np.hypot(found[2 : 2 + _MOST_FOLDS], found[2 + _MOST_FOLDS :])])


def buttons_study(threads: int | None = None, edge: float = 0.008) -> Study:
    """A button drawn into thick and into thin leather: the thinner, the more folds run to it; and five of them, between
    which folds run from one to the next."""
    panels, rows = [], []
    one = ((0.0, 0.0),)
    ways = ("3 mm of leather", 3e-3, one), ("1.2 mm of leather", 1.2e-3, one), ("five buttons, 1.2 mm", 1.2e-3, FIVE)
    for name, thickness, places in ways:
        take = buttoned(thickness, edge, threads, places=places)
        waves = around(take.animation.mesh, take.animation.points[-1], 0.05, 2.5 * edge)
        panels.append(Panel.of(name, take, is_skin=True))
        rows.append((name, (1e3 * take.facts["wavelength"], float(waves[3:].argmax() + 3), 1e3 * waves[3:].max())))
    columns = ("waves by theory mm", "folds at 50 mm", "height mm")
    return Study(tuple(panels), columns, tuple(rows), (4, 8), ("buttons drawn in by 45 mm",))


def dropped(times: Vector) -> Animation:
    """A ball that falls on the seat, sinks in as on a spring and goes up again, by hand: only the seat is simulated."""
    ball = sphere((0.0, HALF[1] + _BALL + _ABOVE, 0.0), _BALL)
    fallen = np.sqrt(2.0 * _ABOVE / 9.81)
    speed = 9.81 * fallen
    pace = speed / _SUNK  # of a half-sine that begins as fast as the fall ends
    inside = np.clip(times - fallen, 0.0, np.pi / pace)
    way = np.minimum(0.5 * 9.81 * times**2, _ABOVE) + _SUNK * np.sin(pace * inside)
    after = np.maximum(times - fallen - np.pi / pace, 0.0)
    way -= speed * after - 0.5 * 9.81 * after**2
    return Animation(ball, times, ball.rest - way[:, None, None] * np.array([0.0, 1.0, 0.0]))


def sat_on(edge: float, threads: int | None = None, frames: int = 12, until: float = LANDED) -> tuple[Take, Animation]:
    """A couch's seat, two millimetres of leather on foam, and the ball that is dropped on it, `until` a time [s]."""
    mesh, ball = seat(edge), dropped(np.linspace(0.0, LANDED, 49))
    take = wrinkle(
        mesh, skin=leather(2e-3), interior=COUCH, cell=CELL, handles=_under(mesh), duration=until, rate=frames / until,
        substeps=2, contact=Contact(obstacles=[ball], friction=GRIP), threads=threads,
    )  # fmt: skip
    return take, ball


def seat_study(threads: int | None = None, edge: float = 0.0075, frames: int = 12) -> Study:
    """A ball dropped on a couch's seat, whose leather lies in folds around it."""
    take, ball = sat_on(edge, threads, frames)
    mesh = take.animation.mesh
    assert take.surface is not None
    sunk = HALF[1] - take.animation.points[:, button(mesh), 1].min(axis=1)
    deepest = int(sunk.argmax())
    rows = []
    for k in (deepest, frames):
        waves = around(mesh, take.animation.points[k], 0.08, 2.5 * edge)
        folds = int(waves[5:].argmax() + 5)
        highest = float(np.abs(take.report["height"][k]).max())
        rows.append((f"frame {k + 1}", (1e3 * float(sunk[k]), float(folds), 1e3 * waves[folds], 1e3 * highest)))
    panels = (Panel("the foam", take.surface, is_skin=True), Panel.of("with its leather", take, is_skin=True))
    remark = f"waves of {1e3 * take.facts['wavelength']:.0f} mm by theory, {mesh.point_count} vertices"
    return Study(
        panels, ("sunk mm", "folds at 80 mm", "height mm", "highest over the foam mm"), tuple(rows),
        (0, deepest, frames), (remark,), (Obstacle(ball.mesh, ball.at, "ball"),),
    )  # fmt: skip
