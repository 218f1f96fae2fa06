"""The IPC Toolkit [Ferguson et al.]: the only file that knows it.

It finds near pairs, sums barrier and friction with their gradients, and tells how far points may go along straight
lines without anything passing through anything. Two of its ways are not taken. Its Hessian is assembled from triplets
of projected 12 × 12 blocks, which takes several times as long as factorising the shell's matrix: `blocks.py` makes
cheaper ones from the pairs, read off as arrays here. And its threads sum in any order: one thread gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, attrgetter, or_
from typing import Any

import ipctk
import numba
import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, Vector
from bunraku.geometry import faces_through, intersecting_faces

from .along import seen_along
from .clear import Clear
from .parts import Meeting
from .sewn import Sewn
from .sliding import free_shares

_RESCALING = 0.9  # of a time of impact, so that a distance is left
_MARGIN = 0.5  # share of the reach by which points may move before candidates are looked for again
_MOST_ADVANCES = 1000  # along the way of one pair; what is reached then is free, if short: millions would take seconds
KINDS = {"barrier": ipctk.NormalCollisions.IPC, "offset geometric": ipctk.NormalCollisions.OGC}
"""pairs as the toolkit counts them: each element with each [Li 2020], or each place of a surface once [Chen 2025]"""
ipctk.set_num_threads(1)
ipctk.set_logger_level(
    ipctk.LoggerLevel.error
)  # what it warns of is looked after here: a step that stops is looked at again


@dataclass(frozen=True, eq=False)
class Pairs:
    """Near pairs: of each, the corners on one side and on the other, and how they weigh.

    Corners stand first − second: a vertex and a vertex (p | q), a vertex and an edge (p | a b), a vertex and a face
    (p | a b c), two edges (a b | c d), a vertex and a plane (p |). Missing corners are −1.
    """

    corners: Integers
    """(m, 4)"""
    edges: Flags
    """(m,) whether it is two edges"""
    weights: Vector
    """(m,)"""
    planes: Array
    """(m, 4) normal n and offset n·p of the plane a vertex is near to; zero for other pairs"""


class Near:
    """The pairs of one set of surfaces that are nearer than the barrier reaches, at one set of points."""

    kind = "barrier"
    """which of `KINDS` counts; `bunraku bench contact` compares them"""

    def __init__(self, pairing: Pairing, x: Points, reach: float) -> None:
        self._pairing, self._x = pairing, pairing.columns(x)
        self.collisions = pairing.collisions(self._x, reach, KINDS[self.kind])
        self._potential = ipctk.BarrierPotential(ipctk.ClampedLogBarrier(), pairing.reach, 1.0)

    def __len__(self) -> int:
        return len(self.collisions)

    @property
    def gap(self) -> float:
        """[m] that the pairs keep open."""
        return self._pairing.gap

    @property
    def reach(self) -> float:
        """[m] beyond it, within which the barrier is felt."""
        return self._pairing.reach

    def value(self) -> float:
        """Σ b of the pairs, at unit stiffness [m⁴]."""
        return float(self._potential(self.collisions, self._pairing.mesh, self._x)) if len(self) else 0.0

    def gradient(self) -> Points:
        """(n, 3) its derivative [m³]."""
        if not len(self):
            return np.zeros((self._pairing.count, 3))
        return self._pairing.spread(self._potential.gradient(self.collisions, self._pairing.mesh, self._x))

    def closest(self) -> float:
        """[m] the least distance among the pairs; ∞ if there is none."""
        if not len(self):
            return np.inf
        return float(np.sqrt(self.collisions.compute_minimum_distance(self._pairing.mesh, self._x)))

    def pairs(self) -> Pairs:
        """The pairs as arrays."""
        lists = self._lists()
        sizes = [len(one) for one in lists]
        # To ask for a weight takes ten times as long as for a number; what stands for itself counts once.
        single = (False, False, True, True, True) if self.kind == "barrier" else (False,) * 5
        weights = [
            np.ones(len(k)) if one else _read(k, "weight", np.float64) for k, one in zip(lists, single, strict=True)
        ]
        return Pairs(
            self._corners(lists), np.repeat([False, False, False, True, False], sizes), np.concatenate(weights),
            np.concatenate([np.zeros((sum(sizes[:4]), 4)), self._planes(lists[4])]),
        )  # fmt: skip

    def corners(self) -> Integers:
        """(m, 4) of the pairs alone, which takes half as long."""
        return self._corners(self._lists())

    def _lists(self) -> tuple[Sequence[Any], ...]:
        """The toolkit's: two vertices, edge and vertex, face and vertex, two edges, plane and vertex."""
        found = self.collisions
        vv, ev, fv, ee = found.vv_collisions, found.ev_collisions, found.fv_collisions, found.ee_collisions
        return vv, ev, fv, ee, found.pv_collisions

    def _corners(self, lists: tuple[Sequence[Any], ...]) -> Integers:
        """(m, 4)"""
        mesh, (vv, ev, fv, ee, pv) = self._pairing, lists
        none, taken = np.full, mesh.taken
        corners = [
            np.column_stack([taken[_read(vv, "vertex0_id")], taken[_read(vv, "vertex1_id")], none((len(vv), 2), -1)]),
            np.column_stack([taken[_read(ev, "vertex_id")], mesh.edges[_read(ev, "edge_id")], none((len(ev), 1), -1)]),
            np.column_stack([taken[_read(fv, "vertex_id")], mesh.faces[_read(fv, "face_id")]]),
            np.column_stack([mesh.edges[_read(ee, "edge0_id")], mesh.edges[_read(ee, "edge1_id")]]),
            np.column_stack([taken[_read(pv, "vertex_id")], none((len(pv), 3), -1)]),
        ]
        return np.concatenate(corners).astype(np.int64)

    def _planes(self, found: Sequence[Any]) -> Array:
        """(m, 4) normal and offset of the plane of each; to ask them takes as long as all else, and most have one."""
        if len(self._pairing.planes) == 1:
            normal, point = self._pairing.planes[0]
            return np.tile([*normal, normal @ point], (len(found), 1))
        rows = [(*one.normal(), one.normal() @ one.origin()) for one in map(attrgetter("plane"), found)]
        return np.array(rows).reshape(-1, 4)

    def rubbing(self, stiffness: float, coefficients: Vector) -> Rubbing:
        """Friction with the normal forces that the barrier has here, of the mean coefficient of both sides (n,)."""
        return Rubbing(self, self._pairing, self._x, stiffness, coefficients)


