"""What a prim carries beside its shape: primvars, subsets, materials, transforms, the artist's own attributes."""

# pxr comes without types
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from pxr import Sdf, Tf, Usd, UsdGeom, UsdShade, Vt

from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Refinement, Scope, Subset, Surface, unit_colours

_log = logging.getLogger(__name__)

_SHAPE = frozenset({
    "points", "normals", "velocities", "accelerations", "extent", "faceVertexCounts", "faceVertexIndices",
    "holeIndices", "cornerIndices", "cornerSharpnesses", "creaseIndices", "creaseLengths", "creaseSharpnesses",
    "subdivisionScheme", "purpose",
})  # fmt: skip
"""attributes of a mesh that are made anew for another topology"""
_SCOPES = {
    UsdGeom.Tokens.constant: Scope.WHOLE, UsdGeom.Tokens.uniform: Scope.POLYGON, UsdGeom.Tokens.varying: Scope.POINT,
    UsdGeom.Tokens.vertex: Scope.POINT, UsdGeom.Tokens.faceVarying: Scope.CORNER,
}  # fmt: skip
_SKINNING = ("skel:", "primvars:skel:")


def block_skinning(prim: Usd.Prim) -> None:
    """Take the prim's skeleton and blend shapes away, for its points are already moved by them."""
    inherited = prim
    while inherited and not inherited.HasRelationship("skel:skeleton"):
        inherited = inherited.GetParent()
    if inherited and not inherited.IsPseudoRoot() and "SkelBindingAPI" not in prim.GetAppliedSchemas():
        prim.AddAppliedSchema("SkelBindingAPI")
    for each in prim.GetAuthoredProperties():
        name = each.GetName()
        if name.startswith(_SKINNING) and isinstance(each, Usd.Attribute):
            each.Block()
        elif name.startswith(_SKINNING):
            each.SetTargets([])
    if inherited and not inherited.IsPseudoRoot():
        prim.CreateRelationship("skel:skeleton", custom=False).SetTargets([])


def carry_prim(source: Usd.Prim, prim: Usd.Prim, refinement: Refinement) -> None:
    """Give a new prim all that the guide's carries, on its finer polygons; not its shape, not its skinning."""
    for schema in source.GetAppliedSchemas():
        if schema != "SkelBindingAPI":
            prim.AddAppliedSchema(schema)
    for each in source.GetAuthoredProperties():
        name = each.GetName()
        if name in _SHAPE or name.startswith(("skel:", "primvars:")):
            continue
        _copy(each, prim)
    for primvar in UsdGeom.PrimvarsAPI(source).GetPrimvarsWithAuthoredValues():
        name = primvar.GetPrimvarName()
        if not name.startswith("skel:") and name not in ("normals", "rest"):
            _carry_primvar(primvar, UsdGeom.PrimvarsAPI(prim), refinement)
    for child in source.GetChildren():
        if child.IsA(UsdGeom.Subset):
            _carry_subset(UsdGeom.Subset(child), prim, refinement)


def _copy(each: Usd.Property, prim: Usd.Prim) -> None:
    """A property as it is: values, samples, connections or targets."""
    if isinstance(each, Usd.Relationship):
        prim.CreateRelationship(each.GetName(), custom=each.IsCustom()).SetTargets(each.GetTargets())
        return
    made = prim.CreateAttribute(each.GetName(), each.GetTypeName(), each.IsCustom(), each.GetVariability())
    for key, value in each.GetAllAuthoredMetadata().items():
        if key not in ("typeName", "variability", "custom", "default", "timeSamples", "connectionPaths"):
            made.SetMetadata(key, value)
    if each.Get(Usd.TimeCode.Default()) is not None:
        made.Set(each.Get(Usd.TimeCode.Default()))
    for time in each.GetTimeSamples():
        made.Set(each.Get(Usd.TimeCode(time)), Usd.TimeCode(time))
    if each.HasAuthoredConnections():
        made.SetConnections(each.GetConnections())


def _carry_primvar(primvar: UsdGeom.Primvar, api: UsdGeom.PrimvarsAPI, refinement: Refinement) -> None:
    scope = _SCOPES.get(primvar.GetInterpolation())
    made = api.CreatePrimvar(primvar.GetPrimvarName(), primvar.GetTypeName(), primvar.GetInterpolation())
    if primvar.HasAuthoredElementSize():
        made.SetElementSize(primvar.GetElementSize())
    times = [Usd.TimeCode(time) for time in primvar.GetTimeSamples()]
    for time in [Usd.TimeCode.Default(), *times]:
        value = primvar.ComputeFlattened(time)
        if value is None or scope is None:
            continue
        if scope is not Scope.WHOLE:
            value = _refined(value, scope, primvar.GetElementSize(), refinement)
        if value is None:
            _log.warning("primvar %s does not fit its interpolation; left out", primvar.GetPrimvarName())
            api.GetPrim().RemoveProperty(made.GetName())
            return
        made.Set(value, time)


def _refined(value: Any, scope: Scope, element_size: int, refinement: Refinement) -> Any:
    """An array on the finer polygons, of the same type; None where its length does not fit."""
    counts = {
        Scope.POLYGON: int(refinement.polygons.max(initial=-1)) + 1, Scope.POINT: refinement.points.shape[1],
        Scope.CORNER: refinement.corners.shape[1],
    }  # fmt: skip
    count = len(value) // element_size
    fits = count >= counts[scope] if scope is Scope.POLYGON else count == counts[scope]
    if not fits or len(value) % element_size:
        return None
    try:
        rows = np.asarray(value)
    except (TypeError, ValueError):
        rows = np.array(list(value), dtype=object)
    if rows.dtype.kind not in "fiub":  # words: nothing to blend
        rows = np.array(list(value), dtype=object)
    carried = refinement.carried(Attribute("", scope, rows.reshape(count, -1))).values
    if rows.dtype == object:
        return type(value)([word for row in carried for word in row])
    shaped = np.ascontiguousarray(carried).reshape(-1, *rows.shape[1:])
    return type(value).FromNumpy(shaped.astype(rows.dtype))


