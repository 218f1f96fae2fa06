"""The guide of the box demo: who moves how, and that it stops dead."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from bunraku import hierarchy
from bunraku.scenes import twisting_box
from bunraku.shots import DEMOS

RATE, STOP = 24.0, 84
"""frames a second, and the last frame that moves"""


def test_eight_vertices_direct_1538() -> None:
    guide = twisting_box()
    shell, tests = hierarchy(guide.mesh, levels=DEMOS["box"].settings["mesh"]["levels"])
    assert (guide.mesh.point_count, shell.point_count, tests.count) == (8, 1538, 8)
    assert guide.frame_count == 120


def test_the_bottom_stands_and_the_top_moves_rigidly() -> None:
    guide = twisting_box()
    assert (guide.points[:, :4] == guide.mesh.rest[:4]).all()
    apart = np.array([pdist(pose[4:]) for pose in guide.points])
    assert apart == pytest.approx(np.broadcast_to(pdist(guide.mesh.rest[4:]), apart.shape), abs=1e-14)
    assert np.ptp(guide.points[:, 4:], axis=0).max() > 0.1


def test_it_stops_within_a_frame() -> None:
    """At the last moving frame it is about at its fastest; afterwards not a bit moves."""
    guide = twisting_box()
    speed = RATE * np.linalg.norm(np.diff(guide.points, axis=0), axis=2).max(axis=1)
    assert speed[STOP - 1] > 1.0 and speed[STOP - 1] > 0.95 * speed.max()
    assert not speed[STOP:].any()
    accelerations = RATE * np.abs(np.diff(speed))
    assert accelerations.argmax() == STOP - 1  # no other frame changes its speed as much
