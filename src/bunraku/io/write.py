"""Writing: meshes, animations and tetrahedra in every format that can hold them. Whole files or none."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.contracts import Array, Points, Vector, input_error, need, numbers, path_of
from bunraku.geometry import NORMALS, Scope, Surface, SurfaceNormals, TetMesh, TriMesh, subdivide, without_normals
from bunraku.motion import Animation

from .atomic import atomic_files, atomic_write, write_bytes
from .axes import check_units, length_of
from .body_files import write_body, write_body_motion
from .clip import Clip, check_rate
from .files import same_file
from .mdd import write_mdd_body
from .obj import ObjText, format_obj
from .off import format_off
from .outgoing import Onto, Outgoing
from .pc2 import write_pc2_body
from .ply import format_ply
from .read import input_files
from .sample import Layout, Sample, checked, local_origin, with_shutter, with_velocities
from .sequence import frame_name, is_pattern
from .stl import format_stl
from .timeline import timeline
from .winding import outward

_USD = (".usd", ".usda", ".usdc")
_CACHES = {".pc2": write_pc2_body, ".mdd": write_mdd_body}
_MESHES: Mapping[str, Callable[[Surface], bytes]] = {
    ".obj": format_obj, ".ply": format_ply, ".off": format_off, ".stl": format_stl,
}  # fmt: skip
_ALLOWED = (
    ".usd, .usda, .usdc, .pc2, .mdd, .glb, name.####.obj (or .ply, .off, .stl), or a folder for numbered OBJ files"
)


def write_animation(
    path: str | Path,
    animation: Animation[Any],
    *,
    like: Clip | None = None,
    frames: ArrayLike | None = None,
    rate: float | None = None,
    origin: ArrayLike | None = None,
    prim: str = "/bunraku/shell",
    up_axis: str | None = None,
    unit: str | float | None = None,
    velocities: Array | None = None,
) -> None:
    """Write an animation: USD, PC2, MDD or GLB by its suffix, or a numbered sequence (`name.####.obj` or a folder).

    One sample a time. `frames` (t,) are their numbers, `rate` the frames per second; what is not given
    follows from `animation.times`. `velocities` (t, n, 3) [m/s]: the animation's own where not given.
    `like` is the clip the animation was made from: what is written has its points, polygons, texture coordinates,
    names, unit, axis and rate; where it is USD, a layer over it. For the rest see `write_frames`. The motion of a body
    (its mesh a `TetMesh`) is a TetMesh prim in USD; other formats get its surface.
    """
    target = path_of(path)
    need(Animation, "animation", animation)
    if like is not None:
        need(Clip, "like", like, remedy="like=bk.read_clip(…)")
    if not str(path):
        raise input_error("the name of the file to write is empty", allowed=_ALLOWED)
    rate = like.rate if rate is None and like is not None else rate
    numbers, rate = timeline(animation.times, _optional("frames", frames), rate, str(path))
    velocities = _optional("velocities", velocities)
    if velocities is not None and velocities.shape != animation.points.shape:
        raise input_error(
            "velocities must have the shape of the points", where=str(path), got=velocities.shape,
            allowed=str(animation.points.shape),
        )  # fmt: skip
    given: TriMesh | TetMesh = animation.mesh
    body = given if isinstance(given, TetMesh) else None
    mesh = TriMesh(given.rest, given.surface_faces) if isinstance(given, TetMesh) else given
    shape = Surface.of(mesh)
    bare = (Sample(float(k), x) for k, x in zip(numbers, animation.points, strict=True))
    deque(checked(bare, shape, str(path)), maxlen=0)  # before velocities spread what is not finite
    stream = _samples(animation, numbers, velocities)
    if body is not None:
        placed = Layout(rate, np.zeros(3), up_axis or "Y", length_of(1.0 if unit is None else unit, str(path)))
        _write_body_motion(target, body, stream, placed, _optional("origin", origin), prim, like)
        return
    if like is None:
        write_frames(
            path, mesh, stream, rate=rate, origin=origin, prim=prim, up_axis=up_axis or "Y",
            unit=1.0 if unit is None else unit,
        )  # fmt: skip
        return
    going = Outgoing.of(like, _levels(like.mesh, mesh, str(path)))
    _refuse_inputs(target, numbers, like)
    write_frames(
        path, going.surface, (going.sample(one.frame, one.points, one.velocities) for one in stream), rate=rate,
        origin=origin, prim=prim, up_axis=up_axis or like.up_axis, unit=like.meters_per_unit if unit is None else unit,
        onto=going.onto,
    )  # fmt: skip


def _write_body_motion(
    target: Path, body: TetMesh, samples: Iterator[Sample], layout: Layout, origin: Vector | None, prim: str,
    like: Clip | None,
) -> None:  # fmt: skip
    """A body's motion: all of it in USD, elsewhere that of its surface."""
    if like is not None:
        raise input_error(
            "a body's motion has no points of the clip it should be written like", where=str(target),
            remedy="the take's surface, which has them, or leave `like` out",
        )  # fmt: skip
    if target.suffix.lower() not in _USD:
        own = body.surface_vertices
        outer = (
            Sample(one.frame, one.points[own], None if one.velocities is None else one.velocities[own])
            for one in samples
        )
        write_frames(
            target, body.surface(), outer, rate=layout.rate, origin=origin, prim=prim, up_axis=layout.up_axis,
            unit=layout.meters_per_unit,
        )  # fmt: skip
        return
    check_rate(layout.rate, str(target))
    first, stream = _peeked(samples, str(target))
    layout = replace(layout, origin=_origin(origin, first, str(target)))
    place = "/bunraku/body" if prim == "/bunraku/shell" else prim
    every = _in_single_precision(stream, Surface.of(TriMesh(body.rest, body.surface_faces)), layout, str(target))
    write_body_motion(target, body, every, layout, place)


