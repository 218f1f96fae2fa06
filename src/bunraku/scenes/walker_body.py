"""The walker of TRACKS §5.4: an X on two feet, one closed soft surface with even triangles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bunraku.contracts import Points, Vector
from bunraku.geometry import TriMesh

from .level_set import even_surface

_EDGE = 0.02262  # [m] gives about the paper's 3,038 vertices
_FLAT = 0.55  # depth of a limb as a share of its width
_BLEND = 0.05  # [m] over which limbs melt into each other


@dataclass(frozen=True)
class Limb:
    """A rounded cone from a to b."""

    a: tuple[float, float, float]
    b: tuple[float, float, float]
    thick: tuple[float, float]
    """[m] half widths at a and b"""


CHEST, HIPS = (0.0, 0.66, 0.0), (0.0, 0.56, 0.0)
SHOULDER, ELBOW, HAND = (0.085, 0.755, 0.0), (0.20, 0.88, 0.0), (0.34, 1.035, 0.0)
HIP, KNEE, ANKLE = (0.065, 0.425, 0.0), (0.132, 0.275, 0.0), (0.20, 0.11, 0.0)
HEEL, BALL, TOE = (0.208, 0.0, -0.07), (0.219, 0.0, 0.105), (0.224, 0.0, 0.19)
"""joints of the left side [m]; the right side's have −x. Heel, ball and toe lie on the ground."""
SOLE = 0.047  # [m] the foot's half height


def mirrored(point: tuple[float, float, float]) -> tuple[float, float, float]:
    """The same joint of the right side."""
    return -point[0], point[1], point[2]


def _limbs() -> list[Limb]:
    left = [
        Limb(CHEST, HAND, (0.095, 0.092)),
        Limb(HIPS, ANKLE, (0.100, 0.070)),
        Limb((0.208, SOLE, -0.025), (0.222, SOLE, 0.135), (0.062, 0.078)),
    ]
    right = [Limb(mirrored(one.a), mirrored(one.b), one.thick) for one in left]
    return [*left, *right, Limb(CHEST, HIPS, (0.100, 0.105))]


def distance(x: Points) -> Vector:
    """(n,) [m] about how far points are outside the body, negative inside: limbs melted together, cut at the ground."""
    away = np.stack([_to_limb(x, one) for one in _limbs()])
    low = away.min(axis=0)
    melted = low - _BLEND * np.log(np.exp(-(away - low) / _BLEND * 4.0).sum(axis=0)) / 4.0
    return _cut(melted, -x[:, 1])


def _to_limb(x: Points, limb: Limb) -> Vector:
    flat = np.array([1.0, 1.0, 1.0 / _FLAT if limb.a[1] > 2 * SOLE else 1.0])  # feet are round, the rest is a cushion
    a, b, p = np.asarray(limb.a) * flat, np.asarray(limb.b) * flat, x * flat
    axis = b - a
    along = np.clip((p - a) @ axis / (axis @ axis), 0.0, 1.0)
    return np.linalg.norm(p - a - along[:, None] * axis, axis=1) - (
        limb.thick[0] + (limb.thick[1] - limb.thick[0]) * along
    )


def _cut(body: Vector, ground: Vector, soft: float = 0.012) -> Vector:
    """The larger of two distances, with a rounded edge `soft` [m] wide."""
    h = np.maximum(soft - np.abs(body - ground), 0.0) / soft
    return np.maximum(body, ground) + 0.25 * soft * h * h


@lru_cache(maxsize=1)
def walker_mesh() -> TriMesh:
    """The X standing on y = 0, facing +z; closed, about 3,000 vertices."""
    return even_surface(distance, np.array([-0.45, 0.0, -0.15]), np.array([0.45, 1.15, 0.25]), _EDGE)
