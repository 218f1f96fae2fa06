"""Start-up: a first pose that cuts itself or an obstacle is reached from one that does not, and seams are closed.

The shell begins in its rest shape, turned and carried to where the first pose is and, where something directs it, in
front of every plane, with obstacles where they must be (or, if it cuts them there, in their own rest shapes). From
there conditions and obstacles are led to the first frame in small steps without inertia, and what cannot be, yields as
in any frame.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from bunraku.collision import PINCHED, Obstacle, Surfaces
from bunraku.constraints import LinearConstraint
from bunraku.contracts import Array, PhysicsStopped, Points, State, Vector, input_error
from bunraku.dynamics import ImplicitEuler, NewtonSettings, System
from bunraku.geometry import TriMesh, closest_points, faces_through, nearest_rotations, vertex_normals
from bunraku.motion import ease

from .layers import SEARCH, body_of, in_order, is_body, mean_edge
from .report import LED_AWAY
from .tangles import tangles, told

_log = logging.getLogger(__name__)
STEPS = 48
"""from the clean pose to the first frame"""
FEW = 8
"""steps in which layers that were moved come to rest"""
STEP = 1.0 / 24.0
"""[s]; without inertia it only says how heavy points are against the shell's stiffness"""
_MOST_SHIFTS = 8  # out of corners between planes
_MORE = 24  # steps that what was kept away may take to arrive


@dataclass(frozen=True, eq=False)
class Untangled:
    """A first pose free of intersections, and what it took."""

    points: Points
    steps: int = 0
    missed: int = 0
    """conditions that are not met in it"""
    worst: float = 0.0
    """[m] the largest distance of one"""
    pinched: Mapping[str, Array] = field(default_factory=dict)
    """the part of a state's memory that tells what is pinched in it, and what contact kept from its goal"""


def apart(surfaces: Surfaces, x: Points, time: float) -> bool:
    """Whether nothing cuts anything at points x (n, 3), and all keep the gap that must stay open."""
    points = surfaces.together(x, time)
    for pairing, size in surfaces.pairings:
        if pairing.intersects(points[:size]) or not pairing.near(points[:size]).closest() > pairing.gap:
            return False
    parts = surfaces.parts
    return all(
        ((x - plane.point) @ plane.normal > parts.gaps_to(parts.plane(k))).all()
        for k, plane in enumerate(surfaces.planes)
    )


def untangle(
    system: System, surfaces: Surfaces, conditions: Sequence[LinearConstraint], first: Points, time: float,
    settings: NewtonSettings, threads: int | None, layers: Sequence[str] = (), noun: str = "shell",
) -> Untangled:  # fmt: skip
    """Lead a shell, or what `noun` calls it, from a clean pose, its layers in order, to the averages of the first."""
    found = _clean_pose(surfaces, first, time, layers, directed=bool(conditions))
    if found is None:
        where, remedy = told(tangles(surfaces, _carried(surfaces.shell.rest, first), time), noun)
        raise input_error(
            f"the {noun} cuts or nearly touches something in its rest shape too: there is no clean pose to begin from",
            where=where, remedy=remedy,
        )  # fmt: skip
    begin, led = found
    where, remedy = told(tangles(surfaces, first, time), noun)
    if not conditions:
        raise input_error(
            f"the first pose cuts or nearly touches something, and nothing directs the {noun} out of it", where=where,
            remedy=f"{remedy}, start = 'rest', or tests that direct it" if noun == "shell" else f"{remedy}, or a path",
        )  # fmt: skip
    free = replace(system, contact=led(time - STEPS * STEP))
    found = lead(free, conditions, begin, time, settings, threads, noun=noun)
    _log.warning(
        "the first pose cuts itself or an obstacle (%s); the %s was led there from its rest shape in %d steps%s",
        where, noun, found.steps,
        f", {found.missed} conditions miss it by up to {found.worst:.3g} m" if found.missed else ", all directions met",
    )  # fmt: skip
    return found


def sew(
    system: System, surfaces: Surfaces | None, conditions: Sequence[LinearConstraint], first: Points, time: float,
    settings: NewtonSettings, threads: int | None,
) -> Untangled:  # fmt: skip
    """Close the seams of a shell at points `first` (n, 3), with obstacles as they stand at a time [s].

    Nothing rubs, and `system` has no weight in it.
    """
    still = None if surfaces is None else _standing(surfaces, time).without_friction()
    found = lead(replace(system, contact=still), conditions, first, time, settings, threads)
    if found.missed:
        hint = (
            "" if surfaces is None else ": where it is tight a shorter contact.reach or more contact.press close them"
        )
        _log.warning("%d conditions are still %.3g m off after sewing%s", found.missed, found.worst, hint)
    return found


