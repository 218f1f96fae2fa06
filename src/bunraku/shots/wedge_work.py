"""What a worker does for a wedge or a farm: looks at a shot, or makes its take.

An order and its answer are plain values, so that they go to any process and any machine. Files are seen by all: the
disk is shared.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from bunraku import __version__
from bunraku.contracts import BunrakuError, InputError, OutputError, PhysicsStopped
from bunraku.io import content_hash, remove_leftovers

from .animations import animation_files
from .events import Event
from .folder import TakeFolder
from .lock import take_from_the_dead
from .prepare import prepare
from .provenance import settings, spelled_out
from .run import run_shot
from .shot import Shot

_log = logging.getLogger(__name__)
_alone = threading.Lock()
"""one take at a time in a process: kernels, solvers and logs are set for the whole of it"""


@dataclass(frozen=True)
class Order:
    """A shot to be looked at or made."""

    name: str
    """'c001'"""
    settings: Mapping[str, Any]
    """as the shot file would say them"""
    source: str
    """the shot file, seen from everywhere under this name"""
    sha256: str
    """of that file"""
    out: str = ""
    """the folder of the take, which nobody else writes into"""
    frames: tuple[int, int] | None = None
    threads: int = 1
    preview: bool = True
    whole: bool = False
    """whether the answer is to hold the whole result"""
    version: str = __version__
    """of bunraku, which must be the worker's too"""

    def shot(self) -> Shot:
        """The shot; refused where its files cannot be seen from here."""
        file = Path(self.source)
        shot = Shot.of(self.settings, folder=file.parent, source=file)
        return shot if self.preview else replace(shot, output=replace(shot.output, preview=False))


@dataclass(frozen=True)
class Answer:
    """What became of an order."""

    outcome: str
    """"done", "finished", "stopped" (by physics), "refused" (input or disk), "fault", "interrupted\""""
    why: str = ""
    """in words, where it is not done"""
    value: Any = None
    story: str = ""
    """of a fault: where in the program it happened"""


@dataclass(frozen=True)
class Looked:
    """What is known of a shot before it is made."""

    settings: Mapping[str, Any]
    """all that decides its frames"""
    count: int
    """frames to simulate"""
    files: tuple[str, ...]
    """that a take of it has at least"""

    @property
    def key(self) -> str:
        """The same for shots whose takes would be the same."""
        return key_of(self.settings)


Tell = Callable[[Event], None]


class Named(Protocol):
    """Any order."""

    @property
    def name(self) -> str:
        """Of the take it is about."""
        ...


Step = Callable[[Any, Tell], "Answer"]
"""what is done for an order"""


def key_of(told: Mapping[str, Any]) -> str:
    """A name for settings by their content."""
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode(errors="replace")).hexdigest()


def whereabouts() -> str:
    """Which process this is, for the log."""
    return f"process {os.getpid()} on {platform.node()}"


def perform(step: Step, order: Named, tell: Tell) -> Answer:
    """Do it; whatever happens is an answer."""
    with _alone:
        try:
            return step(order, tell)
        except PhysicsStopped as error:
            return Answer("stopped", str(error))
        except (InputError, OutputError, BunrakuError) as error:
            return Answer("refused", str(error))
        except KeyboardInterrupt:
            return Answer("interrupted", "asked to stop")
        except Exception as error:
            return Answer("fault", f"unexpected {type(error).__name__}: {error}", story=traceback.format_exc())


def check_version(order: Order) -> None:
    """Refuse to work where bunraku is another."""
    if order.version != __version__:
        raise InputError(
            f"{whereabouts()} has bunraku {__version__}, and the take is to be made by {order.version}; "
            "try: the same version on all machines"
        )


def check_same_sight(order: Order) -> None:
    """Refuse to work where the shot file is not the one that is meant, for then other files are not either."""
    try:
        seen = content_hash(Path(order.source))
    except (InputError, OSError):
        seen = ""
    if seen != order.sha256:
        how = "another file there" if seen else "no such file"
        raise InputError(
            f"{order.source}: {whereabouts()} sees {how}; try: a disk that all machines see under the same name, and "
            "the shot file on it"
        )


def look(order: Order, tell: Tell) -> Answer:
    """Read all that the shot reads, and say what its take would be made of."""
    check_version(order)
    check_same_sight(order)
    prepared = prepare(order.shot(), order.frames, threads=order.threads)
    files = [name for names in animation_files(prepared).values() for name in names]
    files += [TakeFolder(Path()).video.name] if prepared.shot.output.preview else []
    return Answer("done", value=Looked(spelled_out(settings(prepared)), len(prepared.numbers), tuple(files)))


def make(order: Order, tell: Tell) -> Answer:
    """Make the take in the order's folder, or carry it on where it is begun."""
    check_version(order)  # the shot file may be edited meanwhile: the order says what it said
    take = TakeFolder(Path(order.out))
    _clear(take)
    result = run_shot(
        order.shot(), out=take.path, resume=take.begun, frames=order.frames, threads=order.threads, progress=tell
    )
    return Answer(result.outcome.name.lower(), value=result if order.whole else None)


def _clear(take: TakeFolder) -> None:
    """Put in order what a worker that was killed has left. Whoever gives the order knows that nobody else is here."""
    if not take.path.is_dir():
        return
    take_from_the_dead(take.path)
    if not take.begun:  # killed before there was anything to carry on
        _log.info("%s was left before its first frame, and is begun anew", take.path)
        remove_leftovers(take.path)
        take.discard()
