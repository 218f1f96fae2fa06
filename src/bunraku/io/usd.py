"""USD: mesh prims with time samples, and back. The only file that imports `pxr`."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import difflib
import errno
import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdUtils, Vt

from bunraku.contracts import Array, Faces, InputError, Integers, Points, Vector, input_error
from bunraku.geometry import TriMesh, first_few, vertex_normals

from .clip import Recording, named
from .polygons import triangulate
from .sample import Layout, Sample

_log = logging.getLogger(__name__)

_REST_PRIMVARS = ("rest", "Pref", "restPosition")
_SAME_FRAME = 1e-6  # samples of points and of transforms closer than this are one frame
_FLUSH_BYTES = 256 << 20  # samples held in memory before they go to the file


# Reading


def read_usd(path: Path, prim: str | None = None, limit: int | None = None) -> Recording:
    """The recording of a file's only mesh, or the one at, under or ending in `prim`; `limit` samples."""
    stage = _open(path)
    try:
        return _record(stage, path, prim, limit)
    except Tf.ErrorException as error:
        raise _unreadable(path, error) from None


def used_files(path: Path) -> list[Path]:
    """The file and every layer it refers to."""
    stage = _open(path)
    real = {Path(layer.realPath) for layer in stage.GetUsedLayers() if layer.realPath}
    return sorted(real | {path.resolve()})


def _record(stage: Usd.Stage, path: Path, prim: str | None, limit: int | None) -> Recording:
    found = _find(stage, path, prim)
    mesh = UsdGeom.Mesh(found)
    where = named(path, str(found.GetPath()))
    times = _sample_times(mesh)[:limit] or [None]
    points = _moving_points(mesh, times, where)
    first, world = _points(mesh, times[0], where), _world(mesh, times[0])
    faces = _faces(mesh, len(first), where)
    mirrored = np.linalg.det(world[:3, :3]) < 0
    faces = faces[:, [0, 2, 1]] if mirrored != _left_handed(mesh) else faces
    rest = _transformed(_rest(mesh, first, where), world)
    start = stage.GetStartTimeCode() if stage.HasAuthoredTimeCodeRange() else 0.0
    frames = np.array([start if time is None else time for time in times])
    _warn_of_unit(stage, path)
    return Recording(
        path, str(found.GetPath()), faces, rest, frames, points, stage.GetTimeCodesPerSecond(),
        UsdGeom.GetStageMetersPerUnit(stage), str(UsdGeom.GetStageUpAxis(stage)),
    )  # fmt: skip


def _open(path: Path) -> Usd.Stage:
    try:
        stage = Usd.Stage.Open(str(path))
        # USD keeps open files in memory: take what has changed on disk, but no one's unsaved edits.
        Sdf.Layer.ReloadLayers({layer for layer in stage.GetUsedLayers() if not layer.dirty})
    except Tf.ErrorException as error:
        raise _unreadable(path, error) from None
    return stage


def _unreadable(path: Path, error: Tf.ErrorException) -> InputError:
    remedy = "open it in usdview or re-export it"
    return input_error("cannot be read as USD", where=str(path), got=_reason(error), remedy=remedy)


def _find(stage: Usd.Stage, path: Path, name: str | None) -> Usd.Prim:
    """The mesh prim meant: the only one, or the one at, under or ending in `name`."""
    everything = Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies())
    meshes = {str(prim.GetPath()): prim for prim in everything if prim.IsA(UsdGeom.Mesh)}
    if not meshes:
        raise input_error("holds no mesh", where=str(path), got=_contents(stage, path), remedy="export a mesh prim")
    if name is None:
        fits = list(meshes)
    else:
        tail = "/" + name.strip("/")
        fits = [one for one in meshes if one == tail] or [one for one in meshes if one.startswith(tail + "/")]
        fits = fits or [one for one in meshes if one.endswith(tail)]
    if len(fits) == 1:
        return meshes[fits[0]]
    names = fits or list(meshes)
    listing = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    if fits:
        raise input_error("holds several meshes", where=str(path), got=listing, remedy=f"name one: prim={fits[0]!r}")
    raise input_error("has no such mesh", where=str(path), got=name, allowed=listing, remedy=_nearest(name, meshes))