def write_frames(
    path: str | Path,
    shape: Surface | TriMesh,
    samples: Iterable[Sample],
    *,
    rate: float,
    origin: ArrayLike | None = None,
    prim: str = "/bunraku/shell",
    up_axis: str = "Y",
    unit: str | float = 1.0,
    onto: Onto | None = None,
    shutter: tuple[float, float] | None = None,
    clips: bool = False,
) -> None:
    """Write samples as they come, so that a long take need not be in memory; `shape` has polygons and rest shape.

    USD: a time sample of points, normals, velocities [units/s] and extent a frame, the rest shape as primvar
    `rest`. Points are float32 about `origin` (3,) [m], which becomes the prim's double-precision translation;
    None takes the world's origin, or the first frame's centre where that lies far away. With `onto` the file is a
    layer over another stage: its prim moved, or with another topology a prim beside it. `shutter` (open, close)
    [frames] adds samples about each frame; `clips` puts each of USD's samples in a file of its own (value clips, in
    the folder `<name>_clips`). The same input gives the same bytes. On any failure nothing appears at
    `path`, and what stood there stays.
    """
    if not str(path):
        raise input_error("the name of the file to write is empty", allowed=_ALLOWED)
    target = path_of(path)
    where, suffix = str(target), target.suffix.lower()
    surface = shape if isinstance(shape, Surface) else Surface.of(shape)
    check_rate(rate, where)
    check_units(length_of(unit, where), up_axis, where)
    first, stream = _peeked(checked(samples, surface, where), where)
    about = np.zeros(3) if suffix not in (*_USD, ".glb") else _origin(origin, first, where)
    layout = Layout(float(rate), about, up_axis, length_of(unit, where))
    if shutter is not None:
        stream = with_shutter(with_velocities(stream, layout.rate), shutter, layout.rate)
    if suffix in (*_USD, *_CACHES, ".glb"):
        stream = _in_single_precision(stream, surface, layout, where)
    if suffix not in _USD:
        surface = outward(surface)
    if suffix in _USD:
        _write_usd(target, surface, stream, layout, prim, onto, clips)
    elif suffix in _CACHES:
        _write_cache(target, surface, stream, layout)
    elif suffix == ".glb":
        _write_glb(target, surface, stream, layout)
    elif suffix in _MESHES and is_pattern(target):
        _write_sequence(target, surface, stream, layout, create=False)
    elif target.suffix == "" or target.is_dir():
        _write_sequence(target / f"{target.absolute().name}.####.obj", surface, stream, layout, create=True)
    else:
        remedy = f"{target.stem}.####{suffix}" if suffix in _MESHES else f"{target.stem}.usdc"
        raise input_error("cannot hold an animation", where=where, got=target.suffix, allowed=_ALLOWED, remedy=remedy)


