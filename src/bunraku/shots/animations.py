"""The files of a take's animation, stitched from its frames, and read back to see what they really say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np

from bunraku.contracts import BunrakuError, InputError, Points
from bunraku.direction import Frame
from bunraku.io import Sample, output_error, read_poses, write_frames

from .prepare import Prepared

_SEQUENCES = ("obj", "ply")


def animation_files(prepared: Prepared) -> tuple[str, ...]:
    """Names of the files in the take's folder, one a format."""
    names = {kind: f"{kind}/{prepared.name}.####.{kind}" for kind in _SEQUENCES}
    return tuple(names.get(kind, f"{prepared.name}.{kind}") for kind in prepared.shot.output.formats)


def prim_of(prepared: Prepared, name: str) -> str | None:
    """The prim that holds the result in a file; None for formats without prims."""
    if not name.endswith((".usda", ".usdc")):
        return None
    onto = prepared.going.onto
    return f"/bunraku/{prepared.name}" if onto is None else onto.result


def write_animation_file(folder: Path, name: str, prepared: Prepared, frames: Iterable[Frame]) -> None:
    """Write frames to one file (or numbered files) as the guide's file came, in the world."""
    target = folder / name
    try:
        target.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise output_error(target.parent, error) from error
    clip, usd = prepared.clip, prim_of(prepared, name) is not None
    write_frames(
        target, prepared.going.surface, _samples(prepared, frames), rate=clip.rate,
        origin=prepared.origin if prepared.origin.any() else None, prim=f"/bunraku/{prepared.name}",
        up_axis=clip.up_axis, unit=clip.meters_per_unit, onto=prepared.going.onto if usd else None,
        shutter=prepared.shot.output.shutter if usd else None, clips=prepared.shot.output.clips and usd,
    )  # fmt: skip


def read_back(folder: Path, name: str, prepared: Prepared) -> Iterator[Points]:
    """The surface's points (n, 3) [m] in the world of every frame of a written file."""
    told = {} if name.endswith((".usda", ".usdc", ".glb")) else {
        "unit": prepared.clip.meters_per_unit, "up_axis": prepared.clip.up_axis,
    }  # fmt: skip
    frames, poses = read_poses(folder / name, prim_of(prepared, name), prepared.clip.rate, **told)
    numbers = prepared.numbers[prepared.preroll :]
    if prim_of(prepared, name) is not None:  # a stage may move on past the shot, and between its frames
        poses = poses[np.isin(np.round(frames, 6), np.round(numbers, 6))]
    if len(poses) > len(numbers):
        raise InputError(f"{folder / name}: holds more frames than the shot has; try: delete it and --resume")
    # A GLB has points split where texture coordinates are; the surface's own come first.
    yield from poses[:, : prepared.going.surface.point_count]


def as_kept(folder: Path, name: str, prepared: Prepared, frames: Iterable[Frame]) -> bool:
    """Whether a file is there, can be read and says what the kept frames say, as exactly as its numbers can."""
    try:
        return agree(prepared, frames, read_back(folder, name, prepared))
    except (BunrakuError, OSError, ValueError):
        return False


def agree(prepared: Prepared, frames: Iterable[Frame], written: Iterable[Points]) -> bool:
    """Whether points (n, 3) [m] read back are those of the frames, as many and as exact as float32 can be."""
    for sample, points in zip_longest(_samples(prepared, frames), written):
        if sample is None or points is None:
            return False
        # USD is float32 about the origin, PC2 about the world's; both round by up to 6e-8 of a coordinate.
        reach = np.abs(sample.points).max(initial=0.0) + prepared.shell.size
        if points.shape != sample.points.shape or not np.abs(points - sample.points).max(initial=0.0) <= 1e-6 * reach:
            return False
    return True


def _samples(prepared: Prepared, frames: Iterable[Frame]) -> Iterator[Sample]:
    for frame in frames:
        number = float(prepared.numbers[frame.index])
        yield prepared.going.sample(number, frame.points + prepared.origin, frame.velocity)
