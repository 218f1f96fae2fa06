"""Keys as rows of a least-squares problem, beside what the motion costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import eigh

from bunraku.contracts import Array, Points, Vector
from bunraku.dynamics import Goal
from bunraku.numerics import SquaresProblem

from .keys import Key
from .nodes import Nodes
from .opposed import LIMP, REACHABLE, opposed
from .reduced import Reduced
from .straightened import straightened

FIRM = 1e6
"""how many times the stiffness of the motion itself a key of weight 1 is held with: what it leaves is one part in so
many of the way it asks for"""
_DEPENDENT = 1e-6
"""share of the largest below which rows that must be met exactly do not go their own ways"""
_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
Speeds = tuple[Vector, Array, Array]
"""velocities of what is observed, and their derivatives by modal coordinates and by their speeds"""


class Sight(Protocol):
    """What is observed of a warped body: `Observed`, or a part of it."""

    @property
    def rows(self) -> int:
        """How many."""
        ...

    @property
    def rest(self) -> Array:
        """At rest."""
        ...

    def positions(self, q: Vector) -> tuple[Vector, Array]:
        """(r,) and (r, d)."""
        ...

    def places(self, q: Vector) -> Vector:
        """(r,) without the derivative."""
        ...

    def velocities(self, q: Vector, v: Vector) -> tuple[Vector, Array, Array]:
        """(r,), and (r, d) by q and by v."""
        ...

    def speeds(self, q: Vector, v: Vector) -> Vector:
        """(r,) velocities without derivatives."""
        ...

    def linear(self) -> Array:
        """(r, d) the derivative at rest."""
        ...

    def goal(self, values: Array) -> Goal:
        """What rows should be."""
        ...

    def pulls(self, forces: Vector) -> Points:
        """What forces (r,) on the rows pull with."""
        ...


@dataclass(frozen=True, eq=False)
class Row:
    """The rows of one key's positions or velocities."""

    key: int
    """number of the key"""
    velocity: bool
    node: int
    observed: Sight
    goal: Goal
    unit: float
    """√kg: rows times this count by mass"""
    weight: float
    """before it is scaled"""

    @property
    def count(self) -> int:
        """Of rows."""
        return self.observed.rows

    @property
    def sight(self) -> tuple[int, int]:
        """What is observed, and when."""
        return self.node, id(self.observed)


@dataclass(frozen=True, eq=False)
class Pulls:
    """Fields (k, 3) of forces at one node, for `Bends`."""

    still: Points | None = None
    """of rows of positions"""
    moving: Points | None = None
    """of rows of velocities"""

    def joined(self, field: Points, moving: bool) -> Pulls:
        """With another field."""
        if moving:
            return Pulls(self.still, field if self.moving is None else self.moving + field)
        return Pulls(field if self.still is None else self.still + field, self.moving)


