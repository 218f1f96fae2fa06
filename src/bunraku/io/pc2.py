"""PointCache2 (.pc2), Blender's Mesh Cache: float32 points of every sample, no faces.

Little-endian header of 32 bytes: "POINTCACHE2\\0", int32 version 1, int32 points, float32 first frame,
float32 frames between samples, int32 samples; then samples × points × 3 float32.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, Vector, input_error
from bunraku.geometry import Surface

from .files import read_bytes
from .sample import Layout, Sample

_HEADER = struct.Struct("<12siiffi")
_SIGNATURE = b"POINTCACHE2\0"


def read_pc2(path: Path) -> tuple[Vector, Array]:
    """Frame numbers (t,) and points (t, n, 3) of a PC2 file."""
    data = read_bytes(path)
    where = str(path)
    if len(data) < _HEADER.size or data[:12] != _SIGNATURE:
        raise input_error("is not a PC2 file", where=where, got=repr(data[:12]), allowed=repr(_SIGNATURE))
    _, _, points, start, step, samples = _HEADER.unpack_from(data)
    if samples < 1 or points < 1 or not (np.isfinite(step) and step > 0 and np.isfinite(start)):
        raise input_error(
            "has a broken header", where=where, got=f"{samples} samples of {points} points {step:g} frames apart"
        )
    expected = _HEADER.size + 12 * points * samples
    if len(data) < expected:
        raise input_error("is cut short", where=where, got=f"{len(data)} bytes", allowed=f"{expected} bytes")
    values = np.frombuffer(data, "<f4", 3 * points * samples, _HEADER.size).reshape(samples, points, 3)
    return start + step * np.arange(samples, dtype=np.float64), values.astype(np.float64)


def write_pc2_body(target: Path, surface: Surface, samples: Iterable[Sample], layout: Layout, where: str) -> None:
    """Write the samples, evenly spaced in frames, to the file `target`."""
    frames: list[float] = []
    with target.open("wb") as stream:
        stream.write(bytes(_HEADER.size))
        for sample in samples:
            stream.write(layout.place(sample.points).astype("<f4").tobytes())
            frames.append(sample.frame)
        start, step = frames[0], frames[1] - frames[0] if len(frames) > 1 else 1.0
        if not np.allclose(frames, start + step * np.arange(len(frames)), rtol=0, atol=1e-4):
            raise input_error(
                "PC2 samples must be evenly spaced",
                where=where,
                got=frames[:5],
                remedy="write USD instead",
            )
        stream.seek(0)
        stream.write(_HEADER.pack(_SIGNATURE, 1, surface.point_count, start, step, len(frames)))
