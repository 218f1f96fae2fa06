"""Paths: where a point of a body goes, and how the body turns.

Every sample has a parabola in time (`parabolas.py`). Between two samples those of both are faded into each other,

    p = P_k + f(u) (P_{k+1} − P_k),   f = u³ (10 − 15u + 6u²),   u from 0 to 1.

A fade with neither slope nor bend at its ends leaves value, first and second derivative of each parabola there as they
are. So the curve is C², exact at its samples, and a sample that is moved changes the curve no farther than two samples
away. Turns are the same curve with rotation vectors in the place of differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Integers, Vector, input_error, need, real_array
from bunraku.geometry import TetMesh, TriMesh, check_coordinates, first_few, vertex_areas

from .animation import Animation
from .middles import enclosed_middles
from .parabolas import parabolas
from .recorded import Recorded, way_of

Hold = Literal["constraint", "compensation"]
HOLDS: tuple[Hold, ...] = ("constraint", "compensation")
SAME_TIME = 1e-9
"""[s] within which a time counts as a sample's"""
FURTHEST_TURN = 175.0
"""[°] between two samples of a path"""
_TURNED = 1e-6  # how far a matrix may be from a rotation and still be meant for one


@dataclass(frozen=True, eq=False, init=False)
class Path:
    """A C² curve through samples, for the mass-weighted mean of some vertices of a body.

    It holds from its first sample to its last; before and after the body is free. A single sample holds for ever.
    """

    times: Vector
    """(t,) increasing [s]"""
    points: Array
    """(t, 3) [m]"""
    vertices: Integers | None
    """(v,) of the body, whose mean is directed; None: all, so the centre of mass"""
    rotations: Array | None
    """(t, 3, 3) how the whole body is turned from its rest shape, or (t, 4) as quaternions x, y, z, w; None: it may
    turn as it likes"""
    hold: Hold
    """"constraint": the step is solved on the path, and the body reacts to it; "compensation": the body is put back on
    the path after each step, the paper's way"""

    def __init__(
        self, times: ArrayLike, points: ArrayLike, vertices: Sequence[int] | Integers | None = None,
        rotations: ArrayLike | None = None, hold: Hold = "constraint",
    ) -> None:  # fmt: skip
        when, where = _samples(times, points)
        if not isinstance(hold, str) or hold not in HOLDS:
            raise input_error("unknown hold", where="path", got=hold, allowed=", ".join(HOLDS))
        if rotations is not None and vertices is not None:
            raise input_error(
                "a path turns the whole body or nothing", where="path.rotations", got="rotations and vertices",
                remedy="two paths: one with rotations for the body, one with vertices for the part",
            )  # fmt: skip
        object.__setattr__(self, "times", when)
        object.__setattr__(self, "points", where)
        object.__setattr__(self, "vertices", None if vertices is None else _vertices(vertices))
        object.__setattr__(self, "rotations", None if rotations is None else _rotations(rotations, when))
        object.__setattr__(self, "hold", hold)

    @classmethod
    def along(
        cls, curve: Callable[[float], ArrayLike], times: ArrayLike, vertices: Sequence[int] | Integers | None = None, *,
        hold: Hold = "constraint",
    ) -> Path:  # fmt: skip
        """The way of a curve, a SciPy spline say: time [s] → (3,) [m], met at `times` (t,). With the times of the
        frames the body is on the curve itself on every frame."""
        if not callable(curve):
            raise input_error(
                "a curve is a function of time", where="curve", got=type(curve).__name__, remedy="Path(times, points)"
            )
        try:
            when = real_array(times).reshape(-1)
            where = [real_array(curve(float(time))) for time in when]
        except (TypeError, ValueError):
            raise input_error(
                "a curve gives three numbers at a time", where="curve", remedy="time [s] → (x, y, z) [m]"
            ) from None
        return cls(when, where, vertices, hold=hold)

    @classmethod
    def of(
        cls, animation: Animation[Any], vertices: Sequence[int] | Integers | None = None, *,
        source: Sequence[int] | Integers | None = None, turning: bool = False, hold: Hold = "constraint",
    ) -> Path:  # fmt: skip
        """The way the middle of something animated goes, weighed by volume (or area, where it encloses none).

        `source` are the vertices of the animation that are followed; None: those with the numbers `vertices`, else all.
        `turning` takes the turn with it that fits all of the animation best, from its mesh's rest shape.
        """
        need(Animation, "animation", animation)
        followed = vertices if source is None else source
        weights = _weights(animation.mesh)
        chosen = np.arange(len(weights)) if followed is None else _vertices(followed)
        absent = chosen[(chosen < 0) | (chosen >= len(weights))]
        if len(absent):
            raise input_error(
                "the animation has no such vertices", where="path", got=first_few(absent),
                allowed=f"0 to {len(weights) - 1}",
            )  # fmt: skip
        share = weights[chosen] / weights[chosen].sum()
        points = enclosed_middles(animation.mesh, animation.points) if followed is None else None
        if points is None:
            points = np.einsum("v,tvi->ti", share, animation.points[:, chosen])
        turns = _best_turns(animation, weights) if turning else None
        return cls(animation.times, points, vertices, turns, hold)

    @classmethod
    def recorded(
        cls, take: Recorded, vertices: Sequence[int] | Integers | None = None, *, body: int | str | None = None,
        turning: bool = False, hold: Hold = "constraint",
    ) -> Path:  # fmt: skip
        """The way a take of a body went, frame by frame; `turning` with how it turned as a whole. Of several bodies
        `body` says which, by its name or number."""
        animation, turns = way_of(take, body)
        path = cls.of(animation, vertices, hold=hold)
        if not turning:
            return path
        if turns is None:
            raise input_error(
                "the take does not say how the body turned",
                where="path",
                remedy="Path.of(take.animation, turning=True)",
            )
        return replace(path, rotations=turns)

    def moved(self, knot: int, point: Sequence[float] | Vector) -> Path:
        """The same path with one of its samples elsewhere (3,) [m]."""
        points, whole = self.points.copy(), isinstance(knot, Integral) and not isinstance(knot, bool)
        if not whole or not 0 <= knot < len(points) or np.shape(point) != (3,):
            raise input_error(
                "a sample is moved to a point", where="path.moved", got=f"sample {knot!r}, shape {np.shape(point)}",
                allowed=f"0 to {len(points) - 1}, and (3,)",
            )  # fmt: skip
        points[knot] = point
        return replace(self, points=points)

    def holds(self, time: float) -> bool:
        """Whether it says where to be at a time [s]."""
        inside = self.times[0] - SAME_TIME <= time <= self.times[-1] + SAME_TIME
        return len(self.times) == 1 or bool(inside)

    def at(self, time: float) -> Vector:
        """(3,) where the directed point is at a time [m]; outside the samples the first or the last."""
        k, u, exact = self._piece(time)
        if exact is not None:
            return self.points[exact].copy()
        t = self.times[k] + u * (self.times[k + 1] - self.times[k])
        first, second = self._parabola(k, t), self._parabola(k + 1, t)
        return first + _fade(u) * (second - first)

    def velocity(self, time: float) -> Vector:
        """(3,) its rate [m/s]; zero outside the samples."""
        if len(self.times) == 1 or not self.holds(time):
            return np.zeros(3)
        k, u, _ = self._piece(time)
        h = self.times[k + 1] - self.times[k]
        t = self.times[k] + u * h
        between = self._parabola(k + 1, t) - self._parabola(k, t)
        first, second = self._parabola(k, t, 1), self._parabola(k + 1, t, 1)
        return first + _fade(u) * (second - first) + 30.0 * (u * (1.0 - u)) ** 2 / h * between

    def rotation(self, time: float) -> Array:
        """(3, 3) how the body is turned at a time, from its rest shape; the identity where the path says nothing."""
        if self.rotations is None:
            return np.eye(3)
        k, u, exact = self._piece(time)
        if exact is not None:
            return self.rotations[exact].copy()
        t = self.times[k] + u * (self.times[k + 1] - self.times[k])
        first, second = self._turned(k, t), self._turned(k + 1, t)
        return first @ _turn(_fade(u) * _vector(first.T @ second))

    def spin(self, time: float) -> Vector:
        """(3,) angular velocity [rad/s] in the world; zero outside the samples."""
        if self.rotations is None or len(self.times) == 1 or not self.holds(time):
            return np.zeros(3)
        k, _, exact = self._piece(time)
        if exact is not None:  # there the rotation vector is 0, and its rate is the angular velocity
            return self.rotations[exact] @ self._turns[exact, 0]
        h = 1e-4 * (self.times[k + 1] - self.times[k])  # the curve is smooth: O(h²) of a ten-thousandth
        return _vector(self.rotation(time + h) @ self.rotation(time - h).T) / (2.0 * h)

    def continued(self, time: float) -> tuple[Vector, Array]:
        """(3,) and (3, 3) where and how turned it would be at a time [s] beyond its ends, on its last parabola."""
        k = 0 if time < self.times[0] else len(self.times) - 1
        turn = np.eye(3) if self.rotations is None else self._turned(k, time)
        return self._parabola(k, time), turn

    def _piece(self, time: float) -> tuple[int, float, int | None]:
        """Piece k and the share u of it gone by a time [s]; and the sample it is the time of, if it is."""
        times = self.times
        near = int(np.clip(np.searchsorted(times, time), 0, len(times) - 1))
        for sample in (near, near - 1):
            if sample >= 0 and abs(times[sample] - time) <= SAME_TIME:
                k = min(sample, max(len(times) - 2, 0))
                return k, float(sample - k), sample
        if time <= times[0] or time >= times[-1]:
            last = 0 if time <= times[0] else len(times) - 1
            k = min(last, max(len(times) - 2, 0))
            return k, float(last - k), last
        k = near - 1
        return k, float((time - times[k]) / (times[k + 1] - times[k])), None

    @cached_property
    def _bends(self) -> Array:
        """(t, 2, 3) slope and half of the curvature of each sample's parabola."""
        return parabolas(self.times, lambda k, j: self.points[j] - self.points[k])

    @cached_property
    def _turns(self) -> Array:
        """(t, 2, 3) the same of the rotation vector from each sample's rotation."""
        turns = self.rotations
        assert turns is not None

        def way(k: int, j: int) -> Vector:
            """By the way over the samples between: two of 100° are one of 200°, not one of 160° back."""
            shortest = _vector(turns[k].T @ turns[j])
            if abs(j - k) < 2:
                return shortest
            middle = (k + j) // 2
            over = _vector(turns[k].T @ turns[middle]) + _vector(turns[middle].T @ turns[j])
            return _nearest(shortest, over)

        return parabolas(self.times, way)

    def _parabola(self, k: int, time: float, derivative: int = 0) -> Vector:
        """(3,) of sample k's parabola at a time [s]."""
        slope, bend = self._bends[k]
        away = time - self.times[k]
        return slope + 2.0 * away * bend if derivative else self.points[k] + away * (slope + away * bend)

    def _turned(self, k: int, time: float) -> Array:
        """(3, 3) of sample k's parabola of rotation vectors."""
        assert self.rotations is not None
        slope, bend = self._turns[k]
        away = time - self.times[k]
        return self.rotations[k] @ _turn(away * (slope + away * bend))


