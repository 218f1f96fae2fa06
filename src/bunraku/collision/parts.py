"""Parts of the surfaces that have names, and what is particular between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Vector, input_error, is_between

from .obstacles import MOST_FRICTION, Obstacle, Plane

_LARGEST = 1e6  # [m] of a thickness


@dataclass(frozen=True)
class Between:
    """What is particular between two things, by name: parts of the shell, a part and itself, a part and an obstacle."""

    first: str
    second: str
    friction: float | None = None
    """coefficient µ; None: as without this"""
    thickness: float | None = None
    """[m] that stays open between them; None: as without this"""

    def __post_init__(self) -> None:
        for name in (self.first, self.second):
            if not isinstance(name, str) or not name:
                raise input_error("things are told apart by their names", where="between", got=repr(name))
        for name, most, unit in (("thickness", _LARGEST, " m"), ("friction", MOST_FRICTION, "")):
            value = getattr(self, name)
            if value is not None and not is_between(value, 0.0, most):
                raise input_error(
                    f"{name} must be a number", where=self.said, got=value, allowed=f"0 to {most:g}{unit}"
                )
        if self.friction is None and self.thickness is None:
            raise input_error("says nothing", where=self.said, allowed="friction, thickness or both")

    @property
    def said(self) -> str:
        """Which two it is between, in words."""
        return f"between {self.first} and {self.second}"


@dataclass(frozen=True)
class Particular:
    """What two parts, by number, keep between them."""

    parts: tuple[int, int]
    """the lower first"""
    gap: float
    """[m]"""
    friction: float


@dataclass(frozen=True, eq=False)
class Meeting:
    """Which parts of some vertices may meet: pairs of parts that do, alone, or pairs that do not."""

    labels: Integers
    """(n,) the part of each vertex"""
    pairs: Sequence[tuple[int, int]]
    alone: bool
    """whether these pairs meet and no others, or all but these"""

    def of(self, taken: Integers) -> Meeting:
        """The same for some of the vertices (m,)."""
        return Meeting(self.labels[taken], self.pairs, self.alone)


@dataclass(frozen=True, eq=False)
class Parts:
    """All that may touch, in numbers: 0 is what has no name of the shell, then its named parts, obstacles, planes.

    No element has vertices of two parts.
    """

    count: int
    """vertices of the shell"""
    named: Mapping[str, Integers]
    """name → (v,) vertices of the shell"""
    obstacles: Sequence[Obstacle]
    planes: Sequence[Plane]
    between: Sequence[Between]
    """those that name what is not there count for nothing"""
    gap: float
    """[m] where nothing else is said"""
    friction: float

    @cached_property
    def labels(self) -> Integers:
        """(n + o,) the part of each vertex."""
        own = np.zeros(self.count, np.int64)
        for k, vertices in enumerate(self.named.values(), start=1):
            own[vertices] = k
        sizes = [one.mesh.point_count for one in self.obstacles]
        others = np.repeat(len(self.named) + 1 + np.arange(len(sizes)), sizes)
        return np.concatenate([own, others])

    def is_shell(self, part: int) -> bool:
        """Whether a part is of the shell."""
        return part <= len(self.named)

    def obstacle(self, k: int) -> int:
        """The number of the part that an obstacle is."""
        return len(self.named) + 1 + k

    def plane(self, k: int) -> int:
        """The number of the part that a plane is."""
        return len(self.named) + 1 + len(self.obstacles) + k

    @cached_property
    def particular(self) -> list[Particular]:
        """What is said of pairs, in the order in which it is said."""
        things = (*self.obstacles, *self.planes)
        number = {name: k for k, name in enumerate((*self.named, *(one.name for one in things)), start=1)}
        out = []
        for one in self.between:
            if one.first not in number or one.second not in number:
                continue
            first, second = sorted((number[one.first], number[one.second]))
            gap, friction = self.otherwise(second)
            gap = gap if one.thickness is None else one.thickness
            out.append(Particular((first, second), gap, friction if one.friction is None else one.friction))
        return out

    def otherwise(self, part: int) -> tuple[float, float]:
        """Gap [m] and friction between the shell and a part of which nothing particular is said."""
        k = part - len(self.named) - 1
        own = (*self.obstacles, *self.planes)[k] if k >= 0 else None
        gap = self.gap if own is None or own.thickness is None else float(own.thickness)
        return gap, self.friction if own is None or own.friction is None else float(own.friction)

    @cached_property
    def gaps(self) -> Array:
        """(s, k) [m] that stays open between each of the shell's parts and every part."""
        every = self.plane(len(self.planes))
        out = np.tile([self.otherwise(part)[0] for part in range(every)], (len(self.named) + 1, 1))
        for one in self.particular:
            first, second = one.parts
            out[first, second] = one.gap
            if self.is_shell(second):
                out[second, first] = one.gap
        return out

    def gaps_to(self, part: int) -> Vector:
        """(n,) [m] that stays open between each vertex of the shell and a part."""
        return self.gaps[self.labels[: self.count], part]

    @property
    def most(self) -> float:
        """[m] the largest gap of the shell with an obstacle or a plane, or the common one."""
        return float(self.gaps[:, self.obstacle(0) :].max(initial=self.gap))

    def not_of(self, parts: Sequence[int]) -> Flags:
        """(n + o,) vertices of other parts."""
        return ~np.isin(self.labels, list(parts))
