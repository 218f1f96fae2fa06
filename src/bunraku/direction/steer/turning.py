"""The turn of a whole body, held inside the step.

Of the mean deformation A(x) = Σ mᵢ Fᵢ(x), which is linear in x, three linear rows say that R′ᵀ A(x) is symmetric: then
its polar factor is R′. What is directed is another rotation, that nearest to Σ mᵢ Rᵢ [Kondo 2005, §5]; the two differ a
little, by what is strained. So the rows have goals of their own, the *offset* from symmetry, and a step is solved again
with a better offset until the rotation that is directed is the path's. The offset hardly changes from step to step and
is carried on, so that three or four solves do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from bunraku.contracts import WHY, Array, LinearRows, Outcome, Points, Solution, Sparse, State, Vector
from bunraku.dynamics import ImplicitEuler
from bunraku.geometry import tet_gradients, tet_masses
from bunraku.motion import Path

from .holding import Directed

OFFSET = "steer.turn_offset"
"""the key of State.memory for (2, 3 b) [m]: the offsets of the last step, and by how much they changed"""
MET = 1e-10
"""[rad] within which the directed rotation is the path's"""
MISSED_TURN = 1e-5
"""[rad] beyond which a turn is missed: then points are off by more of the body's size than a written file may be"""
_MOST_SOLVES = 9
_APART = 2.0  # times the size of the body at rest: so wide it has flown apart
_FAST = 10.0  # degrees a step, that may be why a step fails
_NOTHING = 1e-9  # share of the largest gradient below which a vertex has none: inside the body they cancel


@dataclass(frozen=True, eq=False)
class TurnConstraint:
    """Three rows [m] that hold the turn of a whole body: the vector of the skew part of R′ᵀ A, times size over mass."""

    directed: Directed
    """a path that turns"""
    place: int = 0
    """its number among those that turn"""
    capped: bool = field(default=False, init=False)
    _gradient: Points = field(init=False, repr=False)
    """(n, 3) Σ mᵢ ∇ψ: A = Σ x gᵀ, over the mass and times the size"""

    def __post_init__(self) -> None:
        body = self.directed.body
        gradients, _ = tet_gradients(body.rest, body.tets)
        each = np.concatenate([-gradients.sum(axis=1, keepdims=True), gradients], axis=1)  # (m, 4, 3)
        masses = tet_masses(body)
        weighted = each * masses[:, None, None] * (body.size / masses.sum())
        flat, out = body.tets.reshape(-1), np.zeros_like(body.rest)
        for axis in range(3):
            out[:, axis] = np.bincount(flat, weights=weighted[:, :, axis].reshape(-1), minlength=len(out))
        object.__setattr__(self, "_gradient", out)

    @property
    def path(self) -> Path:
        """What says how to turn."""
        return self.directed.path

    @property
    def jacobian(self) -> Sparse:
        """(3, 3n) CSR at the first sample: the pattern of all."""
        return self.jacobian_at(float(self.path.times[0]))

    def jacobian_at(self, time: float) -> Sparse:
        """(3, 3n) at a time [s]."""
        g, turn = self._gradient, self.path.rotation(time)
        size = np.linalg.norm(g, axis=1)
        chosen = np.flatnonzero(size > _NOTHING * size.max())
        rows = np.empty((3, len(chosen), 3))
        for k in range(3):
            p, q = (k + 1) % 3, (k + 2) % 3
            rows[k] = 0.5 * (g[chosen, p, None] * turn[:, q] - g[chosen, q, None] * turn[:, p])
        columns = (3 * (chosen[:, None] + self.directed.first) + np.arange(3)).reshape(-1)
        count, total = len(columns), self.directed.point_count
        return sparse.csr_array(
            (rows.reshape(-1), np.tile(columns, 3), count * np.arange(4)), shape=(3, 3 * total)
        )  # fmt: skip

    def stiffness(self, x: Points, time: float) -> Array:
        """(3, 3) [m/rad] by how much the rows change when the body is turned about the axes of R′, all bodies at x."""
        mean = self.path.rotation(time).T @ (x[self.nodes].T @ self._gradient)
        return 0.5 * (np.trace(mean) * np.eye(3) - 0.5 * (mean + mean.T))

    def turned_off(self, x: Points, time: float) -> Vector:
        """(3,) [rad] the rotation vector, about the axes of the path's rotation, that the body is off it, all bodies at
        x (n, 3)."""
        return Rotation.from_matrix(self.path.rotation(time).T @ self.directed.turn(x)).as_rotvec()

    @property
    def nodes(self) -> slice:
        """The body's among the vertices of all."""
        return slice(self.directed.first, self.directed.first + len(self._gradient))

    def rate(self, time: float, dt: float) -> float:
        """[°/s] at which the path turns in a step of dt [s]."""
        turn = self.path.rotation(time + dt) @ self.path.rotation(time).T
        return float(np.degrees(np.linalg.norm(Rotation.from_matrix(turn).as_rotvec()))) / dt

    def width(self, *states: State) -> float:
        """[m] of the body along the axes, at its widest."""
        return max(float(np.ptp(one.q.reshape(-1, 3)[self.nodes], axis=0).max()) for one in states)

    @property
    def _own(self) -> slice:
        """Its part of the offsets of all that turn."""
        return slice(3 * self.place, 3 * self.place + 3)

    def at(self, state: State, dt: float) -> LinearRows:
        """The conditions at `state.time + dt`."""
        time = state.time + dt
        goals = np.zeros(3) if OFFSET not in state.memory else np.array(state.memory[OFFSET][0, self._own])
        held = np.full(3, np.inf if self.path.holds(time) else 0.0)
        return LinearRows(self.jacobian_at(time), goals, held, goals)


