"""What a file holds, told without refusing anything that can be represented; for the doctor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.contracts import Array, InputError
from bunraku.geometry import Surface, check_coordinates, check_physical, weld

from .axes import check_units, doubt_about_unit, to_metres, unit_name
from .clip import Recording, check_rate, named
from .read import record


@dataclass(frozen=True, eq=False)
class Survey:
    """A file's surface at rest and the facts around it."""

    path: Path
    prim_path: str
    surface: Surface
    """[m], Y-up; its numbers may be anything"""
    meters_per_unit: float
    unit_known: bool
    doubt: str
    """'' or a guess of the unit, where the size is odd and nobody insisted on the unit"""
    up_axis: str
    rate: float | None
    """[frames/s]; None where the file does not say"""
    frames: Array
    """(t,) frame numbers; one where nothing moves"""
    broken_frames: Array
    """(k,) those with points that are not finite"""
    odd_frame: str
    """'' or why a run would refuse the points of a frame"""

    def facts(self) -> list[str]:
        """What the file is, a sentence each."""
        unit = unit_name(self.meters_per_unit)
        said = f"Unit {unit}, {self.up_axis} up." if self.unit_known else (
            f"The file does not say its unit; read as {unit}, {self.up_axis} up. A shot needs unit = …"
        )  # fmt: skip
        out = [said]
        if self.doubt:
            out.append(f"It {self.doubt}.")
        if len(self.frames) > 1:
            rate = "" if self.rate is None else f" at {self.rate:g} frames/s"
            out.append(f"{len(self.frames)} frames, {self.frames[0]:g} to {self.frames[-1]:g}{rate}.")
            steps = np.diff(self.frames)
            if steps.max() > 1.5 * np.median(steps):
                after = self.frames[int(np.argmax(steps))]
                out.append(f"Frames are missing after frame {after:g}; a run interpolates them.")
        if len(self.broken_frames) and len(self.frames) > 1:
            out.append(f"{len(self.broken_frames)} frames have points that are not finite, the first is "
                       f"{self.broken_frames[0]:g}; a run refuses them.")  # fmt: skip
        return out

    def refusal(self) -> str:
        """'' or why a run would refuse the file: what it cannot mean by frames, rate or shape."""
        if self.odd_frame:
            return self.odd_frame
        try:
            if self.rate is not None:
                check_rate(self.rate, self.name)
            check_coordinates(self.surface.points, self.name)
            check_physical(weld(self.surface).mesh, self.name)
        except InputError as error:
            return str(error)
        return ""

    @property
    def name(self) -> str:
        """The file, with its prim where it has one."""
        return named(self.path, self.prim_path)


def survey(
    path: str | Path,
    prim: str | None = None,
    *,
    clip: str | None = None,
    faces: str | Path | None = None,
    unit: str | float | None = None,
    up_axis: str | None = None,
) -> Survey:
    """Read a file and say what it holds; parameters as for `read_clip`."""
    found = record(path, prim, clip=clip, faces=faces, unit=unit, up_axis=up_axis)
    check_units(found.unit, found.up_axis, str(path))
    with np.errstate(all="ignore"):  # any number may come
        surface = replace(found.surface, points=to_metres(found.surface.points, found.unit, found.up_axis))
    doubt = doubt_about_unit(surface.points[surface.corners], found.unit) if unit is None else ""
    frames = np.zeros(1) if found.frames is None else found.frames
    moving = found.surface.points[None] if found.points is None else found.points
    whole = [True] if found.points is None else [bool(np.isfinite(pose).all()) for pose in found.points]
    return Survey(
        found.path, found.prim_path, surface, found.unit, found.meters_per_unit is not None, doubt, found.up_axis,
        found.rate, frames, frames[~np.array(whole)], _odd_frame(found, moving, frames),
    )  # fmt: skip


def _odd_frame(found: Recording, moving: Array, frames: Array) -> str:
    """'' or the refusal of the first frame whose points are not finite or of an impossible size."""
    with np.errstate(all="ignore"):
        for frame, points in zip(frames, moving, strict=True):
            try:
                where = f"{named(found.path, found.prim_path)}, frame {frame:g}"
                check_coordinates(to_metres(points, found.unit, found.up_axis), where)
            except InputError as error:
                return str(error)
    return ""
