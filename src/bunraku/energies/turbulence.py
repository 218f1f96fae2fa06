"""Turbulence of a wind: a sum of waves, each across its own direction, so the field has no divergence.

    u(x, t) = Σ a_k cos(k·(x − U t) + ω_k t + φ_k),     a_k ⊥ k,

carried along by the mean wind U, each eddy turning over at its own rate ω_k ~ |k| × its speed. Wavelengths lie between
the size of the largest eddies and an eighth of it; the energy falls towards the small ones as k^(−5/3). The waves come
from the seed alone, so the field is the same for any mesh, and its mean square is Σ |a_k|²/2 whatever the seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Points, Vector

WAVES = 64
_SMALLEST = 1 / 8
"""the shortest wavelength, as a share of the longest"""


@dataclass(frozen=True, eq=False)
class Turbulence:
    """A frozen choice of waves."""

    waves: Points
    """(k, 3) wave vectors [1/m]"""
    amplitudes: Points
    """(k, 3) [m/s], each across its wave vector"""
    rates: Vector
    """(k,) [1/s] of the phases at a fixed place: −k·U + ω"""
    phases: Vector
    """(k,) [rad]"""

    @classmethod
    def of(cls, mean: Vector, speed: float, size: float, seed: int) -> Turbulence:
        """Eddies up to `size` [m] with a root mean square of `speed` [m/s], carried by the wind `mean` (3,) [m/s]."""
        generator = np.random.default_rng(seed)
        direction = generator.normal(size=(WAVES, 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        # One wavelength in each of WAVES equal shares of the range of logarithms: no seed leaves a scale out.
        share = (np.arange(WAVES) + generator.random(WAVES)) / WAVES
        number = 2.0 * np.pi / (size * _SMALLEST**share)
        across = np.cross(direction, generator.normal(size=(WAVES, 3)))
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        weight = number ** (-1.0 / 3.0)  # per logarithm of k the energy is k × k^(−5/3)
        strength = speed * weight * np.sqrt(2.0 / np.sum(weight**2))
        turning = generator.normal(size=WAVES) * number * speed
        waves = number[:, None] * direction
        phases = generator.uniform(0.0, 2.0 * np.pi, WAVES)
        return cls(waves, strength[:, None] * across, turning - waves @ mean, phases)

    def at(self, points: Points, time: float) -> Points:
        """(m, 3) velocity [m/s] at points (m, 3) and a time [s]."""
        phase = points @ self.waves.T
        phase += self.rates * time + self.phases
        return np.cos(phase, out=phase) @ self.amplitudes
