"""A plan that is played with: change a key, and the motion is there again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bunraku.contracts import input_error, whole_number
from bunraku.direction.knobs import listed
from bunraku.geometry import TetMesh

from .keys import Key
from .motion import Motion
from .verb import plan


class Draft:
    """A body and its keys, to be edited: each change is planned at once, from where the motion was.

    What cannot be planned is refused, and the draft stays as it is.
    """

    def __init__(self, body: TetMesh, keys: Sequence[Key] | Key, **given: Any) -> None:
        """`given` is what `plan` takes besides."""
        self.body = body
        self._given = given
        self.motion: Motion = plan(body, keys, **given)
        """as it is planned now"""

    @property
    def keys(self) -> tuple[Key, ...]:
        """As they are now."""
        return tuple(self.motion.keys)

    def change(self, number: int, key: Key) -> Motion:
        """Another key in the place of one, from 0; the motion then."""
        keys = list(self.keys)
        keys[self._place(number)] = key
        return self._planned(keys)

    def add(self, keys: Sequence[Key] | Key) -> Motion:
        """One key more, or several; the motion then."""
        return self._planned([*self.keys, *listed(Key, "keys", keys)])

    def remove(self, number: int) -> Motion:
        """Without one of the keys, from 0; the motion then."""
        keys = list(self.keys)
        del keys[self._place(number)]
        return self._planned(keys)

    def _place(self, number: int) -> int:
        if whole_number("number", number) >= len(self.keys):
            raise input_error("there is no such key", where="number", got=number, allowed=f"0 to {len(self.keys) - 1}")
        return number

    def _planned(self, keys: Sequence[Key]) -> Motion:
        self.motion = plan(self.body, keys, **{**self._given, "before": self.motion})
        return self.motion
