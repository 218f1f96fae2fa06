"""A strip bent over a mandrel and let go, and a strip folded by its ends.

The strip (1 × ¼ m) is laid on exact cylinders of growing curvature up to 1/R, each step remembers its set, then it is
freed and brought to equilibrium with its membrane. By hand: the deviation left at the mandrel is Δκ_max, and a
cylinder is a shape without stretch, so the strip springs back to a cylinder of curvature 1/R − Δκ_max. Hardening
changes the stiffness, not the shape.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from plates import coordinates_of, equilibrium, strip

from bunraku.contracts import Array, Flags, Integers, Points, State, Vector
from bunraku.energies import Bending, Membrane
from bunraku.geometry import TriMesh
from bunraku.materials import MaterialBlend, ShellMaterial

MANDREL, YIELD = 6.0, 2.0
"""1/R and Δκ_max [1/m]"""


def rolled(rest: Points, curvature: float, direction: float = 0.0) -> Points:
    """(n, 3) points of z = 0 on a cylinder through the origin, bent along `direction` [rad]."""
    u = np.array([np.cos(direction), np.sin(direction)])
    v = np.array([-u[1], u[0]])
    turn = curvature * (rest[:, :2] @ u)
    flat = (np.sin(turn) / curvature)[:, None] * u + (rest[:, :2] @ v)[:, None] * v
    return np.column_stack([flat, (1.0 - np.cos(turn)) / curvature])


def sheet_of(mesh: TriMesh, hardening: float = 0.0, limit: float = YIELD) -> MaterialBlend:
    """A plastic sheet, 5 mm thick."""
    material = ShellMaterial(
        young=1e7, poisson=0.3, thickness=5e-3, yield_curvature=limit, hardening=hardening
    )  # fmt: skip
    return MaterialBlend.uniform(material, len(mesh.faces))


def woven_of(mesh: TriMesh, warp: float) -> MaterialBlend:
    """A woven sheet that sets: the weft a third as stiff as the warp, which runs at this angle from x [rad]."""
    material = ShellMaterial(
        young=1e7, weft=3.3e6, shear=8e5, poisson=0.3, thickness=5e-3, yield_curvature=YIELD
    )  # fmt: skip
    along = np.tile([np.cos(warp), np.sin(warp), 0.0], (len(mesh.faces), 1))
    return replace(MaterialBlend.uniform(material, len(mesh.faces)), warp=along)


def read(kind_mesh: TriMesh, direction: float, plate: bool = True, blend: MaterialBlend | None = None) -> Vector:
    """(k,) what the yield rule reads, over the true curvature, on a cylinder of curvature one."""
    x = rolled(kind_mesh.rest - [0.5, 0.5, 0.0], 1.0, direction)
    bending = Bending(kind_mesh, blend or sheet_of(kind_mesh), plate=plate)
    return bending.curvature(State(0.0, x.reshape(-1), np.zeros(x.size)))


def inner(mesh: TriMesh, margin: float) -> Flags:
    """(f,) faces of the unit square further than this from its rim."""
    middle = mesh.rest[mesh.faces].mean(axis=1)[:, :2]
    return np.abs(middle - 0.5).max(axis=1) < 0.5 - margin


@dataclass(frozen=True, eq=False)
class Bent:
    """A strip after the mandrel."""

    mesh: TriMesh
    set_curvature: Vector
    """(k,) p of every element [1/m]"""
    points: Points
    """(n, 3) after springback"""

    @property
    def curvature(self) -> float:
        """Of the circle that fits the middle of the strip best [1/m]."""
        kept = np.abs(self.mesh.rest[:, 0] - 0.5) < 0.3
        p = self.points[kept][:, [0, 2]] - self.points[kept][:, [0, 2]].mean(axis=0)
        fit = np.linalg.lstsq(np.column_stack([2 * p, np.ones(len(p))]), (p**2).sum(axis=1), rcond=None)[0]
        return float(1.0 / np.sqrt(fit[2] + fit[0] ** 2 + fit[1] ** 2))


def over_mandrel(kind: str, n: int, steps: int, hardening: float, plate: bool = True) -> Bent:
    """Bend to 1/R in equal steps of curvature, let go."""
    mesh = strip(kind, n)
    blend = sheet_of(mesh, hardening)
    bending = Bending(mesh, blend, plate=plate)
    memory, x = {}, mesh.rest
    for curvature in MANDREL * np.arange(1, steps + 1) / steps:
        x = rolled(mesh.rest - [0.5, 0.0, 0.0], float(curvature))
        memory = bending.remember(State(0.0, x.reshape(-1), np.zeros(x.size), memory))
    energies = [Membrane(mesh, blend).elastic(0.0), bending.elastic(0.0, memory)]
    free = equilibrium(energies, np.array(x), coordinates=_six(mesh))
    return Bent(mesh, memory["bending.set_curvature"], free)


def _six(mesh: TriMesh) -> Integers:
    """Six coordinates that hold the strip without bending it."""
    high = mesh.rest[:, 1].max()
    places = np.array([[0.5, 0.5 * high], [0.5, 0.0], [0.25, 0.5 * high]])
    a, b, c = (int(np.argmin(np.linalg.norm(mesh.rest[:, :2] - place, axis=1))) for place in places)
    return np.array([3 * a, 3 * a + 1, 3 * a + 2, 3 * b, 3 * b + 2, 3 * c + 2])


def folded_by_its_ends(n: int, hardening: float, steps: int = 12) -> Array:
    """(n,) set of the rows of faces across a strip whose two end rows are led along the mandrel, over the mean."""
    mesh = strip("one-diag", n)
    blend = sheet_of(mesh, hardening)
    bending, stretching = Bending(mesh, blend), Membrane(mesh, blend).elastic(0.0)
    ends = np.flatnonzero(np.abs(mesh.rest[:, 0] - 0.5) > 0.5 - 1.5 / n)
    memory, x = {}, np.array(mesh.rest)
    for curvature in MANDREL * np.arange(1, steps + 1) / steps:
        goal = rolled(mesh.rest - [0.5, 0.0, 0.0], float(curvature))
        start = goal if not memory else np.where(np.isin(np.arange(len(x)), ends)[:, None], goal, x)
        x = equilibrium([stretching, bending.elastic(0.0, memory)], start, coordinates=coordinates_of(ends))
        memory = bending.remember(State(0.0, x.reshape(-1), np.zeros(x.size), memory))
    row = np.floor(mesh.rest[mesh.faces].mean(axis=1)[:, 0] * n).astype(int)
    total = np.bincount(row, weights=memory["bending.set_curvature"], minlength=n)
    return total[1:-1] / total[1:-1].mean()
