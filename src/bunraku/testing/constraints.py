"""The check every `Constraint` passes: linear, a Jacobian of one pattern, goals and stiffness that mean something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.contracts import Constraint, State

from .differences import ROUNDING, CheckFailed, unit_directions


def check_constraint(constraint: Constraint, states: Sequence[State], dts: Sequence[float], *, seed: int = 0) -> None:
    """Raise `CheckFailed` unless the constraint keeps its contract from every state with every step length [s].

    The Jacobian must have the same pattern at every step, and be the derivative of the residual: exactly, since the
    residual is linear. Goals are finite; stiffness and caps lie between 0 and ∞, both included. Asking must not change
    the state.
    """
    jacobian = constraint.jacobian.copy()
    if not jacobian.nnz or not np.abs(jacobian.data).max() > 0:
        raise CheckFailed("the Jacobian is zero, so nothing is checked")
    for state in states:
        before = state.q.copy(), state.velocity.copy()
        for dt in dts:
            _check_rows(constraint, jacobian, state, dt, seed)
        if not (np.array_equal(before[0], state.q) and np.array_equal(before[1], state.velocity)):
            raise CheckFailed("asking for the conditions changed the state")


def _check_rows(constraint: Constraint, jacobian, state: State, dt: float, seed: int) -> None:
    rows = constraint.at(state, dt)
    where = f"t = {state.time:g} s, dt = {dt:g} s"
    count = jacobian.shape[0]
    same = rows.jacobian.shape == jacobian.shape and rows.jacobian.nnz == jacobian.nnz
    if not (same and np.array_equal(rows.jacobian.indptr, jacobian.indptr)) or not np.array_equal(
        rows.jacobian.indices, jacobian.indices
    ):
        raise CheckFailed(f"{where}: the pattern of the Jacobian changed")
    if jacobian.shape[1] != state.q.size:
        raise CheckFailed(f"{where}: the Jacobian has {jacobian.shape[1]} columns for {state.q.size} coordinates")
    if rows.goals.shape != (count,) or not np.isfinite(rows.goals).all():
        raise CheckFailed(f"{where}: goals are not {count} finite numbers")
    if rows.stiffness.shape != (count,) or not (rows.stiffness >= 0).all():
        raise CheckFailed(f"{where}: stiffness is not {count} numbers from 0 to ∞")
    if (rows.caps is not None) != constraint.capped:
        raise CheckFailed(f"{where}: caps come and go")
    if rows.caps is not None and not (3 * len(rows.caps) == count and (rows.caps >= 0).all()):
        raise CheckFailed(f"{where}: caps are not {count / 3:g} numbers from 0 to ∞")
    x = state.q.reshape(-1, 3)
    for direction in unit_directions(x.shape, 3, seed):
        for h in (1e-2, 1.0):
            change = (rows.residual(x + h * direction) - rows.residual(x - h * direction)) / (2.0 * h)
            away = np.abs(change - rows.jacobian @ direction.reshape(-1)).max()
            size = np.abs(rows.goals).max() + abs(jacobian).sum(axis=1).max() * (np.abs(x).max() + h)
            if away > ROUNDING * size / h:
                raise CheckFailed(f"{where}: the Jacobian is not the residual's derivative, by {away:.2e}")
