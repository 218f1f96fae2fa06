"""Fixed-pattern assembly of symmetric matrices and of vectors.

Local blocks are summed by *gather lists*: every stored entry knows which local numbers it is the sum
of, in a fixed order. No atomics and no colouring are needed, and the result has the same bytes for
any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numba
import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Integers, Stencil, Vector


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _gather(firsts, starts, sources, flat, out):
    """A run of entries at a time; each has its own sum, in the order of its sources."""
    for run in numba.prange(len(firsts) - 1):
        entry, a, b, c = firsts[run], 0.0, 0.0, 0.0
        if firsts[run + 1] - entry == 3:
            for k in range(starts[run], starts[run + 1]):
                source = sources[k]
                a += flat[source]
                b += flat[source + 1]
                c += flat[source + 2]
            out[entry], out[entry + 1], out[entry + 2] = a, b, c
        elif firsts[run + 1] - entry == 2:
            for k in range(starts[run], starts[run + 1]):
                source = sources[k]
                a += flat[source]
                b += flat[source + 1]
            out[entry], out[entry + 1] = a, b
        else:
            for k in range(starts[run], starts[run + 1]):
                a += flat[sources[k]]
            out[entry] = a


@numba.njit(cache=True, error_model="numpy")
def _gather_more(entries, starts, sources, flat, out):
    for one in range(len(entries)):
        total = out[entries[one]]
        for k in range(starts[one], starts[one + 1]):
            total += flat[sources[k]]
        out[entries[one]] = total


@dataclass(frozen=True, eq=False)
class Runs:
    """Up to three entries beside each other that sum local numbers beside each other: what is looked up, and how long
    the loops are, is shared by a row of a 3 × 3 block."""

    firsts: Integers
    """(r + 1,) the first entry of each run"""
    starts: Integers
    """(r + 1,) range of `places` that its first entry sums"""
    places: NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Sources:
    """Which local numbers each stored entry is the sum of."""

    starts: Integers
    """(nnz + 1,) range of `places` that each entry sums"""
    places: NDArray[np.uint32]
    """positions among the local numbers; narrow, since all of them are read in every assembly"""

    @classmethod
    def of(cls, source: Integers, first: Integers) -> Sources:
        """Of the `source` of each contribution, negative for what is none, in the order of the entries that begin at
        `first`."""
        real = source >= 0
        counts = np.add.reduceat(real.astype(np.int64), first)
        return cls(np.concatenate([[0], np.cumsum(counts)]), source[real].astype(np.uint32))

    @property
    def runs(self) -> Runs:
        """The same, several entries at once."""
        counts = np.diff(self.starts)
        entry = np.repeat(np.arange(len(counts)), counts)
        before = np.arange(len(self.places)) - counts[entry]
        odd = self.places != self.places[before] + np.uint32(1)  # before the first it is the end, and odd counts too
        odd[before < 0] = True
        goes_on = np.bincount(entry, odd, len(counts)) == 0
        goes_on[0] = False
        goes_on[1:] &= counts[1:] == counts[:-1]
        begins = np.flatnonzero(~goes_on)
        place = np.arange(len(counts)) - np.repeat(begins, np.diff(np.append(begins, len(counts))))
        firsts = np.flatnonzero(place % 3 == 0)
        kept = np.zeros(len(counts), dtype=bool)
        kept[firsts] = True
        starts = np.concatenate([[0], np.cumsum(counts[firsts])])
        return Runs(np.append(firsts, len(counts)), starts, self.places[kept[entry]])

    @property
    def some(self) -> tuple[Integers, Integers]:
        """(e,) the entries that sum anything, and (e + 1,) where they begin among the places."""
        entries = np.flatnonzero(np.diff(self.starts))
        return entries, np.append(self.starts[entries], self.starts[-1])

    def with_entries(self, places: Integers) -> Sources:
        """With entries that are the sum of nothing before these places."""
        counts = np.insert(np.diff(self.starts), places, 0)
        return Sources(np.concatenate([[0], np.cumsum(counts)]), self.places)


@dataclass(frozen=True, eq=False)
class Pattern:
    """The upper triangle (with the whole diagonal) of a symmetric matrix of fixed sparsity, in CSR."""

    size: int
    """number of unknowns N"""
    indptr: Integers
    """(N + 1,)"""
    indices: Integers
    """(nnz,) columns, increasing in each row"""
    most: Sources
    """what each entry sums of the largest stencil's blocks, which are read where they are"""
    others: Sources
    """and of the others', concatenated"""
    lengths: tuple[int, ...]
    """how many local numbers each stencil contributes"""

    @classmethod
    def of(cls, stencils: Sequence[Stencil], size: int) -> Pattern:
        """The union of the stencils and the diagonal."""
        rows, columns, sources, offset = [], [], [], 0
        lengths = [int(np.prod(stencil.block_shape)) for stencil in stencils]
        for k, stencil in enumerate(stencils):
            r, c, s = _entries(stencil)
            rows.append(r)
            columns.append(c)
            largest = k == _largest(lengths)
            sources.append(-2 - s if largest else s + offset)  # told apart by their sign
            offset += 0 if largest else lengths[k]
        diagonal = np.arange(size)
        key = np.concatenate([*(r * size + c for r, c in zip(rows, columns, strict=True)), diagonal * (size + 1)])
        source = np.concatenate([*sources, np.full(size, -1)])
        order = np.argsort(key, kind="stable")
        key, source = key[order], source[order]
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        entry = key[first]
        indptr = np.searchsorted(entry, np.arange(size + 1) * size)
        most, others = Sources.of(-2 - source, first), Sources.of(source, first)
        return cls(size, indptr, entry % size, most, others, tuple(lengths))

    def with_pairs(self, pairs: Integers) -> Pattern:
        """With room for 3 × 3 blocks between points (p, 2), numbered from 0 among the first unknowns, as well.

        The local blocks stay the same: `add_blocks` fills what is added.
        """
        corner = np.arange(3)
        rows = 3 * pairs.min(axis=1)[:, None, None] + corner[:, None]
        columns = 3 * pairs.max(axis=1)[:, None, None] + corner[None, :]
        rows, columns = (part.reshape(-1) for part in np.broadcast_arrays(rows, columns))
        upper = rows <= columns
        wanted = distinct(rows[upper] * self.size + columns[upper])
        there = np.repeat(np.arange(self.size), np.diff(self.indptr)) * self.size + self.indices
        place = np.searchsorted(there, wanted)
        new = there[np.minimum(place, len(there) - 1)] != wanted
        entry = np.insert(there, place[new], wanted[new])
        indptr = np.searchsorted(entry, np.arange(self.size + 1) * self.size)
        most, others = (sources.with_entries(place[new]) for sources in (self.most, self.others))
        return replace(self, indptr=indptr, indices=entry % self.size, most=most, others=others)

    @property
    def buffer_length(self) -> int:
        """How many local numbers `assemble` has to copy: all but those of the largest stencil."""
        return sum(self.lengths) - max(self.lengths)

    def assemble(self, blocks: Sequence[Array], buffer: Vector | None = None) -> Vector:
        """(nnz,) values from the local blocks, one array a stencil, in the order given to `of`."""
        others = np.empty(self.buffer_length) if buffer is None else buffer
        largest, offset = _largest(self.lengths), 0
        for k, (block, length) in enumerate(zip(blocks, self.lengths, strict=True)):
            if k != largest:
                others[offset : offset + length] = block.reshape(-1)
                offset += length
        values, most = np.empty(len(self.indices)), np.require(blocks[largest], np.float64, ["C", "W"]).reshape(-1)
        runs, (entries, starts) = self._gathered
        _gather(runs.firsts, runs.starts, runs.places, most, values)
        _gather_more(entries, starts, self.others.places, others, values)
        return values

    @cached_property
    def _gathered(self) -> tuple[Runs, tuple[Integers, Integers]]:
        return self.most.runs, self.others.some

    def add_blocks(self, values: Vector, corners: Integers, blocks: Array) -> int:
        """Add blocks (m, 3k, 3k) on points (m, k), −1 for none, to the values; how many 3 × 3 parts found no room.

        Such a part B of two points must be a number times a positive semi-definite matrix; |B| is added to both their
        diagonals instead, whose 3 × 3 blocks must be there. That is no less stiff than what was given, so the sum stays
        positive. Blocks come one after the other, so that the bytes are the same each time.
        """
        return int(_add_blocks(self.indptr, self.indices, corners, blocks, values))


