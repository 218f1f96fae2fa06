"""Those who work on several shots at once: a small face, and processes of this machine behind it.

Another face of the same kind, `dask_crew.py`, is workers of a Dask scheduler. Orders go out by name; what comes back is
a stream of words: an order has begun, tells something, is answered, or was lost with its worker.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Protocol

from .events import Event
from .wedge_work import Answer, Named, Step, perform, whereabouts

_PATIENCE = 5.0  # [s] for a worker that was told to go
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "BUNRAKU_THREADS")
"""variables by which libraries learn how many threads a worker has; they must be said before it starts"""


@dataclass(frozen=True)
class Began:
    """A worker has taken an order up; again, where the one before it died."""

    name: str
    where: str
    """'process 4711 on node7'"""


@dataclass(frozen=True)
class Told:
    """A worker tells of an order."""

    name: str
    event: Event


@dataclass(frozen=True)
class Answered:
    """An order is done with."""

    name: str
    answer: Answer


@dataclass(frozen=True)
class Lost:
    """A worker died at an order."""

    name: str
    why: str


Word = Began | Told | Answered | Lost


class Crew(Protocol):
    """Workers."""

    @property
    def about(self) -> str:
        """Who they are, in words."""
        ...

    def order(self, step: Step, order: Named) -> None:
        """Have something done, as soon as somebody is free."""
        ...

    def heard(self, seconds: float) -> list[Word]:
        """What was said since; waits so long for the first word."""
        ...

    def forget(self) -> None:
        """Drop the orders nobody has begun."""
        ...

    def close(self) -> None:
        """Send everybody home; what is still worked on is given up."""
        ...


def environment(threads: int) -> dict[str, str]:
    """What a worker's process must be told before it starts."""
    return dict.fromkeys(ONE_THREAD, str(threads))


@contextmanager
def environment_of(threads: int) -> Iterator[None]:
    """While processes are started that have so many threads each."""
    told = environment(threads)
    with environment_kept(told):
        os.environ.update(told)
        yield


@contextmanager
def environment_kept(names: Iterable[str]) -> Iterator[None]:
    """Afterwards this process's own variables are what they were."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def local_crew(count: int, threads: int) -> Iterator[LocalCrew]:
    """Processes of this machine."""
    crew = LocalCrew(count, threads)
    try:
        yield crew
    finally:
        crew.close()


class Gone(Exception):
    """Whoever gave the orders does not listen any more."""


@dataclass
class _Worker:
    process: SpawnProcess
    line: Connection
    at: str = ""
    """the name of the order it is at"""


@dataclass
class LocalCrew:
    """Processes of this machine, from the standard library alone."""

    count: int
    threads: int = 1
    _workers: list[_Worker] = field(default_factory=list)
    _waiting: deque[tuple[Step, Named]] = field(default_factory=deque)

    @property
    def about(self) -> str:
        """As said to a person."""
        return f"{self.count} process{'es' if self.count > 1 else ''} of this machine"

    @property
    def processes(self) -> list[int]:
        """Their numbers."""
        return [one.process.pid or 0 for one in self._workers]

    def order(self, step: Step, order: Named) -> None:
        """As the protocol says."""
        self._waiting.append((step, order))
        self._hand_out()

    def heard(self, seconds: float) -> list[Word]:
        """As the protocol says."""
        ready = wait([one.line for one in self._workers], seconds) if self._workers else []
        if not self._workers:
            time.sleep(seconds)
        words = [word for one in list(self._workers) if one.line in ready for word in self._from(one)]
        self._hand_out()
        return words

    def forget(self) -> None:
        """As the protocol says."""
        self._waiting.clear()

    def close(self) -> None:
        """As the protocol says."""
        self.forget()
        for one in self._workers:
            if one.at:
                one.process.terminate()
            else:
                with suppress(OSError):
                    one.line.send(None)
        for one in self._workers:
            one.process.join(_PATIENCE)
            if one.process.is_alive():
                one.process.kill()
                one.process.join(_PATIENCE)
            one.line.close()
            one.process.close()
        self._workers.clear()

    def _hand_out(self) -> None:
        while self._waiting:
            free = next((one for one in self._workers if not one.at), None)
            if free is None and len(self._workers) < self.count:
                free = self._hire()
            if free is None:
                return
            step, order = self._waiting.popleft()
            free.at = order.name
            with suppress(OSError):  # it has just died, which is heard of next
                free.line.send((step, order))

    def _hire(self) -> _Worker:
        ours, theirs = mp.get_context("spawn").Pipe()
        process = mp.get_context("spawn").Process(target=_work, args=(theirs,), daemon=True)
        with environment_of(self.threads):
            process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours))
        return self._workers[-1]

    def _from(self, one: _Worker) -> list[Word]:
        """What a worker said; the last words of one that died are told too."""
        words: list[Word] = []
        try:
            while one.line.poll():
                word: Word = one.line.recv()
                words.append(word)
                if isinstance(word, Answered):
                    one.at = ""
        except (EOFError, OSError):
            one.process.join(_PATIENCE)
            if one.at:
                words.append(Lost(one.at, f"process {one.process.pid} ended ({_ending(one.process.exitcode)})"))
            one.line.close()
            self._workers.remove(one)
        return words


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _work(line: Connection) -> None:
    """The life of a worker. Ctrl-C is for the one who gives the orders, who asks for what is begun to be stopped."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            given = line.recv()
        except (EOFError, OSError):
            return
        if given is None:
            return
        step, order = given
        try:
            _say(line, Began(order.name, whereabouts()))
            answer = perform(step, order, _teller(line, order.name))
            _say(line, Answered(order.name, answer))
        except Gone:
            return


def _teller(line: Connection, name: str) -> Any:
    def tell(event: Event) -> None:
        try:
            _say(line, Told(name, event))
        except Gone as error:  # a run ends as at Ctrl-C: it can be carried on
            raise KeyboardInterrupt("nobody listens any more") from error

    return tell


def _say(line: Connection, word: Word) -> None:
    try:
        line.send(word)
    except (OSError, ValueError) as error:
        raise Gone from error
