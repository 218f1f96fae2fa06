"""The rest shape of a shell at one moment, by what can be measured on the surface itself.

Shapes are blended in their squared edge lengths and dihedral angles. Squared lengths are linear in the metric of a
face, and a convex combination of positive definite metrics is one, so every blend of triangles is a triangle; neither
lengths nor angles see where the shapes lie, so they need not be aligned. Angles are blended on their principal branch,
(−π, π): from a sharp fold to its opposite the rest shape opens, it does not pass through itself.
A blend of two surfaces is in general no surface (its angles and lengths do not fit together in space): that is a
shell under internal stress, which settles into the nearest shape.
A shell that grows has its faces larger at rest, each by itself, and its angles as they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Points, Vector, input_error
from bunraku.geometry import Hinges, TriMesh, check_physical
from bunraku.motion import Growth, RestShapes

from .dihedral import angles


@dataclass(frozen=True, eq=False)
class FaceBlend:
    """The faces of a shell as its rest shape changes."""

    mesh: TriMesh
    rest: RestShapes | None = None
    growth: Growth | None = None

    def __post_init__(self) -> None:
        if self.growth is not None:
            self.growth.check(self.mesh.point_count)
        for k, shape in enumerate(() if self.rest is None else self.rest.shapes):
            if shape.shape != self.mesh.rest.shape:
                raise input_error(
                    "a rest shape belongs to another mesh", where=f"rest shape {k}", got=f"{len(shape)} points",
                    allowed=str(self.mesh.point_count),
                )  # fmt: skip
            check_physical(self.mesh.with_rest(shape), f"rest shape {k}")

    @property
    def constant(self) -> bool:
        """Whether the rest shape never changes."""
        return (self.rest is None or self.rest.constant) and (self.growth is None or self.growth.constant)

    @cached_property
    def _squares(self) -> Array:
        shapes = (self.mesh.rest,) if self.rest is None else self.rest.shapes
        return np.stack([_squared_lengths(shape, self.mesh) for shape in shapes])

    def at(self, time: float) -> TriMesh:
        """The rest faces at a time [s]: the shell's own mesh, or where it changes each face apart in a plane."""
        if self.rest is None and self.growth is None:
            return self.mesh
        squares = self._squares[0] if self.rest is None else np.tensordot(self.rest.at(time), self._squares, axes=1)
        if self.growth is not None:
            squares = squares * (1.0 + self.growth.on_faces(time, self.mesh.faces))[:, None] ** 2
        return _apart(squares)


@dataclass(frozen=True, eq=False)
class HingeBlend:
    """The rest angles of a shell's hinges as its rest shape changes."""

    mesh: TriMesh
    hinges: Hinges
    rest: RestShapes | None = None

    @cached_property
    def _angles(self) -> Array:
        shapes = (self.mesh.rest,) if self.rest is None else self.rest.shapes
        none = np.zeros(len(self.hinges.vertices))
        return np.stack([angles(shape, self.hinges.vertices, none) for shape in shapes])

    def at(self, time: float) -> Vector:
        """(m,) θ̄ at a time [s] [rad]."""
        return self._angles[0] if self.rest is None else self.rest.at(time) @ self._angles

    def lengths(self, faces: TriMesh) -> Vector:
        """(m,) of the hinges' edges on faces of a `FaceBlend` [m]."""
        own, corner = self.hinges.faces[:, 0], self.hinges.corners[:, 0]
        start, end = faces.faces[own, (corner + 1) % 3], faces.faces[own, (corner + 2) % 3]
        return np.linalg.norm(faces.rest[end] - faces.rest[start], axis=1)


def _squared_lengths(x: Points, mesh: TriMesh) -> Array:
    """(f, 3) of the edge opposite each corner [m²]."""
    corners = x[mesh.faces]
    return np.sum((corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]) ** 2, axis=2)


def _apart(squares: Array) -> TriMesh:
    """Triangles of squared edge lengths (f, 3), each in the plane by itself: its first edge along x."""
    a, b, c = squares.T
    first = np.sqrt(c)
    foot = (b + c - a) / (2.0 * first)
    points = np.zeros((len(squares), 3, 3))
    points[:, 1, 0], points[:, 2, 0] = first, foot
    points[:, 2, 1] = np.sqrt(b - foot**2)
    return TriMesh(points.reshape(-1, 3), np.arange(3 * len(squares)).reshape(-1, 3))
