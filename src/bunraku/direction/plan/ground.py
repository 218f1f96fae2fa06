"""The ground as an inequality: nothing of the warped body is below it, at any of many moments.

An active set. A motion is looked at closely; where a vertex dips deepest below the ground, at a moment of its own, a
row is added that lifts it there, and the motion is planned anew. Rows that would pull a vertex down are let go. Few
vertices touch at few moments, so few rounds do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bunraku.contracts import Array, Flags, Points, Vector
from bunraku.dynamics import Goal, Observed

from .keys import Key
from .looking import Heights
from .nodes import Ends
from .place import Place
from .problem import Problem, Row
from .reduced import Reduced

ALLOWED = 1e-3
"""share of the body's size that a vertex may be below the ground"""
LIFT = 0.25
"""of what is allowed, that a touching vertex is asked to be above the ground: between moments it dips a little"""
HASTY = "what dipped below the ground was lifted, but the search for the motion that does so had not converged"
"""what is told then"""
_MOMENTS = 12
"""that are looked at in a tenth of a second"""
_MOST_MOMENTS, _LEAST_MOMENTS, _MOST_NUMBERS = 20_000, 200, 20_000_000
"""that are looked at, of however long a motion, and vertices times moments"""
_AT_ONCE = 4
"""vertices that are lifted in a round: the next one sees what that does"""
_APART = 0.15
"""share of the body's size between two vertices that touch at one moment"""


@dataclass(frozen=True, eq=False)
class Along:
    """What is observed of vertices in one direction only; else as `Observed`."""

    observed: Observed
    direction: Vector
    """(3,)"""

    @property
    def rows(self) -> int:
        """One a functional."""
        return self.observed.rows // 3

    @property
    def rest(self) -> Vector:
        """(c,) at rest."""
        return self.observed.rest @ self.direction

    def positions(self, q: Vector) -> tuple[Vector, Array]:
        """(c,) and (c, d)."""
        value, slope = self.observed.positions(q)
        return self._along(value[:, None])[:, 0], self._along(slope)

    def places(self, q: Vector) -> Vector:
        """(c,) without the derivative."""
        return self._along(self.observed.places(q)[:, None])[:, 0]

    def velocities(self, q: Vector, v: Vector) -> tuple[Vector, Array, Array]:
        """(c,), and (c, d) by q and by v."""
        value, by_place, by_speed = self.observed.velocities(q, v)
        return self._along(value[:, None])[:, 0], self._along(by_place), self._along(by_speed)

    def speeds(self, q: Vector, v: Vector) -> Vector:
        """(c,) velocities without derivatives."""
        return self._along(self.observed.speeds(q, v)[:, None])[:, 0]

    def linear(self) -> Array:
        """(c, d) the derivative at rest."""
        return self._along(self.observed.linear())

    def goal(self, values: Points) -> Goal:
        """What rows should be for vertices to be at values (c, 3), in this direction."""
        return Goal(values @ self.direction, 0.0)

    def pulls(self, forces: Vector) -> Points:
        """What forces (c,) pull with, as a field."""
        return self.observed.pulls(np.outer(forces, self.direction).reshape(-1))

    def _along(self, rows: Array) -> Array:
        """(c, …) of rows (3 c, …)."""
        return np.einsum("cik,i->ck", rows.reshape(self.rows, 3, -1), self.direction)


@dataclass(frozen=True, eq=False)
class Touch:
    """A vertex on the ground at a moment."""

    time: float
    """[s]"""
    vertex: int
    stays: bool = False
    """whether it is not let go any more"""

    def key(self, place: Place, level: float) -> Key:
        """The key, of the body's own frame, that has the vertex at a height [m]; only that is looked at."""
        goal = np.array([0.0, level, 0.0])
        return Key(self.time, [self.vertex], place.own(goal[None], self.time, np.array([self.vertex])))

    def observed(self, body: Reduced, place: Place) -> Along:
        """Its height."""
        return Along(body.observe(np.array([self.vertex])), place.turn_at(self.time).T @ np.array([0.0, 1.0, 0.0]))


