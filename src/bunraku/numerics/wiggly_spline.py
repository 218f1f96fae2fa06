"""Wiggly splines: oscillators through given states at given times, by the least force in between [Kass 2008].

Positions and velocities at the nodes are all there is to know: what lies between follows (`wiggly`). The curve is C¹
by construction and C² at a node whose velocity is the best one, for the derivative of the energy with respect to it
is the jump of the force there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numba
import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import Array, Flags, Integers, Vector, input_error

from .wiggly import Oscillators, SplineValues

Ends = Literal["clamped", "natural", "circular"]
_FREE_OF_COST = 1e-13  # of what velocities cost there: below, a velocity is not determined


@dataclass(frozen=True, eq=False)
class WigglySpline:
    """Oscillators that pass states at m + 1 times by the least force in between.

    Before the first time and after the last one they are held where they begin and end: at rest, also if the end
    itself has a velocity, by the force that this takes. A circular spline begins again instead.
    """

    oscillators: Oscillators
    times: Vector
    """(m + 1,) increasing, m ≥ 1 [s]"""
    positions: Array
    """(m + 1, d)"""
    velocities: Array
    """(m + 1, d)"""
    circular: bool = False
    """whether it repeats; then the last state is the first"""

    def __post_init__(self) -> None:
        times = _times(self.times)
        shape = (len(times), self.oscillators.count)
        object.__setattr__(self, "times", times)
        for name in ("positions", "velocities"):
            object.__setattr__(self, name, _states(getattr(self, name), shape, name))
        if self.circular:
            _meets(self.positions, "positions")
            _meets(self.velocities, "velocities")

    def __call__(self, times: ArrayLike) -> SplineValues:
        """Position, velocity, acceleration and force of direction, each (n, d), at any times (n,) [s].

        At a node the acceleration and the force are those just after it, at the last one those just before.
        """
        times = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if self.circular:
            times = self.times[0] + np.mod(times - self.times[0], self.times[-1] - self.times[0])
        inside = np.clip(times, self.times[0], self.times[-1])
        segments = np.clip(np.searchsorted(self.times, inside, side="right") - 1, 0, len(self._lengths) - 1)
        since = np.minimum(inside - self.times[segments], self._lengths[segments])
        found = self.oscillators.along(self._lengths, self._ends, self._pulls, segments, since)
        outside = np.not_equal(times, inside)
        if outside.any():
            for part, held in zip(found, self.oscillators.at_rest(found.position[outside]), strict=True):
                part[outside] = held
        return found

    @property
    def energy(self) -> float:
        """½ ∫ f² dt, all oscillators together."""
        return float(self.energies.sum())

    @cached_property
    def energies(self) -> Array:
        """(m, d) ½ ∫ f² dt of each segment and oscillator."""
        return self.oscillators.spent(self._lengths, self._ends)

    @cached_property
    def _lengths(self) -> Vector:
        return np.diff(self.times)

    @cached_property
    def _ends(self) -> Array:
        """(m, d, 4)."""
        q, v = self.positions, self.velocities
        return np.stack([q[:-1], v[:-1], q[1:], v[1:]], axis=-1)

    @cached_property
    def _pulls(self) -> Array:
        return self.oscillators.pulls(self._lengths, self._ends)


@dataclass(frozen=True, eq=False)
class JoinedEnergy:
    """½ zᵀ hessian z + linear·z + constant of all nodes' states, z = (nodes, position or velocity, d) flattened.

    Circular: the last node is the first, and is not in z.
    """

    hessian: Array
    """(2 d nodes, 2 d nodes): only neighbouring nodes, and of these only equal oscillators, know each other"""
    linear: Vector
    constant: float


def joined_energy(oscillators: Oscillators, times: ArrayLike, *, circular: bool = False) -> JoinedEnergy:
    """The least ½ ∫ f² dt of motions with given states at `times` (m + 1,), as a function of those states."""
    times = _times(times)
    parts = oscillators.energy(np.diff(times))
    count, segments = oscillators.count, len(times) - 1
    nodes = segments if circular else segments + 1
    corner = np.arange(4)
    node = (np.arange(segments)[:, None, None] + corner // 2) % nodes
    unknown = (2 * node + corner % 2) * count + np.arange(count)[:, None]  # (m, d, 4)
    hessian, linear = np.zeros((2 * count * nodes, 2 * count * nodes)), np.zeros(2 * count * nodes)
    np.add.at(hessian, (unknown[..., :, None], unknown[..., None, :]), parts.hessian)
    np.add.at(linear, unknown, parts.linear)
    return JoinedEnergy(hessian, linear, float(parts.constant.sum()))


def interpolating(
    oscillators: Oscillators, times: ArrayLike, positions: ArrayLike, velocities: ArrayLike | None = None,
    *, ends: Ends = "clamped",
) -> WigglySpline:  # fmt: skip
    """The spline of least energy through positions.

    Args:
        oscillators: d of them.
        times: (m + 1,) increasing [s].
        positions: (m + 1, d).
        velocities: (m + 1, d), NaN where a velocity is free; None: all are.
        ends: "clamped": at rest at the ends; "natural": free there; "circular": the last state is the first.
            Given velocities hold whatever the ends.

    Velocities that cost (almost) nothing, as those of an undamped oscillator that is held only where it would pass
    anyway, are not determined; of all that are best the smallest are taken.
    """
    if ends not in ("clamped", "natural", "circular"):
        raise input_error("unknown ends", got=ends, allowed="clamped, natural, circular")
    times = _times(times)
    shape = (len(times), oscillators.count)
    q = _states(positions, shape, "positions")
    v = _wanted(velocities, shape, ends)
    parts = oscillators.energy(np.diff(times))
    hessian = parts.hessian
    slope = hessian[..., 0] * q[:-1, :, None] + hessian[..., 2] * q[1:, :, None] + parts.linear  # (m, d, 4), at v = 0
    circular = ends == "circular"
    if circular:
        _meets(q, "positions")
    largest = np.maximum(hessian[..., 1, 1], hessian[..., 3, 3])
    nodes = _Nodes(
        _at_nodes(hessian[..., 1, 1], hessian[..., 3, 3], circular), hessian[..., 1, 3].copy(),
        -_at_nodes(slope[..., 1], slope[..., 3], circular), _at_nodes(largest, largest, circular), circular,
    )  # fmt: skip
    best = nodes.solve(v[:-1] if circular else v)
    return WigglySpline(oscillators, times, q, np.concatenate([best, best[:1]]) if circular else best, circular)


def _wanted(velocities: ArrayLike | None, shape: tuple[int, int], ends: Ends) -> Array:
    """(m + 1, d) what velocities are given, NaN where free."""
    if velocities is None:
        v = np.full(shape, np.nan)
    else:
        v = np.array(velocities, dtype=np.float64)
        if v.shape != shape or np.isinf(v).any():
            raise input_error("velocities must be finite, or NaN where free", got=v.shape, allowed=f"{shape}")
    if ends == "clamped":
        v[[0, -1]] = np.where(np.isnan(v[[0, -1]]), 0.0, v[[0, -1]])
    if ends == "circular":
        v[0] = np.where(np.isnan(v[0]), v[-1], v[0])
        v[-1] = np.where(np.isnan(v[-1]), v[0], v[-1])
        _meets(np.nan_to_num(v), "velocities")
    return v


@dataclass(frozen=True, eq=False)
class _Nodes:
    """One tridiagonal system in the nodes' velocities for each oscillator; a circle closes it."""

    diagonal: Array
    """(n, d)"""
    beside: Array
    """(segments, d) between the two nodes of a segment"""
    right: Array
    """(n, d)"""
    scale: Array
    """(n, d) what velocities cost there at most"""
    circular: bool

    def solve(self, wanted: Array) -> Array:
        """(n, d) velocities, the wanted ones (NaN: free) kept."""
        known = ~np.isnan(wanted)
        given = np.where(known, wanted, 0.0)
        diagonal, beside, right = self.diagonal.copy(), self.beside.copy(), self.right - self._coupled(given)
        diagonal[known], right[known] = 1.0, given[known]
        first, second = self._ends_of_segments()
        if self.circular and len(diagonal) == 1:
            diagonal = diagonal + np.where(known, 0.0, 2.0 * beside)
        beside[known[first] | known[second]] = 0.0
        scale = np.where(known, 1.0, self.scale)
        found, loose = np.empty_like(right), np.zeros(right.shape[1], dtype=np.bool_)
        _eliminate(diagonal, beside, right, scale, self.circular, found, loose)
        for j in np.flatnonzero(loose):
            found[:, j] = self._smallest(diagonal[:, j], beside[:, j], right[:, j], scale[:, j])
        found[known] = given[known]
        return found

    def _ends_of_segments(self) -> tuple[Integers, Integers]:
        first = np.arange(len(self.beside))
        return first, (first + 1) % len(self.diagonal)

    def _coupled(self, velocity: Array) -> Array:
        """(n, d) the part of the matrix beside the diagonal times velocities."""
        first, second = self._ends_of_segments()
        out = np.zeros_like(velocity)
        np.add.at(out, first, self.beside * velocity[second])
        np.add.at(out, second, self.beside * velocity[first])
        return out

    def _smallest(self, diagonal: Vector, beside: Vector, right: Vector, scale: Vector) -> Vector:
        """Of one oscillator whose matrix is (almost) singular."""
        unit = 1.0 / np.sqrt(scale)
        matrix = np.diag(diagonal)
        first, second = self._ends_of_segments()
        if len(diagonal) > 1:
            np.add.at(matrix, (first, second), beside)
            np.add.at(matrix, (second, first), beside)
        values, vectors = np.linalg.eigh(matrix * unit * unit[:, None])
        some = values > _FREE_OF_COST * len(diagonal)
        return unit * (vectors[:, some] @ ((unit * right) @ vectors[:, some] / values[some]))


