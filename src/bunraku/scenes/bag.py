"""The bag of TRACKS §5.3: 88 vertices with feet and raised corners for hands, and the backflip it does.

Its 245 edges, 158 faces and one border of 16 edges are those of the paper's counts: twice subdivided it has
88 + 3 (245 + 158) = 1,297 vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Points, Vector
from bunraku.geometry import TriMesh
from bunraku.motion import Animation, ease

from .easing import about_x, keyed, turned

_SIDE = 4  # edges on each side of a ring
_RINGS = 5
_HEIGHT, _HALF_WIDTH, _HALF_DEPTH = 0.62, 0.24, 0.16  # [m]
_CROTCH, _HANDS = 0.13, 0.20  # [m] how far the middle of the floor and the hands are raised
_GRAVITY = 9.81  # [m/s²] of the jump
_TAKEOFF, _LANDING, _ROUNDING = 0.50, 1.12, 0.06  # [s]


def bag_mesh() -> TriMesh:
    """The open bag standing on y = 0, facing +z; vertices 0 to 15 are its rim."""
    walls = np.concatenate([_ring_points(level) for level in np.linspace(1.0, 0.0, _RINGS)])
    inner = _grid_border(2) * 0.5
    floor = _place(inner, np.zeros(len(inner)), floor=True)
    return TriMesh(np.concatenate([walls, floor]), np.concatenate([_wall_faces(), _floor_faces()]))


def _grid_border(side: int) -> Array:
    """(4 side, 2) the border of the square [−1, 1]² in equal parts, from (−1, 1) towards (1, 1) and round."""
    run = np.linspace(-1.0, 1.0, side + 1)[:-1]
    one = np.ones(side)
    parts = [(run, one), (one, -run), (-run, -one), (-one, run)]
    return np.concatenate([np.stack(part, axis=1) for part in parts])


def _ring_points(level: float) -> Points:
    border = _grid_border(_SIDE)
    return _place(border, np.full(len(border), level))


def _place(uv: Array, level: Vector, floor: bool = False) -> Points:
    """(n, 3) where the point uv (n, 2) of the square, at level 0 (floor) to 1 (rim), lies."""
    u, w = uv.T
    # Corners rounder upwards: a boxy seat, a round mouth.
    reach = np.maximum(np.abs(u), np.abs(w))
    circle = uv / np.maximum(np.hypot(u, w), 1e-9)[:, None] * reach[:, None]
    share = (0.25 + 0.5 * level)[:, None]
    u, w = ((1.0 - share) * uv + share * circle).T
    belly = 1.0 + 0.20 * np.sin(np.pi * np.clip(level * 1.15, 0.0, 1.0)) - 0.10 * level
    legs = (1.0 - np.abs(u)) ** 2 * (1.0 - ease(level, 0.0, 0.55))
    hands = np.abs(u) ** 3 * ease(level, 0.55, 1.0)
    neck = (1.0 - u * u) * ease(level, 0.6, 1.0)
    x = _HALF_WIDTH * (belly * u + 0.30 * hands * np.sign(u))
    y = _HEIGHT * level + _CROTCH * legs + _HANDS * hands - 0.05 * neck
    z = _HALF_DEPTH * belly * w * (1.0 - 0.25 * hands) * (1.0 - 0.15 * legs)
    arch = 0.02 * (1.0 - w * w) if floor else 0.0
    return np.stack([x, y + arch, z], axis=1)


def _wall_faces() -> Faces:
    """Strips between rings; diagonals mirrored left to right and front to back, so that nothing leans."""
    count = 4 * _SIDE
    faces = []
    for ring in range(_RINGS - 1):
        for k in range(count):
            a, b = ring * count + k, ring * count + (k + 1) % count
            c, d = a + count, b + count
            if (k % _SIDE) < _SIDE // 2:
                faces += [[a, c, d], [a, d, b]]
            else:
                faces += [[a, c, b], [b, c, d]]
    return np.array(faces)


def _floor_faces() -> Faces:
    """The floor: the lowest ring, a ring of eight inside it, and six triangles between those."""
    number = _floor_numbers()
    faces = []
    for i in range(_SIDE):
        for j in range(_SIDE):
            a, b, c, d = (number[i + p, j + q] for p, q in ((0, 0), (1, 0), (1, 1), (0, 1)))
            if min(a, b, c, d) < 0:
                continue
            # Diagonals run to the floor's corners.
            faces += [[a, b, c], [a, c, d]] if (i < 2) == (j < 2) else [[a, b, d], [b, c, d]]
    for i in (1, 3):
        middle, ends = number[i, 2], [number[i, 1], number[2, 1], number[2, 3], number[i, 3]]
        fan = [[middle, p, q] for p, q in pairwise(ends)]
        faces += fan if i == 1 else [[m, q, p] for m, p, q in fan]
    return np.array(faces)


def _floor_numbers() -> Integers:
    """(5, 5) vertex at each crossing of the floor's grid, x then z; −1 in the middle, where there is none."""
    number = np.full((_SIDE + 1, _SIDE + 1), -1)
    first = (_RINGS - 1) * 4 * _SIDE
    for start, border in ((first, _grid_border(_SIDE)), (first + 4 * _SIDE, 0.5 * _grid_border(2))):
        place = np.round((border + 1.0) * _SIDE / 2).astype(int)
        number[place[:, 0], place[:, 1]] = start + np.arange(len(border))
    return number


