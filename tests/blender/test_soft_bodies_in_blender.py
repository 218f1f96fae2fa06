"""Wrinkle, Steer and Plan in a real Blender: directed by hooks, shape keys, duplicates and empties."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.blender
Play = Callable[..., dict[str, Any]]


def test_a_skin_goes_by_hooks(play: Play) -> None:
    found = play("scenes_soft", "wrinkled")
    assert found["said"] == "" and max(found["gaps"].values()) < 1e-6
    assert found["between"] > 1e-3  # what is not hooked is free
    skin = tomllib.loads(found["shot"])["object"]["Cushion"]
    left, right = skin["handles"]
    assert left["region"] == "left" and right == {"region": "right"}
    np.testing.assert_allclose(left["keys"][-1]["move"], [0.03, 0.0, 0.0], atol=1e-7)
    np.testing.assert_allclose(left["keys"][-1]["rotate"], [np.degrees(0.3), 0.0, 0.0], atol=1e-4)


def test_the_skin_of_what_is_animated_wrinkles(play: Play) -> None:
    found = play("scenes_soft", "pressed")
    assert found["said"] == ""
    assert found["away"][0] < 1e-6 and found["away"][1] > 1e-3  # waves, once it is pressed
    skin = tomllib.loads(found["shot"])["object"]["Cushion"]
    assert "guide" in skin and "handles" not in skin and skin["wavelength"] == 0.08


def test_a_curve_is_gone_along_evenly(play: Play) -> None:
    found = play("scenes_soft", "along_a_curve")
    meant = [[1, 0, 0, -3], [2, 1, 0, -3], [3, 2, 0, -3], [4, 2, 1, -3], [5, 2, 2, -3]]  # Blender's y is −z
    np.testing.assert_allclose(np.array(found["rows"]) / [1, 0.01, 0.01, 0.01], meant, atol=1e-6)
    assert "is no single line to go along" in found["said"]


def test_a_body_passes_shapes_on_a_path(play: Play) -> None:
    found = play("scenes_soft", "steered")
    assert found["said"] == "" and found["residual"] < 1e-9
    assert max(found["away"]) < 0.004  # [m]: a hundredth of its size, for the tetrahedra are not quite the ball
    heights = np.array(found["heights"])
    assert heights[0] == pytest.approx(0.4, rel=1e-3) and heights.min() < 0.36
    body = tomllib.loads(found["shot"])["object"]["Ball"]
    assert [one["frame"] for one in body["keys"]] == [1, 4, 6] and found["inputs"] == 4
    np.testing.assert_allclose(body["path"][0]["points"][-1], [7, 0.3, 1.2, -0.1, 0, np.degrees(0.6), 0], atol=1e-4)


def test_a_motion_is_planned_through_a_key(play: Play) -> None:
    found = play("scenes_soft", "planned")
    assert found["said"] == "" and not found["nan"]
    assert found["asked"] > 0.15 and found["head"] < 1e-3 * 0.85  # what a key counts as met by
    assert found["foot"] < 1e-3 * 0.85 and found["ends"] < 1e-3 * 0.85
    bar = tomllib.loads(found["shot"])["object"]["Bar"]
    assert bar["fixed"] == ["foot"] and bar["keys"][0]["frame"] == 9 and bar["keys"][0]["weight"] == "exact"
    assert found["hooks"] == [True, True]


def test_a_key_has_the_velocity_of_its_empty(play: Play) -> None:
    """1 cm along x and 2 along y in a frame; Blender's y is −z."""
    found = play("scenes_soft", "thrown")
    assert found["said"] == "" and [one["frame"] for one in found["keys"]] == [1003, 1007]
    for key, move in zip(found["keys"], ([0.0, 0.0, 0.0], [0.04, 0.0, -0.08]), strict=True):
        np.testing.assert_allclose(key["velocity"], [0.01 * 24 / 1.001, 0.0, -0.02 * 24 / 1.001], rtol=1e-5)
        np.testing.assert_allclose(key["move"], move, atol=1e-8)
    np.testing.assert_allclose(found["went"], [1.0, 2.0, 0.0], atol=0.1)  # cm, in the take, halfway between two frames


def test_what_cannot_be_directed_is_said(play: Play) -> None:
    found = play("scenes_soft", "hopeless")
    assert "'Bar' has no hook whose object is keyed in the shot's frames" in found["keys"]
    assert "the hook 'hand' says points of a mesh that other modifiers change" in found["indices"]
    assert "the hook 'late' is keyed on frame 30, 40, and the shot has 1 to 5; try: a key there" in found["late"]
    for instrument in ("PLAN", "STEER"):
        said = "the hook 'foot' is to hold its points, for 'foot' is not keyed, but that is moved by something else on"
        assert f"{said} frame 4; try: " in found[f"carried {instrument}"]
    assert "the pose 'Other' has 25 points" in found["pose"]
    assert "the poses 'Low' and 'High' are both on frame 1; try: " in found["poses"]
    assert "an open surface has no interior" in found["open"] and "In Blender: Edit Mode, Mesh" in found["open"]
    assert found["files"] == []