def write_mesh(
    path: str | Path, shape: Surface | TriMesh | TetMesh, *, up_axis: str = "Y", unit: str | float = 1.0
) -> None:
    """Write one shape: OBJ, PLY, OFF, STL, GLB or USD; tetrahedra as gmsh `.msh`, TetGen `.node`/`.ele` or USD."""
    target = path_of(path)
    need(Surface | TriMesh | TetMesh, "shape", shape)
    suffix, length = target.suffix.lower(), length_of(unit, str(path))
    check_units(length, up_axis, str(path))
    if isinstance(shape, TetMesh):
        write_body(target, shape, up_axis, length)
        return
    surface = shape if isinstance(shape, Surface) else Surface.of(shape)
    if not surface.point_count or not surface.polygon_count:
        raise input_error("there is nothing to write", where=str(path), got=surface.shape_in_words())
    if suffix in _MESHES and is_pattern(target):
        raise input_error("is a name for numbered files, and this is one mesh", where=str(path), remedy="a plain name")
    if suffix in (*_USD, ".glb"):
        still = Sample(0.0, surface.points, np.zeros_like(surface.points))
        write_frames(target, surface, [still], rate=24.0, up_axis=up_axis, unit=length, prim="/bunraku/mesh")
        return
    if suffix not in _MESHES:
        raise input_error(
            "cannot hold a mesh", where=str(path), got=target.suffix, allowed=", ".join([*_MESHES, ".glb", *_USD])
        )
    surface = outward(surface)
    write_bytes(target, _MESHES[suffix](_in_file(surface, surface.points, Layout(24.0, np.zeros(3), up_axis, length))))


def _levels(coarse: TriMesh, fine: TriMesh, where: str) -> int:
    """How often the clip's mesh was subdivided to become the animation's."""
    count = next((n for n in range(9) if len(coarse.faces) * 4**n == len(fine.faces)), None)
    if count is None or not np.array_equal(subdivide(coarse, count)[0].faces, fine.faces):
        raise input_error(
            "the animation's mesh is not that of `like`, nor a subdivision of it", where=where,
            got=f"{fine.point_count} vertices, {len(fine.faces)} faces",
            allowed=f"{coarse.point_count} vertices and {len(coarse.faces)} faces wired alike, or those subdivided",
        )  # fmt: skip
    return count


def _refuse_inputs(target: Path, numbers: Vector, like: Clip) -> None:
    """Refuse to write over a file the clip was read from."""
    written = [target, target.with_suffix(".obj")] if target.suffix.lower() in _CACHES else [target]
    if target.suffix.lower() in _MESHES and is_pattern(target):
        written = [target.with_name(frame_name(target, float(k))) for k in numbers]
    for file in input_files(like.path, faces=like.faces_path):
        for made in written:
            if same_file(file, made):
                raise input_error(
                    "would overwrite a file the clip was read from", where=str(made), remedy="another name or folder"
                )


def _samples(animation: Animation[Any], frames: Vector, velocities: Array | None) -> Iterator[Sample]:
    for k, time in enumerate(animation.times):
        rates: Points = animation.velocity(time) if velocities is None else np.asarray(velocities[k])
        yield Sample(float(frames[k]), animation.points[k], rates)


def _peeked(samples: Iterator[Sample], where: str) -> tuple[Sample, Iterator[Sample]]:
    """The first sample, and all of them."""
    first = next(samples, None)
    if first is None:
        raise input_error("there are no frames to write", where=where, got=0, allowed="one or more")
    return first, chain([first], samples)


def _in_single_precision(samples: Iterator[Sample], surface: Surface, layout: Layout, where: str) -> Iterator[Sample]:
    """The samples; refused where the file's float32 numbers could not hold them."""
    most = float(np.finfo(np.float32).max)

    def check(values: Array, what: str) -> None:
        largest = float(np.abs(values).max(initial=0.0))
        if not largest <= most:
            raise input_error(
                f"{what} too large for the file's single precision", where=where, got=f"{largest:.3g}",
                allowed=f"up to {most:.3g}", remedy="a larger unit",
            )  # fmt: skip

    check(layout.place(surface.points), "the rest shape is")
    for sample in samples:
        check(layout.place(sample.points), f"frame {sample.frame:g}: coordinates are")
        if sample.velocities is not None:
            check(layout.turn(sample.velocities), f"frame {sample.frame:g}: velocities are")
        yield sample


