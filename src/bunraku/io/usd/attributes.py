"""What is painted on a USD mesh and how its faces are named: primvars, normals, subsets."""

# pxr comes without types, so its objects are Any here; this file needs none of its names.

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.contracts import Array, Integers
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Subset

_log = logging.getLogger(__name__)

REST_PRIMVARS = ("rest", "Pref", "restPosition")
"""names under which programs keep a rest shape, by rank"""
_SCOPES = {
    "constant": Scope.WHOLE, "uniform": Scope.POLYGON, "vertex": Scope.POINT, "varying": Scope.POINT,
    "faceVarying": Scope.CORNER,
}  # fmt: skip
_UV_NAMES = ("st", "uv", "map1", "uvmap", "st0", "uv0", "uvset0", "texcoord", "texcoord_0")
"""lower case, by rank; after them comes whatever has the role of texture coordinates"""
_MATERIAL_FAMILY = "materialBind"


def numbers(value: Any) -> NDArray[np.generic] | None:
    """A USD value as an array of numbers: (m,) or (m, w), (1,) or (1, w) for a single one; None for anything else."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    single = not type(value).__name__.endswith("Array")  # of Vt
    array = array[None] if single else array
    return array if array.dtype.kind in "fiu" and array.ndim <= 2 else None


def value_of(attribute: Any) -> Any:
    """The attribute's value at the default time, else its first sample, else None."""
    value = attribute.Get()
    times = attribute.GetTimeSamples() if value is None else []
    return attribute.Get(times[0]) if times else value


def read_attributes(
    mesh: Any, primvars: Iterable[Any], sizes: Mapping[Scope, int], to_world: Array, where: str
) -> tuple[Attribute, ...]:
    """The mesh's own numeric primvars and normals; what does not fit its interpolation is left out with a warning.

    One set of texture coordinates becomes `UV`, displayColor `COLOUR`; the others keep their names, with `_2` behind
    where that is taken. Normals are turned with the points' transform `to_world` (4, 4) of row vectors. Inherited
    primvars stay with the prims that have them.
    """
    given = {str(one.GetPrimvarName()): one for one in primvars}
    names = _names(given)
    found = [
        _attribute(name, given[own], given[own].GetIndicesAttr(), given[own].GetInterpolation(), sizes, where)
        for own, name in names.items()
    ]
    if NORMALS not in names.values() and mesh.GetNormalsAttr().HasAuthoredValue():
        found.append(_attribute(NORMALS, mesh.GetNormalsAttr(), None, mesh.GetNormalsInterpolation(), sizes, where))
    fit = [one for one in found if one is not None]
    return tuple(_turned(one, to_world) if one.name == NORMALS else one for one in fit)


def read_subsets(prims: Iterable[Any], polygon_count: int, where: str) -> tuple[Subset, ...]:
    """The face subsets among a mesh's children, under their own names; the family of materials is "material"."""
    found: list[Subset] = []
    for prim in prims:
        kind = prim.GetAttribute("elementType").Get()
        polygons = numbers(value_of(prim.GetAttribute("indices")))
        if kind not in (None, "face") or polygons is None or polygons.ndim != 1:
            continue
        polygons = polygons.astype(np.int64)
        stray = int(np.count_nonzero((polygons < 0) | (polygons >= polygon_count)))
        if stray:
            _log.warning("%s: subset %r names %d faces the mesh does not have; left out", where, prim.GetName(), stray)
            continue
        family = str(prim.GetAttribute("familyName").Get() or "")
        found.append(Subset(prim.GetName(), polygons, "material" if family == _MATERIAL_FAMILY else family or "group"))
    return tuple(found)


def _names(given: Mapping[str, Any]) -> dict[str, str]:
    """Our name of each primvar that is carried, by its own."""
    carried = [own for own in given if own not in REST_PRIMVARS and not own.startswith("skel:")]
    special = {"displayColor": COLOUR, "normals": NORMALS}
    uv = _texture_coordinates({own: given[own] for own in carried})
    if uv:
        special[uv] = UV
    taken = {special[own] for own in carried if own in special}
    names: dict[str, str] = {}
    for own in carried:
        names[own] = special.get(own) or _free(own, taken)
        taken.add(names[own])
    return names


def _texture_coordinates(primvars: Mapping[str, Any]) -> str | None:
    """The primvar that is the texture coordinates: by name, else the first whose type says so."""
    sample = {own: one.GetTypeName().scalarType.defaultValue for own, one in primvars.items()}
    pairs = [own for own, value in sample.items() if not isinstance(value, str) and np.shape(value) == (2,)]
    named = sorted((own for own in pairs if own.lower() in _UV_NAMES), key=lambda own: _UV_NAMES.index(own.lower()))
    typed = [own for own in pairs if primvars[own].GetTypeName().role == "TextureCoordinate"]
    return next(iter(named + typed), None)


def _free(name: str, taken: set[str]) -> str:
    """The name, or the name with the first number behind it that makes it free."""
    count, free = 2, name
    while free in taken:
        free, count = f"{name}_{count}", count + 1
    return free


def _attribute(
    name: str, source: Any, indices_of: Any, interpolation: str, sizes: Mapping[Scope, int], where: str
) -> Attribute | None:
    """One attribute, or None with a note where it cannot be carried."""
    value = value_of(source)
    values = numbers(value)
    if value is None or values is None:
        return None
    width = source.GetElementSize() if hasattr(source, "GetElementSize") else 1
    if width > 1 and len(values) % width == 0:
        values = values.reshape(len(values) // width, -1)
    indices: Integers | None = None
    if indices_of and indices_of.HasAuthoredValue():
        rows = numbers(value_of(indices_of))
        if rows is None or rows.dtype.kind not in "iu":
            _log.warning("%s: %r has indices that are no whole numbers; left out", where, name)
            return None
        indices = rows.astype(np.int64)
    scope = _SCOPES.get(str(interpolation))
    reason = "an unknown interpolation" if scope is None else _misfit(values, indices, scope, sizes[scope])
    if name in (NORMALS, COLOUR) and (values.ndim != 2 or values.shape[1] != 3):
        reason = "not three numbers each"
    if scope is None or reason:
        _log.warning("%s: %r has %s; left out", where, name, reason)
        return None
    return Attribute(name, scope, values, indices)


def _misfit(values: NDArray[np.generic], indices: Integers | None, scope: Scope, size: int) -> str:
    """'' or why the values do not fit a scope of so many elements."""
    rows = len(values) if indices is None else len(indices)
    if rows != size:
        return f"{rows} values, not the {size} of interpolation {scope.value!r}"
    if indices is not None and len(indices) and not (0 <= indices.min() and indices.max() < len(values)):
        return f"indices outside its {len(values)} values"
    return ""


def _turned(normals: Attribute, matrix: Array) -> Attribute:
    """Normals as the points' transform turns them: by its inverse transpose, unit length."""
    a, b, c = matrix[:3, :3]
    cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
    with np.errstate(all="ignore"):
        turned = np.asarray(normals.values, np.float64) @ (cofactors * np.sign(np.dot(a, np.cross(b, c)) or 1.0))
        lengths = np.linalg.norm(turned, axis=1, keepdims=True)
        values = np.divide(turned, lengths, out=np.zeros_like(turned), where=lengths > 0)
    return Attribute(NORMALS, normals.scope, values, normals.indices)
