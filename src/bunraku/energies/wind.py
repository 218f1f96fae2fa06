"""Wind: what it is, as a field in space and time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Literal, cast

import numpy as np

from bunraku.contracts import InputError, Points, Vector, input_error, is_between, real_array
from bunraku.geometry import TriMesh, check_coordinates
from bunraku.motion import Animation, Curve, CurveLike

from .turbulence import Turbulence

FASTEST = 1000.0
"""[m/s] three times the speed of sound: the formula for the force has long ceased to hold"""
Field = Callable[[Points, float], Points]
"""velocities (m, 3) [m/s] of the air at points (m, 3) [m] and a time [s]"""


@dataclass(frozen=True, eq=False)
class Wind:
    """Moving air and what stands in its way. See docs/air.md for the forces."""

    velocity: Sequence[float] | Field = (0.0, 0.0, 0.0)
    """(x, y, z) [m/s], or a function (points (m, 3) [m], time [s]) → (m, 3)"""
    gust: CurveLike = 1.0
    """multiplies the velocity, turbulence included; may be keyed"""
    turbulence: float = 0.0
    """root mean square of the eddies' velocity over the wind's speed, 0 to 1"""
    size: float = 1.0
    """of the largest eddies [m]"""
    seed: int = 0
    """another number, other eddies"""
    density: float = 1.2
    """of the air [kg/m³]"""
    drag: float = 1.2
    """coefficient C_D of a plate across the wind"""
    lift: float = 0.6
    """coefficient C_L, at most C_D: the force across the wind of a plate at 45° is half of it"""
    shelter: bool | Literal["obstacles"] = True
    """whether what lies behind the shell's own folds and obstacles is out of the wind, or behind obstacles only"""
    obstacles: Sequence[TriMesh | Animation] = ()
    """what else stands in the wind, still or moving"""
    origin: Vector = field(default_factory=lambda: np.zeros(3))
    """(3,) where the points' origin lies in the world [m]: eddies belong to the world"""

    def __post_init__(self) -> None:
        found: list[str] = []
        if not callable(self.velocity):
            object.__setattr__(self, "velocity", _three("wind.velocity", self.velocity, found))
        object.__setattr__(self, "gust", _gust(self.gust, found))
        self._check_numbers(found)
        obstacles = (self.obstacles,) if isinstance(self.obstacles, (TriMesh, Animation)) else self.obstacles
        object.__setattr__(self, "obstacles", _obstacles(obstacles, found))
        if found:
            raise InputError("\n".join(found))
        if not callable(self.velocity):
            self._check_speed()

    def _check_numbers(self, found: list[str]) -> None:
        bounds = (("turbulence", 0.0, 1.0, ""), ("size", 1e-3, 1e6, " m"), ("density", 0.0, 1e5, " kg/m³"),
                  ("drag", 0.0, 100.0, ""), ("lift", 0.0, 100.0, ""))  # fmt: skip
        before = len(found)
        for name, low, high, unit in bounds:
            value = getattr(self, name)
            if not is_between(value, low, high):
                allowed = f"from {low:g} to {high:g}{unit}"
                found.append(str(input_error(f"wind.{name} is out of range", got=value, allowed=allowed)))
        if len(found) == before and self.lift > self.drag:
            what = "wind.lift is larger than wind.drag, and such air would give energy to a moving shell"
            found.append(str(input_error(what, got=self.lift, allowed=f"up to {self.drag:g}")))
        if not isinstance(self.seed, Integral) or isinstance(self.seed, bool) or self.seed < 0:
            found.append(str(input_error("wind.seed must be a whole number", got=self.seed, allowed="0, 1, 2, …")))
        if not isinstance(self.shelter, bool) and not (isinstance(self.shelter, str) and self.shelter == "obstacles"):
            allowed = "True, False, 'obstacles'"
            found.append(str(input_error("unknown wind.shelter", got=self.shelter, allowed=allowed)))
        if callable(self.velocity) and self.turbulence:
            what, remedy = "wind.turbulence needs a velocity of three numbers", "add the eddies in your own field"
            found.append(str(input_error(what, got=self.turbulence, remedy=remedy)))

    def _check_speed(self) -> None:
        """With eddies three times as fast as their root mean square."""
        speed = float(np.linalg.norm(self._mean)) * float(Curve.of(self.gust).values.max())
        speed *= 1.0 + 3.0 * self.turbulence
        if speed > FASTEST:
            raise input_error(
                "the wind is too fast: velocity times gust, with room for its eddies", got=f"{speed:.4g} m/s",
                where="wind", allowed=f"up to {FASTEST:g} m/s", remedy="a hurricane is 70",
            )  # fmt: skip

    @cached_property
    def _mean(self) -> Vector:
        return np.array(self.velocity, dtype=np.float64)

    @cached_property
    def _eddies(self) -> Turbulence | None:
        if callable(self.velocity) or not self.turbulence * float(np.linalg.norm(self._mean)):
            return None
        return Turbulence.of(self._mean, self.turbulence * float(np.linalg.norm(self._mean)), self.size, self.seed)

    def steady(self, points: Points, time: float) -> Points:
        """(m, 3) velocity without gusts and eddies [m/s] at points (m, 3) [m]: where the wind comes from."""
        if not callable(self.velocity):
            return np.broadcast_to(self._mean, points.shape)
        return _checked(self.velocity(points + self.origin, time), points.shape, time)

    def at(self, points: Points, time: float) -> Points:
        """(m, 3) velocity [m/s] at points (m, 3) [m]."""
        steady, gust = self.steady(points, time), Curve.of(self.gust).at(time)
        if self._eddies is None:
            return _checked(gust * steady, points.shape, time)
        return gust * (steady + self._eddies.at(points + self.origin, time))


