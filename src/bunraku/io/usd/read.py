"""Reading USD: mesh prims with time samples, skinned or not, and all that is painted on them."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel, Vt

from bunraku.contracts import Array, InputError, Integers, Points, Vector, input_error
from bunraku.geometry import Scope, Surface
from bunraku.io.axes import doubt_about_unit
from bunraku.io.clip import Recording, named

from .attributes import REST_PRIMVARS, numbers, read_attributes, read_subsets
from .stage import check_clips, composition_errors, find_mesh, open_stage, usd_session
from .stage import used_files as used_files

_log = logging.getLogger(__name__)

_SAME_FRAME = 1e-6  # samples of points and of transforms closer than this are one frame
_MOST_BYTES = 16 << 30  # of the points of an animation
_RIG = "re-export the rig"
_MOST_FRAMES = 20_000  # over which the turns between samples are filled in


def read_usd(path: Path, prim: str | None = None, limit: int | None = None) -> Recording:
    """The recording of a file's only mesh, or the one at, under or ending in `prim`; `limit` samples.

    A skinned mesh is posed by its skeleton and blend shapes at every sample. Its rest shape is the bind pose: the
    points as modelled, before any blend shape or joint moves them, where the skeleton stands at the first sample.
    """
    stage = open_stage(path)
    with usd_session(path), np.errstate(all="ignore"):  # a damaged file may hold any bits for numbers
        return _record(stage, path, prim, limit)


def _record(stage: Usd.Stage, path: Path, prim: str | None, limit: int | None) -> Recording:
    found = find_mesh(stage, path, prim)
    check_clips(path, found)
    for sentence in composition_errors(stage):
        _log.warning("%s: %s", path, sentence)
    where = named(path, str(found.GetPath()))
    mesh = UsdGeom.Mesh(found)
    shape = skinned_shape(mesh, where) or PointShape(mesh, where)
    times = shape.times()[:limit] or [None]
    points = moving_points(shape, times)
    surface = _surface(shape, times[0])
    start = stage.GetStartTimeCode() if stage.HasAuthoredTimeCodeRange() else 0.0
    frames = np.array([start if time is None else time for time in times])
    unit, up = UsdGeom.GetStageMetersPerUnit(stage), str(UsdGeom.GetStageUpAxis(stage))
    if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        doubt = doubt_about_unit(surface.points * unit, unit)
        _log.warning("%s does not say its unit (metersPerUnit); USD means centimetres then%s", path,
                     f"; {where} {doubt}" if doubt else "")  # fmt: skip
    root = stage.GetRootLayer()
    says_rate = root.HasTimeCodesPerSecond() or root.HasFramesPerSecond()
    rate = stage.GetTimeCodesPerSecond() if says_rate else None
    return Recording(path, surface, str(found.GetPath()), frames, points, rate, unit, up)


def _surface(shape: PointShape, first: float | None) -> Surface:
    """The surface at rest, in world space; `first`: the time code of the first sample."""
    mesh, where = shape.mesh, shape.where
    local = shape.rest(first)
    counts, corners = _polygons(mesh, len(local), where)
    to_world = shape.rest_to_world(first)
    sizes = {
        Scope.WHOLE: 1, Scope.POLYGON: len(counts), Scope.POINT: len(local), Scope.CORNER: len(corners)
    }  # fmt: skip
    primvars = UsdGeom.PrimvarsAPI(mesh).GetPrimvarsWithAuthoredValues()
    children = mesh.GetPrim().GetFilteredChildren(Usd.TraverseInstanceProxies())
    subsets = [child for child in children if child.IsA(UsdGeom.Subset)]
    with np.errstate(invalid="ignore", over="ignore"):
        mirrored = bool(np.linalg.det(to_world[:3, :3]) < 0)
    return Surface(
        _transformed(local, to_world), counts, corners, read_attributes(mesh, primvars, sizes, to_world, where),
        read_subsets(subsets, len(counts), where),
        left_handed=mirrored != (mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class PointShape:
    """The points of a mesh or a body in the world, moved by its own samples and the transforms above it."""

    mesh: UsdGeom.PointBased
    where: str

    def times(self) -> list[float | None]:
        """Time codes at which the points or what moves them is sampled, increasing; [] for a still mesh."""
        moving, turning = _transform_times(self.mesh.GetPrim())
        return _merged([self.mesh.GetPointsAttr().GetTimeSamples(), moving], turning, self.where)

    def posed(self, time: float | None) -> Points:
        """(n, 3) world points at a time code; None: at the default time."""
        return _transformed(self.points(time), self.rest_to_world(time))

    def points(self, time: float | None) -> Points:
        """(n, 3) the mesh's own points, before anything moves them."""
        value = self.mesh.GetPointsAttr().Get(_code(time))
        points = None if value is None else numbers(value)
        when = self.where + ("" if time is None else f", frame {time:g}")
        if points is None or len(points) == 0:
            raise input_error("the mesh has no points", where=when, got="none", remedy="re-export the mesh")
        if points.ndim != 2 or points.shape[1] != 3:
            raise input_error("the points have no three coordinates", where=when, got=str(points.shape))
        return np.asarray(points, dtype=np.float64)

    def rest_to_world(self, time: float | None) -> Array:
        """(4, 4) transform of row vectors from the mesh's own space to the world."""
        return np.array(self.mesh.ComputeLocalToWorldTransform(_code(time)))

    def rest(self, first: float | None) -> Points:
        """(n, 3) own points at rest: those at the default time, else a rest primvar, else the first sample."""
        sample = self.points(first)
        default = self.mesh.GetPointsAttr().Get(Usd.TimeCode.Default())
        if default is not None and len(default) == len(sample):
            return self.points(None)
        if default is not None and len(default):
            raise input_error(
                "the points at the default time are not those of the samples", where=self.where,
                got=f"{len(default)} points", allowed=f"{len(sample)}", remedy="re-export the mesh",
            )  # fmt: skip
        primvars = UsdGeom.PrimvarsAPI(self.mesh)
        for name in filter(primvars.HasPrimvar, REST_PRIMVARS):
            value = numbers(primvars.GetPrimvar(name).ComputeFlattened(Usd.TimeCode.EarliestTime()))
            if value is not None and value.shape == sample.shape:
                return np.asarray(value, dtype=np.float64)
            shape = None if value is None else value.shape
            _log.warning("%s: primvar %r has shape %s, not %s; left out", self.where, name, shape, sample.shape)
        return sample


