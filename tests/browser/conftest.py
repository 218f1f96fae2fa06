"""A real browser, real takes, a real server. Screenshots go to BUNRAKU_SCREENSHOTS, else a folder of pytest's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from browser_page import FLAGS, Studio, chromium
from browser_takes import make_two

from bunraku.shots import EditedShot, open_take
from bunraku.studio import StudioServer, serving


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium, drawing without a graphics card."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives it: bunraku[studio-test]")
    where = chromium()
    if where is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium; else set BUNRAKU_CHROMIUM)")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=where, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("BUNRAKU_SCREENSHOTS")
    folder = Path(given) if given else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def takes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two finished takes of one shot."""
    return make_two(tmp_path_factory.mktemp("takes"))


@pytest.fixture
def serve() -> Iterator[Callable[..., StudioServer]]:
    """serve(folder, …) → a server over these takes with the page that is committed, closed at the end."""
    with ExitStack() as stack:
        yield lambda *folders: stack.enter_context(serving(StudioServer([open_take(one) for one in folders])))


@pytest.fixture
def direct() -> Iterator[Callable[..., StudioServer]]:
    """direct(shot) → a server as `bunraku direct` starts it, closed at the end; `ahead` as that has it."""
    with ExitStack() as stack:

        def start(path: Path, ahead: bool = False) -> StudioServer:
            edited = EditedShot(path)
            return stack.enter_context(
                serving(StudioServer(edited.newest_takes(), shot=edited, threads=1, ahead=ahead))
            )

        yield start


@pytest.fixture
def tab(browser: Any, screenshots: Path) -> Iterator[Callable[..., Studio]]:
    """tab(scheme=…, size=…) → a new tab. Whatever it complained of fails the test, unless the test took it away."""
    opened: list[tuple[Any, Studio]] = []

    def make(scheme: str = "light", size: tuple[int, int] = (1280, 720)) -> Studio:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, accept_downloads=True,
            permissions=["clipboard-read", "clipboard-write"],
        )  # fmt: skip
        opened.append((context, Studio(context.new_page(), screenshots)))
        return opened[-1][1]

    yield make
    complaints = [said for _, studio in opened for said in studio.complaints]
    for context, _ in opened:
        context.close()
    assert not complaints, complaints
