"""Stretching of a shell: constant-strain triangles, St. Venant–Kirchhoff in plane stress, Kelvin–Voigt damping.

With Green strain E(x) of each face, stiffness 𝔻 [N/m] and rest area A, a step from strains Eₙ has the potential

    Σ_f A [ ½ E:𝔻E + ½ (τ/dt) (E − Eₙ):𝔻(E − Eₙ) ].

Strain does not see rigid motion, so neither does the damping: not at any rate, not for any finite rotation. Where the
rest shape changes, both strains are measured from the rest shape at the end of the step: damping sees what moves, not
what is wished, and a rest shape that jumps starts a motion without a viscous blow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numba
import numpy as np

from bunraku.contracts import Array, Faces, Integers, Points, State, Stencil, Vector, alike
from bunraku.geometry import TriMesh, face_areas
from bunraku.materials import MaterialBlend
from bunraku.motion import Growth, RestShapes
from bunraku.numerics import Scatter, inner

from .rest import FaceBlend
from .weave import Weave


@dataclass(frozen=True, eq=False)
class MembraneEnergy:
    """Stretching energy of one step. Zero and stationary at rest, invariant under rigid motion."""

    faces: Faces
    """(f, 3)"""
    gradients: Array
    """(f, 3, 2) rest gradients of the three corner functions in the face's plane [1/m]"""
    areas: Vector
    """(f,) rest areas [m²]"""
    stiffness: Array
    """(f, 3, 3) 𝔻 [N/m]"""
    viscosity: Vector
    """(f,) τ/dt"""
    previous: Array
    """(f, 3) strain at the start of the step"""
    scatter: Scatter = field(repr=False)

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        e = strains(x, self.faces, self.gradients)
        change = e - self.previous
        elastic = np.einsum("fi,fij,fj->f", e, self.stiffness, e)
        viscous = np.einsum("fi,fij,fj->f", change, self.stiffness, change) * self.viscosity
        return 0.5 * inner(self.areas, elastic + viscous)

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        local = np.empty((len(self.faces), 3, 3))
        _forces(alike(x), self.faces, self.gradients, self.areas, self.stiffness, self.viscosity, self.previous, local)
        return self.scatter.sum(local)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """One 9 × 9 block a face."""
        return (Stencil(point_unknowns(self.faces)),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """With psd, compressive principal stresses are left out of the geometric term."""
        out = np.empty((len(self.faces), 9, 9))
        _blocks(
            alike(x), self.faces, self.gradients, self.areas, self.stiffness, self.viscosity, self.previous, psd, out
        )
        return (out,)


@dataclass(frozen=True, eq=False)
class Membrane:
    """The stretching of a shell as material and rest shape change: gives each step its `MembraneEnergy`."""

    mesh: TriMesh
    material: MaterialBlend
    rest: RestShapes | None = None
    """by default the mesh's own"""
    growth: Growth | None = None
    _fixed: MembraneEnergy = field(init=False, repr=False)
    _blend: FaceBlend = field(init=False, repr=False)
    _weave: Weave = field(init=False, repr=False)

    def __post_init__(self) -> None:
        count = len(self.mesh.faces)
        weave = Weave.of(self.mesh, self.material)
        object.__setattr__(self, "_blend", FaceBlend(self.mesh, self.rest, self.growth))
        rest = self._blend.at(0.0)
        energy = MembraneEnergy(
            self.mesh.faces,
            corner_gradients(rest.rest, rest.faces),
            face_areas(rest.rest, rest.faces),
            weave.stretching(self.material.at(0.0)),
            np.zeros(count),
            np.zeros((count, 3)),
            Scatter.of(self.mesh.faces, self.mesh.point_count),
        )
        object.__setattr__(self, "_fixed", energy)
        object.__setattr__(self, "_weave", weave)

    def elastic(self, time: float) -> MembraneEnergy:
        """The energy without damping at a time [s]."""
        base = self._fixed
        if not self.material.constant:
            base = replace(base, stiffness=self._weave.stretching(self.material.at(time)))
        if not self._blend.constant:
            rest = self._blend.at(time)
            base = replace(
                base, gradients=corner_gradients(rest.rest, rest.faces), areas=face_areas(rest.rest, rest.faces)
            )
        return base

    def at(self, state: State, dt: float) -> MembraneEnergy:
        """The energy of the step to `state.time + dt`."""
        base = self.elastic(state.time + dt)
        viscosity = self.material.at(state.time + dt).stretch_damping / dt
        if not viscosity.any():
            return base
        previous = strains(state.q.reshape(-1, 3), base.faces, base.gradients)
        return MembraneEnergy(base.faces, base.gradients, base.areas, base.stiffness, viscosity, previous, base.scatter)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing: strain is a function of the points."""
        return {}


def point_unknowns(vertices: Integers) -> Integers:
    """(m, 3k) coordinate unknowns of vertices (m, k)."""
    return (3 * vertices[:, :, None] + np.arange(3)).reshape(len(vertices), -1)


def corner_gradients(rest: Points, faces: Faces) -> Array:
    """(f, 3, 2) gradients of the corner functions in an orthonormal frame of each rest face [1/m]."""
    a, b, c = rest[faces[:, 0]], rest[faces[:, 1]], rest[faces[:, 2]]
    first = b - a
    length = np.linalg.norm(first, axis=1)
    u = first / length[:, None]
    across = (c - a) - np.sum((c - a) * u, axis=1)[:, None] * u
    height = np.linalg.norm(across, axis=1)
    foot = np.sum((c - a) * u, axis=1)
    gradients = np.zeros((len(faces), 3, 2))
    gradients[:, 1, 0] = 1.0 / length
    gradients[:, 1, 1] = -foot / (length * height)
    gradients[:, 2, 1] = 1.0 / height
    gradients[:, 0] = -gradients[:, 1] - gradients[:, 2]
    return gradients


def strains(x: Points, faces: Faces, gradients: Array) -> Array:
    """(f, 3) Green strains (E₁₁, E₂₂, 2E₁₂)."""
    out = np.empty((len(faces), 3))
    _strains(alike(x), alike(faces), gradients, out)
    return out


@numba.njit(cache=True, inline="always", error_model="numpy")
def _tangents(x, face, gradient, tangents):
    """Columns of the deformation gradient: tangents[α] = Σ x_a ∂N_a/∂X_α."""
    for axis in range(3):
        first = second = 0.0
        for a in range(3):
            coordinate = x[face[a], axis]
            first += coordinate * gradient[a, 0]
            second += coordinate * gradient[a, 1]
        tangents[0, axis], tangents[1, axis] = first, second


@numba.njit(cache=True, inline="always", error_model="numpy")
def _strain(tangents, e):
    e[0] = e[1] = -1.0
    e[2] = 0.0
    for axis in range(3):
        e[0] += tangents[0, axis] ** 2
        e[1] += tangents[1, axis] ** 2
        e[2] += tangents[0, axis] * tangents[1, axis]
    e[0] *= 0.5
    e[1] *= 0.5


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _strains(x, faces, gradients, out):
    for f in numba.prange(len(faces)):
        tangents = np.empty((2, 3))
        _tangents(x, faces[f], gradients[f], tangents)
        _strain(tangents, out[f])


@numba.njit(cache=True, inline="always", error_model="numpy")
def _stress(stiffness, viscosity, e, previous, stress):
    for i in range(3):
        stress[i] = 0.0
        for j in range(3):
            stress[i] += stiffness[i, j] * ((1.0 + viscosity) * e[j] - viscosity * previous[j])


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _forces(x, faces, gradients, areas, stiffness, viscosity, previous, out):
    for f in numba.prange(len(faces)):
        tangents, e, stress = np.empty((2, 3)), np.empty(3), np.empty(3)
        _tangents(x, faces[f], gradients[f], tangents)
        _strain(tangents, e)
        _stress(stiffness[f], viscosity[f], e, previous[f], stress)
        for a in range(3):
            ga, gb = gradients[f, a, 0], gradients[f, a, 1]
            first = areas[f] * (stress[0] * ga + stress[2] * gb)
            second = areas[f] * (stress[1] * gb + stress[2] * ga)
            for axis in range(3):
                out[f, a, axis] = first * tangents[0, axis] + second * tangents[1, axis]


@numba.njit(cache=True, inline="always", error_model="numpy")
def _clamp(stress):
    """The tensile part of a symmetric 2 × 2 tensor (s₁₁, s₂₂, s₁₂), in closed form."""
    mean, half = 0.5 * (stress[0] + stress[1]), 0.5 * (stress[0] - stress[1])
    radius = np.sqrt(half * half + stress[2] * stress[2])
    if mean - radius >= 0.0:
        return
    if mean + radius <= 0.0 or radius == 0.0:
        stress[0] = stress[1] = stress[2] = 0.0
        return
    # One principal stress p > 0 remains: p (I + R) / 2 with R = (half, s₁₂) / radius.
    p = 0.5 * (mean + radius)
    stress[0], stress[1], stress[2] = (
        p * (1.0 + half / radius),
        p * (1.0 - half / radius),
        p * stress[2] / radius,
    )


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _blocks(x, faces, gradients, areas, stiffness, viscosity, previous, psd, out):
    for f in numba.prange(len(faces)):
        tangents, e, stress = np.empty((2, 3)), np.empty(3), np.empty(3)
        rates, weighted = np.empty((3, 9)), np.empty((3, 9))
        _tangents(x, faces[f], gradients[f], tangents)
        _strain(tangents, e)
        _stress(stiffness[f], viscosity[f], e, previous[f], stress)
        if psd:
            _clamp(stress)
        g, area = gradients[f], areas[f]
        for a in range(3):
            for axis in range(3):
                k = 3 * a + axis
                rates[0, k] = g[a, 0] * tangents[0, axis]
                rates[1, k] = g[a, 1] * tangents[1, axis]
                rates[2, k] = g[a, 0] * tangents[1, axis] + g[a, 1] * tangents[0, axis]
        scale = area * (1.0 + viscosity[f])
        for i in range(3):
            for k in range(9):
                weighted[i, k] = 0.0
                for j in range(3):
                    weighted[i, k] += scale * stiffness[f, i, j] * rates[j, k]
        for k in range(9):
            for m in range(k, 9):
                total = 0.0
                for i in range(3):
                    total += rates[i, k] * weighted[i, m]
                out[f, k, m] = out[f, m, k] = total
        for a in range(3):
            for b in range(3):
                tension = area * (
                    g[a, 0] * (stress[0] * g[b, 0] + stress[2] * g[b, 1])
                    + g[a, 1] * (stress[2] * g[b, 0] + stress[1] * g[b, 1])
                )
                for axis in range(3):
                    out[f, 3 * a + axis, 3 * b + axis] += tension
