"""GMRES for several right-hand sides: solutions, shares, restarts, starts, and how much is asked of the operator."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.contracts import Array
from bunraku.numerics import gmres_rows

SIZE = 30
RANDOM = np.random.default_rng(4)
MATRIX = np.eye(SIZE) + 0.4 * RANDOM.normal(size=(SIZE, SIZE)) / np.sqrt(SIZE)
RIGHT = RANDOM.normal(size=(3, SIZE)) * np.array([[1.0], [1e-6], [1e4]])


def times(rows: Array) -> Array:
    """The matrix times each row."""
    return rows @ MATRIX.T


def same(rows: Array) -> Array:
    """No preconditioner."""
    return rows


@pytest.mark.parametrize("share", [1e-3, 1e-12])
@pytest.mark.parametrize("vectors", [4, 40])
def test_each_row_is_solved_up_to_its_share(share: float, vectors: int) -> None:
    found = gmres_rows(times, same, RIGHT, share, vectors=vectors, restarts=100)
    missed = np.linalg.norm(times(found) - RIGHT, axis=1) / np.linalg.norm(RIGHT, axis=1)
    assert (missed <= 1.01 * share + 1e-15).all()


def test_a_row_of_nothing_is_nothing_and_one_that_is_solved_is_left_out() -> None:
    counts: list[int] = []

    def counted(rows: Array) -> Array:
        counts.append(len(rows))
        return times(rows)

    right = np.stack([np.zeros(SIZE), MATRIX @ np.ones(SIZE), RIGHT[0]])
    start = np.stack([np.zeros(SIZE), np.ones(SIZE), np.zeros(SIZE)])
    found = gmres_rows(counted, same, right, 1e-10, start=start)
    assert not found[0].any() and (found[1] == 1.0).all()
    assert counts[0] == 3 and set(counts[1:]) == {1}


def test_a_perfect_preconditioner_needs_one_product() -> None:
    products: list[int] = []

    def counted(rows: Array) -> Array:
        products.append(len(rows))
        return times(rows)

    inverse = np.linalg.inv(MATRIX)
    found = gmres_rows(counted, lambda rows: rows @ inverse.T, RIGHT, 1e-8)
    np.testing.assert_allclose(found, RIGHT @ inverse.T, rtol=1e-7, atol=1e-12)
    assert products == [3]


def test_what_has_no_solution_ends_with_what_it_found() -> None:
    flat = np.diag(np.concatenate([np.ones(SIZE - 1), [0.0]]))
    found = gmres_rows(lambda rows: rows @ flat, same, RIGHT[:1], 1e-8, restarts=3)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[0, :-1], RIGHT[0, :-1], rtol=1e-9)
