"""A strip clamped at one end sags under its own weight: drop and reach of the tip against the heavy elastica.

    D θ'' + q (L − s) cos θ = 0,   θ(0) = 0,   θ'(L) = 0,     θ the slope downwards, q weight per length and width.

Clamp: the vertices at x = 0 are pinned, and so is the tip of a rigid ghost face behind each edge between them, so that
the angle across such an edge is the strip's slope there (see `plates.py`).
"""

from __future__ import annotations

import numpy as np
from plates import RIGID, coordinates_of, equilibrium, strip, with_ghosts
from scipy.integrate import solve_bvp, trapezoid

from bunraku.energies import Bending, GravityEnergy, Membrane
from bunraku.geometry import lumped_mass
from bunraku.materials import MaterialBlend, ShellMaterial

LOAD = 10.0
"""q L³/D"""
THIN, YOUNG = 0.02, 1e6
RIGIDITY = YOUNG * THIN**3 / 12  # ν = 0


def elastica(load: float = LOAD) -> tuple[float, float]:
    """Drop and reach of the tip for L = 1, by SciPy's collocation."""
    s = np.linspace(0.0, 1.0, 41)
    found = solve_bvp(
        lambda s, y: np.vstack([y[1], -load * (1 - s) * np.cos(y[0])]),
        lambda a, b: np.array([a[0], b[1]]),
        s, np.vstack([s, 1 - s]), tol=1e-8,
    )  # fmt: skip
    s = np.linspace(0.0, 1.0, 4001)
    slope = found.sol(s)[0]
    return float(trapezoid(np.sin(slope), s)), float(trapezoid(np.cos(slope), s))


def tip(kind: str, n: int, model: str = "plate") -> tuple[float, float]:
    """Drop and reach of the middle of the free end."""
    bare = strip(kind, n)
    root = np.flatnonzero(bare.rest[:, 0] < 1e-9)
    mesh, _ = with_ghosts(bare, root)
    soft = ShellMaterial(young=YOUNG, poisson=0.0, thickness=THIN)
    rigid = ShellMaterial(young=YOUNG * RIGID, poisson=0.0, thickness=THIN)
    ghost = np.arange(len(mesh.faces)) >= len(bare.faces)
    blend = MaterialBlend((soft, rigid), np.column_stack([~ghost, ghost]).astype(float))
    mass = lumped_mass(mesh, np.where(ghost, 1e-3, 1.0) * LOAD * RIGIDITY / 9.81)
    held = np.concatenate([root, np.arange(bare.point_count, mesh.point_count)])
    weight = GravityEnergy(mass, np.array([0.0, 0.0, -9.81]))
    shell = Membrane(mesh, blend).elastic(0.0), Bending(mesh, blend, plate=model == "plate").elastic(0.0)
    x = equilibrium([*shell, weight], np.array(mesh.rest), coordinates=coordinates_of(held))
    end = np.flatnonzero(bare.rest[:, 0] > 1 - 1e-9)
    where = x[end].mean(axis=0)
    return -float(where[2]), float(where[0])
