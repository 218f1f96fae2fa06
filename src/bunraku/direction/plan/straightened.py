"""Keys as they are before the warp: where a search begins that ends with what they ask for.

Between what is fixed and a key's vertices the body is taken as a rod of one curvature: at the share s of its length it
is turned by s θ, so its end is at V(θ) r' with V(θ) = ∫₀¹ exp(s θ) ds and r' the rod's stretched length. Before the
warp such a rod has the displacement r' − r + ½ θ × r. The turn θ is that of the key's vertices: which one, where it is
more than half a turn, the key says.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Array, Vector
from bunraku.direction.steer.rigid import best_rotation, centre

from .keys import Key
from .reduced import Reduced

GENTLE = 1e-4
"""weight: firmer keys would contort the body to follow what is only nearly meant"""
_SMALL = 1e-4  # [rad] below which series are exact to rounding


def straightened(key: Key, body: Reduced) -> Key:
    """The key whose places and velocities are those before the warp, near to what it means."""
    if key.vertices is None or key.positions is None or len(key.vertices) < 3:
        return key
    rest, mass = body.mesh.rest[key.vertices], body.mass[key.vertices]
    here, there = centre(rest, mass), centre(key.positions, mass)
    arm = rest - here
    turn = best_rotation(rest, key.positions, mass)
    angle = nearest_turn(Rotation.from_matrix(turn).as_rotvec(), key.turn)
    held = body.fixed if len(body.fixed) else np.arange(len(body.mass))
    base = centre(body.mesh.rest[held], body.mass[held])
    bend = mean_turn(angle)
    end = base + np.linalg.solve(bend, there - base) + 0.5 * np.cross(angle, here - base)
    stretched = (key.positions - there) @ turn
    velocities = None if key.velocities is None else np.linalg.solve(bend, key.velocities.T).T
    return Key(key.time, key.vertices, end + np.cross(angle, arm) + stretched, velocities, min(key.weight, GENTLE))


def nearest_turn(angle: Vector, near: Vector | None) -> Vector:
    """(3,) the rotation vector of the same rotation that is nearest to another; None: the shortest."""
    size = float(np.linalg.norm(angle))
    if near is None or (size < _SMALL and np.linalg.norm(near) < np.pi):
        return angle
    axis = angle / size if size >= _SMALL else near / np.linalg.norm(near)
    whole = np.round((axis @ near - size) / (2.0 * np.pi))
    return axis * (size + 2.0 * np.pi * whole)


def mean_turn(angle: Vector) -> Array:
    """(3, 3) V(θ) = ∫₀¹ exp(s θ) ds of a rotation vector; it has no inverse at whole turns, so there it is that of a
    hair less."""
    size = float(np.linalg.norm(angle))
    cross = np.cross(np.eye(3), angle)
    if size < _SMALL:
        return np.eye(3) + 0.5 * cross
    near = 2.0 * np.pi * np.round(size / (2.0 * np.pi))
    if near > 0.0 and abs(size - near) < _WHOLE:
        return mean_turn(angle * (near - _WHOLE) / size)
    square = cross @ cross
    return np.eye(3) + (1.0 - np.cos(size)) / size**2 * cross + (size - np.sin(size)) / size**3 * square


_WHOLE = 0.5
"""[rad] around whole turns where a rod would have to be stretched beyond all bounds"""
