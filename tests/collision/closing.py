"""Obstacles that close on a sheet, pass through each other and part again, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bunraku.collision import Obstacle, Pinches, Plane, capsule, sphere
from bunraku.contracts import Flags, Integers, Points, Vector
from bunraku.direction import Contact
from bunraku.direction.job import Frame, Job
from bunraku.direction.track import tracking_job
from bunraku.direction.track.test_functions import Tests
from bunraku.geometry import TriMesh, intersecting_faces, subdivide
from bunraku.motion import Animation
from bunraku.testing import passings, sheet

GAP = 2e-3
"""[m] thickness"""
SIZE = 0.3
"""[m] side of a sheet"""


def box(size: Sequence[float], levels: int = 2) -> TriMesh:
    """About the origin, normals outwards."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in squares for face in ((a, b, c), (a, c, d))]
    mesh = TriMesh(corners, np.array(faces))
    return subdivide(mesh, levels)[0] if levels else mesh


def there_and_back(begin: float, deepest: float, end: float) -> Callable[[float], float]:
    """From `begin` to `deepest` at half of the time to `end` [s], and back."""
    return lambda t: begin + (deepest - begin) * float(np.sin(np.pi * min(max(t / end, 0.0), 1.0)) ** 2)


@dataclass(frozen=True, eq=False)
class Closing:
    """A sheet that hangs free, and things that close on it."""

    shell: TriMesh
    times: Vector
    things: Sequence[Obstacle | Plane]

    def job(self, *, guide: Animation | None = None, tests: Tests | None = None, **knobs: Any) -> Job:
        """With contact of the given friction and gap, and anything `track` takes."""
        still = Animation(self.shell, self.times, np.repeat(self.shell.rest[None], len(self.times), axis=0))
        friction, gap = knobs.pop("friction", 0.0), knobs.pop("gap", GAP)
        given = {"gravity": (0.0, 0.0, 0.0), "threads": 1, **knobs}
        contact = Contact(thickness=gap, obstacles=self.things, friction=friction)
        return tracking_job(guide or still, self.shell, tests, contact=contact, **given)

    def together(self, frame: Frame) -> Points:
        """The sheet, then the obstacles, at a frame."""
        others = [one.at(frame.time) for one in self.things if isinstance(one, Obstacle)]
        return np.concatenate([frame.points, *others])

    def faces(self) -> Integers:
        meshes = [self.shell, *(one.mesh for one in self.things if isinstance(one, Obstacle))]
        starts = np.cumsum([0, *(mesh.point_count for mesh in meshes)])
        return np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)])

    def pinched(self, frame: Frame) -> Flags:
        """(n,) vertices that the frame says are pinched."""
        out = np.zeros(self.shell.point_count, dtype=bool)
        out[Pinches.of(frame.state.memory).vertices] = True
        return out


@dataclass(frozen=True, eq=False)
class Seen:
    """What an independent look at frames found."""

    pinched: Integers
    """(t,) vertices"""
    own: int
    """faces of the sheet that meet the sheet, on frames, and passings between"""
    free: int
    """faces without a pinched vertex that meet an obstacle, and vertices behind a plane"""
    caught: int
    """faces with a pinched vertex that meet an obstacle"""


def _count(which: Flags) -> int:
    return int(np.count_nonzero(which))


def look(scene: Closing, frames: Sequence[Frame], ways: Iterable[tuple[Points, Points]] | None = None) -> Seen:
    """At every frame, and for the sheet itself between them: straight from frame to frame, or on other `ways`."""
    faces, own, free, caught = scene.faces(), 0, 0, 0
    count = len(scene.shell.faces)
    for frame in frames:
        pinched = scene.pinched(frame)
        own += _count(intersecting_faces(frame.points, scene.shell.faces, touching=True))
        held = pinched[scene.shell.faces].any(axis=1)
        met = intersecting_faces(scene.together(frame), faces, touching=True)[:count]
        free += _count(met & ~held)
        caught += _count(met & held)
        planes = [one for one in scene.things if isinstance(one, Plane)]
        free += sum(_count(((frame.points - p.point) @ p.normal <= 0.0) & ~pinched) for p in planes)
    between = ((a.points, b.points) for a, b in pairwise(frames)) if ways is None else ways
    n = scene.shell.point_count
    own += sum(len(passings(begin[:n], end[:n], scene.shell.faces)) for begin, end in between)
    return Seen(np.array([scene.pinched(frame).sum() for frame in frames]), own, free, caught)


