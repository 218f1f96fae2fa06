"""From keys to the motion of least force that meets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from bunraku.contracts import Array, Outcome, Solution, Vector
from bunraku.numerics import SquaresSettings, WigglySpline, gauss_newton, gram

from .ground import (
    ALLOWED,
    HASTY,
    LIFT,
    Touch,
    deepest,
    dips,
    ground_facts,
    ground_sentence,
    merged,
    moments_of,
    pressing,
    with_touches,
)
from .keys import SAME_TIME, Key
from .looking import Heights, looked_at, looked_at_all, unseen
from .motion import Motion
from .nodes import Ends, Nodes, node_times
from .place import Place
from .problem import Problem, linearised, make_problem
from .reduced import Reduced
from .report import report_of
from .spent import NOTHING, Spent

_ROUNDS, _LIMIT = 12, 60
"""of lifting what is below the ground, and iterations in each"""
_NEAR = 0.02
"""share of the duration within which two moments of touching are one"""
_FIRMER, _SOON, _PATIENT = (1e2, 1e4, 1e6), 10, 150
"""weights, one after the other, of keys that must be met exactly and are not at once, after so many iterations; and how
many each of these may take"""
_DEPENDENT = 1e-9  # share of the largest below which rows that must be met exactly follow from others
_UNSEEN = 1e-24  # share of the largest stiffness below which an unknown has none
_SLIGHT = 1e-14  # stiffness, of a unit diagonal, that what no key and no energy sees has


def lay_out(body: Reduced, keys: Sequence[Key], duration: float, ends: Ends, touches: Sequence[Touch] = ()) -> Problem:
    """The problem of keys, in time; with moments, and positions then, for vertices that touch the ground."""
    times = node_times([one.time for one in (*keys, *touches)], duration, SAME_TIME)
    node_of = [int(np.argmin(np.abs(times - key.time))) for key in keys]
    count = len(times) - 1 if ends.circular else len(times)
    seen = np.zeros((count, 2), dtype=bool)
    for key, node in zip(keys, node_of, strict=True):
        seen[node % count] |= [True, key.velocities is not None]
    for touch in touches:
        seen[int(np.argmin(np.abs(times - touch.time))) % count, 0] = True
    return make_problem(body, Nodes(body.oscillators, times, ends, seen), keys, node_of)


def solve(
    body: Reduced, keys: Sequence[Key], duration: float, ends: Ends, *, place: Place | None = None,
    before: Motion | None = None, set_up: Spent = NOTHING, ground: float | None = None,
) -> Motion:  # fmt: skip
    """The motion of least force that meets keys of the world; `before` is one to begin the search from, `set_up` is
    what the body's set-up took, for the report, `ground` [m] a height that nothing goes below."""
    begin = Spent.now()
    place = place or Place.still()
    own = [place.own_key(key, body.mass) for key in keys]
    problem = lay_out(body, own, duration, ends)
    solution = _solved(problem, before)
    found = Planned(problem, solution, _spline(problem, solution.value))
    if ground is not None:
        found = lifted(found, own, duration, place, ground)
    spent = {"set up": set_up, "solve": begin.since}
    asked = replace(found.problem, rows=[row for row in found.problem.rows if row.key < len(keys)])
    report = report_of(asked, found.solution, found.spline, spent)
    if ground is not None:
        seen = found.seen or unseen(body, moments_of(duration, body.mesh.point_count))
        report |= ground_facts(body, looked_at_all(seen, body, place, found.spline), ground)
        if not report["above_ground"]:
            report |= {"met": False, "sentences": [*report["sentences"], ground_sentence(report)]}
        if found.problem is not problem and found.solution.outcome is Outcome.NOT_CONVERGED:
            report["sentences"] = [*report["sentences"], HASTY]
    return Motion(body, found.spline, tuple(keys), report, place)


@dataclass(frozen=True, eq=False)
class Planned:
    """A problem, its solution, and the motion that is."""

    problem: Problem
    solution: Solution[Vector]
    spline: WigglySpline
    seen: Heights | None = None
    """how high it is, where it was looked at already"""


def lifted(found: Planned, keys: Sequence[Key], duration: float, place: Place, ground: float) -> Planned:
    """The same with what dips below the ground lifted onto it; where that cannot be, what goes down least."""
    body, ends = found.problem.body, found.problem.nodes.ends
    times = moments_of(duration, body.mesh.point_count)
    level, touches, tried, gone = ground + LIFT * ALLOWED * body.mesh.size, list[Touch](), list[Touch](), list[Touch]()
    best, least = found, np.inf
    for left in range(_ROUNDS, -1, -1):
        seen = looked_at(body, place, found.spline, times, ground)
        if not seen.whole and not dips(body, seen, ground, ends):  # before it is taken
            seen = looked_at_all(seen, body, place, found.spline)
        if (deep := deepest(seen, ground)) < least:
            best, least = replace(found, seen=seen), deep
        more = dips(body, seen, ground, ends)
        if not more or not left:
            break
        touches = merged(touches, more, _NEAR * duration, ends.free(duration), gone)
        if touches == tried:  # it would be the same again
            break
        tried = touches
        problem = lay_out(body, keys, duration, ends, touches)
        problem = with_touches(problem, touches, place, level)
        squares = problem.eased(_FIRMER[-1]).squares
        solution = gauss_newton(squares, _where(problem.nodes, found.spline), SquaresSettings(limit=_LIMIT))
        spent = found.solution.stats["iterations"] + solution.stats["iterations"]
        solution = replace(solution, stats={**solution.stats, "iterations": spent})
        found = Planned(problem, solution, _spline(problem, solution.value))
        touches, pulling = pressing(problem, touches, solution.value)
        gone += pulling
    return best


