"""A foam cushion with a thick soft skin, bent by its ends: the inner side wrinkles across [Remillard 2013, fig. 3–2].

The skin is three times as stiff along the cushion as the foam is, so it has its say in how the body bends.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from bunraku.contracts import Points
from bunraku.direction.wrinkle import Handle, wrinkle
from bunraku.geometry import TriMesh
from bunraku.materials import ShellMaterial, SolidMaterial
from bunraku.motion import Path

from .soft_shapes import rounded_bar
from .study import Panel, Study

VINYL = ShellMaterial(young=3e6, poisson=0.3, thickness=6e-3, density=900.0)
FOAM = SolidMaterial(young=1e5, poisson=0.3, density=60.0, stiffness_damping=0.05)
_HALF = (0.36, 0.09, 0.12)
"""[m] half of the cushion's sides"""
_HELD = 0.05  # [m] of each end that is held
_BENT = 40.0  # [°] that each end is turned by


def cushion(edge: float = 0.012) -> TriMesh:
    """A long cushion about the origin, 0.72 m along x."""
    return rounded_bar(_HALF, 0.05, edge)


def bent_end(mesh: TriMesh, side: int, times: Points) -> Handle:
    """One end, taken along an arc: its middle stays as far along the cushion's line as it was."""
    vertices = np.flatnonzero(side * mesh.rest[:, 0] > _HALF[0] - _HELD)
    middle = mesh.rest[vertices].mean(axis=0)
    angles = np.radians(_BENT) * times / times[-1]
    half, safe = abs(float(middle[0])), np.where(angles == 0.0, 1.0, angles)
    along = np.where(angles == 0.0, half, half * np.sin(angles) / safe)
    up = np.where(angles == 0.0, 0.0, half * (1.0 - np.cos(angles)) / safe)
    points = middle + np.stack([side * (along - half), up, 0.0 * up], axis=1)
    turns = Rotation.from_rotvec(np.outer(side * angles, [0.0, 0.0, 1.0])).as_matrix()
    return Handle(vertices, Path(times, points, rotations=turns))


def cushion_study(threads: int | None = None, edge: float = 0.012, frames: int = 12) -> Study:
    """The cushion without its skin and with it."""
    mesh, times = cushion(edge), np.linspace(0.0, 1.0, 9)
    take = wrinkle(
        mesh, skin=VINYL, interior=FOAM, cell=0.09, handles=[bent_end(mesh, side, times) for side in (-1, 1)],
        duration=1.0, rate=float(frames), gravity=(0.0, 0.0, 0.0), threads=threads,
    )  # fmt: skip
    assert take.surface is not None
    panels = (Panel("the interior", take.surface, is_skin=True), Panel.of("with its skin", take, is_skin=True))
    height = take.report["height"]
    rows = tuple((f"frame {k}", (1e3 * float(np.abs(height[k]).max()),)) for k in (frames // 2, frames))
    remark = f"waves of {1e3 * take.facts['wavelength']:.0f} mm by theory, {mesh.point_count} vertices"
    return Study(panels, ("highest mm",), rows, (0, frames // 2, frames), (remark,))
