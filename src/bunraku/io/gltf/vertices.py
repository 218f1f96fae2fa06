"""The vertices glTF has of a surface: a point, or several where its corners differ in a value."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Integers
from bunraku.geometry import COLOUR, NORMALS, UV, Attribute, Scope, Surface, unit_colours

_log = logging.getLogger(__name__)

_NUMBERED = re.compile(rf"({UV}|{COLOUR})(\d*)")


@dataclass(frozen=True, eq=False)
class Vertices:
    """The points of a surface, each once, then further vertices of points that need several."""

    points: Integers
    """(m,) point of each vertex; the first n are the points in order"""
    corners: Integers
    """(c,) vertex of each corner of the surface"""
    attributes: dict[str, Array]
    """semantic → (m,) or (m, w)"""


def as_vertices(surface: Surface) -> Vertices:
    """Vertices with one value of each attribute that glTF can carry."""
    semantics = _semantics(surface)
    each = {semantic: _flat(surface, one) for semantic, one in semantics.items()}
    torn = [each[name] for name, one in semantics.items() if one.scope in (Scope.CORNER, Scope.POLYGON)]
    points, first, corners = _split(surface, torn)
    values = {}
    for semantic, one in semantics.items():
        if one.scope in (Scope.CORNER, Scope.POLYGON):
            known = np.zeros((len(points), each[semantic].shape[1]))
            known[first >= 0] = each[semantic][first[first >= 0]]
        else:
            known = each[semantic][points]
        values[semantic] = _fitting(semantic, known)
    return Vertices(points, corners, values)


def _semantics(surface: Surface) -> dict[str, Attribute]:
    """glTF's name of each attribute it can carry; sets of texture coordinates and colours are numbered anew."""
    out: dict[str, Attribute] = {}
    sets = {UV: 0, COLOUR: 0}
    for one in sorted(surface.attributes, key=lambda one: one.name):
        width = 1 if one.values.ndim == 1 else one.values.shape[-1]
        match = _NUMBERED.fullmatch(one.name)
        if one.values.dtype.kind not in "fiub" or one.values.ndim > 2 or not 1 <= width <= 4:
            _log.warning("glTF cannot carry %r; left out", one.name)
        elif one.name == NORMALS and width == 3:
            out["NORMAL"] = one
        elif match and (width == 2 if match[1] == UV else width >= 3):
            out[f"{'TEXCOORD' if match[1] == UV else 'COLOR'}_{sets[match[1]]}"] = one
            sets[match[1]] += 1
        else:
            out[one.name if one.name.startswith("_") else f"_{one.name}"] = one
    return out


def _flat(surface: Surface, one: Attribute) -> Array:
    """(elements, w) a row a corner for what is given by corner or polygon, else a row a point."""
    colour = one.name.startswith(COLOUR) and one.values.dtype.kind in "iu"
    rows = (unit_colours(one.flat()) if colour else one.flat().astype(np.float64)).reshape(len(one.flat()), -1)
    if one.scope is Scope.WHOLE:
        return np.repeat(rows, surface.point_count, axis=0)
    return np.repeat(rows, surface.counts, axis=0) if one.scope is Scope.POLYGON else rows


def _split(surface: Surface, torn: list[Array]) -> tuple[Integers, Integers, Integers]:
    """Point (m,) of each vertex, a corner (m,) that shows it (-1: none does), and vertex (c,) of each corner."""
    count = surface.point_count
    columns = [surface.corners]
    columns += [np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1) for rows in torn]
    found, shown, kind = np.unique(np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(shown)  # as corners meet them
    point = found[order, 0]
    first_of_point = np.zeros(len(order), dtype=bool)
    first_of_point[np.unique(point, return_index=True)[1]] = True
    vertex = np.where(first_of_point, point, count + np.cumsum(~first_of_point) - 1)
    points = np.concatenate([np.arange(count), point[~first_of_point]])
    corner = np.full(len(points), -1)
    corner[vertex] = shown[order]
    by_kind = np.empty(len(order), dtype=np.int64)
    by_kind[order] = vertex
    return points, corner, by_kind[kind.reshape(-1)]


def _fitting(semantic: str, values: Array) -> Array:
    """Values (m, w) as glTF wants them: finite, v from the top, normals of length 1."""
    out = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    if semantic.startswith("TEXCOORD"):
        out[:, 1] = 1.0 - out[:, 1]
    if semantic == "NORMAL":
        length = np.linalg.norm(out, axis=1, keepdims=True)
        out = np.where(length > 0, out / np.where(length > 0, length, 1.0), [0.0, 1.0, 0.0])
    return out[:, 0] if out.shape[1] == 1 else out
