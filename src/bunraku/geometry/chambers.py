"""Closed pieces of a surface and the volumes they enclose."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bunraku.contracts import Array, Faces, Integers, Points, Vector, input_error

from .connectivity import orientation, turned
from .topology import Hinges, edges, hinges
from .trimesh import TriMesh, face_normals, first_few


@dataclass(frozen=True, eq=False)
class Chambers:
    """The closed pieces of a mesh, each a chamber of its own, all faces turned outwards at rest.

    Faces that share an edge belong to one chamber; pieces that only touch in a vertex are two. A piece inside another
    is a chamber too, and its outside is where its own volume is positive.
    """

    faces: Faces
    """(f, 3) wound counter-clockwise seen from outside"""
    chamber: Integers
    """(f,) which chamber each face bounds"""
    count: int
    hinges: Hinges = field(repr=False)
    """of the turned faces"""

    @cached_property
    def _firsts(self) -> Integers:
        """(c,) a vertex of each chamber."""
        return self.faces[np.unique(self.chamber, return_index=True)[1], 0]

    def volumes(self, x: Points) -> Vector:
        """(c,) [m³]; negative where a chamber is turned inside out."""
        # A closed surface may be measured from any point; from a near one the digits are not lost.
        origin = x[self._firsts][self.chamber]
        cones = np.einsum("fi,fi->f", x[self.faces[:, 0]] - origin, face_normals(x, self.faces)) / 6.0
        return np.bincount(self.chamber, cones, minlength=self.count).astype(np.float64)

    def slopes(self, x: Points) -> Points:
        """(f, 3) what each corner of a face adds to the derivative of its chamber's volume: a third of the area
        vector [m²]."""
        return face_normals(x, self.faces) / 6.0

    def curvatures(self, x: Points) -> Array:
        """(h, 3, 3) second derivative of the volume by the two ends (i, j) of each edge; all others are zero.

        With opposite corners k (of the face that runs i → j) and l: ∂²V/∂x_i∂x_j = [x_l − x_k]×/6.
        """
        across = (x[self.hinges.vertices[:, 3]] - x[self.hinges.vertices[:, 2]]) / 6.0
        out = np.zeros((len(across), 3, 3))
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            out[:, i, j], out[:, j, i] = -across[:, k], across[:, k]
        return out

    @cached_property
    def of_hinge(self) -> Integers:
        """(h,) chamber of each edge."""
        return self.chamber[self.hinges.faces[:, 0]]


def chambers(mesh: TriMesh, name: str = "shell") -> Chambers:
    """The chambers of a mesh; refused where it is open, branches, has one side only or encloses nothing."""
    found = edges(mesh.faces)
    open_edges = found.vertices[found.face_count == 1]
    if len(open_edges):
        raise input_error(
            "an open shell encloses nothing, so it can hold no pressure", where=name,
            got=f"{len(open_edges)} open edges, the first between vertices {first_few(open_edges[0])}",
            allowed="closed pieces", remedy="close the holes (bunraku check --fill-holes), or weld the seams",
        )  # fmt: skip
    if (found.face_count > 2).any():
        raise input_error(
            "edges with three or more faces leave open which side is inside", where=name,
            got=f"{int((found.face_count > 2).sum())} such edges", remedy="take the inner walls out",
        )  # fmt: skip
    way = orientation(mesh.faces, found)
    if way.one_sided.any():
        raise input_error("a surface with one side only encloses nothing", where=name, remedy="check its faces")
    chamber = np.unique(way.patch, return_inverse=True)[1].reshape(-1)
    return _outwards(mesh, turned(mesh.faces, way.turn), chamber, name)


def _outwards(mesh: TriMesh, faces: Faces, chamber: Integers, name: str) -> Chambers:
    """Chambers whose faces agree, turned where their volume is negative."""
    count = int(chamber.max(initial=-1)) + 1
    volumes = Chambers(faces, chamber, count, hinges(TriMesh(mesh.rest, faces))).volumes(mesh.rest)
    flat = np.flatnonzero(np.abs(volumes) <= _FLAT * mesh.size**3)
    if len(flat):
        raise input_error(
            "a closed piece encloses no volume, so which side is inside is not known", where=name,
            got=f"{abs(volumes[flat[0]]):.2g} m³ in piece {flat[0]}", remedy="a rest shape that is a little inflated",
        )  # fmt: skip
    faces = turned(faces, (volumes < 0.0)[chamber])
    return Chambers(faces, chamber, count, hinges(TriMesh(mesh.rest, faces)))


_FLAT = 1e-12
"""share of the cube of the shell's size below which a volume is rounding"""
