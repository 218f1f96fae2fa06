"""What of a shape is place and turn, and what is shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.contracts import Array, Integers, Points, Vector
from bunraku.geometry import TetMesh


def centre(x: Points, mass: Vector) -> Vector:
    """(3,) the mean of points (n, 3) by mass (n,)."""
    return mass @ x / mass.sum()


def best_rotation(x: Points, onto: Points, mass: Vector) -> Array:
    """(3, 3) the rotation that, about their centres, brings points x (n, 3) nearest to others in least squares."""
    a, b = x - centre(x, mass), onto - centre(onto, mass)
    left, _, right = np.linalg.svd((mass[:, None] * b).T @ a)
    mirror = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return (left * mirror) @ right


def pieces_of(body: TetMesh) -> tuple[Integers, ...]:
    """Vertices (v,) of each piece of a body that is in several; none for one that hangs together."""
    if body.part_count < 2:
        return ()
    return tuple(np.unique(body.tets[body.parts == k]) for k in range(body.part_count))


def aligned(x: Points, onto: Points, mass: Vector, pieces: Sequence[Integers] = ()) -> Points:
    """(n, 3) the shape x, moved and turned as near to another as it gets by mass; each of `pieces` by itself, for how
    those lie to each other is no shape."""
    if pieces:
        out = np.array(onto)
        for one in pieces:
            out[one] = aligned(x[one], onto[one], mass[one])
        return out
    turn = best_rotation(x, onto, mass)
    return (x - centre(x, mass)) @ turn.T + centre(onto, mass)


def apart(x: Points, y: Points, mass: Vector) -> float:
    """[m] the root of the mean square distance of points (n, 3), by mass (n,)."""
    away = x - y
    return float(np.sqrt(mass @ np.sum(away * away, axis=1) / mass.sum()))


def shape_distance(x: Points, y: Points, mass: Vector, pieces: Sequence[Integers] = ()) -> float:
    """[m] how far two shapes differ once place and turn, of each piece, are taken out: root mean square by mass."""
    return apart(aligned(x, y, mass, pieces), y, mass)
