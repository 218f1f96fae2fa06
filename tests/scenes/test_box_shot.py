"""The box demo, a level coarser than it is shown: obeyed on every frame, wrinkled while twisted, swinging after the
stop, then calm."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku import Animation, ShellMaterial, Take, hierarchy, track
from bunraku.contracts import Array
from bunraku.shots import DEMOS

pytestmark = pytest.mark.slow

HOLD, STOP = slice(32, 41), 84
"""frames at which the guide is held twisted; the last frame that moves"""


@pytest.fixture(scope="module")
def shot() -> tuple[Animation, Take, Array]:
    """The guide, the take, and (t, n) how far the shell is from the prolonged guide [m]."""
    demo = DEMOS["box"]
    guide = demo.guide()
    shell, tests = hierarchy(guide.mesh, levels=demo.settings["mesh"]["levels"] - 1)
    take = track(guide, shell, tests, material=ShellMaterial(**demo.settings["material"]), substeps=2)
    prolonged = np.stack([tests.prolongation @ pose for pose in guide.points])
    return guide, take, np.linalg.norm(take.animation.points - prolonged, axis=2)


def test_the_guide_is_obeyed_on_every_frame(shot: tuple[Animation, Take, Array]) -> None:
    _, take, _ = shot
    assert take.report["residual"].shape == (120, 8)
    assert take.report["residual"].max() <= 1e-9 * take.facts["size"]
    assert take.report["converged"].all()


def test_the_twisted_box_wrinkles(shot: tuple[Animation, Take, Array]) -> None:
    """The walls leave the guide's twisted planes by more than twice the shell's thickness, and it is not stretching
    alone: the prolonged guide, which has no wrinkle, is flat but for its creases.

    The bending energy of the hold is above a fifth of all elastic energy and a thousand times its energy of motion.
    """
    _, take, away = shot
    thickness = DEMOS["box"].settings["material"]["thickness"]
    assert away[HOLD].max(axis=1).min() > 2 * thickness
    bending, stretching = take.report["bending"][HOLD], take.report["stretching"][HOLD]
    assert (bending > 0.2 * (bending + stretching)).all()
    assert (bending > 1e3 * take.report["kinetic"][HOLD]).all()


def test_it_keeps_swinging_after_the_stop(shot: tuple[Animation, Take, Array]) -> None:
    guide, take, _ = shot
    assert not np.diff(guide.points[STOP:], axis=0).any()
    speed = np.linalg.norm(take.velocities[86:91], axis=2).max(axis=1)
    assert speed.min() > 0.05


def test_it_calms(shot: tuple[Animation, Take, Array]) -> None:
    kinetic = shot[1].report["kinetic"]
    assert kinetic[119] < 0.02 * kinetic[STOP]
