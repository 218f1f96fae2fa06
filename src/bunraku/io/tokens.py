"""Numbers in text files: all of them at once, each with the line it stands on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

import numpy as np

from bunraku.contracts import Array, InputError, Integers, Vector, input_error

_PIECE = 1 << 22  # [bytes] of text held as words at a time: words are many times larger than their text
_WORD = re.compile(rb"\S+")
_LARGEST = 2.0**53  # up to here float64 tells whole numbers apart
NOT_WHOLE = np.iinfo(np.int64).min
REEXPORT = "repair or re-export the file"


@dataclass(frozen=True, eq=False)
class Text:
    """A part of a text file: its bytes, and where it is for errors."""

    data: bytes
    path: str
    first_line: int = 1
    """number in the file of the first line"""

    @staticmethod
    def of(data: bytes, path: str) -> Text:
        """The text of a whole file, lines ending in newlines whatever they ended in."""
        return Text(data if b"\n" in data else data.replace(b"\r", b"\n"), path)

    def without_comments(self) -> Text:
        """The text with everything from `#` to the end of a line blanked."""
        return Text(re.sub(rb"#[^\n]*", b"", self.data), self.path, self.first_line)

    def part(self, start: int, end: int | None = None) -> Text:
        """The bytes from `start` to `end`."""
        return Text(self.data[start:end], self.path, self.line_at(start))

    def line_at(self, offset: int) -> int:
        """Number of the line a byte stands on."""
        return self.first_line + self.data.count(b"\n", 0, offset)

    def numbers(self) -> Vector:
        """(k,) every word as a number; one that is none is refused with its line."""
        pieces, start = [np.zeros(0)], 0
        while start < len(self.data):
            end = self.data.find(b"\n", start + _PIECE) + 1 or len(self.data)
            words = self.data[start:end].split()
            try:
                pieces.append(np.fromiter(map(float, words), np.float64, len(words)))
            except ValueError:
                bad = next(k for k, word in enumerate(words) if not is_number(word))
                raise self.part(start, end).refusal("is not a number", bad) from None
            start = end
        return np.concatenate(pieces)

    def lines(self) -> Integers:
        """(k,) index of the line each word stands on, from 0."""
        letters = np.frombuffer(self.data, np.uint8)
        blank = (letters == 32) | ((letters >= 9) & (letters <= 13))
        starts = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
        return np.searchsorted(np.flatnonzero(letters == 10), starts)

    def rows(self) -> tuple[Integers, Integers]:
        """(r,) first word of each line that is not blank, and (r,) the number of its words."""
        lines = self.lines()
        first = np.flatnonzero(np.diff(lines, prepend=-1))
        return first, np.diff(first, append=len(lines))

    def refusal(self, what: str, word: int, allowed: str = "", remedy: str = REEXPORT) -> InputError:
        """An error at word number `word`, or at the end of the text where it has fewer."""
        match = next(islice(_WORD.finditer(self.data), int(word), None), None)
        line = self.line_at(len(self.data) if match is None else match.start())
        got = None if match is None else match.group(0)[:40].decode("utf-8", "replace")
        return input_error(what, where=f"{self.path}, line {line}", got=got, allowed=allowed, remedy=remedy)


def whole(values: Array) -> Integers:
    """Numbers as integers of the same shape; those that are not whole become `NOT_WHOLE`, which is no index."""
    sound = (np.abs(values) <= _LARGEST) & (values == np.floor(values))
    return np.where(sound, np.where(sound, values, 0.0).astype(np.int64), NOT_WHOLE)


def cut_short(path: str, what: str, got: int, needed: int, unit: str) -> InputError:
    """The refusal of a file that declares more than it holds."""
    return input_error(
        f"is cut short: {what}", where=path, got=f"{got} {unit}", allowed=f"{needed} {unit}",
        remedy="copy or export the file again",
    )  # fmt: skip


def is_number(word: bytes) -> bool:
    """Whether the word is a number; Python would take 1_0 for ten."""
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word
