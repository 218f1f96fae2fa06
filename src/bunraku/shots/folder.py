"""The folder of a take: `takes/<shot>/v001`, the next free number, never overwritten, `latest` beside it."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.contracts import InputError, OutputError, input_error
from bunraku.io import FrameCache, output_error, remove_leftovers, same_file, write_text

from .inputs import REPORT
from .lock import LOCK

_log = logging.getLogger(__name__)
_PROVENANCE: dict[str, type] = {"settings": dict, "facts": dict, "resumed": list, "inputs": list, "versions": dict}
"""what a take's provenance holds at least"""
_VERSION = re.compile(r"v(\d{3,})")


@dataclass(frozen=True)
class TakeFolder:
    """Where the files of one take are."""

    path: Path
    made: tuple[Path, ...] = ()
    """folders this run had to make for it, outermost first"""

    @property
    def version(self) -> str:
        """'v003', or the folder's own name where the artist chose it."""
        return self.path.name

    @property
    def provenance(self) -> Path:
        """Settings, input hashes, versions; there from the beginning."""
        return self.path / "provenance.json"

    @property
    def shot(self) -> Path:
        """The resolved shot."""
        return self.path / "shot.toml"

    @property
    def log(self) -> Path:
        """Everything that was said."""
        return self.path / "run.log"

    @property
    def timings(self) -> Path:
        """How long each frame took."""
        return self.path / "timings.json"

    @property
    def report(self) -> Path:
        """What was met and what was missed; there when the take is finished or stopped."""
        return self.path / REPORT

    @property
    def page(self) -> Path:
        """The report to look at."""
        return self.path / "index.html"

    @property
    def video(self) -> Path:
        """Guide and result side by side."""
        return self.path / "preview.mp4"

    @property
    def forces(self) -> Path:
        """Where the guide pulls."""
        return self.path / "forces.png"

    @property
    def sheet(self) -> Path:
        """Guide above result at some moments."""
        return self.path / "contact_sheet.png"

    @property
    def scene(self) -> Path:
        """What is to be seen besides the result, for reviewers; see `scene.py`."""
        return self.path / "scene"

    def cache(self) -> FrameCache:
        """The finished frames."""
        return FrameCache(self.path / "frames")

    @property
    def begun(self) -> bool:
        """Whether this is a take at all."""
        return self.provenance.is_file()

    @property
    def has_frames(self) -> bool:
        """Whether any frame was finished."""
        return any((self.path / "frames").glob("frame_*.bkframe"))

    @property
    def finished(self) -> bool:
        """Whether every frame was made and told about."""
        try:
            return json.loads(self.report.read_text(encoding="utf-8"))["outcome"] == "finished"
        except (OSError, ValueError, LookupError, TypeError, RecursionError):  # damaged, or someone else's
            return False

    def read_provenance(self) -> dict[str, Any]:
        """What `provenance` holds."""
        found = why = None
        try:
            found = json.loads(self.provenance.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            why = str(error)
        known = isinstance(found, dict) and all(isinstance(found.get(key), kind) for key, kind in _PROVENANCE.items())
        if not known or not isinstance(found, dict):
            raise input_error(
                "the take cannot be resumed, its provenance is not readable", where=str(self.provenance),
                got=why or "not what a take writes", remedy="run without --resume",
            )  # fmt: skip
        return found

    def clean(self) -> None:
        """Remove what runs that were killed left unfinished; only whoever holds the lock may."""
        try:
            remove_leftovers(self.path)
        except OSError as error:
            raise output_error(self.path, error) from error
        for file in (self.video, self.sheet, self.forces):
            for part in self.path.glob(f".{file.name}.*.part"):
                with suppress(OSError):
                    part.unlink()

    def discard(self) -> None:
        """Undo a take in which no frame was finished: what this run made goes, what stood there stays."""
        for name in ("provenance.json", "shot.toml", "run.log", "timings.json", LOCK):
            with suppress(OSError):
                (self.path / name).unlink(missing_ok=True)
        for folder in (self.path / "frames", self.scene):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in reversed(self.made):
            with suppress(OSError):  # not empty: someone else's
                folder.rmdir()


def takes_of(folder: Path, before: str = "") -> list[TakeFolder]:
    """The takes in a shot's folder, the newest first; `before`: what stands before 'v001' in their names."""
    names = os.listdir(folder) if folder.is_dir() else []
    ours = [(name, _VERSION.fullmatch(name.removeprefix(before))) for name in names if name.startswith(before)]
    numbered = sorted((int(match.group(1)), name) for name, match in ours if match)
    return [TakeFolder(folder / name) for _, name in reversed(numbered)]


def next_folder(folder: Path, before: str = "") -> Path:
    """The next free number in a shot's folder."""
    newest = takes_of(folder, before)
    number = int(newest[0].version.removeprefix(f"{before}v")) + 1 if newest else 1
    return folder / f"{before}v{number:03d}"


def make_numbered(folder: Path, before: str = "") -> TakeFolder:
    """Make the next numbered take of a shot's folder; two runs at once get two numbers."""
    made = _missing(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            path = next_folder(folder, before)
            with suppress(FileExistsError):
                path.mkdir()
                return TakeFolder(path, (*made, path))
    except OSError as error:
        raise output_error(folder, error) from error


def make_named(path: Path) -> TakeFolder:
    """Make the folder the artist named."""
    made = _missing(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(path, error) from error
    return TakeFolder(path, made)


def _missing(folder: Path) -> tuple[Path, ...]:
    """The folder and those above it that do not exist yet, outermost first."""
    return tuple(reversed([one for one in (folder, *folder.parents) if not one.exists()]))


def check_free(path: Path, beside: Iterable[str] = ()) -> None:
    """Refuse a folder that holds something already, apart from the names in `beside`."""
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path}: a file stands where the take's folder should go; try: another name")
    held = sorted(set(os.listdir(path)) - set(beside)) if path.is_dir() else []
    if held:
        raise InputError(
            f"{path}: the folder is not empty (got {', '.join(held[:3])}{' …' if len(held) > 3 else ''}); "
            "allowed: a new or an empty folder; try: another name, or --resume to carry on the take in it"
        )


def check_inputs(path: Path, inputs: Iterable[Path], folders: Iterable[Path]) -> None:
    """Refuse a take folder that is, holds or lies in something the shot reads."""
    real = Path(os.path.realpath(path))
    for one in inputs:
        if same_file(path, one):
            raise InputError(f"{path}: the output would overwrite an input of the shot; try: another folder")
        if real in Path(os.path.realpath(one)).parents:
            raise InputError(f"{path}: the output folder holds an input of the shot, {one.name}; try: another folder")
    for folder in folders:
        inside = Path(os.path.realpath(folder))
        if inside == real or inside in real.parents:
            raise InputError(f"{path}: the output would lie inside an input folder, {folder}; try: another folder")


def check_writable(path: Path) -> None:
    """Refuse a place that cannot be written to, without writing there."""
    there = path
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise OutputError(f"{path}: cannot be written: {there} is a file; try: another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: cannot be written: {there} is read-only; try: another folder or its permissions")


def make_folder(path: Path) -> Path:
    """The folder, made where it is not there; refused in a sentence where that cannot be."""
    check_writable(path.absolute())
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(path, error) from error
    return path


def point_latest(take: TakeFolder) -> None:
    """Let `latest` beside the take point to it: a link where that is allowed, else a text."""
    if not _VERSION.fullmatch(take.version):
        return
    pointer = take.path.parent / "latest"
    fresh = take.path.parent / f".latest-{os.getpid()}"
    try:
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(take.version, target_is_directory=True)
        os.replace(fresh, pointer)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        try:
            write_text(pointer, take.version + "\n")
        except OutputError as error:
            _log.warning("the pointer to the latest take was not written: %s", error)


def check_makeable(path: Path) -> None:
    """Refuse a folder that could not be made and written to; nothing is left behind."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    make_folder(path)
    for one in missing:
        one.rmdir()
