"""The lazy twin of a run: frames as they come, nothing written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bunraku.contracts import Array, Points, Vector
from bunraku.direction import Frame

from .prepare import prepare
from .shot import Shot


@dataclass(frozen=True, eq=False)
class ShotFrame:
    """One finished frame of a shot; it alone carries the shot on."""

    number: float
    """the file's frame number"""
    inner: Frame
    """the state, about `origin`"""
    origin: Vector
    """(3,) [m]"""

    @property
    def time(self) -> float:
        """[s]"""
        return self.inner.time

    @property
    def points(self) -> Points:
        """(n, 3) [m] in the world"""
        return self.inner.points + self.origin

    @property
    def velocity(self) -> Points:
        """(n, 3) [m/s]"""
        return self.inner.velocity

    @property
    def report(self) -> Mapping[str, Array]:
        """what was met and what it took"""
        return self.inner.report


def frames(shot: Shot, after: ShotFrame | None = None, *, threads: int | None = None) -> Iterator[ShotFrame]:
    """The shot's frames one by one, preroll left out; stop at any time and carry on `after` the last one.

    Raises PhysicsStopped where a step cannot be taken.
    """
    prepared = prepare(shot, threads=threads)
    job = prepared.job(threads)
    for frame in job.frames(after.inner if after else None):
        if frame.index >= prepared.preroll:
            yield ShotFrame(float(prepared.numbers[frame.index]), frame, prepared.origin)
