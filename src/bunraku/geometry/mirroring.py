"""Which vertex is the mirror image of which: for painting on both sides at once."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from bunraku.contracts import Integers, Points, input_error


def mirror_images(x: Points, axis: int, tolerance: float, at: float | None = None) -> Integers:
    """(n,) the vertex at the mirror image of each of x (n, 3), −1 where none is within `tolerance` [m].

    The plane is across `axis` (0, 1, 2) at the coordinate `at`, by default the middle of the box. Images are mutual: of
    two vertices that have one nearest image the nearer has it.
    """
    if axis not in (0, 1, 2):
        raise input_error("a mirror is across an axis", where="axis", got=axis, allowed="0, 1, 2")
    low, high = x[:, axis].min(initial=np.inf), x[:, axis].max(initial=-np.inf)
    plane = 0.5 * (low + high) if at is None else at
    image = x.copy()
    image[:, axis] = 2.0 * plane - x[:, axis]
    far, near = KDTree(x).query(image)
    near = np.where(far <= tolerance, near, len(x))
    back = np.append(near, -1)[near]
    return np.where(back == np.arange(len(x)), near, -1)