def relax(
    system: System, surfaces: Surfaces, conditions: Sequence[LinearConstraint], first: Points, time: float,
    settings: NewtonSettings, threads: int | None,
) -> Untangled:  # fmt: skip
    """Let a shell whose layers were moved come to rest from points `first` (n, 3), with obstacles as they stand at a
    time [s] and friction, or what is tight would slip off. `system` has no weight in it."""
    contact = _standing(surfaces, time)
    return lead(replace(system, contact=contact), conditions, first, time, settings, threads, FEW)


def lead(
    system: System, conditions: Sequence[LinearConstraint], begin: Points, time: float, settings: NewtonSettings,
    threads: int | None, most: int = STEPS, noun: str = "shell",
) -> Untangled:  # fmt: skip
    """From a pose free of intersections to what conditions ask at a time [s], in small steps without inertia."""
    t0 = time - most * STEP
    blended = tuple(_blended(one, begin, t0, time) for one in conditions)
    stepper = ImplicitEuler(replace(system, constraints=blended), settings, threads=threads)
    state = State(t0, begin.reshape(-1).copy(), np.zeros(begin.size))
    state = replace(state, memory=system.remember(state))
    steps, missed = 0, np.zeros(0)
    while steps < most + _MORE:
        solution = stepper.step(state, STEP)
        if not solution.outcome.usable:
            raise PhysicsStopped(f"the {noun} could not be brought to its first pose: {solution.outcome.value}")
        steps += 1
        state = replace(solution.value, velocity=np.zeros(begin.size))
        missed = np.linalg.norm(_missed(conditions, state, time), axis=1)
        if steps >= most and (not (missed > _MET * settings.length).any() or _settled(solution.value, settings)):
            break
    away = missed > _MET * settings.length
    pinched = {key: rows for key, rows in state.memory.items() if key == PINCHED}
    if system.contact is not None:
        pinched[LED_AWAY] = away.astype(np.float64)
    return Untangled(state.q.reshape(-1, 3), steps, int(away.sum()), float(missed.max(initial=0.0)), pinched)


_MET = 1e-6  # share of the size


def _settled(state: State, settings: NewtonSettings) -> bool:
    """Whether the last step, without inertia, moved nothing that matters."""
    return float(np.abs(state.velocity).max(initial=0.0)) * STEP < 1e-4 * settings.length


def as_one_layer(surfaces: Surfaces, first: Points, time: float) -> tuple[Surfaces, tuple[str, ...]]:
    """A shell without layers, directed, which cuts closed obstacles in its points `first` (n, 3) and in its rest shape
    alike, as a layer to be put around them; any other as it is. What is mostly within one may be meant to be there."""
    bodies = [one for one in surfaces.obstacles if is_body(one, ())]
    if surfaces.named or not any(_cuts(surfaces, one, first, time) for one in bodies):
        return surfaces, ()
    within = any(_below(first, body_of(one, time)) for one in bodies)
    if within or _clean_pose(surfaces, first, time, (), directed=True) is not None:
        return surfaces, ()
    layered = replace(surfaces, named={_WHOLE: np.arange(surfaces.count)})
    if _clean_pose(layered, first, time, (_WHOLE,), directed=True) is None:  # planes may be in the way of that
        return surfaces, ()
    where, _ = told(tangles(surfaces, first, time))
    _log.warning(
        "the shell cuts something in its first pose and in its rest shape (%s): it is moved out of that", where
    )
    return layered, (_WHOLE,)


_WHOLE = "the shell"  # the name of the one layer


def _cuts(surfaces: Surfaces, obstacle: Obstacle, x: Points, time: float) -> bool:
    """Whether points x (n, 3) of the shell cut an obstacle."""
    points = np.concatenate([x, obstacle.at(time)])
    return bool(faces_through(points, surfaces.shell.faces, obstacle.mesh.faces + len(x), touching=True).any())


def _below(x: Points, body: TriMesh) -> bool:
    """Whether most of points x (n, 3) are within a body."""
    found = closest_points(x, body)
    normals = found.carry(body, vertex_normals(body.rest, body.faces))
    return float(np.mean(np.sum((x - found.points) * normals, axis=1) < 0.0)) > 0.5


