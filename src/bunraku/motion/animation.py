"""A surface, or a body, moving in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import numpy as np

from bunraku.contracts import Array, Points, Vector, input_error, need, numbers
from bunraku.geometry import TetMesh, TriMesh, check_coordinates

if TYPE_CHECKING:  # an `Animation` is one of a surface, unless it says otherwise
    import typing_extensions

    Mesh = typing_extensions.TypeVar("Mesh", bound=TriMesh | TetMesh, covariant=True, default=TriMesh)
else:
    Mesh = TypeVar("Mesh")
Interpolation = Literal["cubic", "linear"]


@dataclass(frozen=True, eq=False)
class Animation(Generic[Mesh]):
    """Points of a mesh at a sequence of times.

    Between samples the points follow a C¹ cubic through the samples (or straight lines); outside
    the range they hold the first or last sample.
    """

    mesh: Mesh
    """connectivity and rest shape"""
    times: Vector
    """(t,) increasing [s]"""
    points: Array
    """(t, n, 3) [m]"""
    interpolation: Interpolation = "cubic"
    """how to read between samples"""

    def __post_init__(self) -> None:
        need(TriMesh | TetMesh, "mesh", self.mesh)
        times, points = numbers("times", self.times), numbers("points", self.points)
        n = self.mesh.point_count
        if times.ndim != 1 or len(times) == 0 or not np.isfinite(times).all():
            raise input_error("times must be a list of at least one finite number", got=self.times)
        if points.shape != (len(times), n, 3):
            raise input_error(
                "points must have shape (times, vertices, 3)",
                got=points.shape,
                allowed=str((len(times), n, 3)),
            )
        step = np.flatnonzero(~(np.diff(times) > 0))
        if len(step):
            raise input_error(
                "times must increase", where=f"sample {step[0] + 1}", got=times[step[0] + 1],
                allowed=f"above {times[step[0]]}",
            )  # fmt: skip
        if not isinstance(self.interpolation, str) or self.interpolation not in ("cubic", "linear"):
            raise input_error("unknown interpolation", got=self.interpolation, allowed="'cubic', 'linear'")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "points", points)

    @property
    def frame_count(self) -> int:
        """Number of samples t."""
        return len(self.times)

    def at(self, time: float) -> Points:
        """Points (n, 3) at a time [s]; exactly the sample where the time is a sample's."""
        return _interpolate(self.times, self.points, float(time), self.interpolation)

    def velocity(self, time: float) -> Points:
        """Rate (n, 3) at a time [m/s]: from the right at a sample's kink, zero outside the range."""
        return _rate(self.times, self.points, float(time), self.interpolation)

    def check(self, name: str = "animation") -> None:
        """Refuse samples that are not finite or of impossible scale, naming the frame."""
        for k in range(self.frame_count):
            check_coordinates(self.points[k], f"{name}, frame {k}")


_STILL = 0.05
"""below this ratio of the slower to the faster neighbouring interval a sample counts as a stop or a start"""


def _slope(times: Vector, samples: Array, k: int) -> Array:
    """Tangent at sample k: of the parabola through k−1, k, k+1 (quadratic from one side at the ends).

    Where one neighbouring interval is (nearly) still the tangent fades to zero, vertex by vertex, so that what
    stands still between two samples stays still: nothing starts before its first moved sample or swings past a stop.
    """
    last = len(times) - 1
    if last == 1:
        return (samples[1] - samples[0]) / (times[1] - times[0])
    middle = min(max(k, 1), last - 1)
    h0, h1 = times[middle] - times[middle - 1], times[middle + 1] - times[middle]
    d0, d1 = (samples[middle] - samples[middle - 1]) / h0, (samples[middle + 1] - samples[middle]) / h1
    curvature = (d1 - d0) / (h0 + h1)
    tangent = (d0 * h1 + d1 * h0) / (h0 + h1) + 2.0 * curvature * (times[k] - times[middle])
    own = d0 if k == 0 else d1 if k == last else None
    slow, fast = (_speed(own), _speed(tangent)) if own is not None else _sorted(_speed(d0), _speed(d1))
    ratio = np.divide(slow, fast, out=np.ones_like(slow), where=fast > 0)
    return np.clip(ratio / _STILL, 0.0, 1.0) * tangent


def _speed(velocity: Array) -> Array:
    return np.linalg.norm(velocity, axis=-1, keepdims=True)


def _sorted(a: Array, b: Array) -> tuple[Array, Array]:
    return np.minimum(a, b), np.maximum(a, b)


def _segment(times: Vector, time: float) -> tuple[int, float, float]:
    k = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(times) - 2))
    h = float(times[k + 1] - times[k])
    return k, h, (time - times[k]) / h


def _interpolate(times: Vector, samples: Array, time: float, how: Interpolation) -> Array:
    if time <= times[0] or len(times) == 1:
        return np.array(samples[0])
    if time >= times[-1]:
        return np.array(samples[-1])
    k, h, u = _segment(times, time)
    a, b = samples[k], samples[k + 1]
    if u == 0.0:
        return np.array(a)
    if how == "linear":
        return a + u * (b - a)
    va, vb = h * _slope(times, samples, k), h * _slope(times, samples, k + 1)
    return a + u * (va + u * ((3 * (b - a) - 2 * va - vb) + u * (va + vb - 2 * (b - a))))


def _rate(times: Vector, samples: Array, time: float, how: Interpolation) -> Array:
    if len(times) == 1 or time < times[0] or time > times[-1]:
        return np.zeros_like(samples[0])
    k, h, u = _segment(times, time)
    a, b = samples[k], samples[k + 1]
    if how == "linear":
        return (b - a) / h
    va, vb = h * _slope(times, samples, k), h * _slope(times, samples, k + 1)
    return (va + u * (2 * (3 * (b - a) - 2 * va - vb) + 3 * u * (va + vb - 2 * (b - a)))) / h
