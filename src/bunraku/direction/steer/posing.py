"""Posing: some vertices are moved, turned or scaled, and the body takes the shape that follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.constraints import LinearConstraint, felt_mass, pin_jacobian
from bunraku.contracts import Array, Integers, PhysicsStopped, Points, State, Vector, input_error, need, real_array
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System, settle
from bunraku.energies import Solid
from bunraku.geometry import TetMesh, check_tets, first_few, tet_lumped_mass, tet_volumes
from bunraku.materials import SolidMaterial, as_solid

from .keys import KeyShape, check_sound
from .materials import Material
from .rigid import best_rotation, centre

_SHARE = 0.05  # of the body's size that held vertices go at once
_ANGLE = np.radians(6.0)  # that they turn at once
_LONG = 10.0  # [s] of a step in which inertia counts for nothing
_MOST_HALVINGS = 5


@dataclass(frozen=True, eq=False)
class Grip:
    """Vertices taken in the hand: scaled, then turned, then moved, about their middle. One that does nothing holds."""

    vertices: Sequence[int] | Integers
    """(v,)"""
    move: Sequence[float] | Vector = (0.0, 0.0, 0.0)
    """(3,) [m]"""
    rotate: Sequence[float] | Array = (0.0, 0.0, 0.0)
    """(3,) rotation vector: an axis times an angle [rad]; it may be more than a turn"""
    scale: float | Sequence[float] | Vector = 1.0
    """one factor, or (3,) along x, y and z"""
    pivot: Sequence[float] | Vector | None = None
    """(3,) what stays in place but for the move [m]; None: the middle of the vertices"""

    def __post_init__(self) -> None:
        try:
            found = np.asarray(self.vertices)
        except ValueError:  # lists of different lengths
            found = np.zeros(0)
        if found.ndim != 1 or not len(found) or not np.issubdtype(found.dtype, np.integer):
            raise input_error("a grip's vertices must be a list of whole numbers", got=repr(self.vertices)[:60])
        object.__setattr__(self, "vertices", found.astype(np.int64))
        given: dict[str, tuple[object, tuple[tuple[int, ...], ...]]] = {
            "move": (self.move, ((3,),)), "rotate": (self.rotate, ((3,),)), "scale": (self.scale, ((), (3,))),
        }  # fmt: skip
        if self.pivot is not None:
            given["pivot"] = (self.pivot, ((3,),))
        for name, (value, shapes) in given.items():
            try:
                array = real_array(value)
            except (TypeError, ValueError):
                array = np.zeros((0, 0))
            if array.shape not in shapes or not np.isfinite(array).all() or (name == "scale" and (array <= 0).any()):
                allowed = "above 0, one or three numbers" if name == "scale" else "three numbers"
                raise input_error(f"grip.{name} must be finite", got=repr(value)[:60], allowed=allowed)
            object.__setattr__(self, name, array)

    def carried(self, points: Points, share: float) -> Points:
        """(v, 3) where the hand has brought points (v, 3) after a share of its way."""
        pivot = points.mean(axis=0) if self.pivot is None else np.asarray(self.pivot)
        size = np.asarray(self.scale) ** share
        turn = Rotation.from_rotvec(share * np.asarray(self.rotate)).as_matrix()
        return pivot + (size * (points - pivot)) @ turn.T + share * np.asarray(self.move)

    def steps(self, size: float, points: Points) -> int:
        """In how many steps a body of a size [m] can follow."""
        far = float(np.linalg.norm(self.carried(points, 1.0) - points, axis=1).max())
        turned = float(np.linalg.norm(np.asarray(self.rotate)))
        return int(np.ceil(max(min(far / (_SHARE * size), 100.0), turned / _ANGLE, 1.0)))


def pose(
    body: TetMesh, grips: Sequence[Grip] | Grip, *, points: Points | None = None, material: Material = "rubber"
) -> Points:
    """(n, 3) the shape a body takes when some of its vertices are moved, turned or scaled: what is held is exactly
    where the grips say, all else is in elastic balance. Good for a `KeyShape`.

    Args:
        body: in its rest shape.
        grips: what is taken hold of; vertices that should stay where they are need a grip too, one that does nothing.
        points: (n, 3) where to begin, a frame of a take say; None: the rest shape. What it is bent into already is
            kept: the body is relaxed from these points as from its own shape.
        material: matters little; Poisson's ratio says how much thinner the body gets where it is drawn.
    """
    need(TetMesh, "body", body)
    check_tets(body, "body")
    if not isinstance(grips, (Grip, Sequence)):
        raise input_error("grips must be one or several of a kind", where="grips", got=type(grips).__name__)
    listed = (grips,) if isinstance(grips, Grip) else tuple(grips)
    for k, grip in enumerate(listed):
        need(Grip, f"grips[{k}]", grip)
    if not listed:
        raise input_error("nothing is taken hold of", where="grips", got=0)
    try:
        start = real_array(body.rest if points is None else points)
    except (TypeError, ValueError):
        start = np.zeros(0)
    if start.shape != body.rest.shape or not np.isfinite(start).all():
        raise input_error("points must be finite, one row a vertex", got=start.shape, allowed=str(body.rest.shape))
    held = _held([np.asarray(grip.vertices) for grip in listed], body.point_count)
    places = [start[np.asarray(grip.vertices)] for grip in listed]
    count = max(grip.steps(body.size, where) for grip, where in zip(listed, places, strict=True))

    def goals(share: float) -> Points:
        return np.concatenate([grip.carried(where, share) for grip, where in zip(listed, places, strict=True)])

    shape = body if points is None else body.with_rest(start)
    if points is not None:
        check_tets(shape, "points")
    return relaxed(shape, material, start, held, goals, count)


def _held(parts: Sequence[Integers], count: int) -> Integers:
    """(v,) all vertices of grips, refused where they are none of the body's or twice the same."""
    held = np.concatenate(parts)
    bad = held[(held < 0) | (held >= count)]
    if len(bad):
        raise input_error("grips must name vertices of the body", got=first_few(bad), allowed=f"0 to {count - 1}")
    kinds, times = np.unique(held, return_counts=True)
    if len(kinds) < len(held):
        raise input_error("a vertex is in two grips, or twice in one", got=first_few(kinds[times > 1]))
    return held


