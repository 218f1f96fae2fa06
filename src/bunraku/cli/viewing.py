"""A run that is watched in the browser while it goes on, and looked at when it is over."""

from __future__ import annotations

import argparse
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from bunraku import shots, studio
from bunraku.contracts import BunrakuError

from .performance import Performance

Work = Callable[[argparse.Namespace, Performance, "Viewing"], int]


def add_view(parser: argparse.ArgumentParser) -> None:
    """The options of every command that makes a take which may be watched."""
    parser.add_argument("--view", action="store_true", help="watch in the browser; serves on after the end, to Ctrl-C")
    parser.add_argument("--no-open", action="store_true", help="with --view: print the page's address, open nothing")


class Viewing:
    """Serves the take of a run from its first frame on, where that is asked for."""

    def __init__(self, performance: Performance, wanted: bool, browser: bool) -> None:
        self._performance, self._wanted, self._browser = performance, wanted, browser
        self._open = ExitStack()
        self.server: studio.StudioServer | None = None

    def beside(self, tell: Callable[[shots.Event], None]) -> Callable[[shots.Event], None]:
        """The listener `tell`, and the page is served as soon as the take's folder is there."""

        def told(event: shots.Event) -> None:
            if isinstance(event, shots.Started):  # the address first: what is said ends a progress bar
                self.open(event.folder)
            tell(event)

        return told

    def open(self, folder: Path) -> None:
        """Serve a take, unless it is served already. A page that cannot be served is no reason to lose a take."""
        if not self._wanted or self.server is not None:
            return
        try:
            self.server = self._open.enter_context(studio.serving(studio.StudioServer([shots.open_take(folder)])))
        except BunrakuError as error:
            self._performance.show.warn(f"nothing can be viewed: {error}")
            return
        self._performance.show.say(self.server.address)
        if self._browser:
            show_page(self.server.address)

    def keep(self) -> None:
        """Serve on until Ctrl-C."""
        if self.server is not None and not self._performance.ended_by_hand:
            wait_for_ctrl_c()

    def close(self) -> None:
        """Serve no longer."""
        self._open.close()


def viewed(args: argparse.Namespace, work: Work) -> int:
    """Do a command's work, watched where that is asked for; returns its exit code."""
    performance = Performance(args.progress)
    viewing = Viewing(performance, args.view, not args.no_open)
    try:
        code = performance.perform(lambda one: work(args, one, viewing))
        performance.attend(viewing.keep)
    finally:
        performance.attend(viewing.close)
    return code


def wait_for_ctrl_c() -> None:
    """Return when the user has had enough."""
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600.0)


def show_page(address: str) -> None:
    """Open the page; where there is no browser, its address was printed. Some return only when they are closed."""
    threading.Thread(target=_open_browser, args=(address,), daemon=True).start()


def _open_browser(address: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
