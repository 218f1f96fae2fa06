"""Where a tracked shell begins: pose and velocity of the first frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from bunraku.contracts import PhysicsStopped, Points, Sparse, State, input_error
from bunraku.dynamics import ImplicitEuler, System, settle
from bunraku.geometry import TriMesh
from bunraku.motion import Animation

from .settings import TrackSettings
from .test_functions import Tests


def transfer(tests: Tests | None, guide: Animation, shell: TriMesh) -> Sparse | None:
    """(n_shell, n_guide) how the guide's points become the shell's, where they correspond; else None."""
    if tests is not None and tests.prolongation is not None:
        return tests.prolongation
    if guide.mesh.point_count == shell.point_count and np.array_equal(guide.mesh.faces, shell.faces):
        return sparse.eye_array(shell.point_count, format="csr")
    return None


def first_pose(guide: Animation, shell: TriMesh, tests: Tests | None, knobs: TrackSettings) -> Points:
    """(n, 3) where the shell begins, or begins to settle [m]."""
    if isinstance(knobs.start, np.ndarray):
        return _one_row_a_vertex("start", knobs.start, shell)
    onto = transfer(tests, guide, shell)
    if knobs.start == "rest" or onto is None:
        return np.array(shell.rest)
    return np.asarray(onto @ guide.at(guide.times[0]))


def start_state(
    stepper: ImplicitEuler, system: System, guide: Animation, shell: TriMesh, tests: Tests | None,
    knobs: TrackSettings, first: Points,
) -> State:  # fmt: skip
    """The state of the first frame; settled where asked, or where guide and shell do not correspond."""
    time = float(guide.times[0])
    velocity = _first_velocity(guide, shell, tests, knobs)
    state = State(time, first.reshape(-1).copy(), velocity.reshape(-1).copy())
    state = replace(state, memory=system.remember(state))
    apart = tests is not None and transfer(tests, guide, shell) is None
    wish = "given" if isinstance(knobs.start, np.ndarray) else knobs.start
    if wish == "settled" or (wish == "guide" and apart):
        if not system.constraints:
            raise input_error(
                "a shell without tests or pins falls for ever and cannot settle", remedy="start = 'guide'"
            )
        solution = settle(stepper, state, tolerance=1e-4 * shell.size)
        if not solution.outcome.usable:
            raise PhysicsStopped(f"the shell could not be brought to its first pose: {solution.outcome.value}")
        return solution.value
    return state


def _first_velocity(guide: Animation, shell: TriMesh, tests: Tests | None, knobs: TrackSettings) -> Points:
    if isinstance(knobs.velocity, np.ndarray):
        return _one_row_a_vertex("velocity", knobs.velocity, shell)
    if knobs.velocity == "zero" or (isinstance(knobs.start, str) and knobs.start == "rest"):
        return np.zeros_like(shell.rest)
    onto = transfer(tests, guide, shell)
    moving = guide.velocity(float(guide.times[0]))
    if onto is not None:
        return np.asarray(onto @ moving)
    return np.broadcast_to(moving.mean(axis=0), shell.rest.shape)


def _one_row_a_vertex(name: str, given: Points, shell: TriMesh) -> Points:
    array = np.array(given, dtype=np.float64)
    if array.shape != shell.rest.shape or not np.isfinite(array).all():
        raise input_error(f"{name} must be finite, one row a shell vertex", got=array.shape)
    return array
