"""A run is asked to stop by a file in its folder: no signals, the same on every system and across machines.

The run looks after every frame, every picture and between stages. It then ends as an interruption does, and can be
resumed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bunraku.io import output_error

from .events import Event, Finished
from .lock import is_held

STOP = ".stop"


class StopAsked(KeyboardInterrupt):
    """Somebody outside asked a run to stop. Whoever ends at Ctrl-C ends here too."""


def ask_to_stop(folder: Path) -> bool:
    """Ask the run that writes into a take's folder to stop; False where none does."""
    if not is_held(folder):
        return False
    try:
        (folder / STOP).touch()
    except OSError as error:
        raise output_error(folder / STOP, error) from error
    return True


def forget_stop(folder: Path) -> None:
    """Take back what an earlier run was asked."""
    with suppress(OSError):
        (folder / STOP).unlink(missing_ok=True)


def heeding(folder: Path, tell: Callable[[Event], None]) -> Callable[[Event], None]:
    """The listener `tell`, and the run that tells it of events stops when it was asked to."""

    def told(event: Event) -> None:
        tell(event)
        if not isinstance(event, Finished) and (folder / STOP).exists():
            raise StopAsked("asked to stop from outside")

    return told
