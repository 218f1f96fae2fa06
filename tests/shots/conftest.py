"""A tiny box whose top turns, as a guide file and a shot file beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from bunraku import Animation
from bunraku.io import write_animation
from bunraku.scenes import box_mesh

Files = Callable[..., Path]


def turning_box(frame_count: int = 6, turn: float = 0.08) -> Animation:
    """Eight vertices; the top turns by `turn` [rad] a frame. Frame 1 is the rest shape."""
    mesh = box_mesh()
    poses = []
    for k in range(frame_count):
        c, s = np.cos(turn * k), np.sin(turn * k)
        pose = np.array(mesh.rest)
        pose[4:] = pose[4:] @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
        poses.append(pose)
    return Animation(mesh, np.arange(1, frame_count + 1) / 24.0, np.stack(poses))


@pytest.fixture
def guide() -> Animation:
    return turning_box()


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """files(name=, guide=, shot={…}, box={…}, physics={…}, output={…}) writes guide.usda and NAME.toml."""

    def write(
        name: str = "box", guide: Animation | None = None, box: dict[str, Any] | None = None, **tables: dict[str, Any]
    ) -> Path:
        if guide is not None or not (tmp_path / "guide.usda").exists():
            write_animation(tmp_path / "guide.usda", guide or turning_box(), rate=24.0, prim="/box")
        settings: dict[str, Any] = {"output": {"preview": False}, **tables}
        settings["object"] = {
            "box": {"guide": {"file": "guide.usda", "prim": "/box"}, "mesh": {"levels": 1}, **(box or {})}
        }
        path = tmp_path / f"{name}.toml"
        path.write_text(tomli_w.dumps(settings), encoding="utf-8")
        return path

    return write