@numba.njit(cache=True, error_model="numpy")
def _add_blocks(indptr, indices, corners, blocks, values):
    outside, order = 0, corners.shape[1]
    for m in range(len(corners)):
        for i in range(order):
            first = corners[m, i]
            for j in range(order):
                second = corners[m, j]
                if first < 0 or second < first:
                    continue
                found = _room(indptr, indices, 3 * first, 3 * second)
                if found >= 0:
                    _add(indptr, indices, first, second, found, blocks[m], 3 * i, 3 * j, 1.0, values)
                    continue
                outside += 1
                trace = blocks[m, 3 * i, 3 * j] + blocks[m, 3 * i + 1, 3 * j + 1] + blocks[m, 3 * i + 2, 3 * j + 2]
                sign = 1.0 if trace > 0.0 else -1.0
                _add(indptr, indices, first, first, indptr[3 * first], blocks[m], 3 * i, 3 * j, sign, values)
                _add(indptr, indices, second, second, indptr[3 * second], blocks[m], 3 * i, 3 * j, sign, values)
    return outside


@numba.njit(cache=True, error_model="numpy")
def _begin(indptr, indices, row, column):
    """Where the entries of a row from a column on begin."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True, error_model="numpy")
def _room(indptr, indices, first, second):
    """Where the entries of the first row of the 3 × 3 block between two points begin, negative if there are none for
    all of it: for whole blocks, or as a mass has them, coordinate by coordinate, which the first row tells."""
    found = _begin(indptr, indices, first, second)
    there = found + 2 < indptr[first + 1] and indices[found] == second and indices[found + 2] == second + 2
    return found if there else -1


@numba.njit(cache=True, error_model="numpy")
def _add(indptr, indices, first, second, found, block, i, j, factor, values):
    """Of a `block` the part from row i and column j on, to the one between two points, whose first row begins at
    `found`."""
    before = found - indptr[3 * first]
    for a in range(3):
        skip, row = (a if first == second else 0), 3 * first + a
        # The rows of a point have the same columns, each one fewer before the diagonal: nearly always.
        place = indptr[row] + before - (0 if first == second else a)
        if not (place < indptr[row + 1] and place >= indptr[row] and indices[place] == 3 * second + skip):
            place = _begin(indptr, indices, row, 3 * second + skip)
        for b in range(skip, 3):
            values[place + b - skip] += factor * block[i + a, j + b]


def distinct(keys: Integers) -> Integers:
    """(k,) each of the numbers (m,) once, in order. NumPy's own way to it puts whole numbers into a table, which takes
    fifty times as long as to sort them where they are multiples of a large one."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _largest(lengths: Sequence[int]) -> int:
    """Which stencil contributes most."""
    return int(np.argmax(lengths))


