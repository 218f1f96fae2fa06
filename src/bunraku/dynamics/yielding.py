"""Conditions that yield beyond a cap.

Three rows r = J x − c (x, y, z of one average) with a cap F are hard while that takes a force |λ| ≤ F. Where it would
take more they yield, and pull with F towards their goal: the energy F |r|, smoothed to F (η − δ) with η = √(|r|² + δ²)
and δ a millionth of a size nobody sees. Its force F r/η meets λ = F at the border, so a condition lets go and
takes hold again without a jolt. Three rows that are springs k with a cap pull with no more than it either: that is the
same energy with δ = F/k, which is ½ k |r|² where that takes little force and F |r| where it would take much.

The Hessian of F η is flat along r and very stiff across it. Newton's matrix takes the primal–dual form instead,
compliance D = (η/F) T⁻¹ with T = I − sym(λ rᵀ)/(F η) and |λ| ≤ F: positive semi-definite, the exact Hessian at the
solution (where λ = F r/η), and good far from it.

Among surfaces that touch, conditions may ask for what cannot be. There the cap is what the condition took before
anything touched it, plus how hard it may `press`; it applies only where contact causes a good part of the force. What
only overcomes that pairs are slowed is no force: where it counted, conditions would come to press a billion times
harder than they may, and crush what is between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bunraku.contracts import Array, Flags, Integers, LinearRows, Vector

from .pressing import Pressed

SHARPNESS = 1e-8
"""δ as a share of the body's size"""
_INSIDE = 0.999  # share of the cap a multiplier may have in the compliance: T stays invertible
_TAKE_HOLD = 0.8  # share of the cap below which a condition that is met again is held again
_CAUSED = 0.5  # share of a multiplier that contact must cause before a condition yields to it
_RAISED = 1.1  # a cap that contact does not cause to be exceeded is raised to this times the force
_MOST_REVISIONS = 12  # of the set of yielding conditions in one step: beyond, none is held again


