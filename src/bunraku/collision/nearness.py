"""Where surfaces are near each other, to look at."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Array, Points

from .blocks import Gaps
from .surfaces import Surfaces


def near_segments(surfaces: Surfaces, points: Points) -> Array:
    """(m, 2, 3) [m] from the nearest place of one side of each near pair to that of the other, for points (n + o, 3) of
    the shell and then of the obstacles. A pair is near within the distance at which surfaces feel each other."""
    found = [np.zeros((0, 2, 3))]
    for pairing, size in surfaces.pairings:
        near = pairing.near(points[:size])
        if len(near):
            gaps = Gaps.of(near.pairs(), points, surfaces.rest, near.gap, near.reach)
            first = np.where(gaps.weights > 0.0, gaps.weights, 0.0)  # one side of a pair counts up, the other down
            begin = np.einsum("mi,mij->mj", first, points[gaps.corners])
            found.append(np.stack([begin, begin - gaps.distances[:, None] * gaps.normals], axis=1))
    return np.concatenate(found)
