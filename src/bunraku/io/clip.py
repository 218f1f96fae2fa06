"""What a file says, and the clip it becomes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from bunraku.contracts import Array, Faces, Points, Vector, input_error
from bunraku.geometry import TriMesh, check_coordinates
from bunraku.motion import Animation

from .axes import check_units, to_metres

DEFAULT_RATE = 24.0  # [1/s], where neither the file nor the caller says


@dataclass(frozen=True, eq=False)
class Recording:
    """A moving mesh as a file tells it: in the file's units, axes and frame numbers, but world space."""

    path: Path
    prim_path: str
    """"" where the format has no prims"""
    faces: Faces
    """(f, 3)"""
    rest: Points
    """(n, 3) [file units]"""
    frames: Vector
    """(t,) frame numbers, increasing"""
    points: Array
    """(t, n, 3) [file units]"""
    rate: float
    """[frames/s]"""
    meters_per_unit: float
    up_axis: str
    """"Y" or "Z\""""


@dataclass(frozen=True, eq=False)
class Clip:
    """An animation together with the facts of the file it came from."""

    animation: Animation
    """metres, Y-up; `animation.times` = `frames` / `rate`"""
    frames: Vector
    """(t,) the file's own frame numbers (time codes)"""
    rate: float
    """[frames/s]"""
    meters_per_unit: float
    """[m] the file's unit"""
    up_axis: str
    """the file's: "Y" or "Z\""""
    prim_path: str
    """the mesh's path in the file; "" where the format has no prims"""
    path: Path
    """the file, folder or pattern"""

    @property
    def mesh(self) -> TriMesh:
        """Connectivity and rest shape [m]."""
        return self.animation.mesh

    def time(self, frame: float) -> float:
        """Time [s] of a frame number."""
        return frame / self.rate


def as_clip(recording: Recording) -> Clip:
    """Convert a recording to SI, refusing coordinates that are not finite or of impossible scale by frame."""
    where = named(recording.path, recording.prim_path)
    check_units(recording.meters_per_unit, recording.up_axis, where)
    check_rate(recording.rate, where)
    points = to_metres(recording.points, recording.meters_per_unit, recording.up_axis)
    for frame, sample in zip(recording.frames, points, strict=True):
        check_coordinates(sample, f"{where}, frame {frame:g}")
    animation = Animation(rest_mesh(recording), recording.frames / recording.rate, points)
    return Clip(
        animation, recording.frames, recording.rate, recording.meters_per_unit, recording.up_axis,
        recording.prim_path, recording.path,
    )  # fmt: skip


def rest_mesh(recording: Recording) -> TriMesh:
    """The recording's rest shape as a mesh [m]."""
    where = named(recording.path, recording.prim_path)
    check_units(recording.meters_per_unit, recording.up_axis, where)
    rest = to_metres(recording.rest, recording.meters_per_unit, recording.up_axis)
    check_coordinates(rest, where)
    return TriMesh(rest, recording.faces)


def check_rate(rate: float, where: str) -> None:
    """Refuse a frame rate that is not a positive number."""
    if not (math.isfinite(rate) and rate > 0):
        raise input_error(
            "the frame rate must be positive", where=where, got=rate, remedy="give rate= in frames per second"
        )


def require_motion(clip: Clip) -> Clip:
    """The clip, refused where it holds one frame only and so cannot guide a motion."""
    if clip.animation.frame_count < 2:
        raise input_error(
            "holds one frame only", where=named(clip.path, clip.prim_path), got=f"frame {clip.frames[0]:g}",
            allowed="two or more frames", remedy="export the animated points, or give the whole sequence",
        )  # fmt: skip
    return clip


def named(path: str | Path, prim: str) -> str:
    """'file.usd </World/coat>' — a mesh named in an error."""
    return f"{path} <{prim}>" if prim else str(path)
