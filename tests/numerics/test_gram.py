"""Rows that see few unknowns each: the same sum with and without their zeros."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.numerics import gram, squares_model


@pytest.mark.parametrize("count", [3, 60])
def test_zeros_may_be_left_out(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(count)
    rows, weights = np.zeros((count, 8, count, 5)), random.uniform(1.0, 9.0, size=8 * count)
    rows[np.arange(count), :, np.arange(count)] = random.normal(size=(count, 8, 5))
    rows = rows.reshape(8 * count, 5 * count)
    whole = rows.T @ np.diag(weights) @ rows
    np.testing.assert_allclose(gram(rows, weights), whole, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(squares_model, "_LARGE", 0)
    monkeypatch.setattr(squares_model, "_SPARSE", 1.0)
    np.testing.assert_allclose(gram(rows, weights), whole, rtol=1e-12, atol=1e-12)
