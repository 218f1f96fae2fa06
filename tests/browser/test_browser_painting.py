"""Painting in a real browser: a stroke is in the file, in the next take, and taken back; what it takes is printed."""

from __future__ import annotations

import json
import statistics
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import Studio, written
from browser_takes import rippling, write_shot

from bunraku.io import read_arrays, write_animation
from bunraku.shots import open_take
from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio
Tab = Callable[..., Studio]
Direct = Callable[[Path], StudioServer]


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    return write_shot(tmp_path, frames=12, levels=3)


@pytest.fixture
def studio(tab: Tab, direct: Direct, shot: Path) -> Studio:
    """The box from the front, to be painted."""
    found = tab().direct(direct(shot).address, "Paint")
    look(found, "From the front (Z)")
    return found


def look(studio: Studio, way: str) -> None:
    """Turn the camera, and wait until it has come there."""
    before = studio.says("JSON.stringify(bunraku.camera)")
    studio.page.get_by_role("button", name=way).click()
    studio.until(f"JSON.stringify(bunraku.camera) !== {before!r} && bunraku.fine")


def regions(studio: Studio) -> dict[str, int]:
    return studio.says("bunraku.sketched.regions")


def labels(shot: Path) -> np.ndarray:
    return read_arrays(shot.with_name("box.box.bkarrays"))[0]["label"]


def settings(shot: Path) -> Any:
    return tomllib.loads(shot.read_text(encoding="utf-8"))


def radius(studio: Studio, share: float) -> None:
    studio.page.get_by_role("slider", name="Radius of the brush").fill(str(share))


def stroke(studio: Studio) -> None:
    written(studio, lambda: studio.drag((0.4, 0.5), (0.6, 0.5)))


def test_a_stroke_is_in_the_shot_and_in_the_next_takes_residuals(studio: Studio, shot: Path) -> None:
    radius(studio, 0.9)
    stroke(studio)
    count = regions(studio)["region 1"]
    assert count > 30 and int((labels(shot) == 0).sum()) == count
    name = studio.page.get_by_role("textbox", name="Name of the region")
    name.fill("belt buckle")
    written(studio, lambda: name.press("Enter"))
    written(studio, lambda: studio.page.get_by_text("The guide is obeyed region by region").click())
    studio.keep("painting")
    studio.page.get_by_role("tab", name="Direct").click()
    studio.button("Run").click()
    studio.until("bunraku.takes.length === 1 && bunraku.takes[0].state === 'finished' && !bunraku.running")
    take = open_take(shot.parent / "takes" / "box")
    assert take.scene.regions == ("region belt buckle",)
    assert take.measured.arrays["residual"].shape == (12, 1)
    assert float(take.measured.arrays["residual"].max()) < 1e-9
    assert take.scene.functions is not None
    assert np.array_equal(take.scene.functions.toarray()[0] > 0, labels(shot) == 0)
    x = take.scene.shell.rest  # the brush reaches round the corners, but what is there does not face the camera
    assert x[labels(shot) == 0, 2].min() == pytest.approx(x[:, 2].max())


def test_strokes_are_taken_back_and_done_again(studio: Studio, shot: Path) -> None:
    before = settings(shot)
    stroke(studio)
    first = labels(shot)
    studio.page.get_by_role("button", name="Erase").click()
    written(studio, lambda: studio.drag((0.5, 0.45), (0.5, 0.55)))
    erased = labels(shot)
    assert 0 < int((erased == 0).sum()) < int((first == 0).sum())
    written(studio, lambda: studio.press("Control+z"))
    assert np.array_equal(labels(shot), first)
    written(studio, lambda: studio.press("Control+Shift+Z"))
    assert np.array_equal(labels(shot), erased)
    for _ in range(2):
        written(studio, lambda: studio.press("Control+z"))
    assert settings(shot) == before and not shot.with_name("box.box.bkarrays").exists()
    studio.page.get_by_role("textbox", name="How many clusters").fill("6")
    written(studio, lambda: studio.page.get_by_role("button", name="Compute").click())
    clusters = labels(shot)
    assert set(clusters) == set(range(6))
    studio.keep("clusters")
    studio.page.get_by_role("button", name="Drag on the surface").click()
    studio.button("Choose cluster 1", exact=True).click()
    written(studio, lambda: studio.drag((0.4, 0.35), (0.6, 0.65)))
    assert int((labels(shot) == 0).sum()) > int((clusters == 0).sum())


