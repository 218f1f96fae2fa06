"""The force of a wind on a shell, made part of the minimisation of a step.

For a face of area A and unit normal n in air that moves past it with v = wind − velocity of the face,

    F = ½ ρ A { C_D |v·n| v  +  C_L (v·n) (|v| n − (v·n) v/|v|) },

drag along v and lift across it, the same for both sides of the face. Drag is ½ ρ C_D A |v|² where the face is
across the wind and none where it is along it; lift is ½ ρ C_L A |v|² sin α cos α, so none at 0° and at 90°.

Written as F = R v with the resistance

    R = ½ ρ A { (C_D |v·n| − C_L (v·n)²/|v|) I + C_L |v| n nᵀ }  +  A drag I

(the last term is the material's own air drag), R is positive semi-definite for C_L ≤ C_D. A step freezes R at its
start and takes v at its end, with a third of R at each corner: Σ dt/2 (v_i − w)ᵀ R/3 (v_i − w) is a convex quadratic
potential whose force is F. So a step is stable at any wind, and in still air a shell only loses energy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.contracts import Array, Points, State, Stencil, Vector
from bunraku.geometry import TriMesh, face_areas, face_normals, unit_rows
from bunraku.materials import MaterialBlend
from bunraku.numerics import Scatter

from .shelter import Shelter
from .wind import Wind

EXPOSURE, SEEN = "wind.exposure", "wind.time"
SETTLING = 0.05
"""[s] time in which exposure follows what the rays say, so that no force jumps when a shadow passes"""


@dataclass(frozen=True, eq=False)
class WindEnergy:
    """Wind of one step: ½/dt Σ mᵢ·Rᵢ mᵢ − Σ mᵢ·bᵢ + ½ dt Σ w·R w with mᵢ = xᵢ − xₙᵢ. Never negative."""

    resistance: Array
    """(n, 3, 3) R [N·s/m], positive semi-definite"""
    push: Points
    """(n, 3) b = Σ R w: the force on a shell that stands still [N]"""
    level: float
    """Σ w·R w [W]"""
    previous: Points
    """(n, 3) xₙ [m]"""
    dt: float
    """[s]"""

    auxiliary_count = 0

    def value(self, x: Points) -> float:
        """[J]"""
        moved = x - self.previous
        half = np.sum(moved * self._resisted(moved)) / (2.0 * self.dt)
        return float(half - np.sum(moved * self.push)) + 0.5 * self.dt * self.level

    def gradient(self, x: Points) -> Points:
        """(n, 3) [N]"""
        return self._resisted(x - self.previous) / self.dt - self.push

    def _resisted(self, moved: Points) -> Points:
        return np.einsum("nij,nj->ni", self.resistance, moved)

    def follow(self, x: Points) -> Mapping[str, Array]:
        """It has no branches."""
        return {}

    def stencils(self, psd: bool) -> Sequence[Stencil]:
        """One 3 × 3 block a vertex."""
        return (Stencil(np.arange(3 * len(self.push)).reshape(-1, 3)),)

    def blocks(self, x: Points, psd: bool) -> Sequence[Array]:
        """Constant and positive semi-definite."""
        return (self.resistance / self.dt,)


class Blowing:
    """A wind on a shell; gives each step its `WindEnergy`. The material's air drag is felt relative to the wind."""

    def __init__(self, mesh: TriMesh, material: MaterialBlend, wind: Wind) -> None:
        self._mesh, self._material, self.wind = mesh, material, wind
        self._rest_areas = face_areas(mesh.rest, mesh.faces)
        self._scatter = Scatter.of(mesh.faces, mesh.point_count)
        self._shelter = Shelter(mesh, wind) if wind.shelter else None

    def at(self, state: State, dt: float) -> WindEnergy:
        """The energy of the step to `state.time + dt`; the wind there is as much as reaches each face."""
        x, v = state.q.reshape(-1, 3), state.velocity.reshape(-1, 3)
        corners = self._mesh.faces
        air = self.wind.at(x[corners].mean(axis=1), state.time + dt)
        if self._shelter is not None:
            exposure = state.memory[EXPOSURE] if EXPOSURE in state.memory else self._seen(state)
            air = exposure[:, None] * air
        face = resistance(self.wind, air - v[corners].mean(axis=1), face_normals(x, corners))
        own = self._rest_areas * self._material.at(state.time + dt).drag
        face += own[:, None, None] * np.eye(3)
        push = np.einsum("fij,fj->fi", face, air)
        return WindEnergy(
            np.stack([self._shared(face[:, row]) for row in range(3)], axis=1), self._shared(push),
            float(np.sum(push * air)), x, dt,
        )  # fmt: skip

    def _shared(self, per_face: Points) -> Points:
        """(n, 3) a third of each face's (f, 3) at each of its corners."""
        return self._scatter.sum(np.repeat(per_face[:, None] / 3.0, 3, axis=1))

    def _seen(self, state: State) -> Vector:
        x = state.q.reshape(-1, 3)
        assert self._shelter is not None
        wind = self.wind.steady(x[self._mesh.faces].mean(axis=1), state.time)
        return self._shelter.exposure(x, state.time, wind)

    def remember(self, state: State) -> Mapping[str, Array]:
        """How exposed each face is: what the rays see, approached within `SETTLING`. Once a step."""
        if self._shelter is None:
            return {}
        seen = self._seen(state)
        before, when = state.memory.get(EXPOSURE), state.memory.get(SEEN)
        # Where no time has passed the shell is being settled: there is no motion that could jump.
        if before is not None and when is not None and state.time > float(when[0]):
            seen = before + (1.0 - np.exp(-(state.time - float(when[0])) / SETTLING)) * (seen - before)
        return {EXPOSURE: seen, SEEN: np.array([state.time])}

    def mean_exposure(self, state: State) -> float:
        """Share of the shell's area that the wind reaches, 0 to 1."""
        exposure = state.memory.get(EXPOSURE)
        return 1.0 if exposure is None else float(np.average(exposure, weights=self._rest_areas))


def resistance(wind: Wind, relative: Points, normals: Points) -> Array:
    """(f, 3, 3) R [N·s/m] for air that moves past faces with `relative` (f, 3) [m/s]; normals of twice the area."""
    double = np.linalg.norm(normals, axis=1)
    n = unit_rows(normals)
    speed, through = np.linalg.norm(relative, axis=1), np.abs(np.einsum("fi,fi->f", relative, n))
    bent = np.divide(through**2, speed, out=np.zeros_like(speed), where=speed > 0.0)
    scale = 0.25 * wind.density * double
    along = scale * np.maximum(wind.drag * through - wind.lift * bent, 0.0)
    out = (scale * wind.lift * speed)[:, None, None] * n[:, :, None] * n[:, None, :]
    return out + along[:, None, None] * np.eye(3)
