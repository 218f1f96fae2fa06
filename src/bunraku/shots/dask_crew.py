"""Workers of a Dask scheduler: a cluster of this machine's cores, or one that is there already.

The only file that knows Dask. What workers tell travels as events of the scheduler, frames stay on the shared disk.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import queue
import secrets
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

from bunraku import __version__
from bunraku.contracts import InputError, OutputError

from .crew import Answered, Began, Lost, Told, Word, environment, environment_kept
from .wedge_work import Answer, Named, Step, perform, whereabouts
from .wording import first_line

INSTALL = "pip install 'bunraku[cluster]'"
_READ_LATE = ("NUMBA_NUM_THREADS", "BUNRAKU_THREADS")  # when kernels are used, and not as libraries are loaded
_PATIENCE = 4.0  # [s] for a scheduler to answer, and to have a worker
_STARTING = 60.0  # [s] for processes of this machine to start


def dask_is_there() -> bool:
    """Whether Dask is installed."""
    return find_spec("distributed") is not None


class DaskCrew:
    """Whoever works for a scheduler."""

    def __init__(self, client: Any, about: str) -> None:
        self.about = about
        self._client, self._futures = client, dict[str, Any]()
        self._words: queue.SimpleQueue[Word | Exception] = queue.SimpleQueue()
        self._topic = f"bunraku-{secrets.token_hex(8)}"
        self._given = 0
        client.subscribe_topic(self._topic, self._heard)

    def order(self, step: Step, order: Named) -> None:
        """As the protocol says. First come, first served."""
        self._given += 1
        future = self._client.submit(
            _work, step, order, self._topic, key=f"{self._topic}-{order.name}-{self._given}", pure=False, retries=0,
            priority=-self._given,
        )  # fmt: skip
        self._futures[order.name] = future
        future.add_done_callback(lambda one, name=order.name: self._ended(name, one))

    def heard(self, seconds: float) -> list[Word]:
        """As the protocol says."""
        words: list[Word] = []
        with suppress(queue.Empty):
            while True:
                word = self._words.get(timeout=0.0 if words else seconds)
                if isinstance(word, Exception):
                    raise word
                words.append(word)
        return words

    def forget(self) -> None:
        """As the protocol says."""
        begun = {key for keys in self._client.processing().values() for key in keys}
        for name in [name for name, one in self._futures.items() if one.key not in begun]:
            self._futures.pop(name).cancel()

    def close(self) -> None:
        """As the protocol says."""
        futures = list(self._futures.values())
        self._futures.clear()
        with suppress(Exception):  # the scheduler may be gone
            self._client.unsubscribe_topic(self._topic)
            self._client.cancel(futures, force=True)

    def _heard(self, event: tuple[float, Any]) -> None:
        """An event of the scheduler: its time, and what was said."""
        self._words.put(pickle.loads(event[1]))

    def _ended(self, name: str, future: Any) -> None:
        """A future is done; called in a thread of the client's."""
        if self._futures.get(name) is not future:
            return
        if future.status == "finished":
            self._words.put(Answered(name, future.result()))
        elif future.status != "error":
            self._words.put(OutputError("the scheduler is gone, with what was ordered; try: --resume when it is back"))
        elif type(error := future.exception()).__name__ == "KilledWorker":
            self._words.put(Lost(name, f"the worker at {error.last_worker.address} died"))
        else:
            self._words.put(Answered(name, Answer("fault", f"unexpected {type(error).__name__}: {error}")))


@contextmanager
def local_dask(count: int, threads: int) -> Iterator[DaskCrew]:
    """A cluster of this machine, a process each; it is there for this one wedge only."""
    from dask import config
    from distributed import Client, LocalCluster

    own = environment(threads)
    told = {
        "distributed.scheduler.allowed-failures": 0,  # what dies is told of, and ordered again by us
        "distributed.scheduler.worker-saturation": 1.0,  # nothing waits for a worker that is busy
        # The former stay in this process, too, as long as there are workers: its own kernels must not hear of them.
        "distributed.nanny.pre-spawn-environ": {name: value for name, value in own.items() if name not in _READ_LATE},
        "distributed.nanny.environ": {name: own[name] for name in _READ_LATE},
        "distributed.comm.timeouts.connect": _STARTING,
    }
    with config.set(told), environment_kept(own), _quiet():
        with LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, memory_limit=None, silence_logs=logging.CRITICAL,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},  # it listens there in any case
        ) as cluster, Client(cluster, set_as_default=False) as client:  # fmt: skip
            client.run(_leave_ctrl_c_to_others)
            crew = DaskCrew(client, f"{count} Dask worker{'s' if count > 1 else ''} of this machine")
            try:
                yield crew
            finally:
                crew.close()


@contextmanager
def dask_at(address: str) -> Iterator[DaskCrew]:
    """The workers of a scheduler that is there already."""
    from distributed import Client

    with _quiet():
        _knock(address)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Dask's versions differ: what matters to us is looked at below
            client = Client(address, timeout=_PATIENCE, set_as_default=False, name="bunraku")
        with client:
            count = _check_workers(client, address)
            crew = DaskCrew(client, f"{count} worker{'s' if count > 1 else ''} of {address}")
            try:
                yield crew
            finally:
                crew.close()


def _knock(address: str) -> None:
    """Refuse an address where no scheduler answers."""
    from distributed.comm.core import connect

    async def knock() -> None:
        comm = await connect(address, timeout=_PATIENCE)
        await comm.close()

    try:
        asyncio.run(knock())
    except Exception as error:  # whatever is at that address, or in it, is no scheduler
        why = first_line(str(error)) or type(error).__name__
        raise InputError(
            f"--address: no scheduler answers (got {address!r}: {why}); try: the address that `dask scheduler` prints, "
            "such as tcp://127.0.0.1:8786"
        ) from None


def _check_workers(client: Any, address: str) -> int:
    """How many there are; refused where there is none, or one that lacks bunraku or has another."""
    until = time.monotonic() + _PATIENCE
    while not (workers := client.scheduler_info(n_workers=-1)["workers"]):
        if time.monotonic() > until:
            raise InputError(f"--address: the scheduler at {address} has no workers; try: dask worker {address}")
        time.sleep(0.2)
    wrong = []
    for where, version in client.run(_version, on_error="return").items():
        if isinstance(version, Exception) or version is None:
            wrong.append(f"{where}: the worker has no bunraku; try: {INSTALL} where it runs")
        elif version != __version__:
            wrong.append(f"{where}: the worker has bunraku {version}, and here is {__version__}; try: the same one")
    if wrong:
        raise InputError("\n".join(wrong))
    return len(workers)


def _version() -> str | None:
    """Of the bunraku of a worker; it must be able to find this function at all."""
    return __version__


def _leave_ctrl_c_to_others() -> None:
    """A terminal interrupts all processes it sees; ours ask their workers to stop themselves."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(step: Step, order: Named, topic: str) -> Answer:
    """What a worker does, in a thread of its own."""
    from distributed import get_worker

    worker = get_worker()

    def say(word: Word) -> None:
        worker.log_event(topic, pickle.dumps(word))

    say(Began(order.name, f"{whereabouts()} ({worker.address})"))
    return perform(step, order, lambda event: say(Told(order.name, event)))


@contextmanager
def _quiet() -> Iterator[None]:
    """What Dask logs of workers that died is told by us, in a sentence."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)
