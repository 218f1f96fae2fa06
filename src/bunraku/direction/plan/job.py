"""Planned motions as a job: nothing is stepped, each frame is asked of the motions."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.contracts import Array, Outcome, Points, Solution, State, Vector
from bunraku.direction.job import Job, volumes_of
from bunraku.geometry import TetMesh, join_tets, tet_volumes

from .chain import Chain
from .motion import Motion

_ON_IT = 1e-9
"""[s] within which a time is that of an end, where a motion still moves and what stays does not"""


@dataclass(frozen=True, eq=False)
class Planned:
    """A motion, and when it begins."""

    motion: Motion | Chain
    begin: float = 0.0
    """[s]"""

    def since(self, time: float) -> float:
        """[s] of the motion's own time, on its ends where it is at them."""
        own = time - self.begin
        for end in (0.0, self.motion.duration):
            if abs(own - end) <= _ON_IT:
                return end
        return own


@dataclass(frozen=True, eq=False)
class PlannedSteps:
    """The stepper of bodies whose motions are known."""

    cast: Sequence[Planned]

    def state(self, time: float) -> State:
        """Of all bodies, one after another, at a time [s]."""
        found = [(one.motion, one.since(time)) for one in self.cast]
        points = np.concatenate([motion.points(since) for motion, since in found])
        velocities = np.concatenate([motion.velocities(since) for motion, since in found])
        return State(time, points.reshape(-1), velocities.reshape(-1))

    def step(self, state: State, dt: float, *, last: bool = False) -> Solution[State]:
        """The state a time dt [s] later, whatever the one before is."""
        begin = clock.perf_counter()
        after = self.state(state.time + dt)
        return Solution(after, Outcome.CONVERGED, {"seconds": {"total": clock.perf_counter() - begin}})


@dataclass(frozen=True, eq=False)
class PlanReport:
    """What each frame reports: energies, and how hard the plan pushes beside the bodies' own mechanics."""

    cast: Sequence[Planned]
    body: TetMesh
    mass: Vector
    """(n,) lumped [kg]"""

    def report(self, state: State, steps: list[Solution[State]]) -> dict[str, Array]:
        """From the state of a frame; what is met is known before, so no direction is reported frame by frame."""
        x, v = state.q.reshape(-1, 3), state.velocity.reshape(-1, 3)
        return {
            "residual": np.zeros(0), "held": np.zeros(0), "force": np.zeros((0, 3)), "pin_residual": np.zeros(0),
            "kinetic": np.array(0.5 * float(self.mass @ np.sum(v * v, axis=1))),
            "elastic": np.array(sum(self._elastic(one, state.time) for one in self.cast)),
            "push": np.array(self._push(state.time)),
            **volumes_of(x, self.body.tets), **self._volumes(x),
            "seconds": np.array(sum(step.stats["seconds"]["total"] for step in steps)),
        }  # fmt: skip

    def _volumes(self, x: Points) -> dict[str, Array]:
        """`volumes` (b,) of each of several bodies [m³]."""
        if len(self.cast) == 1:
            return {}
        ends = np.cumsum([one.motion.mesh.point_count for one in self.cast])
        parts = zip(self.cast, np.split(x, ends[:-1]), strict=True)
        return {"volumes": np.array([tet_volumes(own, one.motion.mesh.tets).sum() for one, own in parts])}

    def _elastic(self, one: Planned, time: float) -> float:
        """[J] ½ Σ λ q²: modes have unit mass."""
        motion, since = one.motion.at(one.since(time))
        return 0.5 * float(motion.body.modes.stiffness @ motion.coordinates(since) ** 2)

    def _push(self, time: float) -> float:
        """[m/s²] the root of the mean square, by mass, of what the plan accelerates by; 0 where no motion goes on."""
        total = 0.0
        for one in self.cast:
            motion, since = one.motion.at(one.since(time))
            if motion.spline.circular or 0.0 <= since <= motion.duration:
                total += float(np.sum(motion.force(since) ** 2))
        return float(np.sqrt(total / self.mass.sum()))


def planned_job(cast: Sequence[Planned], times: Vector, facts: Mapping[str, Any] | None = None) -> Job[TetMesh]:
    """The job that makes the frames of bodies at times (t,) [s]; `facts` are told with its own."""
    steps, body = PlannedSteps(cast), join_tets([one.motion.mesh for one in cast])
    mass = np.concatenate([one.motion.at(0.0)[0].body.mass for one in cast])
    own: dict[str, Any] = {
        "vertices": body.point_count, "tets": len(body.tets), "size": body.size, "mass": float(mass.sum()),
        "volume": float(body.volumes.sum()),
    }  # fmt: skip
    if len(cast) > 1:
        own["volumes"] = [float(one.motion.mesh.volumes.sum()) for one in cast]
    start = steps.state(float(times[0]))
    return Job(body, times, 1, start, steps, PlanReport(cast, body, mass), {**own, **(facts or {})})
