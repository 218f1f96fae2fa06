"""The quadratic model of a least-squares problem at a point, scaled, with hard rows eliminated.

B = H + Jᵀ w J, perhaps with an estimate of the rows' own curvature, stands for the Hessian. With an orthonormal basis Z
of the steps that hard rows do not notice, a step is one that meets them (the smallest; in least squares where they
contradict each other) plus Z u, with Zᵀ B Z u = −Zᵀ (…) by Cholesky. Everything is scaled to a unit diagonal of
H + Jᵀ w J, so units do not matter.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, eigh, qr
from scipy.linalg.lapack import dpotrf, dpotrs  # type: ignore[attr-defined]

from bunraku.contracts import Array, Vector

from .squares_problem import SquaresForces, SquaresPoint, SquaresProblem

_DEPENDENT = 1e-10  # a hard row that is this near to others, of its length, follows from them
_LEAST_BEND = 1e-3  # share of the energy's own stiffness that a direction counts with at least
_SADDLE = 1e-6  # of the energy's own stiffness: what bends down by more is no minimum
_LEAST_PIVOT = 1e-15  # added to the unit diagonal: what no row and no energy sees stays where it is
_MOST_DAMPING = 1e31
_LARGE, _SPARSE = 100_000, 0.1  # numbers of a Jacobian from which zeros are looked for, and the share of others then
_TINY = float(np.finfo(np.float64).tiny)
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class SquaresStep:
    """A step and what it promises."""

    z: Vector
    """(n,)"""
    elastic: float
    """by how much ½ zᵀ H z + h·z changes"""
    curved: float
    """what the model's estimate of the rows' curvature adds to that"""
    residual: Vector
    """(m − e,) soft rows that would be left, by the model"""
    missed: Vector
    """(e,) hard rows that would be left"""
    met: float
    """length of the part that meets the hard rows, scaled"""
    decrement: float
    """√ of twice what the part along them would win"""

    def halved(self, point: SquaresPoint) -> SquaresStep:
        """Half of the step from a point, as far as rows are concerned."""
        residual, missed = 0.5 * (point.residual + self.residual), 0.5 * (point.missed + self.missed)
        return replace(self, z=0.5 * self.z, residual=residual, missed=missed)


class SquaresModel:
    """The model at a point."""

    def __init__(self, problem: SquaresProblem, point: SquaresPoint) -> None:
        matrix = problem.hessian + gram(point.jacobian, point.weights)
        diagonal = np.diagonal(matrix)
        floor = _EPS * diagonal.max(initial=0.0)
        unit = 1.0 / np.sqrt(np.where(diagonal > floor, diagonal, max(floor, _TINY)))
        self.unit = unit if floor > 0.0 else np.ones(len(diagonal))
        """(n,) of the unknowns"""
        self.matrix = matrix * self.unit * self.unit[:, None]
        # Damped by the energy's own stiffness, stiff rows let a step go as far along them as slack ones do.
        stiffness = np.diagonal(problem.hessian) * self.unit**2
        self.damped = np.where(stiffness > floor * self.unit**2, stiffness, diagonal * self.unit**2)
        self.problem, self.point = problem, point
        self.curvature: Array | None = None
        """(n, n) the estimate of the rows' own, scaled by nothing, if there is one"""
        self.gradient = point.gradient * self.unit
        self.conditions = point.conditions * self.unit
        self.size = float(np.linalg.norm(point.z * np.sqrt(self.damped) / self.unit)) + float(
            np.sqrt(2.0 * point.terms)
        )
        """what the length of a scaled step is compared with: √ of energy, not of what stiff rows would make of it"""
        self._split()

    def bent(self, curvature: Array) -> SquaresModel:
        """The same with an estimate (n, n) of the rows' curvature, scaled by nothing."""
        out = copy(self)
        for name in [name for name in vars(self) if isinstance(vars(SquaresModel).get(name), cached_property)]:
            del vars(out)[name]
        out.matrix, out.curvature = self.matrix + curvature * self.unit * self.unit[:, None], curvature
        return out

    def _split(self) -> None:
        """Orthonormal bases of what hard rows notice and of what they do not."""
        lengths = np.linalg.norm(self.conditions, axis=1)
        seen = lengths > 0.0
        self.across, self.along = np.zeros((len(self.gradient), 0)), None
        if not seen.any():
            return
        rows = self.conditions[seen] / lengths[seen, None]
        factors: tuple[Array, ...] = qr(rows.T, pivoting=True)  # type: ignore[assignment]
        basis, pivots = factors[0], np.abs(np.diagonal(factors[1]))
        rank = int((pivots > _DEPENDENT * pivots[0]).sum())
        self.across, self.along = basis[:, :rank], basis[:, rank:]
        self.left, self.values, self.right = np.linalg.svd(self.conditions @ self.across, full_matrices=False)

    def step(self, damping: float) -> SquaresStep:
        """Levenberg's step; what it promises is by the model without damping."""
        met = self._meeting(self.point.missed, damping)
        force = -(self.gradient + self.matrix @ met)
        free = self._inside(force, damping)
        step, win = (met + free) * self.unit, max(float(force @ free), 0.0)
        point, problem = self.point, self.problem
        elastic = float((problem.hessian @ (point.z + 0.5 * step) + problem.linear) @ step)
        curved = 0.0 if self.curvature is None else 0.5 * float(step @ (self.curvature @ step))
        return SquaresStep(
            step, elastic, curved, point.residual + point.jacobian @ step, point.missed + point.conditions @ step,
            float(np.linalg.norm(met)), float(np.sqrt(win)),
        )  # fmt: skip

    @cached_property
    def whole(self) -> SquaresStep:
        """The step without damping."""
        return self.step(0.0)

    @cached_property
    def forces(self) -> SquaresForces:
        """What rows would pull with after the whole step."""
        return SquaresForces(self.point.weights * self.whole.residual, self.multipliers)

    def length(self, step: SquaresStep) -> float:
        """Of a step, as damping measures it."""
        return float(np.linalg.norm(step.z / self.unit * np.sqrt(self.damped)))

    def damping_for(self, radius: float, least: float) -> float:
        """A damping, not less than `least`, with which a step is about as long as a radius."""
        damping = least
        while damping < _MOST_DAMPING and self.length(self.step(damping)) > 1.5 * radius:
            damping *= 4.0
        return damping

    def correction(self, step: SquaresStep, trial: SquaresPoint, damping: float) -> Vector:
        """(n,) what to add to a step for what its end, the trial, shows of the rows' curvature."""
        bent = trial.residual - self.point.residual - self.point.jacobian @ step.z
        met = self._meeting(trial.missed, damping)
        force = -(self.point.jacobian.T @ (self.point.weights * bent)) * self.unit - self.matrix @ met
        return (met + self._inside(force, damping)) * self.unit

    def _meeting(self, missed: Vector, damping: float) -> Vector:
        """(n,) the smallest scaled step that meets the hard rows, as well as can be."""
        if not self.across.shape[1]:
            return np.zeros(len(self.gradient))
        inverse = self.values / (self.values**2 + damping * self.values[0] ** 2)
        return -self.across @ (self.right.T @ (inverse * (self.left.T @ missed)))

    def _inside(self, force: Vector, damping: float) -> Vector:
        """(n,) the best scaled step that hard rows do not notice."""
        matrix, right = self._projected, force if self.along is None else self.along.T @ force
        if not len(right):
            return np.zeros_like(force)
        added = np.diag(_LEAST_PIVOT * len(right) + damping * self.damped)
        try:
            added = added if self.along is None else self.along.T @ added @ self.along
            found = _solved(matrix + added, right)
        except LinAlgError:  # semi-definite but for rounding, or indefinite by the rows' curvature: away from saddles
            values, vectors = self.bends
            found = vectors @ ((vectors.T @ right) / (np.maximum(np.abs(values), _LEAST_BEND) + damping))
        return found if self.along is None else self.along @ found

    @cached_property
    def bends(self) -> tuple[Vector, Array]:
        """(k,) how the model bends along (n, k) directions, beside what the energy alone does, from low to high."""
        size = len(self._projected)
        metric = np.diag(self.damped) if self.along is None else self.along.T @ np.diag(self.damped) @ self.along
        metric[np.diag_indices_from(metric)] += _EPS * np.trace(metric) / max(size, 1)
        values, vectors = eigh(self._projected, metric)
        return values, vectors

    def way_down(self) -> tuple[Vector, float] | None:
        """Where the model bends down: (n,) the direction in which it does most, as long as damping measures one, and by
        how much; None where this is a minimum but for rounding."""
        try:
            _factor(self._projected + _LEAST_PIVOT * len(self._projected) * np.eye(len(self._projected)))
            return None
        except LinAlgError:
            values, vectors = self.bends
        way, noise = vectors[:, 0], 1e-14 * len(values) * float(vectors[:, 0] @ vectors[:, 0])
        if values[0] >= -max(_SADDLE, noise):
            return None
        return (way if self.along is None else self.along @ way) * self.unit, float(values[0])

    @cached_property
    def _projected(self) -> Array:
        return self.matrix if self.along is None else self.along.T @ self.matrix @ self.along

    @cached_property
    def multipliers(self) -> Vector:
        """(e,) the forces with which hard rows hold the energy: gradient + conditionsᵀ multipliers = 0."""
        if not self.across.shape[1]:
            return np.zeros(len(self.point.missed))
        return -self.left @ ((self.right @ (self.across.T @ self.gradient)) / self.values)

    @cached_property
    def yielding(self) -> Vector:
        """(m,) the weight at which each row and the energy move each other equally: 1 / (j H⁻¹ jᵀ)."""
        rows = np.empty((len(self.problem.weights), len(self.unit)))
        rows[self.problem.hard], rows[~self.problem.hard] = self.point.conditions, self.point.jacobian
        stiffness = np.diagonal(self.problem.hessian)
        matrix = self.problem.hessian + np.diag(1e-9 * stiffness + _EPS * stiffness.max(initial=_TINY))
        moved = _solved(matrix, rows.T)
        return 1.0 / np.maximum(np.einsum("mn,nm->m", rows, moved), _TINY)

    @cached_property
    def blur(self) -> tuple[float, float]:
        """How long, scaled, steps are that rounding of rows alone asks for: along hard rows, and to meet them."""
        soft, hard = self.problem.blurred
        along = float(np.sqrt(self.point.weights @ soft**2))
        if not self.across.shape[1]:
            return along, 0.0
        return along, float(np.sqrt((hard**2 @ self.left**2) @ (1.0 / self.values**2)))

    def reducible(self, missed: Vector) -> float:
        """The length of the part of hard residuals (e,) that a step can change."""
        return float(np.linalg.norm(self.left.T @ missed)) if self.across.shape[1] else 0.0

    def cornered(self, reach: float) -> bool:
        """Whether hard rows are missed and no scaled step of a length `reach` would meet them noticeably better."""
        missed = float(np.linalg.norm(self.point.missed))
        better = reach * float(np.linalg.norm(self.conditions.T @ self.point.missed))
        return self.worst is not None and better <= 1e-5 * missed**2

    @cached_property
    def worst(self) -> int | None:
        """The hard row that is missed most, if any is missed noticeably."""
        if not len(self.point.missed):
            return None
        lengths = np.linalg.norm(self.conditions, axis=1)
        away = np.abs(self.point.missed) - np.maximum(1e-6 * lengths * self.size, self.problem.blurred[1])
        worst = int(np.argmax(away))
        return worst if away[worst] > 1e-12 * np.abs(self.point.missed).max() and away[worst] > 0.0 else None


def gram(rows: Array, weights: Vector) -> Array:
    """(n, n) rowsᵀ weights rows, of rows (m, n). Of many keys each sees one moment only: then nearly all are zeros."""
    if rows.size < _LARGE or np.count_nonzero(rows) > _SPARSE * rows.size:
        return (rows.T * weights) @ rows
    some = sparse.csr_array(rows)
    return (some.T @ (some * weights[:, None])).toarray()


def _factor(matrix: Array) -> Array:
    """(n, n) Cholesky's factor, in the lower triangle; LAPACK itself, for these are small and many."""
    found, wrong = dpotrf(matrix, lower=1, clean=0)
    if wrong or not np.isfinite(np.diagonal(found)).all():
        raise LinAlgError("not positive definite")
    return found


def _solved(matrix: Array, right: Array) -> Array:
    """(n,) or (n, k) of a positive definite matrix (n, n)."""
    return dpotrs(_factor(matrix), right, lower=1)[0]
