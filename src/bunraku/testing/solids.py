"""Tetrahedral bars, and states of them at which derivatives are checked: random, squashed, inside out, flat."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Points
from bunraku.geometry import TetMesh

from .probes import Probe


def solid_probes(mesh: TetMesh, *, count: int = 6, seed: int = 0) -> list[Probe]:
    """`count` random states of a solid, and those where laws go wrong: squashed, inside out, nearly flat, collapsed."""
    return solid_states(mesh.rest, float(np.cbrt(np.abs(mesh.volumes).mean())), mesh.size, count=count, seed=seed)


def solid_states(rest: Points, edge: float, size: float, *, count: int, seed: int) -> list[Probe]:
    """Those states of points (n, 3), with elements of about an `edge` [m] in a body of a `size` [m]."""
    generator = np.random.default_rng(seed)

    def shaken(x: Points, amount: float) -> Points:
        return x + amount * edge * generator.uniform(-1.0, 1.0, x.shape)

    centre = rest.mean(axis=0)
    shapes = {f"random {k}": shaken(rest, 0.3) for k in range(count)}
    shapes["near rest"] = shaken(rest, 1e-4)
    shapes["far away"] = shaken(rest, 0.3) + 4.0 * size
    shapes["squashed"] = shaken(rest * [1.4, 0.2, 1.4], 0.03)
    shapes["stretched"] = shaken(rest * [3.0, 0.7, 0.7], 0.1)
    shapes["mirrored"] = shaken(rest * [-1.0, 1.3, 1.6], 0.05)
    shapes["tangled"] = shaken(rest, 1.2)
    shapes["nearly flat"] = shaken(rest * [1.0, 0.02, 1.3], 0.002)
    shapes["nearly a point"] = shaken(centre + 0.05 * (rest - centre) * [1.0, 2.0, 3.0], 0.005)
    return [Probe(name, x, 0.05 * edge * _sharpness(name)) for name, x in shapes.items()]


def _sharpness(name: str) -> float:
    """Laws that know a rotation change within the smallest sum of two stretches."""
    return {"nearly flat": 0.2, "nearly a point": 0.1, "tangled": 0.05, "mirrored": 0.3}.get(name, 1.0)
