"""Writing without half-written files: under another name first, in place only when complete."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bunraku.contracts import OutputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside `path` to write to; it becomes `path` at the end, or is removed if something fails."""
    target = Path(path)
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {target}: the folder {target.parent} does not exist; try: create it")
    if target.is_dir():
        raise OutputError(f"cannot write {target}: a folder of that name is in the way")
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        yield part
        os.replace(part, target)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
