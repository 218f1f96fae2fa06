"""What reading and writing cost, format by format: seconds per megabyte of file."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bunraku.geometry import UV, Attribute, Scope, Surface, TetMesh
from bunraku.io import Sample, read_poses, read_surface, read_tets, write_frames, write_mesh

_FRAMES = 12


def run(side: int = 150, *, threads: int | None = None) -> Iterator[str]:
    """Measure and print; `side`² quads with texture coordinates, twelve frames where the format holds motion."""
    sheet, solid = _sheet(side), _solid(max(side // 8, 2))
    yield f"{sheet.polygon_count} quads, {_FRAMES} frames where the format holds motion; {len(solid.tets)} tetrahedra"
    yield "format         MB   write s/MB   read s/MB"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.usdc", "a.usda", "a.glb", "a.pc2", "a.mdd"):
            path = Path(folder) / name
            yield _row(path, lambda path=path: _write_motion(path, sheet), lambda path=path: read_poses(path))
        for name in ("b.obj", "b.ply", "b.off", "b.stl"):
            path = Path(folder) / name
            read = lambda path=path: read_surface(path, unit="m")  # noqa: E731
            yield _row(path, lambda path=path: write_mesh(path, sheet), read)
        for name in ("c.msh", "c.node"):
            path = Path(folder) / name
            yield _row(path, lambda path=path: write_mesh(path, solid), lambda path=path: read_tets(path))


def _row(path: Path, write: Callable[[], object], read: Callable[[], object]) -> str:
    write_seconds, read_seconds = _best(write), _best(read)
    beside = path.with_suffix(".ele")
    size = (path.stat().st_size + (beside.stat().st_size if path.suffix == ".node" else 0)) / 1e6
    return f"{path.suffix:8} {size:8.2f} {write_seconds / size:12.3f} {read_seconds / size:11.3f}"


def _best(work: Callable[[], object], rounds: int = 3) -> float:
    best = np.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def _write_motion(path: Path, sheet: Surface) -> None:
    samples = (Sample(float(k), sheet.points + [0.0, 0.0, 0.01 * k]) for k in range(_FRAMES))
    write_frames(path, sheet, samples, rate=24.0)


def _sheet(side: int) -> Surface:
    """side² quads of one square metre in all."""
    line = np.linspace(0.0, 1.0, side + 1)
    x, y = (one.reshape(-1) for one in np.meshgrid(line, line, indexing="ij"))
    first = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).reshape(-1)
    quads = np.stack([first, first + side + 1, first + side + 2, first + 1], axis=1)
    points = np.stack([x, y, 0.05 * np.sin(9 * x) * np.cos(7 * y)], axis=1)
    uv = Attribute(UV, Scope.POINT, points[:, :2])
    return Surface(points, np.full(len(quads), 4), quads.reshape(-1), (uv,))


def _solid(cells: int) -> TetMesh:
    """A cube of cells³ × 6 tetrahedra."""
    n = cells + 1
    grid = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) / cells
    low = (np.arange(cells)[:, None, None] * n * n + np.arange(cells)[:, None] * n + np.arange(cells)).reshape(-1)
    corner = low[:, None] + np.array([0, 1, n, n + 1, n * n, n * n + 1, n * n + n, n * n + n + 1])
    around = np.array([[0, 1, 3, 7], [0, 1, 7, 5], [0, 5, 7, 4], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7]])
    return TetMesh.oriented(grid, corner[:, around].reshape(-1, 4))
