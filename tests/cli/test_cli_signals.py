"""Interruptions that a library drops on the way."""

from __future__ import annotations

import signal
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
