"""What an answer is made of: replies, routes, and waiting until there is something to tell."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass

_PATIENCE = 20.0  # [s] of a long poll
_HURRY = 1.0  # [s] of those beyond the first few: a browser has six connections for all its tabs
_FEW = 2
_PACE = 0.2  # [s] between two looks


@dataclass(frozen=True)
class Reply:
    """An answer."""

    body: bytes
    kind: str = "application/json"
    policy: str = "default-src 'none'; frame-ancestors 'none'"


@dataclass(frozen=True, eq=False)
class Route:
    """What is answered to one kind of request."""

    method: str
    path: re.Pattern[str]
    keys: frozenset[str]
    """of its query, besides the token"""
    answer: Callable[..., Reply]
    """of the groups of the path, the query, and the body where it may have one"""
    most: int = 0
    """[bytes] of its body"""


def route(method: str, path: str, keys: str, answer: Callable[..., Reply], most: int = 0) -> Route:
    """The route of a path, a regular expression; its query's keys by name, with spaces between."""
    return Route(method, re.compile(path, re.ASCII), frozenset(keys.split()), answer, most)


def told(message: object) -> Reply:
    """A message of messages.py as JSON."""
    assert is_dataclass(message) and not isinstance(message, type)
    text = json.dumps(asdict(message), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Reply(text.encode(errors="replace"))  # names of folders may be no text


class Waiting:
    """Long polls: how long each may wait depends on how many do."""

    def __init__(self) -> None:
        self._closing, self._guard, self._count = threading.Event(), threading.Lock(), 0

    @property
    def over(self) -> bool:
        """Whether nobody waits any more."""
        return self._closing.is_set()

    def close(self) -> None:
        """End all of them."""
        self._closing.set()

    def for_news(self, is_old: Callable[[], bool]) -> None:
        """Return when what is known is not what there is any more, or patience ends."""
        with self._one_more() as patience:
            until = time.monotonic() + patience
            while is_old() and time.monotonic() < until:
                if self._closing.wait(_PACE):
                    break

    @contextmanager
    def _one_more(self) -> Iterator[float]:
        with self._guard:
            self._count += 1
            patience = _PATIENCE if self._count <= _FEW else _HURRY
        try:
            yield patience
        finally:
            with self._guard:
                self._count -= 1
