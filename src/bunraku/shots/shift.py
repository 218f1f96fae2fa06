"""Orders that a crew works at until all are answered: who died is replaced, who is to stop is asked to."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .crew import Answered, Began, Crew, Lost, Told, Word
from .events import Event, Noticed, OfTake
from .stopping import ask_to_stop
from .wedge_work import Answer, Named, Step

_log = logging.getLogger(__name__)
_DEATHS = 3  # of workers at one order, after which it is given up
_UNSEEN = 10  # the same, where none of them had begun it
_PULSE = 1.0  # [s] between two looks at the crew
LAST_WORDS = 20.0  # [s] in which runs end that were asked to stop
Tell = Callable[[Event], None]


@dataclass
class Shift:
    """Orders that are out."""

    crew: Crew
    step: Step
    orders: Mapping[str, Named]
    tell: Tell
    ended: Callable[[str, Answer], None]
    began: dict[str, str] = field(default_factory=dict)
    """order → who is at it"""
    deaths: dict[str, int] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)

    def work(self) -> None:
        """Have all orders done."""
        self.left = set(self.orders)
        for order in self.orders.values():
            self.crew.order(self.step, order)
        while self.left:
            for word in self.crew.heard(_PULSE):
                self.hear(word)

    def hear(self, word: Word) -> None:
        """One word of the crew."""
        if word.name not in self.left:
            return
        match word:
            case Began(name, where):
                if name in self.began:  # the scheduler gave it to another by itself
                    self._notice(f"{name}: the worker at it is gone ({self.began[name]}); {where} carries on")
                self.began[name] = where
            case Told(name, event):
                self.tell(OfTake(name, event))
            case Answered(name, answer):
                self._end(name, answer)
            case Lost(name, why):
                self._bury(name, why)

    def _bury(self, name: str, why: str) -> None:
        """A worker died: somebody else carries on, unless too many did."""
        self.deaths[name] = self.deaths.get(name, 0) + 1
        begun = self.began.pop(name, "")  # else the order only waited for that worker
        if self.deaths[name] >= (_DEATHS if begun else _UNSEEN):
            self._notice(f"{name}: {why}; given up after {self.deaths[name]} workers died")
            self._end(name, Answer("lost", f"{self.deaths[name]} workers died at it, the last: {why}"))
            return
        if begun:
            self._notice(f"{name}: {why}; another worker carries on")
        self.crew.order(self.step, self.orders[name])

    def _end(self, name: str, answer: Answer) -> None:
        self.left.discard(name)
        self.ended(name, answer)

    def _notice(self, text: str) -> None:
        _log.info(text)
        self.tell(Noticed(text))

    def stop(self, folders: Mapping[str, str]) -> None:
        """End what is begun as an interruption does, and begin nothing more. `folders`: of each order's take."""
        self.crew.forget()
        running = {name for name in self.left if name in self.began}
        until = time.monotonic() + LAST_WORDS
        while running & self.left and time.monotonic() < until:
            for name in running & self.left:
                ask_to_stop(Path(folders[name]))
            for word in self.crew.heard(0.2):
                if isinstance(word, Answered | Lost) and word.name in self.left:
                    answer = word.answer if isinstance(word, Answered) else Answer("interrupted", word.why)
                    self._end(word.name, answer)
