"""A fine surface that goes along with a coarse body: each vertex by its barycentric weights in a tetrahedron.

    x = Σ w_k X_k,   Σ w_k = 1

so it follows every affine motion of the body exactly. Vertices outside the body continue the weights of the nearest
tetrahedron. Far outside these would grow and throw the vertex about; there the smallest weights that are still exact
for affine motion are taken, over as many nodes as that needs (`_WILDEST`).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Points, Sparse, Vector, input_error, need

from .closest import closest_points
from .tetmesh import TetMesh, check_tets
from .topology import check_coordinates
from .trimesh import TriMesh, first_few, vertex_normals

_log = logging.getLogger(__name__)

_TOUCHING = 1e-9
"""share of the body's size below which a vertex beside it lies in it"""
_WILDEST = 4.0
"""sum of |weights| above which a vertex takes more nodes: it moves by no more than that times what the nodes do.

Vertices of a surface its body was made of stay below 3 and are best left with one tetrahedron: bent and twisted, more
nodes put them five to ten times as far from where they belong."""
_RINGS = 6
"""of tetrahedra around the nearest one at most"""


@dataclass(frozen=True, eq=False)
class Cage:
    """Where the vertices of a fine surface go when the body that holds it is deformed."""

    surface: TriMesh
    body: TetMesh
    matrix: Sparse
    """(n, n_nodes) CSR, rows sum to one"""
    tets: Integers
    """(n,) the tetrahedron each vertex is in, or is nearest to"""
    outside: Integers
    """(k,) vertices outside the body, whose weights are continued"""
    how_far: Vector
    """(k,) their distance from it at rest [m]"""

    def points(self, x: Points) -> Points:
        """(n, 3) the surface's vertices with the body's nodes at x (n_nodes, 3) [m]; velocities go the same way."""
        return np.asarray(self.matrix @ x)

    def normals(self, x: Points) -> Points:
        """(n, 3) unit normals of the deformed surface with the nodes at x, area-weighted."""
        return vertex_normals(self.points(x), self.surface.faces)

    @property
    def gain(self) -> float:
        """The largest Σ |w| of a vertex: nodes that shake by 1 shake it by no more than this."""
        return float(abs(self.matrix).sum(axis=1).max(initial=1.0))

    def __str__(self) -> str:
        """In one sentence."""
        inside = f"{self.surface.point_count} vertices held by {len(self.body.tets)} tetrahedra"
        if not len(self.outside):
            return inside
        return f"{inside}, {len(self.outside)} of them from outside, up to {self.how_far.max():.3g} m"


def enclose(surface: TriMesh, body: TetMesh) -> Cage:
    """Embed a surface in a body, both in their rest shapes."""
    need(TetMesh, "body", body)
    need(TriMesh, "surface", surface)
    check_tets(body, "body")
    if not surface.point_count:
        raise input_error("has no vertices to be held", where="surface")
    check_coordinates(surface.rest, "surface")
    middle = 0.5 * (body.rest.min(axis=0) + body.rest.max(axis=0))
    x, query = body.rest - middle, surface.rest - middle
    tets, weights = containing(surface.rest, body)
    lost = np.flatnonzero(tets < 0)
    found = closest_points(surface.rest[lost], body.surface())
    tets[lost] = body.surface_tets[found.faces]
    weights[lost] = _barycentric(query[lost], x, body.tets[tets[lost]])
    away = found.distances > _TOUCHING * body.size
    _refuse_elsewhere(lost[away], found.distances[away], body)
    wild = lost[np.abs(weights[lost]).sum(axis=1) > _WILDEST]
    matrix = _matrix(query, x, body, tets, weights, wild)
    cage = Cage(surface, body, matrix, tets, lost[away], found.distances[away])
    _log.info("%s", cage)
    return cage


def _refuse_elsewhere(outside: Integers, how_far: Vector, body: TetMesh) -> None:
    """Refuse a surface that belongs to another body, or is in another unit."""
    gone = outside[how_far > body.size]
    if len(gone):
        raise input_error(
            "the surface lies elsewhere than the body that should hold it",
            where=f"surface, vertices {first_few(gone)}", got=f"{how_far.max():.3g} m away",
            allowed=f"up to the body's size, {body.size:.3g} m", remedy="the same unit, axis and place for both",
        )  # fmt: skip