def test_both_sides_pieces_and_merging(studio: Studio, shot: Path) -> None:
    studio.page.get_by_role("combobox", name="Symmetry").select_option(label="across x")
    radius(studio, 0.6)
    written(studio, lambda: studio.drag((0.42, 0.42), (0.42, 0.5)))
    whole = regions(studio)["region 1"]
    written(studio, lambda: studio.page.get_by_role("button", name="Split").click())
    assert sorted(regions(studio).values()) == [whole // 2, whole // 2]
    merge = studio.page.get_by_role("combobox", name="Merge into")
    written(studio, lambda: merge.select_option(index=1))
    assert list(regions(studio).values()) == [whole]
    studio.page.get_by_role("button", name="Fill").click()
    studio.page.get_by_role("button", name="New region").click()
    written(studio, lambda: studio.drag((0.5, 0.62), (0.5, 0.62)))
    assert sum(regions(studio).values()) == len(labels(shot))
    before, name = shot.read_bytes(), studio.page.get_by_role("textbox", name="Name of the region").first
    studio.expected = ("400 (Bad Request)",)
    name.fill('li"d')
    name.press("Enter")
    studio.page.get_by_text("not written").wait_for()
    studio.told("has the wrong form")
    studio.keep("painting_refused")
    assert shot.read_bytes() == before
    studio.press("Control+z")
    studio.page.get_by_text("written", exact=True).wait_for()
    assert shot.read_bytes() == before


def test_a_stroke_on_what_another_window_has_changed_overwrites_nothing(tab: Tab, direct: Direct, shot: Path) -> None:
    address = direct(shot).address
    one, two = (tab().direct(address, "Paint") for _ in range(2))
    held, released = list[Any](), list[bool]()
    # its server is slow
    two.page.route("**/sketch?*", lambda asked: asked.continue_() if released else held.append(asked))
    look(one, "From the front (Z)")
    look(two, "From the front (Z)")
    stroke(one)
    theirs = labels(shot)
    two.until("bunraku.revision === 2")
    two.drag((0.5, 0.4), (0.5, 0.6))
    released.append(True)
    for asked in held:
        asked.continue_()
    two.page.get_by_text("not written: the regions were changed elsewhere").wait_for()
    assert np.array_equal(labels(shot), theirs) and regions(two) == regions(one)
    written(two, lambda: two.drag((0.5, 0.4), (0.5, 0.6)))
    assert int((labels(shot) == 0).sum()) > int((theirs == 0).sum()) and labels(shot)[theirs == 0].max() == 0


def test_labels_of_the_wrong_length_are_a_sentence_and_change_nothing(studio: Studio, shot: Path) -> None:
    before = shot.read_bytes()

    def shorten(route: Any) -> None:
        told = json.loads(route.request.post_data)
        told["runs"][0]["count"] -= 1
        route.continue_(post_data=json.dumps(told))

    studio.page.route("**/sketch/labels", shorten, times=1)
    studio.expected = ("400 (Bad Request)",)
    studio.drag((0.4, 0.5), (0.6, 0.5))
    studio.told("the labels are of another mesh")
    studio.page.get_by_text("not written: take it back, or change it").wait_for()
    assert shot.read_bytes() == before and not shot.with_name("box.box.bkarrays").exists()
    written(studio, lambda: studio.drag((0.4, 0.4), (0.6, 0.4)))  # what was refused is written with the next stroke
    assert int((labels(shot) == 0).sum()) == regions(studio)["region 1"]


def test_sixty_thousand_triangles_paint_fluently(
    tab: Tab, direct: Direct, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_animation(tmp_path / "guide.usdc", rippling(175, 3), rate=24.0, prim="/sheet")
    (tmp_path / "sheet.toml").write_text('[object.sheet]\nguide = { file = "guide.usdc" }\nmesh = { levels = 0 }\n')
    studio = tab().direct(direct(tmp_path / "sheet.toml").address, "Paint")
    look(studio, "From above (Y)")
    written(studio, lambda: studio.drag((0.4, 0.4), (0.5, 0.6), (0.6, 0.45), steps=30))
    dabs, waits = studio.says("bunraku.dabs"), studio.says("bunraku.waits")
    studio.keep("painting_60k")
    with capsys.disabled():
        work = f"{len(dabs)} dabs of {statistics.median(dabs):.1f} ms, {max(dabs):.1f} at most"
        wait = f"from the pointer to the picture {statistics.median(waits):.0f} ms, {max(waits):.0f} at most"
        print(f"\npainting {2 * 174**2} triangles: {work}; {wait}")
    assert regions(studio)["region 1"] > 500
    assert statistics.median(dabs) < 10.0  # of the page's own work; drawing is the graphics card's, and there is none