@dataclass(frozen=True, eq=False)
class Skinned(PointShape):
    """A mesh's points in the world, moved by blend shapes and a skeleton."""

    skin: UsdSkel.SkinningQuery
    skeleton: UsdSkel.SkeletonQuery
    mover: Usd.Prim
    """whose transform carries the posed points: the skeleton, as seen on the stage, or the mesh itself"""
    blend: UsdSkel.BlendShapeQuery | None
    """None: without blend shapes"""
    jointed: bool
    """False: blend shapes only"""

    def times(self) -> list[float | None]:
        moving, turning = _transform_times(self.mover)
        samples = [self.mesh.GetPointsAttr().GetTimeSamples(), moving]
        animation = self.skeleton.GetAnimQuery()
        if animation and self.blend is not None:
            samples.append(animation.GetBlendShapeWeightTimeSamples())
        if self.jointed:
            skin = self.skin  # its own GetTimeSamples throws where the bind transform is left out
            own = (skin.GetJointIndicesPrimvar(), skin.GetJointWeightsPrimvar(), skin.GetGeomBindTransformAttr())
            samples += [one.GetTimeSamples() for one in own if one]
        if animation and self.jointed:
            turning = [*turning, *animation.GetJointTransformTimeSamples()]
        return _merged(samples, turning, self.where)

    def posed(self, time: float | None) -> Points:
        points = Vt.Vec3fArray.FromNumpy(self.points(time).astype(np.float32))
        code = _code(time)
        animation = self.skeleton.GetAnimQuery()
        if self.blend is not None and animation:
            self._blended(points, animation.ComputeBlendShapeWeights(code))
        joints = self.skeleton.ComputeSkinningTransforms(code) if self.jointed else []
        if joints is None or (self.jointed and not self.skin.ComputeSkinnedPoints(joints, points, code)):
            when = "" if time is None else f", frame {time:g}"
            raise input_error("the skeleton cannot pose the mesh", where=self.where + when, remedy=_RIG)
        return _transformed(np.asarray(points, np.float64), self._mover_to_world(time))

    def _blended(self, points: Vt.Vec3fArray, weights: Sequence[float] | None) -> None:
        """Add the blend shapes, by their weights in the order of the animation, to the points."""
        mapper = self.skin.GetBlendShapeMapper()
        if self.blend is None or weights is None:
            return
        own = mapper.Remap(weights) if mapper and not mapper.IsIdentity() else weights
        self.blend.ComputeDeformedPoints(*self.blend.ComputeSubShapeWeights(own), *self._offsets, points)

    @cached_property
    def _offsets(self) -> tuple[object, object]:
        """The point indices of each blend shape and the offsets of each and its inbetweens."""
        blend = self.blend
        return (blend.ComputeBlendShapePointIndices(), blend.ComputeSubShapePointOffsets()) if blend else ([], [])

    def rest_to_world(self, time: float | None) -> Array:
        bind = np.array(self.skin.GetGeomBindTransform(_code(time))) if self.jointed else np.eye(4)
        return bind @ self._mover_to_world(time)

    def _mover_to_world(self, time: float | None) -> Array:
        return np.array(UsdGeom.Xformable(self.mover).ComputeLocalToWorldTransform(_code(time)))


