"""Closed parts of a surface whose faces look inwards."""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points
from bunraku.geometry.connectivity import Orientation
from bunraku.geometry.topology import Edges


def inside_out(x: Points, faces: Faces, found: Edges, way: Orientation) -> Flags:
    """(f,) faces of closed parts with a negative volume that no other closed part surrounds (the wall of a cavity has).

    Only parts whose faces agree with each other, on edges of two faces, have an inside.
    """
    bad = np.zeros(2 * len(faces), dtype=bool)
    bad[way.patch[(found.face_count != 2)[found.of_face].any(axis=1) | way.turn | way.one_sided]] = True
    patch = np.setdiff1d(np.unique(way.patch), np.flatnonzero(bad))
    inside = np.isin(way.patch, patch)
    own = np.searchsorted(patch, way.patch[inside])
    corners = x[faces[inside]]
    low, high = np.full((len(patch), 3), np.inf), np.full((len(patch), 3), -np.inf)
    np.minimum.at(low, own, corners.min(axis=1))
    np.maximum.at(high, own, corners.max(axis=1))
    corners = corners - low[own][:, None]
    volume = np.bincount(own, np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0)
    wrong = np.flatnonzero(volume < 0)
    return np.isin(way.patch, patch[wrong[~_surrounded(low, high, wrong)]])


def _surrounded(low: Points, high: Points, wrong: Integers) -> Flags:
    """(k,) whether the box of a part in `wrong` (k,) lies within another's; some at a time, for they may be many."""
    out = np.zeros(len(wrong), dtype=bool)
    for first in range(0, len(wrong), 256):
        some = wrong[first : first + 256]
        within = (low[None] <= low[some, None]).all(axis=2) & (high[None] >= high[some, None]).all(axis=2)
        out[first : first + 256] = within.sum(axis=1) > 1  # each lies within itself
    return out
