"""A shot file that is edited while somebody else may edit it too: revisions, refusals, undo. The file is the truth."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bunraku.contracts import BunrakuError, InputError, OutputError, input_error
from bunraku.io import atomic_write

from .kinds import absolute
from .knob_sheet import Knob, Played, knobs_of, objects_of, opened_in
from .reviewed import ReviewedTake, open_take
from .shot import Shot, read_settings, settings_of, shown
from .stages import Stages, shot_or_stages_of
from .toml_edit import KeyPath, edited

_MOST_STEPS = 200
_MOST_KEPT = 256 << 20  # [bytes] of arrays that undo may bring back
_LARGEST = 16 << 20  # [bytes] of a shot file
_BOM = b"\xef\xbb\xbf"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
ARRAYS = ".bkarrays"
"""how names of files end that hold a shot's painted arrays"""
Check = Callable[[Shot | Stages], None]
"""refuses what the shot alone does not say"""
Files = Mapping[str, bytes | None]
"""contents of files beside the shot by their short names; None where there is none"""


class Superseded(BunrakuError):
    """An edit was made for what the file said before somebody else changed it."""


@dataclass(frozen=True, eq=False)
class _Step:
    """What an edit changed."""

    about: str
    gesture: str
    before: str
    after: str
    files: dict[str, tuple[bytes | None, bytes | None]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(len(one or b"") for pair in self.files.values() for one in pair)


class EditedShot:
    """A shot file, what it says now, and the steps that can be taken back. Threads may ask at once."""

    def __init__(self, path: str | Path) -> None:
        """Refused as a run would refuse it."""
        self.source = Path(path)
        self.path = Path(os.path.realpath(path))  # a link to the file stays one
        self.revision, self.by, self.about = 1, "", ""
        self.problems: tuple[str, ...] = ()
        self._guard = threading.RLock()
        self._undo, self._redo = list[_Step](), list[_Step]()
        self._stamp = _stamp(self.path)
        read_settings(self.source)  # refuses a guide in the place of a shot, in its own words
        self.text = self.first = self._read()
        self._settings = settings_of(self.text, shown(self.source))
        self._found = shot_or_stages_of(self._settings, self.source)

    @property
    def name(self) -> str:
        """As errors say it."""
        return shown(self.source)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the file says; while it cannot be run, what it said before."""
        return self._settings

    @property
    def knobs(self) -> list[Knob]:
        """All that can be turned."""
        return knobs_of(self._settings)

    @property
    def objects(self) -> list[Played]:
        """All that is on the stage."""
        return objects_of(self._settings)

    @property
    def diff(self) -> str:
        """From the file as it was when this began."""
        return difference(self.first, self.text, self.source.name)

    @property
    def can_undo(self) -> str:
        """What would be taken back; '' for nothing."""
        return self._undo[-1].about if self._undo else ""

    @property
    def can_redo(self) -> str:
        """What would be done again; '' for nothing."""
        return self._redo[-1].about if self._redo else ""

    def look(self) -> int:
        """The newest revision, after a look at whether somebody else has written the file."""
        with self._guard:
            stamp = _stamp(self.path)
            if stamp != self._stamp:
                self._stamp = stamp
                self._take_in()
            return self.revision

    def edit(
        self, revision: int, changes: Sequence[tuple[KeyPath, Any]], *, files: Files | None = None,
        about: str = "an edit", gesture: str = "", by: str = "", check: Check | None = None,
    ) -> str:  # fmt: skip
        """Change keys and the arrays beside the shot, all or nothing; the diff. Refused where the shot, or `check`,
        refuses what would come out, and where the file is not at that revision any more."""
        with self._guard:
            self._check(revision)
            if self.problems:
                raise input_error("cannot be run as somebody else left it", where=self.name, remedy="mend it first")
            before, after = self.text, edited(self.text, changes, opened_in(self._settings))
            wanted = {name: data for name, data in (files or {}).items() if data != self._arrays(name)}
            if after == before and not wanted:
                return ""
            there = {name: (self._arrays(name), data) for name, data in wanted.items()}
            self._write(after, wanted, check)
            self._note(_Step(about, gesture, before, after, there))
            self._redo.clear()
            self._moved_on(by, about)
            return difference(before, after, self.source.name)

    def undo(self, revision: int, by: str = "") -> str:
        """Take the newest step back; the diff."""
        return self._go(revision, self._undo, self._redo, 0, by)

    def redo(self, revision: int, by: str = "") -> str:
        """Do again what was taken back; the diff."""
        return self._go(revision, self._redo, self._undo, 1, by)

    def arrays_path(self, name: str) -> Path:
        """Where arrays of a short name are kept."""
        if not _NAME.fullmatch(name):
            raise input_error(
                "arrays need a short name", got=name[:80], allowed="up to 60 letters, digits, '_' and '-'"
            )
        return self.source.absolute().with_name(f"{self.source.stem}.{name}{ARRAYS}")  # as the shot finds its files

    def newest_takes(self) -> list[ReviewedTake]:
        """The newest take of the shot, or of each stage, where there is one that can be looked at."""
        found = []
        for folder in _take_folders(self._found, self.source.absolute().parent):
            with suppress(InputError):
                found.append(open_take(folder))
        return found

    def _go(self, revision: int, source: list[_Step], target: list[_Step], side: int, by: str) -> str:
        with self._guard:
            self._check(revision)
            if not source:
                raise input_error("there is nothing to take back" if side == 0 else "nothing was taken back")
            step, before = source[-1], self.text
            text = step.after if side else step.before
            self._write(text, {name: pair[side] for name, pair in step.files.items()})
            target.append(source.pop())
            self._moved_on(by, f"{'done again' if side else 'taken back'}: {step.about}")
            return difference(before, text, self.source.name)

    def _check(self, revision: int) -> None:
        newest = self.look()
        if revision != newest:
            raise self._superseded("in another window" if self.by else "outside of this page")

    def _superseded(self, who: str = "outside of this page") -> Superseded:
        return Superseded(f"{self.name}: was changed {who} meanwhile, and is shown anew; try: again")

    def _note(self, step: _Step) -> None:
        last = self._undo[-1] if self._undo else None
        if last is not None and step.gesture and last.gesture == step.gesture and not self._redo:
            began = {name: last.files.get(name, pair)[0] for name, pair in step.files.items()}
            files = {**last.files, **{name: (began[name], pair[1]) for name, pair in step.files.items()}}
            self._undo[-1] = _Step(step.about, step.gesture, last.before, step.after, files)
        else:
            self._undo.append(step)
        while len(self._undo) > _MOST_STEPS or sum(one.size for one in self._undo[:-1]) > _MOST_KEPT:
            del self._undo[0]

    def _moved_on(self, by: str, about: str) -> None:
        self.revision, self.by, self.about = self.revision + 1, by, about

    def _read(self) -> str:
        """The file's text."""
        if not self.path.is_file():
            read_settings(self.source)
        try:
            data = self.path.read_bytes()
            if len(data) > _LARGEST:
                raise input_error("is too large to be edited here", where=self.name, got=f"{len(data)} bytes",
                                  allowed=f"up to {_LARGEST}")  # fmt: skip
            return data.removeprefix(_BOM).decode("utf-8")
        except UnicodeDecodeError as error:
            raise input_error("is not text in UTF-8", where=self.name, got=f"byte {error.start}") from None
        except OSError as error:
            raise input_error("cannot be read", where=self.name, got=error.strerror or str(error)) from None

    def _take_in(self) -> None:
        """What somebody else has made of the file. It ends what can be taken back: that was not ours."""
        try:
            text = self._read()
            if text == self.text and not self.problems:
                return  # only touched
            self.text = text
            settings = settings_of(text, self.name)
            self._found = shot_or_stages_of(settings, self.source)
            self._settings, self.problems = settings, ()
        except InputError as error:
            self.problems = tuple(str(error).splitlines())
        self._undo.clear()
        self._redo.clear()
        self._moved_on("", "the file was edited")

    def _write(self, text: str, files: Files, check: Check | None = None) -> None:
        """Files beside the shot, then the text, if the shot it says can be run; else all is as it was."""
        earlier = {name: self._arrays(name) for name in files}
        try:
            for name, data in files.items():
                self._write_arrays(name, data)
            settings = settings_of(text, self.name)
            found = shot_or_stages_of(settings, self.source)
            if check is not None:
                check(found)
            if _stamp(self.path) != self._stamp:  # a check may take seconds
                raise self._superseded()
            if text != self.text:
                self._write_text(text)
        except BaseException:
            for name, data in earlier.items():
                with suppress(BunrakuError):
                    self._write_arrays(name, data)
            raise
        self.text, self._settings, self._found, self.problems = text, settings, found, ()
        self._stamp = _stamp(self.path)

    def _write_text(self, text: str) -> None:
        if not os.access(self.path, os.W_OK):
            raise OutputError(f"{self.name}: cannot be written: the file is read-only; try: its permissions")
        mark = _BOM if self.path.read_bytes().startswith(_BOM) else b""
        with atomic_write(self.path) as temporary:
            temporary.write_bytes(mark + text.encode("utf-8"))
            shutil.copymode(self.path, temporary)

    def _arrays(self, name: str) -> bytes | None:
        path = self.arrays_path(name)
        try:
            return path.read_bytes() if path.is_file() else None
        except OSError as error:
            raise input_error("cannot be read", where=str(path), got=error.strerror or str(error)) from None

    def _write_arrays(self, name: str, data: bytes | None) -> None:
        path = self.arrays_path(name)
        if data is None:
            path.unlink(missing_ok=True)
            return
        with atomic_write(path) as temporary:
            temporary.write_bytes(data)


def difference(before: str, after: str, name: str) -> str:
    """A unified diff; '' for none."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{name} (before)", f"{name} (after)", lineterm="", n=2
    )
    return "\n".join(lines)


def _take_folders(found: Shot | Stages, base: Path) -> list[Path]:
    """Where takes of a file's shots go."""
    if isinstance(found, Shot):
        return [found.output.folder / found.name]
    return [
        absolute(base, str(one.settings.get("output", {}).get("folder", "takes"))) / one.settings["shot"]["name"]
        for one in found.stages.values()
    ]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What is another one when a file is; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_size
