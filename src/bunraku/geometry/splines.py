"""Uniform B-splines on a lattice of cubes: one variable at a time, on the unit interval of a cell."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Vector

GAUSS: Vector = 0.5 + 0.5 * np.array([-np.sqrt(0.6), 0.0, np.sqrt(0.6)])
"""(3,) places in the unit interval at which polynomials of the fifth degree are integrated exactly"""
GAUSS_WEIGHTS: Vector = np.array([5.0, 8.0, 5.0]) / 18.0
"""(3,) their weights"""
DEGREES = (1, 2)
"""1: linear, kinked where cells meet; 2: quadratic, smooth there"""


def axis_functions(t: Array, degree: int) -> tuple[Array, Array]:
    """Values and slopes (…, degree + 1) of the functions that are not zero in a cell, at places t (…) in it.

    They sum to one for any t, and with nodes an interval apart reproduce t: beyond the cell too, as polynomials.
    """
    if degree == 1:
        return np.stack([1.0 - t, t], axis=-1), np.stack([-np.ones_like(t), np.ones_like(t)], axis=-1)
    values = np.stack([0.5 * (1.0 - t) ** 2, 0.5 + t * (1.0 - t), 0.5 * t * t], axis=-1)
    return values, np.stack([t - 1.0, 1.0 - 2.0 * t, t], axis=-1)


def first_node(degree: int) -> float:
    """Where in a cell's own coordinate its first node is: a linear one in the corner, a quadratic one in the middle of
    the cell before."""
    return 0.0 if degree == 1 else -0.5
