"""The page in a real browser, with words for what a person does there; waits for what the page says of itself."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # [s] for anything to happen; a machine without a graphics card and with busy neighbours is slow
FLAGS = [
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox", "--disable-dev-shm-usage",
    "--disable-gpu-compositing",  # as a browser does that finds no graphics card
]  # fmt: skip


def chromium() -> str | None:
    """Where the browser is: BUNRAKU_CHROMIUM, else Debian's or another of these names."""
    given = os.environ.get("BUNRAKU_CHROMIUM")
    names = [given] if given else ["chromium", "chromium-browser", "google-chrome"]
    return next((found for name in names if (found := shutil.which(name))), None)


class Studio:
    """One tab."""

    def __init__(self, page: Any, folder: Path) -> None:
        self.page, self.folder = page, folder
        page.set_default_timeout(1e3 * PATIENCE)
        self.complaints: list[str] = []
        self.expected: tuple[str, ...] = ()
        """parts of complaints of which a test knows: a browser complains of every answer that is no 200"""
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self._hear(said.text) if said.type == "error" else None)

    def _hear(self, text: str) -> None:
        if not any(part in text for part in self.expected):
            self.complaints.append(text)

    def open(self, address: str) -> Studio:
        """Go there, and wait until the first frame is whole, and nothing is on its way that moves what is below it."""
        self.page.goto(address)
        self.until("bunraku.ready && bunraku.reported")
        return self

    def direct(self, address: str, page: str) -> Studio:
        """Go to a shot that is directed, and to one of its pages that show an object instead of takes."""
        self.page.goto(address)
        self.until("bunraku.revision > 0")
        self.page.get_by_role("tab", name=page, exact=True).click()
        self.until("bunraku.sketched !== null && bunraku.ready")
        return self

    def place(self, x: float, y: float) -> tuple[float, float]:
        """A place of the views, from shares of them."""
        box = self.page.locator(".stage canvas").first.bounding_box()
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def drag(self, *places: tuple[float, float], steps: int = 6, button: str = "left") -> None:
        """Press at the first of some shares of the views, go through the others, release. What is pressed on is there:
        beside it the view would turn."""
        self.until("bunraku.ready")
        first, *others = [self.place(*one) for one in places]
        self.page.mouse.move(*first)
        self.page.mouse.down(button=button)
        for one in others:
            self.page.mouse.move(*one, steps=steps)
        self.page.mouse.up(button=button)

    def says(self, expression: str) -> Any:
        """What an expression gives in the page; `bunraku` is the page's own hook."""
        return self.page.evaluate(f"() => {{ const bunraku = window.bunraku; return {expression}; }}")

    def until(self, expression: str, patience: float = PATIENCE) -> Any:
        """Wait for an expression to be true. The page forbids `eval`, so its state is asked for again and again."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if value := self.says(f"bunraku !== undefined && ({expression})"):
                return value
            time.sleep(0.02)
        state = self.says("JSON.stringify({...bunraku})")
        raise AssertionError(f"the page did not come to: {expression}; it says {state}")

    def told(self, text: str) -> None:
        """Wait for a sentence that is shown for a moment, and may be gone again."""
        self.until(f"bunraku.said.some(one => one.includes({json.dumps(text)}))")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, name: str, exact: bool = False) -> Any:
        return self.page.get_by_role("button", name=name, exact=exact)

    def choose_overlay(self, title: str) -> None:
        self.page.get_by_role("combobox", name="Overlay").select_option(label=title)
        self.until("bunraku.ready")

    def keep(self, name: str) -> Path:
        """A screenshot, once the picture rests."""
        self.until("bunraku.fine")
        return self.keep_page(name)

    def keep_page(self, name: str) -> Path:
        """A screenshot as the page is now."""
        path = self.folder / f"{name}.png"
        self.page.screenshot(path=str(path))
        return path

    def picture(self) -> Any:
        """(h, w, 3) what is on the screen where the views are."""
        import io

        import numpy as np
        from PIL import Image

        self.until("bunraku.fine")
        shot = self.page.locator(".stage").screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(float)


def written(studio: Studio, act: Callable[[], Any]) -> None:
    """Do something, and wait until the file says it and the motion is there."""
    revision = studio.says("bunraku.sketched.revision")
    act()
    told = f"bunraku.sketched !== null && bunraku.sketched.revision > {revision}"
    studio.until(f"{told} && bunraku.ready && !bunraku.tracing")
