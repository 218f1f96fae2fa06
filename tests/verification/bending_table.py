"""The table of bending, measured: deflections against exact plates, on five kinds of mesh, for both models.

Run as a script to print it: `python tests/verification/bending_table.py [edges a side]`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from plates import KINDS, blend_of, boundary, middle, plate, rigidities, square, with_ghosts

from bunraku.contracts import Array
from bunraku.energies import Bending
from bunraku.geometry import TriMesh, face_areas, hinges, lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial

POISSON = 0.3

# Centre deflection of the unit square under unit load per area, D = 1 [Timoshenko 1959, art. 30 and 44].
SUPPORTED, CLAMPED = 0.00406235, 0.00126532


def supported_centre(mesh: TriMesh, model: str) -> float:
    """w/exact in the middle; the rim is held, its edges carry no moment."""
    given = plate(mesh, model=model, poisson=POISSON, held=boundary(mesh))
    return float(given.deflection(lumped_mass(mesh))[middle(mesh)] / SUPPORTED)


def clamped_centre(mesh: TriMesh, model: str) -> float:
    """w/exact in the middle; the rim is held and clamped by ghosts."""
    given = plate(mesh, model=model, poisson=POISSON, clamped=True)
    load = np.zeros(given.mesh.point_count)
    load[: mesh.point_count] = lumped_mass(mesh)
    return float(given.deflection(load)[middle(mesh)] / CLAMPED)


def twisted_corner(mesh: TriMesh, model: str) -> float:
    """w/exact at the loaded corner; the other three are held, all edges are free.

    A force P at the corner makes M_xy = P/2 everywhere, so w = P x y / (2 D (1 − ν)).
    """
    corners = [
        int(np.argmin(np.abs(mesh.rest[:, :2] - corner).sum(axis=1))) for corner in ((0, 0), (1, 0), (0, 1), (1, 1))
    ]
    load = np.zeros(mesh.point_count)
    load[corners[3]] = 1.0
    given = plate(mesh, model=model, poisson=POISSON, held=np.array(corners[:3]))
    return float(given.deflection(load)[corners[3]] * 2 * (1 - POISSON))


def squared_step(coarse: TriMesh, fine: TriMesh) -> float:
    """(h_coarse / h_fine)², h² being the area of a face: of some kinds twice the edges are not quite half the size."""
    return len(fine.faces) / len(coarse.faces)


def extrapolated(coarse: Any, fine: Any, ratio: float) -> Any:
    """Where two figures point to if their errors are as `ratio` to one (Richardson)."""
    return (ratio * fine - coarse) / (ratio - 1)


RELAXED = {"supported": supported_centre, "clamped": clamped_centre, "twist": twisted_corner}


def _shapes() -> list[Array]:
    """Curvatures K (2, 2): rolls in six directions, twist, saddle and bowl."""
    rolls = [np.outer(u, u) for u in (np.array([np.cos(a), np.sin(a)]) for a in np.arange(6) * np.pi / 6)]
    return [*rolls, np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0]), np.eye(2)]


def _exact(shape: Array) -> float:
    return 0.5 * ((1 - POISSON) * float(np.sum(shape * shape)) + POISSON * float(np.trace(shape)) ** 2)


PATCH_SLOPE = 1e-5
"""slope at which the curvatures are imposed: angles differ from slopes by its square"""


def patch(mesh: TriMesh) -> float:
    """Largest |E/exact − 1| over the imposed curvatures, on the whole square, for the plate.

    A rigid ghost face outside each boundary edge has the exact slope ∂w/∂n of the edge's middle, so every edge has its
    moment and a constant moment tensor solves the discrete equations on any mesh (`test_plate_deflections.py`).
    """
    whole, owner = with_ghosts(mesh)
    energy = Bending(whole, blend_of(rigidities(whole, owner, True), POISSON)).elastic(0.0)
    ghosts = whole.faces[len(mesh.faces) :]
    middles, tips = whole.rest[ghosts[:, :2]].mean(axis=1)[:, :2], whole.rest[ghosts[:, 2]][:, :2]
    worst = 0.0
    for shape in _shapes():
        x = whole.rest.copy()
        x[:, 2] = 0.5 * PATCH_SLOPE * np.einsum("ni,ij,nj->n", x[:, :2], shape, x[:, :2])
        slope = PATCH_SLOPE * np.einsum("gi,ij,gj->g", middles, shape, tips - middles)
        x[ghosts[:, 2], 2] = x[ghosts[:, :2], 2].mean(axis=1) + slope
        worst = max(worst, abs(energy.value(x) / PATCH_SLOPE**2 / _exact(shape) - 1))
    return worst


def imposed(mesh: TriMesh, model: str) -> float:
    """Largest |E/exact − 1| over rolls in six directions, twist, saddle and bowl, in the inner half of the square.

    w = ½ xᵀ K x costs ½ D [(1 − ν) K:K + ν tr²K] per area. A face's share of ½ mᵀ C m is ½ mᵀ C_T m; a hinge's
    energy is split between its two faces by area.
    """
    material = ShellMaterial(young=12 * (1 - POISSON**2) / 1e-3, poisson=POISSON, thickness=0.1)
    energy = Bending(mesh, MaterialBlend.uniform(material, len(mesh.faces)), plate=model == "plate").elastic(0.0)
    centres = mesh.rest[mesh.faces].mean(axis=1)
    inner = np.abs(centres[:, :2] - 0.5).max(axis=1) < 0.25
    areas = face_areas(mesh.rest, mesh.faces)
    worst = 0.0
    for shape in _shapes():
        small = PATCH_SLOPE
        x = mesh.rest.copy()
        x[:, 2] = 0.5 * small * np.einsum("ni,ij,nj->n", mesh.rest[:, :2], shape, mesh.rest[:, :2])
        density = _energy_density(mesh, energy, x, areas) / small**2
        worst = max(worst, abs(float((density * areas)[inner].sum() / areas[inner].sum()) / _exact(shape) - 1))
    return worst


def _energy_density(mesh: TriMesh, energy, x, areas):
    moments = energy.moments(x)
    shares = energy.compliance.spread(moments)
    edges = energy.compliance.edges
    local = 0.5 * np.sum(np.where(edges >= 0, moments[edges], 0.0) * shares, axis=1)
    if edges.shape[1] == 3:
        return local / areas
    faces = hinges(mesh).faces
    weight = local / areas[faces].sum(axis=1)
    return np.bincount(faces.reshape(-1), weights=np.repeat(weight, 2), minlength=len(areas))


def row(kind: str, model: str, n: int, seed: int = 0) -> dict[str, float]:
    """One cell of the table: relaxed ratios and the imposed error."""
    mesh = square(kind, n, seed)
    return {**{name: measure(mesh, model) for name, measure in RELAXED.items()}, "imposed": imposed(mesh, model)}


def table(n: int) -> str:
    """Markdown, one row a mesh and model."""
    lines = [
        f"| mesh, {n} edges a side | model | supported centre | clamped centre | corner twist | imposed, worst error |",
        "|---|---|---|---|---|---|",
    ]
    for model in ("plate", "hinge"):
        for kind in KINDS:
            found = row(kind, model, n)
            ratios = " | ".join(f"{found[name]:.3f}" for name in RELAXED)
            lines.append(f"| {kind} | {model} | {ratios} | {found['imposed']:.4f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    print(table(int(sys.argv[1]) if len(sys.argv) > 1 else 32))


if __name__ == "__main__":
    main()
