"""The way that solves among surfaces go, written down, for tests that look whether anything passes on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from bunraku.collision.touch import Touch
from bunraku.contracts import Points


@dataclass(eq=False)
class Solve:
    """One solve: it goes from place to place on straight lines."""

    touch: Touch
    """the surfaces it went among"""
    places: list[Points] = field(default_factory=list)
    """(n + o, 3) of shell and obstacles: where it began, where a safe share of a step was asked for, where it ended"""


@contextmanager
def recorded_way() -> Iterator[list[Solve]]:
    """All solves, one after the other, also those that were given up for shorter steps."""
    solves: list[Solve] = []
    asked, told = Touch.max_step, Touch.report

    def write(touch: Touch, x: Points) -> None:
        if not solves or solves[-1].touch is not touch:
            solves.append(Solve(touch))
        solves[-1].places.append(touch._points(x, 0.0).copy())

    def asking(self: Touch, x: Points, step: Points) -> float:
        write(self, x)
        return asked(self, x, step)

    def telling(self: Touch, x: Points):
        write(self, x)
        return told(self, x)

    Touch.max_step, Touch.report = asking, telling  # type: ignore[method-assign]
    try:
        yield solves
    finally:
        Touch.max_step, Touch.report = asked, told  # type: ignore[method-assign]


def straight(solves: Sequence[Solve]) -> Iterator[tuple[Points, Points]]:
    """Both ends of every straight way."""
    for solve in solves:
        yield from pairwise(solve.places)


def unbroken(solves: Sequence[Solve]) -> bool:
    """Whether each solve begins where one before it began or ended: nothing moved in between."""
    known = {solves[0].places[0].tobytes()}
    for solve in solves:
        if solve.places[0].tobytes() not in known:
            return False
        known |= {solve.places[0].tobytes(), solve.places[-1].tobytes()}
    return True
