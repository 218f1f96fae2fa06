"""A remeshed surface with the values of the old one."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Points, input_error
from bunraku.geometry.closest import closest_points
from bunraku.geometry.polygons import Triangles, triangulate
from bunraku.geometry.surface import NORMALS, Attribute, Scope, Subset, Surface
from bunraku.geometry.trimesh import TriMesh, face_areas

from .remesh import remesh

MOST_TRIANGLES = 4e6
"""beyond it remeshing would take the machine's memory"""


def remeshed_surface(surface: Surface, length: float) -> tuple[Surface, str]:
    """The surface in triangles with edges of about `length` [m], and a sentence about it.

    A triangle takes what the polygon nearest to its middle has: groups, values of polygons, and values of corners
    carried on linearly, so that texture seams stay sharp. Values of points are interpolated. Normals are dropped.
    """
    cut = triangulate(surface.points, surface.counts, surface.corners)
    old = TriMesh(surface.points, surface.corners[cut.corners])
    wanted = float(face_areas(old.rest, old.faces).sum()) / (0.43 * length**2)
    if wanted > MOST_TRIANGLES:
        raise input_error(
            "the edge length to remesh to is too short for this shape", got=f"{length:g} m, {wanted:.2g} triangles",
            allowed=f"up to {MOST_TRIANGLES:g} triangles", remedy="give a longer edge, or check the unit",
        )  # fmt: skip
    new = remesh(old, length)
    nearest = closest_points(new.rest[new.faces].mean(axis=1), old).faces
    attributes = tuple(
        _carried(one, surface, old, cut, new, nearest) for one in surface.attributes if one.name != NORMALS
    )
    polygons = cut.polygons[nearest]
    subsets = tuple(Subset(s.name, np.flatnonzero(np.isin(polygons, s.polygons)), s.family) for s in surface.subsets)
    made = Surface(
        new.rest, np.full(len(new.faces), 3), new.faces.reshape(-1), attributes, subsets, surface.left_handed,
        surface.libraries,
    )  # fmt: skip
    middles = new.rest[new.faces].mean(axis=1)
    there = closest_points(np.vstack([new.rest, middles]), old)
    back = closest_points(old.rest[np.unique(old.faces)], new)
    off = max(float(there.distances.max(initial=0.0)), float(back.distances.max(initial=0.0)))
    sentence = (
        f"Remeshed to edges of {length:g} m: {len(new.rest)} points, {len(new.faces)} triangles, at most {off:.2g} m "
        "off the old shape. Values were carried over from the nearest polygons, normals dropped."
    )
    return made, sentence


def _carried(
    one: Attribute, surface: Surface, old: TriMesh, cut: Triangles, new: TriMesh, nearest: Integers
) -> Attribute:
    """An attribute on the new triangles; nearest (f,): old triangle of each."""
    if one.scope is Scope.WHOLE:
        return one
    values: Any = one.flat()
    if one.scope is Scope.POLYGON:
        return Attribute(one.name, one.scope, values[cut.polygons[nearest]])
    if one.scope is Scope.POINT:
        place = closest_points(new.rest, old)
        weights, rows = place.weights, old.faces[place.faces]
    else:
        at = new.rest[new.faces.reshape(-1)]
        face = np.repeat(nearest, 3)
        weights, rows = _affine_weights(at, old.rest, old.faces[face]), cut.corners[face]
    if values.dtype.kind != "f":
        return Attribute(one.name, one.scope, values[rows[np.arange(len(rows)), weights.argmax(axis=1)]])
    return Attribute(one.name, one.scope, np.einsum("mk,mk...->m...", weights, values[rows]).astype(values.dtype))


def _affine_weights(at: Points, x: Points, faces: Faces) -> Array:
    """(m, 3) weights with sum 1 of places (m, 3), seen along the normal, in faces (m, 3); they may lie outside."""
    a, b, c = (x[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    square = np.maximum(np.einsum("mi,mi->m", normal, normal), 1e-300)
    w1 = np.einsum("mi,mi->m", np.cross(at - a, c - a), normal) / square
    w2 = np.einsum("mi,mi->m", np.cross(b - a, at - a), normal) / square
    return np.stack([1.0 - w1 - w2, w1, w2], axis=1)
