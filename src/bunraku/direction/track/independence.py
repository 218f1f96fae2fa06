"""Regions that say the same twice: a condition that follows from others must not be asked again."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from bunraku.contracts import Array, Integers, Sparse

_LEAST = 1e-10
"""squared sine of the angle between a function and the span of others below which it lies in it"""


def dependent_rows(functions: Sparse) -> Integers:
    """(d,) rows of (k, n) that are sums of multiples of the others, as few as it takes to leave the rest independent.

    A row with a column that no other row has is independent of them. What is left when all such rows have been taken
    away, again and again, goes through Gram and Schmidt: small regions first, so that parts are kept and not their
    union, and of equals the first.
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
    return np.sort(left[_spanned((core @ core.T).toarray())])


def _spanned(gram: Array) -> Integers:
    """Rows that lie in the span of those before them, from the Gram matrix (m, m) of unit rows."""
    factor = np.zeros_like(gram)  # Cholesky's, of the rows kept so far
    kept: list[int] = []
    spanned: list[int] = []
    for i in range(len(gram)):
        count = len(kept)
        share = linalg.solve_triangular(factor[:count, :count], gram[kept, i], lower=True, check_finite=False)
        rest = gram[i, i] - float(share @ share)
        if rest <= _LEAST:
            spanned.append(i)
            continue
        factor[count, :count], factor[count, count] = share, np.sqrt(rest)
        kept.append(i)
    return np.array(spanned, dtype=np.int64)


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
