"""Heat weights [Baran 2007]: each bone's heat spreads over the surface from where the bone is near.

For joint i the weights w solve −Δw + H(w − p) = 0: H is 1 / d² where a vertex sees its nearest bone, at distance d,
through the inside of the mesh, else 0; p is 1 where that bone moves with joint i. One matrix serves all joints. With
no negative entry of H and none positive off the diagonal of −Δ, weights lie between 0 and 1 and add up to 1.
"""

from __future__ import annotations

import logging

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from bunraku.contracts import Array, Flags, Integers, Sparse, Vector, input_error, need
from bunraku.geometry import TriMesh, check_coordinates, cotangent_laplacian, vertex_areas
from bunraku.numerics import choose

from .rig import Rig
from .skeleton import Bones, Skeleton

_log = logging.getLogger(__name__)

_TIE = 1e-4  # bones this much further than the nearest share its vertices [Baran 2007]
_NEAREST = 1e-4  # [mesh sizes] vertices closer to a bone than this are as warm as there
_NONE = 1e-6  # weights below are left out


def bind(mesh: TriMesh, skeleton: Skeleton, *, threads: int | None = None) -> Rig:
    """The mesh bound to a skeleton that stands inside it in its bind pose, by heat weights.

    Where part of a mesh sees no bone through its inside (open sheets, parts that stand apart, a skeleton that does not
    fit) it takes the nearest bone, and a note says so. Joints whose bones nothing sees carry nothing:
    `rig.idle_joints`.
    """
    need(TriMesh, "mesh", mesh)
    need(Skeleton, "skeleton", skeleton, remedy="bk.read_skeleton(file)")
    check_coordinates(mesh.rest, "the mesh")
    if not len(mesh.faces):
        raise input_error("a mesh without faces cannot be bound", got=f"{mesh.point_count} vertices")
    bones = skeleton.bones()
    laplacian = cotangent_laplacian(mesh)
    _, piece = connected_components(laplacian, directed=False)
    held, distance = _held_by(mesh, bones, piece)
    source = _sources(held, bones.joints, skeleton.joint_count)
    near = np.maximum(distance, _NEAREST * mesh.size)
    heat = np.where(held.any(axis=1), 1.0 / near**2, 0.0)
    area = vertex_areas(mesh.rest, mesh.faces)
    heat *= np.where(area > 0, area, 1.0)
    return Rig(mesh, skeleton, _equilibrium(_without_cold_edges(laplacian), heat, source, threads))


def _held_by(mesh: TriMesh, bones: Bones, piece: Integers) -> tuple[Flags, Vector]:
    """(n, b) which bones warm a vertex, and (n,) from how far [m]; `piece` (n,) the part of the mesh it belongs to."""
    from .visibility import nearest_seen, on_bones  # compiled kernels: only for those who need them

    places, distances = on_bones(mesh.rest, bones.heads, bones.tails)
    held = nearest_seen(mesh, places, distances, _TIE)
    warm = np.zeros(piece.max() + 1, np.bool_)
    warm[piece[held.any(axis=1)]] = True
    cold = ~warm[piece]
    if cold.any():
        _log.warning("%d of %d vertices lie on parts of the mesh that see no bone; they follow the nearest one",
                     int(cold.sum()), mesh.point_count)  # fmt: skip
        held[cold] = distances[cold] <= distances[cold].min(axis=1, keepdims=True) * (1.0 + _TIE)
    return held, np.where(held, distances, np.inf).min(axis=1)


def _sources(held: Flags, joints: Integers, count: int) -> Array:
    """(n, j) the share of each joint in a vertex's nearest bones: rows add up to 1, or are 0 where there is none."""
    by_joint = held.astype(np.float64) @ (joints[:, None] == np.arange(count))
    total = by_joint.sum(axis=1, keepdims=True)
    return by_joint / np.where(total > 0, total, 1.0)


def _without_cold_edges(laplacian: Sparse) -> Sparse:
    """The Laplacian without edges that face obtuse angles only: these would carry heat from cold to warm."""
    away = sparse.csr_array(laplacian - sparse.diags_array(laplacian.diagonal()))
    away.data = np.minimum(away.data, 0.0)
    return sparse.csr_array(away - sparse.diags_array(np.asarray(away.sum(axis=1)).reshape(-1)))


def _equilibrium(laplacian: Sparse, heat: Vector, source: Array, threads: int | None) -> Sparse:
    """(n, j) CSR weights where heat lost to the bones balances what spreads: one factor for all joints."""
    upper: Sparse = sparse.csr_array(sparse.triu(laplacian + sparse.diags_array(heat), format="csr"))
    upper.sort_indices()
    solver = choose(threads=threads, positive=True)
    solver.analyse(upper.indptr, upper.indices)
    solver.factor(upper.data)
    weights = np.zeros_like(source)
    for joint in np.flatnonzero(source.any(axis=0)):
        weights[:, joint] = solver.solve(heat * source[:, joint])
    weights[weights < _NONE] = 0.0
    return sparse.csr_array(weights / weights.sum(axis=1, keepdims=True))
