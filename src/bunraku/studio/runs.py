"""Runs that the page asked for, one at a time, each in a process of its own: no slider waits for physics."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bunraku.contracts import BunrakuError

from .gate import Refusal

_PATIENCE = 10.0  # [s] for a run to end when it is asked to


class Runs:
    """The run that goes on, if one does, and how the last one ended."""

    def __init__(self, opened: Callable[[Path], int], threads: int | None = None, *, ahead: bool = False) -> None:
        """`opened` takes in the folder of a take, and says its number. With `ahead` a process waits for the next run:
        to load what a run needs takes seconds."""
        self._opened, self._threads, self._ahead = opened, threads, ahead
        self._guard = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._spare = _process() if ahead else None
        self._listener: threading.Thread | None = None
        self.number, self.running, self.failed = 0, False, False
        self._cancelled = False
        self.take: int | None = None
        self.saying = ""

    def start(self, text: str, source: Path) -> None:
        """Make a take of a shot as its text says now; refused while one is made."""
        with self._guard:
            if self.running:
                raise Refusal(409, "a run goes on already; try: again when it is over, or cancel it")
            spare, self._spare = self._spare, None
            process = spare if spare is not None and spare.poll() is None else _process()
            self._process, self.running, self.failed, self.take = process, True, False, None
            self._cancelled = False
            self.saying, self.number = "the run begins", self.number + 1
            self._listener = threading.Thread(target=self._listen, args=(process,), daemon=True)
            self._listener.start()
        assert process.stdin is not None
        with suppress(OSError, ValueError):  # it ended at once, or was cancelled before it was told, which is told
            process.stdin.write(json.dumps({"text": text, "source": str(source), "threads": self._threads}) + "\n")
            process.stdin.flush()

    def cancel(self) -> bool:
        """Ask the run to stop, whatever it is at; whether there is one."""
        with self._guard:
            process = self._process if self.running else None
            self._cancelled = process is not None
        if process is None:
            return False
        with suppress(OSError, ValueError):
            if process.stdin is not None:
                process.stdin.close()
        with suppress(OSError):
            process.send_signal(signal.SIGINT) if os.name != "nt" else process.terminate()
        return True

    def close(self) -> None:
        """End the run; its take can be resumed."""
        with self._guard:
            self._ahead, spare, self._spare = False, self._spare, None
        if spare is not None:
            spare.kill()
            spare.communicate()
        if not self.cancel() or self._process is None:
            return
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_PATIENCE)
        if self._listener is not None:
            self._listener.join(_PATIENCE)

    def _listen(self, process: subprocess.Popen[str]) -> None:
        ended = False
        assert process.stdout is not None and process.stdin is not None
        for line in process.stdout:
            with suppress(ValueError, TypeError, AttributeError):  # what a library prints is none of ours
                told = json.loads(line)
                ended = ended or "ended" in told
                self._note(told.get("saying"), told.get("folder"), told.get("ended"), bool(told.get("failed")))
        code = process.wait()
        for stream in (process.stdout, process.stdin):
            with suppress(OSError):
                stream.close()
        with self._guard:
            self.running, self.number = False, self.number + 1
            self._spare = _process() if self._ahead else None
            if self._cancelled:
                self.saying, self.failed = "the run was stopped", False
            elif not ended:
                self.saying, self.failed = f"the run ended with code {code} and said nothing", code != 0

    def _note(self, saying: str | None, folder: str | None, ended: str | None, failed: bool) -> None:
        take = None
        if folder is not None:
            try:
                take = self._opened(Path(folder))
            except (BunrakuError, Refusal) as error:
                saying = f"its take cannot be shown: {error}"
        with self._guard:
            if take is not None:
                self.take = take
            if saying is not None:
                self.saying = saying
            if ended is not None:
                self.saying, self.failed = ended, failed
            self.number += 1


def _process() -> subprocess.Popen[str]:
    """A process that waits to be told of a shot; Ctrl-C in the terminal is not for it."""
    return subprocess.Popen(
        [sys.executable, "-m", "bunraku.studio.run_apart"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, encoding="utf-8", start_new_session=os.name != "nt",
    )  # fmt: skip
