"""Saddle-point systems: a symmetric matrix bordered by linear conditions.

    [ A   Jᵀ ] [ dx ]   [ f ]
    [ J  −1/k ] [ λ  ] = [ c ]

A is assembled on a fixed pattern and may itself hold auxiliary unknowns with negative pivots; k is the stiffness
of each condition (∞: hard), or 1/k a 3 × 3 compliance of three rows that yield together. Rows and columns are
equilibrated, and a hard row gets the small pivot −δ: the matrix is then quasi-definite, so LDLᵀ needs no pivoting in
any order, and refinement against the exact matrix takes δ back out. A row eliminated before the unknowns it holds adds
JᵀJ/δ to A, beside which single precision must not lose A: so δ is a share of the row's largest entry squared. A row
that holds one unknown (a pin) may be as stiff as it likes: what is lost is only what the pin overrules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numba
import numpy as np

from bunraku.contracts import Array, Factorisation, Integers, Sparse, Stencil, Vector

from .assembly import Pattern, SymmetricProduct

_SETTLED = 1e-11  # relative residual at which refinement has nothing left to do
_ROUNDING = 1e-12  # share of the forces, in equilibrated rows: what conditions miss by less counts as nothing
_ENOUGH = 1e-8  # relative residual that a refined solution must reach
_USABLE = 1e-3  # relative residual that a solution taken as it comes must have: beyond, it is no direction
_MOST_CORRECTIONS = 4  # of a solution that is not usable as it comes
_DELTA = 1e-8  # the pivot −δ of a hard row in double precision
_SINGLE_DELTA, _SINGLE_LEAST = 1e-4, 1e-6  # in single: this share of the row's largest entry squared, and at least


@dataclass(frozen=True)
class SaddleResult:
    """A solution and its quality."""

    primal: Vector
    """(N,) dx, auxiliary unknowns included"""
    multipliers: Vector
    """(r,) λ: the force of the conditions on A's unknowns is −Jᵀλ"""
    error: float
    """largest residual left, relative to the right-hand side, forces and conditions apart; ∞ if not looked at"""


