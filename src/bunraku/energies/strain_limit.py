"""Cloth that stops stretching: a tension that rises sharply once a principal strain passes its limit.

With principal Green strains g₁ ≥ g₂ of a face, the limit G = ((1 + limit)² − 1)/2, a width w = G/10, the excess
p = g − G and the membrane's modulus times thickness Eh, every step has the extra potential

    Σ_f A k Σ_i φ(pᵢ),   φ'' = 0 for p ≤ 0,   t³(10 − 15t + 6t²) with t = p/w up to w,   1 beyond,   k = 2·FIRM·Eh/w.

It is four times continuously differentiable, so Newton's method sees it coming; at a tenth beyond the limit it pulls
with FIRM × Eh, as much as the material would at a strain of FIRM by its linear law.
φ is convex and never decreases. The energy is then convex in E (its stiffness between unequal principal strains is the
divided difference of φ', which is never negative) and its stress is never compressive, so the exact Hessian is already
positive semi-definite: nothing has to be left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numba
import numpy as np

from bunraku.contracts import Array, Faces, Points, State, Stencil, Vector, alike
from bunraku.geometry import TriMesh, face_areas
from bunraku.materials import MaterialBlend, ShellFields
from bunraku.motion import RestShapes
from bunraku.numerics import Scatter

from .membrane import _strain, _tangents, corner_gradients, point_unknowns
from .rest import FaceBlend
from .weave import strongest

FIRM = 2.0
_SHARE = 0.1  # of the limit: where the stiffness has risen to its full
_EVEN = 1e-6  # of the width: principal strains closer than this count as equal


@dataclass(frozen=True, eq=False)
class StrainLimitEnergy:
    """What the limits of a shell cost. Zero below them, invariant under rigid motion."""

    faces: Faces
    """(f, 3)"""
    gradients: Array
    """(f, 3, 2) rest gradients of the three corner functions in the face's plane [1/m]"""
    areas: Vector
    """(f,) rest areas [m²]"""
    limit: Vector
    """(f,) largest principal Green strain G, infinite without a limit"""
    stiffness: Vector
    """(f,) k [N/m]"""
    scatter: Scatter = field(repr=False)

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        out = np.empty(len(self.faces))
        _values(alike(x), self.faces, self.gradients, self.areas, self.limit, self.stiffness, out)
        return float(out.sum())

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        local = np.empty((len(self.faces), 3, 3))
        _forces(alike(x), self.faces, self.gradients, self.areas, self.limit, self.stiffness, local)
        return self.scatter.sum(local)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """One 9 × 9 block a face."""
        return (Stencil(point_unknowns(self.faces)),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Exact, and positive semi-definite by itself."""
        out = np.zeros((len(self.faces), 9, 9))
        _blocks(alike(x), self.faces, self.gradients, self.areas, self.limit, self.stiffness, out)
        return (out,)


@dataclass(frozen=True, eq=False)
class StrainLimit:
    """The strain limits of a shell as its material changes: gives each step its `StrainLimitEnergy`."""

    mesh: TriMesh
    material: MaterialBlend
    rest: RestShapes | None = None
    """by default the mesh's own"""
    _fixed: StrainLimitEnergy = field(init=False, repr=False)
    _blend: FaceBlend = field(init=False, repr=False)

    def __post_init__(self) -> None:
        limit, stiffness = _numbers(self.material.at(0.0))
        object.__setattr__(self, "_blend", FaceBlend(self.mesh, self.rest))
        rest = self._blend.at(0.0)
        energy = StrainLimitEnergy(
            self.mesh.faces, corner_gradients(rest.rest, rest.faces), face_areas(rest.rest, rest.faces), limit,
            stiffness, Scatter.of(self.mesh.faces, self.mesh.point_count),
        )  # fmt: skip
        object.__setattr__(self, "_fixed", energy)

    def elastic(self, time: float) -> StrainLimitEnergy:
        """The energy at a time [s]."""
        base = self._fixed
        if not self.material.constant:
            limit, stiffness = _numbers(self.material.at(time))
            base = replace(base, limit=limit, stiffness=stiffness)
        if not self._blend.constant:
            rest = self._blend.at(time)
            base = replace(
                base, gradients=corner_gradients(rest.rest, rest.faces), areas=face_areas(rest.rest, rest.faces)
            )
        return base

    def at(self, state: State, dt: float) -> StrainLimitEnergy:
        """The energy of the step to `state.time + dt`."""
        return self.elastic(state.time + dt)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing: strain is a function of the points."""
        return {}


def _numbers(fields: ShellFields) -> tuple[Vector, Vector]:
    """(f,) G and k."""
    if fields.strain_limit is None:
        return np.full(len(fields.young), np.inf), np.zeros(len(fields.young))
    limit = 0.5 * ((1.0 + fields.strain_limit) ** 2 - 1.0)
    return limit, 2.0 * FIRM * strongest(fields) / (_SHARE * limit)


@numba.njit(cache=True, inline="always", error_model="numpy")
def _principal(e, axes):
    """Principal strains, the larger first; axes becomes cos² and sin² of its direction and their product's root."""
    mean, half, shear = 0.5 * (e[0] + e[1]), 0.5 * (e[0] - e[1]), 0.5 * e[2]
    radius = np.sqrt(half * half + shear * shear)
    cosine, sine = (half / radius, shear / radius) if radius > 0.0 else (1.0, 0.0)
    axes[0], axes[1], axes[2] = 0.5 * (1.0 + cosine), 0.5 * (1.0 - cosine), 0.5 * sine
    return mean + radius, mean - radius


@numba.njit(cache=True, inline="always", error_model="numpy")
def _potential(p, w):
    if p <= 0.0:
        return 0.0
    t = p / w
    return w * w * t**5 * (0.5 - 0.5 * t + t * t / 7.0) if t <= 1.0 else 0.5 * p * (p - w) + w * w / 7.0


@numba.njit(cache=True, inline="always", error_model="numpy")
def _tension(p, w):
    if p <= 0.0:
        return 0.0
    t = p / w
    return w * t**4 * (2.5 - 3.0 * t + t * t) if t <= 1.0 else p - 0.5 * w


@numba.njit(cache=True, inline="always", error_model="numpy")
def _slope(p, w):
    t = min(max(p / w, 0.0), 1.0)
    return t**3 * (10.0 - 15.0 * t + 6.0 * t * t)


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _values(x, faces, gradients, areas, limit, stiffness, out):
    for f in numba.prange(len(faces)):
        tangents, e, axes = np.empty((2, 3)), np.empty(3), np.empty(3)
        _tangents(x, faces[f], gradients[f], tangents)
        _strain(tangents, e)
        first, second = _principal(e, axes)
        w = _SHARE * limit[f]
        out[f] = areas[f] * stiffness[f] * (_potential(first - limit[f], w) + _potential(second - limit[f], w))


@numba.njit(cache=True, inline="always", error_model="numpy")
def _stress(first, second, axes, limit, stiffness, stress):
    """Stress (s₁₁, s₂₂, s₁₂): the tension of each principal strain along its axis."""
    w = _SHARE * limit
    one, two = stiffness * _tension(first - limit, w), stiffness * _tension(second - limit, w)
    stress[0] = one * axes[0] + two * axes[1]
    stress[1] = one * axes[1] + two * axes[0]
    stress[2] = (one - two) * axes[2]


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _forces(x, faces, gradients, areas, limit, stiffness, out):
    for f in numba.prange(len(faces)):
        tangents, e, axes, stress = np.empty((2, 3)), np.empty(3), np.empty(3), np.zeros(3)
        _tangents(x, faces[f], gradients[f], tangents)
        _strain(tangents, e)
        first, second = _principal(e, axes)
        if first > limit[f]:
            _stress(first, second, axes, limit[f], stiffness[f], stress)
        for a in range(3):
            ga, gb = gradients[f, a, 0], gradients[f, a, 1]
            one = areas[f] * (stress[0] * ga + stress[2] * gb)
            two = areas[f] * (stress[1] * gb + stress[2] * ga)
            for axis in range(3):
                out[f, a, axis] = one * tangents[0, axis] + two * tangents[1, axis]


@numba.njit(cache=True, inline="always", error_model="numpy")
def _stiffnesses(first, second, limit, out):
    """φ'' of both principal strains, and φ' divided by their difference, over k."""
    w = _SHARE * limit
    one, two = first - limit, second - limit
    out[0], out[1] = _slope(one, w), _slope(two, w)
    if one - two < _EVEN * w:
        out[2] = _slope(0.5 * (one + two), w)
    else:
        out[2] = (_tension(one, w) - _tension(two, w)) / (one - two)


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _blocks(x, faces, gradients, areas, limit, stiffness, out):
    for f in numba.prange(len(faces)):
        tangents, e, axes, stress = np.empty((2, 3)), np.empty(3), np.empty(3), np.empty(3)
        _tangents(x, faces[f], gradients[f], tangents)
        _strain(tangents, e)
        first, second = _principal(e, axes)
        if first <= limit[f]:
            continue
        _stress(first, second, axes, limit[f], stiffness[f], stress)
        rates, slopes = np.empty((3, 9)), np.empty(3)
        _stiffnesses(first, second, limit[f], slopes)
        slopes[2] *= 2.0  # the strain between the axes stands twice in the tensor
        g, area = gradients[f], areas[f]
        for a in range(3):
            for axis in range(3):
                k = 3 * a + axis
                e11, e22 = g[a, 0] * tangents[0, axis], g[a, 1] * tangents[1, axis]
                e12 = g[a, 0] * tangents[1, axis] + g[a, 1] * tangents[0, axis]
                rates[0, k] = axes[0] * e11 + axes[1] * e22 + axes[2] * e12
                rates[1, k] = axes[1] * e11 + axes[0] * e22 - axes[2] * e12
                rates[2, k] = axes[2] * (e22 - e11) + 0.5 * (axes[0] - axes[1]) * e12
        for k in range(9):
            for m in range(k, 9):
                total = 0.0
                for i in range(3):
                    total += slopes[i] * rates[i, k] * rates[i, m]
                out[f, k, m] = out[f, m, k] = area * stiffness[f] * total
        for a in range(3):
            for b in range(3):
                tension = area * (
                    g[a, 0] * (stress[0] * g[b, 0] + stress[2] * g[b, 1])
                    + g[a, 1] * (stress[2] * g[b, 0] + stress[1] * g[b, 1])
                )
                for axis in range(3):
                    out[f, 3 * a + axis, 3 * b + axis] += tension
