"""Writing USD: a stage of its own, or a layer over the guide's stage that moves its prim or stands one beside it."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt

from bunraku.contracts import Array, Points, Vector, input_error, need
from bunraku.geometry import Scope, Surface, SurfaceNormals
from bunraku.io.outgoing import Onto
from bunraku.io.sample import Layout, Sample, local_origin

from .carry import block_skinning, carry_prim, paint
from .stage import open_stage, os_error

_FLUSH_BYTES = 256 << 20  # samples held in memory before they go to the file
_PRIMVARS = "primvars:"
_OFFSET = "bunraku"  # suffix of the translation that keeps float32 points exact far from their origin


@dataclass(frozen=True, eq=False)
class _Space:
    """A prim's own coordinates: l with p = l R + T in the world, of the file's unit and axes."""

    layout: Layout
    world: Callable[[float], Array]
    """frame → (4, 4) of row vectors"""
    span: tuple[float, float]
    """first and last frame between which `world` changes"""
    offset: Vector
    """(3,) of the prim's last translation, which is not part of `world`"""

    def local(self, x: Points, frame: float) -> Points:
        """(n, 3) of points [m]."""
        matrix = self.world(frame)
        return np.linalg.solve(matrix[:3, :3].T, (self.layout.turn(x) - matrix[3, :3]).T).T - self.offset

    def scale(self, frame: float) -> float:
        """By which a length [m] is a length of the prim's own coordinates."""
        larger = abs(float(np.linalg.det(self.world(frame)[:3, :3]))) ** (1.0 / 3.0)
        return 1.0 / (self.layout.meters_per_unit * larger)

    def rates(self, x: Points, velocity: Points, frame: float) -> Points:
        """(n, 3) [units/s] of velocities [m/s]: what is left of them in a frame that may move itself."""
        matrix, wanted = self.world(frame), self.layout.turn(velocity)
        first, last = max(frame - 0.5, self.span[0]), min(frame + 0.5, self.span[1])
        if first < last:  # one-sided at the ends, beyond which the transforms are held
            slope = (self.world(last) - self.world(first)) / (last - first) * self.layout.rate
            wanted = wanted - slope[3, :3] - (self.local(x, frame) + self.offset) @ slope[:3, :3]
        return np.asarray(np.linalg.solve(matrix[:3, :3].T, wanted.T).T, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Canvas:
    """The prim that is written to."""

    shape: UsdGeom.Mesh
    space: _Space
    normals: SurfaceNormals | None
    """None where the mesh is a subdivision surface, whose normals follow from it"""


def write_usd(
    target: Path,
    surface: Surface,
    samples: Iterable[Sample],
    layout: Layout,
    prim: str,
    onto: Onto | None = None,
    clips: tuple[Path, str] | None = None,
) -> None:
    """Write samples that carry velocities to the file `target`, in the order given; needs one at least.

    Points are float32 about `layout.origin`, which becomes the prim's double-precision translation. Samples go
    to the file in portions, so a long take need not fit in memory; with `clips` (folder, its name as seen from the
    file) each frame is a file of its own there, a value clip. Equal input gives equal bytes.
    """
    try:
        layer = Sdf.Layer.CreateNew(str(target))
        stream = iter(samples)
        first = next(stream)
        if onto is None:
            stage = Usd.Stage.Open(layer)
            canvas = _alone(stage, surface, layout, prim)
        else:
            stage, canvas = _over(layer, target, surface, layout, onto, first)
        every = chain([first], stream)
        last = _set_samples(layer, canvas, every) if clips is None else _set_clips(canvas, every, *clips)
        if onto is None:
            stage.SetStartTimeCode(first.frame)
            stage.SetEndTimeCode(last)
        layer.Save()
    except Tf.ErrorException as error:
        raise os_error(error) from error


def check_prim_path(prim: str) -> None:
    """Refuse what USD cannot take as the path of a prim."""
    need(str, "prim", prim)
    if not (Sdf.Path.IsValidPathString(prim) and Sdf.Path(prim).IsAbsoluteRootOrPrimPath() and prim != "/"):
        raise input_error(
            "is not a prim path", where="prim", got=prim,
            allowed="an absolute path of letters, digits and '_' such as '/bunraku/shell'",
            remedy=repr("/" + Tf.MakeValidIdentifier(prim.strip("/") or "shell")),
        )  # fmt: skip


# A stage of its own


def _alone(stage: Usd.Stage, surface: Surface, layout: Layout, prim: str) -> _Canvas:
    """The stage's metadata, the prim, and all of it that does not move."""
    set_stage(stage, layout)
    path = Sdf.Path(prim)
    for parent in path.GetPrefixes()[:-1]:
        UsdGeom.Xform.Define(stage, parent)
    shape = UsdGeom.Mesh.Define(stage, path)
    stage.SetDefaultPrim(stage.GetPrimAtPath(path.GetPrefixes()[0]))
    if surface.left_handed:
        shape.CreateOrientationAttr(UsdGeom.Tokens.leftHanded)
    _set_polygons(shape, surface)
    paint(shape, surface)
    matrix = np.eye(4)
    matrix[3, :3] = layout.turn(layout.origin)
    if layout.origin.any():
        shape.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*matrix[3, :3].tolist()))
    space = _Space(layout, lambda frame: matrix, (0.0, 0.0), np.zeros(3))
    set_rest(shape, space.local(surface.points, 0.0))
    return _Canvas(shape, space, SurfaceNormals.of(surface))


