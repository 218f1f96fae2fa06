"""From a surface as a file has it to the triangle mesh physics can mean, and back.

Edges that lie on each other in every pose are sewn: texture seams and soups of single triangles become one sheet again.
Points that only touch stay apart. Faces without area, repeated faces and points of no face are left out and listed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Faces, Flags, Integers, Points

from .connectivity import collapsed, lowest_linked, same_place
from .polygons import triangulate
from .surface import Surface
from .topology import THINNEST_FACE, edges, repeated_faces, thinness
from .trimesh import TriMesh

TOGETHER = 1e-6  # of the shape's size: split points moved by rounded weights still lie on each other


@dataclass(frozen=True, eq=False)
class Welded:
    """The triangle mesh of a surface, and how the two belong together."""

    mesh: TriMesh
    vertex_of_point: Integers
    """(n,) −1 for points of no face"""
    point_of_vertex: Integers
    """(v,) the first of the points sewn to each vertex"""
    corners: Integers
    """(f, 3) corner of the surface at each corner of a face"""
    polygons: Integers
    """(f,) polygon of each face"""
    flat: Integers
    """(k,) polygons of which a triangle without area was left out"""
    repeated: Integers
    """(k,) polygons of which a triangle was left out because another has the same vertices"""

    @property
    def loose(self) -> Integers:
        """(k,) points of no face."""
        return np.flatnonzero(self.vertex_of_point < 0)

    @property
    def sewn(self) -> int:
        """How many points were sewn to others."""
        return int((self.vertex_of_point >= 0).sum()) - self.mesh.point_count

    def spread(self, x: Points, loose: Points) -> Points:
        """(n, 3) of the surface's points from those of the vertices; points of no face from `loose` (k, 3)."""
        out = np.empty((len(self.vertex_of_point), 3))
        used = self.vertex_of_point >= 0
        out[used], out[~used] = x[self.vertex_of_point[used]], loose
        return out

    def faces_of(self, polygons: Integers) -> Integers:
        """(k,) faces cut from polygons."""
        return np.flatnonzero(np.isin(self.polygons, polygons))


def weld(surface: Surface, poses: Array | None = None, *, sew: bool = True) -> Welded:
    """The mesh of a surface; `poses` (t, n, 3) must hold together what is sewn. `sew=False` sews nothing."""
    points = surface.points
    cut = triangulate(points, surface.counts, surface.corners)
    places = cut.corners[:, [0, 2, 1]] if surface.left_handed else cut.corners
    faces = surface.corners[places]
    # Faces that mean nothing must not hide a border.
    telling = faces[~(collapsed(faces) | repeated_faces(faces))]
    first = sewn_points(points, telling, poses) if sew else np.arange(len(points))
    faces = first[faces]
    flat = ~(thinness(points, faces) > THINNEST_FACE)
    repeated = repeated_faces(faces) & ~flat
    kept = ~flat & ~repeated
    used = np.unique(faces[kept])
    vertex_of_first = np.full(len(points), -1)
    vertex_of_first[used] = np.arange(len(used))
    mesh = TriMesh(points[used], vertex_of_first[faces[kept]])
    return Welded(
        mesh, vertex_of_first[first], used, places[kept], cut.polygons[kept],
        np.unique(cut.polygons[flat]), np.unique(cut.polygons[repeated]),
    )  # fmt: skip


def sewn_points(points: Points, faces: Faces, poses: Array | None = None) -> Integers:
    """(n,) the first point each is sewn to (itself where to none), along edges of one face that coincide."""
    count = len(points)
    place = same_place(points)
    found = edges(faces)
    border = found.vertices[found.face_count == 1]
    if not len(border):
        return np.arange(count)
    ends = place[border]
    turned = ends[:, 0] > ends[:, 1]
    border = np.where(turned[:, None], border[:, ::-1], border)
    key, group = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    leader = order[np.searchsorted(group[order], np.arange(len(key)))][group]
    pairs = np.concatenate([np.stack([border[:, k], border[leader][:, k]], axis=1) for k in (0, 1)])
    # An edge shrunk to one place would sew its own ends together.
    pairs = pairs[np.tile(ends[:, 0] != ends[:, 1], 2) & (pairs[:, 0] != pairs[:, 1])]
    pairs = pairs[_stay_together(points, pairs, poses)]
    return lowest_linked(pairs, count)


def _stay_together(points: Points, pairs: Integers, poses: Array | None) -> Flags:
    """(k,) whether the two points of a pair coincide in all poses (t, n, 3)."""
    together = np.ones(len(pairs), dtype=bool)
    near = TOGETHER * float(np.linalg.norm(np.ptp(points, axis=0)))
    for pose in () if poses is None else poses:
        apart = np.abs(pose[pairs[:, 0]] - pose[pairs[:, 1]]).max(axis=1, initial=0.0)
        together &= ~(apart > near)
    return together