class Rubbing:
    """Friction of near pairs with lagged normal forces: a function of how far points go in a step [Li 2020, §5]."""

    def __init__(self, near: Near, pairing: Pairing, x: Points, stiffness: float, coefficients: Vector) -> None:
        self._mesh, self._pairing = pairing.mesh, pairing
        coefficients = coefficients[pairing.taken]
        barrier = ipctk.BarrierPotential(ipctk.ClampedLogBarrier(), pairing.reach, stiffness)
        self._collisions = ipctk.TangentialCollisions()
        self._collisions.build(self._mesh, x, near.collisions, barrier, coefficients, coefficients)

    def value(self, way: Points, still: float) -> float:
        """[J] for points that go `way` (n, 3) [m]; ways below `still` [m] count as sticking."""
        return float(ipctk.FrictionPotential(still)(self._collisions, self._mesh, self._pairing.columns(way)))

    def gradient(self, way: Points, still: float) -> Points:
        """(n, 3) its derivative [N]."""
        potential, way = ipctk.FrictionPotential(still), self._pairing.columns(way)
        return self._pairing.spread(potential.gradient(self._collisions, self._mesh, way))


def inside(faces: Integers, count: int, movable: int) -> Flags:
    """(n,) vertices of a body that are on none of its faces: they would be felt as points of their own."""
    out = np.arange(count) < (movable if len(faces) else 0)
    out[np.asarray(faces, dtype=np.int64).reshape(-1)] = False
    return out


