"""What planning took: by the clock on the wall, and by the processor, which others may share."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Spent:
    """Seconds since some beginning, or between two moments."""

    seconds: float = 0.0
    """[s]"""
    processor: float = 0.0
    """[s] that this process worked, on all its threads"""

    @classmethod
    def now(cls) -> Spent:
        """A moment."""
        return cls(time.perf_counter(), time.process_time())

    @property
    def since(self) -> Spent:
        """From this moment until now."""
        now = Spent.now()
        return Spent(now.seconds - self.seconds, now.processor - self.processor)


NOTHING = Spent()