def _clean_pose(
    surfaces: Surfaces, first: Points, time: float, layers: Sequence[str], *, directed: bool
) -> tuple[Points, Callable[[float], Surfaces]] | None:
    """A pose that cuts nothing, with its layers in order if there is one, and the surfaces with obstacles that stand
    where they do not cut it and go to where they must be at `time`. What is `directed` may begin in front of the planes
    that it cuts: it is led back."""
    rest = surfaces.shell.rest
    poses = [_carried(rest, first), np.array(rest)]
    if directed and surfaces.planes:
        poses += [_in_front(surfaces, pose) for pose in poses]

    def standing(_: float) -> Surfaces:
        return _standing(surfaces, time)

    def growing(t0: float) -> Surfaces:
        return replace(surfaces, obstacles=[_led(o, t0, time) for o in surfaces.obstacles])

    ways = [(standing, time), (growing, time - 1.0)] if surfaces.obstacles else [(standing, time)]
    for names, pose, (led, begin) in product([layers, ()] if layers else [()], poses, ways):
        there = led(begin)
        found = in_order(there, names, pose, begin).points
        if apart(there, found, begin):
            return found, led
    return None


def _in_front(surfaces: Surfaces, x: Points) -> Points:
    """Points x (n, 3) that cut planes, carried as one in front of them, to where they do not feel any."""
    heights = np.array([(x - plane.point) @ plane.normal for plane in surfaces.planes])
    gaps = [surfaces.parts.gaps_to(surfaces.parts.plane(k)) for k in range(len(heights))]
    within = SEARCH * mean_edge(surfaces.shell)
    far = np.median(heights.min(axis=0)) < -within  # what is so far behind has its plane turned around
    if far or (heights > np.array(gaps)).all():
        return x
    for _ in range(_MOST_SHIFTS):
        for k, plane in enumerate(surfaces.planes):
            gap = float(np.max(surfaces.parts.gaps_to(surfaces.parts.plane(k))))
            short = gap + surfaces.felt_within - float(((x - plane.point) @ plane.normal).min())
            x = x + max(short, 0.0) * plane.normal
    return x


def _standing(surfaces: Surfaces, time: float) -> Surfaces:
    """With the obstacles as they are at a time [s]."""
    fixed = [replace(o, motion=lambda _t, o=o: o.at(time)) for o in surfaces.obstacles]
    return replace(surfaces, obstacles=fixed)


def _led(obstacle: Obstacle, start: float, end: float) -> Obstacle:
    """From its rest shape to where it must be at the end."""
    goal = obstacle.at(end)

    def motion(t: float) -> Points:
        share = float(ease(np.array([t]), start, end)[0])
        return obstacle.mesh.rest + share * (goal - obstacle.mesh.rest)

    return replace(obstacle, motion=motion)


def _carried(rest: Points, first: Points) -> Points:
    """The rest shape turned and moved to where the first pose is [Kabsch 1976]; where several turns are as good, by any
    of them."""
    centre, goal = rest.mean(axis=0), first.mean(axis=0)
    (turn,) = nearest_rotations(((first - goal).T @ (rest - centre))[None])
    return (rest - centre) @ turn.T + goal


def _blended(constraint: LinearConstraint, begin: Points, start: float, end: float) -> LinearConstraint:
    """The conditions of the end, from what they are in the beginning."""
    jacobian, goals = constraint.jacobian_at(end), constraint.goals(end)
    before = jacobian @ begin.reshape(-1)
    strength = np.clip(constraint.strength(end), 0.0, 1.0)

    def at(t: float) -> Vector:
        share = float(ease(np.array([t]), start, end)[0])
        return before + share * (goals - before)

    return replace(
        constraint, jacobian=jacobian, goals=at, changing=None, differential=False,
        strength=lambda _: np.where(strength > 0.0, 1.0, 0.0),
    )  # fmt: skip


def _missed(conditions: Sequence[LinearConstraint], state: State, time: float) -> Points:
    """(t, 3) how far conditions miss what they ask at `time`; rows that come alone count as one each."""
    held = replace(state, time=time)
    rows = [one.residual(held) for one in conditions]
    return np.concatenate([np.zeros((0, 3)), *(r.reshape(-1, 3) if len(r) % 3 == 0 else _alone(r) for r in rows)])


def _alone(rows: Vector) -> Points:
    return np.stack([rows, np.zeros(len(rows)), np.zeros(len(rows))], axis=1)