class Pairing:
    """Surfaces of which some may touch: a mesh of all their vertices, how near they may come, who ignores whom."""

    def __init__(
        self, rest: Points, faces: Integers, *, reach: float, gap: float, movable: int,
        planes: Sequence[tuple[Vector, Vector]] = (), among_movable: bool = True, without: Flags | None = None,
        sewn: Sewn | None = None, meeting: Meeting | None = None, friction: float | None = None,
    ) -> None:  # fmt: skip
        """`rest` (n, 3) of which the first `movable` are simulated: pairs among the others are ignored, and those
        among the simulated ones too unless `among_movable`.

        The barrier reaches `reach` [m] beyond the `gap` [m] that always stays open. `planes` are (normal, point).
        Vertices `without` (n,) take no part, nor does any edge or face that has one.
        Elements with vertices that are `sewn` to each other are neighbours and ignore each other. `meeting` says which
        parts may meet, and `friction` is the coefficient of all pairs where it is not that of their vertices.
        """
        self.count, self.friction = len(rest), friction
        without = inside(faces, len(rest), movable) | (False if without is None else without)
        self.taken = np.flatnonzero(~without)
        renumbered = np.cumsum(~without) - 1
        faces = np.ascontiguousarray(faces, dtype=np.int64).reshape(-1, 3)
        self.faces = faces[~without[faces].any(axis=1)]
        whole = np.asfortranarray(renumbered[self.faces], dtype=np.int32)
        edges = ipctk.edges(whole) if len(whole) else np.zeros((0, 2), np.int32)
        self.edges, self.reach, self.gap = self.taken[np.asarray(edges, dtype=np.int64)], reach, gap
        self._sewn = sewn if sewn is not None and len(sewn) else None
        self._movable, self._among_movable = movable, among_movable
        rest, movable = rest[self.taken], int(np.count_nonzero(self.taken < movable))
        self._own, self._clear = movable, Clear(renumbered[self.faces], movable)
        self.forget()
        self.planes = [(np.asarray(normal, float), np.asarray(point, float)) for normal, point in planes]
        filters = []
        if not among_movable:
            filters.append(ipctk.make_vertex_patches_filter((np.arange(len(rest)) >= movable).astype(np.int32)))
        elif movable < len(rest):
            filters.append(ipctk.make_static_obstacle_filter(movable))
        if meeting is not None and meeting.pairs:
            filters.append(_meeting_filter(meeting.of(self.taken)))

        self.mesh = ipctk.CollisionMesh(
            np.asfortranarray(rest, dtype=np.float64), np.asfortranarray(edges, dtype=np.int32), whole
        )
        if filters:
            self.mesh.can_collide = reduce(and_, filters)
        if self.planes:
            self.mesh.planes = [ipctk.Hyperplane(normal, point) for normal, point in self.planes]

    def forget(self) -> None:
        """Begin anew: what is found afterwards does not depend on what was looked for before."""
        self._looked: tuple[Points, float] | None = None
        self._found: Any = None

    def columns(self, x: Points) -> Points:
        """The points that take part, in the order of memory that the toolkit takes without a copy of its own."""
        return np.asfortranarray(x if len(self.taken) == self.count else x[self.taken], dtype=np.float64)

    def spread(self, found: Vector) -> Points:
        """(n, 3) of what was found at the points that take part; zero elsewhere."""
        if len(self.taken) == self.count:
            return found.reshape(-1, 3)
        out = np.zeros((self.count, 3))
        out[self.taken] = found.reshape(-1, 3)
        return out

    def collisions(self, x: Points, reach: float, kind: Any) -> Any:
        """The toolkit's near pairs at x, the points that take part: none without a look where it is certain."""
        found = ipctk.NormalCollisions()
        found.collision_set_type = kind
        if self._clear.keeps(x, self.gap + reach):
            self._look(x, reach)
            return found
        candidates = self._candidates(x, reach)
        found.build(candidates, self.mesh, x, reach, self.gap)
        nothing = not len(found) and len(self.faces) and not self.planes
        self._clear.see(x, self._clear_within(x, candidates, kind) if nothing and self._clear.pays() else 0.0)
        return found

    def _clear_within(self, x: Points, candidates: Any, kind: Any) -> float:
        """[m] how far everything is apart at x, if nothing is as near as candidates go; else zero."""
        assert self._looked is not None
        base, within = self._looked
        reach = 2.0 * (within - _longest(x - base)) - self.gap
        wide = ipctk.NormalCollisions()
        wide.collision_set_type = kind
        wide.build(candidates, self.mesh, x, reach, self.gap)
        return 0.0 if len(wide) else self.gap + reach

    def _look(self, x: Points, reach: float) -> None:
        """Settle where candidates are looked for: where they were, as long as no point has left it by its margin. Done
        also where nobody asks for them, for what is found in which order must not depend on that."""
        if not self._is_known(reach, x):
            self._looked, self._found = (np.array(x), self._half(reach) + _MARGIN * self.reach), None

    def _candidates(self, x: Points, reach: float) -> Any:
        """Elements that may be near at x, the points that take part."""
        if not len(self.faces) and self._above_planes(x).min(initial=np.inf) > reach:
            return ipctk.Candidates()
        self._look(x, reach)
        assert self._looked is not None
        if self._found is None:
            self._found = ipctk.Candidates()
            self._found.build(self.mesh, *self._looked)
            self._leave_out_neighbours(self._found)
        return self._found

    def _is_known(self, reach: float, *places: Points) -> bool:
        """Whether the elements of the earlier look are all that may be within reach at these places."""
        if self._looked is None:
            return False
        base, within = self._looked
        return max(_longest(x - base) for x in places) + self._half(reach) <= within

    def _above_planes(self, x: Points) -> Array:
        """(p, n) [m] how far points are above the gap of each plane; negative below."""
        heights = [(x - point) @ normal - self.gap for normal, point in self.planes]
        return np.array(heights).reshape(len(self.planes), len(x))

    def _leave_out_neighbours(self, candidates: Any) -> None:
        """Elements sewn to each other. The toolkit's own filter asks vertices, and keeps a pair of elements unless all
        of their vertices are forbidden to each other: too little around a seam, or too much."""
        if self._sewn is None:
            return
        one = candidates.fv_candidates
        vertices, faces = self.taken[_read(one, "vertex_id")][:, None], self.faces[_read(one, "face_id")]
        candidates.fv_candidates = _kept(one, self._sewn.neighbours(vertices, faces))
        one = candidates.ee_candidates
        first, second = self.edges[_read(one, "edge0_id")], self.edges[_read(one, "edge1_id")]
        candidates.ee_candidates = _kept(one, self._sewn.neighbours(first, second))

    def _half(self, reach: float) -> float:
        """By how much elements are made larger to be found: each by half of the distance, but planes are thin."""
        return (reach + self.gap) * (1.0 if self.planes else 0.5)

    def near(self, x: Points, reach: float | None = None) -> Near:
        """The near pairs at points x (n, 3), within the barrier's or another reach [m]."""
        return Near(self, x, self.reach if reach is None else reach)

    def free_share(self, x: Points, end: Points, open_: float = 0.0) -> float:
        """How much of the straight way from x to `end` (n, 3) all points can go, 0 to 1, and nothing touches.

        Zero where something is within the gap already. `open_` [m] is what all pairs are known to keep beyond it at x.
        """
        x, end = self.columns(x), self.columns(end)
        above = self._share_above_planes(x, end)
        if not len(self.faces) or above == 0.0:
            return above
        if open_ >= self.reach and self._clear.stays(x, end, self.gap, open_, 1.0 - _RESCALING):
            return above
        found = self._toolkits_share(x, end)
        if found < 1.0 and self._ran_out(x, end, found, open_):
            found = max(found, float(self._free_shares(x, end)[1].min(initial=1.0)))
        return min(found, above)

    def _share_above_planes(self, x: Points, end: Points) -> float:
        """Of the way above planes, in closed form."""
        high, low = self._above_planes(x), self._above_planes(end)
        if (high <= 0.0).any():
            return 0.0
        falls = low < (1.0 - _RESCALING) * high
        return float(np.min(_RESCALING * high[falls] / (high - low)[falls], initial=1.0))

    def _toolkits_share(self, x: Points, end: Points) -> float:
        how = ipctk.AdditiveCCD(max_iterations=_MOST_ADVANCES, conservative_rescaling=_RESCALING)
        known = self._is_known(0.0, x, end) and self._candidates(x, 0.0)  # kept for sums, whose order tells
        ipctk.set_num_threads(numba.get_num_threads())  # the least of many is the same in any order
        try:
            on_the_way = known or self._on_the_way(x, end)  # an empty look is made again
            return float(on_the_way.compute_collision_free_stepsize(self.mesh, x, end, self.gap, how))
        finally:
            ipctk.set_num_threads(1)

    @staticmethod
    def _ran_out(x: Points, end: Points, found: float, open_: float) -> bool:
        """Whether the toolkit may have stopped at its limit: it goes ahead by the distance left over the speed, and
        of the least one, `open_` [m], a known share is left to the end."""
        return found * 2.0 * _longest(end - x) > (1.0 - _RESCALING) * _MOST_ADVANCES * open_

    def meeting(self, x: Points, end: Points, before: float) -> tuple[Integers, Vector]:
        """(m, 4) corners of the pairs that would meet `before` that share of the way, and (m,) at which share."""
        corners, shares = self._free_shares(self.columns(x), self.columns(x + before * (end - x)))
        return corners[shares < 1.0], before * shares[shares < 1.0]

    def _free_shares(self, x: Points, end: Points) -> tuple[Integers, Vector]:
        """(m, 4) corners of pairs that come near on the way, and (m,) how much of it each can go."""
        pairs = self._on_the_way(x, end)
        fv, ee = pairs.fv_candidates, pairs.ee_candidates
        faces = np.column_stack([self.taken[_read(fv, "vertex_id")], self.faces[_read(fv, "face_id")]])
        edges = np.column_stack([self.edges[_read(ee, "edge0_id")], self.edges[_read(ee, "edge1_id")]])
        begin, stop = self.spread(x.reshape(-1)), self.spread(end.reshape(-1))
        shares = free_shares(begin, stop, faces, edges, self.gap, 1.0 - _RESCALING)
        return np.concatenate([faces, edges]), shares

    def _on_the_way(self, x: Points, end: Points) -> Any:
        """Elements that may come near between x and `end`."""
        found, ways = ipctk.Candidates(), seen_along(x, end, self._own)
        begin, stop = np.asfortranarray(ways.begin), np.asfortranarray(ways.end)
        found.build(self.mesh, begin, stop, 0.5 * self.gap * ways.farther + ways.off)
        self._leave_out_neighbours(found)
        return found

    def intersects(self, x: Points) -> bool:
        """Whether surfaces cut each other at points x (n, 3)."""
        if self._sewn is None:
            return bool(ipctk.has_intersections(self.mesh, self.columns(x)))
        own = self.faces[(self.faces < self._movable).all(axis=1)]
        others = self.faces[(self.faces >= self._movable).any(axis=1)]
        itself = self._among_movable and intersecting_faces(x, own, sewn=self._sewn.pairs).any()
        return bool(itself or (len(others) and faces_through(x, own, others).any()))