class Turned:
    """A stepper that finds the offsets with which the turns of bodies are exactly their paths'.

    Newton begins with each body turned rigidly, as its path turns in the step: where inertia alone leads, straight on,
    it is half again as large after a radian. Without contact each further solve begins where the one before ended.
    """

    order = 1

    def __init__(self, stepper: ImplicitEuler, constraints: Sequence[TurnConstraint]) -> None:
        self._stepper, self._constraints = stepper, constraints
        self._nothing = np.zeros((2, 3 * len(constraints)))

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        """One step of length dt [s]; one that misses a turn is told not to have converged, unless it is the `last`
        resort."""
        if not any(one.path.holds(state.time + dt) for one in self._constraints):
            return self._stepper.step(state, dt, last=last)
        solution = self._solved(state, dt, last)
        off = self.turned_off(solution.value.q.reshape(-1, 3), state.time + dt)
        lost = solution.outcome is Outcome.CONDITIONS_CONFLICT  # rounding of a body that has flown apart, or so it is
        if not last and (lost or (solution.outcome.usable and not _most(off) <= MISSED_TURN)):
            solution = replace(solution, outcome=Outcome.NOT_CONVERGED)
        return solution if solution.outcome.usable else self._explained(solution, state, dt)

    def _solved(self, state: State, dt: float, last: bool) -> Solution[State]:
        """The step with the offsets that a few solves find; of the solve that ended nearest, for where contact presses
        the last digits no longer follow the offsets, and what is made of them may lead away again."""
        time = state.time + dt
        before, change = state.memory.get(OFFSET, self._nothing)
        offset, slope, tried, nearest = before + change, None, None, None
        spent: dict[str, float] = {"iterations": 0, "factorisations": 0}
        seconds: dict[str, float] = {}
        rigid = guess = self._carried(state, dt)
        for k in range(_MOST_SOLVES):
            solution = self._stepper.step(_with(state, offset, offset - before), dt, last=last, guess=guess)
            spent = {key: spent[key] + solution.stats[key] for key in spent}
            seconds = {key: seconds.get(key, 0.0) + more for key, more in solution.stats["seconds"].items()}
            x = solution.value.q.reshape(-1, 3)
            off = self.turned_off(x, time) if solution.outcome.usable else np.zeros(3)
            away = float(np.linalg.norm(off))
            if nearest is None or not away >= nearest[0]:
                nearest = away, offset, solution
            if away <= MET or k + 1 == _MOST_SOLVES:
                _, offset, solution = nearest
                # The offsets are where the next step begins to look.
                after = _with(solution.value, offset, offset - before)
                return replace(solution, value=after, stats={**solution.stats, **spent, "seconds": seconds})
            strayed = tried is not None and away > max(MISSED_TURN, float(np.linalg.norm(tried[1])))
            guess = rigid if strayed or solution.stats["contact"] else x
            if slope is None or tried is None:
                slope = np.asarray(block_diag(*(one.stiffness(x, time) for one in self._constraints)))
            else:  # Broyden's: what the last change of the offsets did corrects the slope
                moved, answered = offset - tried[0], off - tried[1]
                slope = slope + np.outer(moved - slope @ answered, answered) / max(float(answered @ answered), 1e-300)
            tried, offset = (offset, off), offset - slope @ off
        raise AssertionError("the last solve returns")

    def _carried(self, state: State, dt: float) -> Points | None:
        """(n, 3) bodies moved and turned as their paths do in a step, others where inertia leads; None where all are
        such."""
        now, then, x = state.time, state.time + dt, state.q.reshape(-1, 3)
        turning = [one for one in self._constraints if one.path.holds(now) and one.path.holds(then)]
        out = x + dt * state.velocity.reshape(-1, 3)
        for one in turning:
            turn = one.path.rotation(then) @ one.path.rotation(now).T
            out[one.nodes] = one.path.at(then) + (x[one.nodes] - one.path.at(now)) @ turn.T
        return out if turning else None

    def _explained(self, solution: Solution[State], state: State, dt: float) -> Solution[State]:
        """With a sentence where it is a turn that cannot be followed."""
        held = [one for one in self._constraints if one.path.holds(state.time + dt)]
        rates = [one.rate(state.time, dt) for one in held]
        wide = [one.width(state, solution.value) > _APART * one.directed.body.size for one in held]
        k = int(np.argmax(np.where(wide, np.inf, rates) if any(wide) else rates))
        if wide[k]:
            how = "so fast that it flies apart; try a slower turn or a stiffer material"
        elif rates[k] * dt > _FAST and solution.outcome is not Outcome.CONDITIONS_CONFLICT:
            how = f"by {rates[k] * dt:.0f}° in one step, which it cannot follow; try more substeps or a slower turn"
        else:
            return solution
        why = f"the path turns the body at {rates[k]:.0f}°/s, {how}"
        return replace(solution, evidence={**solution.evidence, WHY: why})

    def turned_off(self, x: Points, time: float) -> Vector:
        """(3 b,) [rad] by how much bodies at x (n, 3) are off the turns of their paths, while those hold."""
        return np.concatenate(
            [one.turned_off(x, time) if one.path.holds(time) else np.zeros(3) for one in self._constraints]
        )


def _most(off: Vector) -> float:
    """[rad] the largest of rotation vectors (3 b,)."""
    return float(np.linalg.norm(off.reshape(-1, 3), axis=1).max())


def _with(state: State, offset: Vector, change: Vector) -> State:
    return replace(state, memory={**state.memory, OFFSET: np.stack([offset, change])})
