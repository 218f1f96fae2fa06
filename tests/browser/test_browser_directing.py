"""Directing in a real browser: a slider, its line in the file, a run that streams in, undo, keys, a second window."""

from __future__ import annotations

import statistics
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_page import Studio
from browser_takes import twisting, write_shot

from bunraku import Animation
from bunraku.io import write_animation
from bunraku.shots import Event, FrameDone, StopAsked, read_shot
from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio

LONG = 1500  # frames of a run that is to be cancelled; it would take minutes
STRENGTH = '.knob[data-key="object.box.track.strength"]'


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """A shot of a few seconds."""
    return write_shot(tmp_path, frames=24, levels=2)


def opened(studio: Studio, address: str) -> Studio:
    """Go there, and wait until the shot is on the page."""
    studio.page.goto(address)
    studio.until("bunraku.revision > 0")
    return studio


def strength_of(shot: Path) -> Any:
    """As the file says it."""
    return read_shot(shot).shells["box"].track.strength


def said(shot: Path, key: str) -> Any:
    """What the file says under a key."""
    found: Any = tomllib.loads(shot.read_text(encoding="utf-8"))
    for name in key.split("."):
        found = found[name]
    return found


def slide(studio: Studio, knob: str, share: float) -> None:
    """Take a knob's slider to a share of its way."""
    slider = studio.page.locator(f"{knob} input[type=range]")
    box = slider.bounding_box()
    revision = studio.says("bunraku.revision")
    slider.click(position={"x": 8 + share * (box["width"] - 16), "y": box["height"] / 2})
    studio.until(f"bunraku.revision > {revision}")


