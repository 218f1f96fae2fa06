"""Where the picture is taken from. Y is up unless told otherwise; right-handed; metres and degrees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Points, Vector, input_error

Triple = tuple[float, float, float]

SMALLEST_VIEW = 1e-3
"""[m] what a camera frames at least: a mesh that is one point still gets a picture"""
CHUNK = 1 << 17
"""points looked at together"""


@dataclass(frozen=True)
class Camera:
    """A pinhole camera."""

    eye: Triple
    """position [m]"""
    target: Triple
    """the point in the middle of the picture [m]"""
    up: Triple = (0.0, 1.0, 0.0)
    """direction that is up in the picture"""
    field_of_view: float = 26.0
    """vertical angle of view [degrees]; long lenses flatter a product, 26° is about 50 mm on a full frame"""

    def __post_init__(self) -> None:
        numbers = np.array([*self.eye, *self.target, *self.up, self.field_of_view], dtype=np.float64)
        if not np.isfinite(numbers).all():
            raise input_error("a camera needs finite numbers", got=numbers.tolist())
        if not 0.0 < self.field_of_view < 180.0:
            raise input_error(
                "field of view is impossible", got=self.field_of_view, allowed="between 0 and 180 degrees"
            )
        if self.distance == 0.0:
            raise input_error("the camera's eye and target are the same point", got=self.eye)

    @property
    def distance(self) -> float:
        """From eye to target [m]."""
        return float(np.linalg.norm(np.subtract(self.target, self.eye)))

    def axes(self) -> Array:
        """(3, 3) rows: right, up and forward of the picture, orthonormal."""
        return _axes(np.subtract(self.target, self.eye), self.up)

    def projection(self, size: tuple[int, int]) -> Array:
        """(3, 3) K with (u, v, depth) = K (x − eye); the pixel is (u, v) / depth, (0, 0) the upper left."""
        width, height = size
        right, up, forward = self.axes()
        focal = 0.5 * height / np.tan(np.radians(0.5 * self.field_of_view))
        return np.stack([focal * right + 0.5 * width * forward, -focal * up + 0.5 * height * forward, forward])

    def project(self, x: Points, size: tuple[int, int]) -> Points:
        """(n, 3) pixel column, row and depth [m] of points (n, 3); not finite on the plane of the eye."""
        # The eye goes first, in float64, so that a scene far from the origin keeps its digits.
        u, v, depth = self.projection(size) @ (np.asarray(x, dtype=np.float64) - np.asarray(self.eye)).T
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([u / depth, v / depth, depth], axis=1)


LOOKING = (-0.5, -0.32, -1.0)
"""where previews look: from the right, the front and a little above"""


def framing(
    points: Iterable[Array],
    *,
    ground: float | None = None,
    up: Sequence[float] = (0.0, 1.0, 0.0),
    aspect: float = 16 / 9,
    direction: Sequence[float] = LOOKING,
    field_of_view: float = 26.0,
    margin: float = 0.1,
) -> Camera:
    """One camera, looking along `direction`, that sees every point of all arrays (…, 3) and the ground below.

    The camera is the nearest that keeps a `margin` (fraction of the picture) free on every side. Points
    that are not finite are left out. `ground` is a height y [m]; the footprint there is framed too.
    """
    clouds = [np.asarray(array, dtype=np.float64).reshape(-1, 3) for array in points]
    box = _reach(clouds, np.concatenate([np.eye(3), -np.eye(3)]))
    if not np.isfinite(box).all():  # nothing to see: look at the origin
        clouds, box = [np.zeros((1, 3))], np.zeros(6)
    high, low = box[:3], -box[3:]
    if ground is not None:
        clouds.append(_footprint(low, high, ground))
    axes = _axes(direction, up)
    centre = 0.5 * (low + high)
    eye, depth = _nearest_eye(clouds, centre, axes, aspect, field_of_view, margin)
    target = eye + (depth - eye @ axes[2]) * axes[2]
    return Camera(_triple(centre + eye), _triple(centre + target), _triple(up), float(field_of_view))


def _axes(forward: Sequence[float] | Array, up: Sequence[float]) -> Array:
    """(3, 3) orthonormal rows right, up, forward; any right will do when looking straight along `up`."""
    f = np.asarray(forward, dtype=np.float64)
    f = f / np.linalg.norm(f)
    right = np.cross(f, np.asarray(up, dtype=np.float64))
    if np.linalg.norm(right) < 1e-9 * max(float(np.linalg.norm(up)), 1e-300):
        right = np.cross(f, np.eye(3)[int(np.argmin(np.abs(f)))])
    right = right / np.linalg.norm(right)
    return np.asarray(np.stack([right, np.cross(right, f), f]), dtype=np.float64)


def _reach(clouds: Sequence[Points], directions: Array, origin: Array | float = 0.0) -> Vector:
    """(k,) how far the finite points of all clouds (n, 3) reach along directions (k, 3) from the origin."""
    far = np.full(len(directions), -np.inf)
    for cloud in clouds:
        for start in range(0, len(cloud), CHUNK):  # in parts: a long shot has hundreds of millions of numbers
            part = cloud[start : start + CHUNK] - origin
            part = part[np.isfinite(part).all(axis=1)]
            if len(part):
                far = np.maximum(far, (part @ directions.T).max(axis=0))
    return far


def _footprint(low: Array, high: Array, height: float) -> Points:
    """(4, 3) corners of a bounding box, let down to a height."""
    (x0, _, z0), (x1, _, z1) = low, high
    return np.array([[x0, height, z0], [x1, height, z0], [x0, height, z1], [x1, height, z1]])


def _nearest_eye(
    clouds: Sequence[Points], centre: Array, axes: Array, aspect: float, field_of_view: float, margin: float
) -> tuple[Array, float]:
    """(3,) eye, relative to the centre, that has all points in the picture; the middle of their depths [m].

    On one axis of the picture with half-angle tangent s, a point p at depth z is inside when
    |p − e| ≤ s (z − e_z), that is when e − s e_z ≥ max (p − s z) = A and e + s e_z ≤ min (p + s z) = B: the
    nearest eye has e_z = (B − A) / 2s and e = (A + B) / 2.
    """
    right, up, forward = axes
    vertical = float(np.tan(np.radians(0.5 * field_of_view)) * (1.0 - 2.0 * margin))
    slopes = np.array([[vertical * aspect], [vertical]])
    across = np.stack([right, up])
    directions = np.concatenate([across - slopes * forward, -across - slopes * forward, axes, -axes])
    reach = _reach(clouds, directions, centre)
    a, b = reach[:2], -reach[2:4]
    farthest, nearest = reach[6], -reach[9]
    size = max(float((reach[4:7] + reach[7:]).max()), SMALLEST_VIEW)
    # A flat shape seen edge-on would let the eye touch it: stay half its size away from its nearest point.
    depth = min(float(((b - a) / (2.0 * slopes[:, 0])).min()), nearest - 0.5 * size)
    return 0.5 * (a + b) @ across + depth * forward, 0.5 * float(nearest + farthest)


def _triple(values: Sequence[float] | Array) -> Triple:
    x, y, z = (float(v) for v in values)
    return x, y, z
