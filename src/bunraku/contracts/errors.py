"""The ways a job can end early, each in one sentence a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class BunrakuError(Exception):
    """Anything bunraku raises on purpose. The message is the whole story: no traceback is needed."""


class InputError(BunrakuError, ValueError):
    """Something given to bunraku cannot be used.

    The message says what is wrong, where, the value got, what is allowed and what to try.
    Several findings may be reported at once; then the message has one line each.
    """


class OutputError(BunrakuError, OSError):
    """A result could not be written (full disk, read-only folder, a file in the way)."""


class PhysicsStopped(BunrakuError):
    """The simulation could not be carried on. What was finished before is kept."""

    def __init__(
        self, reason: str, *, index: int | None = None, time: float | None = None, vertex: int | None = None,
        position: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        """`index` and `time` [s] of the frame that failed; `vertex` and `position` [m] of the largest imbalance."""
        self.reason, self.index, self.time = reason, index, time
        self.vertex, self.position = vertex, position
        begin = "" if index is None else f"stopped at frame index {index} (t = {time:.4f} s): "
        super().__init__(begin + self.story())

    def story(self, origin: Iterable[float] = (0.0, 0.0, 0.0), numbers: Sequence[int | str] | None = None) -> str:
        """Why and where, positions about another origin [m], vertices by other `numbers`."""
        if self.vertex is None or self.position is None:
            return self.reason
        where = ", ".join(f"{c + o:.6g}" for c, o in zip(self.position, origin, strict=True))
        vertex = self.vertex if numbers is None else numbers[self.vertex]
        return f"{self.reason}; the largest imbalance is at vertex {vertex} ({where})"


_LONGEST = 200
"""letters that are told of a value which is no word"""


def input_error(what: str, *, where: str = "", got: object = None, allowed: str = "", remedy: str = "") -> InputError:
    """Compose the standard sentence: what, where, value, allowed, remedy. Arrays and the like are told in one line."""
    text = f"{where}: {what}" if where else what
    if got is not None:
        told = repr(got) if isinstance(got, str) else " ".join(str(got).split())
        text += f" (got {told if isinstance(got, str) or len(told) <= _LONGEST else told[:_LONGEST] + '…'})"
    if allowed:
        text += f"; allowed: {allowed}"
    if remedy:
        text += f"; try: {remedy}"
    return InputError(text)


def many(number: int, one: str, more: str | None = None) -> str:
    """'1 point', '3 points'."""
    return f"{number} {one if number == 1 else more or one + 's'}"
