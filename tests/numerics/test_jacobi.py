"""Signed SVD and symmetric eigenpairs of 3 × 3 matrices: accuracy where matrices are ordinary, flat, tiny, repeated."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.numerics import signed_svds
from bunraku.numerics.jacobi import clamp_symmetric, symmetric_eigen

EPS = float(np.finfo(np.float64).eps)
R = np.random.default_rng(3)


def rotations(count: int) -> np.ndarray:
    q, r = np.linalg.qr(R.normal(size=(count, 3, 3)))
    q = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    return q * np.linalg.det(q)[:, None, None]


def made(*stretches: float) -> np.ndarray:
    """(50, 3, 3) with those singular values, up to the order and the rounding of the products."""
    return rotations(50) * np.array(stretches) @ np.swapaxes(rotations(50), 1, 2)


KINDS = {
    "random": R.normal(size=(500, 3, 3)),
    "near the identity": np.eye(3) + 1e-9 * R.normal(size=(50, 3, 3)),
    "rotations": rotations(50),
    "mirrors": -rotations(50),
    "two alike": made(2.0, 1.0, 1.0),
    "opposite": made(2.0, 0.5, -0.5),
    "flat": made(2.0, 1.0, 0.0),
    "nearly flat": made(2.0, 1.0, 1e-13),
    "a line": R.normal(size=(50, 3, 1)) * R.normal(size=(50, 1, 3)),
    "nothing": np.zeros((1, 3, 3)),
    "axes": np.array([np.diag([0.0, 0.0, 3.0]), np.diag([0.0, -2.0, 0.0]), np.eye(3)[::-1]]),
    "tiny": 1e-200 * R.normal(size=(20, 3, 3)),
    "huge": 1e200 * R.normal(size=(20, 3, 3)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_factors_are_rotations_and_multiply_to_the_matrix(kind: str) -> None:
    f = KINDS[kind]
    u, s, v = signed_svds(f)
    size = np.abs(f).max()
    assert np.abs(u * s[:, None, :] @ np.swapaxes(v, 1, 2) - f).max() <= 50 * EPS * size
    for one in (u, v):
        assert np.abs(one @ np.swapaxes(one, 1, 2) - np.eye(3)).max() <= 20 * EPS
        assert np.linalg.det(one) == pytest.approx(1.0, abs=20 * EPS)
    assert (s[:, 0] >= s[:, 1]).all() and (s[:, 1] >= np.abs(s[:, 2]) - 20 * EPS * size).all()
    assert np.abs(s) == pytest.approx(np.linalg.svd(f)[1], abs=50 * EPS * size)


def test_the_last_value_has_the_sign_of_the_determinant() -> None:
    f = KINDS["random"]
    _, s, _ = signed_svds(f)
    assert np.array_equal(np.sign(s[:, 2]), np.sign(np.linalg.det(f)))
    assert 0.3 < np.mean(s[:, 2] < 0) < 0.7


def test_small_values_are_accurate_relative_to_themselves() -> None:
    """Columns that stand on each other: the values are their lengths, whatever the ratio; FᵀF would lose 1e-15 of 1."""
    f = rotations(100) * np.array([1.0, 1e-9, 1e-18])
    _, s, _ = signed_svds(f)
    assert s == pytest.approx(np.broadcast_to([1.0, 1e-9, 1e-18], s.shape), rel=1e-12)


def test_nan_is_passed_on_not_hidden() -> None:
    f = np.eye(3)[None].copy()
    f[0, 1, 2] = np.nan
    assert np.isnan(signed_svds(f)[1]).any()


@pytest.mark.parametrize("values", [(3.0, -1.0, 0.5), (1.0, 1.0, -1.0), (0.0, 0.0, 0.0), (1e-12, -2.0, 5.0)])
def test_symmetric_eigenpairs_and_what_clamping_leaves(values: tuple[float, float, float]) -> None:
    q = rotations(1)[0]
    a = q * np.array(values) @ q.T
    a = 0.5 * (a + a.T)
    found, vectors, scratch = np.empty(3), np.empty((3, 3)), np.empty((3, 3))
    symmetric_eigen(a.copy(), found, vectors)
    assert np.sort(found) == pytest.approx(np.sort(values), abs=20 * EPS * max(np.abs(values).max(), 1.0))
    assert vectors * found @ vectors.T == pytest.approx(a, abs=20 * EPS * 5)
    clamped = a.copy()
    clamp_symmetric(clamped, found, scratch)
    assert clamped == pytest.approx(q * np.maximum(values, 0.0) @ q.T, abs=20 * EPS * 5)


def test_clamping_leaves_what_needs_none_as_it_is() -> None:
    a = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -0.5], [0.5, -0.5, 4.0]])
    given = a.copy()
    clamp_symmetric(given, np.empty(3), np.empty((3, 3)))
    assert np.array_equal(given, a)
