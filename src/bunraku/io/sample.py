"""What the writers take: samples in a stream, and how the file lays them out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.contracts import Array, Points, Vector, input_error
from bunraku.geometry import Surface, TriMesh
from bunraku.motion import Animation

from .axes import from_metres

FAR = 100.0  # float32 about the world origin resolves 1e-5 of a shape this many sizes away


@dataclass(frozen=True, eq=False)
class Sample:
    """One frame to write."""

    frame: float
    """frame number"""
    points: Points
    """(n, 3) [m]"""
    velocities: Points | None = None
    """(n, 3) [m/s]; None: from the neighbouring samples"""
    lengths: Mapping[str, Vector] = field(default_factory=dict)
    """name → (n,) [m] a length at every point, which USD keeps as a primvar in its own unit"""
    said: Mapping[str, Array] = field(default_factory=dict)
    """name → (n,) a number or (n, 3) a colour at every point, which USD keeps as they are"""


@dataclass(frozen=True, eq=False)
class Layout:
    """How a file lays out space and time."""

    rate: float
    """[frames/s]"""
    origin: Vector
    """(3,) [m] the point that file coordinates are relative to"""
    up_axis: str
    meters_per_unit: float

    def place(self, x: Points) -> Points:
        """Points (n, 3) [m] in file coordinates about the origin."""
        return from_metres(x - self.origin, self.meters_per_unit, self.up_axis)

    def turn(self, v: Array) -> Array:
        """Vectors (…, 3) [m, m/s] in file units and axes."""
        return from_metres(v, self.meters_per_unit, self.up_axis)


def local_origin(x: Points) -> Vector:
    """(3,) [m] zero, or where x (n, 3) lies further than `FAR` sizes away its centre in whole metres."""
    low, high = x.min(axis=0), x.max(axis=0)
    centre = 0.5 * (low + high)
    far = np.linalg.norm(centre) > FAR * np.linalg.norm(high - low)
    return np.round(centre) if far else np.zeros(3)


def checked(samples: Iterable[Sample], surface: Surface, where: str) -> Iterator[Sample]:
    """The samples, each refused by frame where its shape, its values or its order is wrong."""
    last = -np.inf
    shape = (surface.point_count, 3)
    for sample in samples:
        place = f"{where}, frame {sample.frame:g}"
        if not sample.frame > last:
            raise input_error("frame numbers must increase", where=place, got=f"{sample.frame:g} after {last:g}")
        for name, values in sample.lengths.items():
            if np.shape(values) != shape[:1] or not np.isfinite(values).all():
                raise input_error(f"{name} is not a length a point", where=place, got=np.shape(values))
        for name, values in sample.said.items():
            if np.shape(values) not in (shape[:1], shape) or not np.isfinite(values).all():
                raise input_error(f"{name} is not a number or a colour a point", where=place, got=np.shape(values))
        for values in (sample.points, sample.velocities):
            if values is not None and np.shape(values) != shape:
                raise input_error("another vertex count", where=place, got=np.shape(values), allowed=str(shape))
            if values is not None and not np.isfinite(values).all():
                vertex = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
                raise input_error(f"vertex {vertex} is not finite", where=place, got=values[vertex].tolist())
        last = sample.frame
        yield sample


def with_velocities(samples: Iterable[Sample], rate: float) -> Iterator[Sample]:
    """The samples with velocities, where they had none those of `Animation` through the neighbours.

    Holds three samples at a time.
    """
    window: deque[Sample] = deque(maxlen=3)
    for count, sample in enumerate(samples, start=1):
        window.append(sample)
        if count == 3:
            yield _moving(window[0], window, rate)
        if count >= 3:
            yield _moving(window[1], window, rate)
    if 0 < len(window) < 3:
        yield _moving(window[0], window, rate)
    if len(window) > 1:
        yield _moving(window[-1], window, rate)


def _moving(sample: Sample, window: Iterable[Sample], rate: float) -> Sample:
    if sample.velocities is not None:
        return sample
    near = list(window)
    times = np.array([other.frame for other in near]) / rate
    bare = TriMesh(sample.points, np.zeros((0, 3), dtype=np.int64))
    motion = Animation(bare, times, np.stack([other.points for other in near]))
    return replace(sample, velocities=motion.velocity(sample.frame / rate))


def with_shutter(samples: Iterable[Sample], shutter: tuple[float, float], rate: float) -> Iterator[Sample]:
    """The samples, and between them those at the opening and closing of a shutter [frames] about each frame.

    Between two frames points follow the cubic through their positions and velocities; before the first frame and
    after the last they go on straight. Holds two samples at a time.
    """
    before: Sample | None = None
    written = -np.inf
    for sample in samples:
        for frame in _moments(before, sample, shutter):
            if frame > written + 1e-6:
                yield _between(before, sample, frame, rate)
                written = frame
        before = sample
    if before is not None:
        for frame in _moments(before, None, shutter):
            if frame > written + 1e-6:
                yield _between(before, None, frame, rate)


def _moments(before: Sample | None, after: Sample | None, shutter: tuple[float, float]) -> list[float]:
    """Frames to write after `before` up to and with `after`."""
    found = [one.frame + offset for one in (before, after) if one is not None for offset in (*shutter, 0.0)]
    low = -np.inf if before is None else before.frame
    high = np.inf if after is None else after.frame
    return sorted(frame for frame in set(found) if low < frame <= high or (before is None and frame <= high))


def _between(before: Sample | None, after: Sample | None, frame: float, rate: float) -> Sample:
    """The sample at a moment between two, which carry velocities; beyond them on a straight line."""
    if before is None or after is None:
        near = before or after
        assert near is not None and near.velocities is not None
        return Sample(frame, near.points + (frame - near.frame) / rate * near.velocities, near.velocities)
    assert before.velocities is not None and after.velocities is not None
    if frame == after.frame:
        return after
    span = (after.frame - before.frame) / rate
    u = (frame - before.frame) / (after.frame - before.frame)
    rise = after.points - before.points
    start, end = span * before.velocities, span * after.velocities
    points = before.points + u * start + u**2 * (3 * rise - 2 * start - end) + u**3 * (start + end - 2 * rise)
    slope = start + 2 * u * (3 * rise - 2 * start - end) + 3 * u**2 * (start + end - 2 * rise)
    return Sample(frame, points, slope / span)
