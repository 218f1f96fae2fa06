"""A take belongs to one run at a time: a lock file with the run's process and machine, there while it writes."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bunraku.contracts import InputError
from bunraku.io import output_error, process_lives

LOCK = ".lock"
_LONGEST = 18  # digits of a process
_FRESH = 5.0  # [s] within which a lock may still be without its text
_held: set[Path] = set()
"""locks of this process, links followed; one that names it and is not here was left by a dead one of the same number"""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a take's folder; refused while another run holds it, taken over from a run that died."""
    path = folder.resolve() / LOCK
    _take(path)
    _held.add(path)
    try:
        yield
    finally:
        _held.discard(path)
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _take(path: Path) -> None:
    """Make the lock file, once a stale one is out of the way."""
    for _ in range(10):
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            _refuse_or_remove(path)
            continue
        except OSError as error:
            raise output_error(path, error) from error
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(f"{os.getpid()} {platform.node()}\n")
        return
    raise InputError(f"{path.parent}: other runs want this take too; try: again in a moment")


def is_held(folder: Path) -> bool:
    """Whether a run writes into a take's folder now, as far as that can be known from here."""
    found = _holder(folder.resolve() / LOCK)
    return found is not None and found[0]


def take_from_the_dead(folder: Path) -> None:
    """Remove the lock that a run on another machine has left. Whether that run lives cannot be seen from here: whoever
    calls this knows that it does not."""
    path = folder.resolve() / LOCK
    with suppress(OSError):
        if path.read_text(encoding="utf-8", errors="replace").strip().partition(" ")[2] != platform.node():
            path.unlink(missing_ok=True)


def held_here() -> bool:
    """Whether a run of this process writes into any take."""
    return bool(_held)


def _refuse_or_remove(path: Path) -> None:
    found = _holder(path)
    if found is None:  # it has just been given back
        return
    alive, who = found
    if alive:
        raise InputError(
            f"{path.parent}: another run writes into this take ({who}); try: wait for its end, or delete {path} if "
            "that run is gone"
        )
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _holder(path: Path) -> tuple[bool, str] | None:
    """Whether whoever made a lock lives, and who that is; None where there is no lock."""
    try:
        number, _, machine = path.read_text(encoding="utf-8", errors="replace").strip().partition(" ")
        age = time.time() - path.stat().st_mtime
    except OSError:
        return None
    if not number.isdecimal() or len(number) > _LONGEST:
        return age < _FRESH, "a run that is just beginning"
    if machine != platform.node():
        return True, f"process {number} on {machine or 'another machine'}"
    if int(number) == os.getpid():
        return path in _held, "this process"
    return process_lives(int(number)), f"process {number}"
