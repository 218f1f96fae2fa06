"""Lowest eigenpairs of a large K φ = λ M φ with nothing free in it, by a factor in single precision.

The space in which pairs are looked for grows by the factor's answer to the residuals of the nearest, in blocks and with
full orthogonalisation [Davidson 1975]. With an exact factor that is Lanczos's method, as all residuals then lie in its
next block. But these residuals are true ones, K φ − λ M φ in double precision, so the pairs are as sharp as those of a
factor in double precision, which takes twice the time; on small bodies that gain is lost to the work around it.

What the start did not see is never found from it. The signs of pivots would tell, but not those of a factor in single
precision. So once all are nearly there, other random vectors, thrice multiplied by the inverse, are taken in: they are
full of a pair that was missed, which is then found like the others.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from bunraku.contracts import Array, Factorisation, Integers, Sparse, Vector

from .factorisation import choose
from .pardiso import FactorisationError

_TOLERANCE = 1e-10  # how far a vector of length one may be from what the inverse makes of it, times λ
_ROUGHLY, _SAME = 1e-3, 1e-2  # the same before others are looked for; share within which λ is then still the same
_NOISE = 30.0  # times what rounding makes of a residual: what the inverse makes of that cannot be undercut
_BLOCK = 4
_ROOM = 128  # vectors, for which there is room at once
_STEPS = 40  # and one for every pair, after which it is given up
_POWERS, _MORE = 3, 2  # how often what is looked at anew is multiplied by the inverse, and steps that follow
_DEPENDENT = 1e-12  # length that is left of a unit vector without what is in others: less is rounding
_TINY, _EPS = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).eps)
_SEED = 20140701  # of the vectors that are begun with


def lowest_by_single(
    stiffness: Sparse, mass: Vector, count: int, upper: tuple[Integers, Integers, Vector], threads: int | None
) -> tuple[Vector, Array] | None:
    """λ (count,) and M^½ φ (N, count); None where single precision does not tell enough. `upper` is the upper triangle
    of K."""
    return _Search(_Rough(stiffness, mass, upper, threads)).lowest(count)


class _Rough:
    """K, and roughly its inverse, in the scaled unknowns M^½ φ."""

    def __init__(
        self, stiffness: Sparse, mass: Vector, upper: tuple[Integers, Integers, Vector], threads: int | None
    ) -> None:
        indptr, indices, values = upper
        self._stiffness, self._root, self.size = stiffness, np.sqrt(mass), len(mass)
        self._factor: Factorisation = choose(threads=threads, single=True, positive=True)
        self._factor.analyse(indptr, indices)
        self._factor.factor(values)
        self.noise = _NOISE * _EPS * float(np.max(values[indptr[:-1]] / mass)) / np.sqrt(self.size)
        """of the residual of a vector of length one, along another one"""

    def times(self, x: Array) -> Array:
        """(b, N) K times rows (b, N)."""
        return np.ascontiguousarray((self._stiffness @ (x / self._root).T).T) / self._root

    def undone(self, x: Array) -> Array:
        """(b, N) the inverse times rows (b, N), of any length: each is scaled, for single precision has few powers."""
        length = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), _TINY)
        typical = float(np.mean(self._root))
        found = self._factor.solve(x * (self._root / typical) / length) * (self._root * typical) * length
        if not np.isfinite(found).all():
            raise FactorisationError("a factor in single precision ran out of range")
        return found


class _Search:
    """A space that grows until the lowest pairs are in it."""

    def __init__(self, operator: _Rough) -> None:
        self.operator, self.room = operator, operator.size
        self.block = min(_BLOCK, self.room)
        self.good = 0
        """how many of the lowest pairs are as good as they can be"""
        self.small = np.zeros((0, 0))
        """(m, m) K in the space"""
        self._generator = np.random.default_rng(_SEED)
        self._basis, self._images = np.empty((0, self.room)), np.empty((0, self.room))

    def lowest(self, count: int) -> tuple[Vector, Array] | None:
        """λ (count,) and ψ (N, count); None where so many steps do not do."""
        self.grow(_begun(self.operator, self._generator, self.block, 1))
        before = np.zeros(0)
        for _ in range(_STEPS + count):
            lacking = self.lacking(count, _TOLERANCE if len(before) else _ROUGHLY)
            if len(lacking) and len(self.small) < self.room:
                self.grow(lacking)
                continue
            values, inner = eigh(self.small, subset_by_index=(0, count - 1))
            if len(self.small) == self.room or (len(before) and np.allclose(values, before, rtol=_SAME, atol=0.0)):
                return values, np.ascontiguousarray((inner.T @ self._basis[: len(self.small)]).T)
            before = values
            self.look(count)
        return None

    def lacking(self, count: int, tolerance: float) -> Array:
        """(b, N) what the lowest pairs lack that are not good; nothing where all of `count` are."""
        if len(self.small) < count:
            return self.better(0)[1]
        while self.good < count:
            values, better = self.better(self.good)
            if not self.operator.noise < _ROUGHLY * values[0]:
                raise FactorisationError("too soft, beside its stiffest part, for what single precision tells")
            worse = np.linalg.norm(better, axis=1) > max(tolerance, self.operator.noise / values[0])
            if worse[: count - self.good].any():
                self.good += int(np.argmax(worse))
                return better
            self.good += len(worse)
        return np.zeros((0, self.room))

    def better(self, first: int) -> tuple[Vector, Array]:
        """(m,) values in the space, and (b, N) what makes the pairs from the first one on better."""
        filled = len(self.small)
        values, inner = eigh(self.small, subset_by_index=(0, min(first + self.block, filled) - 1))
        some = slice(first, first + self.block)
        residual = inner[:, some].T @ self._images[:filled]
        residual -= values[some, None] * (inner[:, some].T @ self._basis[:filled])
        return values, self.operator.undone(residual)

    def look(self, count: int) -> None:
        """Take in what the start did not see, and let it grow by what is next above the pairs that are known."""
        self.good = 0
        self.grow(_begun(self.operator, self._generator, self.block, _POWERS))
        for _ in range(_MORE):
            if len(self.small) > count:
                self.grow(self.better(count)[1])

    def grow(self, rows: Array) -> None:
        """The space by rows (b, N)."""
        filled = len(self.small)
        rows = _orthonormal(rows, self._basis[:filled])[: self.room - filled]
        if not len(rows):  # rounding is all that is left of them
            rows = self._generator.normal(size=(min(self.block, self.room - filled), self.room))
            rows = _orthonormal(rows, self._basis[:filled])
        end = filled + len(rows)
        if end > len(self._basis):
            more = np.empty((max(_ROOM, filled), self.room))  # which takes no memory before it is written
            self._basis, self._images = (np.concatenate([old[:filled], more]) for old in (self._basis, self._images))
        self._basis[filled:end], self._images[filled:end] = rows, self.operator.times(rows)
        shares = self._images[filled:end] @ self._basis[:end].T
        grown = np.zeros((end, end))
        grown[:filled, :filled] = self.small
        grown[filled:, :filled], grown[:filled, filled:] = shares[:, :filled], shares[:, :filled].T
        grown[filled:, filled:] = 0.5 * (shares[:, filled:] + shares[:, filled:].T)
        self.small = grown


def _begun(operator: _Rough, generator: np.random.Generator, block: int, powers: int) -> Array:
    """(b, N) random rows, so often multiplied by the inverse."""
    rows = generator.normal(size=(block, operator.size))
    for _ in range(powers):
        rows = operator.undone(rows)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def _orthonormal(rows: Array, basis: Array) -> Array:
    """Rows made orthonormal, and orthogonal to others; fewer where they depend on these."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _TINY)
    for _ in range(2):
        rows = rows - (rows @ basis.T) @ basis
        columns, triangle = np.linalg.qr(rows.T)
        rows = np.ascontiguousarray(columns.T)[np.abs(np.diagonal(triangle)) > _DEPENDENT]
    return rows
