"""How far pairs that slide along each other may go.

A pair that is very near and slides far is a hard case for the toolkit, which goes ahead by no more than the distance
over the speed, whatever its direction: a pair 10⁻⁸ m apart that slides a centimetre takes it a million looks. Here it
goes ahead as long as the direction in which the pair is nearest keeps its two sides apart: while corners go straight,
their extents along a fixed direction change linearly, and sliding does not change them at all.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from bunraku.contracts import Integers, Points, Vector, alike
from bunraku.geometry.hulls import nearest_of

_MOST_LOOKS = 200  # at one pair; what is reached then is free, if short
_THERE = 1e-3  # share of the distance it may lose within which a pair counts as arrived


def free_shares(begin: Points, end: Points, faces: Integers, edges: Integers, gap: float, keep: float) -> Vector:
    """(f + e,) how much of the straight way from `begin` to `end` (n, 3) each pair can go, 0 to 1: vertices with
    `faces` (f, 4) and edges with `edges` (e, 4). Each keeps the share `keep` of its distance beyond the `gap` [m]; zero
    where there is none.
    """
    share = np.ones(len(faces) + len(edges))
    begin, end = alike(begin), alike(end)
    _advance(begin, end, np.concatenate([faces, edges]), len(faces), gap, keep, share)
    return share


@njit(parallel=True, cache=True, error_model="numpy")
def _advance(begin, end, corners, faces, gap, keep, share):
    # A call alone: what stands in a parallel loop itself takes several times as long to compile.
    for k in prange(len(corners)):
        share[k] = _free(begin, end, corners[k], k >= faces, gap, keep)


@njit(error_model="numpy")
def _between(x, corner, ring, out):
    """Vectors between the two sides' corners: p − a, p − b, p − c, or a − c, b − c, b − d, a − d, in a ring."""
    a, b, c, d = corner[0], corner[1], corner[2], corner[3]
    for axis in range(3):
        if ring:
            out[0, axis], out[1, axis] = x[a, axis] - x[c, axis], x[b, axis] - x[c, axis]
            out[2, axis], out[3, axis] = x[b, axis] - x[d, axis], x[a, axis] - x[d, axis]
        else:
            out[0, axis], out[1, axis] = x[a, axis] - x[b, axis], x[a, axis] - x[c, axis]
            out[2, axis] = x[a, axis] - x[d, axis]


@njit(cache=True, error_model="numpy")
def _free(begin, end, corner, ring, gap, keep):
    """How much of its way the hull of a pair's vectors can go and not come nearer to zero than it must stay."""
    size = 4 if ring else 3
    start, way, r = np.empty((size, 3)), np.empty((size, 3)), np.empty((size, 3))
    _between(begin, corner, ring, start)
    _between(end, corner, ring, way)
    for k in range(size):
        for axis in range(3):
            way[k, axis] -= start[k, axis]
    t, limit, there = 0.0, 0.0, 0.0
    for look in range(_MOST_LOOKS):
        for k in range(size):
            for axis in range(3):
                r[k, axis] = start[k, axis] + t * way[k, axis]
        n0, n1, n2 = nearest_of(r, ring)
        away = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if look == 0:
            if away <= gap:
                return 0.0
            limit = gap + keep * (away - gap)
            there = limit + _THERE * (1.0 - keep) * (away - gap)
        if away <= there:
            return t
        least = np.inf
        for k in range(size):
            speed = (way[k, 0] * n0 + way[k, 1] * n1 + way[k, 2] * n2) / away
            if speed < 0.0:
                extent = (r[k, 0] * n0 + r[k, 1] * n1 + r[k, 2] * n2) / away
                least = min(least, (extent - limit) / -speed)
        t += max(least, 0.0)
        if t >= 1.0:
            return 1.0
    return t
