"""Small moving meshes, real files, and USD stages written the way other programs write them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.geometry import TriMesh
from bunraku.motion import Animation

DATA = Path(os.environ.get("BUNRAKU_TEST_DATA") or Path(__file__).resolve().parents[2] / "../shared/data").resolve()
"""third-party files, which are not part of the project: BUNRAKU_TEST_DATA, else ../shared/data beside the checkout"""


@pytest.fixture
def data() -> Path:
    """The folder of third-party test data."""
    if not DATA.is_dir():
        pytest.skip(f"third-party test data is not there: {DATA}; BUNRAKU_TEST_DATA says where it is")
    return DATA


@pytest.fixture
def quad() -> TriMesh:
    """A unit square in the plane z = 0, wound towards +z."""
    return TriMesh(np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]]))


@pytest.fixture
def wave(quad: TriMesh) -> Animation:
    """The square for 8 frames at 24/s from frame 1001, accelerating: x + (0, t²/2, 3t)."""
    times = np.arange(1001, 1009) / 24.0
    local = times - times[0]
    shift = np.stack([0 * local, 0.5 * local**2, 3.0 * local], axis=1)
    return Animation(quad, times, quad.rest[None] + shift[:, None, :])


@pytest.fixture
def stage(tmp_path: Path) -> Callable[..., Path]:
    """Write a USD text file: `stage(body, name=…, **metadata)` gives its path."""

    def write(body: str, name: str = "other.usda", **metadata: Any) -> Path:
        facts = {"metersPerUnit": 1, "upAxis": '"Y"'} | metadata
        head = "\n".join(f"    {key} = {value}" for key, value in facts.items() if value is not None)
        path = tmp_path / name
        lines = body.replace("{ ", "{\n").replace(" }", "\n}").replace("} def", "}\ndef")
        path.write_text(f"#usda 1.0\n(\n{head}\n)\n{lines}\n")
        return path

    return write
