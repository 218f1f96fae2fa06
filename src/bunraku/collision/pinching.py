"""Where obstacles leave no room for the shell between them.

Two parts of obstacles that close below twice the gap, or pass through each other, leave no place where what is between
them could be. Vertices caught so are *pinched*: they, and the edges and faces that have one, ignore obstacles and are
held on the average of the two surfaces, with which they move, until these part and nothing is crossed any more.
Contact of the shell with itself never ends.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Faces, Flags, Integers, Points, Vector, many
from bunraku.geometry import face_normals, unit_rows

from .blocks import Gaps
from .catching import nearest_around, opposing, tightest
from .obstacles import Plane

PINCHED = "contact.pinched"
"""the key of State.memory under which pinched vertices are carried on: the rows of `Pinches`"""
TIGHT = 0.1
"""share of the reach beyond twice the gap below which surfaces leave no room"""
FREE = 0.3
"""share of the reach beyond twice the gap above which they do again"""
CLEAR = 0.05
"""share of the reach beyond the gap that what is let go must keep from every obstacle"""
_BESIDE = 0.7  # cosine of a direction that leaves a surface rather over its rim than from it
_OPPOSED = -0.5  # cosine of directions that oppose each other: in a wedge that is wider a shell can still evade


@dataclass(frozen=True, eq=False)
class Pinches:
    """Vertices of the shell between two places of obstacles."""

    rows: Integers
    """(p, 5) vertex, two faces of obstacles (those of all, then planes; twice the same where one alone pinches), and on
    which side of each the vertex was: 1 where its normal points to, −1 behind"""

    @classmethod
    def none(cls) -> Pinches:
        """Nothing is pinched."""
        return cls(np.zeros((0, 5), np.int64))

    @classmethod
    def of(cls, memory: Mapping[str, Array]) -> Pinches:
        """As a state remembers them."""
        found = memory.get(PINCHED)
        return cls.none() if found is None else cls(np.asarray(found, dtype=np.int64).reshape(-1, 5))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def vertices(self) -> Integers:
        """(p,) of the shell"""
        return self.rows[:, 0]

    @property
    def faces(self) -> Integers:
        """(p, 2) of the obstacles, in the order of their faces; numbers beyond are planes"""
        return self.rows[:, 1:3]

    def kept(self, which: Flags) -> Pinches:
        """Those of which (p,) is true."""
        return Pinches(self.rows[which])

    def and_also(self, other: Pinches) -> Pinches:
        """Both, in the order of vertices."""
        rows = np.concatenate([self.rows, other.rows])
        return Pinches(rows[np.argsort(rows[:, 0], kind="stable")])

    def tell_since(self, before: Pinches, log: logging.Logger) -> None:
        """Where a pinch begins or ends, in words."""
        if len(self) and not len(before):
            vertex, one, other = self.rows[0, :3]
            where = (
                f"between their faces {one} and {other}" if one != other else f"before face {one}, which is too fast"
            )
            count = many(len(self), "vertex", "vertices")
            log.warning("obstacles leave no room for %s; the first is %d, %s", count, vertex, where)
        elif len(before) and not len(self):
            log.info("nothing is pinched between obstacles any more")


@dataclass(frozen=True, eq=False)
class Held:
    """Springs that hold pinched vertices where the two surfaces' average goes, frozen for one step."""

    vertices: Integers
    """(p,)"""
    begin: Points
    """(p, 3) [m] with the obstacles where the step begins"""
    end: Points
    """(p, 3) [m] with the obstacles where it ends"""

    @classmethod
    def none(cls) -> Held:
        """Nothing is held."""
        return cls(np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros((0, 3)))

    def and_also(self, other: Held) -> Held:
        """Both."""
        names = ("vertices", "begin", "end")
        return Held(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def __len__(self) -> int:
        return len(self.vertices)

    def left(self, gone: float) -> Points:
        """(p, 3) [m] of its way when the obstacles have gone a share of theirs."""
        return (1.0 - gone) * (self.end - self.begin)

    @property
    def corners(self) -> Integers:
        """(p, 4) as of near pairs: −1 for none"""
        return np.pad(self.vertices[:, None], ((0, 0), (0, 3)), constant_values=-1)

    def blocks(self, grip: float) -> Array:
        """(p, 12, 12) of springs of a stiffness [N/m]"""
        out = np.zeros((len(self), 12, 12))
        out[:, range(3), range(3)] = grip
        return out

    def away(self, x: Points, share: float) -> Points:
        """(p, 3) [m] how far each is from where it is held, with the obstacles that share on their way."""
        return x[self.vertices] - (1.0 - share) * self.begin - share * self.end


@dataclass(frozen=True, eq=False)
class Ground:
    """The faces of all obstacles and planes, and where vertices between them stand."""

    faces: Faces
    """(f, 3) of obstacles, numbered within them"""
    around: tuple[Integers, Integers]
    """of each vertex the faces that have it: where they begin, and their numbers"""
    planes: Sequence[Plane]
    gaps: Array
    """(s, f + p) [m] that stays open between each part of the shell and each face and plane"""
    part: Integers
    """(n,) of the shell's vertices"""

    @classmethod
    def of(cls, faces: Faces, count: int, planes: Sequence[Plane], gaps: Array, part: Integers) -> Ground:
        """Of obstacles with `count` vertices."""
        order = np.argsort(faces.reshape(-1), kind="stable")
        begin = np.concatenate([[0], np.cumsum(np.bincount(faces.reshape(-1), minlength=count))])
        return cls(np.ascontiguousarray(faces), (begin, order // 3), planes, gaps, part)

    def caught(self, near: Sequence[Gaps], x: Points, surface: Points, left: Points, room: float) -> Pinches:
        """Vertices of the shell at x (n, 3) that have less than `room` [m], beyond the gaps, between obstacles at
        `surface` (o, 3) which oppose each other, when those will have gone what is `left` (o, 3) of their way.
        """
        sides = _Sides.of(near, np.concatenate([x, surface]), len(x), left)
        vertex, first, second = tightest(*sides.members, sides.normals, sides.open, sides.places, sides.moves, room,
                                         _OPPOSED)  # fmt: skip
        if not len(vertex):
            return Pinches.none()
        corners = sides.corners[first] - len(x), sides.corners[second] - len(x)
        normals = sides.normals[first], sides.normals[second]
        faces, side = opposing(corners, normals, *self.around, self.faces, surface)
        for which, pairs in enumerate((first, second)):
            flat = sides.flat[pairs]
            if flat.any():
                faces[flat, which] = self._plane(sides, pairs[flat], x)
        whole = (faces >= 0).all(axis=1)
        return Pinches(np.column_stack([vertex, faces, side])[whole])

    def pressed(self, near: Sequence[Gaps], x: Points, surface: Points, left: Points, tight: float) -> Pinches:
        """Vertices of the shell at x (n, 3) that a surface on its way is less than `tight` [m] beyond the gap from, and
        still comes: whatever is behind them, they will not get out of its way. They are pinched by it alone.
        """
        sides = _Sides.of(near, np.concatenate([x, surface]), len(x), left)
        beyond = sides.open
        comes = (beyond < tight) & (np.sum(sides.moves * sides.normals, axis=1) > beyond) & ~sides.flat
        vertices, begin, pairs, weights = sides.members
        owner = np.repeat(vertices, np.diff(begin))
        which = np.flatnonzero(comes[pairs] & (weights > 0.33))
        which = which[np.lexsort((beyond[pairs[which]], owner[which]))]
        vertex, first = np.unique(owner[which], return_index=True)
        pair = pairs[which[first]]
        corners, normals = sides.corners[pair] - len(x), sides.normals[pair]
        none = np.full_like(corners, -1)
        faces, side = opposing((corners, none), (normals, -normals), *self.around, self.faces, surface)
        rows = np.column_stack([vertex, faces[:, 0], faces[:, 0], side[:, 0], side[:, 0]])
        return Pinches(rows[faces[:, 0] >= 0])

    def _plane(self, sides: _Sides, pairs: Integers, x: Points) -> Integers:
        """(p,) the number of the plane of a pair: the one it has its distance and normal from."""
        at = np.stack([(x[sides.shell[pairs]] - plane.point) @ plane.normal for plane in self.planes], axis=1)
        towards = np.stack([plane.normal for plane in self.planes])
        off = np.abs(at - sides.distances[pairs, None])
        off += np.linalg.norm(sides.normals[pairs][:, None] - towards, axis=2)
        return len(self.faces) + np.argmin(off, axis=1)

    def led(self, pinches: Pinches, x: Points, surface: Points) -> Pinches:
        """The same vertices at x (n, 3), between the faces nearest now: of those around that look the same way."""
        rows = np.array(pinches.rows)
        for which in (1, 2):
            flat = rows[:, which] >= len(self.faces)
            rows[~flat, which] = nearest_around(
                x[rows[~flat, 0]], rows[~flat, which], *self.around, self.faces, surface
            )[0]  # fmt: skip
        return Pinches(rows)

    def held(self, pinches: Pinches, x: Points, now: Points, begin: Points, end: Points, beyond: float) -> Held:
        """Where vertices at x (n, 3), between obstacles that are `now` (o, 3) on their way from `begin` to `end`, are
        held: as far along the surfaces as they are, and half-way between them, or `beyond` [m] the gap of the one that
        pinches them.
        """
        own, axis = x[pinches.vertices], self.axes(pinches, now)
        beside = own - self._middle(pinches, own, now, now)
        beside -= np.sum(beside * axis, axis=1)[:, None] * axis
        alone = pinches.faces[:, 0] == pinches.faces[:, 1]
        beside += np.where(alone, self._gaps(pinches)[:, 0] + beyond, 0.0)[:, None] * axis
        at = [beside + self._middle(pinches, own, now, there) for there in (begin, end)]
        return Held(pinches.vertices, at[0], at[1])

    def _gaps(self, pinches: Pinches) -> Array:
        """(p, 2) [m] that stays open between vertices and their two faces."""
        return self.gaps[self.part[pinches.vertices][:, None], pinches.faces]

    def _middle(self, pinches: Pinches, own: Points, now: Points, there: Points) -> Points:
        """(p, 3) half-way between the places that are nearest to points (p, 3) now, when the obstacles are `there`."""
        return 0.5 * (self._place(pinches, 0, own, now, there) + self._place(pinches, 1, own, now, there))

    def _place(self, pinches: Pinches, which: int, own: Points, now: Points, there: Points) -> Points:
        face = pinches.faces[:, which]
        out, flat = np.empty((len(face), 3)), face >= len(self.faces)
        if not flat.all():
            _, weights = nearest_around(own[~flat], face[~flat], *self.around, self.faces, now, walk=False)
            out[~flat] = np.einsum("pk,pkj->pj", weights, there[self.faces[face[~flat]]])
        for k in np.unique(face[flat]):
            plane, here = self.planes[k - len(self.faces)], face == k
            out[here] = own[here] - ((own[here] - plane.point) @ plane.normal)[:, None] * plane.normal
        return out

    def _normals(self, pinches: Pinches, which: int, there: Points) -> Points:
        """(p, 3) from the first or second face to the vertex's side."""
        face, side = pinches.faces[:, which], pinches.rows[:, 3 + which]
        planes = np.array([plane.normal for plane in self.planes]).reshape(-1, 3)
        flat, out = face >= len(self.faces), np.empty((len(face), 3))
        out[~flat] = unit_rows(face_normals(there, self.faces[face[~flat]]))
        out[flat] = planes[face[flat] - len(self.faces)]
        return side[:, None] * out

    def axes(self, pinches: Pinches, there: Points) -> Points:
        """(p, 3) unit vectors from the first surface to the second."""
        if not len(pinches):
            return np.zeros((0, 3))
        first = self._normals(pinches, 0, there)
        both = first - self._normals(pinches, 1, there)
        size = np.linalg.norm(both, axis=1)[:, None]
        return np.where(size > 1e-6, both / np.maximum(size, 1e-6), first)

    def has_room(self, pinches: Pinches, x: Points, begin: Points, end: Points, room: float) -> Flags:
        """(p,) whether the surfaces leave `room` [m] beyond their gaps at both ends of a step, or do not oppose each
        other any more, and the vertex is on its side of both, beyond the gap; or is off beside one of them.
        """
        if not len(pinches):
            return np.zeros(0, dtype=bool)
        gaps = self._gaps(pinches)
        own, out = x[pinches.vertices], np.ones(len(pinches), dtype=bool)
        for there in (begin, end):
            first, second = (self._place(pinches, which, own, begin, there) for which in (0, 1))
            facing = np.sum(self._normals(pinches, 0, there) * self._normals(pinches, 1, there), axis=1)
            between = np.sum((second - first) * self.axes(pinches, there), axis=1)
            out &= (between > gaps.sum(axis=1) + room) | (facing > 0.0)
        beside = np.zeros(len(pinches), dtype=bool)
        for which in (0, 1):
            away = own - self._place(pinches, which, own, begin, begin)
            distance, above = np.linalg.norm(away, axis=1), np.sum(away * self._normals(pinches, which, begin), axis=1)
            out &= above > gaps[:, which]
            beside |= (np.abs(above) < _BESIDE * distance) & (distance > gaps[:, which] + room)
        return out | beside


@dataclass(frozen=True, eq=False)
class _Sides:
    """Pairs of the shell with an obstacle, all read from the obstacle to the shell."""

    corners: Integers
    """(m, 4) on the obstacle, less than the shell's count elsewhere"""
    shell: Integers
    """(m,) the first corner on the shell"""
    flat: Flags
    """(m,) whether the obstacle is a plane"""
    normals: Points
    distances: Vector
    open: Vector
    """(m,) [m] of the distance that is beyond the gap"""
    places: Points
    """(m, 3) on the obstacle"""
    moves: Points
    """(m, 3) the way the place has left"""
    members: tuple[Integers, Integers, Integers, Vector]
    """vertices of the shell, where the pairs of each begin, the pairs, and how each pair weighs at the vertex"""

    @classmethod
    def of(cls, near: Sequence[Gaps], points: Points, count: int, left: Points) -> _Sides:
        corners, weights, normals, distances = (
            np.concatenate([getattr(one, name) for one in near])
            for name in ("corners", "weights", "normals", "distances")
        )
        gaps = np.repeat([one.gap for one in near], [len(one.distances) for one in near])
        shell, other = (corners >= 0) & (corners < count), corners >= count
        flat = np.count_nonzero(corners >= 0, axis=1) == 1
        kept = shell.any(axis=1) & (other.any(axis=1) | flat)
        corners, shell, other, flat = corners[kept], shell[kept], other[kept], flat[kept]
        sign = np.where(np.sum(np.where(other, weights[kept], 0.0), axis=1) > 0.0, -1.0, 1.0)
        weights, normals, distances = sign[:, None] * weights[kept], sign[:, None] * normals[kept], distances[kept]
        own = np.einsum("mi,mij->mj", np.where(shell, weights, 0.0), points[corners])
        ways = np.concatenate([np.zeros((count, 3)), left])
        moves = -np.einsum("mi,mij->mj", np.where(other, weights, 0.0), ways[corners])
        first = corners[np.arange(len(corners)), np.argmax(shell, axis=1)]
        places = own - distances[:, None] * normals
        return cls(
            np.where(other, corners, -1), first, flat, normals, distances, distances - gaps[kept], places, moves,
            _members(corners, np.where(shell, weights, 0.0)),
        )  # fmt: skip


def _members(corners: Integers, weights: Array) -> tuple[Integers, Integers, Integers, Vector]:
    """Vertices that weigh something in a pair, where each one's pairs begin, those pairs and the weights."""
    pair, corner = np.nonzero(weights > 1e-3)
    owner = corners[pair, corner]
    order = np.argsort(owner, kind="stable")
    vertices, begin = np.unique(owner[order], return_index=True)
    return vertices, np.append(begin, len(order)), pair[order], weights[pair, corner][order]