def _meeting_filter(meeting: Meeting) -> Any:
    """Made of the toolkit's own filters, which it asks without coming back to Python."""
    labels, alone = meeting.labels, np.arange(1, len(meeting.labels) + 1)

    def one_of(part: int) -> Any:  # exactly one of two vertices is of the part
        return ipctk.make_vertex_patches_filter((labels == part).astype(np.int32))

    def both_of(part: int) -> Any:  # they are in one patch, for all others have one each
        return ~ipctk.make_vertex_patches_filter(np.where(labels == part, 0, alone).astype(np.int32))

    found = reduce(or_, [both_of(a) if a == b else one_of(a) & one_of(b) for a, b in meeting.pairs])
    return found if meeting.alone else ~found


def _longest(way: Points) -> float:
    """[m] of ways (n, 3)."""
    return float(np.sqrt(np.max(np.sum(way * way, axis=1), initial=0.0)))


def _kept(candidates: Sequence[Any], neighbours: Flags) -> list[Any]:
    """Those that are no neighbours (m,)."""
    return [one for one, is_one in zip(candidates, neighbours.tolist(), strict=True) if not is_one]


def _read(collisions: Sequence[Any], name: str, kind: type = np.int64) -> Any:
    """(m,) an attribute of each: a quarter of a microsecond a pair."""
    if not len(collisions):
        return np.zeros(0, kind)
    return np.fromiter(map(attrgetter(name), collisions), kind, len(collisions))
