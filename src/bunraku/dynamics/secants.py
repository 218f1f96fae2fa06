"""What the steps of a search have told of the Hessian since its last factorisation [Nocedal 1980].

With the factor of an earlier Hessian, steps of Newton's method mislead by what has changed since. How much that is
along the steps taken, gradients say: L-BFGS corrects a step before and after the solve, which costs a few sums.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bunraku.contracts import Points, Vector

_MOST = 8
"""pairs that are kept"""
_LEAST_BEND = 1e-10
"""curvature along a step, over what its length and the gradients' allow: less tells nothing, or of a ridge"""


class Secants:
    """Steps and what the gradient changed along them, oldest first. All on conditions that are met."""

    def __init__(self) -> None:
        self._pairs: list[tuple[Points, Points, float]] = []

    def forget(self) -> None:
        """After a new factor, which knows it all."""
        self._pairs.clear()

    def learn(self, step: Points, change: Points) -> None:
        """A step (n, 3) [m] that was taken, and by how much the gradient (n, 3) [N] changed."""
        bend = float(np.sum(step * change))
        if bend > _LEAST_BEND * float(np.sqrt(np.sum(step**2) * np.sum(change**2))):
            self._pairs = [*self._pairs[1 - _MOST :], (step, change, 1.0 / bend)]

    def corrected(self, gradient: Points, newton: Callable[[Points], tuple[Points, Vector]]) -> tuple[Points, Vector]:
        """The step (n, 3) and multipliers for a gradient (n, 3), where `newton` gives those of the last factor."""
        shares = []
        for step, change, weight in reversed(self._pairs):
            share = weight * float(np.sum(step * gradient))
            gradient = gradient - share * change
            shares.append(share)
        found, multipliers = newton(gradient)
        for (step, change, weight), share in zip(self._pairs, reversed(shares), strict=True):
            found = found - (share + weight * float(np.sum(change * found))) * step
        return found, multipliers
