"""Oscillators moved from one state to another by the least force.

Each is  q'' + 2δ q' + λ q + g = f.  Between two states x = (q, q') a time T apart the force of least ½ ∫ f² dt is
f(s) = bᵀ e^{Aᵀ(T−s)} G⁻¹ d, with d what free motion misses and G the Gramian of `wiggly_kernels`; it costs ½ dᵀ G⁻¹ d
[Schulz 2014, eq. 3]. The curves are the wiggly splines of [Kass 2008], whatever the sign of δ² − λ and of λ, and solve
q'''' + 2(λ − 2δ²) q'' + λ² q + λ g = 0.

That equation knows neither the sign of δ nor that of λ, so *the same curves* are those of a stable oscillator
δ̂ = |δ|, λ̂ = λ or, where λ < 0, δ̂ = √(δ² − λ), λ̂ = −λ, ĝ = −g; the energies differ by what the ends say:

    ½ ∫ f² = ½ ∫ f̂² + [ (δ − δ̂) q'² + (δλ − δ̂λ̂) q² + (λ − λ̂) q q' + g (q' + 2δq) − ĝ (q' + 2δ̂q) ]₀ᵀ

So only stable ones are computed with, and nothing ever grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import Array, Integers, Vector, input_error

from .wiggly_kernels import segment_forms, segment_motion, segment_pulls


class SplineValues(NamedTuple):
    """Where oscillators are and what moves them, at n times."""

    position: Array
    """(n, d)"""
    velocity: Array
    """(n, d)"""
    acceleration: Array
    """(n, d)"""
    force: Array
    """(n, d) of direction, per mass: what the motion needs beyond springs, dampers and load"""


class SegmentEnergy(NamedTuple):
    """½ yᵀ hessian y + linear·y + constant of the ends y = (q₀, v₀, q₁, v₁) of each of m segments, d oscillators."""

    hessian: Array
    """(m, d, 4, 4), or (d, 4, 4) of one segment"""
    linear: Array
    """(m, d, 4), or (d, 4)"""
    constant: Array
    """(m, d), or (d,)"""


@dataclass(frozen=True, eq=False)
class Oscillators:
    """d oscillators of unit mass, q'' + 2δ q' + λ q + g = f."""

    stiffness: Vector
    """(d,) λ [1/s²], of any sign"""
    damping: Vector
    """(d,) δ [1/s], of any sign: below zero it drives"""
    load: Vector
    """(d,) g: the pull against q, in units of q'' """

    def __post_init__(self) -> None:
        names = ("stiffness", "damping", "load")
        given = [np.array(getattr(self, name), dtype=np.float64) for name in names]
        for name, values in zip(names, given, strict=True):
            if values.ndim != 1 or values.shape != given[0].shape:
                raise input_error(f"oscillators need one {name} each", got=[one.shape for one in given])
            if not np.isfinite(values).all():
                raise input_error(f"an oscillator's {name} must be finite", got=float(values[~np.isfinite(values)][0]))
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @property
    def count(self) -> int:
        """d."""
        return len(self.stiffness)

    def from_rest(self) -> tuple[Array, Array]:
        """(d, 2) and (d, 2): ½ Σ a x² + Σ b x, but for a constant, is the least that it costs to be at q and q' at a
        moment, x = (q, q'), having been at rest in balance long before.

        It is the energy of a segment in the limit of infinite length: the controllability Gramian is then diagonal,
        1/(4δλ) and 1/(4δ). What is not damped has all the time in the world, and comes there for nothing.
        """
        slow = 4.0 * np.maximum(self.damping, 0.0)
        springs = self.stiffness > 0.0
        square = np.stack([slow * np.maximum(self.stiffness, 0.0), slow], axis=1)
        # Balance is q = −g/λ; without a spring it is falling steadily, q' = −g/(2δ), from anywhere.
        linear = np.stack(
            [np.where(springs, slow * self.load, 0.0), np.where(springs | (slow == 0.0), 0.0, 2.0 * self.load)], axis=1
        )
        return square, linear

    def energy(self, lengths: ArrayLike) -> SegmentEnergy:
        """What segments of these lengths, T > 0 or (m,) [s], cost as a function of their ends."""
        rows, offsets = self._forms(_lengths(lengths))
        # The sum is the same in either order, so the matrix is symmetric to the last bit.
        hessian = rows[..., 0, :, None] * rows[..., 0, None, :] + rows[..., 1, :, None] * rows[..., 1, None, :]
        linear = np.einsum("mdrk,mdr->mdk", rows, offsets)
        constant = 0.5 * np.einsum("mdr,mdr->md", offsets, offsets)
        stable = self._stable
        hessian[..., :2, :2] -= stable.square
        hessian[..., 2:, 2:] += stable.square
        linear[..., :2] -= stable.slope
        linear[..., 2:] += stable.slope
        found = SegmentEnergy(hessian, linear, constant)
        return found if np.ndim(lengths) else SegmentEnergy(*(part[0] for part in found))

    def spent(self, lengths: ArrayLike, ends: Array) -> Array:
        """(m, d) what segments with given ends (m, d, 4) cost; near free motion more accurate than `energy`."""
        reduced = self._reduced(_lengths(lengths), ends)
        stable = self._stable
        first, last = ends[..., :2], ends[..., 2:]
        return 0.5 * np.sum(reduced * reduced, axis=-1) + stable.at(last) - stable.at(first)

    def pulls(self, lengths: ArrayLike, ends: Array) -> Array:
        """(m, d, 2) what `along` needs to know of segments with given ends (m, d, 4)."""
        lengths, stable = _lengths(lengths), self._stable
        found = np.empty((len(lengths), self.count, 2))
        segment_pulls(stable.damping, stable.stiffness, lengths, self._reduced(lengths, ends), found)
        return found

    def along(
        self, lengths: ArrayLike, ends: Array, pulls: Array, segments: Integers, since: Vector
    ) -> SplineValues:  # fmt: skip
        """Values at n moments, each in one of m segments, a time since its beginning.

        Args:
            lengths: (m,) of the segments [s].
            ends: (m, d, 4) their ends (q₀, v₀, q₁, v₁).
            pulls: (m, d, 2) from `pulls`.
            segments: (n,) which segment.
            since: (n,) [s], from 0 to the segment's length.
        """
        stable, shape = self._stable, (len(since), self.count)
        position, velocity, force = np.empty(shape), np.empty(shape), np.empty(shape)
        segment_motion(
            stable.damping, stable.stiffness, stable.load, _lengths(lengths),
            np.ascontiguousarray(ends, dtype=np.float64), pulls,
            np.asarray(segments, dtype=np.int64), np.asarray(since, dtype=np.float64), position, velocity, force,
        )  # fmt: skip
        acceleration = force - 2.0 * stable.damping * velocity - stable.stiffness * position - stable.load
        force += 2.0 * stable.less * velocity + (self.stiffness - stable.stiffness) * position
        force += self.load - stable.load
        return SplineValues(position, velocity, acceleration, force)

    def between(self, length: float, since: ArrayLike, ends: Array) -> SplineValues:
        """Values at times `since` (n,) in [0, T] after the beginning of one segment of length T, its ends (d, 4)."""
        since = np.atleast_1d(np.asarray(since, dtype=np.float64))
        if not ((since >= 0.0) & (since <= length)).all():
            raise input_error("times must lie in the segment", got=since.tolist(), allowed=f"0 to {length}")
        ends = np.asarray(ends, dtype=np.float64)[None]
        return self.along(length, ends, self.pulls(length, ends), np.zeros(len(since), dtype=np.int64), since)

    def at_rest(self, position: Array) -> SplineValues:
        """Values of oscillators held where they are, (n, d): the force is that of springs and load."""
        still = np.zeros_like(position)
        return SplineValues(position, still, still.copy(), self.stiffness * position + self.load)

    def _forms(self, lengths: Vector) -> tuple[Array, Array]:
        """(m, d, 2, 4) and (m, d, 2): the stable oscillators' energy as a sum of two squares."""
        stable, shape = self._stable, (len(lengths), self.count, 2)
        rows, offsets = np.empty((*shape, 4)), np.empty(shape)
        segment_forms(stable.damping, stable.stiffness, stable.load, lengths, rows, offsets)
        return rows, offsets

    def _reduced(self, lengths: Vector, ends: Array) -> Array:
        """(m, d, 2) the two numbers whose squares are summed."""
        if np.shape(ends) != (len(lengths), self.count, 4):
            raise input_error(
                "segments need the two ends of every oscillator",
                got=np.shape(ends), allowed=f"{(len(lengths), self.count, 4)}",
            )  # fmt: skip
        rows, offsets = self._forms(lengths)
        return np.einsum("mdrk,mdk->mdr", rows, ends) + offsets

    @cached_property
    def _stable(self) -> _Stable:
        return _stable(self)