def _nearest(name: str | None, meshes: Iterable[str]) -> str:
    """'did you mean …?' by the whole path or its last word."""
    by_word = {one.rsplit("/", 1)[1].lower(): one for one in meshes} | {one.lower(): one for one in meshes}
    asked = str(name).lower()
    near = difflib.get_close_matches(asked, by_word, n=1) or difflib.get_close_matches(
        asked.rsplit("/", 1)[-1], by_word, n=1
    )
    return f"did you mean {by_word[near[0]]!r}?" if near else "name one of them"


def _contents(stage: Usd.Stage, path: Path) -> str:
    """What is in a file without meshes: its prims' types, and files it refers to that are missing."""
    kinds = sorted({str(prim.GetTypeName()) for prim in stage.Traverse()} - {""})
    _, _, unresolved = UsdUtils.ComputeAllDependencies(str(path))
    lost = f"; missing files: {', '.join(sorted(map(str, unresolved)))}" if unresolved else ""
    return (", ".join(kinds) or "an empty stage") + lost


def _sample_times(mesh: UsdGeom.Mesh) -> list[float | None]:
    """Time codes at which the points or a transform above them are sampled; [] for a still mesh."""
    times = np.array(mesh.GetPointsAttr().GetTimeSamples(), dtype=np.float64)
    for prim in _movers(mesh.GetPrim()):
        more = np.array(UsdGeom.Xformable(prim).GetTimeSamples(), dtype=np.float64)
        times = np.union1d(times, more[_distance(more, times) > _SAME_FRAME])
    return times.tolist()


def _distance(values: Vector, to: Vector) -> Vector:
    """(m,) distance of each value to the nearest of `to` (sorted)."""
    bounded = np.concatenate([[-np.inf], to, [np.inf]])
    after = np.searchsorted(to, values) + 1
    return np.minimum(values - bounded[after - 1], bounded[after] - values)


def _movers(prim: Usd.Prim) -> list[Usd.Prim]:
    """The prim and its ancestors, up to one that ignores the transforms above it."""
    chain: list[Usd.Prim] = []
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(UsdGeom.Xformable):
            chain.append(prim)
            if UsdGeom.Xformable(prim).GetResetXformStack():
                break
        prim = prim.GetParent()
    return chain


def _moving_points(mesh: UsdGeom.Mesh, times: Sequence[float | None], where: str) -> Array:
    """(t, n, 3) world points at the time codes; refused by frame where their number changes."""
    count = len(_points(mesh, times[0], where))
    points = np.empty((len(times), count, 3))
    for k, time in enumerate(times):
        local = _points(mesh, time, where)
        if len(local) != count:
            raise _topology_change(where, time, f"{len(local)} points", f"{count}", times[0])
        points[k] = _transformed(local, _world(mesh, time))
    return points


def _code(time: float | None) -> Usd.TimeCode:
    return Usd.TimeCode.Default() if time is None else Usd.TimeCode(time)


def _points(mesh: UsdGeom.Mesh, time: float | None, where: str) -> Points:
    """(n, 3) local points at a time code; None: at the default time."""
    value = mesh.GetPointsAttr().Get(_code(time))
    if value is None or len(value) == 0:
        when = "" if time is None else f", frame {time:g}"
        raise input_error("the mesh has no points", where=where + when, got="none", remedy="re-export the mesh")
    return np.asarray(value, dtype=np.float64)


def _world(mesh: UsdGeom.Mesh, time: float | None) -> Array:
    """(4, 4) local-to-world transform of row vectors."""
    return np.array(mesh.ComputeLocalToWorldTransform(_code(time)))


def _transformed(x: Points, matrix: Array) -> Points:
    with np.errstate(invalid="ignore", over="ignore"):  # infinite points are refused later, by frame
        return x @ matrix[:3, :3] + matrix[3, :3]


def _left_handed(mesh: UsdGeom.Mesh) -> bool:
    return mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded


