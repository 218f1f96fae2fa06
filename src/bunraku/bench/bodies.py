"""What a body costs: tetrahedra, seconds, volume and distance by edge length, and the fine surface that goes along."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from bunraku.geometry import TetMesh, TriMesh, enclose, subdivide, tetrahedralised
from bunraku.io import read_mesh

ANIMALS = ("horse", "spot", "armadillo", "hand")
"""of the third-party meshes, measured where they are there"""
SHARES = (0.2, 0.1, 0.05)
"""edge lengths, as shares of the surface's diagonal"""
_ROUNDS = 20


def run(
    names: Sequence[str] = ANIMALS, shares: Sequence[float] = SHARES, *, data: Path | None = None,
    threads: int | None = None,
) -> Iterator[str]:  # fmt: skip
    """Measure and print; `data` is the folder of the third-party meshes, $BUNRAKU_TEST_DATA where not given."""
    yield "fTetWild draws lots: counts differ by a tenth from run to run. Nothing is taken from a cache."
    yield "Processor seconds, for a busy machine only stretches the others."
    yield (
        "body          vertices  edge/size    tets   nodes  quality min  median  processor s  seconds   volume"
        "  furthest/size"
    )
    last = None
    for name, mesh in _meshes(names, data):
        for share in shares:
            begin, busy = time.perf_counter(), _processor()
            made = tetrahedralised(mesh, edge=share * mesh.size)
            spent, busy = time.perf_counter() - begin, _processor() - busy
            quality, last = made.quality, (name, mesh, made.body)
            volume = "" if made.volume_deviation is None else f"{made.volume_deviation:+.3%}"
            yield (
                f"{name:12} {mesh.point_count:9} {share:10.3f} {quality.tets:7} {quality.nodes:7} "
                f"{quality.least:12.2f} {quality.median:7.2f} {busy:12.2f} {spent:8.2f} {volume:>8} "
                f"{made.furthest / mesh.size:14.4f}"
            )
    if last is not None:
        yield from _cages(*last)


def _cages(name: str, mesh: TriMesh, body: TetMesh) -> Iterator[str]:
    """The fine surface, and the same subdivided, in the last body."""
    yield ""
    yield f"fine surface in {len(body.tets)} tetrahedra ({name})   enclose ms   points ms   normals ms   outside"
    for fine in (mesh, subdivide(mesh, 1)[0]):
        cage = enclose(fine, body)
        yield (
            f"{fine.point_count:9} vertices {_median(lambda fine=fine: enclose(fine, body), 3):33.1f} "
            f"{_median(lambda cage=cage: cage.points(body.rest)):11.3f} "
            f"{_median(lambda cage=cage: cage.normals(body.rest)):12.3f} {len(cage.outside) / fine.point_count:9.0%}"
        )


def _processor() -> float:
    """[s] this process and those it started and saw end have spent."""
    return sum(os.times()[:4])


def _median(work: Callable[[], object], rounds: int = _ROUNDS) -> float:
    """[ms]"""
    spent = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(spent)


def _meshes(names: Sequence[str], data: Path | None) -> Iterator[tuple[str, TriMesh]]:
    """The animals that are there; where none is, a made one."""
    folder = data or Path(os.environ.get("BUNRAKU_TEST_DATA") or "../shared/data")
    found = [(name, folder / "meshes" / f"{name}.obj") for name in names]
    found = [(name, path) for name, path in found if path.is_file()]
    for name, path in found:
        yield name, read_mesh(path, unit="m")
    if not found:
        yield "urchin", urchin()


def urchin(levels: int = 4) -> TriMesh:
    """A ball with six blunt horns: thick and thin parts, 4^levels × 8 faces."""
    points = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    faces = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    mesh, _ = subdivide(TriMesh(points, faces), levels)
    unit = mesh.rest / np.linalg.norm(mesh.rest, axis=1, keepdims=True)
    reach = 1.0 + 1.2 * np.exp(-30.0 * (1.0 - (unit @ points.T).max(axis=1)))
    return TriMesh(unit * reach[:, None], mesh.faces)
