"""Vectors in kernels as tuples: to the last bit what arrays give."""

from __future__ import annotations

import numpy as np

from bunraku.geometry.vectors import at, between, cross, dot, less, over

RNG = np.random.default_rng(5)


def test_vectors_are_those_of_arrays() -> None:
    x = RNG.normal(size=(40, 3))
    for i, j in ((0, 1), (7, 3), (39, 38), (5, 5)):
        a, b = at(x, i), at(x, j)
        assert a == tuple(x[i])
        assert between(x, i, j) == tuple(x[i] - x[j]) == less(a, b)
        assert dot(a, b) == x[i, 0] * x[j, 0] + x[i, 1] * x[j, 1] + x[i, 2] * x[j, 2]
        assert cross(a, b) == tuple(np.cross(x[i], x[j]))
        assert over(a, 3.0) == tuple(x[i] / 3.0)