@dataclass(frozen=True, eq=False)
class BagPoses:
    """What the bag does at each moment; (t,) each."""

    height: Vector
    """of its feet over the ground [m]"""
    back: Vector
    """distance travelled backwards [m]"""
    turn: Vector
    """backwards about its middle [rad]"""
    squash: Vector
    """height as a share of the rest's"""
    tuck: Vector
    """of the legs to the front [rad]"""
    bow: Vector
    """bend of the trunk to the front [rad]"""
    swing: Vector
    """of the hands to the front [rad]"""


def backflip_guide(frame_count: int = 49, rate: float = 24.0) -> Animation:
    """The guide: crouch, jump, a whole turn backwards in the air, landing, settling."""
    mesh = bag_mesh()
    times = np.arange(frame_count) / rate
    return Animation(mesh, times, posed_bag(mesh.rest, backflip_poses(times)))


def backflip_poses(times: Vector) -> BagPoses:
    """The keys of the backflip; the flight is a parabola, so it needs no direction in the air."""
    return BagPoses(
        height=_flight(times),
        back=0.45 * ease(times, _TAKEOFF - 0.10, _LANDING + 0.10),
        turn=2.0 * np.pi * ease(times, _TAKEOFF - 0.04, _LANDING + 0.04),
        squash=keyed(times, [(0, 1), (0.1, 1.02), (0.34, 0.68), (0.5, 1.10), (0.62, 1.0), (0.8, 0.92), (1.0, 1.0),
                             (1.12, 1.06), (1.26, 0.70), (1.46, 1.05), (1.62, 0.985), (1.8, 1.0)]),
        tuck=keyed(times, [(0.3, 0), (0.5, -0.15), (0.66, 0.25), (0.82, 0.55), (0.96, 0.3), (1.1, 0.0), (1.3, 0.0)]),
        bow=keyed(times, [(0, 0), (0.34, 0.30), (0.52, -0.28), (0.8, 0.3), (1.02, 0.1), (1.26, 0.26), (1.48, -0.06),
                          (1.7, 0.0)]),
        swing=keyed(times, [(0, 0), (0.12, 0.08), (0.34, -0.40), (0.52, 0.35), (0.8, 0.40), (1.05, -0.15), (1.26, 0.2),
                            (1.5, -0.1), (1.75, 0.0)]),
    )  # fmt: skip


def _flight(times: Vector) -> Vector:
    """(t,) [m] a parabola under gravity between take-off and landing, whose two corners in time are rounded."""
    around = times[:, None] + np.linspace(-_ROUNDING, _ROUNDING, 33)
    since, left = np.clip(around - _TAKEOFF, 0.0, None), np.clip(_LANDING - around, 0.0, None)
    return (0.5 * _GRAVITY * since * left).mean(axis=1)


def posed_bag(rest: Points, poses: BagPoses) -> Array:
    """(t, n, 3) the bag's points at each pose."""
    up = rest[:, 1] / _HEIGHT
    trunk, legs = ease(up, 0.15, 1.0), 1.0 - ease(up, 0.0, 0.7)
    hands = ease(up, 0.6, 1.4) * ease(np.abs(rest[:, 0]) / _HALF_WIDTH, 0.2, 1.2)
    middle = np.array([0.0, 0.5 * _HEIGHT, 0.0])
    out = np.empty((len(poses.height), *rest.shape))
    for k in range(len(out)):
        thick = poses.squash[k] ** -0.5
        x = turned(rest, (0.0, 0.78 * _HEIGHT, 0.0), hands * poses.swing[k])
        x = turned(x, (0.0, 0.35 * _HEIGHT, 0.0), -legs * poses.tuck[k])
        x = turned(x, (0.0, 0.15 * _HEIGHT, 0.0), trunk * poses.bow[k])
        x = x * np.array([thick, poses.squash[k], thick])
        pivot = middle * poses.squash[k]
        x = (x - pivot) @ about_x(-poses.turn[k]).T + pivot
        out[k] = x + np.array([0.0, poses.height[k], -poses.back[k]])
    return out
