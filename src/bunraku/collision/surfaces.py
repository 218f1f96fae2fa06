"""The surfaces that may touch: a shell, obstacles, planes."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from bunraku.contracts import Integers, Points, State, Vector
from bunraku.geometry import TriMesh

from .nearby import Nearby
from .obstacles import Obstacle, Plane
from .pairings import pairing_between, pairings_of_parts, pairings_without
from .parts import Between, Parts
from .pinching import Ground, Pinches
from .releasing import still_pinched
from .toolkit import Pairing
from .touch import STIFFNESS, Touch
from .unsewn import Stitches, Unsewn

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Surfaces:
    """A shell that touches itself, obstacles and planes."""

    shell: TriMesh
    obstacles: Sequence[Obstacle] = ()
    planes: Sequence[Plane] = ()
    reach: float = 0.0
    """[m] beyond the gap at which surfaces begin to feel each other; 0: a fifth of the shell's mean edge"""
    gap: float = 0.0
    """[m] that always stays open between middle surfaces: the thickness, also of obstacles that have none of their
    own"""
    friction: float = 0.0
    """coefficient µ, of obstacles that have none of their own too"""
    still: float = 1e-3
    """[m/s] below which friction holds instead of letting slide"""
    self_contact: bool = True
    sewn: Integers | None = None
    """(s, 2) vertices of the shell that are, or will be, sewn to each other"""
    stitches: Stitches | None = None
    """what draws them together while the shell moves; None: they are together, or may pass through each other"""
    named: Mapping[str, Integers] = field(default_factory=dict)
    """name → (v,) vertices of parts of the shell, each in one part at most and whole pieces of it"""
    between: Sequence[Between] = ()
    """what is particular between parts, obstacles and planes; names of what is not there count for nothing"""

    def at(self, state: State, dt: float) -> Touch:
        """The contact of the step that leads from `state` to `state.time + dt`."""
        start, end = self._surfaces(state.time), self._surfaces(state.time + dt)
        for pairing, _ in chain.from_iterable(self._known.values()):
            pairing.forget()
        x, before = state.q.reshape(-1, 3), Pinches.of(state.memory)
        pinches = still_pinched(self, before, x, start, end)
        out = Touch(
            self, x, start, end, dt, state.memory.get(STIFFNESS), before=before, pinches=pinches,
            around=self._around_seams(x, state.time, dt),
        )  # fmt: skip
        out.pinch(x)
        return out

    def together(self, x: Points, time: float) -> Points:
        """(n + o, 3) the shell at points x (n, 3), then the obstacles at a time [s]."""
        return np.concatenate([x, self._surfaces(time)])

    def _around_seams(self, x: Points, time: float, dt: float) -> list[tuple[Pairing, int]]:
        """What a seam makes neighbours, and must not meet before it closes, with the number of points."""
        if self._unsewn is None or not self.self_contact:
            return []
        return [(pairing, self.count) for pairing in self._unsewn.pairings(x, time, time + dt)]

    def sewn_from(self, x: Points) -> Surfaces:
        """The same, whose stitches begin to close at points x (n, 3)."""
        return self if self.stitches is None else replace(self, stitches=self.stitches.begun(x))

    @cached_property
    def _unsewn(self) -> Unsewn | None:
        if self.stitches is None or self.sewn is None or not len(self.sewn):
            return None
        return Unsewn(self.shell, self.sewn, self.stitches)

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
    def parts(self) -> Parts:
        """All that may touch, numbered."""
        return Parts(
            self.count, self.named, self.obstacles, self.planes, self.between, gap=self.gap, friction=self.friction
        )

    @cached_property
    def rubs(self) -> bool:
        """Whether there is any friction."""
        return bool(self.frictions.any() or any(one.friction for one in (*self.planes, *self.parts.particular)))

    def without_friction(self) -> Surfaces:
        """The same, but nothing rubs."""
        smooth = [replace(one, friction=0.0) for one in self.obstacles]
        planes = [replace(one, friction=0.0) for one in self.planes]
        between = [replace(one, friction=0.0) for one in self.between]
        return replace(self, obstacles=smooth, planes=planes, between=between, friction=0.0)

    @cached_property
    def gaps(self) -> tuple[float, ...]:
        """[m] that stays open between the shell and each obstacle, where nothing particular is said."""
        return tuple(self.gap if o.thickness is None else float(o.thickness) for o in self.obstacles)

    @cached_property
    def frictions(self) -> Vector:
        """(n + o,) coefficient µ between a vertex and the shell, where nothing particular is said."""
        own = [self.friction if o.friction is None else o.friction for o in self.obstacles]
        sizes = [self.count, *(o.mesh.point_count for o in self.obstacles)]
        return np.repeat(np.array([self.friction, *own], dtype=np.float64), sizes)

    @cached_property
    def felt_within(self) -> float:
        """[m] `reach`, or a fifth of the mean edge: then a fold's layers do not feel their own neighbours at rest."""
        corners = self.shell.rest[self.shell.faces]
        return self.reach or 0.2 * float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())

    @property
    def pairings(self) -> list[tuple[Pairing | Nearby, int]]:
        """Surfaces that may touch, with the number of points they take of `together`."""
        return self.pairings_without(np.zeros(0, np.int64))

    def pairings_without(self, pinched: Integers) -> list[tuple[Pairing | Nearby, int]]:
        """`pairings` in which these vertices of the shell, and edges and faces that have one, feel only the shell."""
        key = np.sort(pinched).tobytes()
        if key not in self._known:
            for old in [old for old in self._known if old]:
                del self._known[old]  # what is pinched changes often: the last is enough
            self._known[key] = pairings_without(self, pinched)
        return self._known[key]

    @property
    def own_pairings(self) -> list[Pairing]:
        """Parts of the shell that may touch themselves, alone."""
        return pairings_of_parts(self)

    def pairing_between(self, first: int, second: int) -> Pairing:
        """Two parts, by number, and nothing else."""
        return pairing_between(self, first, second)

    @cached_property
    def _known(self) -> dict[bytes, list[tuple[Pairing | Nearby, int]]]:
        return {}

    @cached_property
    def ground(self) -> Ground:
        """The faces of the obstacles, and the planes."""
        others = self.faces[len(self.shell.faces) :] - self.count
        sizes = [len(obstacle.mesh.faces) for obstacle in self.obstacles] + [1] * len(self.planes)
        parts = self.parts
        things = np.repeat(np.arange(parts.obstacle(0), parts.plane(len(self.planes))), sizes)
        gaps = parts.gaps[:, things]
        return Ground.of(others, len(self.rest) - self.count, self.planes, gaps, parts.labels[: self.count])
