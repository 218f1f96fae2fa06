"""The folder of a wedge, and the book in it: which combination is which take, and what became of it.

`takes/<shot>/wedge_v001` holds `wedge.json`, the page, the table, and a folder `c001`, `c002`, … for each combination
that was made here. One whose take stood elsewhere already is not made again: the book says where it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bunraku import __version__
from bunraku.contracts import InputError, input_error
from bunraku.io import write_json

from .folder import TakeFolder, takes_of
from .kept import frames_kept
from .provenance import spelled_out
from .wedge_work import key_of

BEFORE = "wedge_"
"""what the folder of a wedge is called, before its number"""
BOOK = "wedge.json"
WAITING = "waiting"
_FORM = 1


@dataclass
class Entry:
    """One combination."""

    name: str
    """'c001'"""
    values: Mapping[str, Any]
    key: str
    """the same where takes would be the same"""
    count: int
    """frames to simulate"""
    folder: Path
    """of its take: in the wedge's folder, or where it stood already"""
    like: str = ""
    """the combination before it that is the same shot"""
    reused: bool = False
    """whether it was not made by this wedge"""
    outcome: str = WAITING
    """'waiting', or as `Answer.outcome`"""
    why: str = ""


@dataclass
class Book:
    """A wedge."""

    folder: Path
    shot: str
    source: Path
    vary: Mapping[str, Sequence[Any]]
    frames: tuple[int, int] | None
    threads: int
    settings: Mapping[str, Any]
    """of the first combination: all that decides its frames"""
    entries: list[Entry] = field(default_factory=list)

    @property
    def page(self) -> Path:
        """The gallery."""
        return self.folder / "index.html"

    @property
    def table(self) -> Path:
        """The numbers."""
        return self.folder / "wedge.csv"

    @property
    def pictures(self) -> Path:
        """The folder of stills and films."""
        return self.folder / "pictures"

    @property
    def own(self) -> list[Entry]:
        """Combinations that are no other one's twin."""
        return [one for one in self.entries if not one.like]

    def save(self) -> None:
        """Write the book."""
        entries = [
            {
                "name": one.name, "values": dict(one.values), "key": one.key, "count": one.count, "like": one.like,
                "folder": os.path.relpath(one.folder, self.folder), "reused": one.reused, "outcome": one.outcome,
                "why": one.why,
            }
            for one in self.entries
        ]  # fmt: skip
        write_json(
            self.folder / BOOK,
            {
                "form": _FORM, "bunraku": __version__, "shot": self.shot, "combinations": entries,
                "source": os.path.relpath(self.source, self.folder), "vary": dict(self.vary), "order": list(self.vary),
                "frames": self.frames, "threads": self.threads, "settings": self.settings,
            },
        )  # fmt: skip


def is_wedge(folder: Path) -> bool:
    """Whether it is the folder of a wedge."""
    return (folder / BOOK).is_file()


def read_book(folder: Path) -> Book:
    """The book of a wedge; refused where it is not what a wedge writes."""
    path = folder / BOOK
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        keys, frames = [str(key) for key in told["order"]], told["frames"]
        entries = [
            Entry(
                str(one["name"]), {key: one["values"][key] for key in keys}, str(one["key"]), int(one["count"]),
                Path(os.path.normpath(folder / one["folder"])), str(one["like"]), bool(one["reused"]),
                str(one["outcome"]), str(one["why"]),
            )
            for one in told["combinations"]
        ]  # fmt: skip
        return Book(
            folder, str(told["shot"]), Path(os.path.normpath(folder / told["source"])),
            {key: list(told["vary"][key]) for key in keys},
            (int(frames[0]), int(frames[1])) if frames else None, int(told["threads"]), dict(told["settings"]), entries,
        )  # fmt: skip
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise input_error(
            "is not what a wedge writes", where=str(path), got=f"{type(error).__name__}: {error}",
            remedy="run the wedge without --resume",
        ) from None  # fmt: skip


def books_of(folder: Path) -> list[Book]:
    """The wedges in a shot's folder that can be read, the newest first."""
    found = []
    for one in takes_of(folder, BEFORE):
        with suppress(InputError):
            found.append(read_book(one.path))
    return found


def finished_takes(folder: Path) -> dict[str, Path]:
    """Key → the newest finished take made by this version, of the takes in a shot's folder and of its wedges."""
    places = [one.path for one in takes_of(folder)]
    wedges = [one.path for one in takes_of(folder, BEFORE)]
    places += [one for wedge in wedges for one in sorted(wedge.glob("c[0-9]*"))]
    found: dict[str, Path] = {}
    for path in places:
        take = TakeFolder(path)
        if take.begun and take.finished:
            with suppress(InputError, LookupError, TypeError, AttributeError):  # of a damaged take nothing is known
                origin = take.read_provenance()
                if origin["versions"].get("bunraku") == __version__ and not _had_another_version(origin):
                    found.setdefault(key_of(spelled_out(origin["settings"])), path)
    return found


def _had_another_version(origin: Mapping[str, Any]) -> bool:
    """Whether a take was carried on by another version than had begun it."""
    return any(text.startswith("versions.bunraku ") for one in origin["resumed"] for text in one["differences"])


def find_wedge_takes(folder: Path) -> list[Path]:
    """The takes of a wedge that have frames, each once; refused where none has."""
    found = [one.folder for one in read_book(folder).own if frames_kept(one.folder)]
    if not found:
        raise input_error(
            "none of the wedge's takes has any frames yet", where=str(folder), remedy="bunraku wedge with --resume"
        )
    return list(dict.fromkeys(found))


def named(count: int) -> Iterable[str]:
    """'c001', 'c002', …"""
    wide = max(3, len(str(count)))
    return (f"c{k:0{wide}d}" for k in range(1, count + 1))
