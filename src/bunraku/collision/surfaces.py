"""Contact of a shell with itself and with obstacles, frozen for one step.

Points of the shell and of the obstacles make one set of surfaces. Obstacles go from where they are to where they must
be at the end of the step *within* the solve: each Newton step also takes them a share of the way that is left, the same
share that the shell takes of its own step, so that both together never pass through each other.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, State, Vector
from bunraku.geometry import TriMesh

from .barrier import activation_stiffness
from .blocks import Gaps, touched
from .obstacles import Obstacle, Plane
from .sewn import Sewn
from .toolkit import Near, Pairing, Pairs, Rubbing

STIFFNESS = "contact.stiffness"
"""the key of State.memory under which the shell's stiffness, to which the barrier is scaled, is carried on"""
_SOFTER = 0.1  # stiffness of a pair over that of the shell's points; of 1, 0.1, 0.01 and 0.001 it took the fewest steps
_CERTAIN = 0.99  # share of a distance that rounding does not reach


@dataclass(frozen=True, eq=False)
class Surfaces:
    """A shell that touches itself, obstacles and planes."""

    shell: TriMesh
    obstacles: Sequence[Obstacle] = ()
    planes: Sequence[Plane] = ()
    reach: float = 0.0
    """[m] beyond the gap at which surfaces begin to feel each other; 0: a fifth of the shell's mean edge"""
    gap: float = 0.0
    """[m] that always stays open between middle surfaces: the thickness"""
    friction: float = 0.0
    """coefficient µ, of obstacles that have none of their own too"""
    still: float = 1e-3
    """[m/s] below which friction holds instead of letting slide"""
    self_contact: bool = True
    sewn: Integers | None = None
    """(s, 2) vertices of the shell that are, or will be, sewn to each other"""

    def at(self, state: State, dt: float) -> Touch:
        """The contact of the step that leads from `state` to `state.time + dt`."""
        start, end = self._surfaces(state.time), self._surfaces(state.time + dt)
        for pairing, _ in self.pairings:
            pairing.forget()
        return Touch(self, state.q.reshape(-1, 3), start, end, dt, state.memory.get(STIFFNESS))

    def together(self, x: Points, time: float) -> Points:
        """(n + o, 3) the shell at points x (n, 3), then the obstacles at a time [s]."""
        return np.concatenate([x, self._surfaces(time)])

    def _surfaces(self, time: float) -> Points:
        """(o, 3) of all obstacles."""
        return np.concatenate([np.zeros((0, 3)), *(obstacle.at(time) for obstacle in self.obstacles)])

    @property
    def count(self) -> int:
        """Vertices of the shell."""
        return self.shell.point_count

    @cached_property
    def rest(self) -> Points:
        """(n + o, 3)"""
        return np.concatenate([self.shell.rest, *(obstacle.mesh.rest for obstacle in self.obstacles)])

    @cached_property
    def faces(self) -> Integers:
        """(f, 3) of the shell, then of the obstacles."""
        sizes = np.cumsum([self.count, *(obstacle.mesh.point_count for obstacle in self.obstacles)])
        others = [o.mesh.faces + start for o, start in zip(self.obstacles, sizes, strict=False)]
        return np.concatenate([self.shell.faces, *others])

    @cached_property
    def frictions(self) -> Vector:
        """(n + o,) coefficient µ between a vertex and the shell."""
        own = [self.friction if o.friction is None else o.friction for o in self.obstacles]
        sizes = [self.count, *(o.mesh.point_count for o in self.obstacles)]
        return np.repeat(np.array([self.friction, *own], dtype=np.float64), sizes)

    @cached_property
    def felt_within(self) -> float:
        """[m] `reach`, or a fifth of the mean edge: then a fold's layers do not feel their own neighbours at rest."""
        corners = self.shell.rest[self.shell.faces]
        return self.reach or 0.2 * float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())

    @cached_property
    def pairings(self) -> list[tuple[Pairing, int]]:
        """Surfaces that may touch, with the number of points they take of `together`."""
        knobs = {"reach": self.felt_within, "gap": self.gap, "movable": self.count}
        found = []
        if self.self_contact or self.obstacles:
            sewn = None if self.sewn is None else Sewn(self.sewn, len(self.rest))
            both = Pairing(self.rest, self.faces, among_movable=self.self_contact, sewn=sewn, **knobs)
            found.append((both, len(self.rest)))
        if self.planes:
            planes = [(plane.normal, plane.point) for plane in self.planes]
            none = np.zeros((0, 3), np.int64)
            # Vertices without faces would feel each other as well.
            found.append((Pairing(self.shell.rest, none, planes=planes, among_movable=False, **knobs), self.count))
        return found


