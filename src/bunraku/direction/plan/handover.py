"""Handing a pose and its velocity over to a body with other vertices fixed: nothing jumps.

The pose is turned into the displacement that the warp makes it of, exactly, and the same for the velocity; both are
added to the modes. What is fixed stays where it is; by how little that is not the rest shape's own shape is an offset
that all vertices share, in static balance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Integers, PhysicsStopped, Points, Vector, input_error
from bunraku.direction.steer.rigid import best_rotation, centre
from bunraku.dynamics import CLOSE, rigid_motions, unwarped, unwarped_speeds

from .place import Place, Turning, counted
from .reduced import Reduced

_ROUNDS = 20
_UPRIGHT = 1e-9
"""[rad] of linearised turn that may be left in a body that flies"""
_NEARLY_UPRIGHT = 0.05
"""[rad] of it, below which what turning the frame does is not looked at anew"""
_WRONG = 1e-4
"""share of a velocity that may be lost where it is handed on"""
_TOO_FAR = (
    "a pose could not be handed on: it is bent or stretched beyond what linear modes can mean; "
    "try keys that ask for less, or more modes"
)
_MOST_AT_ONCE = 0.5
"""[rad] by which the frame is turned at once"""
_ROUGHLY, _EXACTLY = 1e-3, 1e-12
"""shares to which a displacement, or its rates, are found: to come nearer by, and to be kept"""
_FINER = 1e-3
"""share of a leaning's square [rad²], which is what Newton's method leaves of it, that a displacement may be off by"""


@dataclass(frozen=True, eq=False)
class Handed:
    """A body ready to go on."""

    body: Reduced
    place: Place
    position: Vector
    """(d,)"""
    velocity: Vector
    """(d,)"""


def onto_ground(body: Reduced, x: Points, v: Points, turn: Array, turns: Array) -> Handed:
    """A body with vertices fixed where they are at points x (n, 3) with velocities v; `turn` (3, 3) is how it stood,
    `turns` (m, 3) are the rotation vectors of its tetrahedra, from the rest shape and with all whole turns."""
    rest, mass, fixed = body.mesh.rest, body.mass, body.fixed
    pivot, origin = centre(rest[fixed], mass[fixed]), centre(x[fixed], mass[fixed])
    if np.linalg.matrix_rank(rest[fixed] - pivot, tol=1e-6 * body.mesh.size) >= 2:
        turn = best_rotation(rest[fixed], x[fixed], mass[fixed])
    own = (x - origin) @ turn + pivot
    offset = _extended(body, (own - rest)[fixed])
    speed = v @ turn
    speed[fixed] = 0.0
    near = turns[np.isin(body.mesh.tets, fixed).any(axis=1)].mean(axis=0)
    place = Place(turn, pivot, origin, offset, wound=counted(turn, near))
    return _handed(body, place, own - offset, speed)


@dataclass(frozen=True, eq=False)
class TakenOff:
    """A body that leaves the ground: how it is, and how it turns and flies."""

    position: Points
    """(n, 3) displacement before the warp, without a linearised turn [m]"""
    velocity: Points
    """(n, 3) of it, without one either [m/s]"""
    place: Place
    spin: Vector
    """(3,) [rad/s] angular velocity, in the body's own frame"""


def take_off(body: Reduced, x: Points, v: Points, turn: Array, turns: Array, gravity: Vector) -> TakenOff:
    """A body without fixed vertices, in its elastic modes, from points x (n, 3) with velocities v; `turn` and `turns`
    as for `onto_ground`.

    Its frame is turned, and turns, so that neither the displacement nor its velocity has a linearised turn.
    """
    rest, mass = body.mesh.rest, body.mass
    pivot, origin, launch = centre(rest, mass), centre(x, mass), centre(v, mass)
    linear = rigid_motions(rest, mass)[:, :, 3:]
    if not body.warped:
        turn = best_rotation(rest, x, mass)  # which is what leaves no linearised turn
    u, turn, nearly = _upright(body, x - origin, pivot, turn, linear)
    speeds = np.stack([*_turning((x - origin) @ turn), (v - launch) @ turn])
    known = np.concatenate([nearly, np.zeros((1, *u.shape))])
    *found, rate = _rate(body, u, speeds, _EXACTLY, known)
    turns_by = np.stack(found)
    about = np.einsum("aik,bai,a->kb", linear, turns_by, mass)
    spin: Vector = np.asarray(np.linalg.solve(about, _share(linear, rate, mass)), dtype=np.float64)
    rate = rate - np.einsum("k,kni->ni", spin, turns_by)
    wound = counted(turn, turns.mean(axis=0))
    return TakenOff(u, rate, Place(turn, pivot, origin, None, launch, gravity, wound=wound), spin)


