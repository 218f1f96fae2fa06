"""Tetrahedra of a body in small groups of neighbours, each summed at once in a core's own cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Integers, Points, Vector

from .warp import Warp

GROUP = 192
"""tetrahedra that are summed at once"""


@dataclass(frozen=True, eq=False)
class Links:
    """Of every group, which of its vertices feel which, in rows one after another."""

    indptr: Integers
    """(Σ vertices of groups + 1,) where the pairs of each begin"""
    columns: Integers
    """(p,) the other vertex of a pair, of the body"""
    slots: NDArray[np.int32]
    """(m, 16) the pairs of corners a, b of each tetrahedron, at 4 a + b, from its group's first on"""
    most: int
    """pairs of the largest group"""


@dataclass(frozen=True, eq=False)
class Groups:
    """Tetrahedra of a body in small groups of neighbours, in an order of their own."""

    tets: Integers
    """(m, 4) vertices"""
    local: Integers
    """(m, 4) places of the vertices in their group"""
    gradients: Array
    volumes: Vector
    starts: Integers
    """(g + 1,) where the tetrahedra of each group begin"""
    vertices: Integers
    """the vertices of each group, one group after the other"""
    vertex_starts: Integers
    """(g + 1,) where they begin"""

    @classmethod
    def of(cls, warp: Warp) -> Groups:
        """Halved along the longest side, again and again."""
        mesh = warp.mesh
        order = _halved(mesh.rest[mesh.tets].mean(axis=1))
        tets = mesh.tets[order]
        starts = np.append(np.arange(0, len(tets), GROUP), len(tets))
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        key = (group[:, None] * mesh.point_count + tets).reshape(-1)
        unique, inverse = np.unique(key, return_inverse=True)
        vertex_starts = np.searchsorted(unique, np.arange(len(starts)) * mesh.point_count)
        local = inverse.reshape(-1, 4) - vertex_starts[group][:, None]
        return cls(
            tets, local, warp.gradients[order], warp.volumes[order], starts, unique % mesh.point_count, vertex_starts
        )

    @cached_property
    def links(self) -> Links:
        """Pairs of vertices that a tetrahedron of their group has."""
        most, counts = self.most, np.diff(self.vertex_starts)
        slots, indptr = np.empty((len(self.tets), 16), dtype=np.int32), np.zeros(len(self.vertices) + 1, dtype=np.int64)
        columns = np.empty(int(np.minimum(counts**2, 16 * np.diff(self.starts)).sum()), dtype=np.int64)
        link_groups(self.local, self.starts, self.vertices, self.vertex_starts, most, slots, indptr, columns)
        return Links(indptr, columns[: indptr[-1]].copy(), slots, int(np.diff(indptr[self.vertex_starts]).max()))

    @cached_property
    def places(self) -> Integers:
        """(m, 4) where corners are among the groups' vertices."""
        return self.local + np.repeat(self.vertex_starts[:-1], np.diff(self.starts))[:, None]

    @cached_property
    def most(self) -> int:
        """Vertices of the largest group."""
        return int(np.diff(self.vertex_starts).max())


def _halved(centres: Points) -> Integers:
    """(m,) an order in which neighbours are near each other: every run of `GROUP` is one box of a halving."""
    order = np.arange(len(centres))
    runs = [(0, len(centres))]
    while runs:
        following = []
        for begin, end in runs:
            if end - begin <= GROUP:
                continue
            part = order[begin:end]
            axis = int(np.argmax(np.ptp(centres[part], axis=0)))
            middle = GROUP * max(1, (end - begin) // (2 * GROUP))
            order[begin:end] = part[np.argsort(centres[part, axis], kind="stable")]
            following += [(begin, begin + middle), (begin + middle, end)]
        runs = following
    return order


@numba.njit(cache=True, error_model="numpy")
def link_groups(local, starts, vertices, vertex_starts, most, slots, indptr, columns):
    """Fill `Links`."""
    known, filled = np.empty((most, most), dtype=np.int64), 0
    for group in range(len(starts) - 1):
        origin = vertex_starts[group]
        count, first = vertex_starts[group + 1] - origin, filled
        known[:count, :count] = -1
        for t in range(starts[group], starts[group + 1]):
            for a in range(4):
                for b in range(4):
                    known[local[t, a], local[t, b]] = 0
        for row in range(count):
            indptr[origin + row] = filled
            for column in range(count):
                if known[row, column] == 0:
                    known[row, column] = filled - first
                    columns[filled] = vertices[origin + column]
                    filled += 1
        for t in range(starts[group], starts[group + 1]):
            for a in range(4):
                for b in range(4):
                    slots[t, 4 * a + b] = known[local[t, a], local[t, b]]
    indptr[len(indptr) - 1] = filled
