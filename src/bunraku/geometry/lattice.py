"""The coarse interior of a soft body: a lattice of cubes about a closed surface, which goes along with its nodes.

Uniform quadratic B-splines, 27 nodes to a cell, deform space smoothly [Remillard 2013, §5.2]; trilinear functions, 8
nodes to a cell, are there to compare with. A cell that the surface cuts has an element for each piece of the body.
Integrals over a piece take 27 places in the box about it, each with the volume of the body around it, so that a plate
that fills a quarter of a cell bends as one. Some nodes of such a cell may reach hardly any of the piece, and nothing
would hold them: its cell is therefore also filled with a little of the same matter, `LEAST_FILL` of it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral

import numpy as np
from scipy import sparse

from bunraku.contracts import (
    Array,
    Faces,
    Flags,
    InputError,
    Integers,
    Points,
    Sparse,
    Vector,
    input_error,
    is_between,
    need,
)

from .connectivity import orientation, turned
from .enclosing import signed_volume
from .lattice_pieces import SAMPLES, Pieces, pieces_inside
from .splines import DEGREES, GAUSS, GAUSS_WEIGHTS, axis_functions, first_node
from .topology import check_physical, edges
from .trimesh import TriMesh, first_few, vertex_normals

_log = logging.getLogger(__name__)

LEAST_FILL = 1e-4
"""share of a cell that is filled with matter everywhere, as far as stiffness and the distribution of mass go"""
MOST_CELLS = 100_000
"""of the box about the body: each is sampled 512 times"""
_FULL = 1.0 - 1e-9
_SAME_VOLUME = 0.2
"""by how much the samples' volume may differ from the surface's before something is said"""


@dataclass(frozen=True, eq=False)
class Lattice:
    """Elements with their nodes, the matter in them, and the surface that goes along.

    Functions of an element sum to one everywhere, and nodes moved affinely move the surface so: at rest it is where
    it was given.
    """

    surface: TriMesh
    cell: float
    """length of a cell's sides [m]"""
    degree: int
    """2: quadratic B-splines; 1: trilinear functions"""
    rest: Points
    """(n, 3) nodes at rest [m]"""
    elements: Integers
    """(m, (degree + 1)³) nodes of each element, z fastest"""
    corners: Points
    """(m, 3) of each element's cell, where its coordinates are smallest [m]"""
    boxes: Array
    """(m, 2, 3) opposite corners of the box about the matter, as shares of the cell"""
    volumes: Array
    """(m, 27) of the matter about each of the box's places of integration [m³], z fastest; in all that of the body"""
    least: Vector
    """(m,) volume of the little matter that is everywhere in a cell; 0 in full ones [m³]"""
    embedding: Sparse
    """(n_surface, n) CSR: B, places of the surface's vertices from those of the nodes; rows sum to one"""
    owners: Integers
    """(n_surface,) the element each vertex is on"""
    dropped: int
    """samples inside the surface, of 512 to a cell, that belong to parts too small to be elements"""
    pieces: Pieces = field(repr=False)
    """what each sample belongs to; a piece is an element"""
    doubts: tuple[str, ...] = ()
    """sentences: what may not be meant"""

    @property
    def point_count(self) -> int:
        """Number of nodes n."""
        return len(self.rest)

    @property
    def fill(self) -> Vector:
        """(m,) share of each cell that its element fills."""
        return self.volumes.sum(axis=1) / self.cell**3

    @property
    def split(self) -> int:
        """How many elements have their cell not for themselves."""
        _, cell, count = np.unique(np.rint(self.corners / self.cell - self.corners[0] / self.cell), axis=0,
                                   return_inverse=True, return_counts=True)  # fmt: skip
        return int((count[cell.reshape(-1)] > 1).sum())

    @cached_property
    def weak(self) -> Integers:
        """Nodes that hang on the little matter everywhere more than on the body's own."""
        own, little = self._summed(matter=True), self._summed(matter=False)
        return np.flatnonzero(own < little)

    def points(self, q: Points) -> Points:
        """(n_surface, 3) the surface with the nodes at q (n, 3) [m]; velocities likewise."""
        return np.asarray(self.embedding @ q)

    def inside_out(self, q: Points) -> Flags:
        """(m,) elements in which the body is inside out at one of its places, with the nodes at q (n, 3)."""
        values, slopes = (one[:-1] for one in self.tables())
        local = q[self.elements].reshape(-1, *(self.degree + 1,) * 3, 3)
        along = [
            np.einsum(
                "mabci,mxa,myb,mzc->mxyzi", local, *(slopes[:, k] if k == axis else values[:, k] for k in range(3)),
                optimize=True,
            ).reshape(len(local), -1, 3)
            for axis in range(3)
        ]  # fmt: skip
        turned = np.linalg.det(np.stack(along, axis=-1)) <= 0.0
        return np.asarray((turned & (self.volumes > 0.0)).any(axis=1))

    def masses(self, density: float = 1.0) -> Vector:
        """(n,) lumped: the integral of each node's function times the density [kg/m³], in all that of the body [kg]."""
        both = self._summed(matter=True) + self._summed(matter=False)
        return both * (density * self.volumes.sum() / both.sum())

    def functions(self, t: Array) -> tuple[Array, Array]:
        """Values (k, a) and gradients (k, a, 3) [1/m] of an element's functions, at places t (k, 3) from 0 to 1."""
        values, slopes = axis_functions(t, self.degree)
        x, y, z = (values[:, axis] for axis in range(3))
        product = np.einsum("ka,kb,kc->kabc", x, y, z).reshape(-1, self.elements.shape[1])
        along = [
            np.einsum("ka,kb,kc->kabc", *(slopes[:, k] if k == axis else values[:, k] for k in range(3)))
            for axis in range(3)
        ]
        return product, np.stack(along, axis=-1).reshape(-1, self.elements.shape[1], 3) / self.cell

    def tables(self) -> tuple[Array, Array]:
        """Values and slopes [1/m] (m + 1, 3, 3, degree + 1) along each axis at the three places of integration of each
        box; the last is the whole cell."""
        boxes = np.concatenate([self.boxes, [[[0.0] * 3, [1.0] * 3]]])
        places = boxes[:, 0, :, None] + (boxes[:, 1] - boxes[:, 0])[:, :, None] * GAUSS
        values, slopes = axis_functions(places, self.degree)
        return values, slopes / self.cell

    def _summed(self, *, matter: bool) -> Vector:
        """(n,) integrals of the nodes' functions over the matter of the body, or over what is everywhere [m³]."""
        tables = self.tables()[0]
        tables = tables[:-1] if matter else np.broadcast_to(tables[-1:], tables[:-1].shape)
        weights = self.volumes if matter else self.least[:, None] * whole_weights()
        local = np.einsum(
            "mxyz,mxa,myb,mzc->mabc", weights.reshape(-1, 3, 3, 3), *(tables[:, k] for k in range(3)), optimize=True
        )
        return np.bincount(self.elements.reshape(-1), local.reshape(-1), self.point_count).astype(np.float64)


