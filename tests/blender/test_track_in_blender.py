"""The extension in a real Blender: Track, from the button to the result that plays beside its guide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
