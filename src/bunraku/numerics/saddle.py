"""Saddle-point systems: a symmetric matrix bordered by linear conditions.

    [ A   Jᵀ ] [ dx ]   [ f ]
    [ J  −1/k ] [ λ  ] = [ c ]

A is assembled on a fixed pattern and may itself hold auxiliary unknowns with negative pivots; k is the stiffness
of each condition (∞: hard). Rows and columns are equilibrated, and a hard row gets the tiny pivot −δ: the matrix
is then quasi-definite, so LDLᵀ needs no pivoting in any order, and refinement against the exact matrix takes δ
back out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np

from bunraku.contracts import Array, Factorisation, Sparse, Stencil, Vector

from .assembly import Pattern, SymmetricProduct

_SETTLED = 1e-11  # relative residual at which refinement has nothing left to do
_DELTA = {"float64": 1e-8, "float32": 1e-6}


@dataclass(frozen=True)
class SaddleResult:
    """A solution and its quality."""

    primal: Vector
    """(N,) dx, auxiliary unknowns included"""
    multipliers: Vector
    """(r,) λ: the force of the conditions on A's unknowns is −Jᵀλ"""
    error: float
    """largest residual left, relative to the right-hand side, in equilibrated rows; ∞ if not looked at"""


class SaddleSystem:
    """Assembles, factorises and solves bordered systems of one pattern."""

    def __init__(
        self, stencils: Sequence[Stencil], size: int, jacobian: Sparse, factorisation: Factorisation,
        *, single: bool = False,
    ) -> None:  # fmt: skip
        """`size` is A's number of unknowns N; `jacobian` (r, ≤ N) CSR is constant."""
        self.size, self._rows = size, jacobian.shape[0]
        coo = jacobian.tocoo()
        border = Stencil(coo.row[:, None].astype(np.int64) + size, coo.col[:, None].astype(np.int64))
        self._border = coo.data[:, None, None]
        self._border_rows, self._border_columns = coo.row, coo.col
        own = Stencil(np.arange(size, size + self._rows)[:, None])
        self.pattern = Pattern.of([*stencils, border, own], size + self._rows)
        self._product = SymmetricProduct.of(self.pattern)
        self._buffer = np.empty(self.pattern.buffer_length)
        self._diagonal = self.pattern.indptr[:-1]  # the first stored entry of a row is its diagonal
        self._factorisation = factorisation
        self._delta = _DELTA["float32" if single else "float64"]
        factorisation.analyse(self.pattern.indptr, self.pattern.indices)

    @property
    def solver_name(self) -> str:
        """What the run reports."""
        return self._factorisation.name

    def factor(self, blocks: Sequence[Array], stiffness: Vector) -> None:
        """Take the local blocks of A and the stiffness k (r,) of the conditions, and factorise."""
        weight, slack = _split_stiffness(stiffness)
        self._weight = weight
        border = self._border * weight[self._border_rows][:, None, None]
        values = self.pattern.assemble([*blocks, border, -slack[:, None, None]], self._buffer)
        scale = self._equilibration(values, slack, border.reshape(-1))
        _scale(self.pattern.indptr, self.pattern.indices, values, scale)
        self._values, self._scale = values, scale
        self.refactor()

    def refactor(self) -> None:
        """Factorise the assembled matrix (again)."""
        self._factorisation.factor(self._regularised(self._values))

    def _equilibration(self, values: Vector, slack: Vector, border: Vector) -> Vector:
        """(N + r,) one over the root of each unknown's own stiffness; for a condition, of its compliance."""
        diagonal = np.abs(values[self._diagonal])
        size = self.size
        diagonal[:size][diagonal[:size] == 0.0] = 1.0
        share = border**2 / diagonal[self._border_columns]
        compliance = np.bincount(self._border_rows, weights=share, minlength=self._rows)
        diagonal[size:] = np.where(compliance + slack > 0, compliance + slack, 1.0)
        return 1.0 / np.sqrt(diagonal)

    def _regularised(self, values: Vector) -> Vector:
        if not self._rows:
            return values
        out = values.copy()
        out[self._diagonal[self.size :]] -= self._delta
        return out

    def solve(self, force: Vector, conditions: Vector, *, rounds: int = 12) -> SaddleResult:
        """For right-hand sides f (N,) and c (r,) = goals − J x."""
        b = np.concatenate([force, self._weight * conditions]) * self._scale
        y = trial = self._factorisation.solve(b)
        error = np.inf
        scale = float(np.abs(b).max(initial=0.0)) or 1.0
        for _ in range(rounds - 1):
            residual = b - self._product.times(self._values, trial)
            size = float(np.abs(residual).max(initial=0.0)) / scale
            if not size < error:
                break  # the last correction made it no better: keep what was best
            stalled = size > 0.5 * error
            y, error = trial, size
            if stalled or error <= _SETTLED:
                break
            trial = y + self._factorisation.solve(residual)
        y = y * self._scale
        return SaddleResult(y[: self.size], self._weight * y[self.size :], error)

    def inertia(self) -> tuple[int, int]:
        """Positive and negative pivots of the last factor."""
        return self._factorisation.inertia()


def _split_stiffness(stiffness: Vector) -> tuple[Vector, Vector]:
    """Weights w and slacks u with w²/u = k, finite for every k from 0 to ∞."""
    hard = np.isinf(stiffness)
    finite = np.where(hard, 0.0, stiffness)
    weight = np.where(hard, 1.0, np.sqrt(finite / (1.0 + finite)))
    return weight, np.where(hard, 0.0, 1.0 / (1.0 + finite))


@numba.njit(parallel=True, cache=True)
def _scale(indptr, indices, values, scale):
    for row in numba.prange(len(indptr) - 1):
        for k in range(indptr[row], indptr[row + 1]):
            values[k] *= scale[row] * scale[indices[k]]