def _carry_subset(subset: UsdGeom.Subset, prim: Usd.Prim, refinement: Refinement) -> None:
    """A subset of faces on the finer polygons; others (of points or edges) are left out."""
    if subset.GetElementTypeAttr().Get() != UsdGeom.Tokens.face:
        _log.warning("%s is no subset of faces; left out", subset.GetPath())
        return
    made = UsdGeom.Subset.Define(prim.GetStage(), prim.GetPath().AppendChild(subset.GetPrim().GetName()))
    for schema in subset.GetPrim().GetAppliedSchemas():
        made.GetPrim().AddAppliedSchema(schema)
    for each in subset.GetPrim().GetAuthoredProperties():
        if each.GetName() != "indices":
            _copy(each, made.GetPrim())
    chosen = np.asarray(subset.GetIndicesAttr().Get(Usd.TimeCode.EarliestTime()) or [], dtype=np.int64)
    finer = np.flatnonzero(np.isin(refinement.polygons, chosen))
    made.CreateIndicesAttr(Vt.IntArray.FromNumpy(finer.astype(np.int32)))
    family = subset.GetFamilyNameAttr().Get()
    if family:
        kind = UsdGeom.Subset.GetFamilyType(UsdGeom.Imageable(subset.GetPrim().GetParent()), family)
        UsdGeom.Subset.SetFamilyType(UsdGeom.Imageable(prim), family, kind)


# A surface's own attributes, on a stage of its own

_TYPES = {
    (False, 1): "float[]", (False, 2): "float2[]", (False, 3): "float3[]", (False, 4): "float4[]", (True, 1): "int[]",
    (True, 2): "int2[]", (True, 3): "int3[]", (True, 4): "int4[]",
}  # fmt: skip


def paint(shape: UsdGeom.Mesh, surface: Surface) -> None:
    """Author a surface's attributes as primvars and its subsets as GeomSubsets."""
    for attribute in surface.attributes:
        if attribute.name != NORMALS:  # they move with the points
            _paint_attribute(UsdGeom.PrimvarsAPI(shape), attribute)
    for family in dict.fromkeys(subset.family for subset in surface.subsets):
        own = [subset for subset in surface.subsets if subset.family == family]
        for subset in own:
            name = Tf.MakeValidIdentifier(subset.name)
            indices = Vt.IntArray.FromNumpy(np.ascontiguousarray(subset.polygons, dtype=np.int32))
            UsdGeom.Subset.CreateUniqueGeomSubset(
                UsdGeom.Imageable(shape), name, UsdGeom.Tokens.face, indices, *_family(own),
            )  # fmt: skip


def _family(subsets: list[Subset]) -> tuple[str, str]:
    """USD's word for a family and whether its subsets overlap."""
    word = subsets[0].family
    members = np.concatenate([subset.polygons for subset in subsets])
    apart = len(np.unique(members)) == len(members)
    name = UsdShade.Tokens.materialBind if word == "material" and apart else Tf.MakeValidIdentifier(word)
    return name, UsdGeom.Tokens.nonOverlapping if apart else UsdGeom.Tokens.unrestricted


def _paint_attribute(api: UsdGeom.PrimvarsAPI, attribute: Attribute) -> None:
    values = np.nan_to_num(attribute.values) if attribute.name == UV else np.asarray(attribute.values)
    if attribute.name == COLOUR:
        values = unit_colours(values)
    whole = values.dtype.kind in "iub"
    width = 1 if values.ndim == 1 else values.shape[1]
    name, kind = Tf.MakeValidIdentifier(attribute.name), _TYPES.get((whole, width))
    if attribute.name == UV and width >= 2:
        name, kind, values = "st", "texCoord2f[]", values[:, :2]
    elif attribute.name == COLOUR and width >= 3:
        if width > 3:
            _set_primvar(api, "displayOpacity", "float[]", attribute, values[:, 3])
        name, kind, values = "displayColor", "color3f[]", values[:, :3]
    elif whole and np.abs(values.astype(np.float64)).max(initial=0.0) >= 2**31:
        kind = None
    if kind is None:
        _log.warning("attribute %r (%d × %s) does not fit a primvar; left out", attribute.name, width, values.dtype)
        return
    _set_primvar(api, name, kind, attribute, values)


def _set_primvar(api: UsdGeom.PrimvarsAPI, name: str, kind: str, attribute: Attribute, values: Any) -> None:
    type_name = Sdf.ValueTypeNames.Find(kind)
    made = api.CreatePrimvar(name, type_name, attribute.scope.value)
    numbers = np.ascontiguousarray(values.reshape(-1) if values.ndim > 1 and values.shape[1] == 1 else values)
    array = type(type_name.defaultValue)
    made.Set(array.FromNumpy(numbers.astype(np.int32 if kind.startswith("int") else np.float32)))
    if attribute.indices is not None:
        made.SetIndices(Vt.IntArray.FromNumpy(np.ascontiguousarray(attribute.indices, dtype=np.int32)))
