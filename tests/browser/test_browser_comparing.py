"""Several takes in the page: grid, wipe, differences, and the look that a link brings back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browser_page import Studio

from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio


@pytest.fixture
def address(serve: Callable[..., StudioServer], takes: list[Path]) -> str:
    return serve(*takes).address


def test_two_takes_in_a_grid_with_what_differs(tab: Callable[..., Studio], address: str) -> None:
    studio = tab().open(address)
    assert studio.says("bunraku.look.mode") == "grid"
    studio.press("End")
    studio.keep("grid")
    names = studio.page.locator(".name").all_inner_texts()
    assert len(names) == 2 and names[0] != names[1]
    studio.page.get_by_role("tab", name="Differences").click()
    told = studio.page.locator(".differences").inner_text()
    assert "physics.substeps" in told and "3" in told
    studio.keep("differences")
    assert all(len(reading.split()) == 2 for reading in studio.page.locator(".reading").all_inner_texts())


def test_wipe_is_moved_by_pointer_and_by_keys(tab: Callable[..., Studio], address: str) -> None:
    studio = tab().open(address)
    studio.press("5", "End")
    studio.choose_overlay("Strain")
    studio.keep("wipe")
    divider = studio.page.get_by_role("slider", name="Divider of the wipe")
    divider.press("ArrowLeft")
    assert studio.says("bunraku.look.split") == pytest.approx(0.48)
    studio.press("]")
    assert studio.says("bunraku.look.split") == pytest.approx(0.5)
    box = studio.page.locator(".stage").bounding_box()
    middle = box["y"] + 0.5 * box["height"]
    studio.page.mouse.move(box["x"] + 0.5 * box["width"], middle)
    studio.page.mouse.down()
    studio.page.mouse.move(box["x"] + 0.25 * box["width"], middle, steps=3)
    studio.page.mouse.up()
    assert studio.says("bunraku.look.split") == pytest.approx(0.25, abs=0.01)
    studio.page.get_by_role("combobox", name="Take on the left").select_option(index=1)
    assert studio.says("bunraku.look.active") == 1


def test_a_link_brings_back_the_look_and_so_does_a_reload(tab: Callable[..., Studio], address: str) -> None:
    studio = tab().open(address)
    studio.press("5", "[", "[", "m", "a", "a", "+")
    studio.choose_overlay("Force of direction")
    high = studio.page.get_by_role("textbox", name="Upper end of the scale")
    high.fill("12")
    high.press("Enter")
    field = studio.page.get_by_role("textbox", name="Frame number")
    field.fill("9")
    field.press("Enter")
    studio.until("bunraku.ready")
    want = studio.says("({look: bunraku.look, camera: bunraku.camera, frame: bunraku.frame})")
    before = studio.picture()
    studio.button("Copy a link").click()
    link = studio.page.evaluate("() => navigator.clipboard.readText()")
    assert link.startswith(address + "#") and link == studio.page.url
    for again in (tab(), studio):
        again.page.goto("about:blank")
        again.open(link)
        got = again.says("({look: bunraku.look, camera: bunraku.camera, frame: bunraku.frame})")
        assert got["look"] == want["look"] and got["frame"] == want["frame"] == 9
        assert got["camera"]["turn"] == pytest.approx(want["camera"]["turn"], rel=1e-4)
        assert got["camera"]["reach"] == pytest.approx(want["camera"]["reach"], rel=1e-4)
        again.keep("link")
        assert np.abs(again.picture() - before).mean() < 2.0


def test_address_keeps_up_so_that_a_reload_shows_the_same(tab: Callable[..., Studio], address: str) -> None:
    studio = tab().open(address)
    studio.press("3", "End")
    studio.until("location.hash.includes('f=24') && location.hash.includes('m=result')")
    studio.page.reload()
    studio.until("bunraku.ready")
    assert studio.says("bunraku.frame") == 24 and studio.says("bunraku.look.mode") == "result"


def test_nonsense_in_a_link_is_passed_over(tab: Callable[..., Studio], address: str) -> None:
    studio = tab().open(address + "#m=nothing&a=77&f=abc&c=1,2&o=nobody&e=5,1&s=9,x&w=7&r=9,2&g=1.5")
    assert studio.says("bunraku.look.mode") == "grid"
    assert studio.says("bunraku.frame") == 1
    assert studio.says("bunraku.look.overlay") is None