def _upright(body: Reduced, away: Points, pivot: Vector, turn: Array, linear: Array) -> tuple[Points, Array, Array]:
    """(n, 3) the displacement, and (3, 3) the turn of the frame in which it has no linearised turn (n, 3, 3), of a pose
    `away` (n, 3) from the centre of mass: by Newton's method on three numbers. Also, about, (3, n, 3) how it changes
    where what it means turns about x, y and z."""
    start, before, turns_by, close = None, np.inf, np.zeros((3, *away.shape)), _ROUGHLY
    for _ in range(_ROUNDS):
        own = away @ turn + pivot
        u = _undone(body, own, start, close)
        if before > _NEARLY_UPRIGHT or start is None:
            turns_by = _rate(body, u, _turning(own - pivot), _ROUGHLY, None if start is None else turns_by)
        left = np.linalg.solve(np.einsum("aik,bai,a->kb", linear, turns_by, body.mass), _share(linear, u, body.mass))
        leaning = float(np.linalg.norm(left))
        if leaning <= _UPRIGHT and close <= CLOSE:
            return u, turn, turns_by
        close = max(CLOSE, _FINER * min(leaning, 1.0) ** 2)  # as near as the next round may come
        left *= min(1.0, _MOST_AT_ONCE / leaning)  # it is upright upside down, too
        turn = turn @ Rotation.from_rotvec(left).as_matrix()
        start = u - np.einsum("k,kni->ni", left, turns_by)
        before = np.inf if leaning > 0.1 * before else leaning  # what does not help any more is looked at anew
    raise PhysicsStopped(
        "a pose could not take off: no frame was found in which it is upright; try keys that ask for less"
    )


def _turning(arm: Points) -> Array:
    """(3, n, 3) velocities of arms (n, 3) that turn about x, y and z."""
    return np.stack([np.cross(axis, arm) for axis in np.eye(3)])


def _rate(body: Reduced, u: Points, speeds: Array, share: float, known: Array | None = None) -> Array:
    """(r, n, 3) how a displacement u changes where what it means moves at speeds (r, n, 3), up to a share of each;
    `known` are some near that."""
    if not body.warped:
        return speeds
    found = unwarped_speeds(body.warp, u, speeds, share=share, start=known)
    if share == _EXACTLY:
        missed = np.delete(body.warp.velocities(u, found) - speeds, body.fixed, axis=1)
        if (np.linalg.norm(missed, axis=(1, 2)) > _WRONG * np.linalg.norm(speeds, axis=(1, 2))).any():
            raise PhysicsStopped(_TOO_FAR)
    return found


def in_flight(body: Reduced, begun: TakenOff, angle: Vector, duration: float) -> Handed:
    """The body in modes that have its pose and velocity, turned by an angle (3,) from its rest shape at the end."""
    last = begun.place.turn.T @ Rotation.from_rotvec(angle).as_matrix()
    turning = Turning(begun.spin, Rotation.from_matrix(last).as_rotvec(), duration)
    richer = body.with_shapes(np.stack([begun.position, begun.velocity], axis=2))
    q, v = (richer.modes.coordinates(one, body.mass) for one in (begun.position, begun.velocity))
    return Handed(richer, replace(begun.place, turning=turning), q, v)


def _share(turns: Array, field: Points, mass: Vector) -> Vector:
    """(3,) how much of each linearised turn (n, 3, 3) is in a field (n, 3), by mass."""
    return np.einsum("nik,ni,n->k", turns, field, mass)


def _handed(body: Reduced, place: Place, own: Points, speed: Points) -> Handed:
    """In modes that have both, of own points (n, 3) and velocities."""
    u = _undone(body, own)
    rate = _rate(body, u, speed[None], _EXACTLY)[0]
    richer = body.with_shapes(np.stack([u, rate], axis=2))
    return Handed(richer, place, richer.modes.coordinates(u, body.mass), richer.modes.coordinates(rate, body.mass))


def _undone(body: Reduced, own: Points, start: Points | None = None, close: float = CLOSE) -> Points:
    """(n, 3) the displacement that is warped to own points, up to a share of the size; `start` is one near it."""
    if not body.warped:
        return own - body.mesh.rest
    found = unwarped(body.warp, own, start, close=close)
    if not found.outcome.usable:
        raise PhysicsStopped(_TOO_FAR)
    return found.value


def _extended(body: Reduced, moved: Points) -> Points:
    """(n, 3) in static balance, displacements (f, 3) at the fixed vertices."""
    linear = body.stock.linear(body.fixed)
    return linear.extended(moved)


def check_feet(fixed: Integers) -> None:
    """A phase that stands needs something to stand on."""
    if not len(fixed):
        raise input_error(
            "a phase of a chain stands on vertices that are fixed", where="phase.fixed", got=0, remedy="bk.Flight"
        )
