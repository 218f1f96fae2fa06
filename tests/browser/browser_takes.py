"""Takes to look at: small ones that were really made, and large ones whose frames are drawn by a formula."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from bunraku import Animation, TriMesh
from bunraku.contracts import Faces, Points
from bunraku.io import packed, read_arrays, write_animation
from bunraku.scenes import box_mesh
from bunraku.shots import read_shot


def twisting(frame_count: int) -> Animation:
    """A box of eight vertices whose top turns to and fro."""
    mesh = box_mesh()
    points = np.repeat(mesh.rest[None], frame_count, axis=0)
    turn = 0.9 * np.sin(np.arange(frame_count) / 6.0)
    x, z = mesh.rest[4:, 0], mesh.rest[4:, 2]
    points[:, 4:, 0] = np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * z
    points[:, 4:, 2] = np.cos(turn)[:, None] * z - np.sin(turn)[:, None] * x
    return Animation(mesh, np.arange(1, frame_count + 1) / 24.0, points)


def write_shot(folder: Path, frames: int = 24, levels: int = 3, **tables: Any) -> Path:
    """guide.usda and box.toml."""
    folder.mkdir(parents=True, exist_ok=True)
    write_animation(folder / "guide.usda", twisting(frames), rate=24.0, prim="/box")
    told = {"object": {"box": {"guide": {"file": "guide.usda"}, "mesh": {"levels": levels}}}, **tables}
    (folder / "box.toml").write_text(tomli_w.dumps({"output": {"preview": False}, **told}), encoding="utf-8")
    return folder / "box.toml"


def make_two(folder: Path) -> list[Path]:
    """Two finished takes of one shot that differ in a setting."""
    first = read_shot(write_shot(folder)).run(threads=1).folder
    second = read_shot(write_shot(folder, physics={"substeps": 3})).run(threads=1).folder
    return [first, second]


def make_large(small: Path, folder: Path, side: int, frames: int = 24) -> Path:
    """A copy of a take whose shell is a rippling sheet of side × side vertices; its report stays the small one's."""
    shutil.copytree(small, folder)
    rest, faces = _sheet(side)
    arrays, meta = read_arrays(folder / "scene" / "still.bkscene")
    regions = len(meta["regions"])
    label = np.minimum((rest[:, 0] + 0.5) * regions, regions - 1).astype(np.int32)
    order = np.argsort(label, kind="stable")
    arrays |= {
        "rest": rest, "faces": faces.astype(np.int32), "tests/data": np.ones(len(rest), np.float32),
        "tests/indices": order.astype(np.int32),
        "tests/indptr": np.searchsorted(label[order], np.arange(regions + 1)).astype(np.int32),
    }  # fmt: skip
    (folder / "scene" / "still.bkscene").write_bytes(packed(arrays, meta, "scene"))
    for k in range(frames):
        path = folder / "frames" / f"frame_{k:06d}.bkframe"
        before, told = read_arrays(path)
        report = {name: value for name, value in before.items() if name.startswith("report/")}
        path.write_bytes(packed({"q": _rippled(rest, k / 24.0).reshape(-1), **report}, told, "frame"))
    return folder


def rippling(side: int, frames: int) -> Animation:
    """A sheet of side × side vertices that ripples."""
    rest, faces = _sheet(side)
    points = np.stack([_rippled(rest, k / 24.0) for k in range(frames)])
    return Animation(TriMesh(points[0], faces), np.arange(1, frames + 1) / 24.0, points)


def _sheet(side: int) -> tuple[Points, Faces]:
    """Flat, a metre wide."""
    x, z = np.meshgrid(np.linspace(-0.5, 0.5, side), np.linspace(-0.5, 0.5, side))
    i = np.arange(side * side).reshape(side, side)
    a, b, c, d = i[:-1, :-1], i[:-1, 1:], i[1:, :-1], i[1:, 1:]
    faces = np.concatenate([np.stack([a, c, b], -1).reshape(-1, 3), np.stack([b, c, d], -1).reshape(-1, 3)])
    return np.stack([x, 0.0 * x, z], axis=-1).reshape(-1, 3), faces


def _rippled(rest: Points, time: float) -> Points:
    x, z = rest[:, 0], rest[:, 2]
    high = 0.45 + 0.1 * np.sin(3 * x + 4 * time) - 0.4 * (x**2 + z**2)
    wrinkles = 0.012 * np.sin(38 * x + 9 * z + 6 * time) * np.cos(11 * z - 3 * time)
    return np.stack([x, high + wrinkles, z], axis=-1)
