"""How far pairs that slide along each other may go.

A pair that is very near and slides far is a hard case for the toolkit, which goes ahead by no more than the distance
over the speed, whatever its direction: a pair 10⁻⁸ m apart that slides a centimetre takes it a million looks. Here it
goes ahead as long as the direction in which the pair is nearest keeps its two sides apart: while corners go straight,
their extents along a fixed direction change linearly, and sliding does not change them at all.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from bunraku.contracts import Integers, Points, Vector
from bunraku.geometry.hulls import nearest_of

_MOST_LOOKS = 200  # at one pair; what is reached then is free, if short
_THERE = 1e-3  # share of the distance it may lose within which a pair counts as arrived


def free_shares(begin: Points, end: Points, faces: Integers, edges: Integers, gap: float, keep: float) -> Vector:
    """(f + e,) how much of the straight way from `begin` to `end` (n, 3) each pair can go, 0 to 1: vertices with
    `faces` (f, 4) and edges with `edges` (e, 4). Each keeps the share `keep` of its distance beyond the `gap` [m]; zero
    where there is none.
    """
    share = np.ones(len(faces) + len(edges))
    begin, end = np.ascontiguousarray(begin), np.ascontiguousarray(end)
    _advance(begin, end, np.concatenate([faces, edges]), len(faces), gap, keep, share)
    return share


@njit(parallel=True, cache=True, error_model="numpy")
def _advance(begin, end, corners, faces, gap, keep, share):
    for k in prange(len(corners)):
        ring = k >= faces
        start, way = _between(begin, corners[k], ring), _between(end, corners[k], ring)
        way -= start
        share[k] = _free(start, way, ring, gap, keep)


@njit(error_model="numpy")
def _between(x, corner, ring):
    """Vectors between the two sides' corners: p − a, p − b, p − c, or a − c, b − c, b − d, a − d, in a ring."""
    a, b, c, d = x[corner[0]], x[corner[1]], x[corner[2]], x[corner[3]]
    out = np.empty((4 if ring else 3, 3))
    if ring:
        out[0], out[1], out[2], out[3] = a - c, b - c, b - d, a - d
    else:
        out[0], out[1], out[2] = a - b, a - c, a - d
    return out


@njit(error_model="numpy")
def _free(start, way, ring, gap, keep):
    """How much of its way the hull of vectors (m, 3) can go and not come nearer to zero than it must stay."""
    t, limit, there = 0.0, 0.0, 0.0
    for look in range(_MOST_LOOKS):
        r = start + t * way
        n0, n1, n2 = nearest_of(r, ring)
        size = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if look == 0:
            if size <= gap:
                return 0.0
            limit = gap + keep * (size - gap)
            there = limit + _THERE * (1.0 - keep) * (size - gap)
        if size <= there:
            return t
        least = np.inf
        for k in range(len(r)):
            speed = (way[k, 0] * n0 + way[k, 1] * n1 + way[k, 2] * n2) / size
            if speed < 0.0:
                extent = (r[k, 0] * n0 + r[k, 1] * n1 + r[k, 2] * n2) / size
                least = min(least, (extent - limit) / -speed)
        t += max(least, 0.0)
        if t >= 1.0:
            return 1.0
    return t
