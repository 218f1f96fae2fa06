"""A planned motion: poses at any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bunraku.contracts import Points, Vector, input_error, is_between
from bunraku.direction.job import Take
from bunraku.geometry import Cage, TetMesh, TriMesh, enclose
from bunraku.motion import Animation
from bunraku.numerics import SplineValues, WigglySpline

from .keys import Key
from .place import Place
from .reduced import Reduced

_MOST_POINTS = 200_000_000
"""vertices times frames of a take: their places and velocities are ten gigabytes then"""


@dataclass(frozen=True, eq=False)
class Origin:
    """What a motion of a chain begins from: what begins from the same begins the same."""

    body: Reduced
    """in its modes, without the pose that is handed on"""
    after: Motion | None
    """the motion before; None: it is the first"""
    flight: tuple[float, ...] = ()
    """what the way through the air depends on besides; nothing of what stands"""

    def same(self, other: Origin) -> bool:
        """Whether both begin from the same."""
        return self.body is other.body and self.after is other.after and self.flight == other.flight


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion that can be asked for at any time. Before it begins and after it ends the body stays as it is there; a
    circular one goes round."""

    body: Reduced
    """the body in its modes: set up once, for any number of motions"""
    spline: WigglySpline
    """of the modal coordinates"""
    keys: Sequence[Key]
    report: Mapping[str, Any] = field(default_factory=dict)
    """how the keys were met, and what it took"""
    place: Place = field(default_factory=Place.still)
    """where the body's own frame is"""
    origin: Origin | None = field(default=None, repr=False)
    """of a motion of a chain"""

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.spline.times[-1])

    @property
    def mesh(self) -> TetMesh:
        """The tetrahedra that move."""
        return self.body.mesh

    def __call__(self, time: float) -> tuple[Points, Points]:
        """(n, 3) points [m] and (n, 3) velocities [m/s] of the body's vertices at a time [s]."""
        return self.points(time), self.velocities(time)

    def points(self, time: float) -> Points:
        """(n, 3) of the body's vertices at a time [s]."""
        time, found = self._at(time)
        return self.place.points(self.mesh.rest + self.body.displacements(found.position[0]), time)

    def velocities(self, time: float) -> Points:
        """(n, 3) [m/s]; none before the motion and after it."""
        inside, found = self._at(time)
        if inside != time:
            return np.zeros_like(self.mesh.rest)
        q, v = found.position[0], found.velocity[0]
        own = self.mesh.rest + self.body.displacements(q) if self.place.turning is not None else self.mesh.rest
        return self.place.velocities(own, self.body.velocities(q, v), inside)

    def at(self, time: float) -> tuple[Motion, float]:
        """Itself, and the time: a chain says which of its motions goes on."""
        return self, time

    def coordinates(self, time: float) -> Vector:
        """(d,) modal coordinates."""
        return self._at(time)[1].position[0]

    def force(self, time: float) -> Vector:
        """(d,) modal force of direction: what the plan adds to the body's own mechanics."""
        return self._at(time)[1].force[0]

    def key(self, time: float, weight: float = np.inf) -> Key:
        """The whole body's pose and velocity at a time, as a key: what a partial key was completed to. A motion through
        such keys, instead of those it was planned from, is the same."""
        free = np.setdiff1d(np.arange(self.mesh.point_count), self.body.fixed)
        return Key(time, free, self.points(time)[free], self.velocities(time)[free], weight)

    def _at(self, time: float) -> tuple[float, SplineValues]:
        """A time within the motion, and the modal coordinates then."""
        time = as_time(time)
        inside = time if self.spline.circular else float(np.clip(time, 0.0, self.duration))
        return inside, self.spline(np.array([inside]))

    def take(self, rate: float = 24.0, surface: TriMesh | Cage | None = None) -> Take[TetMesh]:
        """The motion as frames, from 0 to its end: an `Animation` of all vertices, and of a fine surface that goes
        along (by default the body's own)."""
        times = frame_times(self.duration, rate, self.mesh.point_count)
        return self.frames(times, surface)

    def frames(self, times: Vector, surface: TriMesh | Cage | None = None) -> Take[TetMesh]:
        """The motion at times (t,) within it [s]."""
        found = self.spline(times)
        own = self.mesh.rest + self.body.displacements(found.position)
        velocities = self.place.velocities(own, self.body.velocities(found.position, found.velocity), times)
        animation = Animation(self.mesh, times, self.place.points(own, times))
        return Take(animation, {}, velocities, dict(self.report), carried(animation, surface))

    @cached_property
    def energy(self) -> float:
        """½ ∫ |f|² dt of the force of direction per mass, which the plan makes as small as keys allow."""
        return self.spline.energy


def as_time(given: object) -> float:
    """A moment [s]; what is none is refused."""
    if not is_between(given, -1e12, 1e12):
        raise input_error("a time must be a finite number of seconds", where="time", got=repr(given)[:40])
    return float(given)  # type: ignore[arg-type]


def frame_times(duration: float, rate: float, vertices: int) -> Vector:
    """(t,) of the frames of a motion, from 0 to its end [s], of a body of so many vertices."""
    if not is_between(rate, 1e-3, 1e5):
        raise input_error(
            "rate must be a number within bounds", got=repr(rate)[:40], allowed="0.001 to 100000 frames a second"
        )
    count = round(duration * float(rate)) + 1
    if count * vertices > _MOST_POINTS:
        raise input_error(
            "a take of so many frames does not fit into memory", where="rate",
            got=f"{count} frames of {vertices} vertices", allowed=f"up to {_MOST_POINTS // vertices} frames",
            remedy="a lower rate, or motion.points(t) one after another",
        )  # fmt: skip
    return np.arange(count) / float(rate)


def carried(animation: Animation[TetMesh], surface: TriMesh | Cage | None) -> Animation:
    """A fine surface that goes along with a body; None: the body's own."""
    body = animation.mesh
    if surface is None:
        return Animation(body.surface(), animation.times, animation.points[:, body.surface_vertices])
    cage = surface if isinstance(surface, Cage) else enclose(surface, body)
    return Animation(cage.surface, animation.times, np.stack([cage.points(x) for x in animation.points]))
