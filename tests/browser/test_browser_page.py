"""The page itself: light and dark, keyboard alone, stills, films, a server that goes and comes back, who may look."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_page import Studio
from PIL import Image

from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio


@pytest.fixture
def address(serve: Callable[..., StudioServer], takes: list[Path]) -> str:
    return serve(takes[0]).address


def test_light_and_dark_follow_the_system_and_a_key(tab: Callable[..., Studio], address: str) -> None:
    light, dark = tab("light").open(address), tab("dark").open(address)
    assert light.picture().mean() > dark.picture().mean() + 60
    dark.keep("side_dark")
    dark.press("t")
    dark.until("bunraku.ready && document.documentElement.dataset.theme === 'light'")
    assert abs(dark.picture().mean() - light.picture().mean()) < 10


def test_words_can_be_read_in_light_and_dark(tab: Callable[..., Studio], address: str) -> None:
    """Contrast of text with what is behind it: at least 4.5 to 1, as WCAG asks for."""
    for scheme in ("light", "dark"):
        studio = tab(scheme).open(address)
        for place in (".bar button", ".transport .rate", ".lane .title", ".reading b", ".sentence", ".sentence small",
                      ".badge", ".takes small", ".tabs button", ".name"):  # fmt: skip
            ink, paper = studio.page.evaluate(_COLOURS, place)
            assert _contrast(ink, paper) >= 4.5, (scheme, place, ink, paper)


_COLOURS = """place => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const over = (top, under) => { const a = top[3] ?? 1; return [0, 1, 2].map(c => a * top[c] + (1 - a) * under[c]); };
  const element = document.querySelector(place);
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
  let paper = [255, 255, 255];
  for (const layer of layers.reverse()) paper = over(layer, paper);
  return [parse(getComputedStyle(element).color), paper];
}"""


def _contrast(ink: list[float], paper: list[float]) -> float:
    def light(colour: list[float]) -> float:
        shares = np.array(colour[:3]) / 255.0
        linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    bright, dim = sorted((light(ink), light(paper)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_everything_is_reached_with_the_keyboard_alone(tab: Callable[..., Studio], address: str) -> None:
    studio = tab().open(address)
    seen: list[str] = []
    for _ in range(80):
        studio.press("Tab")
        name, ring = studio.page.evaluate(
            """() => { const e = document.activeElement; const s = getComputedStyle(e);
            return [e.getAttribute('aria-label') || e.textContent.trim(),
                    s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 1]; }"""
        )
        if name in seen[:1]:
            break
        if studio.page.evaluate("() => document.activeElement !== document.body"):
            assert ring, name  # one sees where one is
            seen.append(name)
    told = "\n".join(seen)
    for word in ("Side", "Overlay", "Wireframe", "Copy a link", "Play", "Frame", "First frame of the range", "Report",
                 "Choose curves", "Light or dark"):  # fmt: skip
        assert word in told, (word, seen)
    studio.press("?")
    assert studio.page.get_by_role("dialog", name="Keyboard shortcuts").is_visible()
    studio.keep("help")
    studio.press("Escape")
    assert not studio.page.get_by_role("dialog").is_visible()


def test_space_plays_after_a_click_and_presses_what_keys_have_led_to(tab: Callable[..., Studio], address: str) -> None:
    studio = tab().open(address)
    for name in ("Overlaid", "Front"):
        studio.button(name).click()
        studio.press(" ")
        studio.until("bunraku.playing")
        studio.press(" ")
        studio.until("!bunraku.playing")
    wire = studio.button("Wireframe")
    wire.focus()
    studio.press(" ")
    assert wire.get_attribute("aria-pressed") == "true" and not studio.says("bunraku.playing")


def test_every_button_and_slider_has_a_name(tab: Callable[..., Studio], address: str) -> None:
    studio = tab().open(address)
    nameless = studio.page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, [role=slider], canvas[role]')]
        .filter(e => !e.getAttribute('aria-label') && !e.labels?.length)
        .filter(e => e.tagName !== 'BUTTON' || !e.textContent.trim())
        .map(e => e.outerHTML)"""
    )
    assert nameless == []


def test_still_as_shown_and_twice_as_large(tab: Callable[..., Studio], address: str, tmp_path: Path) -> None:
    studio = tab().open(address)
    studio.press("3", "End")
    studio.choose_overlay("Strain")
    box = studio.page.locator(".stage").bounding_box()
    for name, scale in (("As shown", 1), ("Twice as large", 2)):
        studio.button("Save a picture").click()
        with studio.page.expect_download() as coming:
            studio.page.get_by_text(name, exact=True).click()
        path = tmp_path / coming.value.suggested_filename
        coming.value.save_as(path)
        with Image.open(path) as picture:
            assert picture.format == "PNG" and path.name.endswith("_24.png")
            assert picture.size == (scale * round(box["width"]), scale * round(box["height"]))
            assert np.asarray(picture.convert("RGB")).std() > 8
    Image.open(path).save(studio.folder / "still.png")


