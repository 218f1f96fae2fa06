"""Pins: vertices held to a point, an animation or the guide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bunraku.constraints import LinearConstraint, felt_mass, pin_jacobian
from bunraku.contracts import Array, Integers, Points, Vector, input_error
from bunraku.geometry import Embedding, TriMesh, first_few
from bunraku.motion import Animation, Curve, CurveLike

from .strength import strength_curve


@dataclass(frozen=True, eq=False)
class Pin:
    """Holds vertices of the shell on some axes.

    `to` is None (where they start), "guide" (they go with the guide's surface), a point or points (v, 3) [m], an
    `Animation` of v vertices, or an `Animation` with `source` naming the v vertices to follow. Faces all of whose
    vertices are firmly pinned on three axes are rigid: pin two rows of vertices to clamp an edge.
    """

    vertices: Sequence[int] | Integers
    """(v,) shell vertices"""
    axes: str = "xyz"
    """which coordinates are held"""
    to: Animation | Points | Literal["guide"] | None = None
    source: Sequence[int] | Integers | None = None
    """(v,) vertices of the animation, when it has others too"""
    strength: CurveLike = 1.0
    """1 held exactly, 0 free; may be keyed (use the ease "smooth" to let go and grip again without a jolt)"""

    @property
    def firm(self) -> bool:
        """Whether it holds all three axes, exactly and always."""
        return len(self.axes) == 3 and bool((Curve.of(self.strength).values == 1.0).all())


def pin_constraint(
    pin: Pin, shell: TriMesh, start: Points, mass: Vector, guide: Animation, onto: Embedding | None
) -> LinearConstraint:
    """The linear conditions of a pin on a shell that starts at `start` (n, 3) with lumped mass (n,).

    `onto` carries the guide's points to the shell's, for pins that go with the guide.
    """
    vertices = _checked_vertices(pin, shell)
    axes = _checked_axes(pin.axes)
    if isinstance(pin.to, str) and pin.to != "guide":
        raise input_error("unknown pin.to", got=pin.to, allowed="'guide', a point, one point a vertex, or an Animation")
    strength = strength_curve("pin.strength", pin.strength)
    jacobian = pin_jacobian(vertices, axes, shell.point_count)
    rows = jacobian.shape[0]
    follow = _with_guide(vertices, guide, onto) if isinstance(pin.to, str) else _path(pin, vertices, start)

    def goals(time: float) -> Vector:
        return follow(time)[:, axes].reshape(-1)

    return LinearConstraint(jacobian, goals, lambda time: np.full(rows, strength.at(time)), felt_mass(jacobian, mass))


def _checked_vertices(pin: Pin, shell: TriMesh) -> Integers:
    given = np.asarray(pin.vertices)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise input_error("pin.vertices must be a list of whole numbers", got=pin.vertices)
    vertices = given.astype(np.int64)
    bad = vertices[(vertices < 0) | (vertices >= shell.point_count)]
    if len(vertices) == 0 or len(bad):
        raise input_error(
            "pin.vertices must name vertices of the shell", got=first_few(bad) if len(bad) else "none",
            allowed=f"0 to {shell.point_count - 1}",
        )  # fmt: skip
    if len(np.unique(vertices)) != len(vertices):
        raise input_error("pin.vertices names a vertex twice", got=vertices.tolist())
    return vertices


def _checked_axes(axes: str) -> Integers:
    if not axes or any(axis not in "xyz" for axis in axes) or len(set(axes)) != len(axes):
        raise input_error("pin.axes must name one, two or three of x, y and z", got=axes, allowed="'y', 'xz', 'xyz', …")
    return np.array(["xyz".index(axis) for axis in axes])


def _with_guide(vertices: Integers, guide: Animation, onto: Embedding | None) -> Callable[[float], Points]:
    if onto is None:
        raise input_error(
            "pin.to = 'guide' needs a shell whose vertices correspond to the guide's",
            remedy="give an Animation instead",
        )
    held = replace(onto, matrix=onto.matrix[vertices], offsets=onto.offsets[vertices])
    return lambda time: held.points(guide.at(time))


def _path(pin: Pin, vertices: Integers, start: Points) -> Callable[[float], Points]:
    """time → (v, 3) where the pinned vertices must be."""
    if pin.to is None:
        fixed: Array = start[vertices]
        return lambda time: fixed
    if isinstance(pin.to, Animation):
        count = pin.to.mesh.point_count
        source = np.arange(count) if pin.source is None else np.asarray(pin.source, dtype=np.int64)
        if len(source) != len(vertices) or source.min(initial=0) < 0 or source.max(initial=0) >= count:
            raise input_error(
                "a pin needs one vertex of its animation for each vertex it holds", got=len(source),
                allowed=f"{len(vertices)} of the {count} there are",
            )  # fmt: skip
        animation = pin.to
        return lambda time: animation.at(time)[source]
    try:
        points = np.asarray(pin.to, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape not in ((3,), (len(vertices), 3)) or not np.isfinite(points).all():
        raise input_error("pin.to must be 'guide', a point, one point a vertex, or an Animation", got=pin.to)
    goal = np.broadcast_to(points, (len(vertices), 3))
    return lambda time: goal
