"""What seams leave no room for: edges that are closed, faces without area, faces laid flat on others.

Sewn along their borders two panels are one surface, which contact keeps from passing through itself. A face whose
corners all come to lie on another face is in one place with it, and no contact can keep two things in one place apart:
such seams are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bunraku.contracts import Faces, Flags, Integers, Sparse, Vector, input_error
from bunraku.geometry import TriMesh, first_few

if TYPE_CHECKING:
    from .seams import Seam

_DIGITS = 9  # of a share: places on an edge that agree in them are one


@dataclass(frozen=True, eq=False)
class Places:
    """Where vertices are once all seams are closed: in places, some of which lie on the sides of others."""

    of: Integers
    """(n,) the place of each vertex"""
    on: Integers
    """(k, 3) a place that lies between two others"""

    @classmethod
    def of_seams(cls, seams: Sequence[Seam], count: int) -> Places:
        """Of `count` vertices. What lies at one share of one edge is in one place, so that edges of these may be one
        edge again."""
        none = np.zeros((0, 2), np.int64)
        place = _joined(np.concatenate([none, *(seam.pairs for seam in seams)]), np.arange(count))
        rows, shares = _between(seams)
        while len(rows):
            ends = place[rows[:, 1:]]
            turned = ends[:, 0] > ends[:, 1]
            share = np.round(np.where(turned, 1.0 - shares, shares), _DIGITS)
            keys = np.column_stack([np.sort(ends, axis=1), share])
            _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
            flat = ends[:, 0] == ends[:, 1]
            onto = np.where(flat, ends[:, 0], place[rows[first[group.reshape(-1)], 0]])
            found = _joined(np.stack([place[rows[:, 0]], onto], axis=1), place)
            if np.array_equal(found, place):
                break
            place = found
        on = np.column_stack([place[rows[:, 0]], np.sort(place[rows[:, 1:]], axis=1)])
        return cls(place, np.unique(on[on[:, 1] != on[:, 2]], axis=0))

    def closed(self, faces: Faces) -> Flags:
        """(f,) of faces with two corners in one place, or with all of them on one line."""
        corners = self.of[faces]
        out = np.asarray((corners == np.roll(corners, 1, axis=1)).any(axis=1))
        if len(self.on):
            sides, which = np.unique(self.on[:, 1:], axis=0, return_inverse=True)
            of_side = _table(np.repeat(np.arange(len(sides)), 2), sides.reshape(-1), len(sides), len(self.of))
            of_side += _table(which.reshape(-1), self.on[:, 0], len(sides), len(self.of))
            out |= (self._corners(corners) @ (of_side > 0).T.astype(np.int64)).max(axis=1).toarray().reshape(-1) >= 3
        return out

    def laid(self, faces: Faces, touched: Flags) -> Integers:
        """(m, 2) faces, of those with `touched` (n,) corners only, all of whose corners lie on another, and that one;
        of two with the same corners one pair."""
        some = np.flatnonzero(touched[faces].all(axis=1))
        corners = self.of[faces[some]]
        own = self._corners(corners)
        within = own.copy()
        for a, b in ((0, 1), (1, 2), (2, 0)):
            within += self._on_side(corners[:, a], corners[:, b])
        found = (own @ (within > 0).astype(np.int64).T).tocoo()
        pairs = np.stack([found.row, found.col], axis=1)[(found.data >= 3) & (found.row != found.col)]
        same = np.isin(pairs[:, 0] * len(some) + pairs[:, 1], pairs[:, 1] * len(some) + pairs[:, 0])
        return some[pairs[~same | (pairs[:, 0] > pairs[:, 1])]]

    def _corners(self, corners: Integers) -> Sparse:
        """(f, n) 1 for each place that is a corner of a face."""
        rows = np.repeat(np.arange(len(corners)), corners.shape[1])
        return _table(rows, corners.reshape(-1), len(corners), len(self.of))

    def _on_side(self, first: Integers, second: Integers) -> Sparse:
        """(f, n) 1 for each place on the side between two places (f,)."""
        count = len(self.of)
        keys, sides = self.on[:, 1] * count + self.on[:, 2], np.minimum(first, second) * count
        sides += np.maximum(first, second)
        edge, at = np.unique(keys, return_inverse=True)
        where = np.minimum(np.searchsorted(edge, sides), max(len(edge) - 1, 0))
        known = np.flatnonzero(edge[where] == sides) if len(edge) else np.zeros(0, np.int64)
        of_edge = _table(at.reshape(-1), self.on[:, 0], max(len(edge), 1), count)
        of_face = _table(known, where[known], len(first), max(len(edge), 1))
        return of_face @ of_edge


def check_room(seams: Sequence[Seam], shell: TriMesh, where: str) -> None:
    """Refuse seams that, taken together, close an edge of the shell or lay whole faces onto others."""
    touched = np.zeros(shell.point_count, dtype=bool)
    for seam in seams:
        touched[np.asarray(seam.stitches)] = True
    places = Places.of_seams(seams, shell.point_count)
    shut = np.flatnonzero(places.closed(shell.faces))
    if len(shut):
        raise input_error(
            "a seam sews two corners of a face together, which leaves it no area", where=where,
            got=f"faces {first_few(shut)}", remedy="sew vertices that no edge joins",
        )  # fmt: skip
    laid = places.laid(shell.faces, touched)
    if len(laid):
        upper, lower = laid[0].tolist()
        more = f", and {len(laid) - 1} more faces" if len(laid) > 1 else ""
        raise input_error(
            "seams lay whole faces onto others, where nothing could keep them apart", where=where,
            got=f"face {upper} onto face {lower} by {_named(seams, shell.faces[upper], shell.faces[lower])}{more}",
            remedy="sew along one line, so that each face keeps a corner that is free",
        )  # fmt: skip


def _named(seams: Sequence[Seam], upper: Integers, lower: Integers) -> str:
    """The stitches that begin or end at corners of both faces, or of the one that is laid."""
    found = []
    for k, seam in enumerate(seams):
        stitches = np.asarray(seam.stitches)
        at_upper, at_lower = np.isin(stitches, upper), np.isin(stitches, lower)
        some = np.flatnonzero(at_upper.any(axis=1) & at_lower.any(axis=1))
        told = "stitches " if len(seams) == 1 else f"seams[{k}] stitches "
        found += [told + first_few([str(stitches[i].tolist()) for i in some])] if len(some) else []
    return "; ".join(found) or "stitches to others between them"


def _between(seams: Sequence[Seam]) -> tuple[Integers, Vector]:
    """(k, 3) stitches onto places between two vertices, and (k,) their shares."""
    rows, shares = [np.zeros((0, 3), np.int64)], [np.zeros(0)]
    for seam in seams:
        stitches, share = np.asarray(seam.stitches), np.asarray(seam.shares)
        if stitches.shape[1] == 3:
            inside = (share > 0.0) & (share < 1.0)
            rows.append(stitches[inside])
            shares.append(share[inside])
    return np.concatenate(rows), np.concatenate(shares)


def _joined(pairs: Integers, place: Integers) -> Integers:
    """(n,) places after those of pairs (p, 2) have become one."""
    graph = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(place), len(place)))
    return connected_components(graph, directed=False)[1].astype(np.int64)[place]


def _table(rows: Integers, columns: Integers, height: int, width: int) -> Sparse:
    return sparse.csr_array((np.ones(len(rows), np.int64), (rows, columns)), shape=(height, width))
