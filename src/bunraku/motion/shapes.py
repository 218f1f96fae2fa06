"""Rest shapes that move: a shape at every time, given by its points."""

from __future__ import annotations

from typing import Protocol

from bunraku.contracts import Points


class ShapeMotion(Protocol):
    """What a body would look like without forces, at every time.

    Unlike `RestShapes`, which says how much of each of several shapes counts, it gives the points themselves. Where the
    shape is and how it is turned does not matter: only what can be measured on it does.
    """

    @property
    def constant(self) -> bool:
        """Whether the shape is the same at every time."""
        ...

    def at(self, time: float) -> Points:
        """(n, 3) rest points at a time [s]."""
        ...
