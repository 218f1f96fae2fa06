"""A surface bound to a skeleton."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bunraku.contracts import Points, Sparse, Vector, input_error, is_between
from bunraku.geometry import TriMesh, first_few
from bunraku.motion import Animation

from .skeleton import Skeleton
from .skinning import skinned

_FASTEST = 1e5  # [frames/s] what is beyond is a mistake
_SUM = 1e-6  # weights of a vertex add up to 1 within this


@dataclass(frozen=True, eq=False)
class Rig:
    """A mesh in the bind pose of a skeleton, and how much each joint carries each vertex."""

    mesh: TriMesh
    """in the bind pose [m]"""
    skeleton: Skeleton
    weights: Sparse
    """(n, j) CSR, not negative, rows add up to 1"""

    def __post_init__(self) -> None:
        weights = csr_array(self.weights, dtype=np.float64)
        shape = (self.mesh.point_count, self.skeleton.joint_count)
        if weights.shape != shape:
            raise input_error("weights must have shape (vertices, joints)", got=weights.shape, allowed=str(shape))
        total = np.asarray(weights.sum(axis=1)).reshape(-1)
        wrong = np.flatnonzero(~(np.abs(total - 1.0) <= _SUM))
        if len(wrong) or not (weights.data >= 0).all():
            raise input_error("weights must be 0 or more and add up to 1", where=f"vertices {first_few(wrong)}")
        object.__setattr__(self, "weights", weights)

    @property
    def idle_joints(self) -> tuple[str, ...]:
        """Names of the joints that carry nothing."""
        used = np.asarray(self.weights.sum(axis=0)).reshape(-1)
        return tuple(name for name, one in zip(self.skeleton.names, used, strict=True) if one == 0.0)

    def posed(self, time: float) -> Points:
        """(n, 3) vertices at a time [s]."""
        return self._points(np.array([time]))[0]

    def animation(self, times: Vector | None = None, *, rate: float | None = None) -> Animation:
        """The mesh carried by the skeleton's motion: at times (t,) [s], at a rate [frames/s], or at its samples.

        With a rate there is a frame at every whole multiple of 1 / rate from the first sample to the last.
        """
        if times is not None and rate is not None:
            raise input_error("give times or a rate, not both", got=rate)
        moments = self.skeleton.times if times is None else np.asarray(times, np.float64)
        if rate is not None:
            moments = moments_at(moments, rate)
        return Animation(self.mesh, moments, self._points(moments))

    def _points(self, times: Vector) -> Points:
        moves = self.skeleton.worlds(times) @ np.linalg.inv(self.skeleton.bind)
        return skinned(self.mesh.rest, self.weights, moves)


def moments_at(times: Vector, rate: float) -> Vector:
    """(m,) the whole multiples of 1 / rate [s] from the first to the last of times (t,)."""
    if not is_between(rate, 1e-3, _FASTEST):
        allowed = f"0.001 to {_FASTEST:g} frames/s"
        raise input_error("the frame rate must be positive", got=repr(rate), allowed=allowed)
    first, last = math.ceil(times[0] * rate - 1e-6), math.floor(times[-1] * rate + 1e-6)
    if last < first:
        raise input_error("no frame of this rate falls into the motion", got=rate, allowed="a higher rate")
    return np.arange(first, last + 1, dtype=np.float64) / rate
