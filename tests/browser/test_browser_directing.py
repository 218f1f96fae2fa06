"""Directing in a real browser: a slider, its line in the file, a run that streams in, undo, keys, a second window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from browser_page import Studio
from browser_takes import write_shot

from bunraku.shots import EditedShot, read_shot
from bunraku.studio import StudioServer, serving

pytestmark = pytest.mark.studio

STRENGTH = '.knob[data-key="object.box.track.strength"]'


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """A shot of a few seconds."""
    return write_shot(tmp_path, frames=24, levels=2)


@pytest.fixture
def direct() -> Iterator[Callable[[Path], StudioServer]]:
    """direct(shot) → a server as `bunraku direct` starts it."""
    with ExitStack() as stack:

        def start(path: Path) -> StudioServer:
            edited = EditedShot(path)
            return stack.enter_context(serving(StudioServer(edited.newest_takes(), shot=edited, threads=1)))

        yield start


def opened(studio: Studio, address: str) -> Studio:
    """Go there, and wait until the shot is on the page."""
    studio.page.goto(address)
    studio.until("bunraku.revision > 0")
    return studio


def slide(studio: Studio, knob: str, share: float) -> None:
    """Take a knob's slider to a share of its way."""
    slider = studio.page.locator(f"{knob} input[type=range]")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    revision = studio.says("bunraku.revision")
    studio.page.mouse.click(box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2)
    studio.until(f"bunraku.revision > {revision}")


def test_a_slider_is_a_line_in_the_file_and_a_run_streams_in(
    tab: Callable[..., Studio], direct: Callable[[Path], StudioServer], shot: Path
) -> None:
    studio = opened(tab(), direct(shot).address)
    assert studio.page.get_by_text("No take yet").is_visible()
    slide(studio, STRENGTH, 0.5)
    strength: Any = read_shot(shot).shells["box"].track.strength
    assert strength == pytest.approx(0.5, abs=0.05)
    studio.page.get_by_role("tab", name="Changes").click()
    assert f"strength = {strength:g}" in studio.page.locator(".diff .added").all_inner_texts()[-1]
    studio.page.get_by_role("tab", name="Direct").click()
    studio.button("Run").click()
    studio.until("bunraku.takes.length === 1 && bunraku.takes[0].ready > 0")
    studio.until("bunraku.ready")
    studio.until("bunraku.takes[0].state === 'finished' && !bunraku.running")
    assert not studio.page.get_by_text("No take yet").is_visible()
    studio.keep("directing")
