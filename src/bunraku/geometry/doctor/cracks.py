"""Border points that all but lie on another border: places where a surface was meant to be whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points, Vector
from bunraku.geometry.closest import closest_others
from bunraku.geometry.connectivity import face_pieces
from bunraku.geometry.topology import Edges

CRACK = 1e-5
"""of the shape's size: wider gaps are gaps"""
NARROW = 0.1
"""of the shortest edge beside it: a wider gap is a shape of its own"""


@dataclass(frozen=True, eq=False)
class Cracks:
    """Border points and the nearest border edge they are no end of."""

    points: Integers
    """(k,)"""
    partner: Integers
    """(k,) the end of that edge which is nearer"""
    side: Integers
    """(k, 2) the ends of that edge"""
    along: Vector
    """(k,) where on it, 0 to 1"""
    near: Integers
    """(a,) places in `points` of those almost on an end"""
    on_edges: Integers
    """(b,) of those on the inside of the edge"""
    widest: float
    """largest gap [m]"""

    @property
    def torn(self) -> Integers:
        """(c,) all points at cracks."""
        return np.union1d(self.points[self.near], self.points[self.on_edges])


def find_cracks(x: Points, faces: Faces, found: Edges, distance: float | None = None) -> Cracks:
    """Cracks up to `distance` [m] wide (default: CRACK of the size); points exactly on others are none."""
    border = found.vertices[found.face_count == 1]
    points = np.unique(border)
    none = np.zeros(0, np.int64)
    if len(border) < 2:
        return Cracks(none, none, np.zeros((0, 2), np.int64), np.zeros(0), none, none, 0.0)
    size = float(np.linalg.norm(np.ptp(x[np.unique(faces)], axis=0)))
    reach = CRACK * size if distance is None else distance
    place = closest_others(points, x, border[:, [0, 1, 1]])
    side = border[place.faces]
    lengths = np.linalg.norm(x[border[:, 0]] - x[border[:, 1]], axis=1)
    shortest = np.full(len(x), np.inf)
    np.minimum.at(shortest, border.reshape(-1), np.repeat(lengths, 2))
    beside = np.minimum(shortest[points], lengths[place.faces])
    along = place.weights[:, 1] + place.weights[:, 2]
    partner = side[np.arange(len(side)), (along > 0.5).astype(np.int64)]
    to_end = np.linalg.norm(x[points] - x[partner], axis=1)
    narrow = (place.faces >= 0) & (place.distances <= reach) & (place.distances <= NARROW * beside) & (to_end > 0)
    near = narrow & (to_end <= reach) & (to_end <= NARROW * beside)
    near[near] = _runs_along(x, border, points[near], partner[near], partner[near], reach)
    # Only within a piece: strips that merely rest on others (hair, feathers) were never one surface.
    piece = np.full(len(x), -1)
    piece[faces.reshape(-1)] = np.repeat(face_pieces(faces, len(x)), 3)
    on_edge = narrow & (to_end > np.maximum(reach, NARROW * beside)) & (piece[points] == piece[side[:, 0]])
    on_edge[on_edge] = _runs_along(x, border, points[on_edge], side[on_edge, 0], side[on_edge, 1], reach)
    widest = float(place.distances[near | on_edge].max(initial=0.0))
    return Cracks(points, partner, side, along, np.flatnonzero(near), np.flatnonzero(on_edge), widest)


def _runs_along(x: Points, border: Integers, point: Integers, one: Integers, other: Integers, reach: float) -> Flags:
    """(k,) whether a border edge at each point runs along one at `one` or `other` (k,), not just touches it."""
    ends = np.concatenate([border, border[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    first, last = (np.searchsorted(ends[:, 0], np.arange(len(x)), side=s) for s in ("left", "right"))
    out = np.zeros(len(point), dtype=bool)
    for partner in (one, other):
        number, mine = _each(first[point], last[point])
        again, theirs = _each(first[partner[number]], last[partner[number]])
        mine, number = mine[again], number[again]
        p, q, a, r = ends[mine, 0], ends[mine, 1], ends[theirs, 0], ends[theirs, 1]
        along = _near_segment(x[q], x[a], x[r], reach) | _near_segment(x[r], x[p], x[q], reach)
        out[number[along & (q != a)]] = True
    return out


def _each(first: Integers, last: Integers) -> tuple[Integers, Integers]:
    """All whole numbers of ranges (k,), and the range each comes from."""
    count = last - first
    which = np.repeat(np.arange(len(first)), count)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count) + first[which]


def _near_segment(p: Points, a: Points, b: Points, reach: float) -> Flags:
    """(k,) whether points lie within `reach` of segments from a to b, away from a."""
    way = b - a
    square = np.maximum(np.einsum("ki,ki->k", way, way), 1e-300)
    along = np.clip(np.einsum("ki,ki->k", p - a, way) / square, 0.0, 1.0)
    return (np.linalg.norm(p - a - along[:, None] * way, axis=1) <= reach) & (along > 0.0)
