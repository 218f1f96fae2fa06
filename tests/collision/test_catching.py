"""Places on obstacles that vertices are led along: over faces that look the same way, and not around a rim."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision.catching import nearest_around
from bunraku.collision.pinching import Ground
from bunraku.contracts import Points
from bunraku.testing import sheet

STRIP = sheet(8, 1)
GROUND = Ground.of(STRIP.faces, STRIP.point_count, (), np.zeros((1, len(STRIP.faces))), np.zeros(0, np.int64))


def foot(point: list[float], x: Points, **how: bool) -> Points:
    """Where a point that was over the first face is led to."""
    start = np.array([int(np.argmin(STRIP.rest[STRIP.faces].mean(axis=1)[:, 0]))])
    face, weights = nearest_around(np.array([point]), start, *GROUND.around, STRIP.faces, x, **how)
    assert weights.sum() == pytest.approx(1.0, abs=1e-15) and weights.min() >= 0.0
    return weights[0] @ x[STRIP.faces[face[0]]]


@pytest.mark.parametrize("along", [0.05, 0.3, 0.55, 0.8])
def test_places_go_several_faces_far_in_a_step(along: float) -> None:
    point = [along * np.ptp(STRIP.rest[:, 0]), 0.5 * np.ptp(STRIP.rest[:, 1]), 0.2]
    assert foot(point, STRIP.rest) == pytest.approx([point[0], point[1], 0.0], abs=1e-12)
    stays = foot(point, STRIP.rest, walk=False)
    assert stays[0] <= STRIP.rest[:, 0].max() / 8 + 1e-12


def test_places_do_not_go_around_a_rim() -> None:
    """The strip folded down by a right angle in its middle: beyond, a place stays at the fold."""
    fold = 0.5 * STRIP.rest[:, 0].max()
    beyond = np.maximum(STRIP.rest[:, 0] - fold, 0.0)
    x = STRIP.rest - np.outer(beyond, [1.0, 0.0, 1.0])
    middle = 0.5 * STRIP.rest[:, 1].max()
    assert foot([fold + 0.1, middle, -0.2 * fold], x) == pytest.approx([fold, middle, 0.0], abs=1e-12)
