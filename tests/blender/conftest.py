"""Blender, in a process of its own: `make test-blender` installs it beside the project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "io"))  # the scenes of the USD tests
PYTHON = Path(os.environ.get("BUNRAKU_BLENDER_PYTHON") or HERE.parents[2] / ".venv-blender/bin/python")


@pytest.fixture
def blender() -> Callable[..., dict[str, Any]]:
    """blender(file, frames=[…]) → what Blender's importers make of a USD file, or of an OBJ with its PC2: meshes, by
    name, on those frames."""
    if not PYTHON.exists():
        pytest.skip(f"there is no Blender ({PYTHON}); `make test-blender` installs it")

    def opened(file: Path, frames: list[float]) -> dict[str, Any]:
        words = [str(PYTHON), str(HERE.parent / "open_in_blender.py"), str(file), json.dumps(frames)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout.splitlines()[-1])

    return opened
