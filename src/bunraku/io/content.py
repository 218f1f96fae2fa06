"""Results that took long, kept in the user's cache folder under the name of what they were made of.

A cache is a convenience: what cannot be read is made again, what cannot be written is not kept, and neither ends a job.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bunraku.contracts import BunrakuError, input_error

from .array_file import packed, read_arrays
from .atomic import remove_leftovers, write_bytes

_log = logging.getLogger(__name__)

_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,199}")
_SUFFIX = ".bkcache"
_ROOM = 1 << 30
"""[bytes] a cache folder may grow to: about ten thousand bodies of a few thousand tetrahedra"""


class ContentCache:
    """A folder of results, each in a file of its own (`array_file.py`); the least lately used go when it is full."""

    def __init__(self, folder: str | Path | None = None, *, room: int = _ROOM, keeping: bool = True) -> None:
        """The cache in a folder, made when something is first kept; the user's own where none is given. Without
        `keeping` it is only looked into."""
        self.folder = user_cache_folder() if folder is None else Path(folder)
        self.room = room
        self.keeping = keeping

    def load(self, key: str) -> Mapping[str, NDArray[Any]] | None:
        """The arrays kept under a name; None where there are none, or they are damaged."""
        path = self.path(key)
        if not path.is_file():
            return None
        try:
            arrays, _ = read_arrays(path, "the cached result")
            if self.keeping:
                os.utime(path)
        except (BunrakuError, OSError) as error:
            _log.warning("%s; it is made again", error)
            return None
        return arrays

    def store(self, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep arrays under a name, whole or not at all."""
        path = self.path(key)
        if not self.keeping:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(self.folder)
            write_bytes(path, packed(arrays, {}, key))
            self._make_room(path)
        except (BunrakuError, OSError) as error:
            _log.warning("a result is not kept in the cache: %s", error)

    def path(self, key: str) -> Path:
        """Of the file of a name."""
        if not _NAME.fullmatch(key):
            raise input_error("is no name for a cached result", where="key", got=key)
        return self.folder / f"{key}{_SUFFIX}"

    def _make_room(self, newest: Path) -> None:
        """Remove what was not used for longest while there is more than fits; the newest stays in any case."""
        there = []
        for path in self.folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # removed by somebody
                facts = path.stat()
                there.append((facts.st_mtime_ns, facts.st_size, path))
        used = sum(size for _, size, _ in there)
        for _, size, path in sorted(there):
            if used <= self.room:
                return
            if path != newest:
                path.unlink(missing_ok=True)
                used -= size


def user_cache_folder() -> Path:
    """Where results are kept: $BUNRAKU_CACHE, or `bunraku` in the folder the system has for such things."""
    chosen = os.environ.get("BUNRAKU_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "bunraku" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "bunraku"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bunraku"
