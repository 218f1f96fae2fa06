"""A leather seat: folds run to a button that is drawn in."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.scenes.seat import around, button, buttoned, dropped, sat_on, seat


@pytest.mark.slow
def test_folds_around_a_point_are_counted() -> None:
    """A funnel with nine waves of two millimetres around it."""
    mesh = seat(0.012)
    x, angle = mesh.rest.copy(), np.arctan2(mesh.rest[:, 2], mesh.rest[:, 0])
    x[:, 1] += 0.3 * np.hypot(x[:, 0], x[:, 2]) + 2e-3 * np.cos(9.0 * angle + 0.4)
    waves = around(mesh, x, 0.06, 0.03)
    assert waves.argmax() == 9 and waves[9] == pytest.approx(2e-3, rel=0.02) and np.delete(waves, 9).max() < 1e-4
    assert len(button(mesh)) >= 3


def test_a_ball_falls_sinks_in_and_goes_up_again() -> None:
    times = np.linspace(0.0, 0.36, 400)
    ball = dropped(times)
    lowest = ball.points[:, :, 1].min(axis=1)
    speed = np.gradient(lowest, times)
    assert lowest[0] == pytest.approx(0.13, abs=1e-3) and lowest.min() == pytest.approx(-0.02, abs=1e-3)
    assert np.abs(np.diff(speed)).max() < 0.25  # nowhere a blow: at most the spring's own acceleration, 22 m/s²
    assert lowest[-1] > 0.05


@pytest.mark.slow
def test_folds_run_to_a_button() -> None:
    """Ten waves as long as theory has them fit around it at 50 mm; the figure has four of thick leather,
    seventeen of thin."""
    take = buttoned(1.2e-3, 0.011, threads=1, frames=5)
    assert take.report["converged"].all() and take.report["handle_residual"].max() < 1e-9
    waves = around(take.animation.mesh, take.animation.points[-1], 0.05, 0.0275)
    assert 7 <= int(waves[5:].argmax()) + 5 <= 15 and waves[5:].max() > 1e-4


@pytest.mark.slow
def test_leather_lies_in_folds_around_a_ball_that_sinks_in() -> None:
    """A coarser seat, until the ball is deepest: thirteen waves as long as theory has them go around it at 80 mm. Half
    as deep it is only dented."""
    take, _ = sat_on(0.01, threads=1, frames=6, until=0.215)
    assert take.report["converged"].all() and not take.report["inverted"].any()
    waves = around(take.animation.mesh, take.animation.points[-1], 0.08, 0.025)
    assert 9 <= int(waves[5:].argmax()) + 5 <= 19 and waves[5:].max() > 4e-4
