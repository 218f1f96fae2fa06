"""Writing animations: USD, OBJ sequences, PC2. Whole files or none."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import Array, Points, Vector, input_error
from bunraku.geometry import TriMesh
from bunraku.motion import Animation

from .atomic import atomic_files, atomic_write, write_bytes
from .axes import check_units, from_metres
from .clip import check_rate
from .obj import format_obj
from .pc2 import write_pc2_body
from .sample import Layout, Sample, checked, local_origin, with_velocities
from .sequence import frame_name, is_pattern
from .timeline import timeline

_USD = (".usd", ".usda", ".usdc")
_ALLOWED = ".usd, .usda, .usdc, .pc2, name.####.obj, or a folder for numbered OBJ files"


def write_animation(
    path: str | Path,
    animation: Animation,
    *,
    frames: ArrayLike | None = None,
    rate: float | None = None,
    origin: ArrayLike | None = None,
    prim: str = "/bunraku/shell",
    up_axis: str = "Y",
    meters_per_unit: float = 1.0,
    velocities: Array | None = None,
) -> None:
    """Write an animation: USD by its suffix, a numbered OBJ sequence (`name.####.obj` or a folder), or PC2.

    One sample a time. `frames` (t,) are their numbers, `rate` the frames per second; what is not given
    follows from `animation.times`. `velocities` (t, n, 3) [m/s]: the animation's own where not given.
    For the rest see `write_frames`.
    """
    if not str(path):
        raise input_error("the name of the file to write is empty", allowed=_ALLOWED)
    numbers, rate = timeline(animation.times, _optional(frames), rate, str(path))
    if velocities is not None and np.shape(velocities) != animation.points.shape:
        raise input_error(
            "velocities must have the shape of the points", where=str(path), got=np.shape(velocities),
            allowed=str(animation.points.shape),
        )  # fmt: skip
    bare = (Sample(float(k), x) for k, x in zip(numbers, animation.points, strict=True))
    deque(checked(bare, animation.mesh, str(path)), maxlen=0)  # before velocities spread what is not finite
    write_frames(
        path, animation.mesh, _samples(animation, numbers, velocities), rate=rate, origin=origin, prim=prim,
        up_axis=up_axis, meters_per_unit=meters_per_unit,
    )  # fmt: skip


def write_frames(
    path: str | Path,
    mesh: TriMesh,
    samples: Iterable[Sample],
    *,
    rate: float,
    origin: ArrayLike | None = None,
    prim: str = "/bunraku/shell",
    up_axis: str = "Y",
    meters_per_unit: float = 1.0,
) -> None:
    """Write samples as they come, so that a long take need not be in memory; `mesh` has faces and rest shape.

    USD: a time sample of points, normals, velocities [units/s] and extent a frame, the rest shape as primvar
    `rest`. Points are float32 about `origin` (3,) [m], which becomes the prim's double-precision translation;
    None takes the world's origin, or the first frame's centre where that lies far away. The same input gives
    the same bytes. On any failure nothing appears at `path`, and what stood there stays.
    """
    if not str(path):
        raise input_error("the name of the file to write is empty", allowed=_ALLOWED)
    target = Path(path)
    where = str(target)
    check_units(meters_per_unit, up_axis, where)
    check_rate(rate, where)
    first, stream = _peeked(checked(samples, mesh, where), where)
    about = np.zeros(3) if target.suffix.lower() not in _USD else _origin(origin, first, where)
    layout = Layout(float(rate), about, up_axis, float(meters_per_unit))
    if target.suffix.lower() in (*_USD, ".pc2"):
        stream = _in_single_precision(stream, mesh, layout, where)
    if target.suffix.lower() in _USD:
        _write_usd(target, mesh, stream, layout, prim)
    elif target.suffix.lower() == ".pc2":
        _write_pc2(target, mesh, stream, layout)
    elif target.suffix.lower() == ".obj" and is_pattern(target):
        _write_sequence(target, mesh, stream, layout, create=False)
    elif target.suffix == "" or target.is_dir():
        _write_sequence(target / f"{target.absolute().name}.####.obj", mesh, stream, layout, create=True)
    else:
        remedy = f"{target.stem}.####.obj" if target.suffix.lower() == ".obj" else f"{target.stem}.usdc"
        raise input_error("cannot hold an animation", where=where, got=target.suffix, allowed=_ALLOWED, remedy=remedy)


def write_pc2(
    path: str | Path,
    animation: Animation,
    *,
    frames: ArrayLike | None = None,
    rate: float | None = None,
    up_axis: str = "Y",
    meters_per_unit: float = 1.0,
) -> None:
    """Write `path` (.pc2) and beside it the rest shape as .obj of the same name, for Blender's Mesh Cache."""
    if Path(path).suffix.lower() != ".pc2":
        raise input_error("must end in .pc2", where=str(path), got=Path(path).suffix, remedy=f"{path}.pc2")
    write_animation(path, animation, frames=frames, rate=rate, up_axis=up_axis, meters_per_unit=meters_per_unit)


