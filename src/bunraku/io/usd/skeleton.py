"""Reading UsdSkel: a skeleton with its animation, and how much its joints carry the points of a mesh."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel
from scipy.sparse import csr_array

from bunraku.contracts import Array, Integers, Points, Sparse, input_error
from bunraku.io.clip import DEFAULT_RATE, check_rate, named
from bunraku.io.prims import choose_mesh
from bunraku.rigs import Motion, Skeleton

from .read import frame_times, skinned_shape
from .stage import MOST_PRIMS, check_clips, find_mesh, open_stage, usd_session

_RIG = "re-export the rig"


@dataclass(frozen=True, eq=False)
class UsdSkeleton:
    """A skeleton of a stage in its unit and axes, in the world; and what is bound to it, where a mesh was asked for."""

    skeleton: Skeleton
    prim_path: str
    unit: float | None
    """[m]; None where the stage does not say"""
    up_axis: str
    points: Points | None = None
    """(n, 3) of the mesh in the bind pose"""
    weights: Sparse | None = None
    """(n, j) how much each joint carries each point"""


def read_usd_skeleton(path: Path, prim: str | None = None) -> UsdSkeleton:
    """The skeleton of the stage, or the one at, under or ending in `prim`."""
    stage = open_stage(path)
    with usd_session(path), np.errstate(all="ignore"):
        everything = islice(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()), MOST_PRIMS)
        found = {str(one.GetPath()): one for one in everything if one.IsA(UsdSkel.Skeleton)}
        if not found:
            raise input_error("holds no skeleton", where=str(path), remedy="export the rig with UsdSkel")
        chosen = found[choose_mesh(list(found), prim, path, kind="skeleton")]
        check_clips(path, chosen)
        cache, root = UsdSkel.Cache(), UsdSkel.Root.Find(chosen)
        if root:
            cache.Populate(root, Usd.TraverseInstanceProxies())
        query = cache.GetSkelQuery(UsdSkel.Skeleton(chosen))
        return _skeleton(stage, path, query, chosen)


def read_usd_rig(path: Path, prim: str | None = None) -> UsdSkeleton:
    """The skeleton that carries the stage's only mesh, or the one at, under or ending in `prim`, with the mesh."""
    stage = open_stage(path)
    with usd_session(path), np.errstate(all="ignore"):
        mesh = find_mesh(stage, path, prim)
        check_clips(path, mesh)
        where = named(path, str(mesh.GetPath()))
        shape = skinned_shape(UsdGeom.Mesh(mesh), where)
        if shape is None or not shape.jointed:
            raise input_error("no skeleton carries the mesh", where=where, remedy="bind and re-export it")
        if shape.blend is not None:
            raise input_error("the mesh has blend shapes, which are not part of a skeleton", where=where,
                              remedy="read it as an animation")  # fmt: skip
        found = _skeleton(stage, path, shape.skeleton, shape.mover)
        first = next(iter(frame_times(shape.skeleton, shape.mover, where)), None)
        local = shape.points(None if shape.mesh.GetPointsAttr().Get() is not None else first)
        to_world = shape.rest_to_world(first)
        points = local @ to_world[:3, :3] + to_world[3, :3]
        weights = _weights(shape.skin, shape.skeleton, len(points), where)
        return UsdSkeleton(found.skeleton, str(mesh.GetPath()), found.unit, found.up_axis, points, weights)


