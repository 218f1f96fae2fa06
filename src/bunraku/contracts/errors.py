"""The two ways a job can end early, each in one sentence a person can act on."""

from __future__ import annotations


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


def input_error(what: str, *, where: str = "", got: object = None, allowed: str = "", remedy: str = "") -> InputError:
    """Compose the standard sentence: what, where, value, allowed, remedy."""
    text = f"{where}: {what}" if where else what
    if got is not None:
        text += f" (got {got!r})" if isinstance(got, str) else f" (got {got})"
    if allowed:
        text += f"; allowed: {allowed}"
    if remedy:
        text += f"; try: {remedy}"
    return InputError(text)