@numba.njit(cache=True, error_model="numpy")
def _eliminate(diagonal, beside, right, scale, circular, found, loose):
    """Solve (n, d) systems by Cholesky's elimination, the last node as a border; `loose`: not positive definite."""
    n = len(diagonal)
    last = n - 1
    pivots, border, forward = np.empty(n), np.empty(n), np.empty(n)
    for j in range(diagonal.shape[1]):
        pivot, rhs, end_pivot, end_rhs = diagonal[0, j], right[0, j], diagonal[last, j], right[last, j]
        edge = beside[last, j] if circular and n > 1 else 0.0
        for k in range(last):
            if k == last - 1:
                edge += beside[k, j]
            if pivot <= _FREE_OF_COST * scale[k, j]:
                loose[j] = True
                break
            pivots[k], border[k], forward[k] = pivot, edge, rhs
            end_pivot -= edge * edge / pivot
            end_rhs -= edge * rhs / pivot
            if k < last - 1:
                share = beside[k, j] / pivot
                pivot, rhs, edge = (
                    diagonal[k + 1, j] - share * beside[k, j],
                    right[k + 1, j] - share * rhs,
                    -share * edge,
                )
        if loose[j] or end_pivot <= _FREE_OF_COST * scale[last, j]:
            loose[j] = True
            continue
        found[last, j] = end_rhs / end_pivot
        for k in range(last - 1, -1, -1):
            value = forward[k] - border[k] * found[last, j]
            if k < last - 1:
                value -= beside[k, j] * found[k + 1, j]
            found[k, j] = value / pivots[k]


