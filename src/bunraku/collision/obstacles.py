"""What a shell may touch besides itself: surfaces that move as told, and planes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Integers, Points, Vector, input_error, is_between, need, real_array
from bunraku.geometry import TriMesh, subdivide
from bunraku.geometry.topology import LARGEST_COORDINATE

MOST_FRICTION = 100.0
"""of a coefficient µ: beyond, nothing slides anyway"""
_LARGEST = 1e6  # [m] of a simple shape
_FARTHEST = 2.0 * LARGEST_COORDINATE  # [m] of what moves: seen from a shell that is itself far off
_FINEST = 7  # times that the octahedron of a ball is split: 65,538 vertices


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A surface that moves as told."""

    mesh: TriMesh
    motion: Callable[[float], Points] | None = None
    """time [s] → (n, 3) [m]; None: it stands still in its rest shape"""
    name: str = "obstacle"
    thickness: float | None = None
    """[m] that stays open between it and the shell's middle surface; None: as everywhere"""
    friction: float | None = None
    """coefficient µ between it and the shell; None: as everywhere"""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise input_error("the name of an obstacle must be text", got=repr(self.name))
        need(TriMesh, f"{self.name}.mesh", self.mesh)
        if self.motion is not None and not callable(self.motion):
            raise input_error(
                "motion must be a function of time", where=self.name, got=type(self.motion).__name__,
                allowed="time [s] → points (n, 3) [m], or None", remedy="of an Animation: motion=animation.at",
            )  # fmt: skip
        _check_own(self)

    def at(self, time: float) -> Points:
        """(n, 3) [m]"""
        if self.motion is None:
            return np.array(self.mesh.rest)
        found = np.asarray(self.motion(time))
        if found.shape != self.mesh.rest.shape or found.dtype.kind not in "fiu":
            raise input_error(
                "must keep its vertices while it moves", where=f"{self.name} at {time:.4g} s",
                got=f"{found.shape} of {found.dtype}", allowed=f"points {self.mesh.rest.shape}",
                remedy="one obstacle for each topology",
            )  # fmt: skip
        outside = ~(np.abs(found) <= _FARTHEST).all(axis=1)
        if outside.any():
            first = int(np.flatnonzero(outside)[0])
            raise input_error("moves to where no point is", where=f"{self.name} at {time:.4g} s, vertex {first}",
                              got=found[first].tolist(), allowed=f"coordinates up to {_FARTHEST:g} m")  # fmt: skip
        return found.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Plane:
    """All that lies behind a plane, for ever: a floor."""

    point: Vector
    """(3,) [m]"""
    normal: Vector
    """(3,) to the free side"""
    name: str = "ground"
    thickness: float | None = None
    """[m] that stays open between it and the shell's middle surface; None: as everywhere"""
    friction: float | None = None
    """coefficient µ between it and the shell; None: as everywhere"""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise input_error("the name of a plane must be text", got=repr(self.name))
        point, normal = _point(f"{self.name}.point", self.point), _point(f"{self.name}.normal", self.normal)
        most = float(np.abs(normal).max())
        if most == 0.0:
            raise input_error("has no direction", where=f"{self.name}.normal", got=self.normal, remedy="(0, 1, 0)")
        normal = normal / most  # very large and very small ones have a direction too
        object.__setattr__(self, "point", point)
        object.__setattr__(self, "normal", normal / np.linalg.norm(normal))
        _check_own(self)


def _check_own(thing: Obstacle | Plane) -> None:
    """Refuse a thickness or a friction of its own that is none."""
    for name, most, unit in (("thickness", _LARGEST, " m"), ("friction", MOST_FRICTION, "")):
        value = getattr(thing, name)
        if value is not None and not is_between(value, 0.0, most):
            raise input_error(f"{name} must be a number", where=thing.name, got=value, allowed=f"0 to {most:g}{unit}")


def sphere(centre: Sequence[float] | Vector, radius: float, edge: float | None = None) -> TriMesh:
    """A ball of triangles at most about `edge` [m] long (default: an eighth of the radius), corners on the sphere."""
    start = _point("centre", centre)
    unit = _ball(radius, edge)
    return TriMesh(start + radius * unit.rest, unit.faces)


def capsule(
    first: Sequence[float] | Vector, second: Sequence[float] | Vector, radius: float, edge: float | None = None
) -> TriMesh:
    """All points within `radius` [m] of a segment, as triangles at most about `edge` [m] long."""
    start, end = _point("first", first), _point("second", second)
    ball, length = _ball(radius, edge), float(np.linalg.norm(end - start))
    if length == 0.0:
        return TriMesh(start + radius * ball.rest, ball.faces)
    up = (end - start) / length
    side = np.cross(up, [1.0, 0.0, 0.0] if abs(up[0]) < 0.9 else [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    frame = np.stack([side, up, np.cross(side, up)])
    height = ball.rest[:, 1]
    equator = np.flatnonzero(np.abs(height) < 1e-12)
    equator = equator[np.argsort(np.arctan2(ball.rest[equator, 2], ball.rest[equator, 0]), kind="stable")]
    rings = max(1, int(np.ceil(length * len(equator) / (2.0 * np.pi * radius))))
    lifts = np.linspace(0.0, length, rings + 1)[1:, None, None] * up
    added = (start + radius * ball.rest[equator] @ frame)[None] + lifts
    rest = start + radius * ball.rest @ frame + np.where(height > 1e-12, length, 0.0)[:, None] * up
    index = np.concatenate([equator, len(rest) + np.arange(rings * len(equator))]).reshape(rings + 1, -1)
    above = height[ball.faces].max(axis=1) > 1e-12
    moved = np.arange(len(rest))
    moved[equator] = index[-1]
    faces = np.where(above[:, None], moved[ball.faces], ball.faces)
    return TriMesh(np.concatenate([rest, added.reshape(-1, 3)]), np.concatenate([faces, _tube(index)]))


def _tube(index: Integers) -> Integers:
    """Faces between rings (r, k) of vertices."""
    low, high = index[:-1], index[1:]
    low_next, high_next = np.roll(low, -1, axis=1), np.roll(high, -1, axis=1)
    first = np.stack([low, high, low_next], axis=-1).reshape(-1, 3)
    second = np.stack([low_next, high, high_next], axis=-1).reshape(-1, 3)
    return np.concatenate([first, second])


def _ball(radius: float, edge: float | None) -> TriMesh:
    """The unit sphere from an octahedron, fine enough for edges of `edge` on the given radius."""
    for name, given in (("radius", radius), ("edge", radius if edge is None else edge)):
        if not (is_between(given, 0.0, _LARGEST) and given > 0.0):
            raise input_error(f"the {name} must be above zero", got=given, allowed=f"metres, up to {_LARGEST:g}")
    edge = radius / 8.0 if edge is None else edge
    rest = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]])
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    least = 0.5 * np.pi * radius / 2**_FINEST
    if edge < least:
        raise input_error("the edge is too short for the radius", got=edge, allowed=f"at least {least:.3g} m")
    levels = max(1, int(np.ceil(np.log2(0.5 * np.pi * radius / edge))))
    fine = subdivide(TriMesh(rest, np.array(faces)), levels)[0]
    return TriMesh(fine.rest / np.linalg.norm(fine.rest, axis=1, keepdims=True), fine.faces)


def _point(name: str, given: Sequence[float] | Vector) -> Vector:
    try:
        found = real_array(given)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise input_error("three finite numbers are needed", where=name, got=given)
    return found
