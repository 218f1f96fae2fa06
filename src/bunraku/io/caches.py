"""Point caches (PC2, MDD): points of every sample without faces; the faces are those of a mesh file beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bunraku.contracts import Vector, input_error

from .clip import DEFAULT_RATE, Recording
from .files import missing
from .mdd import read_mdd
from .pc2 import read_pc2
from .sequence import MESH_READERS, read_one


def record_cache(path: Path, faces: Path | None, rate: float | None) -> Recording:
    """The recording of a cache on the mesh of `faces`; an MDD's times become frames at `rate` (24 where not given)."""
    mesh_file = faces_file(path, faces)
    surface = read_one(mesh_file)
    if path.suffix.lower() == ".mdd":
        times, points = read_mdd(path)
        frames = _snapped(times * (DEFAULT_RATE if rate is None else rate))
    else:
        frames, points = read_pc2(path)
    if points.shape[1] != surface.point_count:
        raise input_error(
            "another vertex count than the mesh", where=str(path), got=points.shape[1],
            allowed=f"{surface.point_count} as {mesh_file.name} has",
            remedy="give the mesh the cache was exported with",
        )  # fmt: skip
    return Recording(path, surface, frames=frames, points=points)


def _snapped(frames: Vector) -> Vector:
    """Frame numbers from single-precision seconds: whole ones are meant where they are this near."""
    whole = np.round(frames)
    return np.where(np.abs(frames - whole) < 1e-3, whole, frames)


def cache_files(path: Path, faces: Path | None) -> list[Path]:
    """The cache and its mesh."""
    return [path, faces_file(path, faces)]


def faces_file(path: Path, faces: Path | None) -> Path:
    """The mesh file of a cache: the one given, or the one beside it with the same name."""
    if faces is not None:
        if not faces.exists():
            raise missing(faces)
        if faces.suffix.lower() not in MESH_READERS:
            raise input_error(
                "cannot give a cache its faces", where=str(faces), got=faces.suffix, allowed=", ".join(MESH_READERS)
            )
        return faces
    beside = [path.with_suffix(suffix) for suffix in MESH_READERS]
    found = next((file for file in beside if file.exists()), None)
    if found is None:
        meshes = sorted(file.name for file in path.parent.iterdir() if file.suffix.lower() in MESH_READERS)
        raise input_error(
            "is a cache of points without faces, and no mesh of the same name lies beside it", where=str(path),
            allowed=f"a mesh file, for example {beside[0].name}", remedy=f"faces = '{(meshes or [beside[0].name])[0]}'",
        )  # fmt: skip
    return found