def _at_nodes(begin: Array, end: Array, circular: bool) -> Array:
    """(n, d) sums of what segments (m, d) have at their beginning and at their end."""
    out = np.zeros((len(begin) + 1, begin.shape[1]))
    out[:-1] += begin
    out[1:] += end
    if circular:
        out[0] += out[-1]
    return out[:-1] if circular else out


def _times(given: ArrayLike) -> Vector:
    times = np.array(given, dtype=np.float64)
    if times.ndim != 1 or len(times) < 2 or not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
        raise input_error("a spline needs at least two times that increase", got=times.tolist())
    times.setflags(write=False)
    return times


def _states(given: ArrayLike, shape: tuple[int, int], name: str) -> Array:
    values = np.array(given, dtype=np.float64)
    if values.shape != shape or not np.isfinite(values).all():
        raise input_error(f"a spline needs finite {name} at every time", got=values.shape, allowed=f"{shape}")
    values.setflags(write=False)
    return values


def _meets(values: Array, name: str) -> None:
    """Refuse a circle that does not close."""
    apart: Flags = np.abs(values[-1] - values[0]) > 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    if apart.any():
        j = int(np.argmax(apart))
        raise input_error(
            f"the last {name} of a circular spline must be the first",
            got=f"oscillator {j}: {values[0, j]} and {values[-1, j]}",
        )
