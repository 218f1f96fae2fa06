"""Where a tracked shell begins: pose and velocity of the first frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from bunraku.contracts import PhysicsStopped, Points, State, input_error, numbers
from bunraku.dynamics import ImplicitEuler, System, settle
from bunraku.geometry import Embedding, TriMesh, along
from bunraku.motion import Animation

from .settings import TrackSettings
from .test_functions import Tests


def correspondence(tests: Tests | None, guide: Animation, shell: TriMesh) -> Embedding | None:
    """How the guide's pose becomes the shell's, where they correspond; else None."""
    if tests is not None and tests.embedding is not None:
        return tests.embedding
    if tests is not None and tests.prolongation is not None:
        return along(tests.prolongation, guide.mesh)
    if guide.mesh.point_count == shell.point_count and np.array_equal(guide.mesh.faces, shell.faces):
        return along(sparse.eye_array(shell.point_count, format="csr"), guide.mesh)
    return None


def first_pose(guide: Animation, shell: TriMesh, onto: Embedding | None, knobs: TrackSettings) -> Points:
    """(n, 3) where the shell begins, or begins to settle [m]."""
    if isinstance(knobs.start, np.ndarray):
        return _one_row_a_vertex("start", knobs.start, shell)
    if knobs.start == "rest" or onto is None:
        return np.array(shell.rest)
    return onto.points(guide.at(guide.times[0]))


def start_state(
    stepper: ImplicitEuler, system: System, guide: Animation, shell: TriMesh, tests: Tests | None,
    onto: Embedding | None, knobs: TrackSettings, first: Points,
) -> State:  # fmt: skip
    """The state of the first frame; settled where asked, or where guide and shell do not correspond."""
    if system.contact is not None and knobs.iterations is not None:  # a step cut short of its way must go on from there
        raise input_error(
            "with contact every step runs until it has converged", where="iterations", got=knobs.iterations,
            allowed="None", remedy="a larger tolerance, or no contact",
        )  # fmt: skip
    time = float(guide.times[0])
    velocity = _first_velocity(guide, shell, onto, knobs)
    state = State(time, first.reshape(-1).copy(), velocity.reshape(-1).copy())
    state = replace(state, memory=system.remember(state))
    apart = tests is not None and onto is None
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


def _first_velocity(guide: Animation, shell: TriMesh, onto: Embedding | None, knobs: TrackSettings) -> Points:
    if isinstance(knobs.velocity, np.ndarray):
        return _one_row_a_vertex("velocity", knobs.velocity, shell)
    if knobs.velocity == "zero" or (isinstance(knobs.start, str) and knobs.start == "rest"):
        return np.zeros_like(shell.rest)
    time = float(guide.times[0])
    moving = guide.velocity(time)
    if onto is not None:
        return onto.velocity(guide.at(time), moving)
    return np.broadcast_to(moving.mean(axis=0), shell.rest.shape)


def _one_row_a_vertex(name: str, given: Points, shell: TriMesh) -> Points:
    array = numbers(name, given)
    if array.shape != shell.rest.shape or not np.isfinite(array).all():
        raise input_error(f"{name} must be finite, one row a shell vertex", got=array.shape)
    return array
