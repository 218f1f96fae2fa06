"""Lowest eigenpairs of a large K φ = λ M φ with nothing free in it, by a factor in single precision.

The space in which pairs are looked for grows by the factor's answer to the residuals of the nearest, in blocks and with
full orthogonalisation [Davidson 1975]. With an exact factor that is Lanczos's method, as all residuals then lie in its
next block. But these residuals are true ones, K φ − λ M φ in double precision, so the pairs are as sharp as those of a
factor in double precision, which takes twice the time; on small bodies that gain is lost to the work around it. It is
the reading of the factor, and of the space, that takes time: blocks are wide, and pairs that are found are left out.

What the start did not see is never found from it. The signs of pivots would tell, but not those of a factor in single
precision. So other random vectors ride along with the first blocks, are thrice multiplied by the inverse and then taken
in: they are full of a pair that was missed, which is then found like the others.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from bunraku.contracts import Array, Factorisation, Integers, Sparse, Vector

from .factorisation import choose
from .pardiso import FactorisationError

_TOLERANCE = 1e-10  # how far a vector of length one may be from what the inverse makes of it, times λ
_ROUGHLY = 1e-3  # the same, which rounding must not hide
_SAME = 1e-6  # share within which λ of a pair that was found stays the same: else another one has come before it
_NOISE = 30.0  # times what rounding makes of a residual: what the inverse makes of that cannot be undercut
_BLOCK = 12
_ROOM = 96  # vectors, for which there is room at once
_STEPS = 40  # and one for every pair, after which it is given up
_OTHERS, _POWERS = (
    4,
    3,
)  # random vectors that are taken in later, and how often they are multiplied by the inverse first
_MORE = 2  # steps after that in which as many pairs above those that are wanted are looked at, too
_DEPENDENT = 1e-12  # length that is left of a unit vector without what is in others: less is rounding
_ALIKE = 1e-14  # share of the largest below which a direction of several unit vectors is what they have in common
_TINY, _EPS = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).eps)
_SEED = 20140701  # of the vectors that are begun with


def lowest_by_single(
    stiffness: Sparse,
    mass: Vector,
    count: int,
    upper: tuple[Integers, Integers, Vector],
    threads: int | None,
    order: Integers | None = None,
) -> tuple[Vector, Array] | None:
    """λ (count,) and M^½ φ (N, count); None where single precision does not tell enough. `upper` is the upper triangle
    of K."""
    return _Search(_Rough(stiffness, mass, upper, threads, order), count).lowest()


class _Rough:
    """K, and roughly its inverse, in the scaled unknowns M^½ φ."""

    def __init__(
        self, stiffness: Sparse, mass: Vector, upper: tuple[Integers, Integers, Vector], threads: int | None,
        order: Integers | None = None,
    ) -> None:  # fmt: skip
        indptr, indices, values = upper
        self._stiffness, self._root, self.size = stiffness, np.sqrt(mass), len(mass)
        self._typical = float(np.mean(self._root))
        self._factor: Factorisation = choose(threads=threads, single=True, positive=True, order=order)
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
        scaled = x * (self._root / self._typical)
        scaled /= length
        found = self._factor.solve(scaled)
        found *= self._root * self._typical
        found *= length
        if not np.isfinite(found).all():
            raise FactorisationError("a factor in single precision ran out of range")
        return found


class _Search:
    """A space that grows until the lowest pairs are in it."""

    def __init__(self, operator: _Rough, count: int) -> None:
        self.operator, self.room, self.count = operator, operator.size, count
        self.block = min(_BLOCK, self.room)
        self.small = np.zeros((0, 0))
        """(m, m) K in the space"""
        self.good = np.zeros(count, dtype=bool)
        """which of the lowest pairs are as good as they can be"""
        self.values = np.zeros(0)
        """(m,) λ of the lowest pairs when they were last looked at"""
        self._generator = np.random.default_rng(_SEED)
        self._others, self._powers, self._more = np.zeros((0, self.room)), 0, _MORE
        self._basis, self._images = np.empty((0, self.room)), np.empty((0, self.room))

    def lowest(self) -> tuple[Vector, Array] | None:
        """λ (count,) and ψ (N, count); None where so many steps do not do."""
        start = _begun(self._generator, self.block, self.room)
        self._others = _begun(self._generator, _OTHERS, self.room)
        self.grow(self.undone(start))
        for _ in range(_STEPS + self.count):
            which = self.lacking()
            if not len(which) or len(self.small) == self.room:
                values, inner = eigh(self.small, subset_by_index=(0, self.count - 1))
                return values, np.ascontiguousarray((inner.T @ self._basis[: len(self.small)]).T)
            better = self.better(which)
            if len(better):
                self.grow(better)
        return None

    def lacking(self) -> Integers:
        """Numbers of the pairs to look at: those that are not good, the lowest first, and some above them."""
        filled = len(self.small)
        found = np.flatnonzero(~self.good[:filled])
        if len(found) >= self.block or not self._more:
            return found[: self.block]
        above = np.arange(self.count, self.count + _OTHERS)
        if len(self._others):  # a step yields no more than its block
            return np.append(found, above[above < filled])[: self.block]
        self._more -= 1
        return np.append(found, above[above < filled])

    def better(self, which: Integers) -> Array:
        """(b, N) what makes pairs better, but for those that are good, and the other vectors when it is time."""
        filled = len(self.small)
        values, inner = eigh(self.small, subset_by_index=(0, int(which[-1])))
        self._compare(values)
        residual = inner[:, which].T @ self._images[:filled]
        residual -= values[which, None] * (inner[:, which].T @ self._basis[:filled])
        if not self.operator.noise < _ROUGHLY * values[0]:
            raise FactorisationError("too soft, beside its stiffest part, for what single precision tells")
        rows = self.undone(residual)
        good = np.linalg.norm(rows[: len(which)], axis=1) <= np.maximum(_TOLERANCE, self.operator.noise / values[which])
        wanted = which < self.count
        self.good[which[wanted]] = good[wanted]
        return rows[np.append(~good, np.ones(len(rows) - len(which), dtype=bool))]

    def _compare(self, values: Vector) -> None:
        """Where a pair was missed that lies below some which are good, these are now others, and looked at again."""
        known = np.flatnonzero(self.good[: min(len(values), len(self.values))])
        if not np.allclose(values[known], self.values[known], rtol=_SAME, atol=0.0):
            self.good[:] = False
        self.values = np.append(values, self.values[len(values) :])

    def undone(self, rows: Array) -> Array:
        """(b, N) the inverse times rows (b, N). The other vectors ride along, and stay when they are ready."""
        if not len(self._others):
            return self.operator.undone(rows)
        found = self.operator.undone(np.concatenate([rows, self._others]))
        self._powers += 1
        if self._powers == _POWERS:
            self._others = self._others[:0]
            return found
        self._others = found[len(rows) :]
        return found[: len(rows)]

    def grow(self, rows: Array) -> None:
        """The space by rows (b, N)."""
        filled = len(self.small)
        rows = _orthonormal(rows, self._basis[:filled])[: self.room - filled]
        if not len(rows):  # rounding is all that is left of them
            rows = _begun(self._generator, min(self.block, self.room - filled), self.room)
            rows = _orthonormal(rows, self._basis[:filled])
        end = filled + len(rows)
        if end > len(self._basis):
            self._basis, self._images = (_with_room(old[:filled]) for old in (self._basis, self._images))
        self._basis[filled:end], self._images[filled:end] = rows, self.operator.times(rows)
        shares = self._images[filled:end] @ self._basis[:end].T
        grown = np.zeros((end, end))
        grown[:filled, :filled] = self.small
        grown[filled:, :filled], grown[:filled, filled:] = shares[:, :filled], shares[:, :filled].T
        grown[filled:, filled:] = 0.5 * (shares[:, filled:] + shares[:, filled:].T)
        self.small = grown


def _begun(generator: np.random.Generator, count: int, size: int) -> Array:
    """(count, size) random rows."""
    return generator.normal(size=(count, size))


def _with_room(rows: Array) -> Array:
    """Rows, with room for as many more, which takes no memory before it is written."""
    out = np.empty((len(rows) + max(_ROOM, len(rows)), rows.shape[1]))
    out[: len(rows)] = rows
    return out


def _orthonormal(rows: Array, basis: Array) -> Array:
    """Rows made orthonormal, and orthogonal to others; fewer where they depend on these or on each other."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _TINY)
    for _ in range(2):
        rows = rows - (rows @ basis.T) @ basis
        length = np.linalg.norm(rows, axis=1)
        rows = rows[length > _DEPENDENT] / length[length > _DEPENDENT, None]
        values, inner = np.linalg.eigh(rows @ rows.T)
        own = values > _ALIKE * len(rows)
        rows = (inner[:, own] / np.sqrt(values[own])).T @ rows
    return rows