class SaddleSystem:
    """Assembles, factorises and solves bordered systems of one pattern."""

    def __init__(
        self, stencils: Sequence[Stencil], size: int, jacobian: Sparse, factorisation: Factorisation,
        *, triples: Integers | None = None, single: bool = False, double: Callable[[], Factorisation] | None = None,
    ) -> None:  # fmt: skip
        """`size` is A's number of unknowns N; `jacobian` (r, ≤ N) CSR has the pattern of all that follow.

        `triples` (t, 3) are the rows that may yield together. `single` says that `factorisation` works in single
        precision; `double` makes one that does not.
        """
        self.size, self._rows = size, jacobian.shape[0]
        coo = jacobian.tocoo()
        border = Stencil(coo.row[:, None].astype(np.int64) + size, coo.col[:, None].astype(np.int64))
        self._border, self._border_rows = coo.data, coo.row
        self._pins = np.bincount(coo.row, minlength=self._rows) == 1
        own = Stencil(np.arange(size, size + self._rows)[:, None])
        self._triples = np.zeros((0, 3), np.int64) if triples is None else triples
        together = [Stencil(self._triples + size)] if len(self._triples) else []
        self._fixed = Pattern.of([*stencils, border, own, *together], size + self._rows)
        self._factorisation = factorisation
        self._single, self._make_double = single, double
        self._current = factorisation
        self._buffer = np.empty(self._fixed.buffer_length)
        self._solved: tuple[Vector, Vector] | None = None  # the last right-hand side with this factor, and its solution
        self._take(self._fixed)

    def _take(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self._product = SymmetricProduct.of(pattern)
        self._diagonal = pattern.indptr[:-1]  # the first stored entry of a row is its diagonal
        rows = np.repeat(np.arange(pattern.size), np.diff(pattern.indptr))
        between = np.flatnonzero((rows < self.size) & (pattern.indices >= self.size))
        self._between = between, rows[between], pattern.indices[between]  # unknowns and conditions: entry, row, column
        pinned = between[self._pins[pattern.indices[between] - self.size]]
        pinned = pinned[np.bincount(rows[pinned], minlength=self.size)[rows[pinned]] == 1]
        self._pinned = pinned, rows[pinned], pattern.indices[pinned]  # the same, of unknowns with one pin
        self._double: Factorisation | None = None
        self._factorisation.analyse(pattern.indptr, pattern.indices)

    def reserve(self, pairs: Integers) -> None:
        """Make room for loose blocks between points (p, 2), instead of any before; needs a new analysis."""
        self._take(self._fixed.with_pairs(pairs))

    @property
    def solver_name(self) -> str:
        """What the run reports."""
        return self._factorisation.name

    def factor(
        self, blocks: Sequence[Array], stiffness: Vector, *, border: Vector | None = None,
        compliance: Array | None = None, exact: bool = False,
    ) -> None:  # fmt: skip
        """Take the local blocks of A and the stiffness k (r,) of the conditions, and factorise; `exact`: in double
        precision, whose pivots have the signs of the matrix's own but for rounding.

        `border` (nnz,) are the Jacobian's values where they have changed; `compliance` (t, 3, 3) is that of the
        triples, zero for those that do not yield.
        """
        self.assemble(blocks, stiffness, border=border, compliance=compliance)
        self._current = self._factorisation
        if not exact or not self._refactor_in_double():
            self.refactor()

    def assemble(
        self, blocks: Sequence[Array], stiffness: Vector, *, border: Vector | None = None,
        compliance: Array | None = None, loose: tuple[Integers, Array] | None = None,
    ) -> int:  # fmt: skip
        """Take what `factor` takes; equilibrate.

        `loose` are blocks (m, 3k, 3k) on points (m, k) that may be others each time; returned is for how many of their
        3 × 3 parts `reserve` has made no room: these count on the diagonal.
        """
        weight, slack = _split_stiffness(stiffness)
        self._weight = weight
        bordering = ((self._border if border is None else border) * weight[self._border_rows])[:, None, None]
        together = []
        if len(self._triples):
            together.append(np.zeros((len(self._triples), 3, 3)) if compliance is None else -compliance)
        values = self.pattern.assemble([*blocks, bordering, -slack[:, None, None], *together], self._buffer)
        outside = 0 if loose is None else self.pattern.add_blocks(values, *loose)
        scale = self._equilibration(values)
        _scale(self.pattern.indptr, self.pattern.indices, values, scale)
        self._values, self._scale = values, scale
        return outside

    def refactor(self) -> None:
        """Factorise the assembled matrix (again)."""
        self._current, self._solved = self._factorisation, None
        self._current.factor(self._regularised(self._values, single=self._single))

    def _refactor_in_double(self) -> bool:
        """Factorise once more where single precision was not enough; whether there is anything better."""
        if not self._single or self._make_double is None:
            return False
        if self._double is None:
            self._double = self._make_double()
            self._double.analyse(self.pattern.indptr, self.pattern.indices)
        if self._current is self._double:
            return False
        self._current, self._solved = self._double, None
        self._current.factor(self._regularised(self._values, single=False))
        return True

    def _equilibration(self, values: Vector) -> Vector:
        """(N + r,) one over the root of each unknown's own stiffness; for a dual one, of what it feels of others."""
        felt = np.abs(values[self._diagonal])
        if (values[self._diagonal[: self.size]] > 0.0).all():  # no dual unknowns but the conditions
            entry, row, column = self._between
            felt += np.bincount(column, values[entry] ** 2 / felt[row], self.pattern.size)
        else:
            _felt(self.pattern.indptr, self.pattern.indices, values, self.size, felt)
        return 1.0 / np.sqrt(np.where(felt > 0.0, felt, 1.0))

    def _regularised(self, values: Vector, *, single: bool) -> Vector:
        if not self._rows:
            return values
        out, pivots = values.copy(), np.full(self._rows, _DELTA)
        if single:
            largest = np.zeros(self._rows)
            entry, _, column = self._between
            np.maximum.at(largest, column - self.size, values[entry] ** 2)
            pivots = np.where(self._pins, _SINGLE_LEAST, np.maximum(_SINGLE_DELTA * largest, _SINGLE_LEAST))
        out[self._diagonal[self.size :]] -= pivots
        return out

    def solve(self, force: Vector, conditions: Vector, *, rounds: int = 12) -> SaddleResult:
        """For right-hand sides f (N,) and c (r,) = goals − J x; `rounds=1` takes the first usable solution.

        Where refinement does not get there (an ill-conditioned system in single precision) the same matrix is
        factorised in double, for this matrix only: what a step does never depends on the steps before.
        """
        b = np.concatenate([force, self._weight * conditions]) * self._scale
        enough = _ENOUGH if rounds > 1 else _USABLE
        y, error = self._refined(b, rounds, enough)
        if not error <= enough and self._refactor_in_double():
            y, error = self._refined(b, rounds, enough)
        y = y * self._scale
        return SaddleResult(y[: self.size], self._weight * y[self.size :], error)

    def _refined(self, b: Vector, rounds: int, enough: float) -> tuple[Vector, float]:
        """A solution and its error; corrected `rounds` times, or while it is not good `enough`.

        Asked again for the same, more exactly, it goes on from where it was.
        """
        begun = self._solved is not None and np.array_equal(self._solved[0], b)
        y = trial = (
            self._solved[1] if begun and self._solved is not None else self._onto_pins(self._current.solve(b), b)
        )
        error, (whole, least) = np.inf, self._scales(b)
        for done in range(max(rounds, _MOST_CORRECTIONS)):
            residual = self._product.residual(self._values, trial, b)
            force, missed = _largest(residual[: self.size]), _largest(residual[self.size :])
            size = max(force / whole, missed / least if missed > _ROUNDING * whole else 0.0)
            if not size < error:
                break  # the last correction made it no better: keep what was best
            stalled = size > 0.5 * error
            y, error = trial, size
            if stalled or error <= _SETTLED or (done >= rounds - 1 and error <= enough):
                break
            trial = self._onto_pins(y + self._current.solve(residual), b)
        self._solved = b, y
        return y, error

    def _onto_pins(self, y: Vector, b: Vector) -> Vector:
        """A solution (N + r,) with pinned unknowns moved to where hard pins have them. The pivot −δ leaves them short
        of it by δ of the pin's force: a millionth for the unknowns around, but a condition is held to less than that,
        and each solution would need another solve."""
        entry, unknown, condition = self._pinned
        value = self._values[entry]
        hard = (self._values[self._diagonal[condition]] == 0.0) & (value != 0.0)
        y[unknown[hard]] = b[condition[hard]] / value[hard]
        return y

    def _scales(self, b: Vector) -> tuple[float, float]:
        """What a residual is compared with: forces with forces, conditions with conditions.

        Strong forces must not hide a missed condition; conditions already met are compared with a millionth of the
        forces, in equilibrated rows.
        """
        forces, conditions = _largest(b[: self.size]), _largest(b[self.size :])
        whole = max(forces, conditions) or 1.0
        return whole, max(conditions, 1e-6 * whole)

    def scaled(self) -> Vector:
        """(nnz,) of the pattern: the assembled matrix, equilibrated, as it is factorised in double precision."""
        return self._regularised(self._values, single=False)

    def inertia(self) -> tuple[int, int]:
        """Positive and negative pivots of the last factor."""
        return self._current.inertia()


def _largest(part: Vector) -> float:
    return float(np.abs(part).max(initial=0.0))


def _split_stiffness(stiffness: Vector) -> tuple[Vector, Vector]:
    """Weights w and slacks u with w²/u = k, finite for every k from 0 to ∞."""
    hard = np.isinf(stiffness)
    finite = np.where(hard, 0.0, stiffness)
    weight = np.where(hard, 1.0, np.sqrt(finite / (1.0 + finite)))
    return weight, np.where(hard, 0.0, 1.0 / (1.0 + finite))


@numba.njit(cache=True, error_model="numpy")
def _felt(indptr, indices, values, own, out):
    """Adds to `out`, which has |a_ii|, what each unknown feels. Primal ones (positive diagonal): Σ a_ij²/|a_jj| over
    the dual j of A itself (the first `own` unknowns), the stiffness once they are eliminated. Dual ones: Σ a_ij²/felt_i
    over primal i.
    """
    size = len(out)
    for dual in range(2):  # first the primal ones, then with them the dual ones
        for row in range(size):
            for k in range(indptr[row] + 1, indptr[row + 1]):
                first, second = row, indices[k]
                if values[indptr[first]] <= 0.0:
                    first, second = second, first
                if values[indptr[first]] <= 0.0 or values[indptr[second]] > 0.0:
                    continue  # both primal or both dual
                square = values[k] * values[k]
                if dual == 1:
                    out[second] += square / out[first]
                elif second < own and values[indptr[second]] < 0.0:
                    out[first] += square / -values[indptr[second]]


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _scale(indptr, indices, values, scale):
    for row in numba.prange(len(indptr) - 1):
        for k in range(indptr[row], indptr[row + 1]):
            values[k] *= scale[row] * scale[indices[k]]
