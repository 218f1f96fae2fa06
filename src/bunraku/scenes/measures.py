"""Numbers for what pictures show: how long waves are, how far from the guide, how much anchors tug.

All are integrals over the rest surface, so they mean the same on any mesh that is fine enough.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import factorized

from bunraku.contracts import Array, Flags, Integers, Points, Vector, input_error
from bunraku.geometry import TriMesh, area_mass_matrix, cotangent_laplacian, lumped_mass


def wavelength(mesh: TriMesh, height: Vector, faces: Flags | None = None) -> float:
    """[m] the wavelength of a height (n,) over the rest surface: 2π √(∫h² / ∫|∇h|²), its mean taken off.

    For one sine this is its wavelength; for a mixture it is that of the root mean square wave number. `faces` (f,)
    keeps to a part of the surface.
    """
    inside = (np.ones(len(mesh.faces)) if faces is None else np.asarray(faces)).astype(np.float64)
    mass, stiffness = area_mass_matrix(mesh, inside), cotangent_laplacian(mesh, inside)
    area = float(mass.sum())
    if not area > 0:
        raise input_error("the part of the surface to measure is empty", where="faces")
    h = np.asarray(height, dtype=np.float64)
    h = h - float(np.sum(mass @ h)) / area
    steep = float(h @ (stiffness @ h))
    return float("inf") if steep == 0.0 else 2.0 * np.pi * float(np.sqrt(h @ (mass @ h) / steep))


def mean_distance(mesh: TriMesh, x: Points, goal: Points) -> float:
    """[m] root mean square over the rest surface of |x − goal|, (n, 3) each."""
    weight = lumped_mass(mesh)
    return float(np.sqrt(weight @ np.sum((x - goal) ** 2, axis=1) / weight.sum()))


def fine_part(mesh: TriMesh, field: Array, scale: float) -> Array:
    """(n, k) what of a field (n, k) is finer than `scale` [m]: half of it at that wavelength, nearly none above.

    The coarse part c solves (1 − s²Δ) c = field with s = scale/2π, so the share kept at wavelength λ is
    (scale/λ)² / (1 + (scale/λ)²).
    """
    mass, s = area_mass_matrix(mesh), scale / (2.0 * np.pi)
    system = sparse.csc_array(mass + s * s * cotangent_laplacian(mesh))
    flat = np.asarray(field, dtype=np.float64).reshape(mesh.point_count, -1)
    coarse = factorized(system)(mass @ flat)
    return (flat - coarse).reshape(np.shape(field))


def tugging(mesh: TriMesh, displacement: Points, anchors: Integers, scale: float) -> float:
    """[m²] high-frequency energy near the anchors: the mean square, over discs of radius scale/4 about the anchors
    on the rest surface, of what of the displacement (n, 3) is finer than `scale` [m], the distance of anchors.

    A displacement that follows the guide smoothly between anchors has little; spikes and scallops whose cusps sit on
    the anchors have much. Radius and filter are tied to the anchors' distance, not to the mesh.
    """
    fine = np.sum(fine_part(mesh, displacement, scale) ** 2, axis=1)
    away = np.linalg.norm(mesh.rest[:, None] - mesh.rest[None, anchors], axis=2).min(axis=1)
    near = lumped_mass(mesh) * (away <= 0.25 * scale)
    return float(near @ fine / near.sum())
