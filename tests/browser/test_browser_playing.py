"""One take in the page: time, camera, overlays, the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browser_page import Studio
from browser_takes import write_shot

from bunraku.shots import read_shot
from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio


@pytest.fixture
def studio(tab: Callable[..., Studio], serve: Callable[..., StudioServer], takes: list[Path]) -> Studio:
    return tab().open(serve(takes[0]).address)


def test_opens_with_guide_and_result_side_by_side_and_room_for_them(studio: Studio) -> None:
    assert studio.says("bunraku.look.mode") == "side"
    assert studio.page.locator(".name").all_inner_texts() == ["guide", "result"]
    studio.keep("side_light")
    boxes = {name: studio.page.locator(f".{name}").first.bounding_box() for name in ("bar", "stage", "dock", "panel")}
    assert boxes["stage"]["height"] >= 0.55 * 720
    assert boxes["bar"]["y"] + boxes["bar"]["height"] <= boxes["stage"]["y"] + 1
    assert boxes["stage"]["y"] + boxes["stage"]["height"] <= boxes["dock"]["y"] + 1
    assert boxes["stage"]["x"] + boxes["stage"]["width"] <= boxes["panel"]["x"] + 1
    assert boxes["dock"]["y"] + boxes["dock"]["height"] <= 720.5
    left, right = np.split(studio.picture()[:, : 2 * (int(boxes["stage"]["width"]) // 2)], 2, axis=1)
    assert left.std() > 5 and right.std() > 5  # something is drawn in both
    blue = left[..., 2] - left[..., 0]
    assert blue.max() > 15 > (right[..., 2] - right[..., 0]).max()  # the guide is cool, the result is warm


def test_nothing_sticks_out_of_the_bar_or_the_playback_row(studio: Studio) -> None:
    for row in (".bar", ".transport"):
        edges = studio.page.evaluate(
            """row => { const r = document.querySelector(row).getBoundingClientRect();
            return [...document.querySelectorAll(row + ' button, ' + row + ' select')].filter(e => e.offsetParent)
              .map(e => e.getBoundingClientRect())
              .map(b => b.left >= r.left && b.right <= r.right && b.bottom <= r.bottom + 1); }""",
            row,
        )
        assert len(edges) > 5 and all(edges)


def test_plays_loops_and_pauses(studio: Studio) -> None:
    studio.press(" ")
    seen = studio.until("bunraku.playing && bunraku.frame > 6 && bunraku.frame")
    studio.until(f"bunraku.frame < {seen}")  # it came round
    studio.until("bunraku.fps > 0")
    studio.press(" ")
    studio.until("!bunraku.playing")
    studio.until("bunraku.buffered === 24")


def test_steps_jumps_and_takes_a_typed_frame(studio: Studio) -> None:
    studio.press("ArrowRight", "ArrowRight", "ArrowLeft")
    assert studio.says("bunraku.frame") == 2
    studio.press("End")
    assert studio.says("bunraku.frame") == 24
    studio.press("Shift+ArrowLeft")
    assert studio.says("bunraku.frame") == 14
    studio.press("Home")
    assert studio.says("bunraku.frame") == 1
    field = studio.page.get_by_role("textbox", name="Frame number")
    field.fill("17")
    field.press("Enter")
    assert studio.says("bunraku.frame") == 17


def test_scrubs_on_the_time_line_and_on_a_curve(studio: Studio) -> None:
    for place, share, frame in ((".track", 0.5, 13), (".plot", 0.25, 7)):
        box = studio.page.locator(place).first.bounding_box()
        studio.page.mouse.click(box["x"] + share * box["width"] + 1, box["y"] + 0.5 * box["height"])
        assert studio.says("bunraku.frame") == frame
    studio.until("bunraku.ready")


def test_range_holds_what_is_played(studio: Studio) -> None:
    studio.press("Shift+ArrowRight", "i", "ArrowRight", "ArrowRight", "ArrowRight", "o", "Home")
    assert studio.says("bunraku.frame") == 11
    studio.press(" ")
    studio.until("bunraku.frame > 12")
    studio.until("bunraku.frame < 12")
    assert 11 <= studio.says("bunraku.frame") <= 14
    studio.press(" ")
    handle = studio.page.get_by_role("slider", name="Last frame of the range")
    assert handle.get_attribute("aria-valuenow") == "14"
    handle.press("ArrowRight")
    assert handle.get_attribute("aria-valuenow") == "15"


def test_overlays_colour_the_result_and_their_ends_can_be_set(studio: Studio) -> None:
    plain = studio.picture()
    studio.press("Shift+ArrowRight")
    for title, name in (("Force of direction", "force"), ("Regions", "regions"), ("Strain", "strain")):
        studio.choose_overlay(title)
        studio.keep(f"overlay_{name}")
        assert np.abs(studio.picture() - plain).mean() > 1.0
    title = studio.page.locator(".legend .title")
    studio.choose_overlay("Force of direction")
    assert title.inner_text() == "Force of direction [N]"
    before = studio.picture()
    high = studio.page.get_by_role("textbox", name="Upper end of the scale")
    high.fill("1")
    high.press("Enter")
    studio.until("bunraku.ready && bunraku.look.ends.force[1] === 1")
    assert np.abs(studio.picture() - before).mean() > 0.5
    studio.button("Ends that suit the whole take").click()
    assert studio.says("bunraku.look.ends.force") is None


def test_pointing_at_the_result_tells_vertex_region_and_value(studio: Studio) -> None:
    studio.choose_overlay("Force of direction")
    box = studio.page.locator(".stage").bounding_box()
    studio.page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 0.5 * box["height"])
    probe = studio.page.locator(".probe")
    probe.wait_for(state="visible")
    assert "vertex" in probe.inner_text() and "force of direction" in probe.inner_text()
    studio.page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 0.5 * box["height"])
    studio.until("bunraku.look.region !== null")
    studio.press("Escape")
    assert studio.says("bunraku.look.region") is None


def test_a_sentence_leads_to_its_frame(studio: Studio) -> None:
    sentence = studio.page.locator(".sentence small", has_text="guide vertex").first
    told = sentence.inner_text()
    camera = studio.says("bunraku.camera")
    sentence.click()
    studio.until(f"bunraku.frame === {told.split(' ')[1]} && bunraku.look.region !== null && bunraku.ready")
    studio.until(f"bunraku.camera.reach < {0.95 * camera['reach']}")
    assert studio.says("bunraku.frame") == float(told.split(" ")[1])
    assert studio.says("bunraku.camera.target") != camera["target"]  # the region, not the whole
    studio.keep("sentence")


def test_camera_turns_moves_comes_nearer_and_frames_all(studio: Studio) -> None:
    first = studio.says("bunraku.camera")
    box = studio.page.locator(".stage").bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"]
    mouse = studio.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 80, y + 10, steps=4)
    mouse.up()
    assert studio.says("bunraku.camera.turn") < first["turn"]
    mouse.wheel(0, -120)
    studio.until(f"bunraku.camera.reach < {first['reach']}")
    turned = studio.says("bunraku.camera.turn")
    mouse.wheel(12, 4)  # two fingers on a touchpad
    studio.until(f"bunraku.camera.turn > {turned}")
    studio.press("Shift+D", "-", "w")
    assert studio.says("bunraku.camera.target") != first["target"]
    studio.press("f")
    studio.until(f"Math.abs(bunraku.camera.reach / {first['reach']} - 1) < 0.01")
    studio.press("y")
    studio.until("bunraku.camera.rise > 1.5")


def test_wireframe_and_overlaid_guide_draw_something_else(studio: Studio) -> None:
    studio.press("3")
    studio.until("bunraku.ready")
    alone = studio.picture()
    studio.press("m")
    studio.keep("wire")
    assert np.abs(studio.picture() - alone).mean() > 0.3
    studio.press("m", "2")
    studio.keep("overlaid")
    assert np.abs(studio.picture() - alone).mean() > 0.3


def test_curves_are_chosen_from_a_menu(studio: Studio) -> None:
    """How far the guide is that is met is rounding: it is there to choose, but not shown at first."""
    assert studio.page.locator(".lane").count() == 3
    assert "Distance" not in studio.page.locator(".lanes").inner_text()
    studio.button("Choose curves").click()
    studio.page.get_by_role("checkbox", name="Distance from what was directed: in memory").check()
    assert studio.page.locator(".lane").count() == 4
    studio.press("Escape", "c")
    assert not studio.page.locator(".lanes").is_visible()


def test_contact_pairs_are_marked(
    tab: Callable[..., Studio], serve: Callable[..., StudioServer], tmp_path: Path
) -> None:  # fmt: skip
    folder = read_shot(write_shot(tmp_path, frames=8, levels=2, physics={"contact": True})).run(threads=1).folder
    studio = tab().open(serve(folder).address + "#m=result")
    studio.press("End")
    studio.until("bunraku.ready")
    plain = studio.picture()
    studio.choose_overlay("Contact pairs")
    studio.keep("contact")
    red = (studio.picture() - plain)[..., 0] - (studio.picture() - plain)[..., 1]
    assert (red > 60).sum() > 20
