"""Which elements may be near each other: the toolkit looks at these, and at no others.

Boxes about elements of a sheet meet by the ten thousand where nothing is near, because its own neighbours' do, and all
of them would be looked at again at each place and on each way. Here pairs of faces are found by a tree of boxes, and of
their vertices and edges only those are taken that no direction shows to be farther apart than asked. A list within a
generous distance is then a handful of pairs on a sheet that lies open, and serves many places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bunraku.contracts import Flags, Integers, Points
from bunraku.geometry.bvh import Tree, box_tree

from .parts import Meeting
from .watching_kernels import elements_beside, may_be_near, near_elements, refit, swept_boxes

_ROUNDING = 1e-12  # share of the largest coordinate
_KINDS = 63  # that fit a whole number's bits; the last one stands for all that follow


class Listed:
    """Elements that may be near each other at some places: a face and a vertex, or two edges."""

    def __init__(self, faced: Integers, lined: Integers, faces: Integers, edges: Integers) -> None:
        """Face and vertex (m, 2), two edges (k, 2), of faces (f, 3) and edges (e, 2)."""
        corners = [np.column_stack([faced[:, 1], faces[faced[:, 0]]]), edges[lined].reshape(-1, 4)]
        self.faced, self.lined, self.corners = faced, lined, np.ascontiguousarray(np.concatenate(corners), np.int64)

    def __len__(self) -> int:
        return len(self.corners)

    def within(self, begin: Points, end: Points, distance: float, keep: float = 0.0) -> tuple[Integers, Integers]:
        """(a,) of the first, (b,) of the others, by number: those that may come near, as of `Watch.within`."""
        begin, end, distance = _told(begin, end, distance)
        near = np.empty(len(self), dtype=np.bool_)
        may_be_near(self.corners, len(self.faced), begin, end, begin is not end, distance, keep, near)
        return np.flatnonzero(near[: len(self.faced)]), np.flatnonzero(near[len(self.faced) :])


class Known:
    """What may be near at places that are not far from one: it serves until a point has left that."""

    def __init__(self, base: Points, radius: float, listed: Listed, kinds: Sequence[Callable[[int, int], Any]]) -> None:
        """At points (n, 3), all that is within twice the radius [m]; two `kinds` of things to make of it."""
        self.base, self.radius, self._listed, self._kinds = base, radius, listed, kinds
        # Kept once they are made: to make one takes longer than to look at ten.
        self._made = np.full(len(listed.faced), None), np.full(len(listed.lined), None)

    def within(
        self, x: Points, end: Points, distance: float, keep: float = 0.0
    ) -> tuple[list[Any], list[Any]]:  # fmt: skip
        """Things made of what may come within a distance [m] between x and `end`, as of `Watch.within`."""
        faced, lined = self._listed.within(x, end, distance, keep)
        return self._things(0, faced, self._listed.faced), self._things(1, lined, self._listed.lined)

    def _things(self, which: int, asked: Integers, elements: Integers) -> list[Any]:
        made = self._made[which]
        missing = asked[[one is None for one in made[asked]]]
        made[missing] = list(map(self._kinds[which], *elements[missing].T.tolist()))
        return made[asked].tolist()


class Watch:
    """The elements of surfaces that may touch."""

    def __init__(
        self,
        count: int,
        faces: Integers,
        edges: Integers,
        movable: int,
        *,
        among_movable: bool,
        meeting: Meeting | None,
    ) -> None:
        """Faces (f, 3) and their edges (e, 2) of `count` vertices; the others as of a `Pairing`."""
        loose = np.setdiff1d(np.arange(count), faces)  # of obstacles: they stand in the tree as faces without extent
        self._faces = np.ascontiguousarray(np.concatenate([faces, np.repeat(loose[:, None], 3, axis=1)]), np.int64)
        self._edges, self._real = np.ascontiguousarray(edges, np.int64), len(faces)
        self._vertices_of = _first_of(self._faces.reshape(-1), count).reshape(-1, 3)
        self._edges_of = _owned_edges(faces, self._edges, len(self._faces))
        kinds, self._may_meet = _kinds(count, movable, among_movable, meeting)
        self._kinds = kinds[self._faces[:, 0]]
        bits = np.left_shift(np.int64(1), np.minimum(np.arange(len(self._may_meet)), _KINDS - 1))
        meets = np.array([np.bitwise_or.reduce(bits[row], initial=0) for row in self._may_meet], dtype=np.int64)
        self._bits = bits[self._kinds], meets[self._kinds]
        own = np.diagonal(self._may_meet)[self._kinds]
        # Elements of faces that have a vertex in common are always the same.
        beside = elements_beside(self._faces, self._vertices_of, self._edges_of, self._edges, self._real, own)
        self._beside = Listed(*beside, self._faces, self._edges)
        self._tree: Tree | None = None

    def forget(self) -> None:
        """Begin anew: the order in which pairs are found does not depend on what was looked at before."""
        self._tree = None

    def within(
        self, begin: Points, end: Points, distance: float, keep: float = 0.0
    ) -> tuple[Integers, Integers]:  # fmt: skip
        """(m, 2) face and vertex, and (k, 2) two edges, that may come within a distance [m] on straight ways from
        `begin` to `end` (n, 3), or may lose more than all but the share `keep` of what they have beyond it."""
        faced, lined = self._farther_off(*_told(begin, end, distance), keep)
        some, others = self._beside.within(begin, end, distance, keep)
        faced, lined = (
            np.concatenate([self._beside.faced[some], faced]),
            np.concatenate([self._beside.lined[others], lined]),
        )
        if begin is end:
            return faced, lined
        # Elements that came with their faces: what is left does not depend on which face they came with.
        ways = _told(begin, end, distance)
        faced = faced[_boxes_meet(faced[:, 1:], self._faces[faced[:, 0]], *ways)]
        return faced, lined[_boxes_meet(self._edges[lined[:, 0]], self._edges[lined[:, 1]], *ways)]

    def _farther_off(self, begin: Points, end: Points, distance: float, keep: float) -> tuple[Integers, Integers]:
        low, high = np.empty((len(self._faces), 3)), np.empty((len(self._faces), 3))
        swept_boxes(begin, end, self._faces, low, high)
        tree = self._fitted(low, high)
        boxes = np.empty((2, *tree.low.shape))
        held, met = np.zeros(len(tree.first), np.int64), np.zeros(len(tree.first), np.int64)
        refit(tree, low, high, *self._bits, boxes[0], boxes[1], held, met)
        return near_elements(
            tree, (low, high), (boxes[0], boxes[1]), (held, met), (self._faces, self._vertices_of, self._edges_of),
            self._edges, self._real, self._kinds, self._may_meet, (begin, end), distance, keep,
        )  # fmt: skip

    def _fitted(self, low: Points, high: Points) -> Tree:
        """The tree of the first look: a sheet moves little in a step, and to sort takes longer than to look."""
        if self._tree is None:
            self._tree = box_tree(low, high)
        return self._tree


def _told(begin: Points, end: Points, distance: float) -> tuple[Points, Points, float]:
    """As the loops take them: in rows, one and the same where nothing moves, and with what rounding may take."""
    distance += _ROUNDING * float(max(np.abs(begin).max(initial=0.0), np.abs(end).max(initial=0.0)))
    rows = np.ascontiguousarray(begin)
    return rows, rows if begin is end else np.ascontiguousarray(end), distance


def _boxes_meet(first: Integers, second: Integers, begin: Points, end: Points, distance: float) -> Flags:
    """(m,) whether boxes about the ways of elements with corners (m, a) and (m, b) come within the distance [m]."""
    (low, high), (other_low, other_high) = (
        (np.minimum(begin[some], end[some]).min(axis=1), np.maximum(begin[some], end[some]).max(axis=1))
        for some in (first, second)
    )
    gap = np.maximum(np.maximum(low - other_high, other_low - high), 0.0)
    return np.sum(gap * gap, axis=1) <= distance * distance


def _first_of(things: Integers, count: int) -> Flags:
    """(m,) whether each number below `count` is there for the first time: of what faces share each thing is taken with
    one of them."""
    first = np.full(count, len(things))
    np.minimum.at(first, things, np.arange(len(things)))
    return first[things] == np.arange(len(things))


def _owned_edges(faces: Integers, edges: Integers, count: int) -> Integers:
    """(count, 3) the edge that begins at a corner of each face, −1 where another face has it."""
    out = np.full((count, 3), -1)
    if not len(faces):
        return out
    sides = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    most = 1 + int(faces.max())
    known = np.sort(edges, axis=1)
    keys = known[:, 0] * most + known[:, 1]
    order = np.argsort(keys)
    which = order[np.searchsorted(keys[order], sides[:, 0] * most + sides[:, 1])]
    out[: len(faces)] = np.where(_first_of(which, len(edges)), which, -1).reshape(-1, 3)
    return out


def _kinds(count: int, movable: int, among_movable: bool, meeting: Meeting | None) -> tuple[Integers, Flags]:
    """(count,) the kind of each vertex, and (c, c) which kinds may meet."""
    moves = np.arange(count) < movable
    labels = np.zeros(count, np.int64) if meeting is None else meeting.labels
    _, first, kinds = np.unique(2 * labels + moves, return_index=True, return_inverse=True)
    own, part = moves[first], labels[first]
    may = (own[:, None] | own) if among_movable else (own[:, None] != own)
    if meeting is not None and meeting.pairs:
        said = _said(part, meeting.pairs)
        may = may & (said if meeting.alone else ~said)
    return kinds.reshape(-1), may


def _said(part: Integers, pairs: Sequence[tuple[int, int]]) -> Flags:
    """(c, c) whether two kinds, each of a part (c,), are one of the pairs."""
    out = np.zeros((len(part), len(part)), dtype=bool)
    for a, b in pairs:
        one = (part[:, None] == a) & (part == b)
        out |= one | one.T
    return out
