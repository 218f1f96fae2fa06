"""Which region each face of a mesh belongs to, by the regions' test functions, and what colour it has then."""

from __future__ import annotations

import colorsys

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Faces, Integers, Sparse, Vector

_FREE = (0.55, 0.55, 0.55)
_GOLDEN = 0.6180339887  # turns of the hue from one region to the next: neighbours in number are far in colour


def face_weights(functions: Sparse, faces: Faces) -> Sparse:
    """(f, k) how much each region weighs on each face, for functions (k, n) on the vertices."""
    rows = np.repeat(np.arange(len(faces)), 3)
    corners = sparse.csr_array(
        (np.full(rows.size, 1 / 3), (rows, faces.reshape(-1))), shape=(len(faces), functions.shape[1])
    )
    return sparse.csr_array(corners @ functions.T)


def heaviest(weights: Sparse, held: Vector) -> Integers:
    """(f,) the region that weighs most on each face, as firmly as each is `held` (k,); −1 where none does."""
    count = weights.shape[0]
    firm = weights.data * held[weights.indices]  # of regions within regions that which is held
    found = np.full(count, -1)
    order = np.argsort(firm, kind="stable")  # the heaviest of a face's regions is written last
    order = order[firm[order] > 0.0]
    face = np.repeat(np.arange(count), np.diff(weights.indptr))
    found[face[order]] = weights.indices[order]
    return found


def label_colours(labels: Integers) -> Array:
    """(f, 3) sRGB: a hue a region, grey where free."""
    count = int(labels.max(initial=-1)) + 1
    hues = [((_GOLDEN * k) % 1.0, 0.55 + 0.25 * (k % 2), 0.95 - 0.1 * (k % 3)) for k in range(count)]
    return np.array([*(colorsys.hsv_to_rgb(*one) for one in hues), _FREE])[labels]
