"""Bodies of blocks, whose volumes are known, and states of a lattice at which derivatives are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry import Lattice, TriMesh

from .probes import Probe
from .solids import solid_states


def block_surface(filled: NDArray[Any], side: float) -> TriMesh:
    """The surface of those cubes, of a side [m], that are `filled` (a, b, c); the corner is at the origin."""
    room = np.pad(np.asarray(filled, dtype=bool), 1)
    corners = []
    for axis in range(3):
        one, two = (np.eye(3, dtype=np.int64)[(axis + k) % 3] for k in (1, 2))
        for way in (-1, 1):
            bare = np.argwhere(room & ~np.roll(room, -way, axis=axis)) - 1
            bare[:, axis] += way > 0
            around = [bare, bare + one, bare + one + two, bare + two]
            corners.append(np.stack(around if way > 0 else around[::-1], axis=1))
    quads = np.concatenate(corners)
    places, of = np.unique(quads.reshape(-1, 3), axis=0, return_inverse=True)
    a, b, c, d = of.reshape(-1, 4).T
    return TriMesh(side * places, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))


def lattice_probes(lattice: Lattice, *, count: int = 4, seed: int = 0) -> list[Probe]:
    """As `solid_probes`, of a lattice's nodes."""
    return solid_states(lattice.rest, lattice.cell, float(np.ptp(lattice.rest, axis=0).max()), count=count, seed=seed)
