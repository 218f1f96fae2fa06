"""A least-squares problem beside a quadratic energy, and what it says at a place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Flags, Vector, input_error

Rows = Callable[[Vector], tuple[Vector, Array]]
"""z (n,) → residuals (m,) and their Jacobian (m, n)"""
Bend = Callable[[Vector, Vector], Array]
"""z (n,), forces (m,) on rows → the Hessian (n, n) of forces · residuals"""


@dataclass(frozen=True, eq=False)
class SquaresProblem:
    """½ zᵀ H z + h·z + ½ Σ w r(z)², with r = 0 in rows of weight ∞."""

    hessian: Array
    """(n, n) symmetric positive semi-definite H"""
    linear: Vector
    """(n,) h"""
    weights: Vector
    """(m,) w, from 0 to ∞"""
    rows: Rows
    """z (n,) → r (m,) and its Jacobian (m, n)"""
    bend: Bend | None = None
    """z (n,), forces (m,) → Hessian (n, n) of forces · r(z); None: it is learnt on the way"""
    values: Callable[[Vector], Vector] | None = None
    """z (n,) → r (m,) alone, where that costs less"""
    rounding: Vector | None = None
    """(m,) how far rows are off by rounding, as differences of large numbers are; None: not at all"""
    slopes: Callable[[Vector], Array] | None = None
    """z (n,) → the Jacobian (m, n) alone, where that costs less"""

    def __post_init__(self) -> None:
        count = len(self.linear)
        if np.shape(self.hessian) != (count, count):
            raise input_error("the energy's matrix must fit its slope", got=(np.shape(self.hessian), (count,)))
        if np.ndim(self.weights) != 1 or not (np.asarray(self.weights) >= 0.0).all():
            raise input_error("weights of rows must be numbers from 0 to ∞", got=np.asarray(self.weights).tolist())

    @cached_property
    def hard(self) -> Flags:
        """(m,) rows that must be zero."""
        return np.isinf(self.weights)

    @cached_property
    def blurred(self) -> tuple[Vector, Vector]:
        """The rounding of soft and of hard rows."""
        blur = np.zeros(len(self.weights)) if self.rounding is None else self.rounding
        return blur[~self.hard], blur[self.hard]

    def at(self, z: Vector) -> SquaresPoint:
        """All there is to know at z (n,)."""
        return self.point(z, *self.rows(z))

    def residuals(self, z: Vector) -> tuple[Vector, Vector]:
        """Soft and hard rows at z (n,)."""
        found = self.rows(z)[0] if self.values is None else self.values(z)
        return found[~self.hard], found[self.hard]

    def trial(self, z: Vector) -> SquaresPoint:
        """The same, its Jacobian only once it is asked for, where rows alone cost less."""
        return self.at(z) if self.values is None or self.bend is None else self.point(z, self.values(z), None)

    def point(self, z: Vector, residual: Vector, jacobian: Array | None) -> SquaresPoint:
        """The same where rows (m,), and perhaps their Jacobian (m, n), at z are known already."""
        soft, weights = ~self.hard, self.weights[~self.hard]
        kept, elastic = residual[soft], self.hessian @ z
        terms = 0.5 * float(z @ elastic), float(self.linear @ z), 0.5 * float((weights * kept) @ kept)
        return SquaresPoint(
            self, z, elastic, terms[0] + terms[1], sum(terms), sum(map(abs, terms)), residual[self.hard], kept, weights,
            residual, jacobian,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SquaresPoint:
    """A place z and what the problem says there."""

    problem: SquaresProblem
    z: Vector
    pull: Vector
    """(n,) H z"""
    elastic: float
    """½ zᵀ H z + h·z"""
    value: float
    """what is minimised"""
    terms: float
    """sum of the terms of `value`, each without its sign"""
    missed: Vector
    """(e,) hard rows"""
    residual: Vector
    """(m − e,) soft rows"""
    weights: Vector
    """(m − e,)"""
    values: Vector
    """(m,) all rows"""
    known: Array | None
    """(m, n) their Jacobian, where it is known already"""

    @cached_property
    def slopes(self) -> Array:
        """(m, n) the Jacobian of all rows."""
        if self.known is not None:
            return self.known
        problem = self.problem
        return problem.rows(self.z)[1] if problem.slopes is None else problem.slopes(self.z)

    @property
    def rows(self) -> tuple[Vector, Array]:
        """All of them, and their Jacobian."""
        return self.values, self.slopes

    @cached_property
    def conditions(self) -> Array:
        """(e, n) the Jacobian of hard rows."""
        return self.slopes[self.problem.hard]

    @cached_property
    def jacobian(self) -> Array:
        """(m − e, n) the Jacobian of soft rows."""
        return self.slopes[~self.problem.hard] if self.problem.hard.any() else self.slopes

    @cached_property
    def gradient(self) -> Vector:
        """(n,) of `value`"""
        return self.pull + self.problem.linear + self.jacobian.T @ (self.weights * self.residual)

    @property
    def countable(self) -> bool:
        """Whether the value, and what is missed, are numbers."""
        return bool(np.isfinite(self.value) and np.isfinite(self.missed).all())

    def weighted(self, problem: SquaresProblem) -> SquaresPoint:
        """The same place in a problem with other weights."""
        return problem.point(self.z, *self.rows)

    @property
    def finite(self) -> bool:
        """Whether every number is one."""
        return self.countable and bool(np.isfinite(self.gradient).all() and np.isfinite(self.slopes).all())

    def bend(self, other: SquaresPoint, forces: SquaresForces) -> Vector:
        """(n,) by how much the rows' curvature alone changes the Lagrangian's gradient on the way to another point."""
        soft = (other.jacobian - self.jacobian).T @ forces.soft
        return soft + (other.conditions - self.conditions).T @ forces.hard


@dataclass(frozen=True, eq=False)
class SquaresForces:
    """What rows pull with, or may pull with at most."""

    soft: Vector
    """(m − e,)"""
    hard: Vector
    """(e,)"""

    def of(self, problem: SquaresProblem) -> Vector:
        """(m,) in the order of a problem's rows."""
        out = np.empty(len(problem.weights))
        out[problem.hard], out[~problem.hard] = self.hard, self.soft
        return out
