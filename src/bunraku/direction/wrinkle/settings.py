"""The knobs of `wrinkle`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

import numpy as np

from bunraku.contracts import Vector, input_error, is_between
from bunraku.direction.knobs import check_substeps, direction, one_of, whole
from bunraku.geometry import TriMesh, edges
from bunraku.motion import CurveLike, Growth

from .coupling import Coupling, check_coupling

Stepper = Literal["implicit", "symplectic"]
STEPPERS: tuple[Stepper, ...] = get_args(Stepper)
GRAVITY = (0.0, -9.81, 0.0)
SPACING = 2.5
"""wavelengths between what is coupled on average, where nothing else is said: the foundation makes it matter little"""
MOST_COHERENT = 1e3
"""times the interior's resistance: by then waves hardly change any more"""
MOST_LEVELS = 5
"""times that the triangles of a body that is too coarse for its waves are split into four"""
_LEAST_EDGES = 4.0
"""of the mesh, at least: a skin too coarse for its waves is not tied to its interior vertex by vertex"""


def coupling_width(wavelengths: Vector, mesh: TriMesh) -> Vector:
    """(n,) [m] between what is coupled on average, where nothing is said, by how long waves are (n,) [m]."""
    return np.maximum(SPACING * wavelengths, _LEAST_EDGES * median_edge(mesh))


def median_edge(mesh: TriMesh) -> float:
    """[m] the median length of its edges."""
    ends = mesh.rest[edges(mesh.faces).vertices]
    return float(np.median(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)))


@dataclass(frozen=True)
class WrinkleSettings:
    """The knobs of `wrinkle`, with their defaults."""

    duration: float = 2.0
    """[s] of the shot"""
    rate: float = 24.0
    """frames a second"""
    gravity: Sequence[float] = GRAVITY
    """[m/s²]"""
    substeps: int = 1
    """steps a frame"""
    spacing: float | None = None
    """[m] between what of the skin is coupled on average; None: two and a half wavelengths"""
    coupling: Coupling = "local"
    """what is coupled: bumps, each in its place, or natural waves of the whole skin"""
    foundation: bool = True
    """whether the interior resists below that scale; False is the thesis's way, in which the spacing decides how long
    waves are"""
    coherence: float = 0.0
    """how many times as much as the interior resists a skin without inertia is drawn to the waves it had, in a
    24th of a second; in shorter steps by more, so that it does not depend on how many there are"""
    two_way: bool | None = None
    """whether the interior feels how stiff its skin is; None: wherever it moves by its own mechanics"""
    stepper: Stepper = "implicit"
    """how a body steps that feels its skin: both at once, in steps as long as one likes; or explicitly, by what the
    skin, in balance, pulls with: short steps, which lose no energy"""
    growth: CurveLike | Growth = 0.0
    """by which share the skin's lengths at rest grow over time; below zero it shrinks"""
    swelling: CurveLike = 0.0
    """by which share the interior's do; below zero it dries"""
    threads: int | None = None
    """None takes all cores"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", direction("gravity", self.gravity))
        check_substeps(self.substeps)
        object.__setattr__(self, "growth", Growth.of(self.growth))
        object.__setattr__(self, "swelling", Growth(self.swelling, name="swelling").amount)
        whole("threads", self.threads, or_none=True)
        for name, low, high, unit in (("duration", 1e-6, 1e5, "s"), ("rate", 1e-3, 1e5, "frames a second")):
            if not is_between(getattr(self, name), low, high):
                raise input_error(
                    f"{name} must be a number within bounds", got=repr(getattr(self, name))[:40],
                    allowed=f"{low:g} to {high:g} {unit}",
                )  # fmt: skip
        if self.spacing is not None and not is_between(self.spacing, 1e-9, 1e9):
            raise input_error("spacing must be a length", got=repr(self.spacing)[:40], allowed="above 0 m, or None")
        check_coupling(self.coupling)
        one_of("stepper", self.stepper, STEPPERS)
        if not is_between(self.coherence, 0.0, MOST_COHERENT):
            raise input_error(
                "coherence must be a number", got=repr(self.coherence)[:40],
                allowed=f"0 to {MOST_COHERENT:g} times the interior's resistance",
            )  # fmt: skip
        if not isinstance(self.foundation, bool):
            raise input_error("foundation must be True or False", got=self.foundation)
        if not isinstance(self.two_way, bool | None):
            raise input_error("two_way must be True, False or None", got=self.two_way)
        if self.count < 2:
            raise input_error("the shot is shorter than a frame", where="duration", got=self.duration)

    @classmethod
    def of(cls, given: Mapping[str, object]) -> WrinkleSettings:
        """From keyword arguments; an unknown one is refused by name."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise input_error("unknown setting of wrinkle", got=name, allowed=", ".join(known))
        return cls(**given)  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        """Of frames, the first one included."""
        return round(float(self.duration) * float(self.rate)) + 1

    @property
    def times(self) -> Vector:
        """(t,) of the frames [s]."""
        return np.arange(self.count) / float(self.rate)
