"""Regions that say the same twice: a condition that follows from others must not be asked again."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy import linalg, sparse

from bunraku.contracts import Array, Integers, Sparse

_BLOCK = 128
_LEAST = 1e-10  # rounding


def dependent_rows(functions: Sparse, least: float = _LEAST) -> Integers:
    """(d,) rows of (k, n) that are sums of multiples of the others, as few as it takes to leave the rest independent.

    A row with a column that no other row has is independent of them. What is left when all such rows have been taken
    away, again and again, goes through Gram and Schmidt: small regions first, so that parts are kept and not their
    union, and of equals the first. `least` is the squared sine of the angle between a row and the span of others below
    which it lies in it.
    """
    rows: Sparse = sparse.csr_array(functions, copy=True)
    rows.eliminate_zeros()
    left = _core(rows)
    if not len(left):
        return left
    left = left[np.argsort(np.diff(rows.indptr)[left], kind="stable")]
    core: Sparse = rows[left]
    lengths = np.sqrt(np.asarray(core.multiply(core).sum(axis=1)).reshape(-1))
    core = sparse.csr_array(sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ core)
    return np.sort(left[_spanned(core, least)])


def _spanned(rows: Sparse, least: float) -> Integers:
    """Those of the unit rows (m, n) that lie in the span of rows before them: Cholesky of their Gram matrix, in blocks.

    Only the factor is kept, and only half of it: thousands of rows that overlap take seconds.
    """
    kept: list[int] = []
    spanned: list[int] = []
    factor: list[tuple[Array, Array]] = []  # of each block what lies left of its diagonal, and the triangle on it
    for begin in range(0, rows.shape[0], _BLOCK):
        block: Sparse = rows[begin : begin + _BLOCK]
        share = (rows[kept] @ block.T).toarray()
        at = 0
        for left, corner in factor:
            end = at + len(corner)
            rest = share[at:end] - left @ share[:at]
            share[at:end] = linalg.solve_triangular(corner, rest, lower=True, check_finite=False)
            at = end
        corner, inside = _pivots((block @ block.T).toarray() - share.T @ share, least)
        if inside:
            factor.append((share[:, inside].T.copy(), corner))
        kept += [begin + k for k in inside]
        spanned += [begin + k for k in range(block.shape[0]) if k not in inside]
    return np.array(spanned, dtype=np.int64)


def _pivots(gram: Array, least: float) -> tuple[Array, list[int]]:
    """Cholesky's factor of the rows of a small Gram matrix (m, m) that are not spanned by those before, and which."""
    with suppress(np.linalg.LinAlgError):
        whole: Array = np.asarray(np.linalg.cholesky(gram), dtype=np.float64)
        if (np.diagonal(whole) ** 2 > least).all():  # as a rule
            return whole, list(range(len(gram)))
    factor = np.zeros_like(gram)
    kept: list[int] = []
    for i in range(len(gram)):
        count = len(kept)
        share = linalg.solve_triangular(factor[:count, :count], gram[kept, i], lower=True, check_finite=False)
        rest = gram[i, i] - float(share @ share)
        if rest > least:
            factor[count, :count], factor[count, count] = share, np.sqrt(rest)
            kept.append(i)
    return factor[: len(kept), : len(kept)].copy(), kept


def _core(rows: Sparse) -> Integers:
    """Rows left once every row with a column of its own has been taken away, again and again."""
    left = np.arange(rows.shape[0])
    while len(left):
        part = rows[left].tocoo()
        lonely = np.bincount(part.col, minlength=rows.shape[1]) == 1
        own = np.zeros(len(left), dtype=bool)
        own[part.row[lonely[part.col]]] = True
        if not own.any():
            break
        left = left[~own]
    return left
