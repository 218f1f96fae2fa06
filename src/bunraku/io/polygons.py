"""Polygons become triangles."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Integers


def triangulate(counts: Integers, corners: Integers) -> Faces:
    """(f, 3) triangles: polygons of `counts` (p,) ≥ 3 corners, listed in `corners`, as fans."""
    triangles = counts - 2
    polygon = np.repeat(np.arange(len(counts)), triangles)
    step = np.arange(len(polygon)) - (np.cumsum(triangles) - triangles)[polygon]
    first = (np.cumsum(counts) - counts)[polygon]
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1)
