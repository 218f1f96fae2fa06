"""How well a step among surfaces is solved: as well as its length deserves."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation, Contact, track
from bunraku.bench.step import sheet
from bunraku.collision import sphere
from bunraku.contracts import Array


def fallen(balance: float, substeps: int) -> tuple[Array, int]:
    """(t, n, 3) a sheet of 900 vertices that falls on a ball for six frames, and how many iterations that took."""
    mesh, times = sheet(30), np.arange(7) / 24.0
    still = Animation(mesh, times, np.repeat(mesh.rest[None], len(times), axis=0))
    contact = Contact(obstacles=[sphere((0.0, -0.31, 0.0), 0.3, 0.05)], balance=balance)
    take = track(still, mesh, None, contact=contact, velocity="zero", substeps=substeps)
    assert take.report["pairs"].max() > 0
    return take.animation.points, int(take.report["iterations"].sum())


@pytest.mark.slow
def test_a_balanced_step_is_as_right_as_a_converged_one_for_half_of_the_work() -> None:
    """Against steps a quarter as long, which are four times as right."""
    fine, _ = fallen(0.0, 8)
    found = {balance: fallen(balance, 2) for balance in (0.0, 0.2)}
    off = {key: np.sqrt(np.mean((points - fine) ** 2)) for key, (points, _) in found.items()}
    assert off[0.2] < 1.1 * off[0.0]
    assert found[0.2][1] < 0.6 * found[0.0][1]
