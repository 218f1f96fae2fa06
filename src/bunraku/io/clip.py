"""What a file says, and the clip it becomes."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, Points, Vector, input_error, is_between
from bunraku.geometry import MOST_CORNERS, NORMALS, Surface, TriMesh, Welded, check_coordinates, first_few, weld
from bunraku.motion import Animation

from .axes import check_units, doubt_about_unit, to_metres

_log = logging.getLogger(__name__)

DEFAULT_RATE = 24.0  # [1/s], where neither the file nor the caller says


@dataclass(frozen=True, eq=False)
class Recording:
    """A moving surface as a file tells it: in the file's units, axes and frame numbers, but world space."""

    path: Path
    surface: Surface
    """at rest [file units]"""
    prim_path: str = ""
    """"" where the format has no prims"""
    frames: Vector | None = None
    """(t,) frame numbers, increasing; None for a file that holds one shape: that is frame 0"""
    points: Array | None = None
    """(t, n, 3) [file units]"""
    rate: float | None = None
    """[frames/s]; None where the file does not say"""
    meters_per_unit: float | None = None
    """[m]; None where the file does not say"""
    up_axis: str = "Y"
    """"Y" or "Z\""""

    @property
    def unit(self) -> float:
        """[m] of the unit, metres where the file does not say."""
        return 1.0 if self.meters_per_unit is None else self.meters_per_unit


@dataclass(frozen=True, eq=False)
class Clip:
    """An animation together with the facts of the file it came from."""

    animation: Animation
    """of the welded mesh; metres, Y-up; `animation.times` = `frames` / `rate`"""
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
    surface: Surface
    """as the file has it, at rest [m], Y-up"""
    welded: Welded
    """how the surface became `mesh`"""
    loose: Array
    """(t, k, 3) [m] of the surface's points that belong to no face"""
    unit_known: bool
    """whether the file or the caller says the unit"""
    rate_known: bool
    """whether the file says the rate"""
    faces_path: Path | None = None
    """the mesh file of a point cache, where one was named"""

    @property
    def mesh(self) -> TriMesh:
        """Connectivity and rest shape [m]."""
        return self.animation.mesh

    def time(self, frame: float) -> float:
        """Time [s] of a frame number."""
        return frame / self.rate

    def loose_at(self, frame: float) -> Points:
        """(k, 3) [m] of the points of no face at a frame, on straight lines between samples."""
        if len(self.frames) == 1 or not self.loose.shape[1]:
            return self.loose[0]
        place = float(np.interp(frame, self.frames, np.arange(len(self.frames))))
        k = min(int(place), len(self.frames) - 2)
        return (1.0 - (place - k)) * self.loose[k] + (place - k) * self.loose[k + 1]


def as_clip(
    recording: Recording, rate: float | None = None, *, sew: bool = True, faces_path: Path | None = None
) -> Clip:
    """Convert a recording to SI, refusing coordinates that are not finite or of impossible scale by frame."""
    where = named(recording.path, recording.prim_path)
    check_units(recording.unit, recording.up_axis, where)
    rate = next(one for one in (rate, recording.rate, DEFAULT_RATE) if one is not None)
    check_rate(rate, where)
    moving = recording.surface.points[None] if recording.points is None else recording.points
    frames = np.zeros(1) if recording.frames is None else recording.frames
    points = to_metres(moving, recording.unit, recording.up_axis)
    for frame, sample in zip(frames, points, strict=True):
        check_coordinates(sample, f"{where}, frame {frame:g}")
    surface = rest_surface(recording)
    welded = _welded(surface, points, where, sew)
    animation = Animation(welded.mesh, frames / rate, points[:, welded.point_of_vertex])
    return Clip(
        animation, frames, rate, recording.unit, recording.up_axis, recording.prim_path, recording.path,
        surface, welded, points[:, welded.loose], recording.meters_per_unit is not None, recording.rate is not None,
        faces_path,
    )  # fmt: skip


def rest_surface(recording: Recording) -> Surface:
    """The recording's surface at rest [m, Y-up], its normals turned along."""
    where = named(recording.path, recording.prim_path)
    check_units(recording.unit, recording.up_axis, where)
    surface = recording.surface
    points = to_metres(surface.points, recording.unit, recording.up_axis)
    check_coordinates(points, where)
    turned = tuple(
        replace(one, values=to_metres(np.asarray(one.values, np.float64), 1.0, recording.up_axis))
        if one.name == NORMALS else one
        for one in surface.attributes
    )  # fmt: skip
    if recording.meters_per_unit is None:
        doubt = doubt_about_unit(points[surface.corners], recording.unit)
        if doubt:
            _log.warning("%s %s", where, doubt)
    return replace(surface, points=points, attributes=turned)


def welded_mesh(recording: Recording, *, sew: bool = True) -> TriMesh:
    """The recording's rest shape as a mesh for physics [m]."""
    where = named(recording.path, recording.prim_path)
    return _welded(rest_surface(recording), None, where, sew).mesh


def _welded(surface: Surface, poses: Array | None, where: str, sew: bool) -> Welded:
    """The welded surface; what is left out of it is listed in a note."""
    welded = weld(surface, poses, sew=sew)
    for what, elements in (
        ("polygons have no area, or parts that have none, which are left out of the physics", welded.flat),
        ("polygons that repeat another are left out of the physics", welded.repeated),
        ("points of no polygon are left out of the physics", welded.loose),
    ):
        if len(elements):
            _log.warning("%s: %d %s: %s", where, len(elements), what, first_few(elements))
    long = np.flatnonzero(surface.counts > MOST_CORNERS)
    if len(long):
        _log.warning("%s: %d polygons of more than %d corners are cut as fans, right only where they are convex: %s",
                     where, len(long), MOST_CORNERS, first_few(long))  # fmt: skip
    if welded.sewn:
        _log.info("%s: %d points split along seams are sewn together for the physics", where, welded.sewn)
    return welded


def check_rate(rate: float, where: str) -> None:
    """Refuse a frame rate that is not a positive number."""
    if not (is_between(rate, 0.0, np.finfo(np.float64).max) and rate > 0):
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
