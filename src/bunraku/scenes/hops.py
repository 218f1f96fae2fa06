"""The way of a middle that hops from place to place: arcs of a thrown stone, and a spring's dip on every landing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Vector
from bunraku.motion import Path

_WEIGHT = 9.81  # [m/s²]
_TILT = 0.16  # [rad] by which it looks up as it rises and down as it falls


@dataclass(frozen=True)
class Landing:
    """A place to land on and to leave again."""

    touch: float
    """[s]"""
    leave: float
    """[s]"""
    x: float
    """[m] halfway between touch and leave"""
    height: float
    """[m] of the body's middle when it touches and when it leaves"""
    dip: float
    """[m] it goes down between"""
    slide: float = 0.0
    """[m] it goes on along x between"""
    crouch: float = 0.0
    """[s] it stays down"""

    @property
    def arrives(self) -> tuple[float, float]:
        """x and y [m] where it touches."""
        return self.x - 0.5 * self.slide, self.height

    @property
    def leaves(self) -> tuple[float, float]:
        """x and y [m] where it leaves."""
        return self.x + 0.5 * self.slide, self.height

    @property
    def low(self) -> tuple[float, float]:
        """[s] since when and until when it is down."""
        middle = 0.5 * (self.touch + self.leave)
        return middle - 0.5 * self.crouch, middle + 0.5 * self.crouch


def hopping(landings: Sequence[Landing], begin: tuple[float, float], rate: float, *, stands: bool) -> Path:
    """The path of a middle thrown from x, y = `begin` [m] at time 0 to one landing after another.

    In the air it looks up as it rises and down as it falls, by a little. On the last landing it comes to rest and the
    path ends; without `stands` it ends in the air as that is touched, and the body lands as it likes.
    """
    knots = _knots(landings, begin, stands)
    times = np.arange(int(np.floor(knots[-1, 0] * rate + 1e-9)) + 1) / rate
    x = CubicHermiteSpline(knots[:, 0], knots[:, 1], knots[:, 3])
    y = CubicHermiteSpline(knots[:, 0], knots[:, 2], knots[:, 4])
    where = np.stack([x(times), y(times), np.zeros_like(times)], axis=1)
    tilt = np.sign(landings[-1].x - begin[0]) * _tilts(landings, times)
    turns = Rotation.from_rotvec(tilt[:, None] * np.array([0.0, 0.0, 1.0])).as_matrix()
    return Path(times, where, rotations=turns)


def _tilts(landings: Sequence[Landing], times: Vector) -> Vector:
    """(t,) [rad] up is above 0; level as it leaves and as it touches."""
    out = np.zeros_like(times)
    flights = [(-landings[0].touch, landings[0].touch)] + [(a.leave, b.touch) for a, b in pairwise(landings)]
    for begin, end in flights:
        share = (times - begin) / (end - begin)
        out += np.where((share > 0.0) & (share < 1.0), _TILT * np.sin(2.0 * np.pi * share), 0.0)
    return out


def _knots(landings: Sequence[Landing], begin: tuple[float, float], stands: bool) -> Array:
    """(k, 5) time, x, y and their rates. Between two with the right rates a thrown stone's arc is a cubic, exactly."""
    first, last = landings[0], landings[-1]
    start, meet = _thrown(0.0, begin, first.touch, first.arrives)
    rows = [[0.0, *begin, *start], [first.touch, *first.arrives, *meet]]
    for one, after in pairwise(landings):
        start, meet = _thrown(one.leave, one.leaves, after.touch, after.arrives)
        rows += [*_down(one), [one.leave, *one.leaves, *start], [after.touch, *after.arrives, *meet]]
    if stands:
        rows += [*_down(last), [last.leave, *last.leaves, 0.0, 0.0]]
    return np.array(rows)


def _down(one: Landing) -> list[list[float]]:
    """One or two knots at the bottom of a landing."""
    since, until = one.low
    rate = one.slide / (one.leave - one.touch)
    when = [since, until] if until > since else [since]
    return [[t, one.x + rate * (t - 0.5 * (since + until)), one.height - one.dip, rate, 0.0] for t in when]


def _thrown(begin: float, a: tuple[float, float], end: float, b: tuple[float, float]) -> tuple[Vector, Vector]:
    """(2,) and (2,) [m/s] the rates of x and y with which a stone leaves a and meets b."""
    lasts = end - begin
    mean = (np.asarray(b) - np.asarray(a)) / lasts
    fall = np.array([0.0, 0.5 * _WEIGHT * lasts])
    return mean + fall, mean - fall
