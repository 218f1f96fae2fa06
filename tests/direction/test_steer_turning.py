"""Of several solves of a step, the one that ended nearest to the turn is taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from steered import BAR, JELLY

from bunraku.contracts import Outcome, Solution, State, Vector
from bunraku.direction.steer.holding import Directed
from bunraku.direction.steer.turning import OFFSET, TurnConstraint, Turned
from bunraku.geometry import tet_lumped_mass
from bunraku.motion import Path

STILL = Path(np.array([0.0, 1.0]), np.zeros((2, 3)), None, np.tile(np.eye(3), (2, 1, 1)))


@dataclass
class Uneven:
    """Bodies turned by angles [rad] that do not follow the offsets, as where contact presses."""

    angles: list[float]
    offsets: list[Vector] = field(default_factory=list)

    def step(self, state: State, dt: float, **_: Any) -> Solution[State]:
        turn = Rotation.from_rotvec([0.0, 0.0, self.angles[min(len(self.offsets), len(self.angles) - 1)]])
        self.offsets.append(state.memory[OFFSET][0])
        there = State(state.time + dt, (BAR.rest @ turn.as_matrix().T).reshape(-1), state.velocity, state.memory)
        stats = {"iterations": 1, "factorisations": 1, "seconds": {}, "contact": True}
        return Solution(there, Outcome.CONVERGED, stats)


def test_the_nearest_of_all_solves_is_taken() -> None:
    everything = np.arange(BAR.point_count)
    directed = Directed(STILL, everything, tet_lumped_mass(BAR, JELLY.density), BAR, 0, BAR.point_count)
    turn = TurnConstraint(directed)
    noisy = Uneven([1e-3, 1e-6, 3e-9, 5e-9, 2e-8])
    begin = State(0.0, BAR.rest.reshape(-1), np.zeros(3 * BAR.point_count), {})
    solution = Turned(noisy, [turn]).step(begin, 0.1)  # type: ignore[arg-type]
    off = float(np.linalg.norm(turn.turned_off(solution.value.q.reshape(-1, 3), 0.1)))
    assert abs(off - 3e-9) < 1e-13
    assert len(noisy.offsets) == solution.stats["iterations"] == 9
    # The next step begins with the offsets that led there.
    assert np.array_equal(solution.value.memory[OFFSET][0], noisy.offsets[2])