def moments_of(duration: float, vertices: int) -> Vector:
    """(t,) to look at [s] of a body of so many vertices: fewer of a motion that lasts for minutes."""
    most = min(_MOST_MOMENTS, max(_MOST_NUMBERS // vertices, _LEAST_MOMENTS))
    return np.linspace(0.0, duration, min(max(int(np.ceil(10 * _MOMENTS * duration)), 8), most) + 1)


def deepest(seen: Heights, level: float) -> float:
    """[m] how far anything but what is fixed is below the ground at most."""
    return float((level - seen.values).max(initial=-np.inf))


def dips(body: Reduced, seen: Heights, level: float, ends: Ends) -> list[Touch]:
    """Vertices that are deepest below the ground, each at the moment it is.

    Of vertices beside each other only the deepest; an end whose pose is given is what it is.
    """
    skin, depth = seen.vertices, level - seen.values
    found: list[Touch] = []
    lowest = _turns_up(depth, ends) & (depth > ALLOWED * body.mesh.size)
    order = np.argwhere(lowest)
    order = order[np.argsort(-depth[lowest], kind="stable")]
    chosen: list[tuple[int, int]] = []
    for k, j in order:
        near = any(abs(k - a) <= _MOMENTS // 2 and _close(body, int(skin[j]), int(skin[b])) for a, b in chosen)
        if not near and len(chosen) < _AT_ONCE:
            chosen.append((int(k), int(j)))
            found.append(Touch(float(seen.times[k]), int(skin[j])))
    return found


def _turns_up(depth: Array, ends: Ends) -> Flags:
    """(t, k) whether a depth (t, k) is no less than those just before and after it. Beside a free end there is nothing,
    beside a given one what is deeper; on a circle the last moment, which is the first, comes before the second."""
    begun, ended = (-np.inf if end is None else np.inf for end in (ends.first, ends.last))
    first, last = np.full((1, depth.shape[1]), begun), np.full((1, depth.shape[1]), ended)
    if ends.circular:
        first, last = depth[-2:-1], np.full_like(last, np.inf)
    return (depth >= np.concatenate([first, depth[:-1]])) & (depth > np.concatenate([depth[1:], last]))


def _close(body: Reduced, one: int, other: int) -> bool:
    return float(np.linalg.norm(body.mesh.rest[one] - body.mesh.rest[other])) < _APART * body.mesh.size


def ground_facts(body: Reduced, seen: Heights, level: float) -> dict[str, Any]:
    """How deep anything but what is fixed goes below the ground, and when."""
    depth = (level - seen.values).max(axis=1, initial=-np.inf)
    k, allowed = int(depth.argmax()), ALLOWED * body.mesh.size
    below = max(float(depth[k]), 0.0)
    return {
        "below_ground": below, "lowest_at": float(seen.times[k]), "allowed_below": allowed,
        "above_ground": below <= allowed,
    }  # fmt: skip


def ground_sentence(facts: Mapping[str, Any]) -> str:
    """What a motion that goes too deep is told with."""
    return (
        f"the body goes {facts['below_ground']:.3g} m below the ground at {facts['lowest_at']:.3g} s: keys, or how the "
        "motion begins or ends, ask for it, or more modes are needed"
    )


def merged(
    touches: Sequence[Touch], more: Sequence[Touch], apart: float, free: Sequence[float], gone: Sequence[Touch]
) -> list[Touch]:
    """Both, the times of new ones drawn to those of old ones, or to `free` ends, that are nearer than `apart` [s].

    But not to one at which the vertex touches already, or was let go (`gone`): beside that it dips all the same. What
    was let go at its very own time, and dips again, stays.
    """
    out = list(touches)
    for one in more:
        held, left = ([other.time for other in those if other.vertex == one.vertex] for those in (out, gone))
        near = [time for time in (*free, *(other.time for other in out)) if abs(time - one.time) < apart]
        drawn = (time for time in near if time not in held and time not in left)
        time = min(drawn, key=lambda t: abs(t - one.time), default=one.time)
        if time not in held:
            out.append(replace(one, time=time, stays=time in left))
    return out


def with_touches(problem: Problem, touches: Sequence[Touch], place: Place, level: float) -> Problem:
    """The problem with rows that keep vertices on the ground."""
    body, times = problem.body, problem.nodes.times
    keys, nodes, rows = list(problem.keys), list(problem.node_of), list(problem.rows)
    for touch in touches:
        key, observed = touch.key(place, level), touch.observed(body, place)
        assert key.positions is not None
        node = int(np.argmin(np.abs(times - touch.time)))
        goal = observed.goal(np.sqrt(body.mass[touch.vertex]) * key.positions)
        rows.append(Row(len(keys), False, node, observed, goal, 1.0, 1.0))
        keys.append(key)
        nodes.append(node)
    return replace(problem, keys=keys, node_of=tuple(nodes), rows=rows)


def pressing(problem: Problem, touches: Sequence[Touch], z: Vector) -> tuple[list[Touch], list[Touch]]:
    """Touches, which the last keys are of, that press their vertex up, or stay, and those that would pull it down."""
    first = len(problem.keys) - len(touches)
    missed = [float(problem.of(row, z)[0].sum()) for row in problem.rows if row.key >= first]
    kept = [one for one, left in zip(touches, missed, strict=True) if left <= 0.0 or one.stays]
    return kept, [one for one in touches if one not in kept]