def _three(name: str, given: object, found: list[str]) -> tuple[float, ...]:
    try:
        parts = tuple(float(part) for part in cast(Iterable[float], given))
    except (TypeError, ValueError, OverflowError):
        parts = ()
    if len(parts) != 3 or not np.isfinite(parts).all():
        allowed = "(x, y, z) in m/s, or a function of points and time"
        found.append(str(input_error(f"{name} must be three finite numbers", got=given, allowed=allowed)))
    return parts


def _gust(given: CurveLike, found: list[str]) -> Curve:
    try:
        curve = Curve.of(given)
    except InputError as error:
        found.append(f"wind.gust: {error}")
        return Curve.of(1.0)
    if not (np.isfinite(curve.values).all() and (curve.values >= 0.0).all()):
        found.append(str(input_error("wind.gust must be finite and not negative", got=curve.values.tolist())))
    return curve


def _obstacles(given: object, found: list[str]) -> tuple[TriMesh | Animation, ...]:
    parts = tuple(cast(Iterable[object], given)) if isinstance(given, Sequence) else (given,)
    for k, one in enumerate(parts):
        try:
            if isinstance(one, Animation):
                one.check(f"wind.obstacles[{k}]")
            elif isinstance(one, TriMesh):
                check_coordinates(one.rest, f"wind.obstacles[{k}]")
            else:
                raise input_error("must be a TriMesh or an Animation", where=f"wind.obstacles[{k}]", got=repr(one)[:60])
        except InputError as error:
            found.append(str(error))
    return cast(tuple[TriMesh | Animation, ...], parts)


def _checked(given: object, shape: tuple[int, ...], time: float) -> Points:
    """What a field answered, refused where it is no wind."""
    try:
        answer = real_array(given)
    except (TypeError, ValueError):
        answer = np.zeros(0)
    if answer.shape != shape:
        raise input_error(
            "the wind's field must give one velocity a point", where=f"wind.velocity at t = {time:g} s",
            got=f"shape {answer.shape}", allowed=f"shape {shape}",
        )  # fmt: skip
    speed = float(np.linalg.norm(answer, axis=1).max(initial=0.0))
    if not speed <= FASTEST:
        raise input_error(
            "the wind's field is too fast or not finite", where=f"wind.velocity at t = {time:g} s",
            got=f"{speed:.4g} m/s", allowed=f"up to {FASTEST:g} m/s",
        )  # fmt: skip
    return answer
