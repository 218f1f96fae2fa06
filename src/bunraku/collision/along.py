"""Straight ways as they look to someone who moves along.

What may touch on its way is found by boxes around whole ways. A sheet that swings goes several of its edges far in a
step, and nearly all of its parts with it: most boxes that meet belong to parts that keep their distance. Whether two
parts meet is the same for an observer who moves, turns and stretches with all of them. With ways d ≈ a + G (x − c) + e,
what e is short of, the points x − c + t d − t a are (I + tG)(x − c) + te, and seen through (I + tG)⁻¹

    y(t) = x − c + t (I + tG)⁻¹ e,     |y(t) − (x − c + te)| ≤ |e| g/(1 − g),     g = ‖G‖ < 1,

while no distance grows by more than 1/(1 − g): short ways, in boxes a little larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Points

_MOST_TURN = 0.5  # of g: beyond, boxes would have to be twice as large
_FLAT = 1e-6  # share of the largest square spread below which points do not tell how they turn
_ROUNDING = 1e-12  # share of the distance from the middle


@dataclass(frozen=True, eq=False)
class Ways:
    """Straight ways, and by how much the true ones may be off."""

    begin: Points
    end: Points
    """(n, 3) [m]"""
    off: float
    """[m] at most, of the true places from those between `begin` and `end` at the same time"""
    farther: float
    """by how much distances may be larger than in truth, at least 1"""

    @property
    def extent(self) -> float:
        """[m] the mean size of what holds a way."""
        return float(np.abs(self.end - self.begin).mean()) + 2.0 * self.off if len(self.begin) else 0.0


def seen_along(x: Points, end: Points, own: int) -> Ways:
    """From x to `end` (n, 3), as an observer sees them who goes with the first `own` points, if they are shorter so."""
    plain = Ways(x, end, 0.0, 1.0)
    if own < 4:
        return plain
    way, centre = end - x, x[:own].mean(axis=0)
    arms, mean = x - centre, way[:own].mean(axis=0)
    # Sums in a fixed order: what is found in which order must not depend on a library's threads.
    spread = np.einsum("ni,nj->ij", arms[:own], arms[:own])
    turn = np.linalg.pinv(spread, _FLAT, hermitian=True) @ np.einsum("ni,nj->ij", arms[:own], way[:own] - mean)
    most = float(np.linalg.norm(turn, 2)) if np.isfinite(turn).all() else np.inf
    if not most <= _MOST_TURN:
        turn, most = np.zeros((3, 3)), 0.0
    left = way - mean - arms @ turn
    longest, farthest = (float(np.sqrt(np.max(np.sum(part * part, axis=1)))) for part in (left, arms))
    off = longest * most / (1.0 - most) + _ROUNDING * (farthest + longest)
    along = Ways(arms, arms + left, off, 1.0 / (1.0 - most))
    return along if along.extent < plain.extent else plain
