"""Triangles of a mesh that pass through each other.

Two triangles *cross* where an edge of one goes through the inside of the other, or where they overlap in one plane.
They *touch* where they have a place in common without crossing: a corner on an edge, a corner on a face.
Neighbours have their common vertices in common by right. With one common vertex they cross where they meet again away
from it; with a common edge where one lies folded flat on the other; with the same three vertices always.
"""

from __future__ import annotations

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points

from .connectivity import finite_points


def intersecting_faces(
    x: Points, faces: Faces, *, touching: bool = False, sewn: Integers | None = None
) -> Flags:  # fmt: skip
    """(f,) whether a triangle (f, 3) of the points (n, 3) crosses another or, with `touching`, touches one.

    Triangles that are not finite or have no area do neither. Those with vertices that are `sewn` (s, 2) to each other
    are neighbours: where they meet does not count.
    """
    return meetings(x, faces, sewn=sewn) >= (1 if touching else 2)


def faces_through(x: Points, faces: Faces, others: Faces, *, touching: bool = False) -> Flags:
    """(f,) the same of triangles (f, 3) with `others` (g, 3) of the same points, and not with each other."""
    return meetings(x, np.concatenate([faces, others]), own=len(faces)) >= (1 if touching else 2)


def meetings(x: Points, faces: Faces, *, own: int | None = None, sewn: Integers | None = None) -> Integers:
    """(f,) 0: the triangle meets no other, 1: it touches one, 2: it crosses one.

    Triangles with vertices that are `sewn` (s, 2) to each other are not asked.
    With `own`: (own,) of the first `own` triangles, and only what they do to those after them.
    """
    from .crossing import meeting_faces  # compiled kernels: only for those who need them

    out = np.zeros(len(faces) if own is None else own, dtype=np.int64)
    sound = np.asarray(finite_points(x)[faces].all(axis=1))
    if not sound.any():
        return out
    corners = x[faces[sound]]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    # Of size one about the middle: then one tolerance serves all scales, and no product overflows.
    size = float((0.5 * high - 0.5 * low).max())
    if not size > 0.0:
        return out
    unit = (np.where(np.isfinite(x), x, 0.0) - (0.5 * low + 0.5 * high)) / size
    kept = np.ascontiguousarray(faces[sound])
    out[sound[: len(out)]] = meeting_faces(unit, kept, None if own is None else int(sound[:own].sum()), sewn)
    return out
