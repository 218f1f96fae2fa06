"""How rotations of a shell's edges follow from their moments: the constant, sparse matrix C of `bending.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.contracts import Array, Flags, Integers, Stencil, Vector
from bunraku.geometry import Hinges, TriMesh, face_areas
from bunraku.numerics import Pattern, choose

from .plasticity import moment_tensors


@dataclass(frozen=True, eq=False)
class Compliance:
    """Σ_T C_T over elements, as a stencil of edges with local blocks, and the solve with their sum."""

    edges: Integers
    """(k, w) hinge of each element's place, −1 where there is none"""
    local: Array
    """(k, w, w) C_T [m/N], zero in the places without a hinge"""
    edge_count: int

    def scaled(self, factors: Vector) -> Compliance:
        """Each C_T times a number (k,)."""
        return replace(self, local=self.local * factors[:, None, None])

    def gathered(self, shares: Array) -> Vector:
        """(m,) sum over elements of (k, w)."""
        kept = self.edges >= 0
        return np.bincount(self.edges[kept], weights=shares[kept], minlength=self.edge_count).astype(np.float64)

    def spread(self, moments: Vector) -> Array:
        """(k, w) C_T m of every element."""
        own = np.where(self.edges >= 0, moments[self.edges], 0.0)
        return np.einsum("kij,kj->ki", self.local, own)


class ComplianceSolver:
    """Solves C m = b; one symbolic analysis, refactorised only when C changes."""

    def __init__(self, compliance: Compliance) -> None:
        self._diagonal = compliance.local.shape[1] == 1 or not compliance.edge_count
        if not self._diagonal:
            self._pattern = Pattern.of([Stencil(compliance.edges)], compliance.edge_count)
            self._factor = choose(positive=True, threads=1)
            self._factor.analyse(self._pattern.indptr, self._pattern.indices)
        self._current: Array | None = None
        self._last: tuple[Vector, Vector] | None = None

    def take(self, compliance: Compliance) -> None:
        """Make this C the current one."""
        if self._current is compliance.local or (
            self._current is not None and np.array_equal(self._current, compliance.local)
        ):
            return
        self._current, self._last = compliance.local, None
        if not self._diagonal:
            self._factor.factor(self._pattern.assemble([compliance.local]))

    def solve(self, b: Vector) -> Vector:
        """(m,) moments."""
        if not len(b):
            return b
        if self._diagonal:
            assert self._current is not None
            return b / self._current[:, 0, 0]
        # Value, gradient and tangent are asked at the same points: solve once for the three.
        if self._last is None or not np.array_equal(self._last[0], b):
            self._last = b, self._factor.solve(b)
        return self._last[1]


