"""Small holes: which they are, and triangles over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points
from bunraku.geometry.connectivity import Borders, borders, face_pieces, same_place
from bunraku.geometry.intersections import meetings
from bunraku.geometry.topology import edges

from .draft import Draft

SMALL_HOLE = 0.15
"""length of a hole's rim over the size of its piece; the rim of a flat sheet is at least twice its size"""
LONGEST_RIM = 600
"""edges: the work grows as the cube of it"""


def piece_sizes(x: Points, faces: Faces, piece: Integers) -> Points:
    """(pieces,) diagonal of each piece's bounding box [m]; piece (f,)."""
    count = int(piece.max(initial=-1)) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    corners = x[faces]
    np.minimum.at(low, piece, corners.min(axis=1))
    np.maximum.at(high, piece, corners.max(axis=1))
    return np.linalg.norm(high - low, axis=1)


def small_holes(border: Borders, pieces: Integers, sizes: Points, up_to: float) -> Flags:
    """(loops,) closed rims shorter than `up_to` times the size of their piece; pieces (f,), sizes (pieces,) [m]."""
    piece = np.zeros(border.count, np.int64)
    piece[border.loop] = pieces[border.sides // 3]
    return border.simple & (border.length < up_to * sizes[piece])


def fill_holes(draft: Draft, up_to: float) -> tuple[Draft, int, int]:
    """Triangles over the small holes; also how many holes, and triangles in them.

    New triangles have the values of the polygons around the hole. A hole that can only be filled with triangles that
    cross the surface is left.
    """
    covers = _covers(draft, up_to)
    if not covers:
        return draft, 0, 0
    made, crossing = _with(draft, covers), len(draft.faces)
    met = meetings(made.x, same_place(made.x)[made.faces])[crossing:] == 2
    ends = np.cumsum([len(cover.faces) for cover in covers])
    clean = [cover for cover, part in zip(covers, np.split(met, ends[:-1]), strict=True) if not part.any()]
    if len(clean) < len(covers):
        made = _with(draft, clean) if clean else draft
    return made, len(clean), len(made.faces) - len(draft.faces)


class Cover(NamedTuple):
    """Triangles over one hole."""

    faces: Faces
    """(k, 3)"""
    sources: Integers
    """(k, 3) see `Draft`"""
    polygons: Integers
    """(k,)"""


def _with(draft: Draft, covers: list[Cover]) -> Draft:
    return draft.with_more(*(np.concatenate(parts) for parts in zip(*covers, strict=True)))


def _covers(draft: Draft, up_to: float) -> list[Cover]:
    """The best triangles over each small hole."""
    from .rims import best_triangles, rim_order, simple_rings  # compiled kernels: only for those who need them

    x, faces = draft.x, draft.faces
    found = edges(faces)
    border = borders(x, faces, found)
    pieces = face_pieces(faces, len(x))
    small = small_holes(border, pieces, piece_sizes(x, faces, pieces), up_to)
    counts = border.edge_counts
    first = np.zeros(border.count, np.int64)
    first[border.loop] = np.arange(len(border.sides))
    # Two points on one spot count as one here: the seam that leaves between two covers is sewn afterwards.
    span, place = len(x), same_place(x)
    joined = found.vertices[:, 0] * span + found.vertices[:, 1]
    covers = []
    for loop in np.flatnonzero(small & (counts >= 3) & (counts <= LONGEST_RIM)):
        # Backwards: a border side runs with its own face, against the hole's.
        border_rim = border.sides[rim_order(border.following, first[loop], counts[loop])][::-1]
        label = simple_rings(place[faces.reshape(-1)[border_rim]])
        for part in range(int(label.max()) + 1):
            rim = border_rim[label == part]
            ring = faces.reshape(-1)[rim]
            triangles, cost = best_triangles(x[ring], _barred(ring, joined, span))
            if len(ring) > 2 and np.isfinite(cost):
                source, polygon = draft.sources.reshape(-1)[rim], draft.polygons[rim // 3]
                covers.append(Cover(ring[triangles], source[triangles], polygon[triangles[:, 0]]))
                fresh = np.sort(ring[triangles], axis=1)
                more = np.concatenate([fresh[:, i] * span + fresh[:, j] for i, j in ((0, 1), (0, 2), (1, 2))])
                joined = np.concatenate([joined, more])  # so that two holes on one rim are not given the same edge
    return covers


def _barred(ring: Integers, joined: Integers, span: int) -> Flags:
    """(n, n) pairs of a ring's places that are one point, or have an edge already and are no neighbours in it."""
    low, high = np.minimum(ring[:, None], ring[None]), np.maximum(ring[:, None], ring[None])
    barred = np.isin(low * span + high, joined) | (ring[:, None] == ring[None])
    n = len(ring)
    step = np.abs(np.arange(n)[:, None] - np.arange(n)[None])
    barred[(step == 1) | (step == n - 1)] = False
    return barred