@dataclass(frozen=True, eq=False)
class Problem:
    """The unknowns of nodes, and what keys ask of them."""

    body: Reduced
    nodes: Nodes
    keys: Sequence[Key]
    node_of: Sequence[int]
    """(k,) the node of each key"""
    rows: Sequence[Row]

    weighed: Vector | None = None
    """(m,) weights of the rows, where they are known already"""

    @cached_property
    def squares(self) -> SquaresProblem:
        """For the solver."""
        hessian, linear = self.nodes.energy
        if not self.body.warped:
            return SquaresProblem(hessian, linear, self.weights, self.residuals, rounding=self._rounding)
        return SquaresProblem(
            hessian, linear, self.weights, self.residuals, self.bend, self.values, self._rounding, self.slopes
        )

    @property
    def _rounding(self) -> Vector:
        """(m,) of the rows: differences of numbers as large as where things are."""
        sizes = [self._extent(row) for row in self.rows]
        return _ROUNDING * np.repeat(sizes, [row.count for row in self.rows])

    def _extent(self, row: Row) -> float:
        """How large the numbers are of which a row is the difference."""
        rest = 0.0 if row.velocity else float(np.abs(row.observed.rest).max())
        return row.unit * max(float(np.abs(row.goal.values).max()), rest)

    def residuals(self, z: Vector) -> tuple[Vector, Array]:
        """(m,) [√kg m, √kg m/s] how far rows are from their goals, and (m, n) the derivative."""
        if not self.rows:
            return np.zeros(0), np.zeros((0, len(z)))
        parts = self.parts(z)
        return np.concatenate([one[0] for one in parts]), np.concatenate([one[1] for one in parts])

    def values(self, z: Vector) -> Vector:
        """(m,) how far rows are from their goals, without derivatives; of a warped body."""
        out = []
        for row in self.rows:
            (q, _), (v, _) = self._state(z, row.node, False), self._state(z, row.node, True)
            found = row.observed.speeds(q, v) if row.velocity else row.observed.places(q)
            out.append(row.unit * (found - row.goal.values))
        return np.concatenate(out) if out else np.zeros(0)

    def slopes(self, z: Vector) -> Array:
        """(m, n) the derivative of the rows; of a warped body."""
        speeds, out = self._speeds(z), np.zeros((sum(row.count for row in self.rows), len(z)))
        begin = 0
        for row in self.rows:
            part, known = out[begin : begin + row.count], speeds.get(row.sight)
            begin += row.count
            if known is None:
                self._spread(row, part, row.observed.positions(self._state(z, row.node, False)[0])[1])
            else:  # the derivative of velocities by speeds is that of positions
                self._spread(row, part, known if row.velocity else known[2])
        return out

    def parts(self, z: Vector) -> list[tuple[Vector, Array]]:
        """As `residuals`, row by row of `rows`."""
        speeds = self._speeds(z)
        return [self.of(row, z, speeds.get(row.sight)) for row in self.rows]

    def of(self, row: Row, z: Vector, speeds: Speeds | None = None) -> tuple[Vector, Array]:
        """A row, and its derivative; `speeds` are the velocities of what it observes, where they are known."""
        q, _ = self._state(z, row.node, False)
        out = np.zeros((row.count, len(z)))
        if row.velocity:
            found = speeds or self._velocities(row, q, self._state(z, row.node, True)[0])
            value, slope = found[0], found
        else:
            value, slope = self._positions(row, q) if speeds is None else (self._places(row, q), speeds[2])
        self._spread(row, out, slope)
        return row.unit * (value - row.goal.values), out

    def _speeds(self, z: Vector) -> dict[tuple[int, int], Speeds]:
        """Velocities of what rows of velocities observe."""
        return {
            row.sight: self._velocities(row, self._state(z, row.node, False)[0], self._state(z, row.node, True)[0])
            for row in self.rows
            if row.velocity
        }

    def _spread(self, row: Row, out: Array, slope: Array | Speeds) -> None:
        """Put derivatives of a row, or those of its velocities, at the unknowns they are by: into (r, n)."""
        at, beside = (self._begins[2 * (row.node % self.nodes.count) + moving] for moving in (0, 1))
        modes = self.nodes.modes
        by_place = slope[1] if isinstance(slope, tuple) else slope
        if at is not None:
            out[:, at : at + modes] = row.unit * by_place
        if beside is not None and isinstance(slope, tuple):
            out[:, beside : beside + modes] = row.unit * slope[2]

    def bend(self, z: Vector, forces: Vector) -> Array:
        """(n, n) the Hessian of forces (m,) · rows at z: one field of pulls a node, whatever its rows are of."""
        out, modes = np.zeros((len(z), len(z))), self.nodes.modes
        for node, pulls in self._pulls(forces).items():
            (q, at), (v, beside) = self._state(z, node, False), self._state(z, node, True)
            if at is None:
                continue
            own = slice(at, at + modes)
            out[own, own], mixed = self.body.bends.joined(q, v, pulls.still, pulls.moving, mixed=beside is not None)
            if mixed is not None and beside is not None:
                other = slice(beside, beside + modes)
                out[own, other] = mixed
                out[other, own] = mixed
        return out

    def _pulls(self, forces: Vector) -> dict[int, Pulls]:
        """What forces on rows pull with, by node."""
        out: dict[int, Pulls] = {}
        ends = np.cumsum([row.count for row in self.rows])
        for row, part in zip(self.rows, np.split(forces, ends[:-1]), strict=True):
            node = row.node % self.nodes.count
            out[node] = out.get(node, Pulls()).joined(row.observed.pulls(row.unit * part), row.velocity)
        return out

    def _positions(self, row: Row, q: Vector) -> tuple[Vector, Array]:
        if self.body.warped:
            return row.observed.positions(q)
        linear = row.observed.linear()
        return row.observed.rest.reshape(-1) + linear @ q, linear

    def _places(self, row: Row, q: Vector) -> Vector:
        return row.observed.places(q) if self.body.warped else self._positions(row, q)[0]

    def _velocities(self, row: Row, q: Vector, v: Vector) -> Speeds:
        if self.body.warped:
            return row.observed.velocities(q, v)
        linear = row.observed.linear()
        return linear @ v, np.zeros_like(linear), linear

    def _state(self, z: Vector, node: int, velocity: bool) -> tuple[Vector, int | None]:
        """(d,) a node's position or velocity, and where it begins in z."""
        at = self._begins[2 * (node % self.nodes.count) + velocity]
        return (self.nodes.known(node, velocity), None) if at is None else (z[at : at + self.nodes.modes], at)

    @cached_property
    def _begins(self) -> list[int | None]:
        """(2 nodes,) where position and velocity of each node begin in z."""
        return [self.nodes.place(slot // 2, bool(slot % 2)) for slot in range(2 * self.nodes.count)]

    @cached_property
    def weights(self) -> Vector:
        """(m,) of the rows: a key's own, times the stiffness that the motion has against what the key asks."""
        if self.weighed is not None or not self.rows:
            return np.zeros(0) if self.weighed is None else self.weighed
        return self.weights_of([row.weight for row in self.rows])

    def weights_of(self, own: Sequence[float]) -> Vector:
        """(m,) weights, where those of `rows` are these."""
        each = [one if np.isinf(one) else FIRM * one * stiff for one, stiff in zip(own, self.stiffnesses, strict=True)]
        return np.repeat(each, [row.count for row in self.rows])

    @cached_property
    def stiffnesses(self) -> list[float]:
        """By which the motion withstands each of `rows`."""
        return self._at_least([self.stiffness(row, *self.softness) for row in self.rows])

    def _at_least(self, alone: Sequence[float]) -> list[float]:
        """Stiffnesses as of each of `rows` alone; where some ways cost nothing, or little, as coming from afar does, at
        least what rows withstand each other with."""
        costless, soft = self.nodes.costless
        seen = [row for row in self.rows if self.nodes.place(row.node, row.velocity) is not None]
        if len(seen) < 2 or not (costless.shape[1] or self.nodes.from_afar):
            return list(alone)
        linear = [self._linear_rows(row) for row in seen]
        asked = [
            row.unit * self._asked(row) - part @ self.softness[1] for row, part in zip(seen, linear, strict=True)
        ]  # fmt: skip
        seconds = float(np.ptp(self.nodes.times))
        found = iter(opposed(linear, asked, [row.velocity for row in seen], soft, costless, seconds))
        return [max(one, next(found)) if row in seen else one for one, row in zip(alone, self.rows, strict=True)]

    def _linear_rows(self, row: Row) -> Array:
        """(r, n) a row without warp, by the unknowns."""
        out, at = np.zeros((row.count, self.nodes.dimension)), self.nodes.place(row.node, row.velocity)
        if at is not None:
            out[:, at : at + self.nodes.modes] = row.unit * row.observed.linear()
        return out

    @cached_property
    def softness(self) -> tuple[Array, Vector]:
        """(n, n) how unknowns give way, and (n,) where they are without keys."""
        inverse = self.nodes.softness
        return inverse, -inverse @ self.nodes.energy[1]

    @cached_property
    def straight_keys(self) -> list[Key]:
        """(k,) as they are before the warp."""
        return [straightened(key, self.body) for key in self.keys]

    def eased(self, exact: float) -> Problem:
        """The same where keys that must be met exactly have a weight instead: what modes cannot do, or what keys do not
        grant each other, is then missed as little as can be."""
        if not self.rows:
            return self
        own = [exact if np.isinf(row.weight) else row.weight for row in self.rows]
        return replace(self, weighed=self.weights_of(own))

    def reachable(self, z: Vector) -> bool:
        """Whether the modes can move what must be met exactly in all the ways it may ask for, at z."""
        exact = [row for row in self.rows if np.isinf(row.weight)]
        for node in {row.node % self.nodes.count for row in exact}:
            rows = np.concatenate([self.of(row, z)[1] for row in exact if row.node % self.nodes.count == node])
            lengths = np.linalg.norm(rows, axis=1)
            if rows.shape[0] > rows.shape[1] or not lengths.all():
                return False
            values = np.linalg.svd(rows / lengths[:, None], compute_uv=False)
            if values[-1] < _DEPENDENT * values[0]:
                return False
        return True

    def stiffness(self, row: Row, inverse: Array, free: Vector) -> float:
        """By which the motion withstands a row's key, along what the key asks, near rest."""
        at = self.nodes.place(row.node, row.velocity)
        if at is None:
            return 1.0
        own = slice(at, at + self.nodes.modes)
        linear = row.unit * row.observed.linear()
        asked = row.unit * self._asked(row) - linear @ free[own]
        values, vectors = _spectrum(linear, inverse[own, own])
        some = values > REACHABLE * max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny)
        along = vectors[:, some].T @ asked
        if not some.any():
            return 1.0
        if np.linalg.norm(along) <= 1e-9 * max(np.linalg.norm(asked), self._extent(row), 1e-300):
            return float(1.0 / values[some].mean())
        share = along**2 / np.sum(along**2)
        return float(np.sum(share / np.maximum(values[some], LIMP * (share @ values[some]))))

    def _asked(self, row: Row) -> Vector:
        """(r,) by how much rows should change from rest, turns linearised: a chord of them is no way modes go."""
        if row.velocity:
            return row.goal.values
        key = self.straight_keys[row.key] if self.body.warped else self.keys[row.key]
        assert key.positions is not None
        root = 1.0 if key.vertices is None else np.sqrt(self.body.mass[key.vertices])[:, None]
        return row.observed.goal(root * key.positions).values - row.observed.rest.reshape(-1)


def _spectrum(rows: Array, soft: Array) -> tuple[Vector, Array]:
    """(k,) and (r, k): eigenpairs, but those of zero, of rows (r, d) times `soft` (d, d) times their transpose. There
    are no more of them than modes, however many rows a key has."""
    values, vectors = eigh(soft)
    left, sizes, _ = np.linalg.svd(rows @ (vectors * np.sqrt(np.maximum(values, 0.0))), full_matrices=False)
    return sizes**2, left


def linearised(problem: Problem) -> Problem:
    """The same without warp, where keys ask for what the warp makes of them: of vertices that are turned, the turn's
    linearised displacement. Its solution, which is that of a linear system, is near that of the problem itself."""
    made = make_problem(problem.body.unwarped, problem.nodes, problem.straight_keys, problem.node_of)
    if not made.rows:
        return made
    # Places ask for the same in both, so they are withstood the same; velocities do not.
    inverse, free = made.softness
    stiff = made._at_least(
        [
            made.stiffness(row, inverse, free) if row.velocity else known
            for row, known in zip(made.rows, problem.stiffnesses, strict=True)
        ]
    )
    weights = [
        FIRM * (1.0 if np.isinf(row.weight) else row.weight) * k for row, k in zip(made.rows, stiff, strict=True)
    ]
    return replace(made, weighed=np.repeat(weights, [row.count for row in made.rows]))


def make_problem(body: Reduced, nodes_of: Nodes, keys: Sequence[Key], node_of: Sequence[int]) -> Problem:
    """Rows of all keys; `node_of` (k,) is the node of each."""
    rows = []
    total = float(np.sqrt(body.mass.sum()))
    for k, (key, node) in enumerate(zip(keys, node_of, strict=True)):
        observed = body.observe(key.vertices)
        unit = total if key.vertices is None else 1.0
        root = 1.0 if key.vertices is None else np.sqrt(body.mass[key.vertices])[:, None]
        for velocity, goal in ((False, key.positions), (True, key.velocities)):
            if goal is not None:
                rows.append(Row(k, velocity, node, observed, observed.goal(root * goal), unit, key.weight))
    return Problem(body, nodes_of, keys, tuple(node_of), rows)
