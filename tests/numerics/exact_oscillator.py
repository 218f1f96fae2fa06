"""One oscillator to as many digits as asked for, by nothing but sums and products: no formula of the library's.

e^{At} and the Gramian of a very short time come from their power series; twice the time is
e^{A2t} = (e^{At})², G(2t) = G(t) + e^{At} G(t) e^{Aᵀt}, and the response to a constant push likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import ArrayLike

from bunraku.numerics import Oscillators

Pair = tuple[Decimal, Decimal]
Square = tuple[tuple[Decimal, Decimal], tuple[Decimal, Decimal]]
ONE, NIL = Decimal(1), Decimal(0)


def some(stiffness: ArrayLike, damping: ArrayLike, load: ArrayLike) -> Oscillators:
    """The library's oscillators, of lists."""
    return Oscillators(*(np.array(part, dtype=np.float64) for part in (stiffness, damping, load)))


def times(a: Square, b: Square) -> Square:
    """a b."""
    rows = [[sum((a[i][k] * b[k][j] for k in range(2)), NIL) for j in range(2)] for i in range(2)]
    return (rows[0][0], rows[0][1]), (rows[1][0], rows[1][1])


def plus(a: Square, b: Square, share: Decimal = ONE) -> Square:
    """a + share b."""
    return (
        (a[0][0] + share * b[0][0], a[0][1] + share * b[0][1]),
        (a[1][0] + share * b[1][0], a[1][1] + share * b[1][1]),
    )


def flipped(a: Square) -> Square:
    """aᵀ."""
    return (a[0][0], a[1][0]), (a[0][1], a[1][1])


def applied(a: Square, x: Pair) -> Pair:
    """a x."""
    return a[0][0] * x[0] + a[0][1] * x[1], a[1][0] * x[0] + a[1][1] * x[1]


@dataclass(frozen=True)
class Reached:
    """What an oscillator can do in a time t."""

    free: Square
    """e^{At}"""
    gramian: Square
    pushed: Pair
    """∫ e^{As} b ds"""


def reached(damping: float, stiffness: float, t: Decimal) -> Reached:
    """To about the precision of the decimal context."""
    d, k = Decimal(damping), Decimal(stiffness)
    halvings, short = 0, t
    while max(abs(2 * d * short), abs(k) * short * short) > Decimal("1e-6"):
        halvings, short = halvings + 1, short / 2
    found = _series(((NIL, ONE), (-k, -2 * d)), short)
    for _ in range(halvings):
        free, further = found.free, applied(found.free, found.pushed)
        found = Reached(
            times(free, free),
            plus(found.gramian, times(times(free, found.gramian), flipped(free))),
            (found.pushed[0] + further[0], found.pushed[1] + further[1]),
        )
    return found


def _series(a: Square, t: Decimal) -> Reached:
    """G = Σ Sₙ tⁿ⁺¹/(n+1)!, S₀ = b bᵀ, Sₙ₊₁ = A Sₙ + Sₙ Aᵀ, and likewise for the others."""
    free: Square = ((ONE, NIL), (NIL, ONE))
    gramian: Square = ((NIL, NIL), (NIL, NIL))
    power, term, push, pushed = free, ((NIL, NIL), (NIL, ONE)), (NIL, ONE), (NIL, NIL)
    share = ONE
    for n in range(1, 60):
        share = share * t / n
        gramian = plus(gramian, term, share)
        pushed = (pushed[0] + share * push[0], pushed[1] + share * push[1])
        power, push = times(power, a), applied(a, push)
        free = plus(free, power, share)
        term = plus(times(a, term), times(term, flipped(a)))
    return Reached(free, gramian, pushed)


@dataclass(frozen=True)
class ExactSegment:
    """The least force between two ends of one oscillator, straight from the definition."""

    damping: float
    stiffness: float
    load: float
    length: float
    digits: int = 120

    def energy(self, ends: np.ndarray) -> float:
        """½ dᵀ G⁻¹ d."""
        with localcontext() as context:
            context.prec = self.digits
            missed, pull = self._pull(ends)
            return float((missed[0] * pull[0] + missed[1] * pull[1]) / 2)

    def hessian(self) -> np.ndarray:
        """(4, 4) second derivative of the energy."""
        with localcontext() as context:
            context.prec = self.digits
            done = reached(self.damping, self.stiffness, Decimal(self.length))
            (a, b), (c, d) = done.free
            columns = [(-a, -c), (-b, -d), (ONE, NIL), (NIL, ONE)]
            pulled = [applied(inverse(done.gramian), column) for column in columns]
            return np.array([[float(x[0] * y[0] + x[1] * y[1]) for y in pulled] for x in columns])

    def at(self, s: float, ends: np.ndarray) -> tuple[float, float, float]:
        """Position, velocity and force a time s after the beginning."""
        with localcontext() as context:
            context.prec = self.digits
            _, pull = self._pull(ends)
            done = reached(self.damping, self.stiffness, Decimal(s))
            rest = reached(self.damping, self.stiffness, Decimal(self.length) - Decimal(s))
            later = applied(flipped(rest.free), pull)
            moved = applied(done.free, (Decimal(ends[0]), Decimal(ends[1])))
            driven = applied(done.gramian, later)
            q, v = (moved[i] + driven[i] - Decimal(self.load) * done.pushed[i] for i in range(2))
            return float(q), float(v), float(later[1])

    def _pull(self, ends: np.ndarray) -> tuple[Pair, Pair]:
        done = reached(self.damping, self.stiffness, Decimal(self.length))
        moved = applied(done.free, (Decimal(float(ends[0])), Decimal(float(ends[1]))))
        g = Decimal(self.load)
        missed = (
            Decimal(float(ends[2])) - moved[0] + g * done.pushed[0],
            Decimal(float(ends[3])) - moved[1] + g * done.pushed[1],
        )
        return missed, applied(inverse(done.gramian), missed)


def inverse(a: Square) -> Square:
    """a⁻¹."""
    det = a[0][0] * a[1][1] - a[0][1] * a[1][0]
    return (a[1][1] / det, -a[0][1] / det), (-a[1][0] / det, a[0][0] / det)
