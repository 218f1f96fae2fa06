"""Contact of a shell with itself and with obstacles, frozen for one step.

Points of the shell and of the obstacles make one set of surfaces. Obstacles go from where they are to where they must
be at the end of the step *within* the solve: each Newton step also takes them a share of the way that is left, the same
share that the shell takes of its own step, so that both together never pass through each other.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Points, Vector

from .barrier import activation_stiffness
from .blocks import Gaps, pairs_within, touched
from .pinching import FREE, PINCHED, TIGHT, Held, Pinches
from .slowing import TIGHT as SLOWED_BELOW
from .slowing import Slowed
from .toolkit import Near, Pairing, Rubbing

if TYPE_CHECKING:
    from .surfaces import Surfaces

_log = logging.getLogger(__name__)
STIFFNESS = "contact.stiffness"
"""the key of State.memory under which the shell's stiffness, to which the barrier is scaled, is carried on"""
_HOLD = 10.0  # stiffness of what holds a pinched vertex over that of the shell's points
_LIKELY = 2.0  # times the reach within which pairs get room in the matrix: a larger pattern, but half as many of them
_ALONE = 0.9  # of the share at which obstacles would touch a shell that stands
_RECENT = 3  # places of which is kept what is near
_CERTAIN = 0.99  # share of a distance that rounding does not reach


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
    open: float | None = None


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
    inertia: float = 0.0
    """[N/m] of a point of the shell in a step of this length: short steps need a stiff barrier"""
    waits: bool = False
    """whether the obstacles stand for now, so that the shell can make room"""
    before: Pinches = field(default_factory=Pinches.none, repr=False)
    """vertices that were pinched where the step begins"""
    pinches: Pinches = field(default_factory=Pinches.none)
    """vertices that are"""
    slowed: Slowed = field(default_factory=Slowed.none, repr=False)
    """pairs that cut steps short"""
    around: Sequence[tuple[Pairing, int]] = ()
    """surfaces around seams that are open, and how many points they take"""
    _held: Held = field(default_factory=Held.none, repr=False)
    _places: deque[_Place] = field(default_factory=lambda: deque(maxlen=_RECENT), repr=False)
    _blocks: Array = field(default_factory=lambda: np.empty((0, 12, 12)), repr=False)
    _lagged: list[tuple[Gaps, Vector, Vector | float, Rubbing]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Where surfaces have parted but something is crossed still, the shell itself must draw its vertices out.
        room = FREE * self.surfaces.felt_within
        loose = self.surfaces.ground.has_room(self.pinches, self.start, self._from, self._to, room)
        self._hold(self.pinches.kept(~loose), self.start)

    def _hold(self, pinches: Pinches, x: Points) -> None:
        """From now on these vertices at x (n, 3) are held too."""
        now, beyond = self._obstacles(0.0), 0.5 * self.surfaces.felt_within
        self._held = self._held.and_also(self.surfaces.ground.held(pinches, x, now, self._from, self._to, beyond))
        self._pairings = [*self.surfaces.pairings_without(self.pinches.vertices), *self.around]
        self._places.clear()
        self._lagged = None

    def pinch(self, x: Points, *, last: bool = False) -> bool:
        """Take for pinched what is between obstacles that will leave no room; as the last resort, if there is none,
        whatever is in their way. Whether anything new is.
        """
        if self.arrived or not self._left.any():
            return False
        near = self._gaps(self._at(x, 0.0))
        ground, tight = self.surfaces.ground, TIGHT * self.surfaces.felt_within
        found = ground.caught(near, x, self._obstacles(0.0), self._left, tight)
        if last and not len(found):
            found = ground.pressed(near, x, self._obstacles(0.0), self._left, tight)
        if not len(found):
            return False
        self.pinches = self.pinches.and_also(found)
        self._hold(found, x)
        return True

    @property
    def scales(self) -> bool:
        """Whether the barrier knows how stiff to be."""
        return self.shell_stiffness is not None

    def scale(self, stiffness: float) -> None:
        """Take the shell's own stiffness [N/m]."""
        self.shell_stiffness = np.array(stiffness)

    def stiffness(self, gap: float, reach: float | None = None) -> float:
        """κ [N/m⁴·…]: what the barrier of a gap [m] is multiplied with; of another reach [m] than surfaces have."""
        assert self.shell_stiffness is not None
        return activation_stiffness(self._own, gap, self.surfaces.felt_within if reach is None else reach)

    def memory(self) -> Mapping[str, Array]:
        """What must be carried on; asked for once, when the step is taken."""
        out: dict[str, Any] = {} if self.shell_stiffness is None else {STIFFNESS: self.shell_stiffness}
        if len(self.pinches):
            out[PINCHED] = self.pinches.rows
        self.pinches.tell_since(self.before, _log)
        return out

    @property
    def arrived(self) -> bool:
        """Whether the obstacles are where they must be at the end of the step."""
        return self.gone >= 1.0 or self._stands

    @cached_property
    def _stands(self) -> bool:
        """Whether no obstacle moves in this step."""
        return np.array_equal(self._from, self._to)

    def advance(self, share: float) -> None:
        """The obstacles go this share of the way left to them, unless they wait."""
        if self.waits:
            return
        self.gone = 1.0 if share >= 1.0 else self.gone + share * (1.0 - self.gone)

    def go_alone(self, x: Points) -> None:
        """The obstacles go on while the shell stands at x, as far as it is not in their way."""
        self.waits = False
        share = self.max_step(x, np.zeros_like(x))
        self.advance(1.0 if share >= 1.0 else _ALONE * share)

    def value(self, x: Points, ahead: float = 0.0) -> float:
        """[J] with the obstacles that share further on their way."""
        place = self._at(x, ahead)
        if place.value is None:
            with self._spending("potential"):
                place.value = sum(self.stiffness(near.gap, near.reach) * near.value() for near in place.nears)
                place.value += self._friction_value(place.points)
                place.value += 0.5 * self._grip * float(np.sum(self._held.away(x, self._share(ahead)) ** 2))
        return place.value

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N] on the shell."""
        pressure, place = self.pressure(x), self._at(x, 0.0)
        with self._spending("potential"):
            return pressure + self._rubs(place.points)[: self.surfaces.count]

    def pressure(self, x: Points, step: Points | None = None) -> Points:
        """(n, 3) [N] the part of the gradient that keeps surfaces apart or holds what is pinched; to first order after
        a step (n, 3) and what is left of the obstacles' way."""
        place = self._at(x, 0.0)
        out = np.array(self._pressure(place)[: self.surfaces.count])
        out[self._held.vertices] += self._grip * self._held.away(x, self.gone)
        if step is None:
            return out
        way = np.concatenate([step, self._left])
        for gaps, (_, stiff) in zip(self._gaps(place), self._presses(place), strict=True):
            out += gaps.forces(stiff, None, way)[: self.surfaces.count]
        out[self._held.vertices] += self._grip * step[self._held.vertices]
        return out

    def on_obstacles(self, x: Points, ahead: float = 0.0) -> float:
        """[J] the slope of the energy along the way the obstacles have left, at a share of it `ahead`."""
        if self.arrived:
            return 0.0
        place = self._at(x, ahead)
        felt = self._pressure(place) + self._rubs(place.points)
        held = self._grip * self._held.away(x, self._share(ahead))
        return float(np.sum(felt[self.surfaces.count :] * self._left) - np.sum(held * self._held.left(self.gone)))

    def drive(self, x: Points) -> Points:
        """(n, 3) [N] by which the gradient will change when the obstacles go the way they have left."""
        out = np.zeros((self.surfaces.count, 3))
        if self.arrived:
            return out
        place = self._at(x, 0.0)
        way = np.concatenate([np.zeros_like(x), self._left])
        for gaps, (_, stiff) in zip(self._gaps(place), self._presses(place), strict=True):
            out += gaps.forces(stiff, None, way)[: self.surfaces.count]
        out[self._held.vertices] -= self._grip * self._held.left(self.gone)
        return out

    def blocks(self, x: Points) -> tuple[Integers, Array]:
        """(m, 4) corners on the shell, −1 elsewhere, and (m, 12, 12) positive semi-definite blocks [N/m], which last
        until they are asked for again."""
        place, way = self._at(x, 0.0), self._way(self._points(x, 0.0))
        pressed = list(zip(self._gaps(place), self._presses(place), strict=True))
        rubbed = self._rubbings()
        corners = [gaps.corners for gaps, *_ in (*pressed, *rubbed)]
        whole = np.concatenate([*corners, self._held.corners, self.slowed.corners])
        blocks, done = self._room_for(len(whole)), 0
        for gaps, (force, stiff) in pressed:
            out = blocks[done : done + len(stiff)]
            gaps.blocks(stiff, None, out)
            gaps.add_turning(force, self.stiffness(gaps.gap, gaps.reach), out)
            done += len(stiff)
        for gaps, force, coefficient, _ in rubbed:
            across = gaps.rubbing(force, coefficient, way, self._still)
            gaps.blocks(np.zeros(len(force)), across, blocks[done : done + len(force)])
            done += len(force)
        blocks[done : done + len(self._held)] = self._held.blocks(self._grip)
        blocks[done + len(self._held) :] = self.slowed.blocks(self._own)
        return np.where(whole < self.surfaces.count, whole, -1), blocks

    def _room_for(self, count: int) -> Array:
        """(count, 12, 12) to be filled. Hundreds of megabytes where layers lie on each other: memory that is new takes
        longer to be given than to be filled."""
        if len(self._blocks) < count:
            self._blocks = np.empty((count + count // 4, 12, 12))
        return self._blocks[:count]

    def likely(self, x: Points) -> Integers:
        """(p, 2) pairs of vertices of the shell that are within twice the reach, or rub."""
        points = self._points(x, 0.0)
        near = [pairing.near(points[:size], _LIKELY * pairing.reach).corners() for pairing, size in self._pairings]
        corners = [np.zeros((0, 4), np.int64), *near]
        corners += [gaps.corners for gaps in self._gaps(self._at(x, 0.0))]
        corners += [gaps.corners for gaps, _, _, _ in self._rubbings()]
        corners += [self._held.corners, self.slowed.corners]
        return pairs_within(np.concatenate(corners), self.surfaces.count)

    def max_step(self, x: Points, step: Points) -> float:
        """How much of a step (n, 3), and of the obstacles' way, can be gone with nothing passing through anything."""
        begin, end = self._points(x, 0.0), self._points(x + step, 1.0)
        longest = float(np.sqrt(np.max(np.sum((end - begin) ** 2, axis=1), initial=0.0)))
        open_ = self._open(self._at(x, 0.0))
        if 2.0 * longest < _CERTAIN * open_:
            return 1.0  # no two points come nearer than by both their ways
        with self._spending("way"):
            return min((p.free_share(begin[:size], end[:size], open_) for p, size in self._pairings), default=1.0)

    def slow(self, x: Points, step: Points) -> None:
        """Slow the pairs of the shell that would cut a step (n, 3) short; with obstacles, which do not wait, none."""
        begin, end = self._points(x, 0.0), self._points(x + step, 1.0)
        with self._spending("way"):
            for pairing, size in self._pairings:
                corners, shares = pairing.meeting(begin[:size], end[:size], SLOWED_BELOW)
                own = (corners < self.surfaces.count).all(axis=1)
                self.slowed = self.slowed.and_also(corners[own], shares[own])

    def ease(self) -> None:
        """A step was not cut short: what is slowed is slowed less."""
        self.slowed = self.slowed.eased()

    def slowing(self, step: Points) -> Points:
        """(n, 3) [N] with which what is slowed withstands a step (n, 3): in Newton's matrix alone, nothing is so
        pushed."""
        return self.slowed.forces(step, self._own)

    @property
    def slows(self) -> bool:
        """Whether any pair is slowed."""
        return len(self.slowed) > 0

    def touched(self, x: Points) -> Flags:
        """(n,) vertices of the shell that feel something."""
        place, out = self._at(x, 0.0), np.zeros(self.surfaces.count, dtype=bool)
        for gaps, (force, _) in zip(self._gaps(place), self._presses(place), strict=True):
            out |= touched(gaps, force, self.surfaces.count)
        out[self._held.vertices] = True
        return out

    def report(self, x: Points) -> Mapping[str, float]:
        """`pairs` that feel each other, the least distance `closest` [m] among them (0: none is near), and how many
        vertices are `pinched`."""
        place = self._at(x, 0.0)
        count = sum(len(near) for near in place.nears)
        closest = min((near.closest() for near in place.nears if len(near)), default=0.0)
        return {"pairs": count, "closest": closest, "pinched": len(self.pinches)}

    def busy(self, x: Points) -> bool:
        """Whether any pair is near."""
        return len(self._held) > 0 or any(len(near) for near in self._at(x, 0.0).nears)

    @contextmanager
    def _spending(self, part: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[part] += time.perf_counter() - begin

    def _open(self, place: _Place) -> float:
        """[m] the least distance of a near pair beyond its gap, or what the others keep at least."""
        if place.open is None:
            within = self.surfaces.felt_within
            place.open = min((min(near.closest() - near.gap, near.reach) for near in place.nears), default=within)
        return place.open

    @property
    def _left(self) -> Points:
        """(o, 3) the way the obstacles have left; none while they wait."""
        return (0.0 if self.waits else 1.0 - self.gone) * (self._to - self._from)

    @property
    def _still(self) -> float:
        return self.surfaces.still * self.dt

    def _points(self, x: Points, ahead: float) -> Points:
        if not len(self._to):
            return x
        return np.concatenate([x, self._obstacles(ahead)])

    def _obstacles(self, ahead: float) -> Points:
        """(o, 3)"""
        share = self._share(ahead)
        return self._to if share >= 1.0 else self._from + share * (self._to - self._from)

    def _share(self, ahead: float) -> float:
        """Of their way that the obstacles have gone when they go a share of the rest, unless they wait."""
        return self.gone + (0.0 if self.waits else ahead) * (1.0 - self.gone)

    @property
    def _grip(self) -> float:
        """[N/m] with which pinched vertices are held."""
        return _HOLD * self._own

    @property
    def _own(self) -> float:
        """[N/m] of a point of the shell."""
        return 0.0 if self.shell_stiffness is None else float(self.shell_stiffness) + self.inertia

    def _way(self, points: Points) -> Points:
        return points - np.concatenate([self.start, self._from])[: len(points)]

    def _at(self, x: Points, ahead: float) -> _Place:
        """The near pairs at x, found once; a search comes back to one of the places it has looked at."""
        return self._place(self._points(x, ahead))

    def _place(self, points: Points) -> _Place:
        for place in self._places:
            if np.array_equal(place.points, points):
                return place
        with self._spending("near"):
            nears = [pairing.near(points[:size]) for pairing, size in self._pairings]
        self._places.appendleft(_Place(points.copy(), nears))
        return self._places[0]

    def _pressure(self, place: _Place) -> Points:
        if place.gradient is None:
            place.gradient = np.zeros((len(place.points), 3))
            with self._spending("potential"):
                for near in place.nears:
                    found = near.gradient()
                    place.gradient[: len(found)] += self.stiffness(near.gap, near.reach) * found
        return place.gradient

    def _gaps(self, place: _Place) -> list[Gaps]:
        if place.gaps is None:
            with self._spending("blocks"):
                some = [near for near in place.nears if len(near)] or place.nears[:1]  # most sets are far apart
                place.gaps = [self._measured(near, place.points) for near in some]
        return place.gaps

    def _measured(self, near: Near, points: Points) -> Gaps:
        return Gaps.of(near.pairs(), points, self.surfaces.rest, near.gap, near.reach)

    def _presses(self, place: _Place) -> list[tuple[Vector, Vector]]:
        if place.presses is None:
            place.presses = [gaps.pressing(self.stiffness(gaps.gap, gaps.reach)) for gaps in self._gaps(place)]
        return place.presses

    def _rubbings(self) -> list[tuple[Gaps, Vector, Vector | float, Rubbing]]:
        """Pairs of the start with their normal forces there and their coefficients."""
        if self._lagged is None:
            self._lagged = []
            if self.surfaces.rubs:
                begin = self._place(np.concatenate([self.start, self._from]))  # from where the first guess has looked
                some = [one for one in zip(self._pairings, begin.nears, strict=True) if len(one[1])]
                felt = zip(some, self._gaps(begin), self._presses(begin), strict=True) if some else ()
                for ((pairing, size), near), gaps, (force, _) in felt:
                    # Shell vertices come first: a pair with an obstacle has that one's friction.
                    coefficient, mixed = self.surfaces.frictions[gaps.corners.max(axis=1)], self._mixed[:size]
                    if pairing.friction is not None:
                        coefficient, mixed = pairing.friction, np.full(size, pairing.friction)
                    self._lagged.append(
                        (gaps, force, coefficient, near.rubbing(self.stiffness(near.gap, near.reach), mixed))
                    )
        return self._lagged

    @property
    def _mixed(self) -> Vector:
        """(n + o,) what the toolkit, which takes the mean of both sides, must have for a pair's own friction."""
        return 2.0 * self.surfaces.frictions - self.surfaces.friction

    def _friction_value(self, points: Points) -> float:
        way = self._way(points)
        return sum(rubbing.value(way, self._still) for _, _, _, rubbing in self._rubbings())

    def _rubs(self, points: Points) -> Points:
        out, way = np.zeros_like(points), self._way(points)
        for _, _, _, rubbing in self._rubbings():
            found = rubbing.gradient(way, self._still)
            out[: len(found)] += found
        return out
