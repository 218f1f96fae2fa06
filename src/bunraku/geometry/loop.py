"""Loop's rule: every triangle into four, and points on the smooth surface that a mesh's points stand for [Loop 1987].

Each point of that surface is a mean of points nearby, so waves come out lower: farther from what they stand for than
straight edges are (a test). Pictures are to show waves as high as they are; so the points are first moved on by what
the surface would miss them by, after which it all but passes through them.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bunraku.contracts import Faces, Flags, Integers, Sparse, Vector

from .subdivision import split
from .topology import edges

_OUTER = 0.125
"""of an inner edge's new point: the weight of each of the two corners opposite"""


def subdivide_smoothly(faces: Faces, count: int, levels: int) -> tuple[Sparse, Faces]:
    """The matrix (n_fine, count) from points of a mesh with faces (f, 3) to points of a smooth surface that all but
    passes through them, and that surface's faces (4^levels f, 3), those of a face one after another.

    The given vertices come first, in their order. Affine motions stay what they are. Edges with one face, or more than
    two, are curves of their own; vertices where other than two such edges meet stay where they are.
    """
    if levels == 0:
        return sparse.eye_array(count, format="csr"), faces
    matrix = sparse.csr_array(2.0 * sparse.eye_array(count, format="csr") - loop_limit(faces, count))
    for _ in range(levels):
        step, faces = loop_rule(faces, count)
        matrix, count = step @ matrix, step.shape[0]
    return sparse.csr_array(loop_limit(faces, count) @ matrix), faces


def loop_rule(faces: Faces, count: int) -> tuple[Sparse, Faces]:
    """One level: points (count + edges, count) and faces (4 f, 3), wired as `split` does."""
    halves, finer = split(faces, count)
    found = edges(faces)
    inner = found.face_count == 2
    opposite = sparse.csr_array(
        (np.ones(faces.size), (found.of_face.reshape(-1), faces.reshape(-1))), shape=(len(inner), count)
    )
    middles = sparse.csr_array(halves[count:])
    own = sparse.diags_array(np.where(inner, 1.0 - 2.0 * _OUTER, 1.0)) @ middles
    middles = own + sparse.diags_array(np.where(inner, _OUTER, 0.0)) @ opposite
    kinds = _Around(faces, count)
    beta = _beta(kinds.valence)
    return sparse.csr_array(sparse.vstack([kinds.means(beta, 0.125), middles])), finer


def loop_limit(faces: Faces, count: int) -> Sparse:
    """(count, count) from points to those of the surface that endless subdivision comes to."""
    kinds = _Around(faces, count)
    return kinds.means(1.0 / (kinds.valence + 0.375 / _beta(kinds.valence)), 1.0 / 6.0)


def _beta(valence: Vector) -> Vector:
    """(n,) weight of each neighbour of a vertex inside, by how many it has."""
    k = np.maximum(valence, 3.0)
    return (0.625 - (0.375 + 0.25 * np.cos(2.0 * np.pi / k)) ** 2) / k


class _Around:
    """Neighbours of vertices, and along creases: edges that have not two faces."""

    def __init__(self, faces: Faces, count: int) -> None:
        found = edges(faces)
        crease = found.face_count != 2
        self.count = count
        self.neighbours = _symmetric(found.vertices, count)
        self.along = _symmetric(found.vertices[crease], count)
        self.valence: Vector = np.asarray(self.neighbours.sum(axis=1), dtype=np.float64).reshape(-1)
        self.creases: Vector = np.asarray(self.along.sum(axis=1), dtype=np.float64).reshape(-1)

    def means(self, inside: Vector, on_crease: float) -> Sparse:
        """(n, n) each vertex and its neighbours, which weigh `inside` (n,) each; on a crease those along it do."""
        smooth: Flags = (self.creases == 0) & (self.valence > 0)
        curve: Flags = self.creases == 2
        own = 1.0 - np.where(smooth, inside * self.valence, 0.0) - np.where(curve, 2.0 * on_crease, 0.0)
        around = sparse.diags_array(np.where(smooth, inside, 0.0)) @ self.neighbours
        along = sparse.diags_array(np.where(curve, on_crease, 0.0)) @ self.along
        return sparse.csr_array(sparse.diags_array(own) + around + along)


def _symmetric(pairs: Integers, count: int) -> Sparse:
    """(n, n) ones between the two of each pair (e, 2)."""
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    return sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