class Yielding:
    """The capped conditions of one step, and which of them yield."""

    def __init__(
        self, triples: Integers | None = None, caps: Vector | None = None, stiffness: Vector | None = None,
        sharpness: float = 1e-8, press: Vector | None = None, free: Vector | None = None,
    ) -> None:  # fmt: skip
        """`triples` (t, 3) rows with finite or infinite `caps` (t,) [N] and `stiffness` (t,) [N/m]; δ of hard ones is
        the `sharpness` [m]. `press` (t,) [N] is how hard each may press, beyond what it takes `free` of contact."""
        self.triples = np.zeros((0, 3), np.int64) if triples is None else triples
        self._caps = np.zeros(0) if caps is None else caps
        stiffness = np.full(len(self.triples), np.inf) if stiffness is None else stiffness
        self._sharpness = sharpness
        self._springs = np.isfinite(stiffness) & np.isfinite(self._caps) & (stiffness > 0.0)
        weakness = np.divide(self._caps, stiffness, out=np.zeros(len(self._caps)), where=self._springs)
        self._delta = np.maximum(weakness, sharpness)
        self._active = self._springs.copy()
        self._revisions = 0
        self._own_caps = self._caps
        # A condition that is a spring gives way by itself.
        self._press = (
            np.full(len(self.triples), np.inf) if press is None else np.where(np.isinf(stiffness), press, np.inf)
        )
        self._gives_way = np.zeros(len(self.triples), dtype=bool)
        self._contact_caps = self._press + (0.0 if free is None else free)

    @staticmethod
    def of(
        rows: Sequence[LinearRows], missed: Callable[[], Vector], sharpness: float, free: Vector | None = None
    ) -> Yielding:
        """Of conditions; `missed` () → (r,) tells how far each was missed when the step began, `free` (t,) [N] what
        capped ones took while nothing touched them."""
        triples = capped_rows([(len(one.goals), one.caps is not None) for one in rows])
        if not len(triples):
            return Yielding()
        caps = np.concatenate([one.caps for one in rows if one.caps is not None])
        stiffness = np.concatenate([one.stiffness for one in rows])[triples[:, 0]]  # one strength a region
        caps = np.where(stiffness > 0.0, caps, np.inf)  # what does not pull needs no cap
        press = [np.full(len(one.caps), np.inf) if one.press is None else one.press
                 for one in rows if one.caps is not None]  # fmt: skip
        found = Yielding(triples, caps, stiffness, sharpness, np.concatenate(press), free)
        away = np.linalg.norm(missed()[triples], axis=1)
        found._active |= (caps < np.inf) & (away > 10.0 * sharpness)  # it yielded in the last step already
        return found

    @property
    def gives_way(self) -> Flags:
        """(t,) conditions that yield to contact."""
        return self._gives_way

    def begin(self, missed: Flags, pressed: Pressed) -> None:
        """Conditions (t,) that were missed when the step began still yield where something is in their way."""
        self._give_way(missed & pressed.touched)

    def _give_way(self, which: Flags) -> None:
        self._gives_way = which & np.isfinite(self._contact_caps)
        self._caps = np.where(self._gives_way, np.minimum(self._own_caps, self._contact_caps), self._own_caps)
        self._active |= self._gives_way

    def springs(self, count: int) -> Flags:
        """(r,) rows that are springs with a cap: what they pull with is told here."""
        out = np.zeros(count, dtype=bool)
        out[self.triples[self._springs]] = True
        return out

    def rows_that_yield(self, count: int) -> Flags:
        """(r,) springs with a cap included, which never are hard."""
        out = np.zeros(count, dtype=bool)
        out[self.triples[self._active]] = True
        return out

    def nearly_met(self, stretch: Vector, within: float) -> Integers:
        """(m,) rows of conditions that yield by less than that [m]: they may be about to hold again."""
        rows = self.triples[self._active & ~self._springs]
        return rows[np.linalg.norm(stretch[rows], axis=1) < within].reshape(-1)

    def value(self, stretch: Vector) -> float:
        """Σ F (η − δ) of the conditions that yield [J]."""
        r = stretch[self.triples[self._active]]
        return float(self._caps[self._active] @ (self._eta(r) - self._delta[self._active]))

    def pull(self, stretch: Vector, forces: Vector) -> Vector:
        """(r,) the forces, with F r/η where conditions yield."""
        if self._active.any():
            rows = self.triples[self._active]
            r = stretch[rows]
            forces[rows] = self._caps[self._active, None] * r / self._eta(r)[:, None]
        return forces

    def compliance(self, stretch: Vector, multipliers: Vector) -> Array:
        """(t, 3, 3) D of the conditions that yield, zero for the others."""
        out = np.zeros((len(self.triples), 3, 3))
        rows, caps = self.triples[self._active], self._caps[self._active]
        if not len(rows):
            return out
        r, force = stretch[rows], multipliers[rows]
        eta = self._eta(r)
        size = np.linalg.norm(force, axis=1)
        force = force * np.minimum(1.0, _INSIDE * caps / np.maximum(size, 1e-300))[:, None]
        mixed = 0.5 * (force[:, :, None] * r[:, None, :] + r[:, :, None] * force[:, None, :])
        tangent = np.eye(3) * (2.0 - _INSIDE) - mixed / np.maximum(caps * eta, 1e-300)[:, None, None]
        out[self._active] = (eta / np.maximum(caps, 1e-300))[:, None, None] * np.linalg.inv(tangent)
        return out

    def revise(self, stretch: Vector, multipliers: Vector, pressed: Pressed | None = None) -> bool:
        """Let those yield whose multipliers exceed their caps, and hold those that are met with less; whether any
        changed."""
        if not len(self.triples):
            return False
        taken = multipliers[self.triples]
        if pressed is not None and pressed.slowed is not None:
            taken = taken - pressed.slowed
        size = np.linalg.norm(taken, axis=1)
        away = np.linalg.norm(stretch[self.triples], axis=1)
        over = ~self._active & (size > self._caps)
        pushed, free = self._pushed(size, pressed)
        near = (away < 10.0 * self._sharpness) & (size < _TAKE_HOLD * self._caps)
        again = (self._active & ~self._springs & near) | free
        if self._revisions >= _MOST_REVISIONS:
            again[:] = False
        if not (over.any() or again.any() or pushed.any()):
            return False
        self._revisions += 1
        self._active = (self._active | over) & ~again
        self._give_way((self._gives_way & ~again) | pushed)
        return True

    def _pushed(self, size: Vector, pressed: Pressed | None) -> tuple[Flags, Flags]:
        """(t,) which of the conditions with multipliers of that size begin to yield to contact, and which are free."""
        if pressed is None:
            return np.zeros(len(size), dtype=bool), np.zeros(len(size), dtype=bool)
        over = ~self._active & pressed.touched & (size > self._contact_caps)
        enough = np.maximum(self._press, _CAUSED * size)
        caused = np.linalg.norm(pressed.own, axis=1) > enough
        # Beside one that yields, the others must not be left to pull against contact in its stead.
        caused |= pressed.beside(self._gives_way | (over & caused)) & (pressed.share > enough)
        self._contact_caps = np.where(over & ~caused, _RAISED * size, self._contact_caps)
        return over & caused, self._gives_way & ~pressed.touched

    def _eta(self, r: Array) -> Vector:
        """(a,) of the conditions that yield."""
        return np.sqrt(np.sum(r * r, axis=1) + self._delta[self._active] ** 2)


def capped_rows(conditions: Sequence[tuple[int, bool]]) -> Integers:
    """(t, 3) the rows that come in threes with a cap, of sets of conditions given by (rows, capped?)."""
    starts = np.cumsum([0, *(count for count, _ in conditions)])
    found = [
        np.arange(start, start + count).reshape(-1, 3)
        for start, (count, capped) in zip(starts, conditions, strict=False)
        if capped
    ]
    return np.concatenate([np.zeros((0, 3), np.int64), *found])
