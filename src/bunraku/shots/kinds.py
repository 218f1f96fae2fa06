"""Kinds of values in a shot file: how each is read, what is allowed, how it is written back.

A kind reads the value TOML gives into the value Python keeps. What it cannot take it refuses at the value's
`Place` and goes on, so that all findings come together.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from bunraku.contracts import InputError, input_error
from bunraku.io import check_there
from bunraku.motion import EASES

from .findings import Place, nearest

Keys = float | tuple[tuple[float | str, ...], ...]
"""a number, or keys (frame, value[, ease]) with the file's frame numbers"""


def in_seconds(value: Keys | None, rate: float) -> Any:
    """A number, or keys with frames turned into seconds, as `Curve.of` takes them."""
    return [(float(key[0]) / rate, *key[1:]) for key in value] if isinstance(value, tuple) else value


def since(value: Keys, first: float, rate: float) -> Any:
    """A number, or keys in seconds since the frame `first`."""
    if not isinstance(value, tuple):
        return value
    return in_seconds(tuple((float(key[0]) - first, *key[1:]) for key in value), rate)


class Kind(Protocol):
    """One kind of value."""

    @property
    def allowed(self) -> str:
        """What may stand there, in words."""
        ...

    def fits(self, value: object) -> bool:
        """Whether a value has the right TOML type, which decides between alternatives."""
        ...

    def read(self, value: Any, place: Place) -> Any:
        """The value as Python keeps it; None after a refusal."""
        ...

    def write(self, value: Any, folder: Path) -> Any:
        """The value as TOML keeps it, in a file of the folder."""
        ...


def _finite(value: float) -> bool:
    """Whether a number is finite as a float; whole numbers may be too large for one."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_number(value: object) -> bool:
    """Whether a TOML value is a number (true and false are not)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True)
class Text:
    """A string, by pattern."""

    pattern: str = r".+"
    allowed: str = "a text in quotes"

    def fits(self, value: object) -> bool:
        return isinstance(value, str)

    def read(self, value: Any, place: Place) -> str | None:
        if isinstance(value, str) and re.fullmatch(self.pattern, value):
            return value
        return place.refuse("has the wrong form", got=value, allowed=self.allowed)

    def write(self, value: Any, folder: Path) -> str:
        return value


@dataclass(frozen=True)
class Flag:
    """true or false."""

    allowed: str = "true or false"

    def fits(self, value: object) -> bool:
        return isinstance(value, bool)

    def read(self, value: Any, place: Place) -> bool | None:
        return value if self.fits(value) else place.refuse("must be yes or no", got=value, allowed=self.allowed)

    def write(self, value: Any, folder: Path) -> bool:
        return value


@dataclass(frozen=True)
class Choice:
    """One of several words; `later` are words that will mean something, and when."""

    options: tuple[str, ...]
    later: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        return ", ".join(f"'{option}'" for option in self.options)

    def fits(self, value: object) -> bool:
        return isinstance(value, str)

    def read(self, value: Any, place: Place) -> str | None:
        if value in self.options:
            return value
        if value in self.later:
            return place.refuse("is not yet there, it comes in a later version", got=value, allowed=self.allowed)
        return place.refuse("unknown word", got=value, allowed=self.allowed, remedy=nearest(value, self.options))

    def write(self, value: Any, folder: Path) -> str:
        return value


@dataclass(frozen=True)
class Number:
    """A finite number in a range."""

    low: float = -math.inf
    high: float = math.inf
    closed: bool = True
    """whether `low` itself is allowed"""
    unit: str = ""

    @property
    def allowed(self) -> str:
        low = "" if self.low == -math.inf else f"{'from' if self.closed else 'above'} {self.low:g}"
        high = "" if self.high == math.inf else f"up to {self.high:g}"
        bounds = " ".join(part for part in (low, high) if part)
        return f"a number {bounds} {self.unit}".strip().replace("  ", " ")

    def fits(self, value: object) -> bool:
        return is_number(value)

    def read(self, value: Any, place: Place) -> float | None:
        if not is_number(value):
            return place.refuse("must be a number", got=value, allowed=self.allowed)
        if _finite(value) and self.low <= value <= self.high and (self.closed or value > self.low):
            return float(value)
        return place.refuse("is out of range", got=value, allowed=self.allowed)

    def write(self, value: Any, folder: Path) -> float:
        return value


@dataclass(frozen=True)
class Whole:
    """A whole number in a range."""

    low: int = 0
    high: int = 1_000_000_000

    @property
    def allowed(self) -> str:
        return f"a whole number from {self.low}" + (f" to {self.high}" if self.high < 1_000_000_000 else "")

    def fits(self, value: object) -> bool:
        return is_number(value)

    def read(self, value: Any, place: Place) -> int | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return place.refuse("must be a whole number", got=value, allowed=self.allowed)
        if self.low <= value <= self.high:
            return value
        return place.refuse("is out of range", got=value, allowed=self.allowed)

    def write(self, value: Any, folder: Path) -> int:
        return value