def write_mesh(path: str | Path, mesh: TriMesh, *, up_axis: str = "Y", meters_per_unit: float = 1.0) -> None:
    """Write the rest shape as an OBJ file."""
    if Path(path).suffix.lower() != ".obj":
        raise input_error("cannot hold a mesh", where=str(path), got=Path(path).suffix, allowed=".obj")
    check_units(meters_per_unit, up_axis, str(path))
    write_bytes(path, format_obj(from_metres(mesh.rest, meters_per_unit, up_axis), mesh.faces))


def _samples(animation: Animation, frames: Vector, velocities: Array | None) -> Iterator[Sample]:
    for k, time in enumerate(animation.times):
        rates: Points = animation.velocity(time) if velocities is None else np.asarray(velocities[k])
        yield Sample(float(frames[k]), animation.points[k], rates)


def _peeked(samples: Iterator[Sample], where: str) -> tuple[Sample, Iterator[Sample]]:
    """The first sample, and all of them."""
    first = next(samples, None)
    if first is None:
        raise input_error("there are no frames to write", where=where, got=0, allowed="one or more")
    return first, chain([first], samples)


def _in_single_precision(samples: Iterator[Sample], mesh: TriMesh, layout: Layout, where: str) -> Iterator[Sample]:
    """The samples; refused where the file's float32 numbers could not hold them."""
    most = float(np.finfo(np.float32).max)

    def check(values: Array, what: str) -> None:
        largest = float(np.abs(values).max(initial=0.0))
        if not largest <= most:
            raise input_error(
                f"{what} too large for the file's single precision", where=where, got=f"{largest:.3g}",
                allowed=f"up to {most:.3g}", remedy="a larger meters_per_unit",
            )  # fmt: skip

    check(layout.place(mesh.rest), "the rest shape is")
    for sample in samples:
        check(layout.place(sample.points), f"frame {sample.frame:g}: coordinates are")
        if sample.velocities is not None:
            check(layout.turn(sample.velocities), f"frame {sample.frame:g}: velocities are")
        yield sample


def _origin(origin: ArrayLike | None, first: Sample, where: str) -> Vector:
    if origin is None:
        return local_origin(first.points)
    given = np.array(origin, dtype=np.float64)
    if given.shape != (3,) or not np.isfinite(given).all():
        raise input_error("origin must be three finite numbers", where=where, got=given.tolist())
    return given


def _optional(frames: ArrayLike | None) -> Vector | None:
    return None if frames is None else np.asarray(frames, dtype=np.float64)


def _write_usd(target: Path, mesh: TriMesh, samples: Iterator[Sample], layout: Layout, prim: str) -> None:
    from .usd import check_prim_path, write_usd

    check_prim_path(prim)
    with atomic_write(target) as temporary:
        write_usd(temporary, mesh, with_velocities(samples, mesh, layout.rate), layout, prim)


def _write_pc2(target: Path, mesh: TriMesh, samples: Iterator[Sample], layout: Layout) -> None:
    with atomic_files(target.parent) as folder:
        write_pc2_body(folder / target.name, mesh, samples, layout, str(target))
        rest = format_obj(layout.place(mesh.rest), mesh.faces)
        (folder / target.with_suffix(".obj").name).write_bytes(rest)


def _write_sequence(pattern: Path, mesh: TriMesh, samples: Iterator[Sample], layout: Layout, *, create: bool) -> None:
    with atomic_files(pattern.parent, create=create) as folder:
        for sample in samples:
            text = format_obj(layout.place(sample.points), mesh.faces)
            (folder / frame_name(pattern, sample.frame)).write_bytes(text)
