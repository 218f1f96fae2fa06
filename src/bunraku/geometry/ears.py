"""Cutting the ears off a polygon in the plane, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.contracts import Array, Faces


def clip_ears(ring: Array) -> Faces:
    """(n − 2, 3) places in the ring (n, 2), counter-clockwise; the best ear goes first. Time grows as n²."""
    return _clip(np.ascontiguousarray(ring, dtype=np.float64))


@njit(cache=True)
def _clip(ring):
    count = len(ring)
    before, after = np.arange(count) - 1, np.arange(count) + 1
    before[0], after[count - 1] = count - 1, 0
    there = np.ones(count, np.bool_)
    quality = np.empty(count)
    for k in range(count):
        quality[k] = _quality(ring, before[k], k, after[k], there)
    out = np.empty((count - 2, 3), np.int64)
    for done in range(count - 2):
        best = -1
        for k in range(count):
            if there[k] and (best < 0 or quality[k] > quality[best]):
                best = k
        i, j = before[best], after[best]
        out[done, 0], out[done, 1], out[done, 2] = i, best, j
        there[best] = False
        after[i], before[j] = j, i
        # Only the neighbours' ears have changed; ears that were blocked may open, which shows when their turn comes.
        quality[i] = _quality(ring, before[i], i, after[i], there)
        quality[j] = _quality(ring, before[j], j, after[j], there)
        if done + 3 < count and _blocked(quality, there):
            for k in range(count):
                if there[k]:
                    quality[k] = _quality(ring, before[k], k, after[k], there)
    return out


@njit(cache=True)
def _blocked(quality, there):
    """Whether no corner left is known as an ear."""
    for k in range(len(quality)):
        if there[k] and quality[k] > 0.0:
            return False
    return True


@njit(cache=True)
def _quality(ring, i, j, k, there):
    """How well a corner can be cut off: area over longest edge², negative where it cannot."""
    area = _turn(ring, i, j, k)
    longest = max(_square(ring, i, j), _square(ring, j, k), _square(ring, k, i), 1e-300)
    quality = area / longest
    if area <= 0.0:
        return quality - 2.0
    for m in range(len(ring)):
        if there[m] and m != i and m != j and m != k:
            if _turn(ring, i, j, m) > 0.0 and _turn(ring, j, k, m) > 0.0 and _turn(ring, k, i, m) > 0.0:
                return quality - 2.0
    return quality


@njit(cache=True)
def _turn(ring, a, b, c):
    """Twice the signed area of three corners."""
    return (ring[b, 0] - ring[a, 0]) * (ring[c, 1] - ring[a, 1]) - (ring[b, 1] - ring[a, 1]) * (ring[c, 0] - ring[a, 0])


@njit(cache=True)
def _square(ring, a, b):
    return (ring[a, 0] - ring[b, 0]) ** 2 + (ring[a, 1] - ring[b, 1]) ** 2
