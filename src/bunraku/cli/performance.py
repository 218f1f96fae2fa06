"""What every command has in common: its options, its endings, its exit code."""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bunraku import shots
from bunraku.contracts import BunrakuError, PhysicsStopped

from .shows import WAYS, Show, choose_show
from .signals import ignore_signals, left_at_most_once, terminated_like_interrupted

DONE, FAULT, BAD_INPUT, STOPPED, MISSED, INTERRUPTED = 0, 1, 2, 3, 4, 130


def add_threads(parser: argparse.ArgumentParser) -> None:
    """The option of every command that computes."""
    parser.add_argument(
        "--threads", type=positive, metavar="N", help="threads to use (default: BUNRAKU_THREADS or all)"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that makes a take."""
    add_threads(parser)
    parser.add_argument("--progress", choices=WAYS, help="a bar on a terminal, else plain lines, unless told here")
    parser.add_argument(
        "--strict", action="store_true",
        help="exit with 4 where the guide, a path, a planned key or the ground was missed, or yielded to a cap",
    )  # fmt: skip
    parser.add_argument("--no-preview", action="store_true", help="leave out preview.mp4 and contact_sheet.png")


class Performance:
    """One command from its first word to its exit code."""

    def __init__(self, way: str | None) -> None:
        self.show: Show = choose_show(way)
        self.again = ""
        """the command that carries on after an interruption"""
        self.ended_by_hand = False
        """whether Ctrl-C ended it"""
        self._started: shots.Started | None = None
        """the take that is made; none before it begins and when it is finished"""
        self.several = False
        """whether it may make several takes, one after another"""
        self.standing: Callable[[], str] = lambda: ""
        """of a command that makes several takes at once: how far it has come, in words; empty before it has begun"""
        self._insist: Callable[[], None] = lambda: None
        """interrupts where that was asked for and got lost"""

    def tell(self, event: shots.Event) -> None:
        """Remember where the take is, and show it."""
        if isinstance(event, shots.Started):
            self._started = event
        if isinstance(event, shots.Finished):
            self._started = None
        self.show.tell(event)
        if isinstance(event, shots.FrameDone):
            self._insist()

    def perform(self, work: Callable[[Performance], int]) -> int:
        """Do the work; whatever happens becomes a sentence and an exit code."""
        with _warnings_shown(self.show), terminated_like_interrupted() as self._insist:
            try:
                return work(self)
            except PhysicsStopped as error:
                return self._fail(STOPPED, str(error))
            except BunrakuError as error:
                begun = self._started is not None and shots.frames_kept(self._started.folder) > 0
                begun = begun or bool(self.standing())
                carry_on = f"\ncarry on with: {self.again}" if begun and self.again else ""
                return self._fail(BAD_INPUT, f"{error}{carry_on}")
            except KeyboardInterrupt as error:
                self.ended_by_hand = not isinstance(error, shots.StopAsked)
                if self.ended_by_hand:
                    ignore_signals()  # an impatient second one would take the place of what is told now
                return self._fail(INTERRUPTED, self._interrupted(str(error) or "interrupted"))
            except Exception as error:
                return self._fail(
                    FAULT, f"unexpected {type(error).__name__}: {error}; the full story is in {self._story()}"
                )

    def attend(self, act: Callable[[], None]) -> None:
        """Do something after the work, whose exit code is known: Ctrl-C and SIGTERM end it, and change nothing."""
        with suppress(KeyboardInterrupt), _warnings_shown(self.show), left_at_most_once():
            act()

    def close(self, result: shots.TakeResult, *, strict: bool) -> int:
        """Tell of a take; returns the exit code."""
        code = exit_code(result, strict=strict)
        sentences = [sentence.text for sentence in result.report.sentences]
        outcome = result.outcome.name.lower()
        self.show.end(
            {
                "event": "done", "exit_code": code, "outcome": outcome, "folder": str(result.folder),
                "direction_met": result.report.met, "sentences": sentences, "already_finished": result.already,
            }
        )  # fmt: skip
        self.show.say("\n".join(summary(result)))
        return code

    def _fail(self, code: int, message: str) -> int:
        self.show.end({"event": "error", "exit_code": code, "message": message})
        return code

    def _interrupted(self, how: str) -> str:
        made = shots.frames_kept(self._started.folder) if self._started else 0
        if not self.again:  # a command that makes no take
            return how
        if standing := self.standing():
            return f"{how}; {standing}\ncarry on with: {self.again}"
        if self._started is None or not made:
            if self.several:
                return f"{how} before a take's first frame; finished takes are kept\ncarry on with: {self.again}"
            return f"{how} before the first frame; nothing was kept"
        return (
            f"{how}; {made} of {self._started.count} frames are kept in {self._started.folder}\n"
            f"carry on with: {self.again}"
        )

    def _story(self) -> Path:
        """Where the traceback is."""
        log = self._started.folder / "run.log" if self._started else None
        if log is not None and log.is_file():
            return log
        handle, name = tempfile.mkstemp(prefix="bunraku-", suffix=".log", text=True)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            traceback.print_exc(file=stream)
        return Path(name)


def exit_code(result: shots.TakeResult, *, strict: bool) -> int:
    """0, 3 where physics stopped; 4 where it matters that the guide was missed or gave way, or that surfaces cross."""
    if result.outcome is shots.TakeOutcome.STOPPED:
        return STOPPED
    return MISSED if strict and (result.report.met is False or result.report.crossed) else DONE


def summary(result: shots.TakeResult) -> list[str]:
    """Where the take is, what is in it, and what it met."""
    lines = [f"{result.folder} was finished already"] if result.already else []
    lines += [sentence.text for sentence in result.report.sentences]
    lines += ["", f"{result.folder}"]
    for one in shots.contents(result.folder, result.report.animations):
        lines.append(f"  {one.name:<18} {_size(one.size):>9}  {one.about}".rstrip())
    return lines


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def positive(text: str) -> int:
    """An option that counts something."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return number


class _ShownWarnings(logging.Handler):
    """Passes what the library warns of to the show."""

    def __init__(self, show: Show) -> None:
        super().__init__(logging.WARNING)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.ERROR:  # errors are told by the ending
            self._show.warn(record.getMessage())


@contextmanager
def _warnings_shown(show: Show) -> Iterator[None]:
    logger, handler = logging.getLogger("bunraku"), _ShownWarnings(show)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