def whole_weights() -> Vector:
    """(27,) of the places of integration of a whole cell, z fastest; they sum to one."""
    return np.einsum("x,y,z->xyz", GAUSS_WEIGHTS, GAUSS_WEIGHTS, GAUSS_WEIGHTS).reshape(-1)


def lattice_around(mesh: TriMesh, cell: float, *, degree: int = 2) -> Lattice:
    """The lattice of cubes with sides `cell` [m] about a closed surface, centred on it.

    Parts of the body that are an eighth of a cell apart are apart, in one cell too; parts thinner than that may be
    missed.
    """
    need(TriMesh, "mesh", mesh)
    if not isinstance(degree, Integral) or isinstance(degree, bool) or degree not in DEGREES:
        raise input_error("degree must be 1 or 2", where="degree", got=repr(degree), allowed="2, or 1 to compare")
    faces = turned_outwards(mesh)
    shape = _cells(mesh, cell)
    low = 0.5 * (mesh.rest.min(axis=0) + mesh.rest.max(axis=0) - cell * shape)
    p = (mesh.rest - low) * (SAMPLES / cell)
    found = pieces_inside(p, faces, shape)
    boxes, shares = found.boxes()
    normals = vertex_normals(mesh.rest, faces)
    outward = found.outward(p, normals, faces)
    own_way = np.sum(outward * normals, axis=1) >= 0.0  # a part may be inside out
    enclosed = signed_volume(mesh.rest, np.where(own_way[faces[:, :1]], faces, faces[:, ::-1]))
    sampled = float(shares.sum()) * cell**3
    alike = abs(enclosed / sampled - 1.0) <= _SAME_VOLUME
    volumes = shares * cell**3 * (enclosed / sampled if alike else 1.0)  # what samples miss is made up for
    elements, places = found.nodes(degree)
    rest = low + cell * (places + first_node(degree))
    owners = found.of_points(p, outward)
    t = p / SAMPLES - found.cells[owners]
    least = np.where(shares.sum(axis=1) < _FULL, LEAST_FILL * cell**3, 0.0)
    doubts = [*_too_fine(mesh, cell), *([] if alike else [_unlike(sampled, enclosed)]), *_unseen(cell, found, t)]
    out = Lattice(
        mesh, float(cell), degree, rest, elements, low + cell * found.cells, boxes, volumes, least,
        embedding_matrix(elements[owners], element_weights(t, degree), len(rest)), owners, found.dropped, found,
        tuple(doubts),
    )  # fmt: skip
    _say(out)
    return out


def element_weights(t: Array, degree: int) -> Array:
    """(k, (degree + 1)³) of an element's nodes, for points at t (k, 3) in its cell."""
    values, _ = axis_functions(t, degree)
    return np.einsum("ka,kb,kc->kabc", *(values[:, axis] for axis in range(3))).reshape(len(t), -1)


