"""Local laws of isotropic thin shells: plane-stress stretching and plate bending."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Vector


def stretching_stiffness(young: Vector, poisson: Vector, thickness: Vector) -> Array:
    """(f, 3, 3) plane-stress stiffness times thickness [N/m], for strains (E₁₁, E₂₂, 2E₁₂).

    St. Venant–Kirchhoff: E h / (1 − ν²) · [[1, ν, 0], [ν, 1, 0], [0, 0, (1 − ν)/2]].
    """
    scale = young * thickness / (1.0 - poisson**2)
    stiffness = np.zeros((len(scale), 3, 3))
    stiffness[:, 0, 0] = stiffness[:, 1, 1] = scale
    stiffness[:, 0, 1] = stiffness[:, 1, 0] = scale * poisson
    stiffness[:, 2, 2] = scale * (1.0 - poisson) / 2.0
    return stiffness


def bending_rigidity(young: Vector, poisson: Vector, thickness: Vector) -> Vector:
    """(f,) D = E h³ / (12 (1 − ν²)) [N·m]."""
    return young * thickness**3 / (12.0 * (1.0 - poisson**2))