def _skeleton(stage: Usd.Stage, path: Path, query: UsdSkel.SkeletonQuery, prim: Usd.Prim) -> UsdSkeleton:
    where = named(path, str(prim.GetPath()))
    if not query or not len(query.GetJointOrder()):
        raise input_error("the skeleton is broken or has no joints", where=where, remedy=_RIG)
    codes = frame_times(query, prim, where) or [None]
    start = stage.GetStartTimeCode() if stage.HasAuthoredTimeCodeRange() else 0.0
    root = stage.GetRootLayer()
    says_rate = root.HasTimeCodesPerSecond() or root.HasFramesPerSecond()
    rate = float(stage.GetTimeCodesPerSecond()) if says_rate else DEFAULT_RATE
    check_rate(rate, where)
    times = np.array([start if one is None else one for one in codes]) / rate
    parents = np.array(query.GetTopology().GetParentIndices(), dtype=np.int64)
    local, worlds = _local(query, prim, parents, codes, where)
    bind = _matrices(query.GetJointWorldBindTransforms(), len(parents), where, "bind")
    names = tuple(str(one).rsplit("/", 1)[-1] for one in query.GetJointOrder())
    # The bind pose is given in the skeleton's own space: here it stands where the first sample has that.
    skeleton = Skeleton(names, parents, worlds[0] @ bind, Motion.of(times, local),
                        np.zeros(0, np.int64), np.zeros((0, 3)), rate)  # fmt: skip
    said = UsdGeom.StageHasAuthoredMetersPerUnit(stage)
    unit = float(UsdGeom.GetStageMetersPerUnit(stage)) if said else 0.01
    return UsdSkeleton(skeleton, str(prim.GetPath()), unit, str(UsdGeom.GetStageUpAxis(stage)))


def _local(
    query: UsdSkel.SkeletonQuery, prim: Usd.Prim, parents: Integers, codes: Sequence[float | None], where: str
) -> tuple[Array, Array]:
    """(t, j, 4, 4) joints below their parents, roots in the world, and (t, 4, 4) the skeleton's own place."""
    local, worlds = np.empty((len(codes), len(parents), 4, 4)), np.empty((len(codes), 4, 4))
    for k, code in enumerate(codes):
        time = Usd.TimeCode.Default() if code is None else Usd.TimeCode(code)
        worlds[k] = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(time)).T
        local[k] = _matrices(query.ComputeJointLocalTransforms(time), len(parents), where, "local")
        local[k, parents < 0] = worlds[k] @ local[k, parents < 0]
    if not (np.isfinite(local).all() and np.isfinite(worlds).all()):
        raise input_error("the skeleton's joints have transforms that are no numbers", where=where, remedy=_RIG)
    return local, worlds


def _matrices(values: object, count: int, where: str, kind: str) -> Array:
    """(j, 4, 4) for column vectors."""
    found = np.zeros((0, 4, 4)) if values is None else np.array(values, dtype=np.float64).reshape(-1, 4, 4)
    if len(found) != count:
        raise input_error(f"the skeleton has other {kind} transforms than joints", where=where, got=len(found),
                          allowed=str(count), remedy=_RIG)  # fmt: skip
    return found.transpose(0, 2, 1)


def _weights(skin: UsdSkel.SkinningQuery, query: UsdSkel.SkeletonQuery, count: int, where: str) -> Sparse:
    """(n, j) of the points, in the order of the skeleton's joints; rows add up to 1."""
    found = skin.ComputeVaryingJointInfluences(count, Usd.TimeCode.EarliestTime())
    width = int(skin.GetNumInfluencesPerComponent())
    indices = np.array(found[0] if found else [], dtype=np.int64).reshape(-1)
    share = np.array(found[1] if found else [], dtype=np.float64).reshape(-1)
    own = list(skin.GetJointOrder() or query.GetJointOrder())
    place = {name: k for k, name in enumerate(query.GetJointOrder())}
    columns = np.array([place.get(name, -1) for name in own], dtype=np.int64)
    sound = len(indices) == len(share) == count * width and indices.min(initial=0) >= 0
    if not sound or indices.max(initial=0) >= len(own) or (columns[indices[share > 0]] < 0).any():
        raise input_error("the mesh follows joints the skeleton does not have", where=where, remedy=_RIG)
    rows = np.repeat(np.arange(count), width)
    keep = share > 0
    shape = (count, len(place))
    weights = csr_array((share[keep], (rows[keep], columns[indices[keep]])), shape=shape)
    total = np.asarray(weights.sum(axis=1)).reshape(-1)
    if (total <= 0).any():
        raise input_error("points of the mesh follow no joint", where=where, got=int((total <= 0).sum()), remedy=_RIG)
    return csr_array(weights.multiply(1.0 / total[:, None]))