PARTS = ("near", "potential", "blocks", "way")
"""what contact spends its time on: finding near pairs, barrier and friction, their local blocks, and how far is free"""


@dataclass
class _Place:
    """All that is known of one set of points."""

    points: Points
    nears: list[Near]
    value: float | None = None
    gradient: Points | None = None
    gaps: list[Gaps] | None = None
    presses: list[tuple[Vector, Vector]] | None = None
    closest: float | None = None


@dataclass(eq=False)
class Touch:
    """Barrier and friction of one step, and how far it may go."""

    surfaces: Surfaces
    start: Points
    """(n, 3) the shell where the step begins"""
    _from: Points
    _to: Points
    dt: float
    shell_stiffness: Array | None
    """[N/m] to which the barrier is scaled"""
    gone: float = 0.0
    """the share of their way that the obstacles have gone"""
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0), repr=False)
    """what was spent on each part"""
    _place: _Place | None = field(default=None, repr=False)
    _lagged: list[tuple[Gaps, Vector, Rubbing]] | None = field(default=None, repr=False)

    @property
    def scales(self) -> bool:
        """Whether the barrier knows how stiff to be."""
        return self.shell_stiffness is not None

    def scale(self, stiffness: float) -> None:
        """Take the shell's own stiffness [N/m]."""
        self.shell_stiffness = np.array(stiffness)

    @cached_property
    def stiffness(self) -> float:
        """κ [N/m⁴·…]: what the barrier is multiplied with."""
        assert self.shell_stiffness is not None
        return activation_stiffness(_SOFTER * float(self.shell_stiffness), self.surfaces.gap, self.surfaces.felt_within)

    def memory(self) -> Mapping[str, Array]:
        """What must be carried on."""
        return {} if self.shell_stiffness is None else {STIFFNESS: self.shell_stiffness}

    @property
    def arrived(self) -> bool:
        """Whether the obstacles are where they must be at the end of the step."""
        return self.gone >= 1.0 or self._stands

    @cached_property
    def _stands(self) -> bool:
        """Whether no obstacle moves in this step."""
        return np.array_equal(self._from, self._to)

    def advance(self, share: float) -> None:
        """The obstacles go this share of the way left to them."""
        self.gone = 1.0 if share >= 1.0 else self.gone + share * (1.0 - self.gone)

    def value(self, x: Points, ahead: float = 0.0) -> float:
        """[J] with the obstacles that share further on their way."""
        place = self._at(x, ahead)
        if place.value is None:
            with self._spending("potential"):
                place.value = self.stiffness * sum(near.value() for near in place.nears)
                place.value += self._friction_value(place.points)
        return place.value

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N] on the shell."""
        pressure, place = self.pressure(x), self._at(x, 0.0)
        with self._spending("potential"):
            return pressure + self._rubs(place.points)[: self.surfaces.count]

    def pressure(self, x: Points) -> Points:
        """(n, 3) [N] the barrier's part of the gradient."""
        return self._pressure(self._at(x, 0.0))[: self.surfaces.count]

    def on_obstacles(self, x: Points, ahead: float = 0.0) -> float:
        """[J] the slope of the energy along the way the obstacles have left, at a share of it `ahead`."""
        if self.arrived:
            return 0.0
        place = self._at(x, ahead)
        felt = self._pressure(place) + self._rubs(place.points)
        return float(np.sum(felt[self.surfaces.count :] * self._left))

    def drive(self, x: Points) -> Points:
        """(n, 3) [N] by which the gradient will change when the obstacles go the way they have left."""
        out = np.zeros((self.surfaces.count, 3))
        if self.arrived:
            return out
        place = self._at(x, 0.0)
        way = np.concatenate([np.zeros_like(x), self._left])
        for gaps, (_, stiff) in zip(self._gaps(place), self._presses(place), strict=True):
            out += gaps.forces(stiff, None, way[: len(way)])[: self.surfaces.count]
        return out

    def blocks(self, x: Points) -> tuple[Integers, Array]:
        """(m, 4) corners on the shell, −1 elsewhere, and (m, 12, 12) positive semi-definite blocks [N/m]."""
        place = self._at(x, 0.0)
        corners, blocks = [np.zeros((0, 4), np.int64)], [np.zeros((0, 12, 12))]
        for gaps, (_, stiff) in zip(self._gaps(place), self._presses(place), strict=True):
            corners.append(gaps.corners)
            blocks.append(gaps.blocks(stiff))
        way = self._way(place.points)
        for gaps, force, _ in self._rubbings():
            corners.append(gaps.corners)
            # Shell vertices come first: a pair with an obstacle has that one's friction.
            coefficient = self.surfaces.frictions[gaps.corners.max(axis=1)]
            across = gaps.rubbing(force, coefficient, way, self._still)
            blocks.append(gaps.blocks(np.zeros(len(force)), across))
        whole = np.concatenate(corners)
        return np.where(whole < self.surfaces.count, whole, -1), np.concatenate(blocks)

    def likely(self, x: Points) -> Integers:
        """(p, 2) pairs of vertices of the shell that are within twice the reach, or rub."""
        points = self._points(x, 0.0)
        near = [pairing.near(points[:size], 2.0 * pairing.reach).pairs() for pairing, size in self.surfaces.pairings]
        corners = [np.zeros((0, 4), np.int64), *(pairs.corners for pairs in near)]
        corners += [gaps.corners for gaps in self._gaps(self._at(x, 0.0))]
        corners += [gaps.corners for gaps, _, _ in self._rubbings()]
        return _pairs_within(np.concatenate(corners), self.surfaces.count)

    def max_step(self, x: Points, step: Points) -> float:
        """How much of a step (n, 3), and of the obstacles' way, can be gone with nothing passing through anything."""
        begin, end = self._points(x, 0.0), self._points(x + step, 1.0)
        longest = float(np.sqrt(np.max(np.sum((end - begin) ** 2, axis=1), initial=0.0)))
        if 2.0 * longest < _CERTAIN * (self._closest(self._at(x, 0.0)) - self.surfaces.gap):
            return 1.0  # no two points come nearer than by both their ways
        with self._spending("way"):
            return min((p.free_share(begin[:size], end[:size]) for p, size in self.surfaces.pairings), default=1.0)

    def touched(self, x: Points) -> Flags:
        """(n,) vertices of the shell that feel something."""
        place, out = self._at(x, 0.0), np.zeros(self.surfaces.count, dtype=bool)
        for gaps, (force, _) in zip(self._gaps(place), self._presses(place), strict=True):
            out |= touched(gaps, force, self.surfaces.count)
        return out

    def report(self, x: Points) -> Mapping[str, float]:
        """`pairs` that feel each other, and the least distance `closest` [m] among them (0: none is near)."""
        place = self._at(x, 0.0)
        count = sum(len(near) for near in place.nears)
        return {"pairs": count, "closest": self._closest(place) if count else 0.0}

    def busy(self, x: Points) -> bool:
        """Whether any pair is near."""
        return any(len(near) for near in self._at(x, 0.0).nears)

    @contextmanager
    def _spending(self, part: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[part] += time.perf_counter() - begin

    def _closest(self, place: _Place) -> float:
        """[m] the least distance of a near pair, or what the others keep at least."""
        if place.closest is None:
            beyond = self.surfaces.gap + self.surfaces.felt_within
            place.closest = min((near.closest() for near in place.nears), default=beyond)
            place.closest = min(place.closest, beyond)
        return place.closest

    @property
    def _left(self) -> Points:
        """(o, 3) the way the obstacles have left."""
        return (1.0 - self.gone) * (self._to - self._from)

    @property
    def _still(self) -> float:
        return self.surfaces.still * self.dt

    def _points(self, x: Points, ahead: float) -> Points:
        if not len(self._to):
            return x
        share = self.gone + ahead * (1.0 - self.gone)
        return np.concatenate([x, self._to if share >= 1.0 else self._from + share * (self._to - self._from)])

    def _way(self, points: Points) -> Points:
        return points - np.concatenate([self.start, self._from])[: len(points)]

    def _at(self, x: Points, ahead: float) -> _Place:
        """The near pairs at x, found once."""
        points = self._points(x, ahead)
        if self._place is None or not np.array_equal(self._place.points, points):
            with self._spending("near"):
                nears = [pairing.near(points[:size]) for pairing, size in self.surfaces.pairings]
            self._place = _Place(points, nears)
        return self._place

    def _pressure(self, place: _Place) -> Points:
        if place.gradient is None:
            place.gradient = np.zeros((len(place.points), 3))
            with self._spending("potential"):
                for near in place.nears:
                    found = near.gradient()
                    place.gradient[: len(found)] += self.stiffness * found
        return place.gradient

    def _gaps(self, place: _Place) -> list[Gaps]:
        if place.gaps is None:
            with self._spending("blocks"):
                place.gaps = [self._measured(near.pairs(), place.points) for near in place.nears]
        return place.gaps

    def _measured(self, pairs: Pairs, points: Points) -> Gaps:
        return Gaps.of(pairs, points, self.surfaces.rest)

    def _presses(self, place: _Place) -> list[tuple[Vector, Vector]]:
        if place.presses is None:
            gap, reach = self.surfaces.gap, self.surfaces.felt_within
            place.presses = [gaps.pressing(self.stiffness, gap, reach) for gaps in self._gaps(place)]
        return place.presses

    def _rubbings(self) -> list[tuple[Gaps, Vector, Rubbing]]:
        """Pairs of the start with their normal forces there."""
        if self._lagged is None:
            self._lagged = []
            if self.surfaces.frictions.any():
                begin = np.concatenate([self.start, self._from])
                for pairing, size in self.surfaces.pairings:
                    near = pairing.near(begin[:size])
                    if not len(near):
                        continue
                    gaps = self._measured(near.pairs(), begin)
                    force, _ = gaps.pressing(self.stiffness, self.surfaces.gap, self.surfaces.felt_within)
                    self._lagged.append((gaps, force, near.rubbing(self.stiffness, self._mixed[:size])))
        return self._lagged

    @property
    def _mixed(self) -> Vector:
        """(n + o,) what the toolkit, which takes the mean of both sides, must have for a pair's own friction."""
        return 2.0 * self.surfaces.frictions - self.surfaces.friction

    def _friction_value(self, points: Points) -> float:
        way = self._way(points)
        return sum(rubbing.value(way, self._still) for _, _, rubbing in self._rubbings())

    def _rubs(self, points: Points) -> Points:
        out, way = np.zeros_like(points), self._way(points)
        for _, _, rubbing in self._rubbings():
            out += rubbing.gradient(way, self._still)
        return out


def _pairs_within(corners: Integers, count: int) -> Integers:
    """(p, 2) all pairs of points below `count` that share a row of corners (m, 4), each once, in order."""
    first, second = np.triu_indices(corners.shape[1])
    both = np.sort(np.stack([corners[:, first].reshape(-1), corners[:, second].reshape(-1)], axis=1), axis=1)
    both = both[(both[:, 0] >= 0) & (both[:, 1] < count)]
    keys = np.unique(both[:, 0] * count + both[:, 1])
    return np.stack([keys // count, keys % count], axis=1)
