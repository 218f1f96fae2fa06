"""Where a body's own frame is in the world: it stands, or flies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Integers, Points, Vector

from .keys import Key


@dataclass(frozen=True, eq=False)
class Turning:
    """A turn that begins at a rate and has come to rest at an angle after a time, smoothly: a cubic curve of rotation
    vectors."""

    rate: Vector
    """(3,) angular velocity at the beginning, in the turning frame [rad/s]"""
    angle: Vector
    """(3,) rotation vector at the end, in the frame at the beginning [rad]"""
    duration: float
    """[s]"""

    def vectors(self, time: Vector) -> Array:
        """(t, 3) rotation vectors of the turn so far [rad]."""
        share = (np.asarray(time, dtype=np.float64) / self.duration)[:, None]
        return self.duration * self.rate * share * (1 - share) ** 2 + self.angle * share**2 * (3 - 2 * share)

    def at(self, time: Vector) -> tuple[Array, Array]:
        """(t, 3, 3) the turn so far, and (t, 3) the angular velocity in the turning frame."""
        share = (np.asarray(time, dtype=np.float64) / self.duration)[:, None]
        vector = self.vectors(time)
        slope = self.rate * (1 - share) * (1 - 3 * share) + self.angle * 6 * share * (1 - share) / self.duration
        return Rotation.from_rotvec(vector).as_matrix(), _angular(vector, slope)


def _angular(vector: Array, slope: Array) -> Array:
    """(t, 3) the angular velocity, in its own frame, of rotation vectors (t, 3) that change at a slope (t, 3)."""
    square = np.sum(vector * vector, axis=1, keepdims=True)
    angle = np.sqrt(square)
    near = angle < 1e-2  # there the series is exact to rounding
    safe = np.where(near, 1.0, angle)
    b = np.where(near, 0.5 - square / 24 + square**2 / 720, (1 - np.cos(safe)) / safe**2)
    c = np.where(near, 1 / 6 - square / 120 + square**2 / 5040, (safe - np.sin(safe)) / safe**3)
    once = np.cross(vector, slope)
    return slope - b * once + c * np.cross(vector, once)


def counted(turn: Array, near: Vector) -> Vector:
    """(3,) about the rotation vector of a rotation (3, 3), with as many whole turns as one that is near has."""
    return near + Rotation.from_matrix(turn @ Rotation.from_rotvec(near).as_matrix().T).as_rotvec()


@dataclass(frozen=True, eq=False)
class Place:
    """World points Q (x − pivot + offset) + origin + t launch + ½ t² gravity of points x of the body's own frame."""

    turn: Array
    """(3, 3) Q at the beginning"""
    pivot: Vector
    """(3,) the point of the body's own frame that is at the origin [m]"""
    origin: Vector
    """(3,) [m]"""
    offset: Points | None = None
    """(n, 3) what is added to every vertex: by how little fixed ones are not where the rest shape has them [m]"""
    launch: Vector | None = None
    """(3,) velocity of the origin at the beginning; None: it stands [m/s]"""
    gravity: Vector | None = None
    """(3,) [m/s²]"""
    turning: Turning | None = None
    """how Q goes on; None: it stays"""
    wound: Vector = field(default_factory=lambda: np.zeros(3))
    """(3,) rotation vector of Q at the beginning, with all whole turns so far [rad]"""

    @classmethod
    def still(cls) -> Place:
        """The body's own frame is the world's."""
        return cls(np.eye(3), np.zeros(3), np.zeros(3))

    def origin_at(self, time: float | Vector) -> Array:
        """(3,), or (t, 3), where the origin is after a time [s]."""
        t = np.asarray(time, dtype=np.float64)[..., None]
        out = self.origin + 0.0 * t
        if self.launch is not None:
            out = out + t * self.launch
        if self.gravity is not None:
            out = out + 0.5 * t * t * self.gravity
        return out

    def drift_at(self, time: float | Vector) -> Array:
        """(3,), or (t, 3), velocity of the origin [m/s]."""
        t = np.asarray(time, dtype=np.float64)[..., None]
        out = np.zeros(3) + 0.0 * t
        if self.launch is not None:
            out = out + self.launch
        if self.gravity is not None:
            out = out + t * self.gravity
        return out

    def turn_at(self, time: float) -> Array:
        """(3, 3) Q after a time [s]."""
        return self._turned(np.array([time]))[0][0]

    def wound_at(self, time: float) -> Vector:
        """(3,) the rotation vector of Q after a time [s], with all whole turns so far [rad]."""
        if self.turning is None:
            return self.wound
        vector = self.turning.vectors(np.array([time]))[0]
        return counted(self.turn_at(time), self.wound + self.turn @ vector)

    def _turned(self, times: Vector) -> tuple[Array, Array]:
        """(t, 3, 3) Q, and (t, 3) its angular velocity in the body's own frame."""
        if self.turning is None:
            return np.broadcast_to(self.turn, (len(times), 3, 3)), np.zeros((len(times), 3))
        so_far, rate = self.turning.at(times)
        return self.turn @ so_far, rate

    def points(self, x: Array, time: float | Vector) -> Array:
        """World points of own points (n, 3) at a time, or (t, n, 3) at times (t,)."""
        turn, _ = self._turned(np.atleast_1d(np.asarray(time, dtype=np.float64)))
        out = self._arms(x) @ (turn if np.ndim(time) else turn[0]).swapaxes(-1, -2)
        return out + self.origin_at(time)[..., None, :]

    def upwards(self, times: Vector) -> Array:
        """(3, t) y of the world in the body's own frame at times (t,)."""
        return np.ascontiguousarray(self._turned(times)[0][:, 1].T)

    def heights(self, rest: Points, lifts: Array, times: Vector, vertices: Integers) -> Array:
        """(t, k) y of the world of vertices (k,) at times (t,), where they were at own points (k, 3) and have gone
        upwards by lifts (t, k)."""
        arms = rest - self.pivot if self.offset is None else rest - self.pivot + self.offset[vertices]
        return self.upwards(times).T @ arms.T + lifts + self.origin_at(times)[:, 1:2]

    def velocities(self, x: Array, v: Array, time: float | Vector) -> Array:
        """World velocities of own points that move at own velocities v."""
        turn, rate = self._turned(np.atleast_1d(np.asarray(time, dtype=np.float64)))
        if self.turning is not None:
            v = v + np.cross((rate if np.ndim(time) else rate[0])[..., None, :], self._arms(x))
        out = v @ (turn if np.ndim(time) else turn[0]).swapaxes(-1, -2)
        return out + self.drift_at(time)[..., None, :]

    def _arms(self, x: Array) -> Array:
        return x - self.pivot if self.offset is None else x - self.pivot + self.offset

    def own(self, x: Points, time: float, vertices: Integers | None = None) -> Points:
        """Own points of world points (v, 3), those of some vertices; None: of what has no offset."""
        own = (x - self.origin_at(time)) @ self.turn_at(time) + self.pivot
        return own if self.offset is None or vertices is None else own - self.offset[vertices]

    def own_key(self, key: Key, mass: Vector) -> Key:
        """A key of the world, as the body's own frame has it; masses (n,) say where the centre is.

        Where the frame turns, velocities are counted as if it stood: it comes to rest with the end.
        """
        where, speed = key.positions, key.velocities
        if where is not None:
            where = self.own(where, key.time, key.vertices)
            if key.vertices is None and self.offset is not None:
                where = where - mass @ self.offset / mass.sum()
        if speed is not None:
            speed = (speed - self.drift_at(key.time)) @ self.turn_at(key.time)
        # Of turns about one axis this is the angle between them; of others about that, which is all it is meant for.
        turn = None if key.turn is None else (key.turn - self.wound_at(key.time)) @ self.turn_at(key.time)
        return Key(key.time, key.vertices, where, speed, key.weight, turn)
