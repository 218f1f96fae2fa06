"""The extension in a real Blender: Track, from the button to the result that plays beside its guide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.blender
Play = Callable[..., dict[str, Any]]


def test_it_is_enabled_and_disabled_twice(play: Play) -> None:
    found = play("scenes_track", "twice")
    assert found["known"] == [[True] * 3, [False] * 3, [True] * 3, [False] * 3, [True] * 3]
    assert found["count"] == 7


def test_a_character_is_tracked(play: Play) -> None:
    """Averages of guide and result agree where they are measured: on what Blender shows of both."""
    found = play("scenes_track", "tracked_character")
    assert found["said"] == ""
    assert found["modifier"] == "MESH_SEQUENCE_CACHE" and found["file"] == "//bunraku/takes/Hero/v001/Hero.usdc"
    assert found["rate"] == 24 / 1.001 and found["frames"] == [1001.0, 1002.0, 1003.0, 1004.0]
    assert found["polygons"] == 4 * 128
    assert max(found["gap"]) < 1e-6  # [m] of 0.9: single precision
    assert found["free"] > 1e-4  # and yet it is not the guide
    assert found["untouched"] == ["ARMATURE"] and found["collections"] == ["Scene Collection"]
    assert found["frame"] == 1004


@pytest.mark.parametrize("by", ["modifier", "parent", "nothing"])
def test_armatures_at_rest_are_the_rest_shape(play: Play, by: str) -> None:
    found = play("scenes_track", "at_rest", by=by)
    if by == "nothing":
        assert "'Hero' has no armature whose rest position could be its rest shape; try: " in found["said"]
    else:
        assert found["said"] == "" and found["bent"] > 0.1 and found["gap"] < 1e-6  # [m]


def test_the_figure_walks(play: Play) -> None:
    """As docs/blender.md says: of so many points, and two steps a second at 24 frames a second."""
    found = play("scenes_track", "figure")
    assert found["closed"] and found["points"] == 2422 and found["menu"]
    assert found["height"] == pytest.approx(1.85, abs=0.1) and found["weights"] == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(found["ahead"], [0.0, -1.24, 0.0], atol=1e-5)
    assert -0.1 < found["low"][0] < found["low"][1] < 0.1  # [m] its feet are about the ground