def _origin(origin: ArrayLike | None, first: Sample, where: str) -> Vector:
    if origin is None:
        return local_origin(first.points)
    given = numbers("origin", origin, where=where)
    if given.shape != (3,) or not np.isfinite(given).all():
        raise input_error("origin must be three finite numbers", where=where, got=given.tolist())
    return given


def _optional(name: str, given: ArrayLike | None) -> Array | None:
    return None if given is None else numbers(name, given)


def _write_usd(
    target: Path, surface: Surface, samples: Iterator[Sample], layout: Layout, prim: str, onto: Onto | None, clips: bool
) -> None:
    from .usd import check_prim_path, used_files, vouch, write_usd

    check_prim_path(prim)
    for file in [] if onto is None else used_files(onto.file):
        if same_file(file, target):
            raise input_error(
                "the layer would replace a file it lies over", where=str(target), remedy="another name or folder"
            )
    moving = with_velocities(samples, layout.rate)
    beside = target.with_name(f"{target.stem}_clips")
    made = [target]
    with atomic_write(target) as temporary:
        if not clips:
            write_usd(temporary, surface, moving, layout, prim, onto)
        else:
            with atomic_files(beside, create=True) as folder:
                write_usd(temporary, surface, moving, layout, prim, onto, (folder, beside.name))
            made += beside.glob("*.usdc")
    vouch(made)  # what this process wrote need not be tried before it is read back


def _write_cache(target: Path, surface: Surface, samples: Iterator[Sample], layout: Layout) -> None:
    """A cache, and beside it the rest shape as .obj of the same name, for Blender's Mesh Cache."""
    with atomic_files(target.parent) as folder:
        _CACHES[target.suffix.lower()](folder / target.name, surface, samples, layout, str(target))
        rest, beside = format_obj(_in_file(surface, surface.points, layout)), target.with_suffix(".obj")
        if beside.exists() and beside.read_bytes() != rest:
            raise input_error(
                "another mesh stands where the cache's rest shape goes, and it is not overwritten", where=str(beside),
                remedy=f"{target.stem}_moved{target.suffix}, or another folder",
            )  # fmt: skip
        (folder / beside.name).write_bytes(rest)


def _write_glb(target: Path, surface: Surface, samples: Iterator[Sample], layout: Layout) -> None:
    """glTF is metres and Y-up whatever the guide's file was, and begins at zero seconds."""
    from .gltf import format_glb

    every = list(samples)
    times = np.array([one.frame for one in every]) / layout.rate
    normals = SurfaceNormals.of(surface)
    if normals.scope is not Scope.POINT:  # a point can have one normal only: smooth, but moving with the shape
        normals = SurfaceNormals.of(without_normals(surface))
    lit = replace(
        without_normals(surface), attributes=(*without_normals(surface).attributes, normals.at(surface.points))
    )
    shades = (np.asarray(normals.at(one.points).values, dtype=np.float64) for one in every)
    data = format_glb(
        lit,
        np.stack([one.points for one in every]),
        times - times[0],
        target.stem,
        frames_normals=shades,
        origin=layout.origin,
    )
    write_bytes(target, data)


def _write_sequence(
    pattern: Path, surface: Surface, samples: Iterator[Sample], layout: Layout, *, create: bool
) -> None:
    suffix = pattern.suffix.lower()
    text = ObjText(surface) if suffix == ".obj" else None
    normals = SurfaceNormals.of(surface) if surface.attribute(NORMALS) is not None else None
    with atomic_files(pattern.parent, create=create) as folder:
        for sample in samples:
            name = frame_name(pattern, sample.frame)
            if text is not None:
                local = layout.place(sample.points)
                data = text.at(local, None if normals is None else normals.at(local))
            else:
                data = _MESHES[suffix](_in_file(surface, sample.points, layout, normals))
            (folder / name).write_bytes(data)


def _in_file(surface: Surface, points: Points, layout: Layout, normals: SurfaceNormals | None = None) -> Surface:
    """The surface with points (n, 3) [m] in the file's coordinates, and normals to match."""
    local = layout.place(points)
    if normals is None and surface.attribute(NORMALS) is not None:
        normals = SurfaceNormals.of(surface)
    others = tuple(one for one in surface.attributes if one.name != NORMALS)
    own = () if normals is None else (normals.at(local),)
    return replace(surface, points=local, attributes=(*others, *own))