def _spline(problem: Problem, z: Vector) -> WigglySpline:
    nodes = problem.nodes
    positions, velocities = nodes.states(z)
    return WigglySpline(nodes.oscillators, nodes.times, positions, velocities, nodes.ends.circular)


def _solved(problem: Problem, before: Motion | None) -> Solution[Vector]:
    if not problem.nodes.dimension:
        return Solution(np.zeros(0), Outcome.CONVERGED, {"iterations": 0, "evaluations": 0})
    if not problem.body.warped:
        return straight(problem)
    start, settings, hard = straight(linearised(problem)).value, None, bool(problem.squares.hard.any())
    soft = problem.eased(1.0).squares if hard else problem.squares
    if before is not None and before.body is problem.body:
        # A small edit is near where it was, a large one is not: the better of the two is where to begin.
        was = _where(problem.nodes, before.spline)
        if soft.trial(was).value < soft.trial(start).value:
            start, settings = was, SquaresSettings(near=True)
    found = gauss_newton(soft, start, settings)
    return _exactly(problem, found) if hard else found


def _exactly(problem: Problem, found: Solution[Vector]) -> Solution[Vector]:
    """From where keys are nearly met to where those of infinite weight are met exactly or, where they cannot be, missed
    as little as can be."""
    spent, hard = found.stats["iterations"], (np.inf,) if problem.reachable(found.value) else ()
    for k, weight in enumerate((*hard, *_FIRMER, *hard)):
        near = SquaresSettings(staged=False, limit=_SOON if hard and k == 0 else _PATIENT)
        met = gauss_newton(problem.eased(weight).squares, found.value, near)
        spent += met.stats["iterations"]
        if met.outcome is Outcome.CONVERGED:
            found = met
            if np.isinf(weight):
                break
        elif near.limit == _PATIENT:  # firmer than the search can follow
            break
    return replace(found, stats={**found.stats, "iterations": spent})


def straight(problem: Problem) -> Solution[Vector]:
    """Of a problem without warp, which is linear: one system, what must be met exactly eliminated."""
    squares = problem.squares
    point = squares.at(np.zeros(problem.nodes.dimension))
    matrix = squares.hessian + gram(point.jacobian, point.weights)
    own = np.diagonal(matrix)
    # What neither a key nor the motion's cost sees, but for rounding, stays where it is.
    seen, hard = own > _UNSEEN * own.max(initial=0.0), np.abs(point.conditions).max(axis=0, initial=0.0)
    scale = np.where(seen, np.sqrt(np.where(seen, own, 1.0)), hard)
    unit = np.where(scale > 0.0, 1.0 / np.where(scale > 0.0, scale, 1.0), 0.0)
    scaled = matrix * unit * unit[:, None] + _SLIGHT * np.eye(len(unit))
    met, along = (
        _exact_part(point.conditions * unit, point.missed) if squares.hard.any() else (np.zeros(len(unit)), None)
    )
    force = -(unit * point.gradient + scaled @ met)
    if along is None:
        inside = cho_solve(cho_factor(scaled, lower=True), force)
    else:
        inside = along @ np.linalg.solve(along.T @ scaled @ along, along.T @ force)
    value = unit * (met + inside)
    return Solution(value, Outcome.CONVERGED, {"iterations": 1, "evaluations": 1, "rows": squares.rows(value)})


def _exact_part(conditions: Array, missed: Vector) -> tuple[Vector, Array]:
    """(n,) the smallest that makes what is missed (e,) zero, or as small as can be, by rows (e, n); and (n, k) all that
    does not change that."""
    left, values, right = np.linalg.svd(conditions, full_matrices=True)
    rank = int((values > _DEPENDENT * values.max(initial=0.0)).sum())
    return -right[:rank].T @ ((left[:, :rank].T @ missed) / values[:rank]), right[rank:].T


def _where(nodes: Nodes, before: WigglySpline) -> Vector:
    """(n,) the unknowns as another motion has them."""
    found = before(nodes.times[: nodes.count])
    states = np.stack([found.position, found.velocity], axis=1).reshape(2 * nodes.count, nodes.modes)
    return states[nodes.slots].reshape(-1)
