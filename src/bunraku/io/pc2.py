"""PointCache2 (.pc2), Blender's Mesh Cache: float32 points of every sample, no faces.

Little-endian header of 32 bytes: "POINTCACHE2\\0", int32 version 1, int32 points, float32 first frame,
float32 frames between samples, int32 samples; then samples × points × 3 float32.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from bunraku.contracts import input_error
from bunraku.geometry import TriMesh

from .clip import DEFAULT_RATE, Clip, Recording, as_clip
from .files import read_bytes
from .sample import Layout, Sample

_HEADER = struct.Struct("<12siiffi")
_SIGNATURE = b"POINTCACHE2\0"


def read_pc2(
    path: str | Path,
    mesh: TriMesh,
    rate: float | None = None,
    *,
    meters_per_unit: float = 1.0,
    up_axis: str = "Y",
) -> Clip:
    """The clip of a PC2 file on a mesh [m] that has its faces; rate in frames/s (24 where not given).

    The mesh's rest shape is kept. The points are converted from the unit and up-axis given.
    """
    source = Path(path)
    data = read_bytes(source)
    where = str(source)
    if len(data) < _HEADER.size or data[:12] != _SIGNATURE:
        raise input_error("is not a PC2 file", where=where, got=repr(data[:12]), allowed=repr(_SIGNATURE))
    _, _, points, start, step, samples = _HEADER.unpack_from(data)
    if points != mesh.point_count:
        raise input_error(
            "another vertex count than the mesh", where=where, got=points, allowed=str(mesh.point_count),
            remedy="give the mesh the cache was exported with",
        )  # fmt: skip
    if samples < 1 or not (np.isfinite(step) and step > 0 and np.isfinite(start)):
        raise input_error("has a broken header", where=where, got=f"{samples} samples {step:g} frames apart")
    expected = _HEADER.size + 12 * points * samples
    if len(data) < expected:
        raise input_error("is cut short", where=where, got=f"{len(data)} bytes", allowed=f"{expected} bytes")
    values = np.frombuffer(data, "<f4", 3 * points * samples, _HEADER.size).reshape(samples, points, 3)
    frames = start + step * np.arange(samples, dtype=np.float64)
    moving = Recording(
        source, "", mesh.faces, values[0].astype(np.float64), frames, values.astype(np.float64),
        DEFAULT_RATE if rate is None else rate, meters_per_unit, up_axis,
    )  # fmt: skip
    clip = as_clip(moving)
    return replace(clip, animation=replace(clip.animation, mesh=mesh))


def write_pc2_body(target: Path, mesh: TriMesh, samples: Iterable[Sample], layout: Layout, where: str) -> None:
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
        stream.write(_HEADER.pack(_SIGNATURE, 1, mesh.point_count, start, step, len(frames)))
