"""A run that makes frames when a test says so: a finished take, of which the page is told less than there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from browser_page import Studio


def retell(studio: Studio, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Have the page hear of other takes than the server tells of: `change` is given its message's takes."""

    def answer(route: Any) -> None:
        told = route.fetch().json()
        change(told["takes"])
        route.fulfill(json=told)

    studio.page.route(re.compile(r"/takes$"), answer)


class PretendedRun:
    """Take 0 as a run in progress of which `made` frames are there."""

    def __init__(self, studio: Studio, made: int) -> None:
        self.studio, self.made, self.failures = studio, made, 0
        self.high: dict[str, float] = {}
        """upper ends of scales by overlay, where they are not the server's"""
        self._waiting: list[Any] = []
        retell(studio, self._take)
        studio.page.route(re.compile(r"/takes/0/news"), self._news)

    def make(self, made: int) -> None:
        """So many frames are there from now on; the page is told at once."""
        self.made = made
        waiting, self._waiting = self._waiting, []
        for route in waiting:
            self._tell(route)
        self.studio.until(f"bunraku.takes[0].ready === {made}")

    def fail_once(self) -> None:
        """The next question, or the one that is open, is answered with 500."""
        self.failures = 1
        waiting, self._waiting = self._waiting, []
        for route in waiting:
            self._news(route)

    def _take(self, takes: list[dict[str, Any]]) -> None:
        takes[0] |= {"state": "running", "ready": self.made}
        for overlay in takes[0]["overlays"]:
            overlay["high"] = self.high.get(overlay["name"], overlay["high"])

    def _news(self, route: Any) -> None:
        if self.failures:
            self.failures -= 1
            route.fulfill(status=500, json={"error": "A frame is damaged."})
        elif f"ready={self.made}&state=running" in route.request.url:
            self._waiting.append(route)
        else:
            self._tell(route)

    def _tell(self, route: Any) -> None:
        count = {"count": 24, "done": self.made, "seconds_left": 60.0, "can_cancel": True}
        route.fulfill(json={"state": "running", "ready": self.made, **count})
