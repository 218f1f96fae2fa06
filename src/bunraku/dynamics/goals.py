"""Goals among surfaces that touch: what conditions took while free, and how fast they may catch up.

A condition that contact has kept from its goal would, once free, snap to it within one step. Instead its goal comes
nearer at a limited pace: half as fast again as the goal itself moves, or as fast as what is missing dies out in a fifth
of a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import Array, LinearRows, Points, Vector

FREE_FORCE = "contact.free_force"
"""the key of State.memory for (t,) [N] what each capped condition took when it last did not yield to contact"""
CATCH_UP = 1e-3
"""share of the body's size by which a condition may catch up in a step whatever its goal does"""
_PACE = 1.5
_DIES_OUT = 0.2  # [s] in which a distance falls to a third where the goal stands still


@dataclass(frozen=True, eq=False)
class Goals:
    """The conditions at the end of a step, at its beginning, and a step before that."""

    rows: Sequence[LinearRows]
    begun: Sequence[LinearRows]
    before: Sequence[LinearRows]

    def free_force(self, memory: Mapping[str, Array], mass: Vector, dt: float) -> Vector:
        """(t,) [N] what capped conditions may need without contact: what they took last, and to follow a jerk."""
        jerks = []
        for now, begun, before in zip(self.rows, self.begun, self.before, strict=True):
            if now.caps is None:
                continue
            change = (now.goals - 2.0 * begun.goals + before.goals).reshape(-1, 3) / dt**2
            weights = now.jacobian[::3][:, ::3]
            felt = 1.0 / np.asarray(weights.multiply(weights) @ (1.0 / mass)).reshape(-1)
            jerks.append(2.0 * felt * np.linalg.norm(change, axis=1))
        jerk = np.concatenate([np.zeros(0), *jerks])
        return memory.get(FREE_FORCE, np.zeros(len(jerk))) + jerk

    def catching_up(self, x: Points, least: float, dt: float) -> list[LinearRows]:
        """The conditions, with nearer goals where they were missed when the step of dt [s] began; every goal may come
        nearer by `least` [m]. What was met then is asked for whole: its goal is no farther than it has moved."""
        out, dying = [], -float(np.expm1(-dt / _DIES_OUT))
        for now, begun in zip(self.rows, self.begun, strict=True):
            if now.caps is None or now.press is None:
                out.append(now)
                continue
            there = (now.jacobian @ x.reshape(-1)).reshape(-1, 3)
            way = now.goals.reshape(-1, 3) - there
            moved = np.linalg.norm((now.goals - begun.goals).reshape(-1, 3), axis=1)
            size = np.linalg.norm(way, axis=1)
            most = np.maximum(np.maximum(_PACE * moved, dying * size), least)
            share = np.where(size > most, most / np.maximum(size, 1e-300), 1.0)
            goals = np.where(share[:, None] < 1.0, there + share[:, None] * way, now.goals.reshape(-1, 3)).reshape(-1)
            hard = np.isinf(now.stiffness)
            out.append(replace(now, goals=np.where(hard, goals, now.goals)))
        return out
