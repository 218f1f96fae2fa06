"""Frequencies and buckling loads of flat plates and strips, from the exact tangent."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre, Polynomial
from plates import Plate, blend_of, boundary, plate, strip, vertical_tangent
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from bunraku.contracts import Vector
from bunraku.energies import Membrane
from bunraku.geometry import TriMesh, lumped_mass

CLAMPED_1 = 35.985
"""ω a² √(ρh/D) of the lowest mode of the clamped square: what `ritz` converges to; upper bound 35.992 [Leissa 1973]"""
FREE = (13.468, 19.596, 24.270)
"""of the free square, ν = 0.3: what `ritz` converges to; upper bounds 13.489, 19.789, 24.432 [Leissa 1973]"""
SUPPORTED_1 = 2 * np.pi**2
"""of the simply supported square"""


def ritz(terms: int, count: int, *, clamped: bool = False, poisson: float = 0.3) -> Vector:
    """(count,) lowest ω a² √(ρh/D) by Rayleigh–Ritz: upper bounds that fall to the exact ones with `terms` a direction.

    On [−1, 1]², w = Σ a_ij φ_i(x) φ_j(y) with Legendre polynomials, times (1 − x²)² for a clamped rim, makes
    ½ ∫ w_xx² + w_yy² + 2ν w_xx w_yy + 2(1 − ν) w_xy² over ½ ∫ w² stationary; the side is 2, so ω a² is four times ω.
    """
    rim = Legendre.cast(Polynomial([1, 0, -2, 0, 1])) if clamped else Legendre([1.0])
    basis = [rim * Legendre.basis(k) for k in range(terms)]
    x, share = np.polynomial.legendre.leggauss(terms + 4)
    values = [np.array([function.deriv(d)(x) if d else function(x) for function in basis]) for d in range(3)]
    mass, slopes, bends, mixed = ((values[a] * share) @ values[b].T for a, b in ((0, 0), (1, 1), (2, 2), (2, 0)))
    stiffness = np.kron(bends, mass) + np.kron(mass, bends) + 2 * (1 - poisson) * np.kron(slopes, slopes)
    stiffness += poisson * (np.kron(mixed, mixed.T) + np.kron(mixed.T, mixed))
    found = np.asarray(eigh(stiffness, np.kron(mass, mass), eigvals_only=True))[:count]
    return 4 * np.sqrt(np.maximum(found, 0.0))


def lowest(given: Plate, mass: Vector, count: int) -> Vector:
    """(count,) lowest ω of K w = ω² M w, by shift and invert with the bordered matrix; mass (n,) without ghosts."""
    free = given.free
    own = mass[free]
    kept = np.concatenate([free, np.arange(given.mesh.point_count, given.matrix.shape[0])])
    shift = 10.0  # ω² is some hundreds
    shifted = given.matrix[kept][:, kept] + sparse.diags_array(
        np.concatenate([shift * own, np.zeros(len(kept) - len(free))])
    )
    factor = splu(sparse.csc_array(shifted))
    root = np.sqrt(own)

    def inverse(y: Vector) -> Vector:
        return root * factor.solve(np.concatenate([root * y.reshape(-1), np.zeros(len(kept) - len(free))]))[: len(free)]

    operator = LinearOperator((len(free), len(free)), matvec=inverse, dtype=np.float64)  # type: ignore[call-arg]
    found = eigsh(operator, k=count, which="LA", return_eigenvectors=False, v0=np.ones(len(free)))
    return np.sqrt(np.maximum(1.0 / np.sort(found)[::-1] - shift, 0.0))


def clamped_frequency(mesh: TriMesh, model: str = "plate") -> float:
    """ω a² √(ρh/D), lowest."""
    return float(lowest(plate(mesh, model=model, clamped=True), lumped_mass(mesh), 1)[0])


def supported_frequency(mesh: TriMesh, model: str = "plate") -> float:
    """ω a² √(ρh/D), lowest."""
    return float(lowest(plate(mesh, model=model, held=boundary(mesh)), lumped_mass(mesh), 1)[0])


def free_frequencies(mesh: TriMesh, model: str = "plate") -> Vector:
    """(6,) ω a² √(ρh/D): three rigid motions, then the lowest three."""
    return lowest(plate(mesh, model=model), lumped_mass(mesh), 6)


def buckling_load(kind: str, n: int, aspect: int = 4, model: str = "plate") -> float:
    """Critical load per width over Euler's π² D/L², of a strip L = 1 with simply supported ends, ν = 0.

    The strip (L × L/aspect, n edges long) is squeezed to x (1 − ε): with ν = 0 the stress is −E h ε (1 − ε/2) along x
    everywhere. The membrane's exact tangent in w is then linear in the load, and K_bend w = P K_load w gives P.
    """
    mesh = strip(kind, n, aspect=aspect)
    material = blend_of(np.ones(len(mesh.faces)), 0.0)
    squeeze = 1e-7
    x = mesh.rest * [1.0 - squeeze, 1.0, 1.0]
    stress = 12 / 0.1**3 * 0.1 * 0.5 * (1 - (1 - squeeze) ** 2)  # E h |E₁₁|
    per_load = -vertical_tangent(Membrane(mesh, material).elastic(0.0), x) / stress
    ends = np.flatnonzero((mesh.rest[:, 0] < 1e-9) | (mesh.rest[:, 0] > 1 - 1e-9))
    given = plate(mesh, model=model, poisson=0.0, held=ends)
    w = np.sin(np.pi * mesh.rest[:, 0])
    for _ in range(20):  # inverse iteration; the next load is four times as large, so 4⁻²⁰ is left of its mode
        load = per_load @ w
        w = given.deflection(load / np.sqrt(w @ load))
    # At the end w = K⁻¹ K_load w / |w|: its length is one over the load.
    return float(1.0 / np.sqrt(w @ (per_load @ w)) / np.pi**2)
