"""The moments of a motion at which something is asked, and what the motion between them costs.

Unknown are each mode's position and velocity at each node. Modes do not know of each other between nodes, so all of
this is small matrices, one a mode. Unknowns that no key sees are what costs least for the others: they are eliminated.
So a node with a position key and free velocity is C² and has d unknowns, one with a velocity key 2 d, as [Schulz 2014]
counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Vector
from bunraku.numerics import Oscillators

_FREE_OF_COST = 1e-13
"""share of the largest cost below which an unknown is not determined; the smallest is taken"""
_ROUNDED = 10.0
"""times that, below which what was found to cost nothing still does once it is computed again"""
_LITTLE = 1e-9
"""share of what an unknown costs at most that one counts with that costs nothing"""


@dataclass(frozen=True, eq=False)
class Ends:
    """How a motion begins and ends, in modal coordinates."""

    first: tuple[Vector, Vector] | None = None
    """(d,) position and (d,) velocity; None: free, at the cost of coming there from rest, from long before"""
    last: tuple[Vector, Vector] | None = None
    circular: bool = False
    """whether it goes on from its end as it began"""

    def free(self, duration: float) -> list[float]:
        """[s] the moments of the ends whose pose is not given; of a circle the end is the beginning."""
        last = [] if self.circular or self.last is not None else [duration]
        return last if self.first is not None else [0.0, *last]


@dataclass(frozen=True, eq=False)
class Nodes:
    """Times, the unknowns that keys see, and the energy as their function."""

    oscillators: Oscillators
    times: Vector
    """(m + 1,) increasing, the first and the last those of the motion [s]"""
    ends: Ends
    seen: Flags
    """(nodes, 2) whether position and velocity of a node are seen by a key"""

    @property
    def count(self) -> int:
        """Nodes; of a circular motion the last is the first, and counts once."""
        return len(self.times) - 1 if self.ends.circular else len(self.times)

    @property
    def modes(self) -> int:
        """d"""
        return self.oscillators.count

    @cached_property
    def slots(self) -> Integers:
        """(s,) the unknowns that keys see, numbered 2 node + (0 position, 1 velocity)."""
        return np.flatnonzero(self.seen.reshape(-1) & ~self._known)

    @property
    def dimension(self) -> int:
        """Unknowns of the problem."""
        return len(self.slots) * self.modes

    @property
    def from_afar(self) -> bool:
        """Whether it may begin anywhere."""
        return self.ends.first is None and not self.ends.circular

    @cached_property
    def _known(self) -> Flags:
        """(2 nodes,)"""
        out = np.zeros((self.count, 2), dtype=bool)
        out[0] = self.ends.first is not None
        if not self.ends.circular:
            out[-1] = self.ends.last is not None
        return out.reshape(-1)

    @cached_property
    def _given(self) -> Array:
        """(2 nodes, d) the values that are known, else 0."""
        out = np.zeros((self.count, 2, self.modes))
        if self.ends.first is not None:
            out[0] = np.stack(self.ends.first)
        if self.ends.last is not None and not self.ends.circular:
            out[-1] = np.stack(self.ends.last)
        return out.reshape(2 * self.count, self.modes)

    @cached_property
    def _whole(self) -> tuple[Array, Array]:
        """(d, 2 nodes, 2 nodes) and (d, 2 nodes): ½ zᵀ A z + b·z of all states of each mode."""
        found, nodes = self.oscillators.energy(np.diff(self.times)), self.count
        matrix = np.zeros((self.modes, 2 * nodes, 2 * nodes))
        slope = np.zeros((self.modes, 2 * nodes))
        for k in range(len(self.times) - 1):
            own = np.array([2 * k, 2 * k + 1, *(2 * ((k + 1) % nodes) + np.arange(2))])
            for i in range(4):  # a circle of one node meets itself: entries are added one by one
                slope[:, own[i]] += found.linear[k][:, i]
                for j in range(4):
                    matrix[:, own[i], own[j]] += found.hessian[k][:, i, j]
        if self.ends.first is None and not self.ends.circular:
            square, linear = self.oscillators.from_rest()
            matrix[:, [0, 1], [0, 1]] += square
            slope[:, :2] += linear
        return matrix, slope

    @cached_property
    def _sizes(self) -> Array:
        """(d, 2 nodes) how large the numbers are of which the costs of each state alone are sums: of a motion that goes
        round in a circle they may cancel."""
        found, nodes = self.oscillators.energy(np.diff(self.times)), self.count
        out = np.zeros((self.modes, 2 * nodes))
        for k in range(len(self.times) - 1):
            for i, own in enumerate((2 * k, 2 * k + 1, *(2 * ((k + 1) % nodes) + np.arange(2)))):
                out[:, own] += np.abs(found.hessian[k][:, i, i])
        return out

    @cached_property
    def _eliminated(self) -> tuple[Array, Array, Array, Array]:
        """Per mode: the energy of the seen slots (d, s, s), (d, s), and how the others follow: (d, r, s), (d, r)."""
        matrix, slope = self._whole
        known, slots, rest = np.flatnonzero(self._known), self.slots, self._others
        push = slope + np.einsum("dij,jd->di", matrix[:, :, known], self._given[known])
        inner = matrix[:, rest[:, None], rest]
        inverse = _inverse(inner, self._sizes[:, rest])
        follow = -inverse @ matrix[:, rest[:, None], slots]
        offset = -np.einsum("dij,dj->di", inverse, push[:, rest])
        across = matrix[:, slots[:, None], rest]
        square = _costly(matrix[:, slots[:, None], slots] + across @ follow, self.scale)
        linear = push[:, slots] + np.einsum("dij,dj->di", across, offset)
        free = np.diagonal(square, axis1=1, axis2=2) == 0.0
        return square, np.where(free, 0.0, linear), follow, offset

    @cached_property
    def scale(self) -> Vector:
        """(d,) what an unknown of each mode costs at most, all others being held: what is far below costs nothing."""
        matrix, _ = self._whole
        return np.diagonal(matrix[:, self.slots[:, None], self.slots], axis1=1, axis2=2).max(axis=1, initial=0.0)

    @cached_property
    def _others(self) -> Integers:
        return np.setdiff1d(np.flatnonzero(~self._known), self.slots)

    @cached_property
    def energy(self) -> tuple[Array, Vector]:
        """(s d, s d) and (s d,): ½ zᵀ H z + h·z of z = (slots, modes), flattened."""
        square, linear, _, _ = self._eliminated
        return self._spread(square), linear.T.reshape(-1)

    @cached_property
    def softness(self) -> Array:
        """(s d, s d) the inverse of H; what costs nothing counts as if it cost a little of what an unknown costs at
        most. Modes do not know of each other, so it is theirs one by one."""
        values, vectors = self._spectra
        inner = vectors / np.maximum(values, self._little)[:, None, :]
        return self._spread(inner @ vectors.transpose(0, 2, 1))

    @cached_property
    def costless(self) -> tuple[Array, Array]:
        """(s d, z) what costs nothing, and (s d, c) C, with C Cᵀ how unknowns give way without that."""
        values, vectors = self._spectra
        each = vectors.transpose(0, 2, 1)[:, :, :, None] * np.eye(self.modes)[:, None, None, :]
        columns = each.reshape(-1, len(self.slots) * self.modes)
        free = (values <= _ROUNDED * _FREE_OF_COST * self.scale[:, None]).reshape(-1)
        costs = np.maximum(values.reshape(-1)[~free], self._little)
        return columns[free].T, (columns[~free] / np.sqrt(costs)[:, None]).T

    @cached_property
    def _spectra(self) -> tuple[Array, Array]:
        """(d, s) what each mode's unknowns cost, mixed as (d, s, s) columns say."""
        values, vectors = np.linalg.eigh(self._eliminated[0])
        return values, vectors

    @property
    def _little(self) -> float:
        return _LITTLE * float(self.scale.max(initial=0.0))

    def _spread(self, square: Array) -> Array:
        """(s d, s d) of matrices (d, s, s), one a mode."""
        count, modes = len(self.slots), self.modes
        matrix = np.zeros((count, modes, count, modes))
        every = np.arange(modes)
        matrix[:, every, :, every] = square
        return matrix.reshape(count * modes, count * modes)

    def states(self, z: Vector) -> tuple[Array, Array]:
        """(m + 1, d) positions and velocities at all times, from the unknowns (s d,)."""
        _, _, follow, offset = self._eliminated
        values = self._given.copy()
        own = z.reshape(len(self.slots), self.modes)
        values[self.slots] = own
        values[self._others] = (np.einsum("drs,sd->dr", follow, own) + offset).T
        states = values.reshape(self.count, 2, self.modes)
        if self.ends.circular:
            states = np.concatenate([states, states[:1]])
        return states[:, 0], states[:, 1]

    def place(self, node: int, velocity: bool) -> int | None:
        """Where the d unknowns of a node's position or velocity begin in z; None where they are known."""
        found = np.flatnonzero(self.slots == 2 * (node % self.count) + velocity)
        return int(found[0]) * self.modes if len(found) else None

    def known(self, node: int, velocity: bool) -> Vector:
        """(d,) the value of a state that is known."""
        return self._given[2 * (node % self.count) + velocity]


