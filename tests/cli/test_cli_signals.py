"""Interruptions that a library drops on the way."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest

from bunraku.cli.performance import INTERRUPTED, Performance
from bunraku.shots import FrameDone

FRAME = FrameDone(1.0, 0, 2, None, 1, preroll=False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_that_gets_lost_is_made_up_for_at_the_next_frame(number: signal.Signals) -> None:
    told = []

    def work(performance: Performance) -> int:
        performance.tell(FRAME)
        with suppress(KeyboardInterrupt):  # as where a compiler calls back
            signal.raise_signal(number)
        told.append("goes on")
        performance.tell(FRAME)
        told.append("never")
        return 0

    before = signal.getsignal(number)
    assert Performance("plain").perform(work) == INTERRUPTED and told == ["goes on"]
    assert signal.getsignal(number) is before or signal.getsignal(number) is signal.SIG_IGN
    signal.signal(number, before)


def test_an_interruption_that_a_finaliser_loses_is_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    class Compiled:
        """What has something to clean up when it is thrown away, as a compiler's handles have."""

        def __init__(self, cleaned: Callable[[], object]) -> None:
            self.cleaned = cleaned

        def __del__(self) -> None:
            self.cleaned()

    told = []

    def work(performance: Performance) -> int:
        performance.tell(FRAME)
        Compiled(lambda: signal.raise_signal(signal.SIGINT))
        Compiled(lambda: [][0])
        told.append("goes on")
        performance.tell(FRAME)
        return 0

    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    sys.unraisablehook = sys.__unraisablehook__
    try:
        assert Performance("plain").perform(work) == INTERRUPTED and told == ["goes on"]
        assert sys.unraisablehook is sys.__unraisablehook__
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, before)
    err = capfd.readouterr().err
    assert "IndexError" in err and "KeyboardInterrupt" not in err
