"""LightWave MDD (.mdd), a point cache: float32 points of every sample, no faces.

Big-endian: int32 samples, int32 points, samples × float32 times [s], then samples × points × 3 float32.
"""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, Vector, input_error
from bunraku.geometry import Surface, TriMesh

from .files import read_bytes
from .sample import Layout, Sample
from .tokens import cut_short

_HEADER = struct.Struct(">ii")


def read_mdd(path: str | Path) -> tuple[Vector, Array]:
    """Times (t,) [s] and points (t, n, 3) [file units] of an MDD file."""
    where = str(path)
    data = read_bytes(Path(path))
    if len(data) < _HEADER.size:
        raise cut_short(where, "it has no header", len(data), _HEADER.size, "bytes")
    samples, points = _HEADER.unpack_from(data)
    if samples < 1 or points < 1:
        raise input_error(
            "is not an MDD file, or has a broken header", where=where, got=f"{samples} samples of {points} points"
        )
    begin = _HEADER.size + 4 * samples
    size = begin + 12 * samples * points
    if len(data) < size:
        raise cut_short(where, f"it declares {samples} samples of {points} points", len(data), size, "bytes")
    with np.errstate(invalid="ignore"):
        times = np.frombuffer(data, ">f4", samples, _HEADER.size).astype(np.float64)
        values = np.frombuffer(data, ">f4", 3 * samples * points, begin).astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(times) | ~(np.diff(times, prepend=-np.inf) > 0))
    if len(bad):
        raise input_error("times must increase", where=f"{where}, sample {bad[0]}", got=f"{times[bad[0]]:g} s")
    return times, values.reshape(samples, points, 3)


def write_mdd_body(
    target: Path, mesh: Surface | TriMesh, samples: Iterable[Sample], layout: Layout, where: str
) -> None:
    """Write the samples to the file `target`, at the times frame / rate.

    All times stand before the points, so the points wait in a nameless file beside the target.
    """
    frames: list[float] = []
    with target.open("wb") as stream, tempfile.TemporaryFile(dir=target.parent) as waiting:
        for sample in samples:
            waiting.write(layout.place(sample.points).astype(">f4").tobytes())
            frames.append(sample.frame)
        times = (np.array(frames) / layout.rate).astype(">f4")
        if len(times) > 1 and not (np.diff(times) > 0).all():
            raise input_error(
                "single precision cannot tell the times of neighbouring samples apart", where=where,
                got=f"frames {frames[-2]:g} and {frames[-1]:g}", remedy="write USD instead",
            )  # fmt: skip
        stream.write(_HEADER.pack(len(frames), mesh.point_count) + times.tobytes())
        waiting.seek(0)
        shutil.copyfileobj(waiting, stream, 1 << 20)
