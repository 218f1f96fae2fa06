"""Ctrl-C and SIGTERM: what ends a command, and how often."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def terminated_like_interrupted() -> Iterator[Callable[[], None]]:
    """A farm that ends a job politely (SIGTERM) gets the same ending as Ctrl-C.

    Gives a function that interrupts again where that was asked for already: an exception that is raised while some
    library calls back (a compiler's finaliser, say) is lost there. Python would print it with its traceback; it is kept
    quiet.
    """
    asked = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        raise KeyboardInterrupt

    def insist() -> None:
        if asked:
            raise KeyboardInterrupt

    with signals_kept(), _lost_interrupts_unsaid():
        for number in _ENDING if _in_charge() else ():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, interrupt)
        yield insist


@contextmanager
def _lost_interrupts_unsaid() -> Iterator[None]:
    """What cannot be raised where it happens is told as ever, but for interrupts: they are made up for."""
    before = sys.unraisablehook

    def tell(lost: sys.UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            before(lost)

    sys.unraisablehook = tell
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def left_at_most_once() -> Iterator[None]:
    """The first Ctrl-C or SIGTERM interrupts; impatient ones after it would only spoil the exit code, and do nothing.

    They stay ignored until the process ends (`bunraku.cli.main` puts back what it found, for whoever called it).
    """
    if not _in_charge():
        yield
        return
    before = _handlers()
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    left = False

    def leave(number: int, frame: FrameType | None) -> None:
        nonlocal left
        left = True
        ignore_signals()
        raise KeyboardInterrupt

    for number in heard:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in [] if left else heard:
            signal.signal(number, before[number])


def ignore_signals() -> None:
    """Ctrl-C and SIGTERM do nothing from now on."""
    for number in _ENDING if _in_charge() else ():
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def signals_kept() -> Iterator[None]:
    """Whatever is done to what ends a process, it is as before afterwards."""
    before = _handlers() if _in_charge() else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handlers() -> dict[signal.Signals, Any]:
    """What is done on each signal, where Python knows it: a program around it may have its own way."""
    found = {number: signal.getsignal(number) for number in _ENDING}
    return {number: handler for number, handler in found.items() if handler is not None}


def _in_charge() -> bool:
    """Only the main thread may say what a signal does."""
    return threading.current_thread() is threading.main_thread()
