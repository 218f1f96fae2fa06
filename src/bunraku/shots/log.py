"""The log of a take. Listening begins before its folder exists, so that what the inputs were warned of is in it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from logging.handlers import MemoryHandler
from pathlib import Path

from bunraku.io import output_error

_EVERYTHING = 1 << 20  # records held before a file is there; far more than a reading gives


class TakeLog:
    """Holds what bunraku says until there is a file for it."""

    def __init__(self) -> None:
        self._handler: logging.Handler = MemoryHandler(_EVERYTHING, flushLevel=logging.CRITICAL + 1, flushOnClose=False)
        self._logger = logging.getLogger("bunraku")
        self._level = self._logger.level
        self._logger.addHandler(self._handler)
        self._logger.setLevel(logging.INFO)

    def write_to(self, path: Path) -> None:
        """Write what was said so far to the end of a file, and all that follows."""
        try:
            file = logging.FileHandler(path, encoding="utf-8")
        except OSError as error:
            raise output_error(path, error) from error
        file.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s"))
        file.handleError = lambda record: None  # a full disk is told once, by the frame that does not fit
        if isinstance(self._handler, MemoryHandler):
            self._handler.setTarget(file)
            self._handler.flush()
        self.close()
        self._handler = file
        self._logger.addHandler(file)
        self._logger.setLevel(logging.INFO)

    def close(self) -> None:
        """Stop listening."""
        self._logger.setLevel(self._level)
        self._logger.removeHandler(self._handler)
        with suppress(OSError):
            self._handler.close()


@contextmanager
def listening() -> Iterator[TakeLog]:
    """A log that is closed at the end."""
    log = TakeLog()
    try:
        yield log
    finally:
        log.close()
