"""The panel shows what it should: its drawing is played on a layout that refuses what Blender's would refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.blender


def test_the_panel_of_everything(play: Callable[..., dict[str, Any]]) -> None:
    found = play("scenes_panel", "everything")
    assert found["nothing"] == ["Select a mesh to direct"]
    assert "try: save it first" in " ".join(found["unsaved"])
    assert "<count>" in found["COUNT"] and "<metres>" in found["METRES"] and "<prefix>" in found["GROUPS"]
    assert (
        "<attribute>" in found["ATTRIBUTE"] and "<strength>" not in found["NONE"] and "<strength>" in found["VERTICES"]
    )
    assert (
        "<moved_by>" in found["WRINKLE"] and "<wavelength>" in found["WRINKLE"] and "<use_thickness>" in found["TRACK"]
    )
    assert "<poses>" in found["STEER"] and "<turning>" in found["STEER"] and "hand: held" in found["PLAN"]
    assert "<levels>" in found["TRACK"] and "<levels>" not in found["PLAN"] and "<modes>" in found["PLAN"]
    assert (
        "[bunraku.cancel]" in found["going"] and found["going"].count("[bunraku.run]") == 1
    )  # for regions, greyed out
    assert "[bunraku.show_take *]" in found["done"] and "[bunraku.run]" in found["done"]
    assert "Direction met on all 3 frames" in " ".join(found["done"])
    assert "Another" in found["another"] and "Flag" in found["another"]  # whose end it is that is told
    assert found["many"].count("[bunraku.show_take]") == 12 and "(Older takes: 3)" in found["many"]
    assert found["older"] == ["Flag/v003", "Flag/v002", "Flag/v001"]
    assert "Older takes" not in " ".join(found["done"])
    assert "got 9999" in " ".join(found["failed"])
    assert found["done"].count("Flag/v001") == 0  # its sentences stand above already
    k = found["chosen"].index("Flag/v003")
    assert "Direction met on all 3 frames" in " ".join(found["chosen"][k:])
    assert "<interpreter>" in found["preferences"] and any("offline" in one for one in found["preferences"])


def test_warnings_are_seen_and_a_shell_wears_its_own(play: Callable[..., dict[str, Any]]) -> None:
    found = play("scenes_panel", "warned")
    for when in ("going", "done"):
        assert "from the guide at rest; it keeps that distance" in " ".join(found[when]), when
    assert found["worn"] == [["Wool", "Button"], ["Grey"], ["Red"]]
    assert sum(found["buttons"]) == 1 and len(found["buttons"]) == 64


def test_numbers_are_the_presets_until_they_are_the_artists(play: Callable[..., dict[str, Any]]) -> None:
    found = play("scenes_panel", "materials")
    k = found["foil"].index("Young's modulus")
    assert found["foil"][k : k + 6] == [
        "Young's modulus", "[bunraku.own_number]", "6.9e+10", "Thickness", "[bunraku.own_number]", "1.6e-05",
    ]  # fmt: skip
    assert found["begins"] == [True, pytest.approx(1.6e-5)] and found["given up"] == [False, True]
    assert "<thickness>" in found["own"] and "1.6e-05" not in found["own"]
    assert found["skin"].count("Young's modulus") == 2 and "2e+07" in found["skin"]  # foil and cork
