"""Central differences: the error of a right derivative falls as h², that of a wrong one does not fall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

STEPS = (1 / 256, 1 / 512, 1 / 1024)
"""the three h, in units of the smallest length that matters at a state"""
ROUNDING = 400.0 * float(np.finfo(np.float64).eps)
"""a sum of some hundred terms, each rounded once"""


class CheckFailed(AssertionError):
    """A class breaks a law it declares; the message says which, where and by how much."""


def falls_as(order: float, steps: Sequence[float], errors: Sequence[float], floors: Sequence[float]) -> bool:
    """Whether errors e(h) fall as h^order between neighbouring steps, or lie below what rounding explains.

    An error c h^p (1 + ρ), with ρ ∝ h² for symmetric and ∝ h for one-sided formulas, |ρ| ≤ ¼ at the larger
    step, has a measured slope between p + log₂(0.75/0.9375) and p + log₂(1.25/1.0625): p − 0.33 and p + 0.24.
    """
    for k in range(len(steps) - 1):
        if errors[k + 1] <= floors[k + 1]:
            continue
        if errors[k] <= 0.0:
            return False
        slope = np.log(errors[k] / errors[k + 1]) / np.log(steps[k] / steps[k + 1])
        if not order - 0.33 <= slope <= order + 0.24:
            return False
    return True


def unit_directions(shape: tuple[int, ...], count: int, seed: int) -> list[np.ndarray]:
    """Random directions whose largest coordinate is one."""
    generator = np.random.default_rng(seed)
    drawn = [generator.uniform(-1.0, 1.0, shape) for _ in range(count)]
    return [direction / np.abs(direction).max() for direction in drawn]


def random_rotation(generator: np.random.Generator) -> np.ndarray:
    """(3, 3) uniformly distributed, determinant one."""
    q, r = np.linalg.qr(generator.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q
