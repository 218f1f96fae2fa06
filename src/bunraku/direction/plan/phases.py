"""What a chain of motions is made of: phases in which some vertices stand, and flights in which none does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import InputError, Integers, Vector, input_error, is_between, real_array
from bunraku.direction.knobs import listed

from .keys import MOST_TURN, Key

_LONGEST = 1e5
"""[s]"""


def as_landing(error: InputError) -> str:
    """What is wrong with the key at the end of a flight, whose time nobody knows yet."""
    return str(error).replace("key at 1 s", "flight")


@dataclass(frozen=True, eq=False)
class Phase:
    """Some vertices stay where they are when it begins, all else is planned."""

    duration: float
    """[s]"""
    fixed: Sequence[int] | Integers = ()
    """(f,) vertices that stay"""
    keys: Sequence[Key] | Key = ()
    """times count from the phase's own beginning; places are those of the world"""
    rest: bool = False
    """whether it ends at rest, in the rest shape on what is fixed; else its end is what keys make of it"""

    def __post_init__(self) -> None:
        if not is_between(self.duration, 1e-6, _LONGEST):
            raise input_error(
                "a phase needs a duration", where="phase", got=repr(self.duration)[:40], allowed="1e-06 to 100000 s"
            )
        if not isinstance(self.rest, bool):
            raise input_error("rest must be True or False", where="phase", got=repr(self.rest)[:40])
        object.__setattr__(self, "keys", listed(Key, "keys", self.keys))

    @property
    def all_keys(self) -> tuple[Key, ...]:
        """Its keys, also where it is a single one."""
        return (self.keys,) if isinstance(self.keys, Key) else tuple(self.keys)


@dataclass(frozen=True, eq=False)
class Flight:
    """Nothing is held: the centre of mass flies as gravity and the velocity it has let it, until it has come down to a
    height. As a whole the body turns on as it began and comes to rest, turned as told, when it lands."""

    height: float
    """[m] of the centre of mass, upwards, at which the flight ends"""
    vertices: Sequence[int] | Integers | None = None
    """(v,) what lands, the feet say"""
    positions: ArrayLike | None = None
    """(v, 3) where they are then, from the centre of mass [m]"""
    velocities: ArrayLike | None = None
    """(v, 3), or (3,), how fast they go then, beside the centre of mass [m/s]"""
    weight: float = 1.0
    """how firmly, as a key's"""
    turn: Sequence[float] | Vector = (0.0, 0.0, 0.0)
    """(3,) rotation vector: how the body is turned from its rest shape when it lands [rad]"""

    def __post_init__(self) -> None:
        if not is_between(self.height, -1e6, 1e6):
            raise input_error(
                "a flight ends at a height", where="flight", got=repr(self.height)[:40], allowed="a number"
            )
        try:
            turn = real_array(self.turn)
        except (TypeError, ValueError):
            turn = np.zeros(0)
        if turn.shape != (3,) or not (np.abs(turn) <= MOST_TURN).all():
            raise input_error(
                "a flight's turn is three numbers", where="flight.turn", got=repr(self.turn)[:40],
                allowed=f"-{MOST_TURN:g} to {MOST_TURN:g} rad",
            )  # fmt: skip
        object.__setattr__(self, "turn", turn)
        if self.vertices is not None:
            try:
                self.landing(1.0)  # what is no key is refused
            except InputError as error:
                raise InputError(as_landing(error)) from None
        elif self.positions is not None or self.velocities is not None:
            raise input_error("a flight's places and velocities are of vertices", where="flight.vertices", got="none")

    def landing(self, duration: float) -> Key | None:
        """The key at the end of a flight of some duration [s], about the centre of mass."""
        if self.vertices is None:
            return None
        return Key(duration, self.vertices, self.positions, self.velocities, self.weight)

    def lasts(self, height: float, climb: float, fall: float) -> float:
        """[s] from a height [m] with a velocity upwards [m/s] under an acceleration downwards [m/s²]."""
        inside = climb * climb + 2.0 * fall * (height - self.height)
        if fall <= 0.0 or inside < 0.0:
            raise input_error(
                "the centre of mass never comes to that height", where="flight", got=f"{self.height:g} m",
                allowed=f"up to {height + climb * climb / (2.0 * fall):.4g} m" if fall > 0.0 else "with gravity",
                remedy="a faster take-off, or a lower landing",
            )  # fmt: skip
        time = float((climb + np.sqrt(inside)) / fall)
        if time > _LONGEST:
            raise input_error(
                "the flight takes too long", where="flight", got=f"{time:.3g} s", allowed=f"up to {_LONGEST:g} s",
                remedy="more gravity, or a higher landing",
            )  # fmt: skip
        if time <= 1e-6:
            raise input_error(
                "the flight ends before it begins", where="flight", got=f"{self.height:g} m",
                allowed=f"below {height:.4g} m", remedy="a faster take-off, or a lower landing",
            )  # fmt: skip
        return time