def test_a_slider_is_a_line_in_the_file_and_a_run_streams_in(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    studio = opened(tab(), direct(shot, ahead=True).address)
    assert studio.page.get_by_text("No take yet").is_visible()
    slide(studio, STRENGTH, 0.5)
    strength = strength_of(shot)
    assert strength == pytest.approx(0.5, abs=0.05)
    studio.page.get_by_role("tab", name="Changes").click()
    assert f"strength = {strength:g}" in studio.page.locator(".diff .added").all_inner_texts()[-1]
    studio.page.get_by_role("tab", name="Direct").click()
    begin = time.monotonic()
    studio.button("Run").click()
    studio.until("bunraku.takes.length === 1 && bunraku.takes[0].ready > 0 && bunraku.ready")
    with capsys.disabled():
        print(f"\ndirecting: the first frame of a run is on the screen after {time.monotonic() - begin:.1f} s")
    studio.until("bunraku.takes[0].state === 'finished' && !bunraku.running")
    assert not studio.page.get_by_text("No take yet").is_visible()
    studio.keep("directing")


def test_material_scale_cap_and_wind_are_slid_and_keyed(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    text = shot.read_text()
    shot.write_text(f"{text}\n[object.box.track]\nmethod = 'clusters'\nscale = 0.5\n")
    studio = opened(tab(), direct(shot).address)
    fields = studio.page.locator('.knob[data-key="physics.wind.velocity"] input')
    studio.page.get_by_role("searchbox", name="Find a setting").fill("velocity")
    for k, value in enumerate((4, 0, 0)):
        fields.nth(k).fill(str(value))
    fields.nth(2).press("Enter")
    studio.until("bunraku.revision === 2")
    studio.page.get_by_role("searchbox", name="Find a setting").fill("")
    for key in ("object.box.material.young", "object.box.track.scale", "object.box.track.cap", "physics.wind.gust"):
        knob = f'.knob[data-key="{key}"]'
        slide(studio, knob, 0.85)  # beside its thumb, which stands in the middle
        slid = said(shot, key)
        assert isinstance(slid, (int, float)) and slid > 0.0, key
        revision = studio.says("bunraku.revision")
        studio.page.locator(f"{knob} .keyed").click()
        studio.until(f"bunraku.revision > {revision}")
        assert said(shot, key) == [[1, pytest.approx(slid, rel=1e-3)]], key
    assert said(shot, "physics.wind.velocity") == [4, 0, 0]
    studio.keep_page("sliders")


def test_undo_takes_a_whole_drag_back(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    before = shot.read_text()
    studio = opened(tab(), direct(shot).address)
    slide(studio, STRENGTH, 0.8)
    box = studio.page.locator(f"{STRENGTH} input[type=range]").bounding_box()
    y, x = box["y"] + box["height"] / 2, box["x"] + 8 + 0.8 * (box["width"] - 16)
    studio.page.mouse.move(x, y)
    studio.page.mouse.down()
    for share in (0.7, 0.5, 0.3):
        studio.page.mouse.move(box["x"] + 8 + share * (box["width"] - 16), y, steps=4)
    studio.page.mouse.up()
    studio.until("!bunraku.sending")
    assert strength_of(shot) == pytest.approx(0.3, abs=0.05)
    revision = studio.says("bunraku.revision")
    assert revision > 3
    studio.press("Control+z")
    studio.until(f"bunraku.revision > {revision}")
    assert strength_of(shot) == pytest.approx(0.8, abs=0.05)
    studio.press("Control+Shift+Z")
    studio.until(f"bunraku.revision > {revision} + 1")
    assert strength_of(shot) == pytest.approx(0.3, abs=0.05)
    for k in range(2):
        studio.press("Control+z")
        studio.until(f"bunraku.revision > {revision} + {k + 2}")
    assert shot.read_text() == before


def test_a_number_is_keyed_on_the_time_line(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    shot.write_text("[shot]\nframes = [1, 24]\n\n" + shot.read_text())
    studio = opened(tab(), direct(shot).address)
    studio.page.locator(f"{STRENGTH} .keyed").click()
    studio.until("bunraku.revision === 2")
    assert strength_of(shot) == ((1.0, 1.0),)
    plot = studio.page.locator(".keylane .plot")
    box = plot.bounding_box()

    def at(frame: int, value: float) -> tuple[float, float]:
        """Where a frame and a value are in the lane: 9 points of it are left free above and below."""
        return box["x"] + (frame - 0.5) / 24 * box["width"], box["y"] + 9 + (1 - value) * (box["height"] - 18)

    studio.page.mouse.click(*at(12, 0.5))
    studio.until("bunraku.revision === 3")
    assert strength_of(shot) == ((1.0, 1.0), (12.0, pytest.approx(0.5, abs=0.02)))
    studio.page.mouse.move(*at(12, 0.5))
    studio.page.mouse.down()
    studio.page.mouse.move(*at(15, 0.4), steps=3)
    studio.page.mouse.move(*at(18, 0.25), steps=3)
    studio.page.mouse.up()
    studio.until("!bunraku.sending")
    assert strength_of(shot) == ((1.0, 1.0), (18.0, pytest.approx(0.25, abs=0.02)))
    studio.page.get_by_role("combobox", name="How the key is come to").select_option("smooth")
    studio.until("!bunraku.sending")
    studio.keep_page("keys")
    studio.page.locator(".dot-key[data-frame='18']").focus()
    studio.press("Shift+ArrowLeft", "ArrowRight")
    studio.until("!bunraku.sending")
    assert strength_of(shot)[1] == (9.0, pytest.approx(0.25, abs=0.02), "smooth")
    value = studio.page.get_by_role("textbox", name="Value of the key")
    for nothing in ("", "much"):
        before = value.input_value()
        value.fill(nothing)
        value.press("Enter")
        assert value.input_value() == before and not studio.says("bunraku.sending")
    studio.page.locator(".dot-key[data-frame='9']").focus()
    studio.press("Delete")
    studio.until("!bunraku.sending")
    assert strength_of(shot) == ((1.0, 1.0),)
    assert "strength = [[1, 1]]" in shot.read_text()


def test_before_any_take_keys_are_on_frames_of_the_guide(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    motion = twisting(24)
    later = Animation(motion.mesh, motion.times + 1000 / 24, motion.points)
    write_animation(shot.with_name("guide.usda"), later, rate=24.0, prim="/box")
    studio = opened(tab(), direct(shot).address)
    studio.page.locator(f"{STRENGTH} .keyed").click()
    studio.until("bunraku.revision === 2")
    assert strength_of(shot) == ((1001.0, 1.0),)
    assert "1010" in studio.page.locator(".keylane .ticks span").all_inner_texts()
    box = studio.page.locator(".keylane .plot").bounding_box()
    studio.page.mouse.click(box["x"] + (12 - 0.5) / 24 * box["width"], box["y"] + box["height"] / 2)
    studio.until("bunraku.revision === 3 && !bunraku.sending")
    assert strength_of(shot) == ((1001.0, 1.0), (1012.0, pytest.approx(0.5, abs=0.02)))
    studio.keep_page("keys_before_a_take")


def test_two_windows_and_an_editor_tell_each_other(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    address = direct(shot).address
    one, two = opened(tab(), address), opened(tab("dark"), address)
    slide(one, STRENGTH, 0.5)
    two.told("Another window changed the shot: strength 0.")
    field = two.page.locator(f"{STRENGTH} input.number")
    assert float(field.input_value()) == strength_of(shot)
    shot.write_text(shot.read_text() + "\n[physics]\nsubsteps = 5\n")
    for studio in (one, two):
        studio.told("The shot file was edited outside of this page")
        substeps = '.knob[data-key="physics.substeps"] input.number'  # half of the file may have been seen before
        studio.until(f"document.querySelector('{substeps}').value === '5'")
    shot.write_text(shot.read_text().replace("= 5", "= "))
    two.page.get_by_role("alert").get_by_text("is not TOML: line").wait_for()
    assert two.button("Run").is_disabled()
    two.keep_page("broken")


def test_an_edit_whose_answer_comes_late_hides_nobody_elses(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    address = direct(shot).address
    one, two = opened(tab(), address), opened(tab(), address)
    late, heard = list[tuple[Any, Any]](), list[Any]()
    one.page.route("**/shot/edit", lambda asked: late.append((asked, asked.fetch())), times=1)
    # Asked once it knows of the third, and never answered.
    one.page.route("**/shot/news?revision=3&*", lambda asked: heard.append(asked))
    one.page.locator(f"{STRENGTH} input.number").fill("0.5")
    one.press("Enter")
    two.told("Another window changed the shot: strength 0.5")
    slide(two, STRENGTH, 0.25)
    while not heard:  # it was told of that, and has no answer of its own yet
        one.page.wait_for_timeout(20)
    for asked, answer in late:
        asked.fulfill(response=answer)
    one.told("Another window changed the shot: strength 0.25")
    one.until("bunraku.revision === 3 && !bunraku.sending")
    assert float(one.page.locator(f"{STRENGTH} input.number").input_value()) == strength_of(shot)


def test_numbers_that_are_said_together_wait_for_each_other_and_keep_their_digits(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    shot.write_text(shot.read_text() + "\n[physics]\ngravity = [0.12345, -9.81, 0.0]\n")
    studio = opened(tab(), direct(shot).address)
    wind = studio.page.locator('.knob[data-key="physics.wind.velocity"] input')
    gravity = studio.page.locator('.knob[data-key="physics.gravity"] input')
    studio.page.get_by_role("searchbox", name="Find a setting").fill("it")
    wind.nth(0).fill("4,5")
    wind.nth(1).focus()
    edited = shot.with_suffix(".edited")
    edited.write_text(shot.read_text() + "substeps = 5\n")
    edited.replace(shot)  # whole at once
    studio.told("The shot file was edited outside of this page")
    wind.nth(1).fill("0")
    wind.nth(2).fill("−1")
    wind.nth(2).press("Enter")
    studio.until("bunraku.revision === 3 && !bunraku.sending")
    assert said(shot, "physics.wind.velocity") == [4.5, 0, -1]
    gravity.nth(1).fill("-5")
    gravity.nth(1).press("Enter")
    studio.until("bunraku.revision === 4 && !bunraku.sending")
    assert said(shot, "physics.gravity") == [0.12345, -5, 0.0]
    gravity.nth(2).fill("")
    gravity.nth(2).press("Enter")
    assert gravity.nth(2).input_value() == "0" and not studio.says("bunraku.sending")


def test_what_the_shot_refuses_is_a_sentence(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path
) -> None:
    before = shot.read_text()
    studio = opened(tab(), direct(shot).address)
    studio.expected = ("400 (Bad Request)",)
    field = studio.page.locator('.knob[data-key="object.box.track.count"] input.number')
    field.fill("12")
    field.press("Enter")
    studio.told("object.box.track.count: is for clusters (got 12)")
    studio.until("!bunraku.sending")  # what the file says is read again after the sentence
    assert field.input_value() == "–" or field.input_value() == ""
    assert shot.read_text() == before and studio.says("bunraku.revision") == 1


def interrupted_after(frame: int) -> Callable[[Event], None]:
    """A listener that stops a run in the middle."""

    def tell(event: Event) -> None:
        if isinstance(event, FrameDone) and event.frame == frame:
            raise StopAsked

    return tell


def test_a_run_keeps_what_no_key_reaches_and_is_cancelled(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], tmp_path: Path
) -> None:
    slow = write_shot(tmp_path, frames=LONG, levels=3, physics={"substeps": 8})
    with pytest.raises(StopAsked):
        read_shot(slow).run(threads=1, progress=interrupted_after(6))
    studio = opened(tab(), direct(slow).address)
    studio.page.locator(f"{STRENGTH} .keyed").click()
    studio.until("bunraku.revision === 2")
    studio.press("Control+Enter")
    studio.page.get_by_text("frames up to 6 are those of v001: nothing they are made of has changed").wait_for()
    studio.until("bunraku.takes.length === 2 && bunraku.look.active === 1 && bunraku.takes[1].ready > 6")
    studio.keep_page("directing_run")  # not `keep`: a picture that follows a run never rests
    studio.button("Stop the run of box v002").click()
    studio.until("bunraku.takes[1].state === 'interrupted' && !bunraku.running")
    assert 6 < studio.says("bunraku.takes[1].ready") < LONG


BALL = """
[object.ball]
role = "obstacle"
source = { sphere = { centre = [0, 2, 0], radius = 0.2 } }  # above
"""


def test_everything_is_reached_by_keys_alone(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], tmp_path: Path
) -> None:
    shot = write_shot(tmp_path, physics={"contact": True})
    shot.write_text(shot.read_text() + BALL)
    studio = opened(tab("dark"), direct(shot).address)
    studio.page.get_by_role("tab", name="Direct").focus()
    studio.press("Tab", "Tab")  # the page itself, then Run
    assert studio.page.evaluate("document.activeElement.textContent") == "Run"
    studio.page.get_by_role("searchbox", name="Find a setting").focus()
    studio.page.keyboard.type("strength")
    studio.press("Tab")
    assert studio.page.evaluate("document.activeElement.tagName") == "SUMMARY"
    studio.press("Enter", "Enter", "Tab", "ArrowLeft")
    studio.until("bunraku.revision === 2")
    assert strength_of(shot) == 0.999
    studio.keep_page("directing_dark")
    studio.page.get_by_role("radio", name="box").focus()
    studio.press("ArrowDown")
    assert studio.page.evaluate("document.activeElement.textContent") == "ballobstacle, is sphere"
    find = studio.page.get_by_role("searchbox", name="Find a setting")
    find.fill("radius")
    find.press("Tab")
    studio.press("Tab", "Tab", "Control+a")
    studio.page.keyboard.type("0,3")
    studio.press("Enter")
    studio.until("bunraku.revision === 3")
    assert "source = { sphere = { centre = [0, 2, 0], radius = 0.3 } }  # above" in shot.read_text()


def test_how_fast_a_knob_is(
    tab: Callable[..., Studio], direct: Callable[..., StudioServer], shot: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Printed: from the slider's move until the file is written and the page shows what it says."""
    studio = opened(tab(), direct(shot).address)
    studio.page.locator(f"{STRENGTH} input[type=range]").focus()
    times = []
    for k in range(20):
        studio.press("ArrowLeft")
        studio.until(f"bunraku.revision === {k + 2}")
        times.append(studio.says("bunraku.lastEdit"))
    with capsys.disabled():
        print(f"\ndirecting: an edit takes {statistics.median(times):.0f} ms (longest {max(times):.0f})")
    assert statistics.median(times) < 500.0
