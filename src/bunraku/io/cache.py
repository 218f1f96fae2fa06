"""Finished frames on disk, each in its own file (`array_file.py`), exact to the last bit."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from bunraku.contracts import input_error

from .array_file import packed, read_arrays, whole
from .atomic import output_error, remove_leftovers, write_bytes

_log = logging.getLogger(__name__)

_NAME = re.compile(r"frame_(-?\d+)\.bkframe")


class FrameCache:
    """A folder of finished frames. A frame is there whole or not at all, whenever the process dies."""

    def __init__(self, folder: str | Path) -> None:
        """Open the folder, made if it is missing; leftovers of writers that were killed are removed."""
        self.folder = Path(folder)
        self._checked: dict[Path, tuple[int, int, bool]] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise output_error(self.folder, error) from error
        remove_leftovers(self.folder)

    def store(self, index: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any] | None = None) -> None:
        """Keep frame `index`: arrays of numbers or booleans and JSON-able meta data. Replaces an old one."""
        write_bytes(self.path(index), packed(arrays, meta or {}, f"frame {index}"))

    def load(self, index: int) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The arrays and meta data of frame `index`, bit for bit as stored."""
        path = self.path(index)
        if not path.exists():
            raise input_error("has no such frame", where=str(self.folder), got=index, allowed=self._listing())
        return read_arrays(path, "the cached frame", "delete it and resume, so that it is computed again")

    def indices(self) -> list[int]:
        """Sorted indices of the finished frames. Damaged files are left out and named in a warning."""
        return sorted(index for index, path in self._files() if self._is_whole(path))

    def discard_after(self, index: int) -> None:
        """Delete every frame above `index`, the last one first, so that a kill leaves no gap."""
        for found, path in sorted(self._files(), reverse=True):
            if found > index:
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:
                    raise output_error(path, error) from error

    def path(self, index: int) -> Path:
        """Of the file of frame `index`."""
        return self.folder / f"frame_{index:06d}.bkframe"

    def _files(self) -> list[tuple[int, Path]]:
        try:
            there = os.listdir(self.folder)
        except FileNotFoundError:  # removed by somebody
            return []
        names = [(match, match.string) for name in there if (match := _NAME.fullmatch(name))]
        return [(int(match.group(1)), self.folder / name) for match, name in names]

    def _is_whole(self, path: Path) -> bool:
        """Whether a file's checksum holds; asked once for each version of the file."""
        try:
            facts = path.stat()
        except FileNotFoundError:  # removed by somebody
            return False
        known = self._checked.get(path)
        if known is None or known[:2] != (facts.st_size, facts.st_mtime_ns):
            known = (facts.st_size, facts.st_mtime_ns, whole(path.read_bytes()))
            self._checked[path] = known
            if not known[2]:
                _log.warning("%s is damaged (%d bytes) and is left out", path, facts.st_size)
        return known[2]

    def _listing(self) -> str:
        found = self.indices()
        return f"{found[0]} to {found[-1]} ({len(found)} frames)" if found else "none, the cache is empty"