def set_stage(stage: Usd.Stage, layout: Layout) -> None:
    """Unit, axis and rate of a stage."""
    UsdGeom.SetStageUpAxis(stage, layout.up_axis)
    UsdGeom.SetStageMetersPerUnit(stage, layout.meters_per_unit)
    stage.SetTimeCodesPerSecond(layout.rate)
    stage.SetFramesPerSecond(layout.rate)


def _set_polygons(shape: UsdGeom.Mesh, surface: Surface) -> None:
    shape.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    shape.CreateFaceVertexCountsAttr(_vt_integers(surface.counts))
    shape.CreateFaceVertexIndicesAttr(_vt_integers(surface.corners))


def set_rest(shape: UsdGeom.PointBased, local: Points) -> None:
    """The rest shape (n, 3), in the prim's own coordinates."""
    # The rest shape may lie far from the moving one, so it is kept in double precision.
    rest = UsdGeom.PrimvarsAPI(shape).CreatePrimvar("rest", Sdf.ValueTypeNames.Point3dArray, UsdGeom.Tokens.vertex)
    rest.Set(Vt.Vec3dArray.FromNumpy(np.ascontiguousarray(local)))


# A layer over the guide's stage


def _over(
    layer: Sdf.Layer, target: Path, surface: Surface, layout: Layout, onto: Onto, first: Sample
) -> tuple[Usd.Stage, _Canvas]:
    """A layer whose sublayer is the guide's file; its stage, and the prim in it that holds the result."""
    guide = _guide_stage(onto)
    layer.subLayerPaths = [_relative(onto.file, target.parent)]
    stage = Usd.Stage.Open(layer)
    set_stage(stage, layout)
    stage.SetTimeCodesPerSecond(guide.GetTimeCodesPerSecond())  # another rate would stretch the guide's own time
    stage.SetFramesPerSecond(guide.GetFramesPerSecond())
    if guide.HasAuthoredTimeCodeRange():
        stage.SetStartTimeCode(guide.GetStartTimeCode())
        stage.SetEndTimeCode(guide.GetEndTimeCode())
    if onto.refinement is not None and str(guide.GetDefaultPrim().GetPath()) == onto.prim:
        layer.defaultPrim = Sdf.Path(onto.result).name  # who refers to this layer wants the result
    elif guide.GetDefaultPrim():
        layer.defaultPrim = guide.GetRootLayer().defaultPrim
    _open_instances(stage, onto.prim)
    source = UsdGeom.Mesh(guide.GetPrimAtPath(onto.prim))
    if onto.refinement is None:
        shape = UsdGeom.Mesh(stage.OverridePrim(onto.prim))
        block_skinning(shape.GetPrim())
        if shape.GetAccelerationsAttr().HasAuthoredValue():  # the guide's, which would bend the blur of ours
            shape.GetAccelerationsAttr().Block()
    else:
        shape = _beside(stage, surface, onto)
    space = _space_of(guide, source, layout)
    space = replace(space, offset=_far_offset(shape, space.local(first.points, first.frame)))
    _set_over_rest(shape, source, space, surface, onto)
    return stage, _Canvas(shape, space, _normals(shape, surface))


def _relative(file: Path, folder: Path) -> str:
    """The guide's path as written in the layer: relative, so that a project can move as a whole."""
    try:
        path = os.path.relpath(file.resolve(), folder.resolve())
    except ValueError:  # another drive
        return file.resolve().as_posix()
    return path.replace(os.sep, "/") if path.startswith("..") else "./" + path.replace(os.sep, "/")


def _open_instances(stage: Usd.Stage, prim: str) -> None:
    """Prims inside instances cannot be overridden: the instances above this one become copies of their own."""
    for path in Sdf.Path(prim).GetPrefixes():
        found = stage.GetPrimAtPath(path)
        if found and found.IsInstance():
            stage.OverridePrim(path).SetInstanceable(False)


