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


def _require_blender() -> None:
    if not PYTHON.exists():
        pytest.skip(f"there is no Blender ({PYTHON}); `make test-blender` installs it")


@pytest.fixture
def blender() -> Callable[..., dict[str, Any]]:
    """blender(file, frames=[…]) → what Blender's importers make of a USD file, or of an OBJ with its PC2: meshes, by
    name, on those frames."""
    _require_blender()

    def opened(file: Path, frames: list[float]) -> dict[str, Any]:
        words = [str(PYTHON), str(HERE.parent / "open_in_blender.py"), str(file), json.dumps(frames)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout.splitlines()[-1])

    return opened


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension as artists install it: a zip that Blender's own program built and validated."""
    _require_blender()
    folder = tmp_path_factory.mktemp("extension")
    found = sorted(
        PYTHON.parents[1].glob("lib/python3*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py")
    )
    source = ["--source-dir", str(HERE.parents[2] / "blender"), "--output-dir", str(folder)]
    done = subprocess.run([str(PYTHON), str(found[-1]), "build", *source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("bunraku-*.zip")
    return built


@pytest.fixture
def play(extension: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """play(module, scene, …) → what a scene, played in a Blender with the extension, returns; it has `tmp_path`."""

    def played(module: str, scene: str, **arguments: Any) -> dict[str, Any]:
        words = [str(PYTHON), str(HERE.parent / "act.py"), module, scene, str(extension), sys.executable, str(tmp_path)]
        done = subprocess.run([*words, json.dumps(arguments)], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        assert "Traceback" not in done.stderr, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return played
