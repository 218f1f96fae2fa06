"""GMRES for several right-hand sides at once: what applies the operator to many vectors costs less than one by one.

Preconditioned from the right, so that the residual that is looked at is the true one. Each system has its own Krylov
space; those that are solved are left out of the next product.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bunraku.contracts import Array, Flags, Vector

Rowwise = Callable[[Array], Array]
"""(k, N) → (k, N), each row by itself"""


def gmres_rows(
    operator: Rowwise, nearly: Rowwise, right: Array, share: float, *, start: Array | None = None, vectors: int = 40,
    restarts: int = 10,
) -> Array:  # fmt: skip
    """(k, N) x with operator(x) = right (k, N), each row up to a share of its length, or as near as it came.

    Args:
        operator: the linear map, the same for all rows.
        nearly: about its inverse.
        right: the right-hand sides.
        share: of the length of each that may be left.
        start: (k, N) near the solutions.
        vectors: of a Krylov space before it is begun anew.
        restarts: how often at most.
    """
    wanted = share * np.linalg.norm(right, axis=1)
    x = np.zeros_like(right) if start is None else start.astype(np.float64)
    left = right.copy() if start is None else right - operator(x)
    missed = np.linalg.norm(left, axis=1)
    for _ in range(restarts):
        rows = np.flatnonzero(missed > wanted)
        if not len(rows):
            break
        added, missed[rows] = _cycle(operator, nearly, left[rows], wanted[rows], vectors)
        x[rows] += added
        if (missed > wanted).any():  # else the residual is known well enough
            left = right - operator(x)
            missed = np.linalg.norm(left, axis=1)
    return x


def _cycle(operator: Rowwise, nearly: Rowwise, left: Array, wanted: Vector, vectors: int) -> tuple[Array, Vector]:
    """(k, N) what one round of GMRES adds, for residuals (k, N), and (k,) the lengths of what is left then."""
    count, size = left.shape
    lengths = np.linalg.norm(left, axis=1)
    basis, images = np.zeros((count, vectors + 1, size)), np.zeros((count, vectors, size))
    small = np.zeros((count, vectors + 1, vectors))
    basis[:, 0] = left / lengths[:, None]
    going: Flags = np.ones(count, dtype=bool)
    steps = np.zeros(count, dtype=np.int64)
    for j in range(vectors):
        rows = np.flatnonzero(going)
        images[rows, j] = nearly(basis[rows, j])
        products = operator(images[rows, j])
        for row, product in zip(rows, products, strict=True):
            for _ in range(2):  # once more: what cancelled left rounding behind
                shares = basis[row, : j + 1] @ product
                product = product - shares @ basis[row, : j + 1]
                small[row, : j + 1, j] += shares
            size_left = float(np.linalg.norm(product))
            small[row, j + 1, j], steps[row] = size_left, j + 1
            if size_left > 0.0:
                basis[row, j + 1] = product / size_left
            going[row] = size_left > 0.0 and _shares(small[row, : j + 2, : j + 1], lengths[row])[1] > wanted[row]
        if not going.any():
            break
    found = [_shares(small[k, : n + 1, :n], lengths[k]) for k, n in enumerate(steps)]
    added = np.stack([shares @ images[k, : len(shares)] for k, (shares, _) in enumerate(found)])
    return added, np.array([missed for _, missed in found])


def _shares(small: Array, length: float) -> tuple[Array, float]:
    """(n,) shares of the images that leave least, and the length of that."""
    goal = np.zeros(len(small))
    goal[0] = length
    found: Vector = np.asarray(np.linalg.lstsq(small, goal, rcond=None)[0], dtype=np.float64)
    return found, float(np.linalg.norm(goal - small @ found))