def whole_shape(key: KeyShape, body: TetMesh, material: Material) -> Points:
    """(n, 3) the shape of a key: what it says of a part, with all else in elastic balance."""
    if key.points is None:
        return body.rest
    if key.vertices is None:
        return key.points
    part = np.asarray(key.vertices)
    goal, place, even = key.points, body.rest[part], np.ones(len(part))
    turn = best_rotation(place, goal, even) if len(part) > 2 else np.eye(3)
    arm = place - centre(place, even)
    rest_of_it = (goal - centre(goal, even)) @ turn - arm  # what is not a turn, seen before it
    vector = Rotation.from_matrix(turn).as_rotvec()
    way = centre(goal, even) - centre(place, even)

    def goals(share: float) -> Points:
        if share == 1.0:
            return goal
        turned = (arm + share * rest_of_it) @ Rotation.from_rotvec(share * vector).as_matrix().T
        return centre(place, even) + share * way + turned

    far = float(np.linalg.norm(rest_of_it, axis=1).max(initial=0.0))
    count = int(np.ceil(max(min(far / (_SHARE * body.size), 100.0), float(np.linalg.norm(vector)) / _ANGLE, 1.0)))
    return relaxed(body, material, np.array(body.rest), part, goals, count)


def relaxed(
    body: TetMesh, material: Material, start: Points, held: Integers, goals: Callable[[float], Points], count: int
) -> Points:
    """(n, 3) the balance with vertices `held` (v,) where `goals(1)` (v, 3) says, led there in `count` steps.

    Of a coarse body a large pose may turn single tetrahedra inside out, which is no shape for a key. Such ones are made
    firmer until their neighbours give way instead.
    """
    # A pose stretches a body more than its motion will: the law that keeps its volume then.
    solid = replace(as_solid(material), law="neohookean")
    firmness, best = np.ones(len(body.tets)), (-np.inf, start)
    for _ in range(_MOST_FIRMER):
        x = _balance(body, solid, firmness, start, held, goals, count)
        left = tet_volumes(x, body.tets) / body.volumes
        best = max(best, (float(left.min()), x), key=lambda one: one[0])
        crushed = np.flatnonzero(left < _CRUSHED)
        if not len(crushed) or np.isin(body.tets[crushed], held).all(axis=1).any():
            break  # sound, or as the grips themselves have it
        firmness[crushed] *= _FIRMER
    check_sound(body.with_rest(best[1]), "the pose", remedy="a milder pose, or a finer body")
    return best[1]


_CRUSHED = 0.1  # share of its volume below which a tetrahedron of a posed body is no shape to begin from
_FIRMER = 2.0  # more, and what is beside them is crushed instead
_MOST_FIRMER = 8


def _balance(
    body: TetMesh, solid: SolidMaterial, firmness: Vector, start: Points, held: Integers,
    goals: Callable[[float], Points], count: int,
) -> Points:  # fmt: skip
    mass = tet_lumped_mass(body, solid.density)
    jacobian = pin_jacobian(held, np.arange(3), body.point_count)

    def goal(time: float) -> Vector:
        return goals(float(np.clip(time / _LONG, 0.0, 1.0))).reshape(-1)

    pins = LinearConstraint(jacobian, goal, lambda time: np.ones(3 * len(held)), felt_mass(jacobian, mass))
    system = System(Mass(mass), (Solid(body, solid, firmness=firmness),), (pins,))
    stepper = ImplicitEuler(system, NewtonSettings(tolerance=1e-6, length=body.size))
    state = State(0.0, start.reshape(-1).copy(), np.zeros(start.size))
    share, step = 0.0, 1.0 / count
    while share < 1.0:
        until = 1.0 if share + step > 1.0 - 1e-9 else share + step
        # However short the share, the step is long: inertia shall not count.
        solution = stepper.step(State((until - 1.0) * _LONG, state.q, np.zeros_like(state.q)), _LONG)
        if solution.outcome.usable:
            share, state = until, solution.value
        elif step > 2.0**-_MOST_HALVINGS / count:
            step *= 0.5
        else:
            raise PhysicsStopped(
                f"the body cannot be brought into this pose: {solution.outcome.value}",
                vertex=solution.evidence.get("vertex"), position=solution.evidence.get("position"),
            )  # fmt: skip
    settled = settle(stepper, State(_LONG, state.q, np.zeros_like(state.q)), tolerance=1e-6 * body.size)
    return (settled.value if settled.outcome.usable else state).q.reshape(-1, 3).copy()