def _fade(u: float) -> float:
    return u**3 * (10.0 + u * (6.0 * u - 15.0))


def _turn(vector: Vector) -> Array:
    """(3, 3) of a rotation vector (3,) [rad]."""
    return Rotation.from_rotvec(vector).as_matrix()


def _vector(turn: Array) -> Vector:
    """(3,) rotation vector [rad] of a rotation (3, 3), by the shorter way."""
    return Rotation.from_matrix(turn).as_rotvec()


def _nearest(vector: Vector, to: Vector) -> Vector:
    """(3,) of the rotation vectors of the same rotation, which differ by whole turns, the one nearest to another."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return vector
    axis = vector / angle
    turns = round((float(axis @ to) - angle) / (2.0 * np.pi))
    return (angle + 2.0 * np.pi * turns) * axis


def _weights(mesh: TriMesh | TetMesh) -> Vector:
    """(n,) of vertices: a quarter of the volume, or a third of the area, around each; equal where there is none."""
    if isinstance(mesh, TetMesh):
        share = np.repeat(mesh.volumes / 4.0, 4)
        return np.bincount(mesh.tets.reshape(-1), weights=share, minlength=mesh.point_count).astype(np.float64)
    areas = vertex_areas(mesh.rest, mesh.faces)
    return areas if areas.sum() > 0 else np.ones(mesh.point_count)


def _best_turns(animation: Animation[Any], weights: Vector) -> Array:
    """(t, 3, 3) rotations that lead from the rest shape to each frame with the least squares left over."""
    share = weights / weights.sum()
    rest = animation.mesh.rest - share @ animation.mesh.rest
    out = []
    for x in animation.points:
        left, _, right = np.linalg.svd(((x - share @ x) * share[:, None]).T @ rest)
        sign = np.sign(np.linalg.det(left @ right))
        out.append(left @ np.diag([1.0, 1.0, sign]) @ right)
    return np.stack(out)


def _samples(times: object, points: object) -> tuple[Vector, Array]:
    """(t,) and (t, 3), refused where they are no curve."""
    try:
        when, where = real_array(times), real_array(points)
    except (TypeError, ValueError):
        raise input_error("times and points of a path must be numbers", where="path") from None
    if when.ndim != 1 or len(when) == 0 or where.shape != (len(when), 3):
        raise input_error(
            "a path needs a time and a point a sample", where="path", got=f"times {when.shape}, points {where.shape}",
            allowed="(t,) and (t, 3)",
        )  # fmt: skip
    if not np.isfinite(when).all():
        raise input_error("times must be finite", where=f"path, sample {int(np.flatnonzero(~np.isfinite(when))[0])}")
    bad = np.flatnonzero(~np.isfinite(where).all(axis=1))
    if len(bad):
        raise input_error("points must be finite", where=f"path, sample {bad[0]}", got=where[bad[0]].tolist())
    check_coordinates(where, "path", smallest=0.0)
    late = np.flatnonzero(~(np.diff(when) > SAME_TIME))
    if len(late):
        raise input_error(
            "times must increase", where=f"path, sample {late[0] + 1}", got=float(when[late[0] + 1]),
            allowed=f"above {when[late[0]]}",
        )  # fmt: skip
    when.flags.writeable = where.flags.writeable = False
    return when, where


def _check_half_turns(turns: Array, times: Vector) -> None:
    """Refuse samples between which nobody knows which way round to go."""
    for k in range(len(turns) - 1):
        angle = float(np.degrees(np.linalg.norm(_vector(turns[k].T @ turns[k + 1]))))
        if angle > FURTHEST_TURN:
            raise input_error(
                "two samples are half a turn apart, and it may go either way round",
                where=f"path.rotations, samples {k} and {k + 1} ({times[k]:g} s to {times[k + 1]:g} s)",
                got=f"{angle:.4g}°", allowed=f"up to {FURTHEST_TURN:g}°", remedy="a sample between them",
            )  # fmt: skip


def _vertices(given: object) -> Integers:
    try:
        found = np.asarray(given)
    except ValueError:  # lists of different lengths
        found = np.zeros(0)
    if found.ndim != 1 or not len(found) or not np.issubdtype(found.dtype, np.integer):
        raise input_error("vertices must be a list of whole numbers", where="path.vertices", got=repr(given)[:60])
    if len(np.unique(found)) != len(found):
        raise input_error("a vertex is named twice", where="path.vertices", got=repr(given)[:60])
    return found.astype(np.int64)


def _rotations(given: object, times: Vector) -> Array:
    """(t, 3, 3) from matrices or quaternions; what mirrors or stretches is refused."""
    try:
        turns = real_array(given)
    except (TypeError, ValueError):
        turns = np.zeros(0)
    count = len(times)
    if turns.shape == (count, 4):
        bad = np.flatnonzero(~(np.isfinite(turns).all(axis=1) & (np.linalg.norm(turns, axis=1) > 0)))
        if len(bad):
            raise input_error(
                "not a rotation", where=f"path.rotations, sample {bad[0]}", got=turns[bad[0]].tolist(),
                allowed="a quaternion x, y, z, w of finite numbers, not all 0",
            )  # fmt: skip
        turns = Rotation.from_quat(turns).as_matrix()
    if turns.shape != (count, 3, 3):
        raise input_error(
            "a path needs a rotation a sample", where="path.rotations", got=turns.shape,
            allowed=f"({count}, 3, 3), or quaternions x, y, z, w ({count}, 4)",
        )  # fmt: skip
    bad = np.flatnonzero(~np.isfinite(turns).all(axis=(1, 2)))
    if len(bad):
        raise input_error("rotations must be finite", where=f"path.rotations, sample {bad[0]}")
    square = np.abs(np.swapaxes(turns, 1, 2) @ turns - np.eye(3)).max(axis=(1, 2))
    bad = np.flatnonzero(~((square <= _TURNED) & (np.linalg.det(turns) > 0.0)))
    if len(bad):
        mirrors = square[bad[0]] <= _TURNED
        raise input_error(
            "not a rotation: it mirrors" if mirrors else "not a rotation: it is stretched",
            where=f"path.rotations, sample {bad[0]}", got=f"determinant {np.linalg.det(turns[bad[0]]):.3g}",
        )  # fmt: skip
    _check_half_turns(turns, times)
    turns.flags.writeable = False
    return turns