def test_film_of_the_range(tab: Callable[..., Studio], address: str, tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    studio = tab(size=(700, 500)).open(address)
    studio.press("3", "Shift+ArrowRight", "o", "Home")
    studio.button("Save the range as mp4").click()
    with studio.page.expect_download(timeout=90_000) as coming:
        studio.button("Draw every frame").click()
    path = tmp_path / coming.value.suggested_filename
    coming.value.save_as(path)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert path.suffix == ".mp4" and count == 11 and seconds == pytest.approx(11 / 24.0, abs=0.1)
    assert studio.says("bunraku.frame") == 1


def test_a_film_can_be_left(tab: Callable[..., Studio], address: str) -> None:
    studio, held = tab(size=(700, 500)).open(address), list[Any]()
    studio.page.route(re.compile(r"/movies/[\w-]+$"), lambda route: held.append(route))  # its pictures arrive nowhere
    studio.button("Save the range as mp4").click()
    studio.button("Draw every frame").click()
    studio.button("Leave the film").click()
    studio.told("The film was left.")
    studio.button("Draw every frame").wait_for()
    assert studio.button("Leave the film").count() == 0 and studio.says("bunraku.frame") == 1


@contextmanager
def _process(take: Path, port: int, token: str) -> Iterator[str]:
    """The address of a server in a process of its own, which is killed at the end, as a crash would."""
    command = [sys.executable, "-c", _SERVER, str(take), str(port), token]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


_SERVER = """
import sys
from bunraku.shots import open_take
from bunraku.studio import StudioServer
from bunraku.studio.gate import Gate
server = StudioServer([open_take(sys.argv[1])], int(sys.argv[2]))
server.gate = Gate(server.gate.port, sys.argv[3])
print(server.address, flush=True)
server.serve_forever()
"""


def test_a_server_that_is_killed_and_comes_back(tab: Callable[..., Studio], takes: list[Path]) -> None:
    studio = tab()
    with _process(takes[0], 0, "first-token") as address:
        studio.open(address)
        studio.until("bunraku.buffered === 24")
    port = int(address.split(":")[2].split("/")[0])
    studio.until("bunraku.connection === 'gone'")
    assert "bunraku view" in studio.says("bunraku.error")
    studio.press("End")
    studio.until("bunraku.ready && bunraku.frame === 24")  # what is loaded stays
    studio.keep("server_gone")
    with _process(takes[0], port, "first-token"):
        studio.until("bunraku.connection === 'here' && bunraku.error === ''")
        studio.choose_overlay("Strain")  # and asks for more
        assert studio.says("bunraku.frame") == 24
    with _process(takes[0], port, "second-token"):
        studio.until("bunraku.connection === 'refused'")
        assert "token" in studio.says("bunraku.error")
    # A browser tells of every request that fails; that is what this test is about.
    studio.complaints[:] = [said for said in studio.complaints if "Failed to load resource" not in said]


def test_wrong_token_and_none_show_no_page(tab: Callable[..., Studio], address: str) -> None:
    studio = tab()
    for wrong in (address + "x", address.split("?")[0]):
        answer = studio.page.goto(wrong)
        assert answer is not None and answer.status == 403
        assert studio.page.evaluate("() => window.bunraku === undefined")
    studio.complaints.clear()


def test_nothing_is_asked_of_another_machine(tab: Callable[..., Studio], address: str) -> None:
    studio = tab()
    asked: list[str] = []
    studio.page.on("request", lambda request: asked.append(request.url))
    studio.open(address)
    origin = address.split("?")[0]
    assert len(asked) > 3 and all(url.startswith((origin, "data:", "blob:")) for url in asked), asked


def test_narrow_window_keeps_the_views(tab: Callable[..., Studio], address: str) -> None:
    studio = tab(size=(620, 720)).open(address)
    studio.keep("narrow")
    assert studio.page.locator(".stage").bounding_box()["width"] == 620
    studio.press("p")
    assert studio.page.locator(".panel").is_visible()
    assert studio.page.evaluate("() => document.documentElement.scrollWidth") <= 620


def test_command_prints_an_address_that_works(tab: Callable[..., Studio], takes: list[Path]) -> None:
    command = [sys.executable, "-m", "bunraku", "view", *map(str, takes), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            studio = tab().open(process.stdout.readline().strip())
            assert [take["state"] for take in studio.says("bunraku.takes")] == ["finished", "finished"]
            studio.page.goto("about:blank")
        finally:
            process.terminate()
            process.wait(20)
