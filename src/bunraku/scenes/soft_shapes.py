"""Shapes of soft bodies, by their distance: rounded parts that melt into each other.

All stand on y = 0, look along +z and are made by code; lengths in metres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.geometry import TriMesh

from .level_set import Distance, even_surface

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Part:
    """A rounded cone from a to b."""

    a: Triple
    b: Triple
    thick: tuple[float, float]
    """[m] radii at a and b"""
    flat: Triple = (1.0, 1.0, 1.0)
    """how much thinner than round it is along x, y and z"""

    def distance(self, x: Points) -> Vector:
        """(n,) [m] about how far points (n, 3) are outside of it."""
        squeeze = 1.0 / np.asarray(self.flat)
        a, p = np.asarray(self.a) * squeeze, x * squeeze
        axis = np.asarray(self.b) * squeeze - a
        along = np.clip((p - a) @ axis / max(float(axis @ axis), 1e-12), 0.0, 1.0)
        away = np.linalg.norm(p - a - along[:, None] * axis, axis=1)
        return (away - (self.thick[0] + (self.thick[1] - self.thick[0]) * along)) * min(self.flat)

    def mirrored(self) -> Part:
        """The same on the other side of x = 0."""
        (ax, ay, az), (bx, by, bz) = self.a, self.b
        return Part((-ax, ay, az), (-bx, by, bz), self.thick, self.flat)


def ball(middle: Triple, radius: float, flat: Triple = (1.0, 1.0, 1.0)) -> Part:
    """A ball, or an egg of one."""
    return Part(middle, middle, (radius, radius), flat)


def melted(away: Sequence[Vector], soft: float) -> Vector:
    """(n,) the least of distances (n,), rounded where two are within about `soft` [m] of each other."""
    out = away[0]
    for other in away[1:]:
        h = np.maximum(soft - np.abs(out - other), 0.0) / soft
        out = np.minimum(out, other) - 0.25 * soft * h * h
    return out


def cut(body: Vector, half_space: Vector, soft: float) -> Vector:
    """(n,) the larger of two distances (n,), with an edge rounded over `soft` [m]."""
    return -melted([-body, -half_space], soft)


def both_sides(*parts: Part) -> list[Part]:
    """The parts and their mirror images."""
    return [one for part in parts for one in (part, part.mirrored())]


def _character(x: Points) -> Vector:
    """A pear with a head, stub arms raised a little and broad feet; 0.40 m tall."""
    trunk = [
        Part((0.0, 0.115, 0.0), (0.0, 0.195, 0.0), (0.078, 0.056), (1.0, 1.0, 0.88)),
        ball((0.0, 0.305, 0.004), 0.086, (1.0, 0.98, 0.95)),
    ]
    limbs = both_sides(
        Part((0.050, 0.205, 0.0), (0.138, 0.150, 0.018), (0.030, 0.032)),
        Part((0.046, 0.090, 0.0), (0.052, 0.035, 0.012), (0.040, 0.040)),
        Part((0.056, 0.026, 0.0), (0.062, 0.026, 0.050), (0.040, 0.038)),
    )
    face = [*both_sides(ball((0.068, 0.372, 0.0), 0.030, (1.0, 1.0, 0.7))), ball((0.0, 0.288, 0.085), 0.018)]
    body = melted([one.distance(x) for one in (*trunk, *limbs)], 0.030)
    return cut(melted([body, *(one.distance(x) for one in face)], 0.014), -x[:, 1], 0.012)


def _toy(x: Points) -> Vector:
    """A four-legged toy with a big head, ears and a tail; 0.36 m long, 0.30 m tall."""
    trunk = [
        Part((0.0, 0.150, -0.090), (0.0, 0.160, 0.070), (0.068, 0.064)),
        Part((0.0, 0.175, 0.080), (0.0, 0.235, 0.120), (0.046, 0.044)),
        Part((0.0, 0.252, 0.120), (0.0, 0.226, 0.190), (0.058, 0.040)),
        Part((0.0, 0.180, -0.140), (0.0, 0.215, -0.185), (0.022, 0.018)),
    ]
    limbs = both_sides(
        Part((0.040, 0.120, 0.072), (0.054, 0.029, 0.082), (0.038, 0.034)),
        Part((0.040, 0.120, -0.095), (0.054, 0.029, -0.100), (0.042, 0.035)),
        Part((0.034, 0.290, 0.105), (0.046, 0.318, 0.098), (0.022, 0.015)),
    )
    return cut(melted([one.distance(x) for one in (*trunk, *limbs)], 0.026), -x[:, 1], 0.012)


def _pudding(x: Points) -> Vector:
    """A pudding out of a fluted mould, its top dented; 0.13 m tall."""
    around, away = np.arctan2(x[:, 2], x[:, 0]), np.hypot(x[:, 0], x[:, 2])
    high = np.clip(x[:, 1] / _PUDDING, 0.0, 1.0)
    flutes = 0.0065 * np.cos(10.0 * around) * np.sin(np.pi * np.clip(high, 0.05, 0.95)) ** 0.5
    side = (away - (0.118 - 0.042 * high**1.15 + flutes * np.clip(away / 0.05, 0.0, 1.0))) * 0.92
    top = x[:, 1] - (_PUDDING - 0.016 * np.exp(-((away / 0.034) ** 2)))
    return cut(cut(side, top, 0.040), -x[:, 1], 0.016)


_PUDDING = 0.130


def _star(x: Points) -> Vector:
    """A cushion with five arms about the origin, 0.34 m across, facing z."""
    turns = [2.0 * np.pi * k / 5 + 0.5 * np.pi for k in range(5)]
    arms = [
        Part((0.0, 0.0, 0.0), (0.14 * np.cos(a), 0.14 * np.sin(a), 0.0), (0.058, 0.032), (1.0, 1.0, 0.85))
        for a in turns
    ]
    return melted([one.distance(x) for one in arms], 0.045)


@dataclass(frozen=True)
class _Made:
    """How a surface is made: its distance, the box it is in, and its edges [m]."""

    distance: Distance
    low: Triple
    high: Triple
    edge: float


def soft_ball(radius: float, edge: float) -> TriMesh:
    """A ball that lies on y = 0."""
    shape, reach = ball((0.0, radius, 0.0), radius), np.array([radius, radius, radius])
    return even_surface(
        shape.distance, np.array([0.0, radius, 0.0]) - reach, np.array([0.0, radius, 0.0]) + reach, edge
    )


def rounded_bar(half: Triple, soft: float, edge: float) -> TriMesh:
    """A box about the origin, of half sides [m], with edges rounded by `soft` [m]."""
    size = np.asarray(half)

    def distance(x: Points) -> Vector:
        out = np.abs(x) - (size - soft)
        return np.linalg.norm(np.maximum(out, 0.0), axis=1) + np.minimum(out.max(axis=1), 0.0) - soft

    return even_surface(distance, -size, size, edge)


def pillow_shape(half: Triple, edge: float) -> TriMesh:
    """A pillow about the origin, of half sides [m]: nearly square seen along y, round seen along x and z."""
    size = np.asarray(half)

    def distance(x: Points) -> Vector:
        a, b, c = (np.abs(x) / size).T
        wide = np.sqrt(a**4 + c**4)  # grows as the square of the distance, as b² does
        out = np.sqrt(np.maximum(wide + b**2, 1e-12))
        across = np.stack([a**3, c**3], axis=1) / np.maximum(wide, 1e-12)[:, None] / size[[0, 2]]
        slope = np.hypot(np.linalg.norm(across, axis=1), b / size[1]) / out
        return (out - 1.0) / np.maximum(slope, 0.5 / size.max())

    return even_surface(distance, -size, size, edge)


_BODIES = {
    "character": _Made(_character, (-0.19, 0.0, -0.10), (0.19, 0.41, 0.12), 0.0085),
    "toy": _Made(_toy, (-0.10, 0.0, -0.22), (0.10, 0.34, 0.25), 0.0085),
    "star": _Made(_star, (-0.18, -0.16, -0.07), (0.18, 0.18, 0.07), 0.0065),
    "pudding": _Made(_pudding, (-0.13, 0.0, -0.13), (0.13, 0.14, 0.13), 0.0065),
}


@lru_cache(maxsize=8)
def _surface(name: str, edge: float | None) -> TriMesh:
    made = _BODIES[name]
    return even_surface(made.distance, np.array(made.low), np.array(made.high), edge or made.edge)


def character(edge: float | None = None) -> TriMesh:
    """A standing character, 0.40 m tall: a pear on broad feet, with a head, ears and stub arms."""
    return _surface("character", edge)


def toy(edge: float | None = None) -> TriMesh:
    """A four-legged toy, 0.33 m tall, that looks along +z."""
    return _surface("toy", edge)


def pudding(edge: float | None = None) -> TriMesh:
    """A pudding out of a fluted mould, 0.13 m tall."""
    return _surface("pudding", edge)


def star(edge: float | None = None) -> TriMesh:
    """A cushion with five arms, 0.34 m across."""
    return _surface("star", edge)