def _faces(mesh: UsdGeom.Mesh, point_count: int, where: str) -> Faces:
    """(f, 3) triangles of the mesh as wound in the file; refused by frame where they change."""
    attributes = (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    counts, corners = (_integers(one, Usd.TimeCode.EarliestTime()) for one in attributes)
    for attribute, before in zip(attributes, (counts, corners), strict=True):
        times = attribute.GetTimeSamples()
        for time in times[1:]:
            now = _integers(attribute, Usd.TimeCode(time))
            if not np.array_equal(now, before):
                got = f"another {attribute.GetName()}, {len(now)} entries"
                raise _topology_change(where, time, got, f"{len(before)}", times[0])
    if len(counts) == 0:
        raise input_error("the mesh has no faces", where=where, got=f"{point_count} points", remedy="re-export it")
    thin = np.flatnonzero(counts < 3)
    if len(thin):
        raise input_error(
            "faces with fewer than three corners",
            where=f"{where}, faces {first_few(thin)}",
            got=counts[thin[0]],
        )
    if counts.sum() != len(corners):
        raise input_error(
            "faceVertexCounts and faceVertexIndices disagree", where=where, got=f"{len(corners)} indices",
            allowed=f"{counts.sum()}, the sum of the counts", remedy="re-export the mesh",
        )  # fmt: skip
    stray = corners[(corners < 0) | (corners >= point_count)]
    if len(stray):
        raise input_error(
            f"faces point outside the {point_count} points", where=where, got=int(stray[0]),
            allowed=f"0 to {point_count - 1}", remedy="re-export points and faces together",
        )  # fmt: skip
    return triangulate(counts, corners)


def _integers(attribute: Usd.Attribute, time: Usd.TimeCode) -> Integers:
    value = attribute.Get(time)
    return np.zeros(0, np.int64) if value is None else np.asarray(value, dtype=np.int64)


def _topology_change(where: str, frame: float | None, got: str, allowed: str, first: float | None) -> InputError:
    return input_error(
        f"the topology changes at frame {frame:g}", where=where, got=got,
        allowed=f"{allowed} as in frame {first:g}", remedy="export every frame with the same mesh",
    )  # fmt: skip


def _rest(mesh: UsdGeom.Mesh, first: Points, where: str) -> Points:
    """(n, 3) local rest points: those at the default time, else a rest primvar, else the first sample."""
    default = mesh.GetPointsAttr().Get(Usd.TimeCode.Default())
    if default is not None and len(default) == len(first):
        return np.asarray(default, dtype=np.float64)
    if default is not None and len(default):
        raise input_error(
            "the points at the default time are not those of the samples", where=where,
            got=f"{len(default)} points", allowed=f"{len(first)}", remedy="re-export the mesh",
        )  # fmt: skip
    primvars = UsdGeom.PrimvarsAPI(mesh)
    for name in filter(primvars.HasPrimvar, _REST_PRIMVARS):
        value = primvars.GetPrimvar(name).ComputeFlattened(Usd.TimeCode.EarliestTime())
        rest = np.asarray(value, dtype=np.float64)
        if rest.shape == first.shape:
            return rest
        _log.warning("%s: primvar %r has shape %s, not %s; left out", where, name, rest.shape, first.shape)
    return first


def _warn_of_unit(stage: Usd.Stage, path: Path) -> None:
    if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        _log.warning("%s does not say its unit (metersPerUnit); USD means centimetres then", path)


# Writing


def write_usd(target: Path, mesh: TriMesh, samples: Iterable[Sample], layout: Layout, prim: str) -> None:
    """Write samples that carry velocities to the file `target`, in the order given; needs one at least.

    Points are float32 about `layout.origin`, which is the prim's double-precision translation. Samples go
    to the file in portions, so a long take need not fit in memory. Equal input gives equal bytes.
    """
    try:
        layer = Sdf.Layer.CreateNew(str(target))
        stage = Usd.Stage.Open(layer)
        shape = _define(stage, mesh, layout, prim)
        pending, first, last = 0, None, 0.0
        for sample in samples:
            pending += _set_sample(shape, sample, mesh, layout)
            first, last = sample.frame if first is None else first, sample.frame
            if pending > _FLUSH_BYTES:
                layer.Save()
                pending = 0
        stage.SetStartTimeCode(first or 0.0)
        stage.SetEndTimeCode(last)
        layer.Save()
    except Tf.ErrorException as error:
        raise _os_error(error) from error


def check_prim_path(prim: str) -> None:
    """Refuse what USD cannot take as the path of a prim."""
    if not (Sdf.Path.IsValidPathString(prim) and Sdf.Path(prim).IsAbsoluteRootOrPrimPath() and prim != "/"):
        raise input_error(
            "is not a prim path", where="prim", got=prim,
            allowed="an absolute path of letters, digits and '_' such as '/bunraku/shell'",
            remedy=repr("/" + Tf.MakeValidIdentifier(prim.strip("/") or "shell")),
        )  # fmt: skip


def _define(stage: Usd.Stage, mesh: TriMesh, layout: Layout, prim: str) -> UsdGeom.Mesh:
    """The stage's metadata, the prim, and all of it that does not move."""
    UsdGeom.SetStageUpAxis(stage, layout.up_axis)
    UsdGeom.SetStageMetersPerUnit(stage, layout.meters_per_unit)
    stage.SetTimeCodesPerSecond(layout.rate)
    stage.SetFramesPerSecond(layout.rate)
    path = Sdf.Path(prim)
    for parent in path.GetPrefixes()[:-1]:
        UsdGeom.Xform.Define(stage, parent)
    shape = UsdGeom.Mesh.Define(stage, path)
    stage.SetDefaultPrim(stage.GetPrimAtPath(path.GetPrefixes()[0]))
    shape.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    shape.CreateFaceVertexCountsAttr(_vt_integers(np.full(len(mesh.faces), 3)))
    shape.CreateFaceVertexIndicesAttr(_vt_integers(mesh.faces.reshape(-1)))
    shape.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    if layout.origin.any():
        offset = layout.turn(layout.origin)
        shape.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*offset.tolist()))
    # The rest shape may lie far from the moving one, so it is kept in double precision.
    rest = UsdGeom.PrimvarsAPI(shape).CreatePrimvar("rest", Sdf.ValueTypeNames.Point3dArray, UsdGeom.Tokens.vertex)
    rest.Set(Vt.Vec3dArray.FromNumpy(np.ascontiguousarray(layout.place(mesh.rest))))
    return shape


