"""A run in progress in the page: frames come in, progress and time left, cancel; a closed page stops nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_page import PATIENCE, Studio
from browser_takes import write_shot

from bunraku.contracts import InputError
from bunraku.shots import open_take
from bunraku.studio import StudioServer

pytestmark = pytest.mark.studio

FRAMES = 1000  # of a run that is to be cancelled; it would take minutes


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """The folder of a take into which a run in another process writes."""
    shot = write_shot(tmp_path, frames=FRAMES, levels=4, physics={"substeps": 8})
    with subprocess.Popen([sys.executable, "-m", "bunraku", "run", str(shot), "--progress", "plain", "--threads", "1"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # fmt: skip
        try:
            yield _begun(tmp_path / "takes" / "box" / "v001")
        finally:
            process.terminate()
            process.wait(60)


def _begun(folder: Path) -> Path:
    end = time.monotonic() + 3 * PATIENCE
    while time.monotonic() < end:
        try:
            if open_take(folder).ready > 1:
                return folder
        except InputError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"no run began in {folder}")


def test_follows_a_run_and_cancels_it(
    tab: Callable[..., Studio], serve: Callable[..., StudioServer], running: Path
) -> None:
    studio = tab().open(serve(running).address)
    assert studio.says("bunraku.takes[0].state") == "running" and studio.says("bunraku.look.follow")
    first = studio.says("bunraku.takes[0].ready")
    studio.until(f"bunraku.takes[0].ready > {first} + 2")
    studio.until(f"bunraku.frame > {first} + 2 && bunraku.ready")  # the newest frame is shown as it comes
    studio.page.locator(".run").get_by_text("left").wait_for()
    studio.keep_page("running")  # not `keep`: a picture that follows a run never rests
    other = tab().open(studio.page.url)
    other.page.close()  # a page closed does not stop the run
    now = studio.says("bunraku.takes[0].ready")
    studio.until(f"bunraku.takes[0].ready > {now}")
    studio.button("Stop the run of").click()
    studio.until("bunraku.takes[0].state === 'interrupted'")
    made = studio.says("bunraku.takes[0].ready")
    assert first < made < FRAMES
    assert studio.page.locator(".badge").inner_text() == "interrupted"
    assert not studio.page.locator(".run").is_visible()
    studio.keep("cancelled")
