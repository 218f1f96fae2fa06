"""Bending that sets: yield in true curvature, rest angles that follow, hardening [Bergou 2007, §4.4].

An *element* is what shares one curvature: a face of the plate, a hinge of independent hinges. With Δκ the largest
principal curvature (in magnitude) by which an element is bent from its rest shape, an element beyond Δκ_max is taken
back to it, in its own shape: its rotations a become s a with s = Δκ_max/|Δκ|, and the rest angles take the difference,

    l θ̄ ← l θ̄ + Σ (1 − s) a,      p ← p + |Δκ| − Δκ_max,      stiffness k = exp(η p).

*The printed update is not this.* It reads θ̄ ← θ − sign(Δκ) (2Ā/ē)(|Δκ| − Δκ_max): the deviation left over is then the
excess itself, (|Δκ| − Δκ_max), so that a hinge just at yield springs to no deviation at all and one far beyond it keeps
nearly all. With Δκ = c (θ − θ̄) the deviation that must remain is ±Δκ_max, so θ̄ ← θ − sign(Δκ) Δκ_max/c. That is what
the rule above says for one hinge, where a = l (θ − θ̄).

*Curvature.* On an equilateral mesh a cylinder of curvature κ with its axis along an edge turns that hinge by θ = A κ/l,
A the area of its two faces: hence κ = l θ/A for independent hinges, twice what is printed. One angle cannot know the
direction: with ψ between edge and axis such a hinge reads κ (cos²ψ − sin²ψ/3), so the largest reading on a cylinder is
from ⅔ to 1 of κ, and hinges on other meshes read what they will. A plate's face knows better: the moments m of its
edges make one tensor M = Σ m_i S_i, the law makes it a curvature, K = [(1 + ν) M − ν tr M]/(D (1 − ν²)), and the
largest principal value of K is κ on any mesh and in any direction.

*Faces share edges*, so in the plate taking one face back leaves part of the bending to its neighbours, and some of it
returns: the rule is repeated until no face is beyond yield by more than `SLACK`. Every round lowers the elastic
energy: ½ bᵀC⁻¹b is the least Σ ½ aᵀC_T⁻¹a of all shares with Σ a = b, and Σ s a is one such division of what is left.

*Hardening.* p is a sum of excesses, so bending to a curvature in one step or in many gives the same p and the same k.
The stiffness of an element grows as a whole (C_T/k): the compliance stays positive definite, its pattern the same. The
energy held at yield, ½ k D Δκ_max², must not grow faster than setting releases it: η Δκ_max ≤ 2 (`ShellMaterial`).
Below zero η softens: the row of faces that has yielded most is the weakest, so all further bending goes there and the
fold is as wide as one row of faces, however fine. That is the nature of softening, not an error of the mesh.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Integers, Vector
from bunraku.geometry import Hinges, TriMesh

SLACK = 1e-3
"""share of the yield curvature by which a face may stay beyond it after a step"""
PASSES = 4
"""how often at most a step hardens its elements and takes them back to yield"""
_ROUNDS = 40
_STRONGEST = 1e4  # a crease is at most this much stiffer or softer than its material: the factors stay sound


@dataclass(frozen=True, eq=False)
class Gauge:
    """Reads the curvature of every element from the moments of its edges."""

    edges: Integers
    """(k, w) hinge of each element's place, −1 where there is none"""
    maps: Array
    """(k, 3, w) moments to (K₁₁, K₂₂, K₁₂), or (k, 1, w) to one curvature [1/(N·m)]"""

    def read(self, moments: Vector, stiffness: Vector) -> Vector:
        """(k,) largest principal curvature in magnitude [1/m], for elements hardened by `stiffness` (k,)."""
        own = np.where(self.edges >= 0, moments[self.edges], 0.0)
        bent = np.einsum("kcw,kw->kc", self.maps, own) / stiffness[:, None]
        if bent.shape[1] == 1:
            return np.abs(bent[:, 0])
        mean, half = 0.5 * (bent[:, 0] + bent[:, 1]), 0.5 * (bent[:, 0] - bent[:, 1])
        return np.abs(mean) + np.hypot(half, bent[:, 2])


