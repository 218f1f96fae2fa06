"""The knobs of `track`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Literal

import numpy as np

from bunraku.contracts import Array, input_error
from bunraku.direction.knobs import check_iterations, check_substeps, direction, one_of, whole
from bunraku.direction.strength import strength_curve
from bunraku.motion import CurveLike, RestShapes

from .caps import Cap, check_caps

GRAVITY = (0.0, -9.81, 0.0)


@dataclass(frozen=True)
class TrackSettings:
    """The knobs of `track`, with their defaults."""

    gravity: Sequence[float] = GRAVITY
    """[m/s²]"""
    substeps: int = 2
    """steps per guide interval"""
    iterations: int | None = None
    """Newton iterations a step: 1 is the paper's single step, None runs to convergence"""
    tolerance: float = 3e-5
    """converged when a Newton step moves nothing by more than this times the shell's size"""
    bending: Literal["plate", "hinge"] = "plate"
    """"plate": the right stiffness on any mesh; "hinge": Discrete Shells, the paper's"""
    mass: Literal["lumped", "consistent"] = "lumped"
    start: Literal["guide", "rest", "settled"] | Array = "guide"
    """the first pose: the guide's, the shell's rest shape, the equilibrium under the first directions, or (n, 3) [m]"""
    velocity: Literal["guide", "zero"] | Array = "guide"
    """at the first frame: the guide's, none, or (n, 3) [m/s]"""
    strength: CurveLike = 1.0
    """how firmly the guide is obeyed: 1 exactly, 0 not at all; may be keyed"""
    cap: Cap | None = None
    """the largest force of direction on a region [N], one for all (keyable) or (k,); beyond it a region yields"""
    cap_pressure: CurveLike | None = None
    """the same as a pressure on the region's area [Pa]; may be keyed"""
    stretch: float | None = None
    """the same as a strain: the guide bends the shell but does not stretch it by more than about this share"""
    enforcement: Literal["position", "velocity"] = "position"
    """"velocity" holds the rates only, for comparison [Bergou 2007, §3.2]: errors stay"""
    threads: int | None = None
    single: bool = True
    """single-precision factors with double-precision refinement"""
    rest: RestShapes | Array | None = None
    """the shape without stress, (n, 3) [m] or changing over time; None: the shell's own"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", direction("gravity", self.gravity))
        check_substeps(self.substeps)
        check_iterations(self.iterations)
        whole("threads", self.threads, or_none=True)
        if not isinstance(self.tolerance, Real) or not 0 < self.tolerance < 1:
            raise input_error("tolerance must be a number between 0 and 1", got=self.tolerance)
        one_of("bending", self.bending, ("plate", "hinge"))
        one_of("enforcement", self.enforcement, ("position", "velocity"))
        check_caps(self.cap, self.cap_pressure, self.stretch)
        one_of("mass", self.mass, ("lumped", "consistent"))
        if not isinstance(self.start, np.ndarray):
            one_of("start", self.start, ("guide", "rest", "settled"))
        if not isinstance(self.velocity, np.ndarray):
            one_of("velocity", self.velocity, ("guide", "zero"))
        if not isinstance(self.single, bool):
            raise input_error("single must be True or False", got=self.single)
        if self.rest is not None and not isinstance(self.rest, (np.ndarray, RestShapes)):
            raise input_error("rest must be RestShapes or points (n, 3)", got=type(self.rest).__name__)
        object.__setattr__(self, "strength", strength_curve("strength", self.strength))

    @classmethod
    def of(cls, given: Mapping[str, object]) -> TrackSettings:
        """From keyword arguments; an unknown one is refused by name."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise input_error("unknown setting of track", got=name, allowed=", ".join(known))
        return cls(**given)  # type: ignore[arg-type]
