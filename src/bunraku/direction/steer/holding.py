"""Paths, held inside the step or put right after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from bunraku.constraints import LinearConstraint, average_jacobian, felt_mass
from bunraku.contracts import Array, Integers, Points, Solution, Sparse, State, Stepper, Vector, input_error
from bunraku.direction.pins import Pin
from bunraku.dynamics import System
from bunraku.energies import mean_rotation
from bunraku.geometry import TetMesh, first_few, tet_masses
from bunraku.motion import Path

from .rigid import centre

COMPENSATED = "compensated"
"""in a step's stats: (p, 3) [N] the forces that would have brought each path's vertices where they were put"""


@dataclass(frozen=True, eq=False)
class Directed:
    """One path of a body, and the vertices it directs."""

    path: Path
    vertices: Integers
    """(v,)"""
    mass: Vector
    """(v,) of these vertices [kg]"""
    body: TetMesh
    """it is a path of"""
    first: int = 0
    """number of the body's first vertex among those of all bodies"""
    point_count: int = 0
    """of all bodies"""

    def among(self, first: int, point_count: int) -> Directed:
        """The same where the body is one of several, its vertices beginning with number `first` of `point_count`."""
        return replace(self, vertices=self.vertices + first, first=first, point_count=point_count)

    def turn(self, x: Points) -> Array:
        """(3, 3) how its body as a whole is turned, points of all bodies at x (n, 3)."""
        body = self.body
        own = x[self.first : self.first + body.point_count]
        return mean_rotation(own, body.rest, body.tets, self._elements)

    @cached_property
    def _elements(self) -> Vector:
        """(m,) how much each element counts in the turn of the whole."""
        return tet_masses(self.body)

    @property
    def whole(self) -> bool:
        """Whether it directs all of the body."""
        return self.path.vertices is None

    def mean(self, x: Points) -> Vector:
        """(3,) the directed point of points or velocities (n, 3)."""
        return centre(x[self.vertices], self.mass)

    def constraint(self, press: Callable[[Sparse], Callable[[float], Vector]] | None = None) -> LinearConstraint:
        """Three rows: the directed point is where the path says, while it says anything.

        With `press` (weights → time → newtons) they yield to contact.
        """
        share = self.mass / self.mass.sum()
        weights = sparse.csr_array((share, (np.zeros_like(self.vertices), self.vertices)), shape=(1, self.point_count))
        jacobian, path = average_jacobian(weights), self.path
        full = np.zeros(self.point_count)
        full[self.vertices] = self.mass
        felt = felt_mass(jacobian, np.where(full > 0, full, 1.0))
        return LinearConstraint(
            jacobian, path.at, lambda time: np.full(3, 1.0 if path.holds(time) else 0.0), felt,
            press=None if press is None else press(weights),
        )  # fmt: skip


def directed(paths: Sequence[Path], body: TetMesh, mass: Vector) -> tuple[Directed, ...]:
    """What paths direct of a body with lumped mass (n,); refused where that is not the body's, or twice the same."""
    found: list[Directed] = []
    for k, path in enumerate(paths):
        vertices = np.arange(body.point_count) if path.vertices is None else np.asarray(path.vertices)
        bad = vertices[(vertices < 0) | (vertices >= body.point_count)]
        if len(bad):
            raise input_error(
                "a path must name vertices of the body", where=f"path {k}", got=first_few(bad),
                allowed=f"0 to {body.point_count - 1}",
            )  # fmt: skip
        found.append(Directed(path, vertices, mass[vertices], body, 0, body.point_count))
    _check_holds(found)
    for k, one in enumerate(found):
        for j, other in enumerate(found[:k]):
            if one.whole and other.whole:
                raise input_error("two paths direct the whole body", where=f"paths {j} and {k}", remedy="one path")
            if not (one.whole or other.whole) and np.intersect1d(one.vertices, other.vertices).size:
                raise input_error("two paths direct the same vertices", where=f"paths {j} and {k}")
    _check_parts(found, body)
    return tuple(found)


def _check_parts(found: Sequence[Directed], body: TetMesh) -> None:
    """Refuse a path for the whole body beside paths for parts that make up all of it: it follows from those."""
    parts = [one for one in found if not one.whole]
    if len(parts) < len(found) and sum(len(one.vertices) for one in parts) == body.point_count:
        raise input_error(
            "the parts that have paths make up the whole body, which has one too: where it is follows from them",
            where=f"path {next(k for k, one in enumerate(found) if one.whole)}", remedy="leave one of the paths out",
        )  # fmt: skip