def embedding_matrix(nodes: Integers, weights: Array, count: int) -> Sparse:
    """(k, count) of points with weights (k, a) of nodes (k, a)."""
    rows = np.repeat(np.arange(len(nodes)), nodes.shape[1])
    return sparse.csr_array((weights.reshape(-1), (rows, nodes.reshape(-1))), shape=(len(nodes), count))


def turned_outwards(mesh: TriMesh, name: str = "mesh") -> Faces:
    """The faces (f, 3), turned so that neighbours agree and the body is inside; refused where there is no inside."""
    check_physical(mesh, name)
    found = edges(mesh.faces)
    once, often = (found.vertices[chosen] for chosen in (found.face_count == 1, found.face_count > 2))
    wrong = []
    if len(once):
        wrong.append(input_error(
            "an open surface has no interior", where=name,
            got=f"{len(once)} open edges, the first between vertices {first_few(once[0])}", allowed="closed surfaces",
            remedy="close its holes (bunraku check FILE --repair OUT --fill-holes 1), or give a sheet thickness",
        ))  # fmt: skip
    if len(often):
        wrong.append(input_error(
            "edges with three or more faces leave open which side is inside", where=name,
            got=f"{len(often)} such edges, the first between vertices {first_few(often[0])}",
            allowed="two faces to an edge", remedy="take the inner walls out, or bunraku check FILE --repair OUT",
        ))  # fmt: skip
    if wrong:  # both at once: what mends the one does not mend the other
        raise InputError("\n".join(map(str, wrong)))
    way = orientation(mesh.faces, found)
    if way.one_sided.any():
        raise input_error("a surface with one side only has no interior", where=name, remedy="check its faces")
    faces = turned(mesh.faces, way.turn)
    return np.ascontiguousarray(faces if signed_volume(mesh.rest, faces) >= 0.0 else faces[:, ::-1])


def _cells(mesh: TriMesh, cell: float) -> Integers:
    """(3,) how many cells the body takes along each axis."""
    extent = np.ptp(mesh.rest, axis=0)
    largest = float(extent.max())
    if not is_between(cell, 1e-9 * largest, largest):
        raise input_error(
            "cell must be a length above 0 and not above the body's own", where="cell", got=repr(cell),
            allowed=f"up to {largest:.3g} m", remedy=f"{0.1 * largest:.2g} m, a tenth of the body",
        )  # fmt: skip
    shape = np.maximum(np.ceil(extent / cell - 1e-9), 1).astype(np.int64)
    count = int(np.prod(shape.astype(np.float64)))
    if count > MOST_CELLS:
        raise input_error(
            "cells are so small that there would be too many", where="cell", got=f"{cell:.3g} m, {count:,} cells about "
            "the body", allowed=f"up to {MOST_CELLS:,}",
            remedy=f"cells from {1.05 * cell * (count / MOST_CELLS) ** (1 / 3):.2g} m on",
        )  # fmt: skip
    return shape


def _too_fine(mesh: TriMesh, cell: float) -> list[str]:
    sides = mesh.rest[edges(mesh.faces).vertices]
    median = float(np.median(np.linalg.norm(sides[:, 1] - sides[:, 0], axis=1)))
    if cell >= median:
        return []
    return [
        f"cells of {cell:.3g} m are smaller than the surface's edges of {median:.3g} m, which show nothing of what is "
        "finer: larger ones would take less time"
    ]


def _unlike(sampled: float, volume: float) -> str:
    return (
        f"the lattice sees {sampled:.3g} m³ where the surface encloses {volume:.3g} m³: the surface goes through "
        "itself, or parts are thinner than an eighth of a cell"
    )


def _unseen(cell: float, pieces: Pieces, t: Array) -> list[str]:
    """What of the body the samples have missed; vertices are at t (n, 3) in their cells."""
    out, beyond = [], np.maximum(np.maximum(-t, t - 1.0), 0.0).max(axis=1)
    if pieces.dropped:
        out.append(f"parts of {pieces.dropped} samples (of {SAMPLES**3} to a cell) are too small to be elements")
    far = int((beyond > 2.0 / SAMPLES).sum())
    if far:
        out.append(
            f"{far} vertices are on parts too thin for the lattice to see; they go along with what is nearest, up to "
            f"{float(beyond.max()) * cell:.2g} m away"
        )
    return out


def _say(lattice: Lattice) -> None:
    """What the artist should know."""
    for one in lattice.doubts:
        _log.warning("%s", one)
    _log.info(
        "a lattice of %d elements (%d share their cell) and %d nodes; the emptiest cell is %.2g full, %d nodes reach "
        "less of the body than of what fills cells everywhere",
        len(lattice.elements), lattice.split, lattice.point_count, lattice.fill.min(), len(lattice.weak),
    )  # fmt: skip
