"""Skins that are drawn to the waves they had: how far they go in a step, and where they come to rest."""

from __future__ import annotations

from functools import cache
from itertools import islice

import numpy as np
import pytest

import bunraku as bk
from bunraku.direction.job import Frame, Job
from bunraku.direction.wrinkle import wrinkling_job
from bunraku.direction.wrinkle.coupling import Coupling, coupled
from bunraku.geometry.tet_bar import tet_bar

BAR = tet_bar((12, 3, 3), (0.4, 0.1, 0.1)).surface()
FOAM = bk.SolidMaterial(young=1e5, poisson=0.3, density=60.0)
SKIN = bk.ShellMaterial(young=1e7, poisson=0.3, thickness=6e-3)
_STILL = 20
"""frames in which the body does not move any more"""
_TIMES = np.arange(_STILL + 2) / 24.0
BODY = bk.Animation(BAR, _TIMES, np.stack([BAR.rest, *[BAR.rest * [0.9, 1.0, 1.0]] * (_STILL + 1)]))
"""pressed by a tenth from one frame to the next, and then left so"""


def job(coherence: float, body: bk.Animation = BODY, substeps: int = 1) -> Job:
    return wrinkling_job(body, skin=SKIN, interior=FOAM, coherence=coherence, substeps=substeps, threads=1)


@cache
def pressed(coherence: float) -> list[Frame]:
    """All frames but the last."""
    return list(islice(job(coherence).frames(), _STILL + 1))


@pytest.mark.slow
def test_waves_grow_less_in_a_step_the_more_they_are_drawn_back() -> None:
    grown = [float(np.abs(pressed(one)[1].report["height"]).max()) for one in (0.0, 1.0, 10.0)]
    assert grown[0] > 0.2 * SKIN.thickness  # there is something to draw back
    assert grown[1] < 0.9 * grown[0] and grown[2] < 0.5 * grown[1]
    assert all(frame.report["converged"] for one in (0.0, 1.0, 10.0) for frame in pressed(one))


@pytest.mark.slow
def test_how_far_waves_are_drawn_back_is_a_matter_of_time_and_not_of_steps() -> None:
    """Pressed evenly over four frames; by steps alone four times as many would draw waves back to half as much."""
    times = np.arange(6) / 24.0
    even = bk.Animation(BAR, times, np.stack([BAR.rest * [1.0 - 0.025 * min(k, 4), 1.0, 1.0] for k in range(6)]))
    height = [
        float(np.abs(list(job(30.0, even, substeps).frames())[-1].report["height"]).max()) for substeps in (2, 4, 8)
    ]
    assert height[1] == pytest.approx(height[2], rel=0.1) and height[0] == pytest.approx(height[1], rel=0.2)


def test_where_the_body_is_still_a_skin_comes_to_a_balance_of_its_own() -> None:
    """What draws it back is nothing where it stays: it takes longer, and ends where a free skin stays as well."""
    frames = pressed(1.0)

    def moved(after: Frame) -> float:
        """How far a skin that nothing draws goes from there in a step."""
        return float(np.abs(next(job(0.0).frames(after=after)).points - after.points).max())

    assert moved(frames[-1]) < 1e-2 * moved(frames[1])


def test_a_first_frame_is_in_its_own_balance() -> None:
    """There was nothing before it."""
    body = bk.Animation(BAR, np.arange(2) / 24.0, np.stack([BAR.rest * [0.8, 1.0, 1.0]] * 2))
    free, drawn = (bk.wrinkle(body, skin=SKIN, interior=FOAM, coherence=one, threads=1) for one in (0.0, 5.0))
    assert np.array_equal(free.animation.points[0], drawn.animation.points[0])
    assert np.abs(free.report["height"][0]).max() > 1e-5


def test_natural_waves_couple_a_body_where_they_are_asked_for() -> None:
    """Their moments of skin and body agree; under bumps they do not."""
    body = bk.Animation(BAR, np.arange(2) / 24.0, np.stack([BAR.rest, BAR.rest * [0.95, 1.0, 1.0]]))
    moments = coupled(BAR, 0.15, "spectral", threads=1).averages(BAR, BAR)[1]
    couplings: tuple[Coupling, ...] = ("local", "spectral")
    left = []
    for one in couplings:
        take = bk.wrinkle(body, skin=SKIN, interior=FOAM, spacing=0.15, coupling=one, threads=1)
        left.append(float(np.abs(moments @ (take.animation.points[1] - body.points[1])).max()))
    assert left[1] < 1e-12 < 1e-6 < left[0]


def test_natural_waves_of_a_skin_that_varies_are_refused() -> None:
    thick = bk.ShellMaterial(young=1e7, poisson=0.3, thickness=9e-3)
    along = BAR.rest[:, 0] / 0.4
    blend = bk.MaterialBlend.by_vertex([SKIN, thick], np.column_stack([1.0 - along, along]), BAR.faces)
    body = bk.Animation(BAR, np.arange(2) / 24.0, np.stack([BAR.rest] * 2))
    with pytest.raises(bk.InputError, match="spread alike over the whole skin"):
        bk.wrinkle(body, skin=blend, interior=FOAM, coupling="spectral", threads=1)
