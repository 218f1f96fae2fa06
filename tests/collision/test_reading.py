"""Pairs as arrays against the toolkit's own lists."""

from __future__ import annotations

import numpy as np
import pytest
from pairs import crowd

from bunraku.collision.toolkit import KINDS, Near


@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_corners_are_those_of_the_toolkit(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Near, "kind", kind)
    scene = crowd(gap=0.001)
    points = scene.surfaces.together(scene.x, 0.0)
    found = []
    for pairing, size in scene.surfaces.pairings:
        near = pairing.near(points[:size])
        pairs, lists = near.pairs(), near.collisions
        every = [lists.vv_collisions, lists.ev_collisions, lists.fv_collisions, lists.ee_collisions]
        told = [one.weight for these in (*every, lists.pv_collisions) for one in these]
        assert np.array_equal(pairs.weights, told)
        assert np.array_equal(pairs.corners, near.corners())
        found.append(pairs.weights)
    assert (np.concatenate(found) != 1.0).any() == (kind == "barrier")
