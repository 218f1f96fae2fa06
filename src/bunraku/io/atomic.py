"""Files appear whole or not at all: a temporary name beside the target, fsync, then one rename."""

from __future__ import annotations

import errno
import json
import logging
import math
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.contracts import OutputError

_log = logging.getLogger(__name__)

_TEMPORARY = re.compile(r"\.bunraku-(\d+)-[0-9a-f]+-tmp")
"""names of unfinished files; the number is the process that writes them"""
_ABANDONED_AFTER = 3600.0  # [s], where the writer cannot be asked whether it lives

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space or choose another folder"),
    errno.EDQUOT: ("the disk quota is used up", "free some space or choose another folder"),
    errno.EFBIG: ("the file would be larger than the system allows", "write fewer frames or a .usdc file"),
    errno.EACCES: ("writing is not permitted there", "choose another folder or ask for permission"),
    errno.EPERM: ("writing is not permitted there", "choose another folder or ask for permission"),
    errno.EROFS: ("the folder is read-only", "choose another folder"),
    errno.ENOENT: ("the folder does not exist", "make it first or choose another one"),
    errno.ENOTDIR: ("a file stands where a folder is needed", "choose another folder"),
    errno.EISDIR: ("a folder stands where the file should go", "choose another name"),
    errno.EEXIST: ("a file stands where a folder is needed", "choose another name"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter name"),
}


def output_error(path: str | Path, error: OSError) -> OutputError:
    """The sentence for a failed write: where, why, and what to try."""
    why, remedy = _REASONS.get(error.errno or 0, (error.strerror or str(error), "choose another folder"))
    return OutputError(f"{path}: cannot be written: {why}; try: {remedy}")


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to, renamed over it on success and removed on any failure.

    The temporary file exists (empty) and keeps the suffix of `path`. An OSError, also one raised in the
    body, becomes an `OutputError`; whatever stood at `path` stays untouched unless the write succeeds.
    """
    target = Path(path)
    temporary = _temporary_beside(target)
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(target))
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        _flush(temporary)
        os.replace(temporary, target)
        _flush(target.parent)
    except OSError as error:
        raise _translated(target, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_files(folder: str | Path, *, create: bool = False) -> Iterator[Path]:
    """A temporary folder; all files written into it appear in `folder` together on success.

    With `create` the folder is made if it is missing. On any failure none of the files appears.
    """
    target = Path(folder).absolute()
    exists = target.is_dir()
    # Inside the folder where it exists, for it may be a disk of its own and a rename cannot leave a disk.
    temporary = _temporary_beside(target / "files" if exists else target)
    try:
        if not exists and not create:
            raise FileNotFoundError(errno.ENOENT, "no such folder", str(target))
        if not exists and target.exists():
            raise NotADirectoryError(errno.ENOTDIR, "is a file", str(target))
        temporary.mkdir()
        yield temporary
        _appear(temporary, target, exists)
    except OSError as error:
        raise _translated(Path(folder), error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _appear(temporary: Path, target: Path, exists: bool) -> None:
    """Move finished files to their folder, or the whole folder to its place."""
    names = sorted(os.listdir(temporary))
    for name in names:
        _flush(temporary / name)
    if not exists:
        os.replace(temporary, target)
    else:
        for name in names:
            os.replace(temporary / name, target / name)
    _flush(target)


def remove_leftovers(folder: str | Path) -> None:
    """Remove the temporary files and folders of writers that were killed; those of living ones stay."""
    for name in os.listdir(folder):
        match = _TEMPORARY.match(name)
        path = Path(folder) / name
        if match and _abandoned(int(match.group(1)), path):
            _log.info("removing %s, left by a process that was stopped", path)
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _abandoned(process: int, path: Path) -> bool:
    """Whether the process that wrote a temporary file is gone."""
    if os.name == "nt":
        with suppress(OSError):
            return time.time() - path.stat().st_mtime > _ABANDONED_AFTER
        return False
    return not process_lives(process)


def process_lives(process: int) -> bool:
    """Whether there is a process of this number on this machine; yes where that cannot be asked."""
    if os.name == "nt":  # os.kill would end the process there
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def write_text(path: str | Path, text: str) -> None:
    """Write text (UTF-8, newlines as given) whole or not at all."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write bytes whole or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_bytes(data)


def write_json(path: str | Path, value: Any, *, changed_only: bool = False) -> None:
    """Write JSON with sorted keys, so equal values give equal bytes; `changed_only` leaves equal bytes untouched.

    NumPy arrays and numbers become lists and numbers, paths become strings. NaN and infinity, which
    JSON does not have, become null.
    """
    text = json.dumps(_plain(value), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    with suppress(OSError):
        if changed_only and Path(path).read_bytes() == (text + "\n").encode("utf-8", "backslashreplace"):
            return
    write_text(path, text + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


def _temporary_beside(target: Path) -> Path:
    name = f".bunraku-{os.getpid()}-{secrets.token_hex(4)}-tmp{target.suffix}"
    return target.parent / name


def _translated(target: Path, error: OSError) -> OutputError:
    return error if isinstance(error, OutputError) else output_error(target, error)


def _flush(path: Path) -> None:
    """fsync a file, or a folder where the system can (not on Windows)."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
