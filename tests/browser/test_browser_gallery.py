"""The gallery of a wedge in a real browser, opened as a file: films on hover, all at once, a table that sorts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from inline_crew import InlineCrew
from turning import turning

from bunraku.io import write_animation
from bunraku.shots import Book, WedgeSettings, find_wedge_takes, parse_varied, run_wedge

pytestmark = pytest.mark.studio
FLAPPY = "object.box.material.young=1e6,1e5,1e7"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = tmp_path_factory.mktemp("wedge")
    write_animation(folder / "guide.usda", turning(12), rate=24.0, prim="/box")
    shot = folder / "box.toml"
    shot.write_text('[object.box]\nguide = { file = "guide.usda" }\nmesh = { levels = 1 }\n[output]\npreview = false\n')
    return run_wedge(WedgeSettings(shot, parse_varied([FLAPPY])), InlineCrew().hire)


@pytest.fixture
def page(browser: Any, book: Book) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    opened.goto(book.page.as_uri())
    yield opened
    opened.close()
    assert not wrong


def until(true: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_every_still_is_there(page: Any, screenshots: Path) -> None:
    page.screenshot(path=os.fspath(screenshots / "gallery.png"), full_page=True)
    sizes = "all => all.map((one) => one.complete ? one.naturalWidth : 0)"  # they are fetched when they come into sight
    until(lambda: page.eval_on_selector_all(".tile img", sizes) == [480] * 3)


def test_the_table_sorts_both_ways_and_numbers_as_numbers(page: Any) -> None:
    def column(k: int) -> list[str]:
        return page.eval_on_selector_all(f".numbers tbody tr > :nth-child({k})", "all => all.map((e) => e.innerText)")

    assert column(2) == ["1e6", "100000", "1e7"]
    young = page.get_by_role("button", name="young")
    young.click()
    assert column(2) == ["100000", "1e6", "1e7"]
    assert page.locator('th[aria-sort="ascending"]').count() == 1
    young.click()
    assert column(2) == ["1e7", "1e6", "100000"]
    page.get_by_role("button", name="Take").click()
    assert column(1) == ["c001", "c002", "c003"]


def test_a_film_plays_under_the_pointer_from_where_the_still_is(page: Any) -> None:
    video = page.locator("#c002 video")
    assert video.evaluate("film => film.paused && getComputedStyle(film).opacity === '0'")
    video.evaluate("film => { film.defaultPlaybackRate = film.playbackRate = 1 / 16; }")  # else it is soon round again
    page.locator("#c002").hover()
    until(lambda: video.evaluate("film => !film.paused && film.classList.contains('on')"))
    still = page.locator(".transport").evaluate("one => (one.dataset.still - one.dataset.first) / one.dataset.rate")
    assert video.evaluate("film => film.currentTime") >= still - 0.05
    assert page.locator('tr[data-take="c002"]').evaluate("row => row.classList.contains('lit')")
    page.mouse.move(1, 1)
    until(lambda: video.evaluate("film => film.paused && !film.classList.contains('on')"))


def test_a_film_that_is_left_before_it_begins_stays_hidden(page: Any) -> None:
    left = """film => {
      const tile = film.closest('.tile');
      for (const name of ['pointerenter', 'pointerleave']) tile.dispatchEvent(new PointerEvent(name));
      for (const name of ['seeked', 'playing']) film.dispatchEvent(new Event(name));
      return film.paused && !film.classList.contains('on'); }"""
    assert page.locator("#c002 video").evaluate(left)


def test_all_films_go_together_and_are_scrubbed_together(page: Any) -> None:
    page.get_by_role("button", name="Play all").click()
    until(lambda: page.evaluate("() => [...document.querySelectorAll('video')].every((one) => !one.paused)"))
    page.get_by_role("button", name="Pause").click()
    page.locator("#scrub").fill("500")
    at = "() => [...document.querySelectorAll('video')].map((one) => one.currentTime)"
    until(lambda: all(abs(one - 0.25) < 0.02 for one in page.evaluate(at)))
    until(lambda: page.locator("#frame").inner_text() == "frame 7")
    page.keyboard.press("Escape")
    assert page.locator("#frame").inner_text().startswith("stills: frame ")


def test_a_click_leads_to_the_take(page: Any) -> None:
    page.locator("#c003 a").click()
    page.wait_for_url("**/c003/index.html")  # a click does not wait for where it leads
    assert page.title().startswith("box c003")


def test_its_takes_open_in_the_viewer(book: Book, serve: Any, tab: Any) -> None:
    studio = tab().open(serve(*find_wedge_takes(book.folder)[:2]).address)
    assert "c001" in studio.page.content() and "c002" in studio.page.content()