def skinned_shape(mesh: UsdGeom.Mesh, where: str) -> Skinned | None:
    """The mesh with what skins it, or None where nothing does."""
    prim, everything = mesh.GetPrim(), Usd.TraverseInstanceProxies()
    root = UsdSkel.Root.Find(prim)
    if not root:
        if UsdSkel.BindingAPI(prim).GetInheritedSkeleton():
            _log.warning("%s is bound to a skeleton but not below a SkelRoot; read unskinned", where)
        return None
    cache = UsdSkel.Cache()
    cache.Populate(root, everything)
    for binding in cache.ComputeSkelBindings(root, everything) or []:
        for skin in binding.GetSkinningTargets():
            if skin.GetPrim() == prim and (skin.HasJointInfluences() or skin.HasBlendShapes()):
                skeleton, jointed = binding.GetSkeleton(), bool(skin.HasJointInfluences())
                blend = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(prim)) if skin.HasBlendShapes() else None
                query, mover = cache.GetSkelQuery(skeleton), skeleton.GetPrim() if jointed else prim
                if not query:
                    raise input_error("the skeleton is broken", where=named(where, str(mover.GetPath())), remedy=_RIG)
                return Skinned(mesh, where, skin, query, mover, blend, jointed)
    return None


def frame_times(skeleton: UsdSkel.SkeletonQuery, prim: Usd.Prim, where: str) -> list[float | None]:
    """Time codes at which a skeleton or the transforms above it are sampled, increasing; [] where it stands still."""
    moving, turning = _transform_times(prim)
    animation = skeleton.GetAnimQuery()
    if animation:
        turning = [*turning, *animation.GetJointTransformTimeSamples()]
    return _merged([moving], turning, where)


