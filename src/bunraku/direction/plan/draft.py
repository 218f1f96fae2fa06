"""Plans that are played with: change a key, and the motion is there again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bunraku.contracts import input_error, whole_number
from bunraku.direction.knobs import listed
from bunraku.geometry import TetMesh

from .chain import Chain, chain
from .keys import Key
from .motion import Motion
from .phases import Flight, Phase
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
        return self._planned(_changed(self.keys, number, key))

    def add(self, keys: Sequence[Key] | Key) -> Motion:
        """One key more, or several; the motion then."""
        return self._planned([*self.keys, *listed(Key, "keys", keys)])

    def remove(self, number: int) -> Motion:
        """Without one of the keys, from 0; the motion then."""
        return self._planned(_removed(self.keys, number))

    def _planned(self, keys: Sequence[Key]) -> Motion:
        self.motion = plan(self.body, keys, **{**self._given, "before": self.motion})
        return self.motion


class ChainDraft:
    """A body and the phases of a chain, to be edited: a phase that is changed is planned at once, from where it was.
    Those after it, which begin where it ends, are planned when the `chain` is asked for.

    What cannot be planned is refused, and the draft stays as it is.
    """

    def __init__(self, body: TetMesh, phases: Sequence[Phase | Flight], **given: Any) -> None:
        """`given` is what `chain` takes besides."""
        self.body = body
        self._given = given
        self._made: Chain = chain(body, phases, **given)
        self._phases = self._made.phases

    @property
    def phases(self) -> tuple[Phase | Flight, ...]:
        """As they are now."""
        return self._phases

    @property
    def chain(self) -> Chain:
        """All motions; those that a change had no need of are planned now."""
        if len(self._made.motions) < len(self._phases):
            self._made = self._up_to(self._phases, len(self._phases), len(self._made.motions))
        return self._made

    def change(self, phase: int, number: int, key: Key) -> Motion:
        """Another key in the place of one of a phase, both from 0; the motion of that phase then."""
        old = self._standing(phase)
        return self.replace(phase, replace(old, keys=_changed(old.all_keys, number, key)))

    def add(self, phase: int, keys: Sequence[Key] | Key) -> Motion:
        """One key more in a phase, or several; its motion then."""
        old = self._standing(phase)
        return self.replace(phase, replace(old, keys=[*old.all_keys, *listed(Key, "keys", keys)]))

    def remove(self, phase: int, number: int) -> Motion:
        """Without one of the keys of a phase; its motion then."""
        old = self._standing(phase)
        return self.replace(phase, replace(old, keys=_removed(old.all_keys, number)))

    def replace(self, phase: int, other: Phase | Flight) -> Motion:
        """Another phase in the place of one: another length, other feet, another landing; its motion then."""
        number = self._number(phase)
        phases = [*self._phases]
        phases[number] = other
        self._made = self._up_to(phases, number + 1, min(number, len(self._made.motions)))
        self._phases = tuple(phases)
        return self._made.motions[number]

    def _up_to(self, phases: Sequence[Phase | Flight], count: int, kept: int) -> Chain:
        return chain(self.body, phases[:count], **{**self._given, "before": self._made, "kept": kept})

    def _number(self, phase: int) -> int:
        if whole_number("phase", phase) >= len(self._phases):
            raise input_error(
                "there is no such phase", where="phase", got=phase, allowed=f"0 to {len(self._phases) - 1}"
            )
        return phase

    def _standing(self, phase: int) -> Phase:
        old = self._phases[self._number(phase)]
        if isinstance(old, Flight):
            raise input_error(
                "a flight has no keys but its landing",
                where="phase",
                got=phase,
                remedy="replace it by another bk.Flight",
            )
        return old


def _changed(keys: Sequence[Key], number: int, key: Key) -> list[Key]:
    """With another key in the place of one."""
    out = [*keys]
    out[_place(keys, number)] = key
    return out


def _removed(keys: Sequence[Key], number: int) -> list[Key]:
    """Without one of them."""
    out = [*keys]
    del out[_place(keys, number)]
    return out


def _place(keys: Sequence[Key], number: int) -> int:
    if whole_number("number", number) >= len(keys):
        raise input_error("there is no such key", where="number", got=number, allowed=f"0 to {len(keys) - 1}")
    return number
