"""Meshes as artists have them, and what they paint and place, in a real Blender."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bunraku.materials import preset

pytestmark = pytest.mark.blender
Play = Callable[..., dict[str, Any]]


def test_an_odd_object_comes_back_where_it_was(play: Play) -> None:
    found = play("scenes_odd", "odd_object")
    assert found["said"] == ""
    assert found["span"] > 100.0 and found["moved"] > 10.0  # centimetres
    assert max(found["gaps"]) < 1e-4  # [cm]
    assert found["counts"] == [3, 3, 3, 3, 6, 6] and found["points"] == 18  # two of them loose
    assert max(found["metres"]) < 1e-6 and found["gravity"] == [0.0, -9.81, 0.0]
    assert found["normals"] > 0.9999 and found["uv"]
    cotton = preset("cotton")
    assert found["facts"]["rate"] == 30.0
    assert found["facts"]["mass"] == pytest.approx(cotton.areal_mass * found["area"] * 1e-4, rel=1e-4)


@pytest.mark.parametrize("by", ["GROUPS", "POINT", "FACE"])
def test_what_is_painted_is_a_region(play: Play, by: str) -> None:
    found = play("scenes_odd", "painted", by=by)
    assert found["said"] == "" and found["regions"] == 2
    force, left, right = np.array(found["force"]), *found["parts"].values()
    assert np.ptp(force[left]) == 0.0 and np.ptp(force[right]) == 0.0
    assert force[left[0]] > 0.0 and force[right[0]] > 0.0
    if by != "FACE":  # which vertices are in a region is told exactly
        assert max(found["averages"]) < 1e-7  # [m]
        assert force[left[0]] != force[right[0]] and (np.delete(force, [*left, *right]) == 0.0).all()
    first, last = np.array(found["first"]), np.array(found["last"])
    assert np.ptp(first, axis=0).max() < 1e-6 and np.ptp(last, axis=0).max() > 0.1  # colours go with the frames
    assert found["active"] == "bunraku_residual_colour"
    meant, other, order = found["seen"]
    assert meant == 0.0 and other > 0.1 and order == ["MESH_SEQUENCE_CACHE", "NODES", "SOLIDIFY"]


def test_guides_that_are_played_or_simulated_by_blender(play: Play) -> None:
    found = play("scenes_odd", "from_caches")
    assert set(found) == {"usd", "abc", "cloth"}
    for gap, moved in found.values():
        assert gap < 1e-6 and moved > 1e-2  # [m]


@pytest.mark.parametrize("rest", ["FIRST", "POSE"])
def test_what_blender_simulates_is_played_up_to_the_first_frame(play: Play, rest: str) -> None:
    found = play("scenes_odd", "simulated_since_before", rest=rest)
    assert found["said"] == "" and found["frame"] == 1
    assert found["fell"] > 0.1 and max(found["gaps"]) < 1e-6  # [m]


def test_a_guide_that_is_hidden_or_edited(play: Play) -> None:
    found = play("scenes_odd", "out_of_sight")
    assert found["result"] == "Fähnchen bunraku"
    assert found["eye"] == ["", True, False] and found["screen"] == ["", False, True]  # and hidden it stays
    assert max(found["gaps"]) < 1e-6  # [m] of a wave of 0.1
    assert found["edit"] == "" and found["mode"] == "EDIT_MESH"
    assert found["lifted"] > 0.1  # though nobody left edit mode; a corner is smoothed by the modifier
    assert "is in a collection that is hidden or excluded; try: show the collection" in found["collection"]


def test_obstacles_wind_and_a_mesh_of_its_own(play: Play) -> None:
    found = play("scenes_odd", "in_the_way")
    assert found["said"] == "" and found["points"] == 121
    assert min(found["nearest"]) > 0.0  # outside the ball on every frame
    # Surfaces feel each other from a fifth of the mean edge on (a third of the edges are diagonals), beyond the gap.
    assert (
        found["nearest"][-1] < 0.004 + (2 * 0.1 + 0.1 * 2**0.5) / 3 / 5 and found["low"] < 0.34
    )  # and on it, its hem hanging
    shot = found["shot"]
    assert shot["object"]["Ball"]["role"] == "obstacle"
    assert shot["physics"]["contact"] == {"friction": 0.3, "thickness": 0.004}
    wind = shot["physics"]["wind"]
    np.testing.assert_allclose(wind["velocity"], [0.0, 0.0, 4.0], atol=1e-5)  # Blender's −Y is Z
    np.testing.assert_allclose(wind["gust"], [[k + 1, 0.5 + 0.1 * k] for k in range(6)], atol=1e-5)
    assert (wind["turbulence"], wind["seed"]) == (0.2, 5)
    assert [name.rsplit("_", 1)[0] for name in found["inputs"]] == ["Ball", "Fine", "Flag", "Wall_1", "Wall_1"]
    assert {"Wall_1", "Wall_1_2"} < set(shot["object"])
