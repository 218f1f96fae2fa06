"""What a planned motion met, and what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.contracts import Array, Integers, Outcome, Solution, Vector
from bunraku.numerics import SquaresProblem, SquaresSettings, WigglySpline, gauss_newton

from .problem import Problem, Row
from .reduced import Reduced
from .spent import Spent

MET = 1e-3
"""share of the body's size within which a key counts as met; one of infinite weight 1e-6"""
_EXACT = 1e-6
_UNFINISHED = "the search for it was given up before it had converged; other weights, or more time, may help"
_WHY = {Outcome.NOT_FINITE: "numbers grew beyond all bounds; a key may ask for far too much"}
_MOSTLY = 0.5  # share of what is missed that is left whatever the weights, if other keys are to blame
_SLIGHT = 1e-9  # stiffness beside a row's own with which unknowns stay where they are


@dataclass(frozen=True)
class KeyMet:
    """How near a motion comes to one key's positions or velocities, by the root of the mean square by mass."""

    key: int
    """number of the key"""
    time: float
    """[s]"""
    velocity: bool
    """whether this is about its velocities"""
    missed: float
    """[m or m/s]"""
    unreachable: float
    """[m or m/s] what no motion of these modes can do better; of a key that is met, as derivatives tell it. It is what
    velocities cannot be at the pose, where that is keyed too"""
    met: bool
    """whether no more is missed than is allowed"""
    limit: float = 0.0
    """[m or m/s] what is allowed"""
    exact: bool = False
    """whether it is of infinite weight"""
    remedy: str = ""
    """what lets the modes do more"""
    opposed: bool = False
    """whether other keys at that time stand against it, whatever the weights"""

    @property
    def near(self) -> bool:
        """Whether it is as near as the modes can come, but for what is allowed."""
        return self.missed <= self.limit + self.unreachable

    def __str__(self) -> str:
        """In one sentence."""
        what, unit = ("velocity", "m/s") if self.velocity else ("place", "m")
        text = f"the {what} of the key at {self.time:g} s is missed by {self.missed:.3g} {unit}"
        if self.unreachable > 0.1 * self.missed:
            return f"{text}, of which the modes cannot do {self.unreachable:.3g} {unit}: {self.remedy}"
        if self.opposed:
            return f"{text}: another key at that time stands against it; leave one of them out"
        if self.exact:
            return f"{text}: what else is asked for, or how the motion begins or ends, stands against it"
        return f"{text}: try a larger weight"


def report_of(
    problem: Problem, solution: Solution[Vector], spline: WigglySpline, spent: Mapping[str, Spent]
) -> dict[str, Any]:
    """Keys one by one, sentences about those that are missed, and what the solver did."""
    keys = _keys(problem, solution)
    sentences = [str(one) for one in keys if not one.met]
    if solution.outcome not in (Outcome.CONVERGED, Outcome.CONDITIONS_CONFLICT):
        sentences.append(f"the plan is not the best there is: {_WHY.get(solution.outcome, _UNFINISHED)}")
    return {
        "keys": keys, "met": all(one.met for one in keys), "sentences": sentences, "outcome": solution.outcome,
        "energy": spline.energy, "iterations": int(solution.stats["iterations"]),
        "evaluations": int(solution.stats.get("evaluations", 0)), "modes": problem.nodes.modes,
        "dimension": problem.nodes.dimension, "nodes": problem.nodes.times.tolist(),
        "seconds": {name: one.seconds for name, one in spent.items()},
        "processor": {name: one.processor for name, one in spent.items()},
    }  # fmt: skip


def _keys(problem: Problem, solution: Solution[Vector]) -> list[KeyMet]:
    out, z = [], solution.value
    if not problem.rows:
        return []
    ends = np.cumsum([row.count for row in problem.rows])
    known = solution.stats["rows"] if "rows" in solution.stats else problem.residuals(z)
    split = [np.split(part[: ends[-1]], ends[:-1]) for part in known]  # rows of the ground, behind them, are no keys
    parts = list(zip(problem.rows, *split, strict=True))
    for row, residual, jacobian in parts:
        scale = _scale(problem, row)
        unseen = row.unit * row.goal.unseen
        missed = float(np.hypot(np.linalg.norm(residual), unseen)) / scale
        limit = (_EXACT if np.isinf(row.weight) else MET) * problem.body.mesh.size
        limit *= 1.0 if not row.velocity else max(_speed(problem, row), 1e-300)
        own = _own(problem, row, jacobian)
        least = min(missed, float(np.hypot(_left(residual, jacobian[:, own]), unseen)) / scale)
        if missed > limit + least:  # derivatives promise too much: what is told to be wrong is looked at closely
            found = _least(problem, row, z, own, jacobian[:, own])
            least = min(missed, float(np.hypot(found, unseen)) / scale)
        exact = bool(np.isinf(row.weight))
        time, remedy, met = problem.keys[row.key].time, _remedy(problem.body), missed <= limit
        opposed = not met and _together(problem, row, parts) / scale > max(limit, _MOSTLY * missed)
        out.append(KeyMet(row.key, time, row.velocity, missed, least, met, limit, exact, remedy, opposed))
    return out


