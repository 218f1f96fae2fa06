# SPDX-License-Identifier: GPL-3.0-or-later
"""bunraku at work in a process of its own: started, listened to, called off."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from .desk import Desk
from .refusal import Refusal
from .takes import VERSION

PATIENCE = 10.0  # [s] until a process that was asked to end is ended
_DONE = {"sentences", "folder", "direction_met"}
"""what the last event of a finished run tells"""


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    how: str
    """"done", "failed" or "cancelled\""""
    lines: tuple[str, ...]
    """what there is to say, in sentences"""
    folder: Path | None = None
    """of the take, where there is one to show"""
    met: bool | None = None
    """whether the direction was met; None where nothing had to be"""
    warnings: tuple[str, ...] = ()
    """what it was warned of on its way"""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    text: str = "starting bunraku"
    done: int = 0
    count: int = 0
    """of frames, then of pictures; 0 before either is known"""
    seconds_left: float | None = None
    warnings: tuple[str, ...] = ()
    folder: Path | None = None
    """of the take, from the moment there is one"""

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.done / self.count if self.count else 0.0


class Run:
    """A process that tells in JSON lines what it does."""

    def __init__(
        self, words: Sequence[str], folder: Path, desk: Desk | None = None, scratch: Path | None = None
    ) -> None:
        """Start `words` in a folder; what `desk` wrote for it goes where it is called off, `scratch` in any case."""
        self.progress = Progress()
        self.ended: Ended | None = None
        self._desk, self._scratch = desk or Desk(), scratch
        self._talk: Path | None = None
        self._asked: float | None = None
        self._last: Mapping[str, Any] = {}
        self._half = b""
        self._files: list[IO[bytes]] = []
        self._program = words[0]
        try:
            self._talk = Path(tempfile.mkdtemp(prefix="bunraku-blender-"))
            self._files = [open(self._talk / name, "wb") for name in ("out", "err")]
            self._heard = open(self._talk / "out", "rb")
            self._process = subprocess.Popen(
                list(words), cwd=folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=self._files[0],
                stderr=self._files[1], **_apart(),
            )  # fmt: skip
        except OSError as error:
            self._desk.undo()
            self._close()
            why = error.strerror or str(error)
            raise Refusal(
                f"{words[0]}: cannot be started ({why}); try: another interpreter in the preferences"
            ) from error

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.ended is not None

    def poll(self) -> None:
        """Hear what was said since; `ended` is there when it is over."""
        if self.ended is not None:
            return
        code = self._process.poll()  # before the rest is heard: what it said last is there by then
        self._listen()
        if code is not None:
            self._finish(code)
        elif self._asked is not None and time.monotonic() - self._asked > PATIENCE:
            self._signal(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)

    def cancel(self) -> None:
        """Ask it to end; `poll` goes on until it has, and nothing of it is left."""
        if self._asked is None and self.ended is None:
            self._asked = time.monotonic()
            self.progress = replace(self.progress, text="cancelling", seconds_left=None)
            self._signal(signal.SIGTERM)

    def wait(self, seen: Callable[[Progress], None] = lambda progress: None, pause: float = 0.05) -> Ended:
        """Until it is over."""
        while self.ended is None:
            self.poll()
            seen(self.progress)
            time.sleep(0 if self.ended else pause)
        return self.ended

    def _signal(self, number: int) -> None:
        """To the process and those it started; on Windows SIGTERM ends it at once."""
        with suppress(ProcessLookupError, PermissionError):  # it has just ended
            os.killpg(self._process.pid, number) if os.name != "nt" else self._process.terminate()

    def _listen(self) -> None:
        *lines, self._half = (self._half + self._heard.read()).split(b"\n")
        for line in lines:
            with suppress(ValueError):  # a library that prints is no event
                fact = json.loads(line)
                if isinstance(fact, dict) and "event" in fact:
                    with suppress(LookupError, TypeError):  # another version's bunraku tells it otherwise
                        self._hear(fact)

    def _hear(self, fact: Mapping[str, Any]) -> None:
        now, asked = self.progress, self._asked is not None
        match fact["event"]:
            case "stage":
                now = replace(now, text=now.text if asked else fact["text"], done=0, count=0, seconds_left=None)
            case "start":
                now = replace(now, folder=Path(fact["folder"]), done=fact["done"], count=fact["count"])
            case "frame":
                text = f"preroll {fact['frame']:g}" if fact["preroll"] else f"frame {fact['frame']:g}"
                now = replace(now, text=now.text if asked else text, done=fact["index"] + 1, count=fact["count"],
                              seconds_left=fact["eta_s"])  # fmt: skip
            case "picture":
                now = replace(now, done=fact["index"] + 1, count=fact["count"], seconds_left=None)
            case "warning":
                now = replace(now, warnings=(*now.warnings, fact["text"]))
            case "done" | "error":
                self._last = fact
        self.progress = now

    def _finish(self, code: int) -> None:
        for file in self._files:
            file.close()
        folder, last = self.progress.folder, self._last
        if last.get("event") == "done" and _DONE <= last.keys():  # it was faster than whoever called it off
            told = tuple(last["sentences"])
            self.ended = Ended("done", told, Path(last["folder"]), last["direction_met"], self.progress.warnings)
        elif self._asked is not None:
            self._clear(folder)
            self.ended = Ended("cancelled", ("Cancelled; nothing is left of it.",))
        else:
            lines = str(last["message"]).splitlines() if last.get("message") else [self._crash(code)]
            stopped = code == 3 and folder is not None and (folder / "report.json").is_file()
            self.ended = Ended("failed", tuple(lines), folder if stopped else None, None, self.progress.warnings)
        self._close()

    def _crash(self, code: int) -> str:
        """A sentence for a process that ended without one."""
        assert self._talk is not None
        said = (self._talk / "err").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if said and "No module named bunraku" in said[-1]:
            return f"{self._program}: this Python has no bunraku; try: another one in the preferences, or Install there"
        what = said[-1] if said else "it said nothing"
        remedy = "; try: another Python in the preferences" if self.progress == Progress() else ""
        return f"{self._program}: ended with code {code} before its work was done ({what}){remedy}"

    def _clear(self, folder: Path | None) -> None:
        """Remove the take that was being made, and what was written for it."""
        if folder is not None and VERSION.fullmatch(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
            latest = folder.parent / "latest"
            if latest.is_symlink() and not latest.exists():
                latest.unlink(missing_ok=True)
            for above in (folder.parent, folder.parent.parent):  # the shot's, and that of all takes
                with suppress(OSError):
                    above.rmdir()
        self._desk.undo()

    def _close(self) -> None:
        for file in self._files:
            file.close()
        with suppress(AttributeError):  # it did not get so far
            self._heard.close()
        for folder in (self._talk, self._scratch):
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


def running(interpreter: str, shot: Path, threads: int = 0) -> list[str]:
    """The words that run a shot."""
    words = [interpreter, "-m", "bunraku", "run", str(shot), "--progress", "json"]
    return words + (["--threads", str(threads)] if threads else [])


def installing(python: str, environment: Path, source: str) -> list[str]:
    """The words that make an environment and install bunraku into it."""
    return [python, str(Path(__file__).with_name("install.py")), str(environment), source]


def _environment() -> dict[str, str]:
    """Blender's, without what would lead another Python to Blender's packages, or to files beside the shot."""
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONHOME", "PYTHONPATH")}
    return kept | {"PYTHONSAFEPATH": "1"}


def _apart() -> dict[str, Any]:
    """Ctrl-C in Blender's terminal is not meant for it; on Windows it has no window."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}