def _set_sample(shape: UsdGeom.Mesh, sample: Sample, mesh: TriMesh, layout: Layout) -> int:
    """Author one frame; returns its size in bytes."""
    time = Usd.TimeCode(sample.frame)
    points = layout.place(sample.points).astype(np.float32)
    normals = layout.turn(vertex_normals(sample.points, mesh.faces)) * layout.meters_per_unit
    velocities = np.zeros_like(points) if sample.velocities is None else layout.turn(sample.velocities)
    extent = np.stack([points.min(axis=0), points.max(axis=0)])
    shape.GetPointsAttr().Set(_vt_vectors(points), time)
    shape.GetNormalsAttr().Set(_vt_vectors(normals), time)
    shape.GetVelocitiesAttr().Set(_vt_vectors(velocities), time)
    shape.GetExtentAttr().Set(_vt_vectors(extent), time)
    return 3 * points.nbytes


def _vt_vectors(x: NDArray[np.floating]) -> Vt.Vec3fArray:
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(x, dtype=np.float32))


def _vt_integers(values: Integers | Vector) -> Vt.IntArray:
    return Vt.IntArray.FromNumpy(np.ascontiguousarray(values, dtype=np.int32))


def _os_error(error: Tf.ErrorException) -> OSError:
    """The system's error behind one of USD's, found by its text."""
    text = str(error)
    codes = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT)
    code = next((code for code in codes if os.strerror(code) in text), 0)
    return OSError(code, os.strerror(code) if code else _reason(error))


def _reason(error: Tf.ErrorException) -> str:
    """The message in the first line of a USD error, without its place in USD's source."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0].split(" : ", 1)[-1].strip().strip("'")[:200] if lines else "unknown error"
