"""The minimisation of one step: masses, energies, conditions and contact, frozen."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Energy, Flags, LinearRows, Points, Sparse, Touching, Vector
from bunraku.numerics import inner

from .pressing import Pressed, Presses
from .system import Mass
from .yielding import Yielding

_RECENT = 3  # places of which a value is kept: a search looks at two or three


@dataclass(frozen=True, eq=False)
class Stacked:
    """The Jacobians of several conditions one below the other; most stay the same from step to step."""

    parts: Sequence[Sparse]
    matrix: Sparse
    """(r, 3n) CSR"""
    transposed: Sparse
    """(3n, r) CSC"""

    @classmethod
    def of(cls, rows: Sequence[LinearRows], before: Stacked | None = None) -> Stacked:
        """Of rows, of which there is at least one set; that of `before` if they have the same Jacobians."""
        parts = [one.jacobian for one in rows]
        if before is not None and all(a is b for a, b in zip(parts, before.parts, strict=True)):
            return before
        matrix = parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
        return cls(parts, matrix, matrix.T)


@dataclass(frozen=True, eq=False)
class Frozen:
    """The minimisation of one step."""

    mass: Mass
    energies: Sequence[Energy]
    target: Points
    """(n, 3) y"""
    rows: Sequence[LinearRows]
    dt: float
    yielding: Yielding = field(default_factory=Yielding)
    """the conditions with a cap, and which of them yield just now"""
    directed: Sequence[LinearRows] | None = None
    """what was directed, where `rows` ask for less: conditions that catch up with it"""
    touch: Touching | None = None
    presses: Presses | None = None
    """of the conditions with a cap, where there is contact"""
    stacked: Stacked | None = None
    """the Jacobians of `rows`, where an earlier step has them"""
    _stretched: list[tuple[Points, Vector]] = field(default_factory=list, repr=False, init=False)
    _valued: deque[tuple[Points, float]] = field(default_factory=lambda: deque(maxlen=_RECENT), repr=False, init=False)

    def value(self, x: Points, multipliers: Vector, ahead: float = 0.0) -> float:
        """Φ with the springs of conditions that are not hard, plus λ·(J x − c) of those that are.

        With contact, the obstacles have gone that share further `ahead`.
        """
        total = self._own_value(x)
        if self.touch is not None:
            total += self.touch.value(x, ahead)
        if not self.rows:
            return total
        stretch = self.stretch(x)
        if self._plain:
            return total + inner(multipliers, stretch)
        total += 0.5 * inner(self._springs, stretch**2) + inner(np.where(self.hard, multipliers, 0.0), stretch)
        return total + self.yielding.value(stretch)

    def _own_value(self, x: Points) -> float:
        """[J] of inertia and energies; a search asks again for the place where the one before ended."""
        for where, found in self._valued:
            if np.array_equal(where, x):
                return found
        away = x - self.target
        total = float(np.sum(away * self.mass.times(away))) / (2.0 * self.dt**2)
        total += sum(energy.value(x) for energy in self.energies)
        self._valued.appendleft((x.copy(), total))
        return total

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        """(n, 3) of Φ with the springs, plus Jᵀλ of the hard conditions."""
        out = self.mass.times(x - self.target) / self.dt**2
        for energy in self.energies:
            out += energy.gradient(x)
        if self.touch is not None:
            out += self.touch.gradient(x)
        return out + self.pull(self.forces(x, multipliers)) if self.rows else out

    def pull(self, forces: Vector) -> Points:
        """(n, 3) Jᵀλ for forces λ (r,) of the conditions."""
        return (self._stack.transposed @ forces).reshape(-1, 3) if self.rows else np.zeros_like(self.target)

    def forces(self, x: Points, multipliers: Vector) -> Vector:
        """(r,) how hard each condition pulls: λ where it is hard, k (J x − anchor) where it is a spring."""
        if self._plain:
            return multipliers
        stretch = self.stretch(x)
        return self.yielding.pull(stretch, np.where(self._infinite, multipliers, self._springs * stretch))

    def left(self, gradient: Points, step: Points) -> float:
        """[m] the mean by mass of how far x is from the minimum, by Newton's step (n, 3) from it.

        √(2 (Φ − Φ*)/m) dt, with Newton's decrement for the energy that is left: at least the mean, since nothing is
        softer than inertia, and in practice hardly more. ∞ where the step leads uphill, which tells nothing.
        """
        falls = -float(np.sum(gradient * step))
        return self.dt * float(np.sqrt(falls / self.mass.lumped.sum())) if falls >= 0.0 else np.inf

    def own_error(self, x: Points) -> float:
        """[m] the mean by mass of the error that a step to x makes by its length: half of what x − y is."""
        away = x - self.target
        return 0.5 * float(np.sqrt(max(np.sum(away * self.mass.times(away)), 0.0) / self.mass.lumped.sum()))

    def undecided(self, x: Points, step: Points, within: float) -> float:
        """[m] the most that a step (n, 3) moves a condition that yields by less than `within` [m]."""
        rows = self.yielding.nearly_met(self.stretch(x), within)
        return float(np.abs(self.jacobian[rows] @ step.reshape(-1)).max()) if len(rows) else 0.0

    def follow(self, x: Points) -> dict[str, Array]:
        """Take x for where the solve has come to; returns what that changes in the state's memory."""
        self._valued.clear()
        return {key: value for energy in self.energies for key, value in energy.follow(x).items()}

    def revise(self, x: Points, multipliers: Vector, step: Points | None = None) -> bool:
        """Let conditions yield that would pull harder than their caps, and hold those again that need not.

        `multipliers` are those of a `step` (n, 3): so is what contact has to do with them.
        """
        return self.yielding.revise(self.stretch(x), multipliers, self.pressed(x, step))

    def pressed(self, x: Points, step: Points | None = None) -> Pressed | None:
        """What contact does to the conditions with a cap, if there are any; to first order after a step (n, 3)."""
        if self.touch is None or self.presses is None:
            return None
        slowing = self.touch.slowing(step) if step is not None and self.touch.slows else None
        return self.presses.felt(self.touch.pressure(x, step), self.touch.touched(x), slowing)

    @cached_property
    def jacobian(self) -> Sparse:
        """(r, 3n) of all conditions."""
        return self._stack.matrix

    @cached_property
    def _stack(self) -> Stacked:
        return Stacked.of(self.rows) if self.stacked is None else self.stacked

    def blocks(self, x: Points) -> list[Array]:
        """Local blocks of the positive semi-definite Hessian."""
        out = [self.mass.blocks(1.0 / self.dt**2)]
        for energy in self.energies:
            out.extend(energy.blocks(x, psd=True))
        return out

    @cached_property
    def stiffness(self) -> Vector:
        """(r,) of all conditions; infinite also for springs with a cap, whose compliance `yielding` tells."""
        found = np.concatenate([np.zeros(0), *(rows.stiffness for rows in self.rows)])
        return np.where(self.yielding.springs(len(found)), np.inf, found)

    @cached_property
    def _infinite(self) -> Flags:
        return np.isinf(self.stiffness)

    @cached_property
    def _springs(self) -> Vector:
        """(r,) [N/m] of springs without a cap, 0 for others."""
        return np.where(self._infinite, 0.0, self.stiffness)

    @cached_property
    def _plain(self) -> bool:
        """Whether all conditions are hard and none can yield."""
        return not len(self.yielding.triples) and bool(self._infinite.all())

    @property
    def hard(self) -> Flags:
        """(r,) conditions to be met exactly."""
        if not len(self.yielding.triples):
            return self._infinite
        return self._infinite & ~self.yielding.rows_that_yield(len(self.stiffness))

    def stretch(self, x: Points) -> Vector:
        """(r,) of all conditions: how far each still has to go."""
        for where, found in self._stretched:  # the last place, which is asked about several times in turn
            if np.array_equal(where, x):
                return found
        found = self.jacobian @ x.reshape(-1) - self._ends if self.rows else np.zeros(0)
        self._stretched[:] = [(x.copy(), found)]
        return found

    @cached_property
    def _ends(self) -> Vector:
        """(r,) where conditions lead: goals of hard ones, anchors of springs."""
        return np.concatenate([np.where(np.isinf(one.stiffness), one.goals, one.anchors) for one in self.rows])

    def distance(self, x: Points) -> float:
        """[m] the largest distance of a hard condition."""
        return float(np.abs(self.stretch(x)[self.hard]).max(initial=0.0))

    def missing(self, x: Points) -> Vector:
        """(r,) of the hard conditions, 0 for others: how far each still has to go in this step."""
        return self.stretch(x) if self._plain else np.where(self.hard, self.stretch(x), 0.0)

    @property
    def behind(self) -> Flags:
        """(t,) capped conditions that were asked for less than what was directed: they catch up with it."""
        asked = [(one, whole) for one, whole in zip(self.rows, self.directed or self.rows, strict=True)]
        apart = [(one.goals != whole.goals).reshape(-1, 3).any(axis=1) for one, whole in asked if one.caps is not None]
        return np.concatenate([np.zeros(0, dtype=bool), *apart])

    def residual(self, x: Points) -> Vector:
        """(r,) of all conditions: how far each misses what was directed."""
        if self.directed is None and self._plain:
            return self.stretch(x)
        rows = self.rows if self.directed is None else self.directed
        return np.concatenate([np.zeros(0), *(one.residual(x) for one in rows)])


