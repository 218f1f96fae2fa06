"""What each frame of a steered body reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.collision import Pinches
from bunraku.contracts import Array, Outcome, Points, Solution, State, Vector
from bunraku.direction.contact import near_at_first
from bunraku.direction.job import volumes_of
from bunraku.dynamics import System
from bunraku.energies import GravityEnergy, mean_rotation
from bunraku.geometry import tet_masses

from .cast import Cast
from .holding import COMPENSATED, Directed
from .rigid import shape_distance


@dataclass(frozen=True, eq=False)
class SteerReport:
    """How near bodies are to their paths and keys, what that takes, and their energies."""

    cast: Cast
    system: System
    weight: GravityEnergy
    path_rows: Sequence[int | None]
    """(p,) the first of the three rows that hold each path; None: it is compensated"""
    pin_rows: Sequence[Array]
    """(q,) the rows of each pin"""

    @property
    def paths(self) -> Sequence[Directed]:
        """(p,) of all bodies"""
        return self.cast.paths

    @cached_property
    def _elements(self) -> list[Vector]:
        """(b,) of (m,) [m³] how much each element counts in the turn of the whole."""
        return [tet_masses(one.body) for one in self.cast.members]

    def report(self, state: State, steps: list[Solution[State]]) -> dict[str, Array]:
        """From the state of a frame and the steps that led to it."""
        x, v = state.q.reshape(-1, 3), state.velocity.reshape(-1, 3)
        mass, turns = self.system.mass, self._turns(x)
        return {
            "residual": np.array([self._missed(one, x, state.time) for one in self.paths]),
            "force": self._force(steps).reshape(-1, 3),
            "held": np.array([float(one.path.holds(state.time)) for one in self.paths]),
            "point": np.array([one.mean(x) for one in self.paths]).reshape(-1, 3),
            "point_velocity": np.array([one.mean(v) for one in self.paths]).reshape(-1, 3),
            "rotation": turns[0] if len(turns) == 1 else np.stack(turns),
            "rotation_residual": np.array([_turned_off(one, x, state.time) for one in self.paths]),
            "pin_residual": self._pins(state, steps),
            **self.of_keys(state),
            "kinetic": np.array(0.5 * float(np.sum(v * mass.times(v)))),
            "elastic": np.array(self._elastic(x, state.time)),
            "gravity": np.array(self.weight.value(x)),
            **volumes_of(x, self.cast.body.tets),
            **self._contact(state, steps),
            "iterations": np.array(sum(step.stats["iterations"] for step in steps)),
            "converged": np.array(all(step.outcome is Outcome.CONVERGED for step in steps)),
            "last_step": np.array(max((step.stats["last_step"] for step in steps), default=0.0)),
            "seconds": np.array(sum(step.stats["seconds"]["total"] for step in steps)),
        }

    def _turns(self, x: Points) -> list[Array]:
        """(b,) of (3, 3) each body's rotation as a whole."""
        each = zip(self.cast.members, self.cast.each(x), self._elements, strict=True)
        return [mean_rotation(own, one.body.rest, one.body.tets, masses) for one, own, masses in each]

    def _elastic(self, x: Points, time: float) -> float:
        """[J]"""
        each = zip(self.cast.solids, self.cast.each(x), strict=True)
        return float(sum(solid.elastic(time).value(own) for solid, own in each))

    def _contact(self, state: State, steps: list[Solution[State]]) -> dict[str, Array]:
        """Where surfaces may touch: near pairs, the least distance among them [m], paths that give way, and how many
        vertices were pinched in one of the steps."""
        if self.system.contact is None:
            return {}
        near = steps[-1].stats["contact"] if steps else near_at_first(self.system.contact, state)
        gives_way = steps[-1].stats["gives_way"] if steps else np.zeros(0)
        drawn = [k for k, first in enumerate(self.path_rows) if first is not None]
        gave_way = np.zeros(len(self.paths), dtype=bool)
        given = np.asarray(gives_way, dtype=bool)[: len(drawn)]
        gave_way[drawn[: len(given)]] = given
        pinched = [len(Pinches.of(step.value.memory)) for step in steps] or [len(Pinches.of(state.memory))]
        return {
            "pairs": np.array(near["pairs"]), "closest": np.array(near["closest"]),
            "gave_way": gave_way, "pinched": np.array(max(pinched)),
        }  # fmt: skip

    def of_keys(self, state: State) -> dict[str, Array]:
        """(k,) [m] how far the shape is from each key's, wherever it is and however it is turned."""
        each = zip(self.cast.members, self.cast.each(state.q.reshape(-1, 3)), strict=True)
        found = [shape_distance(own, shape, one.mass.lumped, one.pieces) for one, own in each for shape in one.shapes]
        return {"key_distance": np.array(found)}

    def _missed(self, one: Directed, x: Points, time: float) -> float:
        """[m] of the directed point from its path; 0 while the path says nothing."""
        return float(np.linalg.norm(one.mean(x) - one.path.at(time))) if one.path.holds(time) else 0.0

    def _force(self, steps: list[Solution[State]]) -> Array:
        """(p, 3) [N] by which each path drew the body, at the end of the last step."""
        out = np.zeros((len(self.paths), 3))
        if not steps:
            return out
        multipliers, compensated = steps[-1].stats["multipliers"], steps[-1].stats.get(COMPENSATED)
        for k, first in enumerate(self.path_rows):
            if first is not None:
                out[k] = -multipliers[first : first + 3]
            elif compensated is not None:
                out[k] = compensated[k]
        return out

    def _pins(self, state: State, steps: list[Solution[State]]) -> Vector:
        """(q,) [m] the largest distance of a coordinate from its goal, per pin."""
        if not steps:
            return np.zeros(len(self.pin_rows))
        residual = steps[-1].stats["residual"]
        return np.array([np.abs(residual[rows]).max(initial=0.0) for rows in self.pin_rows])


def _turned_off(one: Directed, x: Points, time: float) -> float:
    """[rad] of a body's rotation from that of a path that says one; 0 for others."""
    if one.path.rotations is None or not one.path.holds(time):
        return 0.0
    return float(np.linalg.norm(Rotation.from_matrix(one.path.rotation(time).T @ one.turn(x)).as_rotvec()))
