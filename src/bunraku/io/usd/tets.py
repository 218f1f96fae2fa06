"""Bodies of tetrahedra in USD: prims of type TetMesh, read and written, still and moving."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt

from bunraku.contracts import Array, Integers, Vector, input_error
from bunraku.geometry import TetMesh
from bunraku.io.clip import named
from bunraku.io.sample import Layout, Sample
from bunraku.io.tets import tet_mesh

from .attributes import numbers
from .read import PointShape, moving_points
from .stage import check_clips, find_mesh, open_stage, os_error, usd_session
from .write import set_rest, set_stage, vt_vectors


@dataclass(frozen=True, eq=False)
class BodyRecording:
    """What a USD file says of a body, in its own unit and axes."""

    body: TetMesh
    """without points of no tetrahedron"""
    frames: Vector
    """(t,) time codes of the samples"""
    points: Array
    """(t, n, 3) of all points of the file"""
    meters_per_unit: float
    up_axis: str
    used: Integers
    """(k,) the point each vertex of the body is"""


def read_usd_body(path: Path, prim: str | None = None, limit: int | None = None) -> BodyRecording:
    """The only TetMesh of a file, or the one at, under or ending in `prim`; at most `limit` samples of its motion."""
    stage = open_stage(path)
    with usd_session(path), np.errstate(all="ignore"):  # a damaged file may hold any bits for numbers
        found = find_mesh(stage, path, prim, UsdGeom.TetMesh)
        check_clips(path, found)
        where = named(path, str(found.GetPath()))
        shape = PointShape(UsdGeom.TetMesh(found), where)
        times = shape.times()[:limit] or [None]
        rest = shape.rest(times[0])
        world = shape.rest_to_world(times[0])
        tets = _tets(UsdGeom.TetMesh(found), where)
        start = stage.GetStartTimeCode() if stage.HasAuthoredTimeCodeRange() else 0.0
        frames = np.array([start if time is None else time for time in times])
        body = tet_mesh(np.arange(len(rest)), rest @ world[:3, :3] + world[3, :3], tets, where)
        unit, up = UsdGeom.GetStageMetersPerUnit(stage), str(UsdGeom.GetStageUpAxis(stage))
        return BodyRecording(body, frames, moving_points(shape, times), unit, up, np.unique(tets))


def _tets(mesh: UsdGeom.TetMesh, where: str) -> Integers:
    """(m, 4) as the file has them; refused where they change in time."""
    attribute = mesh.GetTetVertexIndicesAttr()
    times = attribute.GetTimeSamples()
    values = [numbers(attribute.Get(time)) for time in (times or [Usd.TimeCode.Default()])]
    first = values[0]
    if first is None or first.ndim != 2 or first.shape[1] != 4 or first.dtype.kind not in "iu":
        got = "none" if first is None else str(first.shape)
        raise input_error("holds no tetrahedra", where=where, got=got, remedy="export tetVertexIndices with the points")
    for time, now in zip(times, values, strict=False):
        if now is None or not np.array_equal(now, first):
            raise input_error(
                f"the topology changes at frame {time:g}", where=where, remedy="export every frame with the same body"
            )
    return first.astype(np.int64)


def write_usd_body(target: Path, body: TetMesh, samples: Iterable[Sample], layout: Layout, prim: str) -> None:
    """Write the samples of a body's motion, which carry velocities, as a prim of type TetMesh.

    Points are float32 about `layout.origin`, the rest shape is the primvar `rest` in double precision, and the
    tetrahedra's own surface goes along so that any viewer can draw it. Equal input gives equal bytes.
    """
    try:
        layer = Sdf.Layer.CreateNew(str(target))
        stage = Usd.Stage.Open(layer)
        set_stage(stage, layout)
        shape = _still(stage, body, layout, prim)
        numbers_of = [_set_sample(shape, sample, layout) for sample in samples]
        stage.SetStartTimeCode(numbers_of[0])
        stage.SetEndTimeCode(numbers_of[-1])
        layer.Save()
    except Tf.ErrorException as error:
        raise os_error(error) from error


def _still(stage: Usd.Stage, body: TetMesh, layout: Layout, prim: str) -> UsdGeom.TetMesh:
    """The prim, and all of it that does not move."""
    path = Sdf.Path(prim)
    for parent in path.GetPrefixes()[:-1]:
        UsdGeom.Xform.Define(stage, parent)
    shape = UsdGeom.TetMesh.Define(stage, path)
    stage.SetDefaultPrim(stage.GetPrimAtPath(path.GetPrefixes()[0]))
    shape.CreateTetVertexIndicesAttr(Vt.Vec4iArray.FromNumpy(np.ascontiguousarray(body.tets, np.int32)))
    around = np.ascontiguousarray(body.surface_faces, np.int32)
    shape.CreateSurfaceFaceVertexIndicesAttr(Vt.Vec3iArray.FromNumpy(around))
    if layout.origin.any():
        offset = Gf.Vec3d(*layout.turn(layout.origin).tolist())
        shape.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(offset)
    set_rest(shape, layout.place(body.rest))
    return shape


def _set_sample(shape: UsdGeom.TetMesh, sample: Sample, layout: Layout) -> float:
    code, local = Usd.TimeCode(sample.frame), layout.place(sample.points).astype(np.float32)
    shape.CreatePointsAttr().Set(vt_vectors(local), code)
    shape.CreateExtentAttr().Set(vt_vectors(np.stack([local.min(axis=0), local.max(axis=0)])), code)
    if sample.velocities is not None:
        shape.CreateVelocitiesAttr().Set(vt_vectors(layout.turn(sample.velocities)), code)
    return sample.frame
