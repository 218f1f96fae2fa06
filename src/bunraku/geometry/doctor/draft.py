"""A surface while it is mended: its triangles, and which corner of the file each corner came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points
from bunraku.geometry.connectivity import collapsed, finite_points
from bunraku.geometry.polygons import triangulate
from bunraku.geometry.surface import Attribute, Scope, Subset, Surface


@dataclass(frozen=True, eq=False)
class Draft:
    """Triangles with their sources in the surface they were cut from."""

    surface: Surface
    """what came in"""
    x: Points
    """(n, 3) [m]"""
    faces: Faces
    """(f, 3) points, counter-clockwise seen from outside"""
    sources: Integers
    """(f, 3) corner of the surface whose values each corner has"""
    polygons: Integers
    """(f,) polygon whose values each triangle has"""
    cuts: Integers
    """(f,) which triangle of its polygon it is; −1: it was made or changed here"""
    turned: Flags
    """(f,) wound the other way than in the file"""

    @staticmethod
    def of(surface: Surface) -> Draft:
        """Triangles of all polygons with three corners or more whose points are finite."""
        finite = finite_points(surface.points)
        cut = triangulate(np.where(finite[:, None], surface.points, 0.0), surface.counts, surface.corners)
        places = cut.corners[:, [0, 2, 1]] if surface.left_handed else cut.corners
        bad = np.bincount(_polygon_of_corner(surface)[~finite[surface.corners]], minlength=surface.polygon_count) > 0
        sound = ~bad[cut.polygons]
        faces = surface.corners[places[sound]]
        count = int(sound.sum())
        return Draft(
            surface, np.where(finite[:, None], surface.points, 0.0), faces, places[sound], cut.polygons[sound],
            np.arange(len(sound))[sound], np.zeros(count, dtype=bool),
        )  # fmt: skip

    def only(self, kept: Flags) -> Draft:
        """Some of the triangles (f,)."""
        return replace(
            self, faces=self.faces[kept], sources=self.sources[kept], polygons=self.polygons[kept],
            cuts=self.cuts[kept], turned=self.turned[kept],
        )  # fmt: skip

    def joined(self, onto: Integers) -> Draft:
        """Points moved onto others (n,), without the triangles that close thereby."""
        moved = replace(self, faces=onto[self.faces])
        return moved.only(~collapsed(moved.faces))

    def wound(self, turn: Flags) -> Draft:
        """Some triangles (f,) turned over."""
        swap = lambda array: np.where(turn[:, None], array[:, [0, 2, 1]], array)  # noqa: E731
        return replace(self, faces=swap(self.faces), sources=swap(self.sources), turned=self.turned ^ turn)

    def rewired(self, faces: Faces, sources: Integers, changed: Flags) -> Draft:
        """Other corners for the changed triangles (f,)."""
        return replace(self, faces=faces, sources=sources, cuts=np.where(changed, -1, self.cuts))

    def with_more(self, faces: Faces, sources: Integers, polygons: Integers, x: Points | None = None) -> Draft:
        """Triangles (k, 3) added, on more points perhaps."""
        return replace(
            self, x=self.x if x is None else x, faces=np.concatenate([self.faces, faces]),
            sources=np.concatenate([self.sources, sources]), polygons=np.concatenate([self.polygons, polygons]),
            cuts=np.concatenate([self.cuts, np.full(len(faces), -1)]),
            turned=np.concatenate([self.turned, np.zeros(len(faces), dtype=bool)]),
        )  # fmt: skip

    def finished(self) -> Surface:
        """The surface: polygons of the file where nothing was changed in them, triangles elsewhere."""
        counts, places, corners, polygons = self._rings()
        used, renumbered = np.unique(corners, return_inverse=True)
        points = self.x[used]
        before = self.surface
        attributes = tuple(
            _carried(one, before, used, places, renumbered.reshape(-1), polygons) for one in before.attributes
        )
        subsets = tuple(Subset(s.name, _members(s.polygons, polygons), s.family) for s in before.subsets)
        return Surface(
            points, counts, renumbered.reshape(-1), attributes, subsets, before.left_handed, before.libraries
        )

    def _rings(self) -> tuple[Integers, Integers, Integers, Integers]:
        """Of the finished polygons: corners of each, source and point of each corner, source of each."""
        before = self.surface
        whole, turned = self._intact()
        single = ~whole[self.polygons] | (self.cuts < 0)
        kept = np.flatnonzero(whole)
        order = np.argsort(np.concatenate([kept, self.polygons[single]]), kind="stable")
        counts = np.concatenate([before.counts[kept], np.full(int(single.sum()), 3)])
        point_of_corner = np.full(len(before.corners), -1)
        point_of_corner[self.sources[~single].reshape(-1)] = self.faces[~single].reshape(-1)
        of_kept = _ring_places(before, kept, turned)
        triangles, corners = self.sources[single], self.faces[single]
        if before.left_handed:
            triangles, corners = triangles[:, [0, 2, 1]], corners[:, [0, 2, 1]]
        places = np.concatenate([of_kept, triangles.reshape(-1)])
        points = np.concatenate([point_of_corner[of_kept], corners.reshape(-1)])
        starts = (np.cumsum(counts) - counts)[order]
        polygons = np.concatenate([kept, self.polygons[single]])[order]
        gather = np.repeat(starts, counts[order]) + _ramp(counts[order])
        return counts[order], places[gather], points[gather], polygons

    def _intact(self) -> tuple[Flags, Flags]:
        """(p,) polygons of which every triangle is as it was cut, and whether they are turned."""
        before = self.surface
        own = self.polygons[self.cuts >= 0]
        unchanged = np.bincount(own, minlength=before.polygon_count)
        over = np.bincount(own, self.turned[self.cuts >= 0], minlength=before.polygon_count)
        whole = (unchanged == before.counts - 2) & (unchanged > 0) & ((over == 0) | (over == unchanged))
        # A polygon of which a corner has moved might be cut in another way next time: its triangles are what was meant.
        moved = (self.x[self.faces] != before.points[before.corners[self.sources]]).any(axis=(1, 2))
        whole &= (before.counts == 3) | (np.bincount(self.polygons, moved, minlength=before.polygon_count) == 0)
        return whole, over > 0


def _polygon_of_corner(surface: Surface) -> Integers:
    return np.repeat(np.arange(surface.polygon_count), surface.counts)


def _ramp(counts: Integers) -> Integers:
    """0, 1, … for each count."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _ring_places(surface: Surface, kept: Integers, turned: Flags) -> Integers:
    """Corners of the kept polygons one after the other; of turned ones the first, then backwards."""
    counts = surface.counts[kept]
    step, size = _ramp(counts), np.repeat(counts, counts)
    back = np.repeat(turned[kept], counts)
    return np.repeat(surface.starts[kept], counts) + np.where(back, (size - step) % size, step)