def plate_gauge(
    mesh: TriMesh, edges: Integers, signs: Array, rigidity: Vector, poisson: Vector, flexibility: Array | None = None
) -> Gauge:
    """Of a plate's faces, from their `edges` and `signs` (f, 3 d), d places an edge.

    `flexibility` (f, 3, 3) [1/(N·m)] takes moments (m₁₁, m₂₂, m₁₂) to (K₁₁, K₂₂, 2K₁₂) in the frame whose first axis is
    the face's first edge; by default that of an isotropic plate.
    """
    if flexibility is None:
        flexibility = np.zeros((len(poisson), 3, 3))
        flexibility[:, 0, 0] = flexibility[:, 1, 1] = 1.0
        flexibility[:, 0, 1] = flexibility[:, 1, 0] = -poisson
        flexibility[:, 2, 2] = 2.0 * (1.0 + poisson)
        flexibility /= (rigidity * (1.0 - poisson**2))[:, None, None]
    maps = flexibility @ moment_tensors(mesh)
    maps[:, 2] *= 0.5
    return Gauge(edges, np.repeat(maps, edges.shape[1] // 3, axis=2) * signs[:, None, :])


def hinge_gauge(found: Hinges, rigidity: Vector) -> Gauge:
    """Of independent hinges: κ = m/D, of the softer face; with one D for both that is l (θ − θ̄)/A."""
    own = 1.0 / rigidity[found.faces].min(axis=1)
    return Gauge(np.arange(len(own))[:, None], own[:, None, None])


def moment_tensors(mesh: TriMesh) -> Array:
    """(f, 3, 3) unit moment tensors S_i as columns (S₁₁, S₂₂, S₁₂), in the plane with the first edge along x.

    S_i has normal moment one on edge i and none on j and k: − sym(t_j ⊗ t_k)/(sin α_j sin α_k), t unit tangents.
    """
    x = mesh.rest[mesh.faces]
    first = x[:, 1] - x[:, 0]
    length = np.linalg.norm(first, axis=1)
    u = first / length[:, None]
    foot = np.sum((x[:, 2] - x[:, 0]) * u, axis=1)
    height = np.linalg.norm(np.cross(u, x[:, 2] - x[:, 0]), axis=1)
    corners = np.zeros((len(x), 3, 2))
    corners[:, 1, 0], corners[:, 2, 0], corners[:, 2, 1] = length, foot, height
    along = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]
    sides = np.linalg.norm(along, axis=2)
    t = along / sides[:, :, None]
    sine = length[:, None] * height[:, None] * sides / sides.prod(axis=1, keepdims=True)  # 2A l_i/(l_0 l_1 l_2)
    out = np.empty((len(x), 3, 3))
    for i, (j, k) in enumerate([(1, 2), (2, 0), (0, 1)]):
        scale = -1.0 / (sine[:, j] * sine[:, k])
        out[:, 0, i] = scale * t[:, j, 0] * t[:, k, 0]
        out[:, 1, i] = scale * t[:, j, 1] * t[:, k, 1]
        out[:, 2, i] = scale * 0.5 * (t[:, j, 0] * t[:, k, 1] + t[:, j, 1] * t[:, k, 0])
    return out


def hardened(hardening: Vector, set_curvature: Vector) -> Vector:
    """(k,) stiffness of elements over that of their material."""
    limit = np.log(_STRONGEST)
    return np.exp(np.clip(hardening * set_curvature, -limit, limit))


@dataclass(frozen=True, eq=False)
class Yielded:
    """What one update sets."""

    rotations: Vector
    """(m,) change of l θ̄ [m]"""
    curvature: Vector
    """(k,) Σ (|Δκ| − Δκ_max) of every element [1/m]"""


def yielding(
    rotations: Vector,
    limit: Vector,
    read: Callable[[Vector], tuple[Vector, Array]],
    gather: Callable[[Array], Vector],
) -> Yielded | None:
    """Take elements beyond their `limit` (k,) [1/m] back to it; None where there are none.

    `rotations` (m,) l (θ − θ̄) [m]; `read` gives the curvature (k,) and the shares (k, w) of them, `gather` their sum.
    """
    total, beyond = np.zeros_like(rotations), np.zeros_like(limit)
    for _ in range(_ROUNDS):
        curvature, shares = read(rotations - total)
        over = curvature > limit * (1.0 + SLACK)
        if not over.any():
            break
        safe = np.where(curvature > limit, curvature, 1.0)
        back = np.where(curvature > limit, 1.0 - limit / safe, 0.0)
        total = total + gather(back[:, None] * shares)
        beyond = beyond + np.where(curvature > limit, curvature - limit, 0.0)
    return Yielded(total, beyond) if beyond.any() else None
