"""The files of a take's animation, stitched from its frames, and read back to see what they really say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np

from bunraku.contracts import BunrakuError, InputError, Points
from bunraku.direction import Frame
from bunraku.io import Sample, output_error, read_poses, write_frames

from .drawn import Drawn
from .prepared import Prepared, Written

_SEQUENCES = ("obj", "ply")


def animation_files(prepared: Prepared) -> dict[str, tuple[str, ...]]:
    """Names of the files in the take's folder, object by object, one a format."""
    return {one.name: tuple(_file(one, kind) for kind in prepared.shot.output.formats) for one in prepared.written}


def _file(one: Written, kind: str) -> str:
    return f"{kind}/{one.name}.####.{kind}" if kind in _SEQUENCES else f"{one.name}.{kind}"


def prim_of(one: Written, name: str) -> str | None:
    """The prim that holds the result in a file; None for formats without prims."""
    if not name.endswith((".usda", ".usdc")):
        return None
    onto = one.going.onto
    return f"/bunraku/{one.name}" if onto is None else onto.result


def write_animation_file(
    folder: Path, name: str, prepared: Prepared, one: Written, frames: Iterable[Frame], drawn: Drawn | None = None
) -> None:
    """Write an object of frames to one file (or numbered files) as its file came, in the world."""
    target = folder / name
    try:
        target.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise output_error(target.parent, error) from error
    clip, usd = one.clip, prim_of(one, name) is not None
    write_frames(
        target, one.going.surface, _samples(prepared, one, frames, drawn if usd else None), rate=prepared.clip.rate,
        origin=prepared.origin if prepared.origin.any() else None, prim=f"/bunraku/{one.name}",
        up_axis=clip.up_axis, unit=clip.meters_per_unit, onto=one.going.onto if usd else None,
        shutter=prepared.shot.output.shutter if usd else None, clips=prepared.shot.output.clips and usd,
    )  # fmt: skip


def read_back(folder: Path, name: str, prepared: Prepared, one: Written) -> Iterator[Points]:
    """The surface's points (n, 3) [m] in the world of every frame of a written file."""
    told = {} if name.endswith((".usda", ".usdc", ".glb")) else {
        "unit": one.clip.meters_per_unit, "up_axis": one.clip.up_axis,
    }  # fmt: skip
    frames, poses = read_poses(folder / name, prim_of(one, name), prepared.clip.rate, **told)
    numbers = prepared.numbers[prepared.preroll :]
    if prim_of(one, name) is not None:  # a stage may move on past the shot, and between its frames
        poses = poses[np.isin(np.round(frames, 6), np.round(numbers, 6))]
    if len(poses) > len(numbers):
        raise InputError(f"{folder / name}: holds more frames than the shot has; try: delete it and --resume")
    # A GLB has points split where texture coordinates are; the surface's own come first.
    yield from poses[:, : one.going.surface.point_count]


def as_kept(folder: Path, name: str, prepared: Prepared, one: Written, frames: Iterable[Frame]) -> bool:
    """Whether a file is there, can be read and says what the kept frames say, as exactly as its numbers can."""
    try:
        return agree(prepared, one, frames, read_back(folder, name, prepared, one))
    except (BunrakuError, OSError, ValueError):
        return False


def agree(prepared: Prepared, one: Written, frames: Iterable[Frame], written: Iterable[Points]) -> bool:
    """Whether points (n, 3) [m] read back are those of the frames, as many and as exact as float32 can be."""
    for sample, points in zip_longest(_samples(prepared, one, frames), written):
        if sample is None or points is None:
            return False
        # USD is float32 about the origin, PC2 about the world's; both round by up to 6e-8 of a coordinate.
        reach = np.abs(sample.points).max(initial=0.0) + prepared.shell.size
        if points.shape != sample.points.shape or not np.abs(points - sample.points).max(initial=0.0) <= 1e-6 * reach:
            return False
    return True


def _samples(prepared: Prepared, one: Written, frames: Iterable[Frame], drawn: Drawn | None = None) -> Iterator[Sample]:
    for frame in frames:
        number, own = float(prepared.numbers[frame.index]), one.vertices
        points, velocity = prepared.vertices(frame.points), prepared.vertices(frame.velocity)
        lengths = {name: values[own] for name, values in prepared.lengths(frame).items()}
        said = {} if drawn is None else {name: values[own] for name, values in drawn.at(frame).items()}
        yield one.going.sample(number, points[own] + prepared.origin, velocity[own], lengths, said)