def _together(problem: Problem, row: Row, parts: Sequence[tuple[Row, Vector, Array]]) -> float:
    """What is left of a row's residual where all rows of places, or of velocities, at its time are made as small as can
    be, as derivatives tell it; 0 where there is none but its own."""
    count = problem.nodes.count  # of a circle the last node is the first
    beside = [one for one in parts if (one[0].node - row.node) % count == 0 and one[0].velocity == row.velocity]
    if len(beside) < 2:
        return 0.0
    residual, jacobian = (np.concatenate([one[k] for one in beside]) for k in (1, 2))  # type: ignore[misc]
    left = _remainder(residual, jacobian[:, _own(problem, row, jacobian)])
    begin = sum(one[0].count for one in beside[: [one[0] for one in beside].index(row)])
    return float(np.linalg.norm(left[begin : begin + row.count]))


def _remedy(body: Reduced) -> str:
    """What lets a body do more than its modes can."""
    if body.whole:
        return "these are all there are, so ask for less, or for smaller tetrahedra"
    return "try more modes" if body.attached else "try more modes, or attach=True"


def _own(problem: Problem, row: Row, jacobian: Array) -> Integers:
    """Numbers of the unknowns of a row: of velocities at a pose that is keyed too, those of velocities alone."""
    seen = np.abs(jacobian).max(axis=0) > 0.0
    at = problem.nodes.place(row.node, False)
    posed = any(other.node == row.node and not other.velocity for other in problem.rows)
    if row.velocity and posed and at is not None:
        seen[at : at + problem.nodes.modes] = False
    return np.flatnonzero(seen)


def _left(residual: Vector, own: Array) -> float:
    """What is left of a row's residual however its own unknowns are chosen, as derivatives (r, k) tell it."""
    return float(np.linalg.norm(_remainder(residual, own)))


def _remainder(residual: Vector, own: Array) -> Vector:
    """(r,) that remainder."""
    if not own.size:
        return residual
    square = own.T @ own
    square[np.diag_indices_from(square)] += _SLIGHT * np.trace(square) / len(square)
    return residual - own @ np.linalg.solve(square, own.T @ residual)


def _speed(problem: Problem, row: Row) -> float:
    """[1/s] what makes a velocity of a length: that of the key over the body's size, at least a size in a second."""
    wanted = problem.keys[row.key].velocities
    assert wanted is not None
    return max(float(np.linalg.norm(wanted, axis=1).max()) / problem.body.mesh.size, 1.0)


def _scale(problem: Problem, row: Row) -> float:
    """√kg that turns the norm of rows into a root of the mean square."""
    vertices = problem.keys[row.key].vertices
    return row.unit if vertices is None else float(np.sqrt(problem.body.mass[vertices].sum()))


def _least(problem: Problem, row: Row, z: Vector, own: Integers, jacobian: Array) -> float:
    """What is left of a row's residual however its own unknowns are chosen, near where they are."""

    def rows(part: Vector) -> tuple[Vector, Any]:
        whole = z.copy()
        whole[own] = part
        value, slope = problem.of(row, whole)
        return value, slope[:, own]

    if not len(own):
        return float(np.linalg.norm(problem.of(row, z)[0]))
    size = _SLIGHT * float(np.sum(jacobian * jacobian)) / len(own)
    near = SquaresProblem(size * np.eye(len(own)), -size * z[own], np.ones(row.count), rows)
    found = gauss_newton(near, z[own], SquaresSettings(tolerance=1e-3, limit=30, staged=False))
    return float(np.linalg.norm(rows(found.value)[0]))


def missed_keys(keys: Sequence[KeyMet]) -> list[int]:
    """Numbers of the keys that are missed, each once."""
    return sorted({one.key for one in keys if not one.met})