def _costly(matrices: Array, scale: Vector) -> Array:
    """(d, s, s) symmetric matrices without what is rounding: free motion between nodes costs nothing."""
    values, vectors = np.linalg.eigh(0.5 * (matrices + matrices.transpose(0, 2, 1)))
    values = np.where(values > _FREE_OF_COST * scale[:, None], values, 0.0)
    out = (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)
    costs = np.diagonal(out, axis1=1, axis2=2) > _FREE_OF_COST * scale[:, None]
    return out * costs[:, None, :] * costs[:, :, None]


def _inverse(matrices: Array, sizes: Array) -> Array:
    """(d, r, r) of symmetric matrices; what they do not determine, but for rounding of numbers of some sizes (d, r), is
    taken as small as can be."""
    if not matrices.shape[1]:
        return matrices
    own = np.diagonal(matrices, axis1=1, axis2=2)
    costs = own > _FREE_OF_COST * sizes
    unit = np.where(costs, 1.0 / np.sqrt(np.maximum(own, np.finfo(np.float64).tiny)), 0.0)
    values, vectors = np.linalg.eigh(matrices * unit[:, :, None] * unit[:, None, :])
    least = _FREE_OF_COST * matrices.shape[1] * values[:, -1:]
    some = values > np.maximum(least, 0.0)
    inner = vectors * np.where(some, 1.0 / np.where(some, values, 1.0), 0.0)[:, None, :]
    return (inner @ vectors.transpose(0, 2, 1)) * unit[:, :, None] * unit[:, None, :]


def node_times(times: Sequence[float], duration: float, same: float) -> Vector:
    """(m + 1,) 0, the times of keys, and the duration; what is nearer than `same` [s] is one."""
    out = [0.0]
    for time in sorted(times):
        if time - out[-1] > same and duration - time > same:
            out.append(float(time))
    return np.array([*out, float(duration)])
