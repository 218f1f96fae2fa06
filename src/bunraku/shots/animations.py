"""The files of a take's animation, stitched from its frames, and read back to see what they really say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np

from bunraku.contracts import BunrakuError, InputError, Points
from bunraku.direction import Frame
from bunraku.io import Sample, output_error, read_clip, read_pc2, write_frames

from .prepare import Prepared


def animation_files(prepared: Prepared) -> tuple[str, ...]:
    """Names of the files in the take's folder, one a format."""
    names = {"obj": f"obj/{prepared.name}.####.obj"}
    return tuple(names.get(kind, f"{prepared.name}.{kind}") for kind in prepared.shot.output.formats)


def write_animation_file(folder: Path, name: str, prepared: Prepared, frames: Iterable[Frame]) -> None:
    """Write frames to one file (or numbered files) in the guide's unit and axis, in the world."""
    target = folder / name
    try:
        target.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise output_error(target.parent, error) from error
    write_frames(
        target, prepared.shell.with_rest(prepared.shell.rest + prepared.origin), _samples(prepared, frames),
        rate=prepared.clip.rate, origin=prepared.origin if prepared.origin.any() else None,
        prim=f"/bunraku/{prepared.name}", up_axis=prepared.clip.up_axis, meters_per_unit=prepared.clip.meters_per_unit,
    )  # fmt: skip


def read_back(folder: Path, name: str, prepared: Prepared) -> Iterator[Points]:
    """The points (n, 3) [m] in the world of every frame of a written file."""
    unit, axis = prepared.clip.meters_per_unit, prepared.clip.up_axis
    if name.endswith(".pc2"):
        clip = read_pc2(folder / name, prepared.shell, prepared.clip.rate, meters_per_unit=unit, up_axis=axis)
    elif name.endswith(".obj"):
        clip = read_clip(folder / name, rate=prepared.clip.rate, meters_per_unit=unit, up_axis=axis)
    else:
        clip = read_clip(folder / name, f"/bunraku/{prepared.name}")
    if len(clip.animation.points) > len(prepared.numbers) - prepared.preroll:
        raise InputError(f"{folder / name}: holds more frames than the shot has; try: delete it and --resume")
    yield from clip.animation.points


def as_kept(folder: Path, name: str, prepared: Prepared, frames: Iterable[Frame]) -> bool:
    """Whether a file is there, can be read and says what the kept frames say, as exactly as its numbers can."""
    try:
        return agree(prepared, frames, read_back(folder, name, prepared))
    except (BunrakuError, OSError, ValueError):
        return False


def agree(prepared: Prepared, frames: Iterable[Frame], written: Iterable[Points]) -> bool:
    """Whether points (n, 3) [m] read back are those of the frames, as many and as exact as float32 can be."""
    for frame, points in zip_longest(frames, written):
        if frame is None or points is None:
            return False
        meant = frame.points + prepared.origin
        # USD is float32 about the origin, PC2 about the world's; both round by up to 6e-8 of a coordinate.
        reach = np.abs(meant).max(initial=0.0) + prepared.shell.size
        if points.shape != meant.shape or not np.abs(points - meant).max(initial=0.0) <= 1e-6 * reach:
            return False
    return True


def _samples(prepared: Prepared, frames: Iterable[Frame]) -> Iterator[Sample]:
    for frame in frames:
        yield Sample(float(prepared.numbers[frame.index]), frame.points + prepared.origin, frame.velocity)
