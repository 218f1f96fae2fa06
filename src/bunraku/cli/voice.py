"""Standard output and error that may lose their reader: a run goes on without telling."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


class Voice:
    """One of the two streams as it is now; what cannot be written is dropped, and all that follows."""

    def __init__(self, name: str) -> None:
        self._name = name

    def write(self, text: str) -> int:
        """As a stream does."""
        stream = getattr(sys, self._name)
        try:
            if stream is not None:
                stream.write(text)
        except (OSError, ValueError):  # gone, full, closed
            self._hang_up()
        return len(text)

    def flush(self) -> None:
        """As a stream does."""
        stream = getattr(sys, self._name)
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            self._hang_up()

    def isatty(self) -> bool:
        """Whether a person reads."""
        stream = getattr(sys, self._name)
        try:
            return stream is not None and stream.isatty()
        except (OSError, ValueError):
            return False

    def fileno(self) -> int:
        """The descriptor; OSError where there is none."""
        stream = getattr(sys, self._name)
        if stream is None:
            raise OSError("the stream is closed")
        return stream.fileno()

    @property
    def encoding(self) -> str:
        """What tqdm asks for."""
        return getattr(getattr(sys, self._name), "encoding", None) or "utf-8"

    def _hang_up(self) -> None:
        """Let what is still in the buffer, and all that follows, go nowhere."""
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, self.fileno())
                return
            finally:
                os.close(nowhere)
        setattr(sys, self._name, None)  # no descriptor to redirect: nothing more is said


OUTPUT, ERRORS = Voice("stdout"), Voice("stderr")


def keep_descriptors() -> None:
    """Give closed standard streams (`2>&-`) a place, so that no file of a take gets their numbers."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            with suppress(OSError):
                setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))
