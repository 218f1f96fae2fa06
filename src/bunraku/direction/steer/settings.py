"""The knobs of `steer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from bunraku.contracts import Array, Vector, input_error, is_between
from bunraku.direction.knobs import check_iterations, check_substeps, direction, one_of, whole

GRAVITY = (0.0, -9.81, 0.0)
_LONGEST = 1e5  # [s] of a shot


def in_seconds(time: float) -> str:
    """What sentences call a time [s] in Python."""
    return f"{time:g} s"


@dataclass(frozen=True)
class SteerSettings:
    """The knobs of `steer`, with their defaults."""

    duration: float = 2.0
    """[s] of the shot"""
    rate: float = 24.0
    """frames a second"""
    gravity: Sequence[float] = GRAVITY
    """[m/s²]"""
    substeps: int = 1
    """steps a frame"""
    iterations: int | None = None
    """Newton iterations a step, None runs to convergence"""
    tolerance: float = 1e-6
    """converged when a Newton step moves nothing by more than this times the body's size"""
    mass: Literal["lumped", "consistent"] = "lumped"
    start: Array | None = None
    """(n, 3) the first pose [m]; None: the rest shape, or the key at the start, brought to where paths begin"""
    velocity: Array | None = None
    """(n, 3), or (3,) for all vertices [m/s]; None: as the path begins, else none"""
    lead: bool | float = False
    """how much earlier keys are told to the body [s]; True: so that it is nearest to each on the key's own time"""
    brace: bool = False
    """whether the shape a body is told is kept as it is around hard collisions"""
    interpolation_damping: float = 8.0
    """how many times the material's damping the way from key to key is damped; the paper found 5 to 10"""
    threads: int | None = None
    """None takes all cores, for a few hundred tetrahedra one"""
    single: bool = True
    """single-precision factors with double-precision refinement"""
    moment: Callable[[float], str] = in_seconds
    """what warnings call a time [s]; a shot has frames"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", direction("gravity", self.gravity))
        check_substeps(self.substeps)
        check_iterations(self.iterations)
        whole("threads", self.threads, or_none=True)
        _number("duration", self.duration, 1e-6, _LONGEST, "s")
        _number("rate", self.rate, 1e-3, 1e5, "frames a second")
        _number("tolerance", self.tolerance, 1e-14, 0.1, "")
        _number("interpolation_damping", self.interpolation_damping, 0.01, 1e4, "")
        one_of("mass", self.mass, ("lumped", "consistent"))
        if not isinstance(self.lead, bool):
            _number("lead", self.lead, 0.0, _LONGEST, "s, or True")
        for name in ("single", "brace"):
            if not isinstance(getattr(self, name), bool):
                raise input_error(f"{name} must be True or False", got=getattr(self, name))
        for name in ("duration", "rate", "tolerance", "interpolation_damping"):  # 24 and 24.0 are one rate
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.count < 1:
            raise input_error("the shot is shorter than a frame", where="duration", got=self.duration)

    @classmethod
    def of(cls, given: Mapping[str, object]) -> SteerSettings:
        """From keyword arguments; an unknown one is refused by name."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise input_error("unknown setting of steer", got=name, allowed=", ".join(known))
        return cls(**given)  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        """Frames after the first."""
        return round(float(self.duration) * float(self.rate))

    @property
    def times(self) -> Vector:
        """(t,) of the frames [s]."""
        return np.arange(self.count + 1) / float(self.rate)


def _number(name: str, given: object, low: float, high: float, unit: str) -> None:
    if not is_between(given, low, high):
        raise input_error(
            f"{name} must be a number within bounds",
            got=repr(given)[:40],
            allowed=f"{low:g} to {high:g} {unit}".strip(),
        )
