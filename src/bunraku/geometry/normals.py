"""Normals of a moving surface, with the hard edges the file gave it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import Integers, Points

from .connectivity import components, same_place
from .surface import NORMALS, Attribute, Scope, Surface
from .trimesh import unit_rows


@dataclass(frozen=True, eq=False)
class SurfaceNormals:
    """Which corners of a surface share a normal: those at one place that the file gave the same one.

    A surface without normals is smooth everywhere.
    """

    surface: Surface
    scope: Scope
    """POINT where a normal a point is enough, else CORNER"""
    group: Integers
    """(c,) of each corner"""
    rows: Integers
    """(points or corners,) group of each element of the scope"""

    @staticmethod
    def of(surface: Surface) -> SurfaceNormals:
        """The sharing of a surface's own normals."""
        place = same_place(surface.points)[surface.corners]
        given = surface.attribute(NORMALS)
        shade = np.zeros(len(place), dtype=np.int64)
        if given is not None:
            shade = same_place(unit_rows(np.nan_to_num(_per_corner(surface, given))))
        pairs, group = np.unique(np.stack([place, shade], axis=1), axis=0, return_inverse=True)
        group = group.reshape(-1)
        if given is not None:
            first = np.empty(len(pairs), dtype=np.int64)
            first[group] = np.arange(len(group))
            directions = unit_rows(np.nan_to_num(_per_corner(surface, given)))[first]
            group = _alike(pairs[:, 0], directions)[group]
        of_point = np.full(surface.point_count, -1)
        of_point[surface.corners] = group
        if (of_point[surface.corners] == group).all():
            return SurfaceNormals(surface, Scope.POINT, group, of_point)
        return SurfaceNormals(surface, Scope.CORNER, group, group)

    def at(self, points: Points) -> Attribute:
        """The normals of the surface with its points (n, 3) at a moment; area-weighted within a group."""
        area = polygon_normals(self.surface, points)
        if self.surface.left_handed:
            area = -area
        per_corner = np.repeat(area, self.surface.counts, axis=0)
        total = np.zeros((int(self.group.max(initial=-1)) + 1, 3))
        for axis in range(3):
            total[:, axis] = np.bincount(self.group, weights=per_corner[:, axis], minlength=len(total))
        directions = unit_rows(total)
        if self.scope is Scope.CORNER:
            return Attribute(NORMALS, Scope.CORNER, directions, self.rows)
        values = np.zeros((self.surface.point_count, 3))
        used = self.rows >= 0
        values[used] = directions[self.rows[used]]
        return Attribute(NORMALS, Scope.POINT, values)


ALIKE = 1e-3
"""directions nearer to each other than this are one: files round their normals"""


def _alike(place: Integers, directions: Points) -> Integers:
    """(k,) a number for each direction (k, 3) at a place (k,), the same for those that are alike there.

    Two that are nearer than `ALIKE` share a box of twice that in at least one of the eight ways to lay a grid.
    """
    count = len(place)
    first, second = [], []
    for shift in np.ndindex(2, 2, 2):
        box = np.floor(directions / (2.0 * ALIKE) + 0.5 * np.array(shift)).astype(np.int64)
        order = np.lexsort((*box.T, place))
        same = (np.diff(place[order]) == 0) & (np.diff(box[order], axis=0) == 0).all(axis=1)
        first.append(order[:-1][same])
        second.append(order[1:][same])
    return components(np.stack([np.concatenate(first), np.concatenate(second)], axis=1), count)


def polygon_normals(surface: Surface, points: Points) -> Points:
    """(p, 3) normals whose length is the polygons' area, by the corners' order."""
    starts = np.minimum(surface.starts, max(len(surface.corners) - 1, 0))
    if not len(surface.corners):
        return np.zeros((surface.polygon_count, 3))
    owner = np.repeat(np.arange(surface.polygon_count), surface.counts)
    here = np.arange(len(surface.corners))
    last = here == (starts + surface.counts - 1)[owner]
    ahead = np.where(last, starts[owner], here + 1)
    # About the polygon's first corner, so that shapes far from the origin lose no digits.
    base = points[surface.corners[starts]][owner]
    a, b = points[surface.corners] - base, points[surface.corners[ahead]] - base
    cross = np.cross(a, b)
    out = np.zeros((surface.polygon_count, 3))
    for axis in range(3):
        out[:, axis] = 0.5 * np.bincount(owner, weights=cross[:, axis], minlength=surface.polygon_count)
    return out


def _per_corner(surface: Surface, given: Attribute) -> Points:
    """(c, 3) an attribute's rows on the corners."""
    rows = np.asarray(given.flat(), dtype=np.float64)
    if given.scope is Scope.POINT:
        return rows[surface.corners]
    if given.scope is Scope.POLYGON:
        return np.repeat(rows, surface.counts, axis=0)
    return rows if given.scope is Scope.CORNER else np.repeat(rows, len(surface.corners), axis=0)


def without_normals(surface: Surface) -> Surface:
    """The surface without the normals the file gave it."""
    return replace(surface, attributes=tuple(one for one in surface.attributes if one.name != NORMALS))