def _beside(stage: Usd.Stage, surface: Surface, onto: Onto) -> UsdGeom.Mesh:
    """A new prim beside the guide's with everything the guide's carries; the guide's becomes purpose `guide`."""
    assert onto.refinement is not None
    shape = UsdGeom.Mesh.Define(stage, onto.result)
    carry_prim(stage.GetPrimAtPath(onto.prim), shape.GetPrim(), onto.refinement)
    block_skinning(shape.GetPrim())
    _set_polygons(shape, surface)
    UsdGeom.Imageable(stage.OverridePrim(onto.prim)).CreatePurposeAttr(UsdGeom.Tokens.guide)
    return shape


def _space_of(guide: Usd.Stage, source: UsdGeom.Mesh, layout: Layout) -> _Space:
    samples: set[float] = set()
    prim = source.GetPrim()
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(UsdGeom.Xformable):
            samples.update(UsdGeom.Xformable(prim).GetTimeSamples())
        prim = prim.GetParent()

    def world(frame: float, _alive: Usd.Stage = guide) -> Array:  # a prim does not keep its stage
        return np.array(source.ComputeLocalToWorldTransform(Usd.TimeCode(frame)))

    span = (min(samples), max(samples)) if samples else (0.0, 0.0)
    return _Space(layout, world, span, np.zeros(3))


def _far_offset(shape: UsdGeom.Mesh, local: Points) -> Vector:
    """(3,) zero, or the translation put on the prim because its points lie far from its own origin."""
    offset = local_origin(local)
    if offset.any():
        shape.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble, _OFFSET).Set(Gf.Vec3d(*offset.tolist()))
    return offset


def _set_over_rest(shape: UsdGeom.Mesh, source: UsdGeom.Mesh, space: _Space, surface: Surface, onto: Onto) -> None:
    """The rest shape, where the prim would not say it by itself."""
    earliest = Usd.TimeCode.EarliestTime()
    frame = float((source.GetPointsAttr().GetTimeSamples() or [0.0])[0])
    local = space.local(surface.points, frame)
    own = source.GetPointsAttr().Get() or source.GetPointsAttr().Get(earliest)
    same = onto.refinement is None and own is not None and len(own) == len(local)
    near = 1e-6 * float(np.ptp(local, axis=0).max())
    if onto.refinement is not None:
        set_rest(shape, local)
    elif not (same and not space.offset.any() and np.allclose(np.asarray(own), local, atol=near)):
        shape.GetPointsAttr().Set(vt_vectors(local))


def _normals(shape: UsdGeom.Mesh, surface: Surface) -> SurfaceNormals | None:
    """How the result's normals are shared; None for a subdivision surface. What the guide says of them is blocked."""
    if shape.GetSubdivisionSchemeAttr().Get() != UsdGeom.Tokens.none:
        return None
    for name in ("primvars:normals", "primvars:normals:indices"):
        if shape.GetPrim().HasAttribute(name):
            shape.GetPrim().GetAttribute(name).Block()
    own = shape.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded
    return SurfaceNormals.of(replace(surface, left_handed=own))


def _guide_stage(onto: Onto) -> Usd.Stage:
    """The stage to lie over, refused where its prim has gone since it was read."""
    guide = open_stage(onto.file)
    if not guide.GetPrimAtPath(onto.prim):
        raise input_error(
            "the guide has changed: it has no such prim any more", where=str(onto.file), got=onto.prim,
            remedy="read it again",
        )  # fmt: skip
    return guide


def check_place(onto: Onto, frames: Vector) -> None:
    """Refuse a prim that a transform flattens on one of the frames: no point of it could be put anywhere."""
    guide = _guide_stage(onto)
    source = UsdGeom.Mesh(guide.GetPrimAtPath(onto.prim))
    for frame in frames.tolist():
        matrix = np.array(source.ComputeLocalToWorldTransform(Usd.TimeCode(frame)))[:3, :3]
        if not abs(np.linalg.det(matrix)) > 1e-12 * np.linalg.norm(matrix) ** 3:
            raise input_error(
                "the transforms above the prim flatten it, so a result cannot be written over it",
                where=f"{onto.file} <{onto.prim}>, frame {frame:g}", got=f"determinant {np.linalg.det(matrix):.3g}",
                remedy="scale it by something other than zero",
            )  # fmt: skip


# Samples


def _set_samples(layer: Sdf.Layer, canvas: _Canvas, samples: Iterator[Sample]) -> float:
    """Author the frames in the file itself; the last one's number."""
    pending, last = 0, 0.0
    for sample in samples:
        values = _values(canvas, sample)
        _author(canvas.shape, values, sample.frame)
        pending, last = pending + 12 * sum(map(len, values.values())), sample.frame
        if pending > _FLUSH_BYTES:
            layer.Save()
            pending = 0
    return last


