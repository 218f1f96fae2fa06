# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a run: written where takes are kept, and taken back where the run is called off."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .refusal import Refusal


class Desk:
    """Remembers what was there before it wrote."""

    def __init__(self) -> None:
        self._before: dict[Path, bytes | None] = {}
        self._made: list[Path] = []

    def write(self, path: Path, text: str) -> None:
        """Write a text where it is not there already."""
        content = text.encode("utf-8")
        try:
            self._make(path.parent)
            there = path.read_bytes() if path.is_file() else None
            if there == content:
                return
            self._before.setdefault(path, there)
            part = path.with_name(f".{path.name}.part")
            part.write_bytes(content)
            os.replace(part, path)
        except OSError as error:
            self.undo()
            raise Refusal(f"{path}: cannot be written ({error.strerror or error}); try: another folder") from error

    def undo(self) -> None:
        """Everything as it was before."""
        for path, there in self._before.items():
            with suppress(OSError):
                path.unlink() if there is None else path.write_bytes(there)
        for folder in reversed(self._made):
            with suppress(OSError):  # not empty: others use it
                folder.rmdir()
        self._before.clear()
        self._made.clear()

    def _make(self, folder: Path) -> None:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._made += reversed(missing)
