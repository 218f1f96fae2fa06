"""Which linear system to solve for the plate's bending: three Newton forms of one energy, and the hinge's.

    moments   [K Jᵀ; J −C], one moment an edge, quasi-definite        (what the product solves)
    scalars   one scalar φ an edge, positive definite: Σ_T ½ aᵀ C_T⁻¹ a with a = ½ b ± φ, opposite in the two faces
    hinge     K + Jᵀ C_d⁻¹ J with a diagonal C_d: Discrete Shells in its usual 4-point blocks, not a plate

All for the same sheet, state and precision, by the same library; numeric factorisation and one solve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.contracts import Array, Integers, Sparse, Stencil, Vector
from bunraku.energies import Bending, Membrane, angle_gradients, hinge_compliance, plate_compliance
from bunraku.geometry import TriMesh, hinges, lumped_mass
from bunraku.materials import MaterialBlend, bending_rigidity, preset
from bunraku.numerics import Pattern, choose

from .step import medians, sheet

_DT = 1.0 / 48.0


def run(sides: tuple[int, ...] = (40, 55, 100), *, threads: int | None = None) -> Iterator[str]:
    """Measure and print."""
    yield "numeric factorisation + one solve, medians in milliseconds, single precision"
    yield "vertices |  moments  scalars    hinge | scalars/moments  hinge/moments"
    for side in sides:
        times = _measure(sheet(side), threads)
        shown = "  ".join(f"{times[name]:7.1f}" for name in ("moments", "scalars", "hinge"))
        ratios = times["scalars"] / times["moments"], times["hinge"] / times["moments"]
        yield f"{side * side:8d} |  {shown} | {ratios[0]:15.2f} {ratios[1]:14.2f}"


def _measure(mesh: TriMesh, threads: int | None) -> dict[str, float]:
    material = MaterialBlend.uniform(replace(preset("cotton"), weft=None, shear=None), len(mesh.faces))
    fields = material.at(0.0)
    noise = np.random.default_rng(0).normal(size=mesh.rest.shape)
    x = mesh.rest + 0.05 / np.sqrt(mesh.point_count) * noise
    membrane = Membrane(mesh, material).elastic(0.0)
    stiffness = _matrix(membrane.stencils(True), membrane.blocks(x, True), x.size)
    inertia = np.repeat(lumped_mass(mesh, fields.density * fields.thickness), 3) / _DT**2
    base = stiffness + sparse.diags_array(inertia)
    found = hinges(mesh)
    rigidity = bending_rigidity(fields.young, fields.poisson, fields.thickness)
    slopes = _slopes(mesh, material, x)
    plate = plate_compliance(mesh, found, rigidity, fields.poisson)
    hinge = hinge_compliance(mesh, found, rigidity, fields.poisson).local[:, 0, 0]
    compliance = _matrix([Stencil(plate.edges)], [plate.local], len(hinge))
    systems = {
        "moments": (sparse.block_array([[base, slopes.T], [slopes, -compliance]]), False),
        "scalars": (scalar_form(base, slopes, plate.edges, plate.local), True),
        "hinge": (base + slopes.T @ sparse.diags_array(1.0 / hinge) @ slopes, True),
    }
    parts = [_solver(matrix, positive, threads) for matrix, positive in systems.values()]
    repeats = int(np.clip(1e5 / mesh.point_count, 5, 40))
    return dict(zip(systems, medians(parts, repeats), strict=True))


def _matrix(stencils: Sequence[Stencil], blocks: Sequence[Array], size: int) -> Sparse:
    pattern = Pattern.of(stencils, size)
    upper: Any = sparse.csr_array((pattern.assemble(blocks), pattern.indices, pattern.indptr), shape=(size, size))
    return upper + sparse.triu(upper, 1).T


def _slopes(mesh: TriMesh, material: MaterialBlend, x: Array) -> Sparse:
    """(m, 3n) J = l ∇θ."""
    energy = Bending(mesh, material).elastic(0.0)
    values = energy.lengths[:, None] * angle_gradients(x, energy.hinges)
    rows = np.repeat(np.arange(len(values)), 12)
    columns = (3 * energy.hinges[:, :, None] + np.arange(3)).reshape(-1)
    return sparse.csr_array((values.reshape(-1), (rows, columns)), shape=(len(values), x.size))


def scalar_form(base: Sparse, slopes: Sparse, edges: Integers, local: Array) -> Sparse:
    """(3n + m, 3n + m), positive definite; a free edge's row and column of C_T are dropped before inverting."""
    count = slopes.shape[0]
    there = edges >= 0
    padded = np.where(there[:, :, None] & there[:, None, :], local, 0.0) + np.eye(3) * ~there[:, :, None]
    inverse = np.linalg.inv(padded)
    place = np.flatnonzero(there.reshape(-1))
    edge = edges.reshape(-1)[place]
    rows = np.arange(len(place))
    half = sparse.csr_array((np.full(len(place), 0.5), (rows, edge)), shape=(len(place), count)) @ slopes
    sign = sparse.csr_array((_opposite_signs(edge), (rows, edge)), shape=(len(place), count))
    faces = np.arange(len(edges))
    weights = sparse.bsr_array((inverse, faces, np.arange(len(edges) + 1))).tocsr()[place][:, place]
    share = sparse.hstack([half, sign], format="csr")
    whole = sparse.block_diag([base, sparse.csr_array((count, count))], format="csr")
    return whole + share.T @ weights @ share


def _opposite_signs(edge: Integers) -> Vector:
    """+1 at the first mention of an edge, −1 at the second."""
    _, first = np.unique(edge, return_index=True)
    signs = -np.ones(len(edge))
    signs[first] = 1.0
    return signs


def _solver(matrix: Sparse, positive: bool, threads: int | None) -> Callable[[], None]:
    """A timed part: factorise and solve once."""
    upper: Any = sparse.csr_array(sparse.triu(matrix))
    upper.sort_indices()
    factorisation = choose(threads=threads, single=True, positive=positive)
    factorisation.analyse(upper.indptr, upper.indices)
    right = np.ones(upper.shape[0])
    scale = 1.0 / np.sqrt(np.abs(upper.diagonal()))  # equilibrated, as the product does
    rows = np.repeat(np.arange(len(scale)), np.diff(upper.indptr))
    values = upper.data * scale[rows] * scale[upper.indices]

    def once() -> None:
        factorisation.factor(values)
        factorisation.solve(right)

    once()
    return once