def _entries(stencil: Stencil) -> tuple[Integers, Integers, Integers]:
    """Rows, columns and local positions of the entries of a stencil that lie in the upper triangle."""
    m, r, c = stencil.block_shape
    columns = stencil.rows if stencil.columns is None else stencil.columns
    row = np.broadcast_to(stencil.rows[:, :, None], (m, r, c)).reshape(-1)
    column = np.broadcast_to(columns[:, None, :], (m, r, c)).reshape(-1)
    kept = (row >= 0) & (column >= 0)
    if stencil.columns is None:
        kept &= row <= column
    position = np.flatnonzero(kept)
    row, column = row[position], column[position]
    return np.minimum(row, column), np.maximum(row, column), position


@dataclass(frozen=True, eq=False)
class Scatter:
    """Sums per-element vectors into points, in a fixed order."""

    starts: Integers
    """(n + 1,)"""
    sources: Integers
    """positions in the flattened element list"""

    @classmethod
    def of(cls, elements: Integers, point_count: int) -> Scatter:
        """For element vertices (m, k)."""
        flat = elements.reshape(-1)
        order = np.argsort(flat, kind="stable")
        return cls(np.searchsorted(flat[order], np.arange(point_count + 1)), order)

    def sum(self, local: Array) -> Array:
        """(n, 3) from local vectors (m, k, 3)."""
        out = np.empty((len(self.starts) - 1, 3))
        _gather_vectors(self.starts, self.sources, local.reshape(-1, 3), out)
        return out


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _gather_vectors(starts, sources, local, out):
    for point in numba.prange(len(out)):
        a = b = c = 0.0
        for k in range(starts[point], starts[point + 1]):
            source = sources[k]
            a += local[source, 0]
            b += local[source, 1]
            c += local[source, 2]
        out[point, 0], out[point, 1], out[point, 2] = a, b, c


@dataclass(frozen=True, eq=False)
class SymmetricProduct:
    """A y for a symmetric A stored by its upper triangle: rows in parallel, the same bytes for any thread count."""

    indptr: Integers
    indices: Integers
    lower_starts: Integers
    """(N + 1,) range of `lower_entries` that lie below the diagonal of each row"""
    lower_entries: Integers
    """stored entries whose column is the row"""
    lower_columns: Integers
    """the rows they are stored in"""

    @classmethod
    def of(cls, pattern: Pattern) -> SymmetricProduct:
        """For a pattern."""
        rows = np.repeat(np.arange(pattern.size), np.diff(pattern.indptr))
        off = np.flatnonzero(rows != pattern.indices)
        entries = off[np.argsort(pattern.indices[off], kind="stable")]
        starts = np.searchsorted(pattern.indices[entries], np.arange(pattern.size + 1))
        return cls(pattern.indptr, pattern.indices, starts, entries, rows[entries])

    def residual(self, values: Vector, y: Vector, b: Vector) -> Vector:
        """(N,) b − A y."""
        out = np.empty_like(y)
        _residual(
            self.indptr, self.indices, self.lower_starts, self.lower_entries, self.lower_columns, values, y, b, out
        )
        return out

    def times(self, values: Vector, y: Vector) -> Vector:
        """(N,) A y."""
        return -self.residual(values, y, np.zeros_like(y))


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _residual(indptr, indices, lower_starts, lower_entries, lower_columns, values, y, b, out):
    for row in numba.prange(len(out)):
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += values[k] * y[indices[k]]
        for k in range(lower_starts[row], lower_starts[row + 1]):
            total += values[lower_entries[k]] * y[lower_columns[k]]
        out[row] = b[row] - total
