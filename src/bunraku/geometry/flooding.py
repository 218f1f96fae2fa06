"""Growing regions from seeds, nearest face first, compiled."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit


@njit(cache=True)
def flood(across, seeds, centre, normal, area, pull, bend, proxy_centre, proxy_normal):
    """Labels (f,) of faces grown from `seeds` (k,) over edges `across` (f, 3), and the sum of their distances.

    The heap holds (distance, order, face, region): of equal distances the earlier goes first.
    """
    labels = np.full(len(across), -1)
    heap = [(0.0, 0, seeds[0], 0)]
    order = 1
    for region in range(1, len(seeds)):
        heapq.heappush(heap, (0.0, order, seeds[region], region))
        order += 1
    total = 0.0
    while len(heap) > 0:
        _, _, face, region = heapq.heappop(heap)
        if labels[face] >= 0:
            continue
        labels[face] = region
        total += _distance(centre, normal, area, pull, bend, proxy_centre, proxy_normal, face, region)
        for side in range(3):
            other = across[face, side]
            if other >= 0 and labels[other] < 0:
                apart = _distance(centre, normal, area, pull, bend, proxy_centre, proxy_normal, other, region)
                heapq.heappush(heap, (apart, order, other, region))
                order += 1
    return labels, total


@njit(cache=True)
def _distance(centre, normal, area, pull, bend, proxy_centre, proxy_normal, face, region):
    """The largest over all poses of A_j (µ/A |x_j − x_k|² + (1 − µ) |n_j − n_k|²)."""
    largest = 0.0
    for t in range(len(pull)):
        far = 0.0
        bent = 0.0
        for axis in range(3):
            far += (centre[t, face, axis] - proxy_centre[t, region, axis]) ** 2
            bent += (normal[t, face, axis] - proxy_normal[t, region, axis]) ** 2
        largest = max(largest, area[t, face] * (pull[t] * far + bend * bent))
    return largest