def check_pinned(found: Sequence[Directed], pins: Sequence[Pin]) -> None:
    """Refuse paths all of whose vertices are pinned."""
    held = np.concatenate([np.zeros(0, np.int64), *(np.asarray(pin.vertices).reshape(-1) for pin in pins if pin.firm)])
    for k, one in enumerate(found):
        if np.isin(one.vertices, held).all():
            raise input_error(
                "all vertices of a path are pinned: two directions for one thing", where=f"path {k}",
                got=f"{len(one.vertices)} vertices", remedy="leave the pin or the path out",
            )  # fmt: skip


def _check_holds(found: Sequence[Directed]) -> None:
    """Refuse what would be put off its path by another one being put on its own."""
    put_back = [k for k, one in enumerate(found) if one.path.hold == "compensation"]
    if put_back and (len(put_back) < len(found) or (len(found) > 1 and any(one.whole for one in found))):
        raise input_error(
            "a path that is put right after the step would put others wrong", where=f"path {put_back[0]}",
            got="compensation", allowed="alone, or for parts that have no vertex in common and all of them so",
            remedy="hold='constraint', which meets all of them together",
        )  # fmt: skip


class Compensation:
    """A stepper that puts a body back on its paths after each step [Kondo 2005, §5], position and velocity alike.

    Differences are the path's less the body's (the paper prints them the other way round). What is put elsewhere by δ
    in a step of dt gets the velocity δ/dt of that too, which is that of the integrator itself: so a path equal to the
    free motion changes nothing, and a turn comes with the angular velocity of turning. Where a path only takes hold in
    the step, the velocity is the path's own.
    """

    order = 1

    def __init__(self, stepper: Stepper, system: System, paths: Sequence[Directed]) -> None:
        self._stepper, self._system = stepper, system
        # A part is put right last: it is in the whole too.
        self._paths = sorted(enumerate(paths), key=lambda one: not one[1].whole)

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        """One step of length dt [s], then the corrections."""
        solution = self._stepper.step(state, dt, last=last)
        if not solution.outcome.usable:
            return solution
        after, time = solution.value, state.time + dt
        x, v = after.q.reshape(-1, 3).copy(), after.velocity.reshape(-1, 3).copy()
        forces = np.zeros((len(self._paths), 3))
        for k, one in self._paths:
            if one.path.hold != "compensation" or not one.path.holds(time):
                continue
            takes_hold = not one.path.holds(state.time)
            forces[k] = one.mass.sum() * self._put(one, x, v, time, dt, takes_hold) / dt**2
        value = replace(after, q=x.reshape(-1), velocity=v.reshape(-1))
        value = replace(value, memory={**value.memory, **self._system.remember(value)})
        return replace(solution, value=value, stats={**solution.stats, COMPENSATED: forces})

    def _put(self, one: Directed, x: Points, v: Points, time: float, dt: float, takes_hold: bool) -> Vector:
        """Moves x and v (n, 3) in place; (3,) by how much the directed point was moved [m]."""
        chosen, path = one.vertices, one.path
        before, middle = x[chosen].copy(), one.mean(x)
        shift = path.at(time) - middle
        x[chosen] += shift
        if path.rotations is not None:
            turn = path.rotation(time) @ one.turn(x).T
            x[chosen] = path.at(time) + (x[chosen] - path.at(time)) @ turn.T
        x[chosen] += path.at(time) - one.mean(x)  # the last bits
        if takes_hold:
            arm = x[chosen] - path.at(time)
            rigid = path.velocity(time) - one.mean(v)
            v[chosen] += rigid + np.cross(path.spin(time) - _spin(arm, v[chosen], one.mass), arm) * path_turns(path)
        else:
            v[chosen] += (x[chosen] - before) / dt
        return shift


def path_turns(path: Path) -> float:
    """1 for a path that says how to turn, else 0."""
    return 0.0 if path.rotations is None else 1.0


def _spin(arm: Points, v: Points, mass: Vector) -> Vector:
    """(3,) angular velocity [rad/s] of points at arms (n, 3) from their centre of mass."""
    momentum = np.sum(mass[:, None] * np.cross(arm, v), axis=0)
    inertia = np.sum(mass * np.sum(arm * arm, axis=1)) * np.eye(3) - (mass[:, None] * arm).T @ arm
    return np.linalg.lstsq(inertia, momentum, rcond=None)[0]