def _members(before: Integers, polygons: Integers) -> Integers:
    """Finished polygons whose source was in a subset."""
    return np.flatnonzero(np.isin(polygons, before))


def _carried(
    one: Attribute, before: Surface, used: Integers, places: Integers, corners: Integers, polygons: Integers
) -> Attribute:
    """An attribute on the finished surface; one of points that no longer agree becomes one of corners."""
    if one.scope is Scope.WHOLE:
        return one
    if one.scope is Scope.POLYGON:
        return _taken(one, polygons)
    if one.scope is Scope.CORNER:
        return _taken(one, places)
    rows = np.arange(before.point_count) if one.indices is None else one.indices
    by_corner = rows[before.corners[places]]
    of_point = np.full(len(used), -1)
    of_point[corners] = by_corner
    values: Any = one.values
    same = values[of_point[corners]] == values[by_corner]
    if np.all(same | ((values[by_corner] != values[by_corner]) if values.dtype.kind == "f" else False)):
        return _taken(one, before.corners[places][_first_corner(corners, len(used))])
    return Attribute(one.name, Scope.CORNER, one.values, by_corner)


def _first_corner(corners: Integers, count: int) -> Integers:
    """(count,) a corner at each point: the last listed, as `of_point` above."""
    out = np.zeros(count, np.int64)
    out[corners] = np.arange(len(corners))
    return out


def _taken(one: Attribute, elements: Integers) -> Attribute:
    """The attribute's rows of some elements, its indices kept where it has them."""
    if one.indices is None:
        return Attribute(one.name, one.scope, one.values[elements])
    return Attribute(one.name, one.scope, one.values, one.indices[elements])