def _merged(samples: Sequence[Sequence[float]], turning: Sequence[float], where: str) -> list[float | None]:
    """All time codes, those closer than `_SAME_FRAME` once, and the whole ones between the samples of turns.

    Points run straight between samples, so turning parts need one a frame even where they are keyed sparsely.
    """
    times = np.zeros(0)
    for more in (*samples, turning, _whole_between(turning)):
        values = np.unique(np.array(more, dtype=np.float64))
        if not np.isfinite(values).all():
            raise input_error("has time samples at no time", where=where, got=str(values[-1]))
        times = np.union1d(times, values[_distance(values, times) > _SAME_FRAME])
    return list(times.tolist())


def _transform_times(prim: Usd.Prim) -> tuple[list[float], list[float]]:
    """Time codes at which a transform of the prim or its ancestors is sampled: all, and those of transforms that turn.

    Goes up to an ancestor that ignores the transforms above it.
    """
    moving: list[float] = []
    turning: list[float] = []
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(UsdGeom.Xformable):
            for op in UsdGeom.Xformable(prim).GetOrderedXformOps():
                times = op.GetTimeSamples()
                straight = op.GetOpType() in (UsdGeom.XformOp.TypeTranslate, UsdGeom.XformOp.TypeScale)
                (moving if straight else turning).extend(times)
            if UsdGeom.Xformable(prim).GetResetXformStack():
                break
        prim = prim.GetParent()
    return moving, turning


def _whole_between(times: Sequence[float]) -> Vector:
    """(k,) the whole time codes from the first to the last of a few; none over more than `_MOST_FRAMES`."""
    if len(times) < 2 or not max(times) - min(times) <= _MOST_FRAMES:
        return np.zeros(0)
    return np.arange(np.ceil(min(times)), np.floor(max(times)) + 1.0)


def _distance(values: Vector, to: Vector) -> Vector:
    """(m,) distance of each value to the nearest of `to` (sorted)."""
    bounded = np.concatenate([[-np.inf], to, [np.inf]])
    after = np.searchsorted(to, values) + 1
    return np.minimum(values - bounded[after - 1], bounded[after] - values)


def moving_points(shape: PointShape, times: Sequence[float | None]) -> Array:
    """(t, n, 3) world points at the time codes; refused by frame where their number changes."""
    count = len(shape.points(times[0]))
    if len(times) * count * 24 > _MOST_BYTES:
        raise input_error(
            "is too large to be held in memory", where=shape.where, got=f"{count} points at {len(times)} frames",
            allowed=f"{_MOST_BYTES >> 30} GiB, 24 bytes a point", remedy="export fewer frames at a time",
        )  # fmt: skip
    points = np.empty((len(times), count, 3))
    for k, time in enumerate(times):
        now = shape.posed(time)
        if len(now) != count:
            raise _topology_change(shape.where, time, f"{len(now)} points", f"{count}", times[0])
        points[k] = now
    return points


def _code(time: float | None) -> Usd.TimeCode:
    return Usd.TimeCode.Default() if time is None else Usd.TimeCode(time)


def _transformed(x: Points, matrix: Array) -> Points:
    with np.errstate(invalid="ignore", over="ignore"):  # infinite points are refused later, by frame
        return x @ matrix[:3, :3] + matrix[3, :3]


def _polygons(mesh: UsdGeom.Mesh, point_count: int, where: str) -> tuple[Integers, Integers]:
    """Corner counts (p,) and corners (c,) as wound in the file; refused by frame where they change."""
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
    if counts.min() < 0 or counts.sum() != len(corners):
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
    return counts, corners


def _integers(attribute: Usd.Attribute, time: Usd.TimeCode) -> Integers:
    value = numbers(attribute.Get(time))
    if value is None or value.ndim != 1 or value.dtype.kind not in "iu":
        return np.zeros(0, np.int64)
    return value.astype(np.int64)


def _topology_change(where: str, frame: float | None, got: str, allowed: str, first: float | None) -> InputError:
    return input_error(
        f"the topology changes at frame {frame:g}", where=where, got=got,
        allowed=f"{allowed} as in frame {first:g}", remedy="export every frame with the same mesh",
    )  # fmt: skip
