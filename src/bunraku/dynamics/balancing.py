"""One search for a stable equilibrium: where it stands, how it goes down, and what it has spent."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Outcome, Points, Vector

from .frozen import Frozen
from .secants import Secants
from .system import mean_stiffness, shifted_stencils

_ARMIJO, _HALVINGS = 1e-4, 40
_LEAST_SHARE = 0.2
"""of a step: where less of it is taken, its factor misleads"""
_NOISE = 1e-8
"""share of the energy below which what it should fall may drown in rounding"""


class Search:
    """One search: where it is, and what it has spent."""

    def __init__(self, problem: Frozen, x: Points) -> None:
        self.problem, self.x, self._begin = problem, x, x
        self.multipliers = np.zeros(len(problem.stiffness))
        self.auxiliary = sum(one.auxiliary_count for one in problem.energies)
        self.iterations = self.factorisations = self.ridges = self.reuses = 0
        self.last_step = self.step_before = np.inf
        self.stable = self.lowered = self.surely = False
        self.shift = 0.0
        self.evidence: dict[str, object] = {}
        self.secants = Secants()
        self._taken: tuple[Points, Points] | None = None
        self._factored_at = x
        self._astray, self._away = False, np.inf
        self._blocks: tuple[Points, list[Array]] | None = None

    def value(self, x: Points) -> float:
        """[J] of inertia and energies, plus λ·(J x − c), zero on the conditions."""
        return self.problem.value(x, self.multipliers)

    def gradient(self, x: Points) -> Points:
        """(n, 3) of `value` [N]"""
        return self.problem.gradient(x, self.multipliers)

    @cached_property
    def mean(self) -> float:
        """[N/m] the mean stiffness where the search began, so that it does not depend on searches before: of the
        positive part, for what is pressed together has a full Hessian whose diagonal may be anything."""
        energies, count = self.problem.energies, len(self._begin)
        stiff = [block for one in energies for block in one.blocks(self._begin, psd=True)]
        return mean_stiffness(shifted_stencils(energies, count, psd=True), stiff, 3 * count)

    def missed(self, x: Points) -> Vector:
        """(r,) J x − c"""
        return self.problem.stretch(x)

    def measure(self, step: Points) -> None:
        """Take down how long Newton's step is."""
        self.step_before, self.last_step = self.last_step, float(np.abs(step).max(initial=0.0))

    def factored(self, *, sure: bool) -> None:
        """Take down where, and whether the signs of its pivots are sure."""
        self.factorisations += 1
        self.surely, self._factored_at, self._astray = sure, self.x, False
        self.secants.forget()

    def moved(self) -> float:
        """[m] since the last factorisation."""
        return float(np.abs(self.x - self._factored_at).max(initial=0.0))

    def serves(self, shrinks: float, often: int) -> bool:
        """Whether the last factor, of an energy that is convex or was made so, is good enough for one more step:
        whether the last, where that was with an old factor too, was at most such a share of the one before, and none
        has led too far from where it was made."""
        slow = self.reuses and self.last_step > shrinks * self.step_before
        if not (self.stable or self.shift) or self.reuses == often or slow or self._astray:
            return False
        self.reuses += 1
        return True

    def returned(self, step: Points, multipliers: Vector, near: float) -> bool:
        """Take a whole step to the conditions, which no energy has judged: a factor serves on after it only if it was
        shorter than `near` [m]. Returns whether the one before came no nearer to them."""
        before, self._away = self._away, self.away()
        self._astray |= float(np.abs(step).max(initial=0.0)) > near
        self.x, self.multipliers = self.x + step, multipliers
        return self._away > 0.5 * before

    def learn(self, gradient: Points) -> None:
        """Take down the gradient (n, 3) [N] where a step has led, if the same factor serves there."""
        if self._taken is not None and self.reuses:
            step, before = self._taken
            self.secants.learn(step, gradient - before)
        self._taken = None

    def imbalance(self) -> float:
        """[N] the largest force that nothing balances; a step may be small for the mass that was added to it."""
        return float(np.abs(self.gradient(self.x)).max(initial=0.0))

    def away(self) -> float:
        """The largest distance from the conditions."""
        return float(np.abs(self.missed(self.x)).max(initial=0.0))

    def blocks(self) -> list[Array]:
        """Local blocks of the energies' full Hessian; asked for again with each share of mass that is tried."""
        if self._blocks is None or self._blocks[0] is not self.x:
            self._blocks = self.x, [block for one in self.problem.energies for block in one.blocks(self.x, psd=False)]
        return self._blocks[1]

    def conflict(self) -> Outcome:
        """Conditions that cannot be met together, and the worst of them."""
        missed = np.abs(self.missed(self.x))
        self.evidence = {"row": int(missed.argmax()), "missed": float(missed.max())}
        return Outcome.CONDITIONS_CONFLICT

    def follow(self) -> dict[str, Array]:
        """Take x for where the search has come to; returns what that changes in the state's memory."""
        return self.problem.follow(self.x)

    def descend(self, step: Points, gradient: Points, multipliers: Vector) -> bool:
        """Go along a step as far as the energy falls as it should; whether it does anywhere."""
        old, self.multipliers = self.multipliers, multipliers
        there = self.x + step
        slope = float(np.sum(step * gradient) + (multipliers - old) @ (self.missed(there) - self.missed(self.x)))
        if self._descended(step, slope, gradient):
            return True
        self.multipliers = old
        return False

    def _descended(self, step: Points, slope: float, gradient: Points) -> bool:
        """With the multipliers that come with the step: with those before it, what a step misses conditions by, for
        rounding, would count as energy."""
        begin, share = self.value(self.x), 1.0
        if slope >= 0.0 and abs(slope) > _NOISE * abs(begin):
            return False
        for _ in range(_HALVINGS):
            there = self.x + share * step
            falls = slope < 0.0 and self.value(there) <= begin + _ARMIJO * share * slope
            if falls or self._flatter(there, step, slope, begin):
                self._astray |= share < _LEAST_SHARE
                self._taken, self.x = (there - self.x, gradient), there
                return True
            share *= 0.5
        return False

    def _flatter(self, there: Points, step: Points, slope: float, begin: float) -> bool:
        """Whether what the energy should fall drowns in rounding, and its slope has become clearly smaller."""
        if abs(slope) > _NOISE * abs(begin):
            return False
        return abs(float(np.sum(step * self.gradient(there)))) <= 0.5 * abs(slope)

    def fall(self, along: Points, first: float, farthest: float) -> bool:
        """Go along a direction or against it while the energy falls, beginning with a length; whether it falls and has
        a bottom nearer than `farthest` [m]."""
        begin, length = self.value(self.x), first
        while length > 1e-9 * first:
            for way in (along, -along):
                if self.value(self.x + length * way) < begin:
                    return self._down(way, length, farthest)
            length *= 0.25
        return False

    def _down(self, way: Points, length: float, farthest: float) -> bool:
        while self.value(self.x + 2.0 * length * way) < self.value(self.x + length * way):
            length *= 2.0
            if length > farthest:
                return False
        self.x = self.x + length * way
        return True