def containing(query: Points, body: TetMesh) -> tuple[Integers, Array]:
    """(n,) the tetrahedron each point (n, 3) is in, −1 where in none, and its weights there (n, 4)."""
    from .bvh import box_tree  # compiled kernels: only for those who need them
    from .point_location import locate

    middle = 0.5 * (body.rest.min(axis=0) + body.rest.max(axis=0))
    corners = (body.rest - middle)[body.tets]
    low, high = corners.min(axis=1), corners.max(axis=1)
    margin = 1e-12 * np.linalg.norm(high - low, axis=1)[:, None]
    found, weights = np.full(len(query), -1), np.zeros((len(query), 4))
    tree = box_tree(low - margin, high + margin)
    locate(query - middle, corners[:, 0], _inverses(corners), *tree, found, weights)
    return found, weights


def _inverses(corners: Array) -> Array:
    """(m, 3, 3) from a point about the first corner to the weights of the other three; corners (m, 4, 3)."""
    return np.asarray(np.linalg.inv((corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)), np.float64)


def _barycentric(query: Points, x: Points, tets: Integers) -> Array:
    """(n, 4) weights of points (n, 3) in tetrahedra (n, 4), also outside them."""
    corners = x[tets]
    three = np.einsum("nij,nj->ni", _inverses(corners), query - corners[:, 0])
    return np.concatenate([1.0 - three.sum(axis=1, keepdims=True), three], axis=1)


def _matrix(query: Points, x: Points, body: TetMesh, tets: Integers, weights: Array, wild: Integers) -> Sparse:
    """(n, n_nodes) the weights as a matrix; those of the wild ones over more nodes."""
    tame = np.setdiff1d(np.arange(len(query)), wild)
    rows, columns, values = [np.repeat(tame, 4)], [body.tets[tets[tame]].reshape(-1)], [weights[tame].reshape(-1)]
    around = _tets_of_nodes(body) if len(wild) else None
    wild = wild[np.argsort(tets[wild], kind="stable")]
    for ours in np.split(wild, np.flatnonzero(np.diff(tets[wild])) + 1) if len(wild) else []:
        nodes, spread = _spread(query[ours], x, body.tets, int(tets[ours[0]]), around)
        rows.append(np.repeat(ours, len(nodes)))
        columns.append(np.tile(nodes, len(ours)))
        values.append(spread.reshape(-1))
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    matrix: Sparse = sparse.csr_array(entries, shape=(len(query), body.point_count))
    matrix.sort_indices()
    return matrix


def _tets_of_nodes(body: TetMesh) -> Sparse:
    """(n_nodes, m) CSR: the tetrahedra each node belongs to."""
    count = len(body.tets)
    entries = (np.ones(4 * count, np.int8), (body.tets.reshape(-1), np.repeat(np.arange(count), 4)))
    return sparse.csr_array(entries, shape=(body.point_count, count))


def _spread(query: Points, x: Points, tets: Integers, tet: int, around: Sparse) -> tuple[Integers, Array]:
    """Nodes (k,) around a tetrahedron and small weights (n, k) of points (n, 3) that are exact for affine motion.

    Σ w = 1 and Σ w X = p are four rows B w = b; of all w with that the least Σ w²/d is w = d Bᵀ (B d Bᵀ)⁻¹ b, with
    d falling off over the ring so that near nodes count more.
    """
    about, nodes = x[tets[tet]].mean(axis=0), tets[tet]
    weights, ring = _least(query - about, x[nodes] - about), 0
    while ring < _RINGS and len(nodes) < len(x) and np.abs(weights).sum(axis=1).max() > _WILDEST:
        nodes, ring = np.unique(tets[around[nodes].indices]), ring + 1
        weights = _least(query - about, x[nodes] - about)
    return nodes, weights


def _least(query: Points, arms: Points) -> Array:
    """(n, k) the least weights of points (n, 3) over nodes (k, 3), about the same origin, exact for affine motion."""
    reach = np.linalg.norm(arms, axis=1).max()
    near = np.exp(-2.0 * np.sum(arms**2, axis=1) / reach**2)
    rows = np.vstack([np.ones(len(arms)), arms.T / reach])
    goal = np.vstack([np.ones(len(query)), query.T / reach])
    return ((near * rows).T @ np.linalg.solve((near * rows) @ rows.T, goal)).T
