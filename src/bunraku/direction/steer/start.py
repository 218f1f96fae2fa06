"""Where a steered body begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bunraku.constraints import LinearConstraint
from bunraku.contracts import PhysicsStopped, Points, State, Vector, input_error, real_array
from bunraku.dynamics import ImplicitEuler, NewtonSettings, System, settle
from bunraku.energies import mean_rotation
from bunraku.geometry import TetMesh, first_few, tet_masses, tet_volumes

from .holding import Directed
from .rigid import centre
from .settings import SteerSettings

_ON_PATH = 1e-6
"""share of the body's size by which a first pose may be off its paths"""


def first_pose(body: TetMesh, shape: Points, paths: Sequence[Directed], knobs: SteerSettings) -> Points:
    """(n, 3) the first pose: what is given, or a shape (n, 3), moved and turned to where paths begin."""
    time = 0.0
    if knobs.start is not None:
        return _not_inside_out(one_row_a_vertex("start", knobs.start, body), body)
    x, held = np.array(shape), [one for one in paths if one.path.holds(time)]
    for one in (one for one in held if one.whole):
        middle = one.mean(x)
        if one.path.rotations is not None:
            own = mean_rotation(x, body.rest, body.tets, tet_masses(body))
            x = middle + (x - middle) @ (one.path.rotation(time) @ own.T).T
        return x + (one.path.at(time) - one.mean(x))
    if held:
        away = np.stack([one.path.at(time) - one.mean(x) for one in held])
        x += centre(away, np.array([one.mass.sum() for one in held]))
    return x


def _not_inside_out(x: Points, body: TetMesh) -> Points:
    """The points (n, 3), refused where tetrahedra are inside out in them."""
    bad = np.flatnonzero(tet_volumes(x, body.tets) < 0.0)
    if len(bad):
        mirrored = len(bad) == len(body.tets)
        raise input_error(
            "the first pose is mirrored" if mirrored else "parts of the first pose are inside out",
            where=f"start, tets {first_few(bad)}", got=f"{len(bad)} of {len(body.tets)}",
            remedy="turn it back" if mirrored else "a milder pose, or one made with bk.pose",
        )  # fmt: skip
    return x


def on_paths(
    x: Points, paths: Sequence[Directed], body: TetMesh, weightless: System,
    conditions: Callable[[], Sequence[LinearConstraint]], knobs: SteerSettings,
) -> Points:  # fmt: skip
    """(n, 3) a first pose drawn onto the paths that begin with it; one that was given is refused if it is off them."""
    off = [np.linalg.norm(one.mean(x) - one.path.at(0.0)) for one in paths if one.path.holds(0.0)]
    worst = max(off, default=0.0)
    if worst <= _ON_PATH * body.size:
        return x
    if knobs.start is not None:
        raise input_error(
            "the first pose is not where the path begins", where="start", got=f"{worst:.3g} m away",
            remedy="leave start out, or move one of the two",
        )  # fmt: skip
    stepper = ImplicitEuler(replace(weightless, constraints=tuple(conditions())), NewtonSettings(length=body.size))
    solution = settle(stepper, State(0.0, x.reshape(-1).copy(), np.zeros(x.size)), tolerance=1e-6 * body.size)
    if not solution.outcome.usable:
        raise PhysicsStopped(f"the body could not be drawn to where its paths begin: {solution.outcome.value}")
    return solution.value.q.reshape(-1, 3)


def first_velocity(x: Points, body: TetMesh, paths: Sequence[Directed], knobs: SteerSettings, dt: float) -> Points:
    """(n, 3) [m/s] what is given; else that of a body carried along the path that begins with it, else none.

    It is the integrator's: from where the path, continued back, was a step of dt [s] ago. So a path that is a body's
    own motion changes nothing from the first step on.
    """
    if knobs.velocity is not None:
        try:
            alike = np.shape(knobs.velocity) == (3,)
        except ValueError:  # lists of different lengths
            alike = False
        return one_row_a_vertex("velocity", np.tile(knobs.velocity, (len(x), 1)) if alike else knobs.velocity, body)
    held = [one for one in paths if one.path.holds(0.0)]
    for one in (one for one in held if one.whole):
        where, turn = one.path.continued(-dt)
        now = one.path.rotation(0.0)
        before = where + (x - one.path.at(0.0)) @ (turn @ now.T).T
        return (x - before) / dt
    if not held:
        return np.zeros_like(x)
    rates = np.stack([_rate(one, dt) for one in held])
    return np.tile(centre(rates, np.array([one.mass.sum() for one in held])), (len(x), 1))


def _rate(one: Directed, dt: float) -> Vector:
    return (one.path.at(0.0) - one.path.continued(-dt)[0]) / dt


def one_row_a_vertex(name: str, given: object, body: TetMesh) -> Points:
    """(n, 3) finite numbers, else refused."""
    try:
        array = real_array(given)
    except (TypeError, ValueError):
        raise input_error(f"{name} must be numbers", got=repr(given)[:40]) from None
    if array.shape != body.rest.shape or not np.isfinite(array).all():
        finite = array.shape != body.rest.shape or "numbers that are none"
        alike = " (or three numbers for all)" if name == "velocity" else ""
        raise input_error(
            f"{name} must be finite, one row a vertex of the body{alike}",
            got=f"shape {array.shape}" if finite is True else finite,
            allowed=f"shape {body.rest.shape}{' or (3,)' if alike else ''}",
        )  # fmt: skip
    return array