def times(count: int) -> Vector:
    return np.arange(count) / 24.0


def boxes(
    n: int = 12, frames: int = 25, deep: float = 0.02, size: Sequence[float] = (0.12, 0.12, 0.08),
    carried: Callable[[float], Vector] = lambda _: np.zeros(3),
) -> Closing:  # fmt: skip
    """Two boxes that close on the middle of a sheet, pass `deep` [m] through its plane, and part, on a way of both."""
    shell = sheet(n, n, length=SIZE)
    middle, when = shell.rest.mean(axis=0), times(frames)
    half = there_and_back(0.06, -deep, when[-1])
    mesh = box(size)
    up = np.array([0.0, 0.0, 1.0])
    high = Obstacle(mesh, lambda t: mesh.rest + middle + carried(t) + (half(t) + 0.5 * size[2]) * up, "high")
    low = Obstacle(mesh, lambda t: mesh.rest + middle + carried(t) - (half(t) + 0.5 * size[2]) * up, "low")
    return Closing(shell, when, [high, low])


def balls(
    n: int = 12, frames: int = 25, deep: float = 0.02, radius: float = 0.08, edge: float | None = None
) -> Closing:  # fmt: skip
    """Two balls; one is to the side of the other."""
    shell = sheet(n, n, length=SIZE)
    middle, when = shell.rest.mean(axis=0), times(frames)
    half = there_and_back(0.06, -deep, when[-1])
    up, aside = np.array([0.0, 0.0, 1.0]), np.array([0.015, 0.005, 0.0])
    mesh = sphere([0.0, 0.0, 0.0], radius, edge)
    high = Obstacle(mesh, lambda t: mesh.rest + middle + aside + (half(t) + radius) * up, "high")
    low = Obstacle(mesh, lambda t: mesh.rest + middle - aside - (half(t) + radius) * up, "low")
    return Closing(shell, when, [high, low])


def wedge(n: int = 12, frames: int = 25, closed: float = -0.1) -> Closing:
    """Two arms that meet in a joint beside the sheet's end and close on it like a book: an armpit.

    The arms are parallel at half-angle 0, and pass through each other below.
    """
    shell = sheet(n, n, length=SIZE)
    when = times(frames)
    angle = there_and_back(0.5, closed, when[-1])
    joint = np.array([SIZE * 0.6, shell.rest[:, 1].mean(), 0.0])
    length, radius = 0.3, 0.03
    arm = capsule([0.0, 0.0, 0.0], [length, 0.0, 0.0], radius, 0.02)

    def at(side: float) -> Callable[[float], Points]:
        def points(t: float) -> Points:
            a = side * angle(t)
            turn = np.array([[np.cos(a), 0.0, -np.sin(a)], [0.0, 1.0, 0.0], [np.sin(a), 0.0, np.cos(a)]])
            return joint + (arm.rest + [0.0, 0.0, side * radius]) @ turn.T

        return points

    shifted = TriMesh(shell.rest + [SIZE * 0.72, 0.0, 0.0], shell.faces)
    return Closing(shifted, when, [Obstacle(arm, at(1.0), "upper"), Obstacle(arm, at(-1.0), "lower")])


def pressed_to_floor(n: int = 12, frames: int = 25, deep: float = 0.01) -> Closing:
    """A ball that steps on a sheet above a floor, and into the floor."""
    shell = sheet(n, n, length=SIZE)
    shell = TriMesh(shell.rest + [0.0, 0.0, 0.006], shell.faces)
    middle, when = shell.rest.mean(axis=0), times(frames)
    height = there_and_back(0.06, -deep, when[-1])
    mesh = sphere([middle[0], middle[1], 0.0], 0.08)
    ball = Obstacle(mesh, lambda t: mesh.rest + [0.0, 0.0, height(t) + 0.08], "ball")
    return Closing(shell, when, [ball, Plane(np.zeros(3), np.array([0.0, 0.0, 1.0]))])


def layers(n: int = 10, frames: int = 25, deep: float = 0.02, count: int = 3) -> Closing:
    """Several sheets over each other between two boxes."""
    one = sheet(n, n, length=SIZE)
    rest = [one.rest + [0.004 * k, 0.003 * k, 0.008 * (k - 0.5 * (count - 1))] for k in range(count)]
    faces = [one.faces + k * one.point_count for k in range(count)]
    alone = boxes(n, frames, deep)
    return Closing(TriMesh(np.concatenate(rest), np.concatenate(faces)), alone.times, alone.things)
