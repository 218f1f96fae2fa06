"""What the page says is what it shows: the frame it names, the colours of its legend, the take a name belongs to."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import PATIENCE, Studio
from browser_pretence import PretendedRun, retell
from browser_takes import make_large

from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio


def _go_to(studio: Studio, frame: int) -> None:
    field = studio.page.get_by_role("textbox", name="Frame number")
    field.fill(str(frame))
    field.press("Enter")
    studio.until("bunraku.ready")


def _upper_end(studio: Studio) -> str:
    return studio.page.get_by_role("textbox", name="Upper end of the scale").input_value()


@pytest.fixture
def run(tab: Callable[..., Studio], serve: Callable[..., StudioServer], takes: list[Path]) -> PretendedRun:
    """A page that follows a run of which ten frames are there."""
    run = PretendedRun(tab(), 10)
    run.studio.open(serve(takes[0]).address)
    run.studio.until("bunraku.frame === 1 || bunraku.frame === 10")
    return run


def test_following_ends_where_someone_goes_to_a_frame(run: PretendedRun) -> None:
    studio = run.studio
    run.make(11)
    studio.until("bunraku.frame === 11 && bunraku.ready")
    box = studio.page.locator(".track").bounding_box()
    plot = studio.page.locator(".plot").first.bounding_box()
    ways: list[tuple[Callable[[], Any], int]] = [
        (lambda: _go_to(studio, 3), 3),
        (lambda: studio.press("ArrowLeft"), -1),
        (lambda: studio.press("Home"), 1),
        (lambda: studio.page.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + 8), 5),
        (lambda: studio.page.mouse.click(plot["x"] + 0.2 * plot["width"], plot["y"] + 8), 5),
        (lambda: studio.button("One frame back").click(), -1),
    ]
    for go, to in ways:
        want = to if to > 0 else run.made + to
        go()
        studio.until(f"bunraku.frame === {want}")
        run.make(run.made + 1)
        studio.until("bunraku.ready")
        assert studio.says("bunraku.frame") == want and not studio.says("bunraku.look.follow")
        studio.page.evaluate("() => document.activeElement.blur()")
        studio.press("j")  # follow again: to the newest at once
        studio.until(f"bunraku.frame === {run.made}")


def test_the_scale_grows_with_a_run(run: PretendedRun) -> None:
    studio = run.studio
    run.high["force"] = 28.25
    studio.choose_overlay("Force of direction")
    before = _upper_end(studio)
    run.make(11)
    assert _upper_end(studio) == before != "28.3"
    run.make(16)  # the server looks again at each power of two
    studio.until("document.querySelector('.legend input:last-of-type').value === '28.3'")
    assert studio.says("bunraku.takes[0].ready") == 16
    assert _upper_end(studio) == "28.3"


def test_one_failure_does_not_end_following(run: PretendedRun) -> None:
    studio = run.studio
    studio.until("bunraku.takes[0].ready === 10")
    run.fail_once()
    studio.told("A frame is damaged.")
    run.make(12)
    studio.until("bunraku.frame === 12")
    assert studio.says("bunraku.takes[0].ready") == 12
    studio.complaints[:] = [said for said in studio.complaints if "Failed to load resource" not in said]


def test_takes_that_could_not_be_asked_for_are_asked_for_again(run: PretendedRun) -> None:
    studio = run.studio
    run.high["force"] = 28.25
    studio.choose_overlay("Force of direction")
    refused = {"status": 500, "json": {"error": "A frame is damaged."}}
    studio.page.route(re.compile(r"/takes$"), lambda route: route.fulfill(**refused), times=1)
    run.make(16)
    studio.told("A frame is damaged.")
    studio.until("document.querySelector('.legend input:last-of-type').value === '28.3'")
    studio.complaints[:] = [said for said in studio.complaints if "Failed to load resource" not in said]


def test_a_frame_that_is_not_made_is_not_gone_to(run: PretendedRun) -> None:
    studio = run.studio
    _go_to(studio, 20)
    assert studio.says("bunraku.frame") == 10
    assert studio.page.get_by_role("textbox", name="Frame number").input_value() == "10"
    box = studio.page.locator(".track").bounding_box()
    studio.page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 8)
    assert studio.says("bunraku.frame") == 10


def test_a_take_that_ends_early_says_which_frame_it_shows(
    tab: Callable[..., Studio], serve: Callable[..., StudioServer], takes: list[Path]
) -> None:
    studio = tab()

    def shorten(told: list[dict[str, Any]]) -> None:
        told[0] |= {"frames": told[0]["frames"][:12], "ready": 12}

    retell(studio, shorten)
    studio.open(serve(*takes).address)
    _go_to(studio, 20)
    assert studio.says("bunraku.frame") == 20
    names = studio.page.locator(".name").all_inner_texts()
    assert "frame 12" in names[0] and "frame" not in names[1]
    assert [reading.split()[0] for reading in studio.page.locator(".reading").all_inner_texts()] == ["–"] * 3
    _go_to(studio, 9)
    assert not any("frame" in name for name in studio.page.locator(".name").all_inner_texts())


def test_colours_have_a_legend_whichever_take_is_active(
    tab: Callable[..., Studio], serve: Callable[..., StudioServer], takes: list[Path]
) -> None:
    studio = tab()

    def untrack(told: list[dict[str, Any]]) -> None:
        told[1]["overlays"] = [one for one in told[1]["overlays"] if one["name"] == "strain"]

    retell(studio, untrack)
    studio.open(serve(*takes).address)
    studio.choose_overlay("Force of direction")
    studio.press("n")
    assert studio.says("bunraku.look.active") == 1
    assert studio.page.locator(".legend .title").inner_text() == "Force of direction [N]"
    assert studio.page.get_by_role("combobox", name="Overlay").input_value() == "force"
    studio.press("3")  # that take alone has nothing of the kind
    assert not studio.page.locator(".legend").is_visible()
    assert studio.page.get_by_role("combobox", name="Overlay").locator("option:checked").inner_text() == "No overlay"


@pytest.fixture
def twins(tab: Callable[..., Studio], serve: Callable[..., StudioServer], takes: list[Path], tmp_path: Path) -> Studio:
    """A page over a take and its copy in another place."""
    other = tmp_path / "other" / "takes" / "box" / takes[0].name
    shutil.copytree(takes[0], other)
    return tab().open(serve(takes[0], other).address)


def _halves(studio: Studio) -> tuple[Any, Any]:
    """Two pictures (h, w, 3) of a grid of two, without their names."""
    picture = studio.picture()[60:-60]
    half = picture.shape[1] // 2
    return picture[:, :half], picture[:, -half:]


def test_camera_and_time_are_those_of_every_take_in_a_grid(twins: Studio) -> None:
    first = _halves(twins)
    assert np.abs(first[0] - first[1]).mean() < 0.5
    twins.press("End", "a", "a", "a", "w", "+")
    twins.until("bunraku.ready && bunraku.frame === 24")
    then = _halves(twins)
    assert np.abs(then[0] - then[1]).mean() < 0.5
    assert all(np.abs(one - other).mean() > 2.0 for one, other in zip(first, then, strict=True))


def test_camera_and_time_are_those_of_both_takes_in_a_wipe(twins: Studio) -> None:
    twins.press("5", "Shift+ArrowRight", "a", "a", "+")
    twins.until("bunraku.ready && bunraku.frame === 11")
    wiped = twins.picture()[60:-60]
    twins.press("3")
    alone = twins.picture()[60:-60]
    side = alone.shape[1] // 2
    parts = (slice(0, side - 30), slice(side + 30, None))  # the divider's handle is between
    assert all(np.abs(wiped[:, part] - alone[:, part]).mean() < 0.5 for part in parts)


def test_takes_of_one_name_are_told_apart_by_their_folders(twins: Studio) -> None:
    names = twins.page.locator(".name").all_inner_texts()
    assert names[0] != names[1] and "other" in names[1]


def test_next_take_in_a_wipe_changes_sides_with_the_other(twins: Studio) -> None:
    twins.press("5", "n")
    assert twins.says("[bunraku.look.active, bunraku.look.other]") == [1, 0]
    twins.page.get_by_role("combobox", name="Take on the right").select_option(index=1)
    assert twins.says("[bunraku.look.active, bunraku.look.other]") == [0, 1]


def test_a_region_is_marked_only_where_it_is_the_same(
    tab: Callable[..., Studio], serve: Callable[..., StudioServer], takes: list[Path], tmp_path: Path
) -> None:
    other = make_large(takes[0], tmp_path / "v003", 20)  # the same names, other regions
    studio = tab().open(serve(takes[0], other).address)
    plain = _halves(studio)
    _choose(studio, 0.25)
    marked = _halves(studio)
    assert np.abs(marked[0] - plain[0]).max() > 20 and np.abs(marked[1] - plain[1]).max() == 0
    studio.press("Escape")
    _choose(studio, 0.75)
    marked = _halves(studio)
    assert np.abs(marked[1] - plain[1]).max() > 20 and np.abs(marked[0] - plain[0]).max() == 0


def test_a_region_is_marked_in_all_takes_that_have_it(twins: Studio) -> None:
    plain = _halves(twins)
    _choose(twins, 0.25)
    assert all(np.abs(one - other).max() > 20 for one, other in zip(_halves(twins), plain, strict=True))


def _choose(studio: Studio, share: float) -> None:
    """Click on the middle of a view, `share` of the way across, and take the pointer away."""
    box = studio.page.locator(".stage").bounding_box()
    studio.page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
    studio.until("bunraku.look.region !== null")
    studio.page.mouse.move(2, 2)
    studio.page.locator(".probe").wait_for(state="hidden")


def test_what_is_said_of_a_vertex_goes_when_the_picture_changes(twins: Studio) -> None:
    box = twins.page.locator(".stage").bounding_box()
    probe = twins.page.locator(".probe")
    for n, key in enumerate(("v", "a")):
        twins.page.mouse.move(box["x"] + 0.25 * box["width"] + n, box["y"] + 0.5 * box["height"])
        probe.wait_for(state="visible")
        twins.press(key)
        probe.wait_for(state="hidden")


def test_an_end_of_the_scale_that_is_not_typed_over_stays_as_it_is(twins: Studio) -> None:
    twins.choose_overlay("Force of direction")
    low = twins.page.get_by_role("textbox", name="Lower end of the scale")
    low.fill("0.5")
    low.press("Enter")
    ends = twins.says("bunraku.look.ends.force")
    assert ends[0] == 0.5 and len(repr(ends[1])) > 8  # as the server told it, not as three digits show it


def test_a_link_without_range_and_curves_shows_all_of_them(twins: Studio) -> None:
    twins.press("Shift+ArrowRight", "o")
    twins.button("Choose curves").click()
    twins.page.get_by_role("checkbox", name="Energies: kinetic").check()
    twins.page.evaluate("() => { location.hash = 'm=result&f=4'; }")
    twins.until("bunraku.frame === 4 && bunraku.look.curves === null")
    handle = twins.page.get_by_role("slider", name="Last frame of the range")
    assert handle.get_attribute("aria-valuenow") == "24"


def test_a_still_waits_for_the_frame_it_names(run: PretendedRun) -> None:
    studio, held = run.studio, list[Any]()
    studio.page.route(re.compile(r"/frames\?"), lambda route: held.append(route))
    run.make(14)
    studio.until("bunraku.frame === 14 && !bunraku.ready")
    saved: list[Any] = []
    studio.page.on("download", lambda download: saved.append(download))
    studio.press("k")
    studio.page.wait_for_timeout(400)
    assert not saved
    studio.page.unroute(re.compile(r"/frames\?"))
    for route in held:
        route.continue_()
    studio.until("bunraku.ready")
    late = time.monotonic() + PATIENCE
    while not saved and time.monotonic() < late:
        studio.page.wait_for_timeout(50)
    assert saved[0].suggested_filename.endswith("_14.png")


def test_words_to_be_seen_are_in_the_names_of_their_buttons(twins: Studio) -> None:
    """So that who speaks to the page can say what is written (WCAG 2.5.3)."""
    wrong = twins.page.evaluate(
        """() => [...document.querySelectorAll('button[aria-label]')].map(e => [e.textContent, e.ariaLabel])
        .filter(([seen, name]) => !name.toLowerCase().includes(seen.replace('▴', '').trim().toLowerCase()))"""
    )
    wrong = [
        pair for pair in wrong if "Go there" not in pair[1]
    ]  # a sentence and where it leads, two lines of one button
    assert wrong == []


def test_the_report_tells_what_was_met_before_mere_notes(twins: Studio) -> None:
    kinds = twins.page.evaluate("() => [...document.querySelectorAll('.report h2')].map(e => e.dataset.kind)")
    assert len(kinds) > 1 and kinds == [one for one in ("missed", "yielded", "met", "note") if one in kinds]
