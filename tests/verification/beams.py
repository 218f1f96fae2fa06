"""Slender bars of tetrahedra against beam theory: sag under their own weight, and lowest frequencies.

Linear tetrahedra bend through shear of their own, so a coarse bar is too stiff by a share that falls as h²: the tests
look at that order, and at the bar that two meshes extrapolate to.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from bunraku.constraints import LinearConstraint, felt_mass, pin_jacobian
from bunraku.contracts import State, Vector
from bunraku.dynamics import ImplicitEuler, Mass, NewtonSettings, System
from bunraku.energies import GravityEnergy, Solid
from bunraku.geometry import TetMesh, tet_bar, tet_lumped_mass, tet_mass_matrix
from bunraku.materials import SolidLaw, SolidMaterial
from bunraku.numerics import Pattern, choose

LENGTH, SIDE = 1.0, 0.125
YOUNG, POISSON, DENSITY = 1e6, 0.3, 1000.0
GRAVITY = 0.02
"""[m/s²] so little that the bar stays in the linear range: it sags by a thousandth of its length"""
SHEAR_SHARE = 10 * (1 + POISSON) / (12 + 11 * POISSON)
"""of a rectangle's area that carries shear [Cowper 1966]"""


def bar(across: int) -> TetMesh:
    """A bar along x with that many cells across, cells being cubes."""
    along = round(across * LENGTH / SIDE)
    return tet_bar((along, across, across), (LENGTH, SIDE, SIDE))


def solid(mesh: TetMesh, law: SolidLaw = "corotational") -> Solid:
    return Solid(mesh, SolidMaterial(YOUNG, POISSON, DENSITY, law=law))


def clamped(mesh: TetMesh) -> np.ndarray:
    """The vertices in the wall."""
    return np.flatnonzero(mesh.rest[:, 0] < 1e-9)


def held(mesh: TetMesh, vertices: np.ndarray, goals: np.ndarray, mass: Mass) -> LinearConstraint:
    """Vertices (k,) at goals (k, 3), hard."""
    jacobian = pin_jacobian(vertices, np.arange(3), mesh.point_count)
    ones = np.ones(jacobian.shape[0])
    return LinearConstraint(jacobian, lambda _: goals.reshape(-1), lambda _: ones, felt_mass(jacobian, mass.lumped))


def sag(across: int, law: SolidLaw = "corotational") -> float:
    """[m] how far the end of the bar hangs below the wall, at rest."""
    mesh = bar(across)
    mass = Mass(tet_lumped_mass(mesh, DENSITY))
    weight = GravityEnergy(mass.lumped, np.array([0.0, -GRAVITY, 0.0]))
    wall = clamped(mesh)
    system = System(mass, (solid(mesh, law), weight), (held(mesh, wall, mesh.rest[wall], mass),))
    # One long step: inertia is 1e-7 of the stiffness, and in the linear range a few Newton steps are all it takes.
    stepper = ImplicitEuler(system, NewtonSettings(iterations=3), threads=1)
    found = stepper.step(State(0.0, mesh.rest.reshape(-1), np.zeros(mesh.rest.size)), 1e3)
    assert found.outcome.usable and found.stats["last_step"] < 1e-9
    end = mesh.rest[:, 0] > LENGTH - 1e-9
    return float((mesh.rest[:, 1] - found.value.q.reshape(-1, 3)[:, 1])[end].mean())


def beam_sag() -> float:
    """[m] Timoshenko: q L⁴/8EI + q L²/2κGA."""
    load, inertia, area = DENSITY * SIDE**2 * GRAVITY, SIDE**4 / 12, SIDE**2
    shear = YOUNG / (2 * (1 + POISSON))
    return load * LENGTH**4 / (8 * YOUNG * inertia) + load * LENGTH**2 / (2 * SHEAR_SHARE * shear * area)


def frequencies(across: int, law: SolidLaw = "corotational", *, consistent: bool = False) -> tuple[float, float]:
    """Lowest bending and axial ω [1/s] of the clamped bar, from its exact tangent at rest."""
    mesh = bar(across)
    energy = solid(mesh, law).elastic(0.0)
    pattern = Pattern.of(energy.stencils(False), 3 * mesh.point_count)
    values = pattern.assemble(energy.blocks(mesh.rest, False))
    upper = sparse.csr_array((values, pattern.indices, pattern.indptr), shape=(pattern.size, pattern.size))
    stiffness = upper + sparse.triu(upper, 1).T
    lumped = sparse.diags_array(tet_lumped_mass(mesh, DENSITY))
    mass = sparse.kron(tet_mass_matrix(mesh, DENSITY) if consistent else lumped, sparse.eye_array(3), format="csr")
    free = np.setdiff1d(np.arange(3 * mesh.point_count), (3 * clamped(mesh)[:, None] + np.arange(3)).reshape(-1))
    k, m = sparse.csr_array(stiffness[free][:, free]), sparse.csr_array(mass[free][:, free])
    upper = sparse.csr_array(sparse.triu(k))
    upper.sort_indices()
    factor = choose(threads=1, single=False)
    factor.analyse(upper.indptr.astype(np.int64), upper.indices.astype(np.int64))
    factor.factor(np.asarray(upper.data, dtype=np.float64))
    operator = LinearOperator(k.shape, matvec=lambda b: factor.solve(b.reshape(-1)), dtype=np.float64)  # type: ignore[call-arg]
    squares, modes = eigsh(k, k=8, M=m, sigma=0.0, OPinv=operator, v0=np.ones(len(free)))
    order = np.argsort(squares)
    omegas = np.sqrt(squares[order])
    along = np.zeros(3 * mesh.point_count)
    along[::3] = mesh.rest[:, 0]  # the axial mode pulls all points one way; bending and twisting have no such part
    share = np.abs((mass @ along)[free] @ modes[:, order])
    return float(omegas[0]), float(omegas[int(np.argmax(share))])


def beam_frequencies(terms: int = 12) -> tuple[float, float]:
    """Lowest bending ω of Timoshenko's clamped beam by Rayleigh–Ritz, and the axial one, π/2L √(E/ρ) [1/s]."""
    basis = [Legendre([1.0, 1.0]) * Legendre.basis(k) for k in range(terms)]  # on [−1, 1], zero in the wall
    x, share = np.polynomial.legendre.leggauss(terms + 4)
    share = share * LENGTH / 2
    own = np.array([function(x) for function in basis])
    slope = np.array([function.deriv()(x) for function in basis]) * 2 / LENGTH
    inertia, area, shear = SIDE**4 / 12, SIDE**2, YOUNG / (2 * (1 + POISSON))
    rigid = SHEAR_SHARE * shear * area

    def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a * share) @ b.T

    coupling = -rigid * product(slope, own)
    turning = YOUNG * inertia * product(slope, slope) + rigid * product(own, own)
    stiffness = np.block([[rigid * product(slope, slope), coupling], [coupling.T, turning]])
    zero = np.zeros_like(coupling)
    mass = DENSITY * np.block([[area * product(own, own), zero], [zero, inertia * product(own, own)]])
    found: Vector = eigh(stiffness, mass, eigvals_only=True)
    return float(np.sqrt(found[0])), float(np.pi / (2 * LENGTH) * np.sqrt(YOUNG / DENSITY))


def extrapolated(coarse: float, fine: float, ratio: float = 2.0) -> float:
    """What two meshes, edges in that ratio, say of h = 0 where the error falls as h²."""
    return fine + (fine - coarse) / (ratio**2 - 1)
