"""Pins: vertices held to a point, an animation, the guide or an obstacle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from bunraku.collision import Obstacle, Plane
from bunraku.constraints import LinearConstraint, felt_mass, pin_jacobian
from bunraku.contracts import Array, Integers, Points, Sparse, Vector, input_error, real_array
from bunraku.geometry import Embedding, TriMesh, check_coordinates, embed, first_few, vertex_normals
from bunraku.motion import Animation, Curve, CurveLike

from .strength import strength_curve


@dataclass(frozen=True, eq=False)
class Pin:
    """Holds vertices of the shell on some axes.

    `to` is None (where they start), "guide" (they go with the guide's surface), a point or points (v, 3) [m], an
    `Animation` of v vertices, or an `Animation` with `source` naming the v vertices to follow. Faces all of whose
    vertices are firmly pinned on three axes are rigid: pin two rows of vertices to clamp an edge.

    An `Obstacle`, or the name of one the shell may touch, is something to be attached to: each vertex goes with the
    place of it that is nearest in the first pose (once seams are closed), at the distance it has there, or a little
    farther off where that is too near.
    """

    vertices: Sequence[int] | Integers
    """(v,) shell vertices"""
    axes: str = "xyz"
    """which coordinates are held"""
    to: Animation | Obstacle | Points | str | None = None
    source: Sequence[int] | Integers | None = None
    """(v,) vertices of the animation, when it has others too"""
    strength: CurveLike = 1.0
    """1 held exactly, 0 free; may be keyed (use the ease "smooth" to let go and grip again without a jolt)"""

    @property
    def body(self) -> Obstacle | str | None:
        """What the vertices are attached to, if they are."""
        return self.to if isinstance(self.to, Obstacle) or (isinstance(self.to, str) and self.to != "guide") else None

    @property
    def firm(self) -> bool:
        """Whether it holds all three axes, exactly and always."""
        return len(self.axes) == 3 and bool((Curve.of(self.strength).values == 1.0).all())


@dataclass(frozen=True, eq=False)
class Bodies:
    """What pins may be attached to, and how near it may be."""

    obstacles: Sequence[Obstacle] = ()
    clear: float = 0.0
    """[m] from the surface at which a vertex feels nothing of it"""
    press: Callable[[Sparse], Callable[[float], Vector]] | None = None
    """weights (v, n) → time [s] → (v,) [N] how hard vertices may be pressed against things; None: nothing is there"""
    guide: bool = True
    """whether there is a guide to be attached to"""

    def named(self, to: Obstacle | str) -> Obstacle:
        """The obstacle itself, or the one of that name."""
        if isinstance(to, Obstacle):
            return to
        found = [one for one in self.obstacles if one.name == to]
        if len(found) > 1:
            raise input_error(
                "several obstacles have this name", where="pin.to", got=to, remedy="give the Obstacle itself"
            )
        if found:
            return found[0]
        names = ", ".join(f"'{name}'" for name in [*["guide"][: self.guide], *(one.name for one in self.obstacles)])
        allowed = f"{names + ', ' if names else ''}a point, one point a vertex, an Animation or an Obstacle"
        raise input_error("unknown pin.to", got=to, allowed=allowed)


def check_pin(pin: Pin, shell: TriMesh, noun: str = "shell") -> None:
    """Its vertices are the shell's (or the body's, as `noun` says), its axes are axes, its strength a strength."""
    _checked_vertices(pin, shell, noun)
    _checked_axes(pin.axes)
    strength_curve("pin.strength", pin.strength)


def pin_constraint(
    pin: Pin, shell: TriMesh, start: Points, mass: Vector, guide: Animation, onto: Embedding | None,
    bodies: Bodies | None = None,
) -> LinearConstraint:  # fmt: skip
    """The linear conditions of a pin on a shell that starts at `start` (n, 3) with lumped mass (n,).

    `onto` carries the guide's points to the shell's, for pins that go with the guide.
    """
    vertices = _checked_vertices(pin, shell)
    axes = _checked_axes(pin.axes)
    strength = strength_curve("pin.strength", pin.strength)
    jacobian = pin_jacobian(vertices, axes, shell.point_count)
    rows = jacobian.shape[0]
    bodies, press = bodies or Bodies(), None
    if bodies.press is not None and len(axes) == 3:  # where something is in the way, it gives way
        press = bodies.press(sparse.csr_array(jacobian[::3][:, ::3]))
    if pin.body is not None:
        follow = _attached(start[vertices], bodies.named(pin.body), float(guide.times[0]), bodies.clear)
    else:
        follow = _with_guide(vertices, guide, onto) if isinstance(pin.to, str) else _path(pin, vertices, start)

    def goals(time: float) -> Vector:
        return follow(time)[:, axes].reshape(-1)

    mass_felt = felt_mass(jacobian, mass)
    return LinearConstraint(jacobian, goals, lambda time: np.full(rows, strength.at(time)), mass_felt, press=press)


def _attached(points: Points, body: Obstacle, time: float, clear: float) -> Callable[[float], Points]:
    """time → (v, 3) where points (v, 3) are that go with the nearest places of a body at a time [s].

    They stay away from it by `clear` [m] at least, the way they stand off it: nearer they would push it, or be pushed.
    """
    carrier = body.mesh.with_rest(body.at(time))
    held = embed(TriMesh(points, np.zeros((0, 3), np.int64)), carrier)
    away = held.distances
    # A point on the surface itself stands off it along no direction: the surface's own is taken.
    outward = held.matrix @ vertex_normals(carrier.rest, carrier.faces)
    outward /= np.maximum(np.linalg.norm(outward, axis=1), 1e-300)[:, None]
    off = away > 1e-3 * clear
    way = np.where(off[:, None], held.offsets / np.where(off, away, 1.0)[:, None], outward)
    held = replace(held, offsets=np.maximum(away, clear)[:, None] * way)
    return lambda t: held.points(body.at(t))


def _checked_vertices(pin: Pin, shell: TriMesh, noun: str = "shell") -> Integers:
    try:
        given = np.asarray(pin.vertices)
    except ValueError:  # of different lengths
        given = np.zeros((0, 0))
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise input_error("pin.vertices must be a list of whole numbers", got=pin.vertices)
    vertices = given.astype(np.int64)
    bad = vertices[(vertices < 0) | (vertices >= shell.point_count)]
    if len(vertices) == 0 or len(bad):
        raise input_error(
            f"pin.vertices must name vertices of the {noun}", got=first_few(bad) if len(bad) else "none",
            allowed=f"0 to {shell.point_count - 1}",
        )  # fmt: skip
    if len(np.unique(vertices)) != len(vertices):
        raise input_error("pin.vertices names a vertex twice", got=vertices.tolist())
    return vertices


def _checked_axes(axes: str) -> Integers:
    if not isinstance(axes, str) or not axes or any(axis not in "xyz" for axis in axes) or len(set(axes)) != len(axes):
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
        source = np.arange(count) if pin.source is None else np.asarray(pin.source)
        whole = source.ndim == 1 and np.issubdtype(source.dtype, np.integer)
        if not whole or len(source) != len(vertices) or source.min(initial=0) < 0 or source.max(initial=0) >= count:
            raise input_error(
                "a pin needs one vertex of its animation for each vertex it holds", where="pin.source",
                got=first_few(source) if source.ndim == 1 else source.shape,
                allowed=f"{len(vertices)} of 0 to {count - 1}",
            )  # fmt: skip
        animation = pin.to
        check_coordinates(animation.points, "pin.to", smallest=0.0)
        return lambda time: animation.at(time)[source]
    try:
        points = real_array(pin.to)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape not in ((3,), (len(vertices), 3)) or not np.isfinite(points).all():
        raise input_error(
            "pin.to must be 'guide', the name of an obstacle, a point, one point a vertex, an Animation or an Obstacle",
            got=_short(pin.to), remedy="a plane has no places to be attached to" if isinstance(pin.to, Plane) else "",
        )  # fmt: skip
    check_coordinates(points.reshape(-1, 3), "pin.to", smallest=0.0)
    goal = np.broadcast_to(points, (len(vertices), 3))
    return lambda time: goal


def _short(given: object) -> object:
    """What can be told of it in a sentence."""
    if isinstance(given, np.ndarray):
        return f"{given.shape} of {given.dtype}"
    return given if isinstance(given, (int, float, str, bytes, tuple)) else type(given).__name__