@dataclass(frozen=True)
class ListOf:
    """Several values of one kind."""

    kind: Kind
    least: int = 0
    most: int | None = None
    what: str = ""
    """what the whole list is, in words; by default said by its kind"""

    @property
    def allowed(self) -> str:
        if self.what:
            return self.what
        count = f"{self.least} of: " if self.least == self.most else ""
        return f"a list [{count}{self.kind.allowed}, …]"

    def fits(self, value: object) -> bool:
        return isinstance(value, list)

    def read(self, value: Any, place: Place) -> tuple[Any, ...] | None:
        if not isinstance(value, list):
            return place.refuse("must be a list", got=value, allowed=self.allowed)
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            return place.refuse("is a list of the wrong length", got=_short(value), allowed=self.allowed)
        before = len(place.findings)
        read = tuple(self.kind.read(one, place.entry(k)) for k, one in enumerate(value))
        return read if len(place.findings) == before else None

    def write(self, value: Any, folder: Path) -> list[Any]:
        return [self.kind.write(one, folder) for one in value]


@dataclass(frozen=True)
class Keyed:
    """A number that may be keyed over frames."""

    number: Number

    @property
    def allowed(self) -> str:
        return f"{self.number.allowed}, or keys [[frame, value, ease], …] with ease {', '.join(EASES)}"

    def fits(self, value: object) -> bool:
        return is_number(value) or isinstance(value, list)

    def read(self, value: Any, place: Place) -> Keys | None:
        if not isinstance(value, list):
            return self.number.read(value, place)
        before = len(place.findings)
        keys = tuple(self._key(key, place.entry(k)) for k, key in enumerate(value))
        if not keys:
            place.refuse("has no keys", got=value, allowed=self.allowed)
        if len(place.findings) > before:
            return None
        frames = [float(key[0]) for key in keys]
        if any(b <= a for a, b in pairwise(frames)):
            return place.refuse("keys must increase in frames", got=frames, allowed=self.allowed)
        return keys

    def _key(self, key: Any, place: Place) -> tuple[float | str, ...]:
        if not isinstance(key, list) or not 2 <= len(key) <= 3:
            place.refuse("is not a key", got=key, allowed="[frame, value] or [frame, value, ease]")
            return ()
        Number().read(key[0], place)
        self.number.read(key[1], place)
        if len(key) == 3:
            Choice(EASES).read(key[2], place)
        return tuple(float(part) if is_number(part) and _finite(part) else part for part in key)

    def write(self, value: Any, folder: Path) -> Any:
        return value if is_number(value) else [list(key) for key in value]


@dataclass(frozen=True)
class Either:
    """One of several kinds, told apart by their TOML type."""

    kinds: tuple[Kind, ...]

    @property
    def allowed(self) -> str:
        return ", or ".join(kind.allowed for kind in self.kinds)

    def fits(self, value: object) -> bool:
        return any(kind.fits(value) for kind in self.kinds)

    def read(self, value: Any, place: Place) -> Any:
        for kind in self.kinds:
            if kind.fits(value):
                return kind.read(value, place)
        return place.refuse("has the wrong form", got=_short(value), allowed=self.allowed)

    def write(self, value: Any, folder: Path) -> Any:
        plain = list(value) if isinstance(value, tuple) else value
        return next(kind for kind in self.kinds if kind.fits(plain)).write(value, folder)


@dataclass(frozen=True)
class InputPath:
    """A file to read; it must be there. Kept as an absolute path, written relative to the shot file."""

    allowed: str = "a file, name.####.obj or a folder of numbered files, relative to the shot file"
    check: Callable[[Path], None] = check_there
    """refuses what is not there or cannot be read for the purpose"""

    def fits(self, value: object) -> bool:
        return isinstance(value, str)

    def read(self, value: Any, place: Place) -> Path | None:
        if not isinstance(value, str) or not value:
            return place.refuse("must be the name of a file", got=value, allowed=self.allowed)
        try:
            path = absolute(place.folder, value)
            self.check(path)
        except InputError as error:
            return place.pass_on(error)
        except OSError as error:
            return place.refuse("cannot be read", got=error.strerror or str(error), allowed=self.allowed)
        return path

    def write(self, value: Any, folder: Path) -> str:
        return relative(value, folder)


@dataclass(frozen=True)
class FolderPath:
    """A folder to write to, made when it is needed. Kept as an absolute path."""

    allowed: str = "a folder, relative to the shot file"

    def fits(self, value: object) -> bool:
        return isinstance(value, str)

    def read(self, value: Any, place: Place) -> Path | None:
        if not isinstance(value, str) or not value:
            return place.refuse("must be the name of a folder", got=value, allowed=self.allowed)
        try:
            path = absolute(place.folder, value)
            taken = path.exists() and not path.is_dir()
        except InputError as error:
            return place.pass_on(error)
        except OSError as error:
            return place.refuse("cannot be used", got=error.strerror or str(error), allowed=self.allowed)
        if taken:
            return place.refuse("a file stands where a folder is needed", got=value, remedy="choose another name")
        return path

    def write(self, value: Any, folder: Path) -> str:
        return relative(value, folder)


def absolute(folder: Path, name: str) -> Path:
    """An absolute path without '..'; '~' is the home folder."""
    if "\0" in name:
        raise input_error("a path cannot hold the character NUL", got=name.replace("\0", "\\0"))
    try:
        return Path(os.path.abspath(folder / Path(name).expanduser()))
    except RuntimeError:
        raise input_error("there is no such home folder", got=name, remedy="the path written out") from None


def relative(path: Path, folder: Path) -> str:
    """The path as seen from a folder, with '/'; absolute where there is no way (another drive)."""
    try:
        return Path(os.path.relpath(path, folder.absolute())).as_posix()
    except ValueError:
        return path.as_posix()


def _short(value: object, limit: int = 60) -> str:
    text = f"{value!r}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def joined(names: Sequence[object]) -> str:
    """'a, b, c'."""
    return ", ".join(str(name) for name in names)