def _set_clips(canvas: _Canvas, samples: Iterator[Sample], folder: Path, name: str) -> float:
    """Author each frame in a file of its own in `folder`, where the prim finds it; the last one's number.

    Each file holds the next frame too, so that there is something to interpolate to.
    """
    path, frames, files = canvas.shape.GetPath(), [], []
    before: Usd.Stage | None = None
    values: dict[str, Any] = {}
    for sample in samples:
        values = _values(canvas, sample)
        if before is not None:
            _author(UsdGeom.Mesh(before.GetPrimAtPath(path)), values, sample.frame)
            before.GetRootLayer().Save()
        frames.append(sample.frame)
        files.append(f"frame.{len(frames):06d}.usdc")
        clip = Usd.Stage.CreateNew(str(folder / files[-1]))
        _author(UsdGeom.Mesh(clip.OverridePrim(path)), values, sample.frame)
        before = clip
    assert before is not None
    before.GetRootLayer().Save()
    manifest = Usd.Stage.CreateNew(str(folder / "manifest.usdc"))
    declared = UsdGeom.Mesh(manifest.OverridePrim(path))
    for attribute in (declared.CreatePointsAttr, declared.CreateNormalsAttr, declared.CreateVelocitiesAttr,
                      declared.CreateExtentAttr):  # fmt: skip
        attribute()
    for one in (name for name in values if name.startswith(_PRIMVARS)):  # no schema has them: the prim must, too
        _primvar(declared, one, values[one])
        _primvar(canvas.shape, one, values[one])
    manifest.GetRootLayer().Save()
    # All at once: the stage would look for the files, which are not yet where they belong.
    Usd.ClipsAPI(canvas.shape.GetPrim()).SetClips({"default": {
        "primPath": str(path), "manifestAssetPath": Sdf.AssetPath(f"./{name}/manifest.usdc"),
        "assetPaths": Sdf.AssetPathArray([Sdf.AssetPath(f"./{name}/{file}") for file in files]),
        "active": Vt.Vec2dArray([(frame, k) for k, frame in enumerate(frames)]),
        "times": Vt.Vec2dArray([(frame, frame) for frame in frames]),
    }})  # fmt: skip
    return frames[-1]


def _values(canvas: _Canvas, sample: Sample) -> dict[str, Any]:
    """Attribute → its value on a frame; primvars by their names with "primvars:" before."""
    local = canvas.space.local(sample.points, sample.frame)
    points = local.astype(np.float32)
    still = np.zeros_like(sample.points)
    velocities = canvas.space.rates(sample.points, still if sample.velocities is None else sample.velocities,
                                    sample.frame)  # fmt: skip
    out = {"points": points, "velocities": velocities, "extent": np.stack([points.min(axis=0), points.max(axis=0)])}
    if canvas.normals is not None:
        found = canvas.normals.at(local)
        out["normals"] = np.asarray(found.flat(), dtype=np.float64)
        kind = UsdGeom.Tokens.vertex if found.scope is Scope.POINT else UsdGeom.Tokens.faceVarying
        if canvas.shape.GetNormalsInterpolation() != kind:
            canvas.shape.SetNormalsInterpolation(kind)
    own = canvas.space.scale(sample.frame)
    told = {name: own * value for name, value in sample.lengths.items()} | dict(sample.said)
    primvars = {
        f"{_PRIMVARS}{name}": _vt_floats(value) if value.ndim == 1 else vt_vectors(value)
        for name, value in told.items()
    }
    return {name: vt_vectors(value) for name, value in out.items()} | primvars


def _author(shape: UsdGeom.Mesh, values: dict[str, Any], frame: float) -> None:
    attributes = {
        "points": shape.CreatePointsAttr, "velocities": shape.CreateVelocitiesAttr, "extent": shape.CreateExtentAttr,
        "normals": shape.CreateNormalsAttr,
    }  # fmt: skip
    for name, value in values.items():
        made = attributes[name]() if name in attributes else _primvar(shape, name, value)
        made.Set(value, Usd.TimeCode(frame))


def _primvar(shape: UsdGeom.Mesh, name: str, value: Any) -> Any:
    """A number or a colour a point, under a name with "primvars:" before."""
    of = UsdGeom.PrimvarsAPI(shape)
    kinds = Sdf.ValueTypeNames
    kind = kinds.FloatArray if isinstance(value, Vt.FloatArray) else kinds.Color3fArray
    return of.CreatePrimvar(name.removeprefix(_PRIMVARS), kind, UsdGeom.Tokens.vertex).GetAttr()


def vt_vectors(x: NDArray[np.floating]) -> Vt.Vec3fArray:
    """(n, 3) as USD holds them, in single precision."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(x, dtype=np.float32))


def _vt_floats(values: Vector) -> Vt.FloatArray:
    return Vt.FloatArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float32))


def _vt_integers(values: NDArray[np.integer]) -> Vt.IntArray:
    return Vt.IntArray.FromNumpy(np.ascontiguousarray(values, dtype=np.int32))
