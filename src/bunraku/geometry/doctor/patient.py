"""A surface made ready to be examined: everything several checks ask for, worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.contracts import Faces, Flags, Integers, Points, Vector
from bunraku.geometry.connectivity import (
    Borders,
    Orientation,
    borders,
    collapsed,
    face_pieces,
    fans,
    finite_points,
    orientation,
    pinched_vertices,
    same_place,
)
from bunraku.geometry.polygons import triangulate
from bunraku.geometry.surface import Surface
from bunraku.geometry.topology import LARGEST_COORDINATE, SMALLEST_SIZE, Edges, edges, repeated_faces, thinness
from bunraku.geometry.welding import sewn_points, weld

from .cracks import Cracks, find_cracks
from .holes import piece_sizes


@dataclass(frozen=True, eq=False)
class Patient:
    """The surface and its triangles in three forms: raw, merged by position, sewn along borders."""

    surface: Surface
    """as given"""
    sound: Surface
    """its polygons whose points are finite, scaled"""
    numbers: Integers
    """(p,) number in `surface` of each polygon of `sound`"""
    scale: float
    """metres of one unit of x: a power of two, 1 unless coordinates are absurd"""
    finite: Flags
    """(n,)"""
    raw: Faces
    """(f, 3) triangles as the file wires them"""
    raw_polygons: Integers
    """(f,) polygon of `surface` of each"""
    place: Integers
    """(n,) first point at each position"""
    sewing: Integers
    """(n,) point each is sewn to by `weld`"""

    @property
    def x(self) -> Points:
        """(n, 3) points, in units of `scale`; zero where not finite."""
        return self.sound.points

    @cached_property
    def whole(self) -> Flags:
        """(f,) raw triangles that still have three vertices once sewn, and do not repeat another."""
        return ~(collapsed(self.sewing[self.raw]) | self.repeated)

    @cached_property
    def repeated(self) -> Flags:
        """(f,) raw triangles with the three vertices of an earlier one, once sewn."""
        faces = self.sewing[self.raw]
        return repeated_faces(faces) & ~collapsed(faces)

    @cached_property
    def sewn(self) -> Faces:
        """(g, 3) triangles as bunraku wires them; those without area too, but none sewn shut or repeated."""
        return np.ascontiguousarray(self.sewing[self.raw][self.whole])

    @cached_property
    def polygons(self) -> Integers:
        """(g,) polygon of each sewn triangle."""
        return self.raw_polygons[self.whole]

    @cached_property
    def edges(self) -> Edges:
        return edges(self.sewn)

    @cached_property
    def lengths(self) -> Vector:
        """(e,) of the sewn edges."""
        a, b = self.edges.vertices.T
        return np.linalg.norm(self.x[a] - self.x[b], axis=1)

    @cached_property
    def borders(self) -> Borders:
        return borders(self.x, self.sewn, self.edges)

    @cached_property
    def cracks(self) -> Cracks:
        return find_cracks(self.x, self.sewn, self.edges)

    @cached_property
    def pieces(self) -> Integers:
        """(g,) piece of each sewn triangle."""
        return face_pieces(self.sewn, len(self.x))

    @property
    def piece_count(self) -> int:
        return int(self.pieces.max(initial=-1)) + 1

    @cached_property
    def piece_sizes(self) -> Vector:
        """(pieces,) diagonal of each piece's bounding box."""
        return piece_sizes(self.x, self.sewn, self.pieces)

    @cached_property
    def orientation(self) -> Orientation:
        return orientation(self.sewn, self.edges)

    @cached_property
    def pinched(self) -> Integers:
        """(k,) bow-tie points."""
        return pinched_vertices(self.sewn, fans(self.sewn, self.edges))

    @cached_property
    def thin(self) -> Vector:
        """(f,) thinness of the raw triangles."""
        return thinness(self.x, self.raw)

    @cached_property
    def size(self) -> float:
        """Diagonal of the bounding box of points with faces."""
        used = self.x[np.unique(self.raw)]
        return float(np.linalg.norm(np.ptp(used, axis=0))) if len(used) else 0.0

    @cached_property
    def physical_border(self) -> int:
        """Edges of one face once `weld` has left out what physics cannot mean."""
        return int((edges(weld(self.sound).mesh.faces).face_count == 1).sum())

    @cached_property
    def genus(self) -> int | None:
        """Handles, where the surface is a manifold with two sides."""
        crowded = (self.edges.face_count > 2).any()
        if not len(self.sewn) or crowded or len(self.pinched) or self.orientation.one_sided.any():
            return None
        euler = len(np.unique(self.sewn)) - len(self.edges.vertices) + len(self.sewn)
        return self.piece_count - (euler + self.borders.count) // 2


def prepare(surface: Surface) -> Patient:
    """Leave out what is not finite, bring absurd scales to size one (exactly: by a power of two), cut, sew."""
    finite = finite_points(surface.points)
    bad_corners = np.concatenate([[0], np.cumsum(~finite[surface.corners])])
    ends = np.cumsum(surface.counts)
    sound = bad_corners[ends] == bad_corners[ends - surface.counts]
    numbers = np.flatnonzero(sound)
    points = np.where(finite[:, None], surface.points, 0.0)
    scale = _unit(points, surface.corners)
    kept = Surface(points / scale, surface.counts[sound], surface.corners[np.repeat(sound, surface.counts)])
    cut = triangulate(kept.points, kept.counts, kept.corners)
    places = cut.corners[:, [0, 2, 1]] if surface.left_handed else cut.corners
    raw = kept.corners[places]
    return Patient(
        surface, kept, numbers, scale, finite, raw, numbers[cut.polygons], same_place(kept.points),
        sewn_points(kept.points, raw),
    )  # fmt: skip


def _unit(points: Points, corners: Integers) -> float:
    """1, or the power of two that brings absurd coordinates to size one."""
    largest = float(np.abs(points).max(initial=0.0))
    used = points[corners]
    spread = float(np.ptp(used, axis=0).max()) if len(used) else 1.0
    if largest > LARGEST_COORDINATE:
        return 2.0 ** np.floor(np.log2(largest))
    return 2.0 ** np.floor(np.log2(spread)) if 0.0 < spread < SMALLEST_SIZE else 1.0
