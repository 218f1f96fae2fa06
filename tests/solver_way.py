"""The way that a solve among surfaces goes, written down, for tests that look whether anything passes on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, pairwise

import numpy as np

from bunraku.collision.touch import Touch
from bunraku.contracts import Points


@contextmanager
def recorded_way() -> Iterator[list[list[Points]]]:
    """All points, of shell and obstacles, at which a safe share of a step was asked for: the places a solve goes
    through, one after the other on straight lines. Where a step led nowhere and is tried again a new piece begins, at
    the place before that step: what was tried is checked, the leap back is no motion.
    """
    pieces: list[list[Points]] = [[]]
    plain, begun = Touch.max_step, []  # where the last step begins, and from where on its way is in its piece

    def asking(self: Touch, x: Points, step: Points) -> float:
        way = pieces[-1]
        if not begun or begun[0] is not self.start:
            if begun and np.array_equal(begun[0], self.start):
                way = way[max(begun[1] - 1, 0) : begun[1]]
                pieces.append(way)
            begun[:] = self.start, len(way)
        way.append(self._points(x, 0.0).copy())
        return plain(self, x, step)

    Touch.max_step = asking  # type: ignore[method-assign]
    try:
        yield pieces
    finally:
        Touch.max_step = plain  # type: ignore[method-assign]


def straight(pieces: list[list[Points]]) -> Iterator[tuple[Points, Points]]:
    """Both ends of every straight way."""
    return chain.from_iterable(pairwise(piece) for piece in pieces)
