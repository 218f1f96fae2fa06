"""What is to be sewn and is open still.

Elements that a seam makes neighbours do not feel each other (`sewn.py`): else they could never lie together. While the
seam is open that would be leave to pass through each other. Until a stitch closes they are therefore kept apart too, by
a barrier that reaches only a small share of the distance left between what is sewn: the way together is free, unless it
leads along a surface or through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.contracts import Faces, Flags, Integers, Points, Sparse, Vector
from bunraku.geometry import TriMesh, intersecting_faces

from .sewn import Sewn
from .toolkit import Pairing

_SHARE = 0.1  # of the distance left, within which elements around a stitch feel each other
_GAP = 0.1  # share of that, which stays open between them
_STILL_OPEN = 0.5  # share of the least distance that may be taken for a gap
_CATCHES_UP = 0.5  # share of its distance that is left at least, in a step, to a stitch that lags behind
_ON_TIME = 1e-3  # share of its distance by which a stitch may be late
_NEARLY = 1e-3  # share of the mean edge: by how much it may be, too; what is nearer may close whatever is between
_CLOSED = 1e-6  # share of the mean edge: stitches as near as that are closed


@dataclass(frozen=True, eq=False)
class Stitches:
    """Vertices that are drawn to others, or to places between two others."""

    weights: Sparse
    """(s, n) of the vertex minus the place it is sewn to"""
    left: Callable[[float], Vector]
    """(s,) the share of their way that is left to them at a time [s]; zero: they are closed, or as near as may be"""
    apart: Vector
    """(s,) [m] how far apart they are when they begin to close"""
    since: float
    """[s] when that is; what is closed before is drawn together before"""

    def begun(self, x: Points) -> Stitches:
        """The same, that begin at points x (n, 3)."""
        return replace(self, apart=np.linalg.norm(self.weights @ x, axis=1))

    def going(self, x: Points, start: float, end: float, small: float) -> Vector:
        """(s,) [m] how far apart they will be at the `end` [s] of a step that begins at `start` at points x (n, 3).

        What lags behind by more than a `small` distance [m] is kept open by something and will not close at once.
        """
        apart, before, after = np.linalg.norm(self.weights @ x, axis=1), self.left(start), self.left(end)
        going = after / np.where(before > 0.0, before, 1.0)
        lags = (apart > (1.0 + _ON_TIME) * before * self.apart + small) & (start >= self.since)
        return apart * np.where(lags, np.maximum(going, _CATCHES_UP), going)


@dataclass(frozen=True, eq=False)
class Unsewn:
    """Pairs of vertices that will be one, or beside each other, when all stitches are closed."""

    mesh: TriMesh
    pairs: Integers
    """(p, 2)"""
    stitches: Stitches

    def pairings(self, x: Points, start: float, end: float) -> Iterator[Pairing]:
        """Elements around stitches that stay open to the end of a step, grouped by how far they will be apart.

        Those that pass through each other where the step begins are left to do so: they could not move otherwise.
        """
        distances = self.distances(x, start, end)
        open_ = distances > _CLOSED * self._edge
        if not open_.any():
            return
        around = self._around(self.pairs[open_])
        crossing = intersecting_faces(x, around, touching=True, sewn=self.pairs[~open_])
        without = np.ones(self.mesh.point_count, dtype=bool)
        without[around] = False
        without[around[crossing]] = True
        decades = np.floor(np.log10(np.where(open_, distances, 1.0)))
        for decade in np.unique(decades[open_]):
            near = _Around(self.pairs, np.where(open_, decades, -np.inf), decade, self.mesh.point_count)
            knobs: dict[str, Any] = {"movable": self.mesh.point_count, "without": without, "sewn": near}
            reach = _SHARE * 10.0**decade
            found = Pairing(self.mesh.rest, self.mesh.faces, reach=reach, gap=0.0, friction=0.0, **knobs)
            # A gap that would be violated where the step begins stops it, and none at all ends in rounding.
            gap = min(_GAP * reach, _STILL_OPEN * found.near(x).closest())
            yield Pairing(self.mesh.rest, self.mesh.faces, reach=reach, gap=gap, friction=0.0, **knobs)

    def distances(self, x: Points, start: float, end: float) -> Vector:
        """(p,) [m] how far pairs will be apart: as the nearest stitch both have, or else the farther of their own."""
        going = self.stitches.going(x, start, end, _NEARLY * self._edge)
        common, first, second = self._tables
        both = _least(common, going)
        return np.where(np.isfinite(both), both, np.maximum(_least(first, going), _least(second, going)))

    def _around(self, pairs: Integers) -> Faces:
        """(f, 3) faces that have a vertex of these pairs."""
        some = np.zeros(self.mesh.point_count, dtype=bool)
        some[pairs] = True
        return self.mesh.faces[some[self.mesh.faces].any(axis=1)]

    @cached_property
    def _tables(self) -> tuple[Sparse, Sparse, Sparse]:
        """(p, s) the stitches that both, the first and the second of pairs have."""
        of = sparse.csr_array((self.stitches.weights != 0.0).T.astype(np.int8))
        first, second = (sparse.csr_array(of[self.pairs[:, k]]) for k in (0, 1))
        return sparse.csr_array(first.multiply(second)), first, second

    @cached_property
    def _edge(self) -> float:
        """[m] the mean edge."""
        corners = self.mesh.rest[self.mesh.faces]
        return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())


class _Around(Sewn):
    """Leaves out all elements but those around stitches of one group."""

    def __init__(self, pairs: Integers, groups: Vector, group: float, count: int) -> None:
        """`groups` (p,) of pairs (p, 2) of `count` vertices; −∞ where they are closed."""
        super().__init__(pairs[groups == group], count)
        self._nearer = Sewn(pairs[groups < group], count)

    def neighbours(self, first: Integers, second: Integers) -> Flags:
        """(m,) whether two elements are none of the group: some corners of theirs that are sewn are nearer, or none."""
        return ~super().neighbours(first, second) | self._nearer.neighbours(first, second)


def _least(table: Sparse, values: Vector) -> Vector:
    """(m,) the least of the values (s,) that each row of a table (m, s) has; ∞ where it has none."""
    out = np.full(table.shape[0], np.inf)
    some = np.flatnonzero(np.diff(table.indptr))
    if len(some):
        out[some] = np.minimum.reduceat(values[table.indices], table.indptr[some])
    return out
