"""What a soft interior does to a skin that leaves it: ½ ∫ (K |w|² + b |∇w|²), w the way from where the interior has it.

A half-space resists a wave of wave number k with a pressure Ē k/2 times its height, which is not local. K and b are
its value and its slope at the wave number k_c at which a skin of bending rigidity D buckles on it, K = D k_c⁴ and
b = D k_c²: a sparse, positive energy that is right for wrinkles, of which the interior's own few unknowns see nothing.
A wave along the surface is resisted just as one across it: in plane strain a half-space has the same Ē k/2 for both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Faces, Points, Sparse, State, Stencil, Vector
from bunraku.geometry import TriMesh, face_areas, vertex_normals

from .membrane import corner_gradients, point_unknowns

_CONSISTENT = (np.ones((3, 3)) + np.eye(3)) / 12.0
"""∫ of products of a face's corner functions, over its area"""


@dataclass(frozen=True, eq=False)
class FoundationEnergy:
    """The pull of the interior on its skin, for one place of the interior. Quadratic, so its Hessian never changes."""

    faces: Faces
    """(f, 3)"""
    stiffness: Array
    """(f, 3, 3) of the distances at a face's corners [N/m]"""
    places: Points
    """(n, 3) where the interior has the skin's points [m]"""
    normals: Points | None
    """(n, 3) of the interior's surface there: along them alone it pulls, and the skin may slide; None: it is bonded"""
    matrix: Sparse = field(repr=False)
    """(n, n) the same, summed over the faces"""

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        away = self._away(x)
        return 0.5 * float(np.sum(away * (self.matrix @ away)))

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        pull = self.matrix @ self._away(x)
        return pull if self.normals is None else pull * self.normals

    def _away(self, x: Points) -> Array:
        """(n, 3) w [m], or (n, 1) its part along the normals."""
        away = x - self.places
        return away if self.normals is None else np.sum(away * self.normals, axis=1, keepdims=True)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """One 9 × 9 block a face."""
        return (Stencil(point_unknowns(self.faces)),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Positive semi-definite as they are."""
        if self.normals is None:
            return (np.einsum("fij,ab->fiajb", self.stiffness, np.eye(3)).reshape(-1, 9, 9),)
        normals = self.normals[self.faces]
        return (np.einsum("fia,fij,fjb->fiajb", normals, self.stiffness, normals).reshape(-1, 9, 9),)


@dataclass(frozen=True, eq=False)
class Foundation:
    """The pull of an interior that moves: gives each step its `FoundationEnergy`."""

    mesh: TriMesh
    """the skin at rest"""
    lift: Vector
    """(f,) K: pressure per height [N/m³]"""
    slope: Vector
    """(f,) b: tension per area against slopes [N/m]"""
    places: Callable[[float], Points]
    """time [s] → (n, 3) where the interior has the skin's points [m]"""
    bonded: bool = True
    """whether it resists sliding as it resists lifting, as a half-space does; False: along the normal alone"""
    strength: Callable[[float], float] | None = None
    """time [s] → what K and b are multiplied by; None: 1"""
    _stiffness: Array = field(init=False, repr=False)
    _matrix: Sparse = field(init=False, repr=False)

    def __post_init__(self) -> None:
        stiffness = foundation_stiffness(self.mesh, self.lift, self.slope)
        object.__setattr__(self, "_stiffness", stiffness)
        object.__setattr__(self, "_matrix", summed(self.mesh, stiffness))

    def at(self, state: State, dt: float) -> FoundationEnergy:
        """The energy of the step to `state.time + dt`."""
        places = self.places(state.time + dt)
        normals = None if self.bonded else vertex_normals(places, self.mesh.faces)
        share = 1.0 if self.strength is None else self.strength(state.time + dt)
        return FoundationEnergy(self.mesh.faces, share * self._stiffness, places, normals, share * self._matrix)

    def remember(self, state: State) -> Mapping[str, Array]:
        """Nothing: the interior says where it is."""
        return {}


def foundation_stiffness(mesh: TriMesh, lift: Vector, slope: Vector) -> Array:
    """(f, 3, 3) [N/m] of the distances at a face's corners, by K and b of each face (f,)."""
    areas = face_areas(mesh.rest, mesh.faces)
    gradients = corner_gradients(mesh.rest, mesh.faces)
    stiffness = (areas * lift)[:, None, None] * _CONSISTENT
    stiffness += (areas * slope)[:, None, None] * np.einsum("fia,fja->fij", gradients, gradients)
    return stiffness


def summed(mesh: TriMesh, stiffness: Array) -> Sparse:
    """(n, n) CSR of a stiffness (f, 3, 3) of what is at the corners of each face."""
    corners = np.repeat(mesh.faces, 3, axis=1).reshape(-1), np.tile(mesh.faces, (1, 3)).reshape(-1)
    return sparse.csr_array(sparse.coo_array((stiffness.reshape(-1), corners), shape=(mesh.point_count,) * 2))