def _lengths(given: ArrayLike) -> Vector:
    """(m,) checked."""
    lengths = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if lengths.ndim != 1 or not (np.isfinite(lengths).all() and (lengths > 0.0).all()):
        raise input_error("a segment needs a length in time above zero", got=lengths.tolist())
    return lengths


@dataclass(frozen=True, eq=False)
class _Stable:
    """Oscillators that do not grow and have the same curves; how the energies differ: [½ xᵀ square x + slope·x]₀ᵀ."""

    damping: Vector
    stiffness: Vector
    load: Vector
    less: Vector
    """(d,) δ − δ̂"""
    square: Array
    """(d, 2, 2)"""
    slope: Array
    """(d, 2)"""

    def at(self, state: Array) -> Array:
        """(m, d) of states (m, d, 2)."""
        return 0.5 * np.einsum("mdi,dij,mdj->md", state, self.square, state) + np.einsum(
            "di,mdi->md", self.slope, state
        )


def _stable(given: Oscillators) -> _Stable:
    """The module's head says how."""
    delta, lamda, load = given.damping, given.stiffness, given.load
    below = lamda < 0.0
    stiffness = np.abs(lamda)
    damping = np.where(below, np.hypot(delta, np.sqrt(stiffness)), np.abs(delta))
    # Where λ < 0, δ̂ − |δ| = −λ / (δ̂ + |δ|) without the difference of two numbers that may be almost equal.
    far = damping + np.abs(delta)
    near = np.divide(stiffness, far, out=np.zeros_like(far), where=below)
    less = np.where(delta < 0.0, -far, -near)
    more = np.where(below, np.where(delta < 0.0, near, far), 0.0)
    square = np.zeros((given.count, 2, 2))
    square[:, 0, 0] = 2.0 * lamda * np.where(below, more, less)
    square[:, 0, 1] = square[:, 1, 0] = np.where(below, 2.0 * lamda, 0.0)
    square[:, 1, 1] = 2.0 * less
    slope = np.stack([2.0 * load * np.where(below, more, less), np.where(below, 2.0 * load, 0.0)], axis=1)
    return _Stable(damping, stiffness, np.where(below, -load, load), less, square, slope)
