"""Parabolas in time through samples: what a path is faded together from.

That of a sample runs through it and its two neighbours; at the ends it is that of the sample next to them. Where a
short time follows a long one the speed of the short one would throw the parabola far out over the long one: a body that
stands for a second and then goes half a metre in four frames would first go back by more than that. With even times a
parabola leaves its chord by an eighth of both ways together at most. One that leaves it by more over the longer of its
times is drawn towards the chord of that until it does not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bunraku.contracts import Array, Vector

_OUT = 0.125
"""share of the ways to both neighbours together by which a parabola may leave its chord: what it has with even times"""


def parabolas(times: Vector, way: Callable[[int, int], Vector]) -> Array:
    """(t, 2, 3) slope and half curvature at each sample at times (t,).

    `way(k, j)` (3,) leads from sample k to j, which are neighbours or, at the ends, one apart.
    """
    last = len(times) - 1
    out = np.zeros((last + 1, 2, 3))
    if last == 1:
        out[:, 0] = way(0, 1) / (times[1] - times[0])
    for k in range(last + 1) if last > 1 else ():
        first = min(max(k - 1, 0), last - 2)
        i, j = (one for one in range(first, first + 3) if one != k)
        a, b = float(times[i] - times[k]), float(times[j] - times[k])
        to_i, to_j = way(k, i), way(k, j)
        bend = (to_j / b - to_i / a) / (b - a)
        if 0 < k < last:
            ways = np.linalg.norm(to_i) + np.linalg.norm(to_j)
            along, time = (to_i, a) if -a > b else (to_j, b)
        else:  # at an end it counts up to the next sample only
            near, far = ((to_i, a), to_j) if k == 0 else ((to_j, b), to_i)
            ways = np.linalg.norm(near[0]) + np.linalg.norm(far - near[0])
            along, time = near
        out[k] = _tame(along / time, bend, time, _OUT * float(ways))
    return out


def _tame(chord: Vector, bend: Vector, time: float, most: float) -> Array:
    """(2, 3) slope and half curvature of the parabola over a chord, that leaves it within a time [s] by `most` at
    most."""
    leaves = 0.25 * float(np.linalg.norm(bend)) * time * time
    share = most / leaves if leaves > most else 1.0
    return np.stack([chord - share * time * bend, share * bend])
