"""A shell among large obstacles: only faces that are about where the shell is are looked at.

What may touch is looked for among all elements at once, those of one obstacle with each other too, though these do not
count. Of a body with fingers and a face that takes far longer than what is near the shirt. So space is divided into
cells, and faces of obstacles that are in no cell with the shell are left out.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, Vector, alike

from .toolkit import Near, Pairing

MANY = 4000
"""faces of obstacles from which on this is worth it"""
_MORE = 0.02  # of the shell's size: how far beyond what is needed faces are taken along, for what comes next


CELLS = 48
"""along the longest side of the shell"""


class Nearby:
    """As a `Pairing`, of faces that may be near the shell; the others take no part until they come there."""

    def __init__(
        self, made: Callable[[Flags], Pairing], shell: Integers, faces: Integers, movable: int, without: Flags
    ) -> None:
        """`made` of vertices (n,) that take no part; faces (g, 3) of the `shell` and (f, 3) of obstacles, whose
        vertices are those from `movable` on; `without` (n,) takes no part wherever it is.
        """
        self._made, self._shell, self._movable, self._without = made, shell, movable, without
        self._faces = faces[~without[faces].any(axis=1)]
        empty = made(np.arange(len(without)) >= movable)
        self.gap, self.reach, self.friction = empty.gap, empty.reach, empty.friction
        self._local: tuple[Flags, Pairing] | None = None

    def forget(self) -> None:
        """Begin anew: what is found afterwards does not depend on what was looked for before."""
        self._local = None

    def near(self, x: Points, reach: float | None = None) -> Near:
        """As of a `Pairing`."""
        reach = self.reach if reach is None else reach
        return self._around(reach, x).near(x, reach)

    def free_share(self, x: Points, end: Points, open_: float = 0.0) -> float:
        """As of a `Pairing`."""
        return self._around(0.0, x, end).free_share(x, end, open_)

    def meeting(self, x: Points, end: Points, before: float) -> tuple[Integers, Vector]:
        """As of a `Pairing`."""
        return self._around(0.0, x, end).meeting(x, end, before)

    def intersects(self, x: Points) -> bool:
        """As of a `Pairing`."""
        return self._around(0.0, x).intersects(x)

    def _around(self, reach: float, *poses: Points) -> Pairing:
        """With all faces that come within a reach [m] beyond the gap of the shell on straight ways between poses
        (n, 3)."""
        low, high = np.minimum.reduce(poses), np.maximum.reduce(poses)
        needed = self._about(low, high, reach + self.gap)
        if self._local is None or (needed & ~self._local[0]).any():
            size = float(np.linalg.norm(np.ptp(low[: self._movable], axis=0)))
            without = np.arange(len(low)) >= self._movable
            without[self._faces[self._about(low, high, reach + self.gap + _MORE * size)]] = False
            some = np.asarray(~without[self._faces].any(axis=1))  # faces between those that were chosen come along
            self._local = some, self._made(without | self._without)
        return self._local[1]

    def _about(self, low: Points, high: Points, distance: float) -> Flags:
        """(f,) faces of obstacles in a cell that faces of the shell come within a distance [m] of, with vertices
        between low and high (n, 3)."""
        own = low[self._shell].min(axis=1) - distance, high[self._shell].max(axis=1) + distance
        start, end = own[0].min(axis=0), own[1].max(axis=0)
        cell = max(float((end - start).max()), 1e-12) / CELLS
        taken = np.zeros(tuple(((end - start) / cell).astype(np.int64) + 1), dtype=np.bool_)
        _mark((own[0] - start) / cell, (own[1] - start) / cell, taken)
        return _marked(np.ascontiguousarray(low), np.ascontiguousarray(high), alike(self._faces), start, cell, taken)


@numba.njit(cache=True)
def _mark(low: Array, high: Array, cells: Flags) -> None:
    """Mark the cells that boxes from low to high (m, 3), in cells, have a part of."""
    for k in range(len(low)):
        for a in range(int(low[k, 0]), min(int(high[k, 0]) + 1, cells.shape[0])):
            for b in range(int(low[k, 1]), min(int(high[k, 1]) + 1, cells.shape[1])):
                for c in range(int(low[k, 2]), min(int(high[k, 2]) + 1, cells.shape[2])):
                    cells[a, b, c] = True


@numba.njit(cache=True, parallel=True)
def _marked(low: Array, high: Array, faces: Integers, start: Array, cell: float, cells: Flags) -> Flags:
    """(f,) faces with corners between low and high (n, 3) that have a part of a marked cell."""
    out = np.zeros(len(faces), dtype=np.bool_)
    for k in numba.prange(len(faces)):
        out[k] = _in_marked(low, high, faces[np.int64(k)], start, cell, cells)
    return out


@numba.njit(cache=True)
def _in_marked(low: Array, high: Array, face: Integers, start: Array, cell: float, cells: Flags) -> bool:
    """Whether the box of a face (3,) has a part of a marked cell."""
    a, b, c = face
    first, last = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for i in range(3):
        least = (min(low[a, i], low[b, i], low[c, i]) - start[i]) / cell
        most = (max(high[a, i], high[b, i], high[c, i]) - start[i]) / cell
        first[i] = int(max(0.0, min(np.floor(least), float(cells.shape[i]))))
        last[i] = int(max(-1.0, min(np.floor(most), float(cells.shape[i] - 1))))
        if first[i] > last[i]:
            return False
    for i in range(first[0], last[0] + 1):
        for j in range(first[1], last[1] + 1):
            for k in range(first[2], last[2] + 1):
                if cells[i, j, k]:
                    return True
    return False