def plate_compliance(
    mesh: TriMesh, found: Hinges, rigidity: Vector, poisson: Vector, flexibility: Array | None = None
) -> Compliance:
    """C of the Morley / Hellan–Herrmann–Johnson element, from rest edge lengths alone.

    `rigidity` and `poisson` are (f,). With angles α of a face, c = cos α, s = sin α, (i, j, k) cyclic and
    S_i the unit moment tensor of edge i (normal moment one on i, zero on j and k):
    S_i:S_i = ½(1 + c_i²)/(s_j s_k)², S_i:S_j = ½(c_i c_j − c_k)/(s_i s_j s_k²), tr S_i = c_i/(s_j s_k),
    C_T,ij = A/(D(1 − ν²)) [(1 + ν) S_i:S_j − ν tr S_i tr S_j].
    With a `flexibility` (f, 3, 3) [1/(N·m)] of moments (m₁₁, m₂₂, m₁₂) in each face's frame, for sheets with a
    direction, C_T,ij = A S_i:F S_j instead.
    """
    areas = face_areas(mesh.rest, mesh.faces)
    if flexibility is None:
        local = _isotropic_products(mesh, poisson)
        scale = areas / (rigidity * (1.0 - poisson**2))
    else:
        tensors = moment_tensors(mesh)
        local, scale = np.einsum("fai,fab,fbj->fij", tensors, flexibility, tensors), areas
    edges, signs = hinges_of_corners(found, len(mesh.faces))
    local = np.repeat(np.repeat(local, edges.shape[1] // 3, axis=1), edges.shape[1] // 3, axis=2)
    signed = signs[:, :, None] * signs[:, None, :]  # zero where an edge has no hinge
    return Compliance(edges, scale[:, None, None] * local * signed, len(found.vertices))


def _isotropic_products(mesh: TriMesh, poisson: Vector) -> Array:
    """(f, 3, 3) (1 + ν) S_i:S_j − ν tr S_i tr S_j."""
    cosine, sine = _corner_angles(mesh)
    others = [(1, 2), (2, 0), (0, 1)]
    trace = np.stack([cosine[:, i] / (sine[:, j] * sine[:, k]) for i, (j, k) in enumerate(others)], axis=1)
    product = np.empty((len(cosine), 3, 3))
    for i, (j, k) in enumerate(others):
        product[:, i, i] = 0.5 * (1.0 + cosine[:, i] ** 2) / (sine[:, j] * sine[:, k]) ** 2
        mixed = 0.5 * (cosine[:, i] * cosine[:, j] - cosine[:, k]) / (sine[:, i] * sine[:, j] * sine[:, k] ** 2)
        product[:, i, j] = product[:, j, i] = mixed
    nu = poisson[:, None, None]
    return (1.0 + nu) * product - nu * trace[:, :, None] * trace[:, None, :]


def hinge_compliance(mesh: TriMesh, found: Hinges, rigidity: Vector, poisson: Vector) -> Compliance:
    """Diagonal C of independent hinges: stiffness k = D l²/(A₁ + A₂) in the angle, so C = A₁/D₁ + A₂/D₂.

    On an equilateral mesh a cylinder then costs ½ D κ² per area, as it does on a plate.
    """
    own = (face_areas(mesh.rest, mesh.faces) / rigidity)[found.faces].sum(axis=1)
    return Compliance(np.arange(len(own))[:, None], own[:, None, None], len(own))


def inside_loose(hard: Compliance, soft: Compliance, inside: Flags) -> Compliance:
    """`hard` with the edges `inside` a clamp (m,) as they were, apart from all others.

    Nothing moves there, so their moments are without effect; as rigid as the faces around them they would be
    determined twice, by the pins and by the edges, and the system nearly singular.
    """
    apart = (hard.edges >= 0) & inside[hard.edges]
    local = np.where(apart[:, :, None] | apart[:, None, :], 0.0, hard.local)
    own = np.einsum("kii->ki", local)
    own[apart] = np.einsum("kii->ki", soft.local)[apart]
    return replace(hard, local=local)


def _corner_angles(mesh: TriMesh) -> tuple[Array, Array]:
    """Cosines and sines (f, 3) of the rest angles."""
    x = mesh.rest[mesh.faces]
    cosine, sine = np.empty((len(x), 3)), np.empty((len(x), 3))
    for i in range(3):
        u, v = x[:, (i + 1) % 3] - x[:, i], x[:, (i + 2) % 3] - x[:, i]
        lengths = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
        cosine[:, i] = np.sum(u * v, axis=1) / lengths
        sine[:, i] = np.linalg.norm(np.cross(u, v), axis=1) / lengths
    return cosine, sine


def hinges_of_corners(found: Hinges, face_count: int) -> tuple[Integers, Array]:
    """(f, 3 d) hinges on the edge opposite each corner, d places a corner (−1: none), and their signs in the face.

    d is 1 unless an edge has three or more faces; then a face may share it through two hinges, which add up.
    """
    place = (3 * found.faces + found.corners).T.reshape(-1)
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place, minlength=3 * face_count)
    rank = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    depth = int(counts.max(initial=1))
    edges, signs = np.full((3 * face_count, depth), -1), np.zeros((3 * face_count, depth))
    at = place[order], rank
    edges[at] = np.tile(np.arange(len(found.vertices)), 2)[order]
    signs[at] = found.signs.T.reshape(-1)[order]
    return edges.reshape(face_count, 3 * depth), signs.reshape(face_count, 3 * depth)
