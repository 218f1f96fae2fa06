"""A crew that works in this process, one order after another, and whose workers die when a test wants them to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bunraku.shots import Crew, Event, FrameDone, Hire
from bunraku.shots.crew import Answered, Began, Lost, Told, Word
from bunraku.shots.wedge_work import Answer, Named, Step, make, perform


class Died(BaseException):
    """A worker is no more."""


@dataclass
class InlineCrew:
    """`deaths`: take → the frames at which a worker dies, one death each; `made`: what was begun, in order."""

    deaths: dict[str, list[float]] = field(default_factory=dict)
    silent: bool = False
    """whether its scheduler replaces the dead by itself, and does not say so"""
    made: list[str] = field(default_factory=list)
    about: str = "one worker"
    _waiting: deque[tuple[Step, Named]] = field(default_factory=deque)

    def order(self, step: Step, order: Named) -> None:
        self._waiting.append((step, order))

    def forget(self) -> None:
        self._waiting.clear()

    def close(self) -> None:
        pass

    def heard(self, seconds: float) -> list[Word]:
        if not self._waiting:
            return []
        step, order = self._waiting.popleft()
        if step is make:
            self.made.append(order.name)
        words: list[Word] = [Began(order.name, "here")]

        def tell(event: Event) -> None:
            words.append(Told(order.name, event))
            left = self.deaths.get(order.name, [])
            if isinstance(event, FrameDone) and event.frame in left:
                left.remove(event.frame)
                raise Died

        try:
            answer: Answer = perform(step, order, tell)
        except Died:
            if self.silent:
                self._waiting.appendleft((step, order))
                return words
            return [*words, Lost(order.name, "its worker died")]
        return [*words, Answered(order.name, answer)]

    @property
    def hire(self) -> Hire:
        @contextmanager
        def hired(count: int) -> Iterator[Crew]:
            yield self

        return hired