@dataclass(frozen=True, eq=False)
class Watched:
    """A problem for Newton that counts what it takes to look at the energies."""

    problem: Frozen
    seconds: dict[str, float]

    def value(self, x: Points, multipliers: Vector, ahead: float = 0.0) -> float:
        begin = time.perf_counter()
        found = self.problem.value(x, multipliers, ahead)
        self.seconds["energy"] += time.perf_counter() - begin
        return found

    def gradient(self, x: Points, multipliers: Vector) -> Points:
        begin = time.perf_counter()
        found = self.problem.gradient(x, multipliers)
        self.seconds["gradient"] += time.perf_counter() - begin
        return found

    def left(self, gradient: Points, step: Points) -> float:
        return self.problem.left(gradient, step)

    def own_error(self, x: Points) -> float:
        return self.problem.own_error(x)

    def undecided(self, x: Points, step: Points, within: float) -> float:
        return self.problem.undecided(x, step, within)

    def distance(self, x: Points) -> float:
        return self.problem.distance(x)

    def missing(self, x: Points) -> Vector:
        return self.problem.missing(x)

    def follow(self, x: Points) -> object:
        return self.problem.follow(x)

    def revise(self, x: Points, multipliers: Vector, step: Points | None = None) -> bool:
        return self.problem.revise(x, multipliers, step)
