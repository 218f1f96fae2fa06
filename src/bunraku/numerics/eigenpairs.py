"""Lowest eigenpairs K φ = λ M φ of a sparse symmetric K without negative eigenvalues and a diagonal M.

Shift and invert with the direct solver, then Lanczos's method in *blocks* with full orthogonalisation: a symmetric body
has double and triple eigenvalues, of which one vector alone finds the second copy only by rounding, and a direct solver
takes many right-hand sides for little more than one. At the end Sylvester's law of inertia counts what lies below: the
signs of the pivots of K − σM say whether any was missed. Large problems go another way (`eigenpairs_large.py`).

In the scaled unknowns ψ = M^½ φ the problem is symmetric as it stands and orthogonality is the plain one. Vectors that
are known beforehand (rigid motion, λ = 0) are left out exactly: all that is done happens orthogonally to them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from bunraku.contracts import Array, Factorisation, Integers, Sparse, Vector, input_error

from .eigenpairs_large import lowest_by_single
from .factorisation import choose
from .pardiso import FactorisationError
from .threads import one_blas_thread

_log = logging.getLogger(__name__)

DENSE = 400
"""unknowns up to which the whole spectrum is computed instead"""
LARGE = 20_000
"""unknowns from which a factor in single precision pays"""
_SHIFT = 1e-9  # of the mean eigenvalue: far above rounding, far below what oscillates
_TOLERANCE = 1e-11  # of an eigenvalue of the inverse: how large the residual of its vector may be
_SEED = 20140701  # of the vectors that are begun with


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """The lowest ones, in order."""

    values: Vector
    """(k,) λ, from low to high, none below 0"""
    vectors: Array
    """(N, k) columns with φᵀMφ = 1; each has a sign of its own that does not depend on how it was found"""


def lowest_eigenpairs(
    stiffness: Sparse, mass: Vector, count: int, *, known: Array | None = None, threads: int | None = None,
    order: Integers | None = None,
) -> Eigenpairs:  # fmt: skip
    """The `count` lowest eigenpairs, every copy of a multiple one counted; fewer where there are not so many.

    Args:
        stiffness: (N, N) symmetric, positive semi-definite.
        mass: (N,) the diagonal of M, above 0.
        count: how many.
        known: (N, r) M-orthonormal vectors with K φ = 0 to leave out.
        threads: of the direct solver.
        order: (N,) of elimination, where one is known that suits (see `choose`).
    """
    size = len(mass)
    if stiffness.shape != (size, size) or not (mass > 0).all():
        raise input_error(
            "needs a square matrix and a mass above zero for every unknown", where="eigenpairs",
            got=f"{stiffness.shape}, {size} masses, the least {mass.min(initial=np.inf):.3g}",
        )  # fmt: skip
    root = np.sqrt(mass)
    aside = np.zeros((size, 0)) if known is None else root[:, None] * known
    count = min(count, size - aside.shape[1])
    if count <= 0:
        return Eigenpairs(np.zeros(0), np.zeros((size, 0)))
    if size <= max(DENSE, 3 * (count + aside.shape[1])):
        values, vectors = _all(stiffness, root, aside, count)
    else:
        with one_blas_thread():
            found = None if size < LARGE or aside.shape[1] else _by_single(stiffness, mass, count, threads, order)
            values, vectors = found or _Shifted(stiffness, mass, threads, order).lowest(count, aside)
    signs = np.where(np.random.default_rng(_SEED).normal(size=size) @ vectors < 0.0, -1.0, 1.0)
    return Eigenpairs(np.maximum(values, 0.0), signs * vectors / root[:, None])


def _all(stiffness: Sparse, root: Vector, aside: Array, count: int) -> tuple[Vector, Array]:
    """By the dense solver: what is known beforehand is lifted above everything else."""
    scaled = stiffness.toarray() / root[:, None] / root
    top = 2.0 * float(np.abs(scaled).sum(axis=1).max())
    values, vectors = eigh(scaled + top * (aside @ aside.T), subset_by_index=(0, count - 1))
    return values, vectors


def _by_single(
    stiffness: Sparse, mass: Vector, count: int, threads: int | None, order: Integers | None
) -> tuple[Vector, Array] | None:
    try:
        return lowest_by_single(stiffness, mass, count, upper_triangle(stiffness), threads, order)
    except FactorisationError:  # too soft somewhere for its few digits
        return None


class _Shifted:
    """(K + sM)⁻¹ in the scaled unknowns, with one symbolic analysis for every shift."""

    def __init__(self, stiffness: Sparse, mass: Vector, threads: int | None, order: Integers | None = None) -> None:
        self.root = np.sqrt(mass)
        self._mass = mass
        self._indptr, self._indices, self._upper = upper_triangle(stiffness)
        self._diagonal = self._indptr[:-1]
        self._shift = _SHIFT * float(np.mean(self._upper[self._diagonal] / mass))
        self._factor: Factorisation = choose(threads=threads, order=order)
        self._factor.analyse(self._indptr, self._indices)
        self._refactor(self._shift)

    def _refactor(self, shift: float) -> None:
        values = self._upper.copy()
        values[self._diagonal] += shift * self._mass
        self._factor.factor(values)

    def times(self, x: Array) -> Array:
        """(b, N) the inverse times rows (b, N)."""
        return self._factor.solve(x * self.root) * self.root

    def below(self, value: float) -> int:
        """How many eigenvalues of K are below a value."""
        self._refactor(-value)
        return self._factor.inertia()[1]

    def lowest(self, count: int, aside: Array) -> tuple[Vector, Array]:
        """λ (count,) and ψ (N, count)."""
        for block in (4, 8, 16):
            theta, vectors = _block_lanczos(self, count + 1, np.ascontiguousarray(aside.T), block)
            values = 1.0 / theta - self._shift
            if self._complete(values, count, aside.shape[1]):
                break
            self._refactor(self._shift)
        else:
            _log.warning("the lowest %d eigenvalues may not be all: the signs of the pivots do not agree", count)
        return values[:count], vectors[:, :count]

    def _complete(self, values: Vector, count: int, aside: int) -> bool:
        """Whether as many eigenvalues lie below one that was found, of those above the last, as were found."""
        if len(values) <= count:
            return True
        # In the middle of the widest gap from the last wanted one on: no pivot is near zero there.
        gaps = np.diff(values[count - 1 :])
        place = count + int(np.argmax(gaps))
        if gaps.max() <= 1e-6 * values[-1]:
            return True  # a cluster that goes on: the copies are interchangeable
        return self.below(0.5 * (values[place - 1] + values[place])) == place + aside


def upper_triangle(matrix: Sparse) -> tuple[Integers, Integers, Vector]:
    """`indptr`, `indices` and values of the upper triangle in CSR, every diagonal entry stored, as solvers take it."""
    size = matrix.shape[0]
    if matrix.format == "csr" and matrix.has_canonical_format:
        rows = np.repeat(np.arange(size), np.diff(matrix.indptr))
        if np.count_nonzero(matrix.indices == rows) == size:  # as it nearly always is: nothing to sort or to add
            upper = matrix.indices >= rows
            indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[upper], minlength=size))])
            return indptr, matrix.indices[upper].astype(np.int64), np.asarray(matrix.data[upper], dtype=np.float64)
    coordinates = sparse.triu(matrix, format="coo")
    there = np.arange(size)
    whole = sparse.coo_array(
        (
            np.concatenate([coordinates.data, np.zeros(size)]),
            (np.concatenate([coordinates.row, there]), np.concatenate([coordinates.col, there])),
        ),
        shape=matrix.shape,
    ).tocsr()  # which sums, but keeps zeros
    whole.sort_indices()
    return whole.indptr.astype(np.int64), whole.indices.astype(np.int64), np.asarray(whole.data, dtype=np.float64)


def _block_lanczos(operator: _Shifted, count: int, aside: Array, block: int) -> tuple[Vector, Array]:
    """The `count` largest eigenvalues of the inverse, high to low, and their vectors (N, count).

    `aside` (r, N) orthonormal rows that all is orthogonal to.
    """
    size = len(operator.root)
    room = size - len(aside)
    generator = np.random.default_rng(_SEED)
    basis = np.empty((min(4 * (count + 2 * block), room), size))  # grows where it must
    start = _orthonormal(generator.normal(size=(min(block, room), size)), aside, basis[:0])
    basis[: len(start)] = start
    filled, before, small = len(start), 0, np.zeros((0, 0))
    while True:
        image = operator.times(basis[before:filled])
        small, following, coupling = _extend(small, image, aside, basis[:filled], before)
        theta, inner = eigh(small)
        theta, inner = theta[::-1][:count], inner[:, ::-1][:, :count]
        residual = np.linalg.norm(coupling @ inner[before:filled], axis=0)
        if filled >= count and (residual <= _TOLERANCE * theta).all():
            break
        if filled == room:
            break
        following = _completed(following, min(block, room - filled), aside, basis[:filled], generator)
        if filled + len(following) > len(basis):
            basis = np.concatenate([basis[:filled], np.empty((min(len(basis), room - filled), size))])
        basis[filled : filled + len(following)] = following
        before, filled = filled, filled + len(following)
    if not (theta > 0).all():
        raise FactorisationError("the inverse of a stiffness has negative eigenvalues: it is not positive")
    return theta, np.ascontiguousarray((inner.T @ basis[:filled]).T)


def _extend(small: Array, image: Array, aside: Array, basis: Array, before: int) -> tuple[Array, Array, Array]:
    """The projected matrix with the rows of the last block, the next block (b, N) and how it couples (b, b)."""
    filled = len(basis)
    image = image - (image @ aside.T) @ aside
    shares = image @ basis.T
    rest = image - shares @ basis
    again = rest @ basis.T  # once more: what cancelled left rounding behind
    rest -= again @ basis
    rest -= (rest @ aside.T) @ aside
    shares += again
    grown = np.zeros((filled, filled))
    grown[:before, :before] = small
    grown[before:, :] = shares
    grown[:before, before:] = shares[:, :before].T
    grown[before:, before:] = 0.5 * (shares[:, before:] + shares[:, before:].T)
    following, triangle = np.linalg.qr(rest.T)
    # Directions with nothing in them are no directions.
    weight, least = np.abs(np.diagonal(triangle)), 1e-14 * float(np.abs(shares).max(initial=0.0))
    return grown, np.ascontiguousarray(following.T)[weight > least], triangle[weight > least]


def _completed(found: Array, wanted: int, aside: Array, basis: Array, generator: np.random.Generator) -> Array:
    """As many orthonormal rows as wanted: those found, then random ones."""
    found = found[:wanted]
    if len(found) < wanted:
        more = generator.normal(size=(wanted - len(found), basis.shape[1]))
        found = np.concatenate([found, _orthonormal(more, aside, np.concatenate([basis, found]))])
    return found


def _orthonormal(rows: Array, aside: Array, basis: Array) -> Array:
    """Rows made orthonormal, and orthogonal to others."""
    for _ in range(2):
        rows = rows - (rows @ aside.T) @ aside
        rows = rows - (rows @ basis.T) @ basis
    return np.ascontiguousarray(np.linalg.qr(rows.T)[0].T)
