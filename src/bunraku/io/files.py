"""Input files: finding them, reading their bytes, telling them apart."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from bunraku.contracts import InputError, input_error


def listing(names: Sequence[str], characters: int = 3000) -> str:
    """'a, b, c', or as many as fit and how many more."""
    shown, length = 0, 0
    while shown < len(names) and (length := length + len(names[shown]) + 2) <= characters:
        shown += 1
    shown = max(shown, 1)
    rest = len(names) - shown
    return ", ".join(name[:characters] for name in names[:shown]) + (f" and {rest} more" if rest > 0 else "")


def missing(path: Path) -> InputError:
    """The refusal of a file that is not there, with the nearest name in its folder."""
    folder = path.parent
    there = sorted(set(os.listdir(folder)) - {path.name}) if folder.is_dir() else []
    names = [one for one in there if Path(one).suffix == path.suffix or Path(one).stem == path.stem]
    near = difflib.get_close_matches(path.name, names, n=1)
    if near:
        remedy = f"did you mean {near[0]!r}?"
    else:
        remedy = "check the name" if folder.is_dir() else f"check the path, the folder {folder} does not exist"
    return input_error("there is no such file", where=str(path), remedy=remedy)


def is_there(path: Path) -> bool:
    """Whether there is a file or folder; no for names no system can have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def read_bytes(path: Path) -> bytes:
    """All bytes of an input file; pipes and devices, which may never end, are refused."""
    if not is_there(path):
        raise missing(path)
    if not (path.is_file() or path.is_dir()):
        raise input_error("is no ordinary file", where=str(path), got="a pipe or a device", remedy="copy it to a file")
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> InputError:
    """The refusal of a file that is there but cannot be read."""
    return input_error("cannot be read", where=str(path), got=error.strerror or str(error), remedy="check it")


def content_hash(path: str | Path) -> str:
    """SHA-256 (hex) of a file's bytes; of a folder, that of its visible files' hashes and names."""
    source = Path(path)
    if not source.exists():
        raise missing(source)
    try:
        if not source.is_dir():
            with source.open("rb") as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        names = sorted(file.name for file in source.iterdir() if not file.name.startswith("."))
    except OSError as error:
        raise unreadable(source, error) from error
    listing = "".join(f"{content_hash(source / name)}  {name}\n" for name in names)
    return hashlib.sha256(listing.encode()).hexdigest()


def same_file(a: str | Path, b: str | Path) -> bool:
    """Whether two paths are one file: through links, spelling and case, also where nothing exists yet."""
    first, second = Path(a), Path(b)
    if first.exists() and second.exists():
        return os.path.samefile(first, second)
    return os.path.normcase(os.path.realpath(first)) == os.path.normcase(os.path.realpath(second))
